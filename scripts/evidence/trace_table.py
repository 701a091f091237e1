#!/usr/bin/env python3
"""Prints what scripts/evidence/trace_gpu.sh measured, as one table of figures against what they must reach.

    trace_table.py OUT_DIR|results/h200

Exit codes: 0 all reached, 1 some missed or not measured, 2 usage.
"""

import csv
import pathlib
import statistics
import sys

from results_folder import Results

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))

from attnprof_report.safe_text import make_streams_safe  # noqa: E402

SHAPE = {"batch": 4, "heads": 16, "seqlen": 4096, "head_dim": 128}  # of trace_sdpa.py's defaults
NCU_METRICS = {"hbm_read_bytes": "dram__bytes_read.sum", "sm_read_bytes": "l1tex__m_xbar2l1tex_read_bytes.sum",
               "sm_write_bytes": "l1tex__m_l1tex2xbar_write_bytes.sum",
               "executed_tensor_flops": "sm__ops_path_tensor_src_bf16_dst_fp32.sum"}


class Figures:
    """The table: a line a figure, with what it must reach where something is asked of it."""

    def __init__(self):
        self.lines, self.missed = [], 0

    def note(self, name, value):
        self.lines.append((name, value, "", ""))

    def hold(self, name, value, limit, reached, unit="%"):
        self.missed += not reached
        self.lines.append((name, f"{value:+.3g} {unit}", limit, "" if reached else "MISSED"))

    def missing(self, name):
        self.missed += 1
        self.lines.append((name, "not measured", "", "MISSED"))

    def show(self):
        for name, value, limit, verdict in self.lines:
            print(f"{name:<58} {value:>24}  {limit:<10} {verdict}".rstrip())


def number(row, column):
    return float(row[column]) if row and row.get(column) else None


def range_of(row):
    """The NVTX range that a row was traced in."""
    parts = [part.split("=", 1) for part in row["knobs"].split(";") if "=" in part]
    return dict(parts).get("range", "")


def compare(figures, name, traced, own, percent):
    if not traced or own is None:
        return figures.missing(name)
    change = 100 * (traced / own - 1)
    figures.hold(name, change, f"within {percent} %", abs(change) <= percent)
    return None


def own_kernels(figures, results, folder):
    """Each of attnprof's own cases as swept, beside the same sweep's launches as traced."""
    for name in results.names(f"{folder}own_*"):
        variant = name.removeprefix(f"{folder}own_")
        own, traced = results.rows(name), results.rows(f"{folder}traced_{variant}")
        if not own or not traced:
            figures.missing(f"{variant}, traced against swept")
            continue
        row = max(traced, key=lambda line: number(line, "samples") or 0)
        for column in ("sm_bytes", "executed_tensor_flops", "hbm_read_bytes", "latency_median_ns"):
            percent = 5 if column == "latency_median_ns" else 2
            compare(figures, f"{variant} {column}, traced / swept", number(row, column), number(own[0], column), percent)


def useful_flops():
    return 4 * SHAPE["batch"] * SHAPE["heads"] * SHAPE["seqlen"]**2 * SHAPE["head_dim"]


def a_call(rows, column):
    """Of one call: the sum over its kernels, each as often as it was launched a call. Not every launch is a count of its
    own (several take the passes of one), so that the kernel with the fewest counts is the one launched once."""
    least = min(number(row, "samples") for row in rows)
    values = [(number(row, column), round(number(row, "samples") / least)) for row in rows]
    return sum(value * launches for value, launches in values if value is not None)


def backends(figures, results, folder):
    """PyTorch's attention as traced: FLOPs against the exact count, bytes as they are, and against ncu's."""
    rows = results.rows(f"{folder}sdpa") or []
    for name in ("flash", "cudnn", "math"):
        own = [row for row in rows if range_of(row) == name]
        if not own:
            figures.missing(f"SDPA {name}")
            continue
        flops = a_call(own, "executed_tensor_flops")
        if name == "math":  # PyTorch may do it in fp32, without tensor cores
            figures.note("SDPA math executed FLOPs / 4 N^2 d", f"{100 * flops / useful_flops():.4g} %")
        else:
            compare(figures, f"SDPA {name} executed FLOPs / 4 N^2 d", flops, useful_flops(), 2)
        for column in ("hbm_bytes", "sm_bytes", "local_bytes"):
            figures.note(f"SDPA {name} {column} a call, {len(own)} kernels", f"{a_call(own, column) / 1e6:.4g} MB")
        largest = max(own, key=lambda row: number(row, "latency_median_ns") or 0)
        figures.note(f"SDPA {name} longest kernel, regs, local B a thread",
                     f"{largest['registers']}, {largest['spill_bytes']}")
        against_plugin(figures, results.rows(f"{folder}plugin_{name}"), name, own)
        against_ncu(figures, results.path(f"{folder}ncu_{name}"), name, own)


def against_plugin(figures, swept, name, traced):
    """A call as traced, beside the same operation as a plug-in, counted by a sweep."""
    for column in ("sm_bytes", "executed_tensor_flops", "hbm_read_bytes") if swept else ():
        compare(figures, f"SDPA {name} {column}, traced / plug-in swept", a_call(traced, column), number(swept[0], column), 2)


def against_ncu(figures, path, name, traced):
    """A call as traced, beside ncu's counts of all kernels of one call."""
    lines = read_ncu(path)
    if not lines:
        figures.note(f"SDPA {name} / ncu", "no ncu")
        return
    for column, metric in NCU_METRICS.items():
        values = [line.get(metric, "").replace(",", "") for line in lines]
        counted = sum(map(float, values)) if all(values) else None
        if counted == 0:  # no tensor core instruction: neither may count one
            counted_by_us = a_call(traced, column)
            figures.hold(f"SDPA {name} {column}, ncu counts none", counted_by_us, "none", counted_by_us == 0, unit="")
        else:
            compare(figures, f"SDPA {name} {column} / ncu", a_call(traced, column), counted, 2)


def read_ncu(path):
    """ncu's raw page: what stands before the header is the program's; under it are units."""
    if path is None:
        return []
    lines = path.read_text(encoding="utf-8").splitlines()
    start = next((i for i, line in enumerate(lines) if line.startswith('"ID"')), None)
    return list(csv.DictReader(lines[start:]))[1:] if start is not None else []


def milliseconds(text):
    """{name: ms, of `launch` us} of what trace_sdpa.py printed."""
    pairs = [line.split(",") for line in (text or "").splitlines() if line.count(",") == 1]
    return {name: float(value) for name, value in pairs}


def overheads(figures, results, folder):
    plain, traced = (milliseconds(results.text(f"{folder}calls_{kind}.txt")) for kind in ("plain", "traced"))
    for name in ("flash", "cudnn"):
        if name in plain and name in traced:
            figures.note(f"overhead a traced launch, SDPA {name}", f"{traced[name] - plain[name]:.3g} ms")
        else:
            figures.missing(f"overhead a traced launch, SDPA {name}")
    step = untraced_and_traced(results, folder, "train", "step")
    if step:
        figures.note("training step, untraced", f"{step[0]:.4g} ms")
        slowdown = 100 * (step[1] / step[0] - 1)
        figures.hold("slowdown of a training step, nothing matching", slowdown, "under 3 %", slowdown < 3)
    else:
        figures.missing("slowdown of a training step, nothing matching")
    launch = untraced_and_traced(results, folder, "launches", "launch")
    if launch:
        figures.note("host time of a launch, untraced", f"{launch[0]:.3g} us")
        figures.note("more with nothing matching", f"{launch[1] - launch[0]:.3g} us")
    else:
        figures.missing("host time of a launch, nothing matching")


def untraced_and_traced(results, folder, name, value):
    """Medians over the processes without and with tracing; None where either is missing."""
    files = [[milliseconds(results.text(file)).get(value) for file in results.text_names(f"{folder}{name}_{kind}_*.txt")]
             for kind in ("plain", "traced")]
    known = [[number for number in numbers if number] for numbers in files]
    return [statistics.median(numbers) for numbers in known] if all(known) else None


def table_of(results, folder=""):
    """`folder`: what the names of trace_gpu.sh's files begin with."""
    figures = Figures()
    own_kernels(figures, results, folder)
    backends(figures, results, folder)
    overheads(figures, results, folder)
    return figures


def main(arguments):
    make_streams_safe()
    if len(arguments) != 1 or not pathlib.Path(arguments[0]).is_dir():
        print(__doc__.strip(), file=sys.stderr)
        return 2
    results = Results(arguments[0])
    figures = table_of(results, "trace/" if results.has_folder("trace") else "")
    figures.show()
    return 1 if figures.missed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

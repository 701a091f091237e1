#!/usr/bin/env python3
"""Does `attnprof explain` name the bottleneck that Nsight Compute names?

    scripts/ncu_agreement.py measure build/release/attnprof ROWS.csv -o ncu.csv [--cases 40]
    scripts/ncu_agreement.py compare ncu.csv explain.json

measure: fixes the cases before anything is looked at: of all rows of ROWS.csv that are ok, sorted by the text of their
identity, evenly spaced ones. Runs each once under ncu (in PATH; needs a GPU whose counters may be read) and writes what its
Speed Of Light section is made of, a line a metric. About 3 s a case.

compare: explain.json is `attnprof explain ROWS.csv --format json -o explain.json`. Of the operation's longest kernel, the
resource is the highest metric of Nsight Compute's own breakdown of compute and memory throughput; under BOUND_SHARE of its
peak nothing binds and the case waits for latency, as explain has it. Beside it stands the verdict of Nsight Compute's rule
SOLBottleneck, which calls everything under 60 % latency. Prints a table and the share of cases that agree.

Exit codes: 0, 1 (fewer than 80 % agree, or a case could not be profiled), 2 (usage or a file that cannot be read).
"""

import argparse
import csv
import json
import pathlib
import re
import shutil
import subprocess
import sys

IDENTITY = ["variant", "pass", "dtype", "mask", "batch", "heads", "kv_heads", "q_len", "kv_len", "head_dim", "tile", "knobs", "cache"]
BREAKDOWNS = ["sm__throughput.avg.pct_of_peak_sustained_elapsed", "gpu__compute_memory_throughput.avg.pct_of_peak_sustained_elapsed"]
DURATION = "gpu__time_duration.sum"
BOUND_SHARE = 25.0  # of src/roofline/resources.hpp, in percent
LATENCY_RULE = 60.0  # of Nsight Compute's rule
OURS = r"regex:^(?!fill_|evict_|spin|reference_|gather_|count_|copy_|read_memory|write_memory|nothing)"

# What a metric of a breakdown is a metric of: the first that fits.
RESOURCES = [
    ("tensor", r"pipe_tensor|tensor_op|path_tensor"),
    ("exp", r"pipe_xu"),
    ("fma", r"pipe_fma|pipe_fp16|pipe_fp64"),
    ("hbm", r"dram|fbpa|hbm"),
    ("l2", r"^lts|^ltc|^l2|xbar|^gpc__|l1tex__m_"),
    ("smem", r"^l1tex|^idc|shared"),
    ("issue", r"^sm__|^smsp__"),
]


def read_rows(path):
    try:
        with open(path, newline="", encoding="utf-8") as file:
            return list(csv.DictReader(file))
    except (OSError, UnicodeDecodeError) as error:
        sys.exit(f"ncu_agreement: {path}: cannot be read: {error}")


def chosen(rows, count):
    """[line, row]: evenly spaced among the rows that are ok, sorted by identity; line 1 is the header."""
    ok = sorted(((" ".join(row[key] for key in IDENTITY), line, row) for line, row in enumerate(rows, 2) if row["disposition"] == "ok"),
                key=lambda item: item[:2])
    count = min(count, len(ok))
    return [ok[(2 * i + 1) * len(ok) // (2 * count)][1:] for i in range(count)]


def sweep_options(row):
    """What measures this case again; a tile asked for as `auto` is left to the program."""
    options = ["--variant", row["variant"], "--dtype", row["dtype"], "--mask", row["mask"], "-b", row["batch"], "--heads", row["heads"],
               "--kv-heads", row["kv_heads"], "--q-len", row["q_len"], "--kv-len", row["kv_len"], "-d", row["head_dim"], "--cache", row["cache"]]
    if row["tile"] != "auto":
        br, bc = row["tile"].split("x")
        options += ["--br", br, "--bc", bc]
    return options


def profile(program, row, launches):
    """[kernel, metric, value] of one operation, its steps in order; a sentence in place of it where that fails."""
    command = ["ncu", "--target-processes", "all", "--kernel-name", OURS, "--launch-skip", str(2 * launches), "--launch-count", str(launches),
               "--metrics", ",".join([DURATION, *(f"breakdown:{name}" for name in BREAKDOWNS), *BREAKDOWNS]), "--csv", "--page", "raw",
               program, "sweep", "--backend", "gpu", *sweep_options(row), "--counters", "off", "--verify", "off", "--ceilings", "off",
               "--precision", "100%", "--max-time", "0.001s", "--case-timeout", "5min", "--format", "csv"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    lines = [line for line in done.stdout.splitlines() if line.startswith('"')]
    if len(lines) < 3:
        return f"ncu gave no metrics: {(done.stderr or done.stdout).strip().splitlines()[-1:]}"
    table = list(csv.DictReader(lines))[1:]  # the first line below the header holds units
    return [[kernel["Kernel Name"][:60], name, value.replace(",", "")] for kernel in table for name, value in kernel.items()
            if re.search(r"pct_of_peak|gpu__time_duration", name) and value]


def measure(options):
    if not shutil.which("ncu"):
        sys.exit("ncu_agreement: there is no ncu in PATH")
    cases = chosen(read_rows(options.rows), options.cases)
    failed = 0
    with open(options.output, "w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(["line", "case", "step", "kernel", "metric", "value"])
        for line, row in cases:
            label = " ".join(row[key] for key in ("variant", "mask", "batch", "heads", "q_len", "head_dim", "tile"))
            metrics = profile(options.program, row, int(row["launches"]))
            if isinstance(metrics, str):
                print(f"ncu_agreement: {label}: {metrics}", file=sys.stderr)
                failed += 1
                continue
            step, last = 0, None
            for kernel, name, value in metrics:
                if name == DURATION:
                    step, last = (step + 1 if last is not None else 0), kernel
                writer.writerow([line, label, step, kernel, name, value])
            file.flush()
            print(label, file=sys.stderr)
    return 1 if failed else 0


def resource_of(metric):
    return next((name for name, pattern in RESOURCES if re.search(pattern, metric)), "other")


def verdicts(metrics):
    """Of one kernel's {metric: value}: the resource with the highest share of its peak, that share, and SOLBottleneck's word."""
    parts = {name: value for name, value in metrics.items() if name != DURATION and name not in BREAKDOWNS}
    top = max(parts, key=parts.get)
    compute, memory = (metrics[name] for name in BREAKDOWNS)
    rule = "latency" if max(compute, memory) < LATENCY_RULE else "compute" if compute > memory else "memory"
    name = resource_of(top) if parts[top] >= BOUND_SHARE else "latency"
    return name, top, parts[top], rule


def compare(options):
    steps = {}
    for line in read_rows(options.ncu):
        steps.setdefault(int(line["line"]), {}).setdefault((line["case"], int(line["step"]), line["kernel"]), {})[line["metric"]] = float(line["value"])
    try:
        explained = {case["line"]: case for case in json.loads(pathlib.Path(options.explain).read_text(encoding="utf-8"))["cases"]}
    except (OSError, ValueError, KeyError, TypeError) as error:
        sys.exit(f"ncu_agreement: {options.explain}: is no output of attnprof explain --format json: {error}")
    agree = total = 0
    print(f"{'case':<42} {'explain':<8} {'ncu':<8} {'% of peak':>9}  {'its rule':<8} ncu's highest metric")
    for line, kernels in sorted(steps.items()):
        if line not in explained:
            sys.exit(f"ncu_agreement: {options.explain} has no case of line {line}; explain the file that was profiled")
        (case, _, _), metrics = max(kernels.items(), key=lambda item: item[1][DURATION])
        name, top, share, rule = verdicts(metrics)
        ours = explained[line]["binds"]
        same = ours == name or {ours, name} == {"latency", "launch"}
        agree, total = agree + same, total + 1
        print(f"{case:<42} {ours:<8} {name:<8} {share:>9.1f}  {rule:<8} {top.split('.')[0]}{'' if same else '  DISAGREES'}")
    print(f"{agree} of {total} cases agree ({100 * agree / max(total, 1):.0f} %)")
    return 0 if total and agree >= 0.8 * total else 1


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(dest="command", required=True)
    measuring = commands.add_parser("measure")
    measuring.add_argument("program")
    measuring.add_argument("rows", metavar="ROWS.csv")
    measuring.add_argument("-o", "--output", required=True)
    measuring.add_argument("--cases", type=int, default=40)
    comparing = commands.add_parser("compare")
    comparing.add_argument("ncu", metavar="ncu.csv")
    comparing.add_argument("explain", metavar="explain.json")
    options = parser.parse_args()
    return measure(options) if options.command == "measure" else compare(options)


if __name__ == "__main__":
    sys.exit(main())

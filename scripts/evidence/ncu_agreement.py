#!/usr/bin/env python3
"""Does `attnprof explain` name the bottleneck that Nsight Compute's counters show?

    scripts/evidence/ncu_agreement.py measure build/release/attnprof ROWS.csv -o ncu.csv [--cases 40] [--append]
    scripts/evidence/ncu_agreement.py compare ncu.csv explain.json

measure: fixes the cases before anything is looked at: of all rows of ROWS.csv that are ok, sorted by the text of their
identity, evenly spaced ones. Runs each under ncu (in PATH; needs a GPU whose counters may be read), once a pass, since the
largest cases leave no room for saving what a kernel writes, and at the clocks and in the cache state that attnprof times
at. Writes the metrics of Nsight Compute's Speed Of Light breakdown that stand for a resource, a line each. --append: only
cases that ncu.csv does not have yet. About 10 s a case.

compare: explain.json is `attnprof explain ROWS.csv --format json -o explain.json`. Of the operation's longest kernel, the
resource is the one with the highest share of its peak. Those within TIE points of it are as high. Issue slots are shown
but are no resource: every instruction takes one, whatever it waits for. Under BOUND_SHARE nothing binds and the case waits for
latency, as explain has it. Prints a table and the share of cases that agree; those where both say latency are also counted apart.

Exit codes: 0, 1 (fewer than 80 % agree, or a case could not be profiled), 2 (usage or a file that cannot be read).
"""

import argparse
import csv
import json
import pathlib
import shutil
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))

from attnprof_report.output_file import Refusal, check_distinct, open_rows, with_meta  # noqa: E402
from attnprof_report.safe_text import make_streams_safe  # noqa: E402

# The cases were fixed by these, so a field that a problem got later is not among them.
IDENTITY = ["variant", "pass", "dtype", "mask", "batch", "heads", "kv_heads", "q_len", "kv_len", "head_dim", "tile", "knobs", "cache"]
DURATION = "gpu__time_duration.sum"
SUFFIX = ".avg.pct_of_peak_sustained_elapsed"
BOUND_SHARE = 25.0  # of src/roofline/resources.hpp, in percent
TIE = 2.0  # points

# resource -> metrics of Nsight Compute's breakdowns of SM and memory throughput that are of it.
RESOURCES = {
    "tensor": ["sm__pipe_tensor_cycles_active", "sm__pipe_shared_cycles_active"],  # the pipe that sub-partitions share
    "exp": ["sm__inst_executed_pipe_xu"],
    "fma": ["sm__pipe_fma_cycles_active", "sm__pipe_fmaheavy_cycles_active"],
    "hbm": ["dram__cycles_active", "fbpa__dram_sectors"],
    "l2": ["lts__t_tag_requests", "lts__d_sectors", "lts__xbar2lts_cycles_active", "lts__lts2xbar_cycles_active"],
    "smem": ["l1tex__data_pipe_lsu_wavefronts", "l1tex__lsu_writeback_active", "l1tex__data_bank_reads"],
    "issue": ["sm__inst_executed"],
}
METRICS = [metric + SUFFIX for metrics in RESOURCES.values() for metric in metrics]
OURS = r"regex:^(?!fill_|evict_|spin|reference_|gather_|count_|copy_|read_memory|write_memory|nothing)"

def refuse(sentence):
    print(f"ncu_agreement: {sentence}", file=sys.stderr)
    raise SystemExit(2)


def read_rows(path):
    try:
        with open(path, newline="", encoding="utf-8") as file:
            return list(csv.DictReader(file))
    except (OSError, UnicodeDecodeError) as error:
        refuse(f"{path}: cannot be read: {error}")


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
    """[step, kernel, metric, value] of one operation, its steps in order; a sentence in place of it where that fails."""
    command = ["ncu", "--target-processes", "all", "--replay-mode", "application", "--cache-control", "none", "--clock-control", "none",
               "--kernel-name", OURS, "--launch-skip", str(2 * launches), "--launch-count", str(launches),
               "--metrics", ",".join([DURATION, *METRICS]), "--csv", "--page", "raw",
               program, "sweep", "--backend", "gpu", *sweep_options(row), "--counters", "off", "--verify", "off", "--ceilings", "off",
               "--precision", "100%", "--max-time", "0.001s", "--case-timeout", "5min", "--format", "csv"]
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=180)
    except subprocess.TimeoutExpired:
        return "ncu took longer than 180 s"
    lines = [line for line in done.stdout.splitlines() if line.startswith('"')]
    if len(lines) < 3:
        return f"ncu gave no metrics: {(done.stderr or done.stdout).strip().splitlines()[-1:]}"
    table = list(csv.DictReader(lines))[1:]  # the first line below the header holds units
    return [[step, kernel["Kernel Name"][:60], name, kernel[name].replace(",", "")] for step, kernel in enumerate(table)
            for name in [DURATION, *METRICS] if kernel.get(name)]


def measure(options):
    try:
        check_distinct([options.output], with_meta([options.rows]))
    except Refusal as refusal:
        refuse(refusal)
    if not shutil.which("ncu"):
        refuse("there is no ncu in PATH")
    cases = chosen(read_rows(options.rows), options.cases)
    known = {int(line["line"]) for line in read_rows(options.output)} if options.append else set()
    failed = 0
    with open_rows(options.output, "a" if options.append else "w") as file:
        writer = csv.writer(file, lineterminator="\n")
        if not options.append:
            writer.writerow(["line", "case", "step", "kernel", "metric", "value"])
        for line, row in cases:
            if line in known:
                continue
            label = " ".join(row[key] for key in ("variant", "mask", "batch", "heads", "q_len", "head_dim", "tile"))
            metrics = profile(options.program, row, int(row["launches"]))
            if isinstance(metrics, str):
                print(f"ncu_agreement: {label}: {metrics}", file=sys.stderr)
                failed += 1
                continue
            writer.writerows([line, label, *metric] for metric in metrics)
            file.flush()
            print(label, file=sys.stderr)
    return 1 if failed else 0


def shares(metrics):
    """resource -> its highest share of peak, in percent, of one kernel's {metric: value}."""
    known = {name: [metrics[metric + SUFFIX] for metric in wanted if metric + SUFFIX in metrics] for name, wanted in RESOURCES.items()}
    return {name: max(values) for name, values in known.items() if values}


def bottlenecks(metrics):
    """The resources that bind one kernel, the highest first; ["latency"] where none reaches BOUND_SHARE."""
    of_peak = {name: share for name, share in shares(metrics).items() if name != "issue"}
    top = max(of_peak.values())
    if top < BOUND_SHARE:
        return ["latency"]
    return sorted((name for name, share in of_peak.items() if share >= top - TIE), key=lambda name: -of_peak[name])


def same(ours, theirs):
    return ours in theirs or (ours == "launch" and theirs == ["latency"])  # few launches of little work: both say it waits


def compare(options):
    steps = {}
    rows = read_rows(options.ncu)
    if not rows or not {"line", "case", "step", "kernel", "metric", "value"} <= rows[0].keys():
        refuse(f"{options.ncu}: is no output of ncu_agreement.py measure")
    for line in rows:
        kernel = steps.setdefault(int(line["line"]), {}).setdefault((line["case"], int(line["step"]), line["kernel"]), {})
        kernel[line["metric"]] = float(line["value"])
    try:
        explained = {case["line"]: case for case in json.loads(pathlib.Path(options.explain).read_text(encoding="utf-8"))["cases"]}
    except (OSError, ValueError, KeyError, TypeError) as error:
        refuse(f"{options.explain}: is no output of attnprof explain --format json: {error}")
    said = []
    print(f"{'case':<42} {'explain':<16} {'Nsight Compute':<20} shares of peak by Nsight Compute, percent")
    for line, kernels in sorted(steps.items(), key=lambda item: next(iter(item[1]))[0]):
        if line not in explained:
            refuse(f"{options.explain} has no case of line {line}; explain the file that was profiled")
        (case, _, _), metrics = max(kernels.items(), key=lambda item: item[1][DURATION])
        ours, theirs = explained[line]["binds"], bottlenecks(metrics)
        share = next((resource["share"] for resource in explained[line]["resources"] if resource["name"] == ours), None)
        said.append((ours, theirs))
        listed = ", ".join(f"{name} {value:.0f}" for name, value in sorted(shares(metrics).items(), key=lambda item: -item[1]) if value >= 10)
        print(f"{case:<42} {ours + (f' {100 * share:.0f} %' if share else ''):<16} {', '.join(theirs):<20} {listed}"
              f"{'' if same(ours, theirs) else '  DISAGREES'}")
    agree = sum(same(*pair) for pair in said)
    print(f"{agree} of {len(said)} cases agree ({percent(agree, len(said))})")
    print(told_apart(said))
    print(spread_text([explained[line]["identity"] for line in steps]))
    return 0 if said and agree >= 0.8 * len(said) else 1


def percent(part, whole):
    return f"{100 * part / max(whole, 1):.0f} %"


def told_apart(said):
    """That nothing binds is easily agreed on: how many cases that is, and what is left without them."""
    waits = [pair for pair in said if pair[1] == ["latency"] and same(*pair)]
    rest = [pair for pair in said if pair not in waits]
    agree = sum(same(*pair) for pair in rest)
    return f"both say latency: {len(waits)}; of the others {agree} of {len(rest)} agree ({percent(agree, len(rest))})"


def spread_text(identities):
    """What the cases were drawn from, so that nobody takes them for more."""
    parts = []
    for key in ("variant", "dtype", "mask", "batch", "q_len", "head_dim"):
        values = sorted({str(identity[key]) for identity in identities}, key=lambda value: (len(value) if value.isdigit() else 0, value))
        parts.append(f"{key} {' '.join(values)}")
    return f"cases: {'; '.join(parts)}"


def main():
    make_streams_safe()
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(dest="command", required=True)
    measuring = commands.add_parser("measure")
    measuring.add_argument("program")
    measuring.add_argument("rows", metavar="ROWS.csv")
    measuring.add_argument("-o", "--output", required=True)
    measuring.add_argument("--cases", type=int, default=40)
    measuring.add_argument("--append", action="store_true")
    comparing = commands.add_parser("compare")
    comparing.add_argument("ncu", metavar="ncu.csv")
    comparing.add_argument("explain", metavar="explain.json")
    options = parser.parse_args()
    return measure(options) if options.command == "measure" else compare(options)


if __name__ == "__main__":
    sys.exit(main())

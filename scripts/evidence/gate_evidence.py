#!/usr/bin/env python3
"""Measures the gate itself on result files of one unchanged program.

    scripts/evidence/gate_evidence.py build/release/attnprof RUN.csv RUN.csv ... -o evidence.json
                             [--regressions regressions.txt]

The files are those of scripts/evidence/gate_runs.sh, a_START_PROCESS.csv, each of its own process; of files named otherwise the machine
start is not known. Prints a line a figure, and writes everything as JSON.

Every ordered pair of different files: the gate at its default thresholds must pass (A against A); with 3 % of latency added to
every row above 50 us, each should be found at --latency 2 % and none at --latency 10 %. Added latency is added to the interval, the
samples' extremes and the SM cycles too, as a slower kernel would.
Every file against the next one, so that what two processes differ by is in it: +2 % HBM bytes on each row of 32 MB or more, +1 %
SM bytes and +0.2 % executed FLOPs on each row must be found; rows where the gate answers `ambiguous` instead, since its counts
scatter by more, are named and not counted as found. The gate judges each row by itself, so all rows of a file are changed at once.

Exit code: 0 when every figure that could be tried is reached, 1 when one is not.
"""

import argparse
import csv
import itertools
import json
import math
import pathlib
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))

from attnprof_report.output_file import Refusal, check_distinct, replace_file, with_meta  # noqa: E402
from attnprof_report.safe_text import make_streams_safe  # noqa: E402

TIMES = ["latency_median_ns", "latency_min_ns", "latency_p90_ns", "latency_ci95_low_ns", "latency_ci95_high_ns"]
AMOUNTS = [  # column, factor, smallest value that must be found
    ("hbm_bytes", 1.02, 32e6),
    ("sm_bytes", 1.01, 1),
    ("executed_tensor_flops", 1.002, 1),
]


class Gate:
    def __init__(self, program, folder):
        self.program, self.folder = program, folder

    def run(self, baseline, current, *options):
        """Exit code, and the verdicts that are not `same` as {(row, column): verdict}."""
        report = self.folder / "gate.json"
        command = [self.program, "gate", baseline, current, "--run", "newest", "--json", report, *options]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode > 1:
            sys.exit(f"gate_evidence: {baseline} against {current}: {done.stderr or done.stdout}")
        rows = json.loads(report.read_text(encoding="utf-8"))["rows"]
        verdicts = {(i, metric["column"]): metric["verdict"] for i, row in enumerate(rows)
                    for metric in row["metrics"] if metric["verdict"] != "same"}
        return done.returncode, verdicts


def read(path):
    with open(path, newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def write_changed(rows, source, folder):
    """The rows as a file of their own, with the meta file of `source` beside it."""
    path = folder / "changed.csv"
    with open(path, "w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, rows[0].keys(), lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)
    meta = pathlib.Path(f"{source}.meta.json")
    if meta.exists():
        shutil.copy(meta, f"{path}.meta.json")
    return path


def slower(row, factor):
    changed = row | {column: f"{float(row[column]) * factor:.6g}" for column in TIMES if row[column]}
    return changed | ({"sm_cycles": str(round(int(row["sm_cycles"]) * factor))} if row["sm_cycles"] else {})


def timed_rows(rows):
    return [i for i, row in enumerate(rows) if row["disposition"] == "ok" and row["latency_source"] != "model"
            and row["latency_median_ns"] and float(row["latency_median_ns"]) > 50e3]


def try_pairs(gate, files):
    same = {"pairs": 0, "failures": 0, "ambiguous": 0, "failed": []}
    added = {"tried": 0, "found_at_2_percent": 0, "ambiguous_at_2_percent": 0, "worse_at_10_percent": 0, "not_found": {}}
    for first, second in itertools.permutations(files, 2):
        code, verdicts = gate.run(first, second)
        same["pairs"] += 1
        same["failures"] += code
        same["ambiguous"] += sum(verdict == "ambiguous" for verdict in verdicts.values())
        if code:
            same["failed"].append([name_of(first), name_of(second), {f"{row} {column}": v for (row, column), v in verdicts.items()}])
        add_latency(gate, first, second, added)
    return same, added


def add_latency(gate, first, second, added):
    rows = read(second)
    slowed = timed_rows(rows)
    if not slowed:
        return
    changed = write_changed([slower(row, 1.03) if i in slowed else row for i, row in enumerate(rows)], second, gate.folder)
    found, loose = (gate.run(first, changed, "--latency", threshold)[1] for threshold in ("2%", "10%"))
    said = {i: found.get((i, "latency_median_ns"), "same") for i in slowed}
    added["tried"] += len(slowed)
    added["found_at_2_percent"] += sum(verdict == "worse" for verdict in said.values())
    added["ambiguous_at_2_percent"] += sum(verdict == "ambiguous" for verdict in said.values())
    added["worse_at_10_percent"] += sum(loose.get((i, "latency_median_ns")) == "worse" for i in slowed)
    for i, verdict in said.items():
        if verdict != "worse":
            case = f"{label(rows[i])}: {verdict}"
            added["not_found"][case] = added["not_found"].get(case, 0) + 1


def name_of(path):
    return pathlib.Path(path).name


def label(row):
    return " ".join(row[key] for key in ("variant", "mask", "batch", "heads", "q_len", "head_dim"))


def try_amounts(gate, files):
    return {column: try_amount(gate, files, column, factor, least) for column, factor, least in AMOUNTS}


def try_amount(gate, files, column, factor, least):
    tried = found = 0
    unclear, missed = set(), set()
    for first, second in zip(files, [*files[1:], files[0]]):
        rows = read(second)
        raised = [i for i, row in enumerate(rows) if row["disposition"] == "ok" and row[column] and int(row[column]) >= least]
        changed = [row | {column: str(math.ceil(int(row[column]) * factor))} if i in raised else row for i, row in enumerate(rows)]
        _, verdicts = gate.run(first, write_changed(changed, second, gate.folder))
        said = {i: verdicts.get((i, column), "same") for i in raised}
        tried += len(said)
        found += sum(verdict == "worse" for verdict in said.values())
        unclear |= {label(rows[i]) for i, verdict in said.items() if verdict == "ambiguous"}
        missed |= {label(rows[i]) for i, verdict in said.items() if verdict not in ("worse", "ambiguous")}
    return {"factor": factor, "tried": tried, "found": found, "ambiguous": sorted(unclear), "missed": sorted(missed)}


def machine_starts(files):
    names = [pathlib.Path(file).stem.split("_") for file in files]
    return {parts[1] for parts in names if len(parts) == 3 and parts[0] == "a"}


def figures(files, same, added, amounts, regressions):
    """[figure, what must be reached, what was, whether]; None: nothing was tried."""
    starts = machine_starts(files)
    cases = min(len([row for row in read(file) if row["disposition"] == "ok"]) for file in files)
    lines = [["processes, machine starts, cases", "5, 2, 32", f"{len(files)}, {len(starts) or 'unknown'}, {cases}",
              len(files) >= 5 and len(starts) >= 2 and cases >= 32],
             ["A against A: failures", f"0 of {same['pairs']} pairs", f"{same['failures']}, {same['ambiguous']} values ambiguous",
              same["failures"] == 0]]
    tried = added["tried"]
    lines += [["+3 % latency of a case over 50 us, found at 2 %", "95 %",
               f"{added['found_at_2_percent']} of {tried}, {added['ambiguous_at_2_percent']} ambiguous",
               added["found_at_2_percent"] >= 0.95 * tried if tried else None],
              ["the same, worse at 10 %", "0", f"{added['worse_at_10_percent']} of {tried}",
               added["worse_at_10_percent"] == 0 if tried else None]]
    for column, amount in amounts.items():
        named = "".join(f"; {word}: {', '.join(amount[word])}" for word in ("ambiguous", "missed") if amount[word])
        lines.append([f"+{100 * (amount['factor'] - 1):.3g} % {column}", "always", f"{amount['found']} of {amount['tried']}{named}",
                      amount["found"] == amount["tried"] if amount["tried"] else None])
    for line in regressions:
        name, expected, observed, verdict = (part.strip() for part in line.split(" | "))
        lines.append([f"regression {name}", expected, observed, verdict == "ok"])
    return lines


def table(lines):
    words = {True: "ok", False: "MISS", None: "----"}
    widths = [max(len(line[i]) for line in lines) for i in range(2)]
    return "\n".join(f"{words[ok]:<4}  {name:<{widths[0]}}  {must:<{widths[1]}}  {seen}" for name, must, seen, ok in lines)


def main():
    make_streams_safe()
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program")
    parser.add_argument("files", nargs="+", metavar="RUN.csv")
    parser.add_argument("--regressions", help="regressions.txt of gate_runs.sh")
    parser.add_argument("-o", "--output", required=True)
    options = parser.parse_args()
    if len(options.files) < 2:
        parser.error("give two files or more")
    try:
        check_distinct([options.output], [*with_meta(options.files), options.regressions or ""])
    except Refusal as refusal:
        print(f"gate_evidence: {refusal}", file=sys.stderr)
        return refusal.code
    with tempfile.TemporaryDirectory() as folder:
        gate = Gate(options.program, pathlib.Path(folder))
        same, added = try_pairs(gate, options.files)
        amounts = try_amounts(gate, options.files)
    regressions = pathlib.Path(options.regressions).read_text(encoding="utf-8").splitlines() if options.regressions else []
    lines = figures(options.files, same, added, amounts, regressions)
    reached = all(ok is not False for *_, ok in lines)
    result = {"files": [name_of(file) for file in options.files], "a_against_a": same, "latency_3_percent": added,
              "amounts": amounts, "figures": lines, "reached": reached}
    replace_file(options.output, json.dumps(result, indent=2) + "\n")
    print(table(lines))
    if not added["tried"]:
        print("gate_evidence: no row above 50 us was timed on a GPU, so latency was not tried", file=sys.stderr)
    return 0 if reached else 1


if __name__ == "__main__":
    sys.exit(main())

#!/usr/bin/env python3
"""Measures the gate itself on result files of one unchanged program.

    scripts/gate_evidence.py build/release/attnprof RUN.csv RUN.csv ... [--pairs 200] [--seed 1] -o evidence.json

For `--pairs` ordered pairs of different files, drawn at random: the gate at its default thresholds must pass (A against A);
with 3 % of latency added to one row above 50 us it should fail at --latency 2 % and must pass at --latency 10 %.
In every file, +2 % HBM bytes on each row of 32 MB or more, +1 % SM bytes and +0.2 % executed FLOPs on each row must be
found. Added latency is added to the interval, the samples' extremes and the SM cycles too, as a slower kernel would.

Exit code: 0 when every figure reaches its limit (found at 2 %: 95 %), 1 when one does not, 2 when nothing could be tried.
"""

import argparse
import csv
import json
import pathlib
import random
import shutil
import subprocess
import sys
import tempfile

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
        command = [self.program, "gate", baseline, current, "--json", report, *options]
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


def slower(rows, index, factor):
    rows = [dict(row) for row in rows]
    for column in TIMES:
        if rows[index][column]:
            rows[index][column] = f"{float(rows[index][column]) * factor:.6g}"
    if rows[index]["sm_cycles"]:
        rows[index]["sm_cycles"] = str(round(int(rows[index]["sm_cycles"]) * factor))
    return rows


def timed_rows(rows):
    return [i for i, row in enumerate(rows) if row["disposition"] == "ok" and row["latency_source"] != "model"
            and row["latency_median_ns"] and float(row["latency_median_ns"]) > 50e3]


def try_pairs(gate, files, count, rng):
    same = {"pairs": 0, "failures": 0, "ambiguous": 0, "failed": []}
    added = {"tried": 0, "found_at_2_percent": 0, "failed_at_10_percent": 0}
    for _ in range(count):
        first, second = rng.sample(files, 2)
        code, verdicts = gate.run(first, second)
        same["pairs"] += 1
        same["failures"] += code
        same["ambiguous"] += sum(verdict == "ambiguous" for verdict in verdicts.values())
        if code:
            same["failed"].append([str(first), str(second), {f"{row} {column}": v for (row, column), v in verdicts.items()}])
        rows = read(second)
        candidates = timed_rows(rows)
        if not candidates:
            continue
        index = rng.choice(candidates)
        changed = write_changed(slower(rows, index, 1.03), second, gate.folder)
        added["tried"] += 1
        _, verdicts = gate.run(first, changed, "--latency", "2%")
        added["found_at_2_percent"] += verdicts.get((index, "latency_median_ns")) == "worse"
        added["failed_at_10_percent"] += gate.run(first, changed, "--latency", "10%")[0]
    return same, added


def try_amounts(gate, files):
    result = {}
    for column, factor, least in AMOUNTS:
        tried = found = 0
        for path in files:
            rows = read(path)
            for index, row in enumerate(rows):
                if row["disposition"] != "ok" or not row[column] or int(row[column]) < least:
                    continue
                changed = [dict(other) for other in rows]
                changed[index][column] = str(-int(-int(row[column]) * factor // 1))
                code, verdicts = gate.run(path, write_changed(changed, path, gate.folder))
                tried += 1
                found += code == 1 and verdicts == {(index, column): "worse"}
        result[column] = {"factor": factor, "tried": tried, "found": found}
    return result


def reached(same, added, amounts):
    return (same["failures"] == 0 and added["failed_at_10_percent"] == 0
            and added["found_at_2_percent"] >= 0.95 * added["tried"]
            and all(amount["found"] == amount["tried"] for amount in amounts.values()))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program")
    parser.add_argument("files", nargs="+", metavar="RUN.csv")
    parser.add_argument("--pairs", type=int, default=200)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("-o", "--output", required=True)
    options = parser.parse_args()
    if len(options.files) < 2:
        parser.error("give two files or more")
    with tempfile.TemporaryDirectory() as folder:
        gate = Gate(options.program, pathlib.Path(folder))
        same, added = try_pairs(gate, options.files, options.pairs, random.Random(options.seed))
        amounts = try_amounts(gate, options.files)
    result = {"files": options.files, "seed": options.seed, "a_against_a": same, "latency_3_percent": added,
              "amounts": amounts, "reached": reached(same, added, amounts)}
    pathlib.Path(options.output).write_text(json.dumps(result, indent=2) + "\n", encoding="utf-8")
    print(json.dumps({key: result[key] for key in ("a_against_a", "latency_3_percent", "amounts", "reached")}, indent=2))
    if not added["tried"]:
        print("gate_evidence: no row above 50 us was timed on a GPU, so latency was not tried", file=sys.stderr)
    return 0 if result["reached"] else 1


if __name__ == "__main__":
    sys.exit(main())

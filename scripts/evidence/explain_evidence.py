#!/usr/bin/env python3
"""What `attnprof explain` is worth on committed rows: tiles it predicts, and what its factors leave open.

    explain_evidence.py PROGRAM DIR

Tile pairs are fixed by a rule that looks at no time, and was written down before the model of time was fitted: of the
files that sweep tiles (TILE_FILES), all pairs of ok rows of one file that agree in run and identity but for the tile,
both tiles given; each as one text (file, identity, run, the tiles in alphabetical order), the texts sorted; 20 of them at
equal distances, the first after half a distance. The second tile is predicted from the first's row. The model
(src/model/launch_time.cpp) was fitted to rows that are in none of the 20, and naive's wait then raised by what whole
files were off on average. Remainders: every flash2 row with a naive row of the same problem in REMAINDER_FILES.

Prints one line a pair and the shares; exits 1 when one of them misses, 2 when there is nothing to look at. Standard
library only.
"""

import argparse
import json
import pathlib
import subprocess
import sys
import tempfile

from figures import ok_rows
from results_folder import Results

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))

from attnprof_report.safe_text import make_streams_safe  # noqa: E402

# The pairs were drawn by these, so a field that a problem got later is not among them.
IDENTITY = ("variant", "pass", "dtype", "mask", "batch", "heads", "kv_heads", "q_len", "kv_len", "head_dim", "knobs", "cache")
TILE_FILES = ("tiles", "model_flash1", "model_flash1_wide", "model_flash2", "model_flash2_wide", "model_flash3",
              "model_flash3_fp8", "model_flash3_wide", "model_naive", "model_naive_wide", "tune_flash2", "tune_flash2_256",
              "tune_flash3")
REMAINDER_FILES = ("forward", "defaults", "hbm_tokens", "hbm_batch1")
PAIRS = 20
WITHIN = 0.15


def is_given(tile):
    return "x" in tile and "auto" not in tile


def pairs_of(name, rows):
    """(text, row, row) of every pair of NAME.csv's rows that differ in the tile alone; rows carry their line."""
    groups = {}
    for line, row in enumerate(rows, start=2):
        row["line"] = line
    for row in ok_rows(rows):
        if row["latency_median_ns"] and is_given(row["tile"]):
            groups.setdefault(tuple(row[c] for c in IDENTITY) + (row["run"],), []).append(row)
    pairs = []
    for key, group in groups.items():
        group.sort(key=lambda row: row["tile"])
        for i, first in enumerate(group):
            for second in group[i + 1:]:
                pairs.append((" ".join((f"{name}.csv",) + key + (first["tile"], second["tile"])), first, second))
    return pairs


def drawn(pairs, count=PAIRS):
    """`count` of the sorted pairs at equal distances; all where there are no more."""
    pairs = sorted(pairs, key=lambda pair: pair[0])
    step = len(pairs) // count
    return [pairs[step // 2 + i * step] for i in range(count)] if step else pairs


def explain(program, files, *options):
    command = [program, "explain", *map(str, files), "--format", "json", *options]
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, check=False)
    if done.returncode != 0:
        raise SystemExit(f"{' '.join(command)}: {done.stderr.strip()}")
    return json.loads(done.stdout)


class Predictions:
    """Tiles predicted from rows, a file at a time; `scratch`: a folder for parts of joined files."""

    def __init__(self, program, results, scratch):
        self.program, self.results, self.scratch, self.files = program, results, scratch, {}

    def speedup(self, file, line, tile):
        if file not in self.files:
            name = file.removesuffix(".csv")
            tiles = sorted({row["tile"] for row in self.results.rows(name) if is_given(row["tile"])})
            cases = explain(self.program, [self.results.file(name, self.scratch)], "--tile", ",".join(tiles))["cases"]
            self.files[file] = {case["line"]: {t["tile"]: t["speedup"] for t in case["tiles"]} for case in cases}
        return self.files[file][line].get(tile)


def speedup(first, second):
    return float(first["latency_median_ns"]) / float(second["latency_median_ns"])


def is_within(predicted, measured):
    return predicted is not None and abs(predicted / measured - 1) <= WITHIN


def report_tiles(pairs, predictions, verbose=True):
    """How many pairs' speedups are within WITHIN of the measured one: (as predicted, if nothing were said to change)."""
    good = unchanged = 0
    for text, first, second in pairs:
        measured = speedup(first, second)
        predicted = predictions.speedup(text.split()[0], first["line"], second["tile"])
        good += is_within(predicted, measured)
        unchanged += is_within(1.0, measured)
        if verbose:
            said = f"predicted {predicted:.3f}, {100 * (predicted / measured - 1):+.1f} %" if predicted else "not predicted"
            print(f"  {text}: measured {measured:.3f}, {said}")
    return good, unchanged


def remainders(program, results, scratch):
    found = []
    for name in REMAINDER_FILES:
        if results.path(name) is None:
            continue
        cases = explain(program, [results.file(name, scratch)], "--case", "variant=flash2", "--against", "naive")["cases"]
        found += [(f"{name}.csv", case) for case in cases if case["against"] and case["against"]["factors"]]
    return found


def report_remainders(found):
    good = 0
    for name, case in found:
        against, identity = case["against"], case["identity"]
        good += 0.8 <= against["remainder"] <= 1.25
        factors = ", ".join(f"{f['name']} {f['factor']:.2f}" for f in against["factors"])
        print(f"  {name} b{identity['batch']} N{identity['q_len']} d{identity['head_dim']} {identity['mask']}: "
              f"{against['speedup']:.2f} = {factors}, remainder {against['remainder']:.2f}")
    return good


def main():
    make_streams_safe()
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program")
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--all", action="store_true", help="also the share of all pairs")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        return report(arguments, Results(arguments.folder), scratch)


def all_pairs(results):
    return [pair for name in TILE_FILES if results.path(name) for pair in pairs_of(name, results.rows(name))]


def report(arguments, results, scratch):
    """Prints everything; the exit code."""
    pairs = all_pairs(results)
    predictions = Predictions(arguments.program, results, scratch)
    print("tile pairs, speedup of the second tile over the first:")
    chosen = drawn(pairs)
    good, unchanged = report_tiles(chosen, predictions)
    print(f"within 15 %: {good} of {len(chosen)} pairs, drawn from {len(pairs)}; no change predicted for each: {unchanged}")
    if arguments.all:
        all_good, all_unchanged = report_tiles(pairs, predictions, verbose=False)
        print(f"within 15 %: {all_good} of all {len(pairs)}; no change predicted for each: {all_unchanged}")
    print("naive to flash2:")
    found = remainders(arguments.program, results, scratch)
    within = report_remainders(found)
    print(f"remainder between 0.8 and 1.25: {within} of {len(found)}")
    if not chosen or not found:
        return 2
    return 0 if good == len(chosen) and within >= 0.8 * len(found) else 1


if __name__ == "__main__":
    sys.exit(main())

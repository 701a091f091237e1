#!/usr/bin/env python3
"""Where repeated counts of HBM bytes scatter: within one placement of the operands, between placements, or between processes.

    scripts/evidence/hbm_scatter.py build/release/attnprof [-o FOLDER] [--processes 6]

Sweeps cases whose re-used data nearly fills an H200's L2, in several processes. In each process every case is counted 16
times, twice in each of 8 places in device memory (ATTNPROF_COUNT_LOG). Prints for every case the median and three standard
deviations in percent of it, from a nested analysis of variance: of counts in one place, of places, of processes; and by how
much the processes' medians, which are what a gate compares, differ. About 5 s a process. Needs a GPU with readable
counters; --analyse FOLDER prints the table of an earlier run, results/h200's too. Standard
library only.

Exit codes: 0, 1 (a sweep failed, or no case was counted), 2 (usage), 3 (no GPU, or none whose counters can be read).
"""

import argparse
import os
import pathlib
import shutil
import statistics
import subprocess
import sys

from results_folder import Results

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))

from attnprof_report.safe_text import make_streams_safe  # noqa: E402

PLANS = [  # options of one sweep each
    ["--variant", "flash1", "-N", "2k", "-d", "128", "-b", "1"],
    ["--variant", "flash1", "-N", "4k,8k", "-d", "64", "-b", "1"],
    ["--variant", "flash2", "-N", "8k", "-d", "128", "-b", "8"],
]


def measure(program, folder, process):
    """The exit code of the first sweep that fails, which says why itself; else 0."""
    for plan, options in enumerate(PLANS):
        name = folder / f"scatter_{process}_{plan}"
        log = pathlib.Path(f"{name}.log")
        log.unlink(missing_ok=True)
        done = subprocess.run(
            [program, "sweep", "--backend", "gpu", *options, "--counters", "on", "--verify", "off", "--precision", "10%",
             "--max-time", "0.02s", "-o", f"{name}.csv", "--overwrite", "--format", "csv"],
            env={**os.environ, "ATTNPROF_COUNT_LOG": str(log)}, stdout=subprocess.DEVNULL, check=False)
        if done.returncode != 0:
            return done.returncode
    return 0


def read_counts(folder):
    """{case: [process: {placement: [bytes]}]} of every process whose rows and log are in the folder."""
    cases, results = {}, Results(folder)
    for name in results.names("hbm_scatter/scatter_*") or results.names("scatter_*"):
        rows = [row for row in results.rows(name) if int(row["hbm_counts"] or 0) > 1]
        places = {}
        log = results.text(f"{name}.log") or ""  # absent where no case needed a second count
        for line in log.splitlines():
            case, placement, amount = (int(cell) for cell in line.split(","))
            if placement > 0:  # 0: counted together with everything else, in a configuration of its own
                places.setdefault(case, {}).setdefault(placement, []).append(amount)
        for row, (_, counts) in zip(rows, sorted(places.items())):
            label = " ".join(row[key] for key in ("variant", "mask", "batch", "heads", "q_len", "head_dim"))
            cases.setdefault(label, []).append(counts)
    return cases


def variance(values):
    return statistics.variance(values) if len(values) > 1 else 0.0


def components(processes):
    """(median, deviations of counts in a place, of places, of processes, range of the processes' medians); a deviation is
    0 where what lies within it explains all of what is seen."""
    places = [counts for process in processes for counts in process.values()]
    count = statistics.mean(len(counts) for counts in places)
    per_process = statistics.mean(len(process) for process in processes)
    within = statistics.mean(variance(counts) for counts in places)
    means = [[statistics.mean(counts) for counts in process.values()] for process in processes]
    between_places = max(0.0, statistics.mean(variance(values) for values in means) - within / count)
    of_means = variance([statistics.mean(values) for values in means])
    between_processes = max(0.0, of_means - between_places / per_process - within / (count * per_process))
    medians = [statistics.median(amount for counts in process.values() for amount in counts) for process in processes]
    return (statistics.median(medians), within**0.5, between_places**0.5, between_processes**0.5, max(medians) - min(medians))


def table(cases):
    lines = [f"{'case':<34} {'processes':>9} {'median MB':>10}  {'count':>7} {'place':>7} {'process':>7}  {'medians differ by':>17}"]
    for label, processes in cases.items():
        middle, *parts = components(processes)
        within, places, between, spread = (100 * part / middle for part in parts)
        lines.append(f"{label:<34} {len(processes):>9} {middle / 1e6:>10.1f}  {within:>6.2f}% {places:>6.2f}% {between:>6.2f}%"
                     f"  {spread:>16.2f}%")
    return lines


def main():
    make_streams_safe()
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program", nargs="?")
    parser.add_argument("-o", "--output", default="hbm_scatter", help="folder of rows and logs")
    parser.add_argument("--processes", type=int, default=6)
    parser.add_argument("--analyse", metavar="FOLDER")
    options = parser.parse_args()
    if bool(options.program) == bool(options.analyse):
        parser.error("give the program, or --analyse FOLDER")
    folder = pathlib.Path(options.analyse or options.output)
    if options.program:
        if not shutil.which(options.program):
            parser.error(f"{options.program} is no program")
        folder.mkdir(parents=True, exist_ok=True)
        for process in range(options.processes):
            code = measure(options.program, folder, process)
            if code != 0:
                return code
    cases = read_counts(folder)
    if not cases:
        print(f"hbm_scatter.py: no case of {folder} was counted more than once", file=sys.stderr)
        return 1
    print("\n".join(table(cases)))
    return 0


if __name__ == "__main__":
    sys.exit(main())

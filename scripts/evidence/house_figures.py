#!/usr/bin/env python3
"""The forward sweep by two commits of attnprof, before and after a change of it that should leave the rows alone: what differs.

    house_figures.py PROGRAM OUT_DIR|results/h200 house|passes

house: src/ was put in order; kernels stayed what they were. passes: tensors by id and visible keys by one function, in kernels
too. Reads NAME/before_1.csv to after_3.csv: `attnprof sweep --backend gpu` by the one build and the other in turns, on one card.
PROGRAM gates each pair. Exits 1 when a figure misses, 2 when there is nothing to look at. check_figures.py has the figures
too, without each pair and sweep. Standard library only.
"""

import collections
import json
import pathlib
import statistics
import sys
import tempfile

import joined
from figures import UNSTEADY, Figures, label, number, unsteady

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))

from attnprof_report import program as attnprof  # noqa: E402
from attnprof_report.safe_text import make_streams_safe  # noqa: E402

LATENCY = "2%"
COUNTED = ("sm_bytes", "executed_tensor_flops")
EQUAL = {"house": COUNTED + ("kernel_hash",), "passes": COUNTED}  # columns, by change


class Change:
    """Names of the sweeps before and after one."""

    def __init__(self, name):
        self.name = name
        self.before, self.after = ([f"{name}/{side}_{turn}" for turn in (1, 2, 3)] for side in ("before", "after"))
        self.pairs = list(zip(self.before, self.after))
        self.equal = EQUAL[name]


def gate(program, results, pair):
    """The gate's report on a pair of sweeps."""
    with tempfile.TemporaryDirectory() as scratch:
        report = pathlib.Path(scratch) / "gate.json"
        files = [results.file(name, scratch) for name in pair]
        done = attnprof.run(program, "gate", *files, "--latency", LATENCY, "--json", report)
        if done.returncode > 1:
            raise attnprof.NotUsable(f"{program} gate {' '.join(pair)}: {attnprof.last_line(done)}")
        return json.loads(report.read_text(encoding="utf-8"))


def flags_of(row):
    return row["flags"].split(";") if row["flags"] else []


def medians(rows):
    return [number(row, "latency_median_ns") for row in rows]


def latency_ratios(before, after):
    return [later / earlier for earlier, later in zip(medians(before), medians(after))]


def range_text(values):
    return f"{min(values):.3f} to {max(values):.3f}, median {statistics.median(values):.4f}, of {len(values)} rows"


def check_change(figures, program, change):
    """Adds the figures; ({name: rows}, the gate's reports), or None where they cannot be had."""
    of = f"before and after {change.name}"
    figure = f"{of}: six sweeps of one plan, each row ok"
    if not all(figures.results.path(name) for name in change.before + change.after):
        return figures.not_measured(figure, f"no {change.name}/before_1.csv to after_3.csv")
    sweeps = {name: figures.results.rows(name) for name in change.before + change.after}
    every = list(sweeps.values())
    of_one_case = list(zip(*every))
    alike = len({tuple(map(label, rows)) for rows in every}) == 1
    right = all(row["disposition"] == "ok" and row["verified"] == "yes" for rows in every for row in rows)
    figures.add(figure, bool(of_one_case) and alike and right, f"{len(of_one_case)} rows each")
    if figures.lines[-1][0] != "ok":
        return None
    reports = [gate(program, figures.results, pair) for pair in change.pairs]
    passed, compared, ambiguous = (sum(values) for values in zip(*(
        (report["exit_code"] == 0, report["compared"], report["ambiguous"]) for report in reports)))
    figures.add(f"{of}: gate --latency {LATENCY}", passed == len(change.pairs),
                f"{passed} of {len(change.pairs)} pairs pass, {ambiguous} of {compared} values ambiguous")
    for column in change.equal:
        equal = sum(len({row[column] for row in rows}) == 1 and rows[0][column] != "" for rows in of_one_case)
        figures.add(f"{of}: {column} equal", equal == len(of_one_case),
                    f"{equal} of {len(of_one_case)} rows, in all sweeps")
    ratios = [ratio for before, after in change.pairs for ratio in latency_ratios(sweeps[before], sweeps[after])]
    figures.report("  latency after / before", range_text(ratios))
    figures.report(f"  rows flagged {' or '.join(UNSTEADY)}", f"{sum(map(unsteady, every))} of {sum(map(len, every))}")
    return sweeps, reports


def commits(results, change):
    """{name: commit of the program that swept}."""
    runs = joined.read_meta(results.path(change.before[0])).get("runs", {}).values()
    return {run.get("part"): run["attnprof"]["commit"] for run in runs}


def show_pair(pair, sweeps, report):
    print(f"\n{pair[0]} -> {pair[1]}: {report['summary']}")
    for row in report["rows"]:
        for metric in row["metrics"]:
            if metric["verdict"] != "same":
                print(f"  {metric['verdict']}: {metric['column']} {100 * metric['worsening']:+.2f} %, {row['row']}")
    ratios = latency_ratios(*(sweeps[name] for name in pair))
    furthest = max(range(len(ratios)), key=lambda i: abs(ratios[i] - 1))
    print(f"  latency after / before: {range_text(ratios)}; furthest from 1: {label(sweeps[pair[0]][furthest])}")


def show_scatter(sweeps, change):
    print("\nlatency, largest / smallest of the three sweeps of one program:")
    for side, names in (("before", change.before), ("after", change.after)):
        spreads = [max(values) / min(values) for values in zip(*(medians(sweeps[name]) for name in names))]
        print(f"  {side:6}  {range_text(spreads)}; largest: {label(sweeps[names[0]][spreads.index(max(spreads))])}")
    print("\nhbm_bytes in MB where a row is flagged noisy_bytes, before | after:")
    for rows in zip(*sweeps.values()):
        if any("noisy_bytes" in flags_of(row) for row in rows):
            megabytes = [f"{number(row, 'hbm_bytes') / 1e6:.1f}" for row in rows]
            print(f"  {' '.join(megabytes[:3])} | {' '.join(megabytes[3:])}  {label(rows[0])}")


def show_sweeps(sweeps, commit_of):
    print("\ncommit, clock in MHz, largest drift of a row's samples, flags:")
    for name, rows in sweeps.items():
        flags = collections.Counter(flag for row in rows for flag in flags_of(row))
        print(f"  {name:15}  {commit_of.get(name, '-')}  {', '.join(sorted({row['sm_clock_mhz'] for row in rows}))}  "
              f"{max(abs(number(row, 'drift_pct')) for row in rows):.2f} %  "
              f"{', '.join(f'{count} {flag}' for flag, count in sorted(flags.items())) or '-'}")


def main(arguments):
    make_streams_safe()
    if len(arguments) != 3 or arguments[2] not in EQUAL:
        print(__doc__.strip(), file=sys.stderr)
        return 2
    figures, change = Figures(arguments[1]), Change(arguments[2])
    try:
        found = check_change(figures, arguments[0], change)
    except attnprof.NotUsable as error:
        print(f"house_figures: {error}", file=sys.stderr)
        return 2
    print("The default sweep with counters by two commits of attnprof, in turns: before_1, after_1, before_2 to after_3\n")
    figures.show()
    if found:
        sweeps, reports = found
        for pair, report in zip(change.pairs, reports):
            show_pair(pair, sweeps, report)
        show_scatter(sweeps, change)
        show_sweeps(sweeps, commits(figures.results, change))
    return 1 if figures.missed else 0 if found else 2


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

"""What the times of one unchanged program differ by between processes, of every case that was measured in several. Part of
check_figures.py. Standard library only."""

import statistics

from figures import label, number, ok_rows, unsteady

# files of one program on one card -> what they are
PROCESSES = {
    "gate": ("two starts", ("gate/a_1_1", "gate/a_1_2", "gate/a_1_3", "gate/a_2_1", "gate/a_2_2", "gate/a_2_3")),
    "gate, start 1": ("one start", ("gate/a_1_1", "gate/a_1_2", "gate/a_1_3")),
    "gate, start 2": ("one start", ("gate/a_2_1", "gate/a_2_2", "gate/a_2_3")),
    "gate_one_place": ("one start, one place in memory", ("gate_one_place/a_1_1", "gate_one_place/a_1_2", "gate_one_place/a_1_3")),
    "house, before": ("one start", ("house/before_1", "house/before_2", "house/before_3")),
    "house, after": ("one start", ("house/after_1", "house/after_2", "house/after_3")),
    "passes, before": ("one start", ("passes/before_1", "passes/before_2", "passes/before_3")),
    "passes, after": ("one start", ("passes/after_1", "passes/after_2", "passes/after_3")),
}
SHORT_NS = 1e5


def groups(results, names):
    """{label: its row of every file} of the cases that are ok in all; None where a file is absent."""
    found = {}
    for name in names:
        if results.rows(name) is None:
            return None
        for row in ok_rows(results.rows(name)):
            found.setdefault(label(row), []).append(row)
    return {case: rows for case, rows in found.items() if len(rows) == len(names)}


def spread(rows, column="latency_median_ns"):
    """(largest - smallest) / median."""
    values = [number(row, column) for row in rows]
    return (max(values) - min(values)) / statistics.median(values)


def spreads(results, key, **cells):
    """{label: spread} of one entry of PROCESSES, of the cases with these cells."""
    found = groups(results, PROCESSES[key][1]) or {}
    return {case: spread(rows) for case, rows in found.items()
            if all(rows[0][column] == str(value) for column, value in cells.items())}


def text_of(found):
    largest = max(found, key=lambda case: spread(found[case]))
    values = [spread(rows) for rows in found.values()]
    return f"median {100 * statistics.median(values):.2f} %, largest {100 * max(values):.2f} % of {len(values)} cases at {largest}"


def check_scatter(figures):
    for key, (what, names) in PROCESSES.items():
        found = groups(figures.results, names)
        if not found:
            continue
        long = {case: rows for case, rows in found.items() if statistics.median(number(row, "latency_median_ns") for row in rows) >= SHORT_NS}
        figures.report(f"latency between {len(names)} processes, {key} ({what})",
                       f"{text_of(found)}; drift or throttled: {sum(map(unsteady, found.values()))} of {sum(map(len, found.values()))} rows")
        if long:
            figures.report("  of 100 us or more", text_of(long))

#!/usr/bin/env python3
"""Holds the rows that gpu_test.sh, plugin_gpu.sh and trace_gpu.sh measured against the figures they must reach.

    check_figures.py PROGRAM DIR

Reads whatever of gpu_test.sh's files is in DIR, of plugin_gpu.sh's in DIR/own_kernel, of trace_gpu.sh's in DIR/trace and of
house_figures.py's in DIR/house and DIR/passes, gate_evidence.json where it lies, or of all of them as results/h200 keeps them.
PROGRAM is attnprof, which says what a schedule reads again. Prints one line a figure, and exits 1 when one misses, 2 when nothing
was measured or PROGRAM cannot be asked. A figure whose file is absent is reported as not measured, never as reached. Standard library only: it runs on bare GPU machines.
"""

import pathlib
import statistics
import sys

from figures import Figures, label, number, ok_rows, tell_unsteady, worst_deviation
from ceiling_figures import check_ceilings
from forward_figures import check_mma_share, check_sanitizer, check_spills, check_versus
from house_figures import EQUAL as CHANGES
from house_figures import Change, check_change
from model_figures import L2, check_default_tiles, check_given_tiles, check_hbm, check_model
from own_figures import check_own_kernels, check_trace
from scatter_figures import check_scatter
from told_figures import check_gate, check_ncu, check_predicted_tiles

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))

from attnprof_report import program as attnprof  # noqa: E402
from attnprof_report.safe_text import make_streams_safe  # noqa: E402


def check_self_test(figures):
    rows = figures.rows("counted/true of known copies and fills", "selftest")
    if rows is None:
        return
    rows = [row for row in rows if not row["operation"].startswith("mma_sync")]
    worst_read = max((abs(float(r["read_ratio"]) - 1) for r in rows if r["read_ratio"]), default=1.0)
    excess = max(
        (abs(float(r["settled_write_bytes"]) - float(r["true_write_bytes"])) - 0.4e6 - 0.005 * float(r["true_write_bytes"])
         for r in rows if r["settled_write_bytes"]), default=1.0)
    figures.add("self-test reads within 0.5 %", worst_read <= 0.005, f"worst {100 * worst_read:.3f} % of {len(rows)} rows")
    figures.add("self-test settled writes within 0.4 MB + 0.5 %", excess <= 0, f"worst excess {excess / 1e6:.3f} MB")


CORRECT = {
    "naive, standard, flash1, flash2": ("lengths_fp16", "lengths_bf16", "unequal", "head_dims", "wide", "tiles", "knobs",
                                        "fp32"),
    "flash3": tuple(f"flash3_{name}" for name in ("lengths", "unequal", "head_dims", "many", "groups", "tiles_causal",
                                                  "tiles_full", "tiles_wide", "outliers", "knobs", "knobs_uneven")),
    "flash3 fp8": tuple(f"fp8_{name}" for name in ("lengths", "unequal", "tiles", "knobs", "many", "outliers")),
}


def check_correctness(figures, program):
    for variants, names in CORRECT.items():
        figure = f"every shape verified: {variants}"
        rows = figures.rows(figure, *(f"correct_{name}" for name in names))
        if rows is not None:
            check_verified(figures, figure, rows)
    for figure, names in (("fp8 against fp64, normal inputs", CORRECT["flash3 fp8"][:-1]),
                          ("fp8 against fp64, inputs with outliers", ("fp8_outliers",))):
        rows = figures.rows(figure, *(f"correct_{name}" for name in names))
        if not rows:
            continue
        limit = tolerance(program, "fp8")
        worst = max(rows, key=lambda row: number(row, "rel_err") or 0.0)
        error = number(worst, "rel_err")
        figures.add(figure, error is not None and error < limit and len(ok_rows(rows)) >= 25,
                    f"largest relative Frobenius error {100 * (error or 0):.2f} % of {len(ok_rows(rows))} rows at {label(worst)}")


def tolerance(program, dtype):
    return next(line["value"] for line in attnprof.ask(program, "list", "--rules") if line["rule"] == f"tolerance_{dtype}")


def check_verified(figures, figure, rows):
    bad = [r for r in rows if not (r["disposition"] == "skipped" or (r["disposition"] == "ok" and r["verified"] == "yes"))]
    worst = {}
    for row in ok_rows(rows):
        worst[row["dtype"]] = max(worst.get(row["dtype"], 0.0), number(row, "rel_err"))
    errors = ", ".join(f"{dtype} {value:.2e}" for dtype, value in sorted(worst.items()))
    figures.add(figure, not bad and bool(ok_rows(rows)),
                f"{len(ok_rows(rows))} ok, {len(rows) - len(ok_rows(rows)) - len(bad)} skipped, {len(bad)} bad; worst rel_err {errors}")
    for row in bad[:6]:
        figures.report("    bad", f"{label(row)} {row['knobs']}: {row['disposition']} {row['reason']}")


def check_further(figures):
    """The backward pass, and the cache in pages: right, and the bytes that their schedules say, spilled registers aside."""
    for name, what in (("backward", "backward pass of naive"), ("paged", "flash2 over pages")):
        figure = f"{what}: every row verified"
        rows = figures.rows(figure, name)
        if rows is None:
            continue
        check_verified(figures, figure, rows)
        whole = [row for row in ok_rows(rows) if number(row, "spill_bytes") == 0]
        ratios = [number(row, "sm_bytes") / number(row, "model_sm_bytes") for row in whole]
        figures.add(f"{what}: sm_bytes against model_sm_bytes within 2 %",
                    bool(ratios) and 0.98 <= min(ratios) and max(ratios) <= 1.02,
                    f"{min(ratios, default=0):.4f} to {max(ratios, default=0):.4f} of {len(ratios)} rows without spills")
        worst, row, count = worst_deviation([row for row in ok_rows(rows) if row not in whole], "sm_bytes", "model_sm_bytes")
        if row:
            figures.report("  the same with spills", f"worst {100 * worst:.1f} % of {count} rows at {label(row)}, which spills "
                                                     f"{row['spill_bytes']} bytes a thread")


def check_repeat(figures):
    rows = figures.rows("repeatability", "repeat")
    if rows is None:
        return
    groups = {}
    for row in ok_rows(rows):
        groups.setdefault(label(row), []).append(row)
    figures.add("ten repeats of five cases", len(groups) == 5 and all(len(g) == 10 for g in groups.values()),
                f"{len(groups)} cases, {len(rows)} rows; {tell_unsteady(rows)}")
    under_50us = 0
    for name, group in groups.items():
        for column, relative, absolute, unit in (("hbm_bytes", 0.005, 0.5e6, "MB"), ("latency_median_ns", 0.015, 1e3, "ns")):
            values = [number(row, column) for row in group]
            if None in values:
                figures.add(f"spread of {column}", False, f"{name}: empty cells")
                continue
            spread, middle = max(values) - min(values), statistics.median(values)
            shown = spread / 1e6 if unit == "MB" else spread
            figures.add(f"spread of {column}", spread <= max(relative * middle, absolute),
                        f"{100 * spread / middle:.2f} %, {shown:.3f} {unit} of {middle:.4g}: {name}")
        under_50us += statistics.median(number(row, "latency_median_ns") for row in group) < 50e3
    figures.add("two of the five cases under 50 us", under_50us >= 2, f"{under_50us}")


def check_walltime(figures):
    rows = figures.rows("wall time a case", "defaults")
    times = figures.results.text("walltime.txt")
    if rows is None or times is None:
        return
    counted, uncounted = ((float(end) - float(start)) / len(rows)
                          for start, end in (line.split() for line in times.splitlines()))
    latency = sum(number(row, "latency_median_ns") for row in ok_rows(rows)) / len(rows) / 1e9
    figures.add("wall time a case under 1.0 s + 20 x latency", counted <= 1 + 20 * latency,
                f"{counted:.3f} s a case, mean latency {1e3 * latency:.3f} ms, {len(rows)} cases, kernels compiled")
    figures.add("counting a case under 0.2 s", counted - uncounted <= 0.2,
                f"{counted - uncounted:.3f} s a case more than with --counters off")


def check_forward(figures):
    rows = figures.rows("forward sweep", "forward", "tiles", "too_large")
    if rows is None:
        return
    bad = [r for r in rows if not (r["disposition"] == "skipped" or (r["disposition"] == "ok" and r["verified"] == "yes"))]
    skipped = [r for r in rows if r["disposition"] == "skipped"]
    figures.add("forward sweep: ok and verified, or skipped", not bad and bool(ok_rows(rows)),
                f"{len(ok_rows(rows))} ok, {len(skipped)} skipped, {len(bad)} bad of {len(rows)}")
    for row in skipped[:6]:
        figures.report("    skipped", f"{label(row)}: {row['reason']}")
    for row in bad[:6]:
        figures.report("    bad", f"{label(row)}: {row['disposition']} {row['reason']}")
    flagged = [r for r in rows if "above_ceiling" in r["flags"]]
    figures.report("  rows above a ceiling", f"{len(flagged)}" + (f", first {label(flagged[0])}" if flagged else ""))


def check_faults(figures):
    for kind, disposition in (("wrong", "incorrect"), ("fault", "failed"), ("hang", "failed")):
        rows = figures.rows(f"a {kind} kernel", f"fault_{kind}")
        if rows is None:
            continue
        by_variant = {row["variant"]: row for row in rows}
        broken, after = by_variant.get("flash2"), by_variant.get("flash1")
        reached = broken and after and broken["disposition"] == disposition and after["disposition"] == "ok"
        silent = broken and not broken["latency_median_ns"]
        figures.add(f"a {kind} kernel is {disposition}, the next case runs", bool(reached and silent),
                    broken["reason"] if broken else "no row")


def check_denied(figures):
    for name in ("counters_no_cupti", "counters_held", "counters_denied"):
        rows = figures.rows(name, name)
        if rows is None:
            continue
        complete = rows and all(r["disposition"] == "ok" and r["latency_median_ns"] and r["model_hbm_bytes"] for r in rows)
        source = rows[0]["bytes_source"] if rows else "no row"
        figures.add(f"{name}: time and model columns still come", bool(complete), f"bytes_source {source}")


def main(arguments):
    make_streams_safe()
    if len(arguments) != 2:
        print(__doc__, file=sys.stderr)
        return 2
    try:
        return check(*arguments)
    except attnprof.NotUsable as error:
        print(f"check_figures: {error}", file=sys.stderr)
        return 2


def check(program, folder):
    """Prints every figure; the exit code."""
    figures = Figures(folder)
    l2 = L2(program, figures.results)
    check_self_test(figures)
    check_correctness(figures, program)
    check_model(figures)
    check_further(figures)
    check_hbm(figures, l2)
    check_default_tiles(figures, l2)
    check_given_tiles(figures)
    check_repeat(figures)
    check_scatter(figures)
    check_walltime(figures)
    check_forward(figures)
    check_faults(figures)
    check_denied(figures)
    check_spills(figures)
    check_mma_share(figures)
    check_versus(figures)
    check_ceilings(figures)
    check_ncu(figures)
    check_predicted_tiles(figures)
    check_gate(figures)
    check_own_kernels(figures)
    check_trace(figures)
    for change in CHANGES:
        check_change(figures, program, Change(change))
    check_sanitizer(figures)
    figures.show()
    if not any(state in ("ok", "MISS") for state, _, _ in figures.lines):
        print(f"check_figures: nothing was measured: {folder} holds no file of gpu_test.sh", file=sys.stderr)
        return 2
    return 1 if figures.missed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

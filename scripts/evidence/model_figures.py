"""Figures of the model beside the counters: of tiles that were given, of default tiles, and of HBM near and clear of L2's size.
Part of check_figures.py. Standard library only."""

import json
import pathlib
import statistics
import sys
import tempfile

from figures import (check_deviation, deviation, label, number, ok_rows, tell_unsteady, worst_deviation)

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))

from attnprof_report import program as attnprof  # noqa: E402

VARIANTS = ("naive", "standard", "flash1", "flash2", "flash3")
# Every file that has default tiles counted, but for gate, house and passes, which count cases of `forward` and `defaults` again and
# would only make many rows of few cases; `tiles` has given ones alone, and is held to the same.
DEFAULT_FILES = ("defaults", "forward", "hbm_batch1", "hbm_tokens", "little", "mma_share", "repeat", "short", "tiles",
                 "tune_flash2", "tune_flash2_256", "tune_flash3")
GIVEN_FILES = ("model_flash1", "model_flash1_wide", "model_flash2", "model_flash2_wide", "model_flash3", "model_flash3_fp8",
               "model_flash3_wide", "model_naive", "model_naive_wide")
NEAR = (0.4, 1.5)  # of L2: between them what is read again stays there in part, and counts scatter
SM_LIMIT, FLOPS_LIMIT, HBM_LIMIT = 0.01, 0.001, 0.10


class L2:
    """How much of L2 the data that rows read again is, by the program that knows their schedules."""

    def __init__(self, program, results):
        self.program, self.results, self.bytes = program, results, l2_bytes_of(results.folder)
        self.reread = {}  # by label and tile in force: one schedule reads the same again in every file

    def rows(self, names):
        """[ok row, whether what it reads again is near L2's size] of the named files."""
        found = []
        for name in names:
            ok = ok_rows(self.results.rows(name))
            if not counted(ok, "hbm_bytes", "model_hbm_bytes"):
                found += [(row, False) for row in ok]
                continue
            if any(self.key(row) not in self.reread for row in ok):
                self.ask(name)
            found += [(row, NEAR[0] <= self.reread[self.key(row)] / self.bytes <= NEAR[1]) for row in ok]
        return found

    @staticmethod
    def key(row):
        return label(row), row["br"], row["bc"]

    def ask(self, name):
        with tempfile.TemporaryDirectory() as scratch:
            cases = attnprof.ask(self.program, "explain", self.results.file(name, scratch))["cases"]
        by_line = {case["line"]: case["reread_bytes"] for case in cases}
        self.reread.update((self.key(row), by_line[line]) for line, row in enumerate(self.results.rows(name), start=2)
                           if row["disposition"] == "ok")


def l2_bytes_of(folder):
    for path in sorted(pathlib.Path(folder).rglob("*.csv.meta.json")):
        found = find_key(json.loads(path.read_text(encoding="utf-8")), "l2_bytes")
        if found:
            return float(found)
    return 62914560.0


def find_key(value, key):
    if isinstance(value, dict):
        if key in value:
            return value[key]
        value = list(value.values())
    if isinstance(value, list):
        for item in value:
            found = find_key(item, key)
            if found is not None:
                return found
    return None


def check_model(figures):
    for variant, files, least in (("naive", ("", "_wide"), 130), ("flash1", ("", "_wide"), 130), ("flash2", ("", "_wide"), 130),
                                  ("flash3", ("", "_wide", "_fp8"), 50)):
        figure = f"{variant}: sm_bytes against model_sm_bytes within 2 %"
        rows = figures.rows(figure, *(f"model_{variant}{name}" for name in files))
        if rows is None:
            continue
        good = ok_rows(rows)
        check_deviation(figures, figure, good, "sm_bytes", "model_sm_bytes", 0.02, least)
        if variant != "naive":
            check_deviation(figures, f"{variant}: executed against model tensor FLOPs within 0.1 %", good,
                            "executed_tensor_flops", "model_tensor_flops", 0.001, least)


def check_hbm(figures, l2):
    names = ("hbm_tokens", "hbm_batch1")
    if figures.rows("hbm_bytes against model", *names) is None:
        return
    rows = l2.rows(names)
    clear, between = ([row for row, near in rows if near == wanted] for wanted in (False, True))
    check_deviation(figures, "hbm_bytes against model_hbm_bytes within 10 %", clear, "hbm_bytes", "model_hbm_bytes", HBM_LIMIT, 40)
    worst, row, count = worst_deviation(between, "hbm_bytes", "model_hbm_bytes")
    if row:
        figures.report("  the same, re-used data 0.4 to 1.5 of L2", f"worst {100 * worst:.1f} % of {count} rows at {label(row)}")
    name_beyond(figures, clear, "hbm_bytes", "model_hbm_bytes", HBM_LIMIT)
    check_intermediates(figures, [row for row, _ in rows], l2.bytes)


def check_intermediates(figures, rows, l2_bytes):
    worst, where, count = 0.0, "", 0
    for row in rows:
        n = float(row["q_len"])
        matrix = float(row["heads"]) * float(row["batch"]) * n * n * 2
        if row["variant"] != "standard" or matrix < 4 * l2_bytes:
            continue
        count += 1
        share = number(row, "hbm_bytes") - number(row, "io_lower_bound_bytes")
        off = abs(share / (4 * matrix) - 1)
        if off >= worst:
            worst, where = off, label(row)
    figures.add("S and P of standard within 10 % of 8 N^2 a head", count > 0 and worst <= 0.10,
                f"worst {100 * worst:.2f} % of {count} rows at {where}")


def check_default_tiles(figures, l2):
    """Every row of DEFAULT_FILES that has a default tile: what is beyond the limit is named, row by row."""
    names = [name for name in DEFAULT_FILES if figures.results.path(name)]
    if not names:
        return figures.not_measured("default tiles against the model", f"none of {', '.join(DEFAULT_FILES)}")
    rows = [(row, near) for name in names for row, near in l2.rows([name]) if row["tile"] == "auto" or name == "tiles"]
    for variant in VARIANTS:
        own = [row for row, _ in rows if row["variant"] == variant]
        check_all(figures, f"default tiles, {variant}: sm_bytes", own, "sm_bytes", "model_sm_bytes", SM_LIMIT)
        if variant != "naive":
            check_all(figures, f"default tiles, {variant}: tensor FLOPs", own, "executed_tensor_flops", "model_tensor_flops", FLOPS_LIMIT)
        clear, between = ([row for row, near in rows if near == wanted and row["variant"] == variant] for wanted in (False, True))
        check_all(figures, f"default tiles, {variant}: hbm_bytes", clear, "hbm_bytes", "model_hbm_bytes", HBM_LIMIT)
        report_near(figures, between)
    return None


def counted(rows, measured, modelled):
    return [row for row in rows if row.get(measured) and row.get(modelled)]


def check_all(figures, figure, rows, measured, modelled, limit):
    """One line, and one for every row beyond the limit; no line where the model has no such column for the variant."""
    known = counted(rows, measured, modelled)
    if not known:
        return
    worst, row, count = worst_deviation(known, measured, modelled)
    beyond = sum(abs(deviation(row, measured, modelled)) > limit for row in known)
    figures.add(f"{figure} within {100 * limit:g} %", not beyond,
                f"worst {100 * worst:.3g} % at {label(row)}, {beyond} of {count} rows beyond; {tell_unsteady(known)}")
    name_beyond(figures, known, measured, modelled, limit)


def name_beyond(figures, rows, measured, modelled, limit):
    beyond = [row for row in counted(rows, measured, modelled) if abs(deviation(row, measured, modelled)) > limit]
    for row in sorted(beyond, key=lambda row: -abs(deviation(row, measured, modelled))):
        spills = f", {row['spill_bytes']} bytes spilled a thread" if row.get("spill_bytes") not in (None, "", "0") else ""
        more = (number(row, measured) - number(row, modelled)) / 1e6
        figures.report("    beyond", f"{100 * deviation(row, measured, modelled):+.1f} %, {more:+.2f} MB{spills}: {label(row)}")


def report_near(figures, rows):
    known = counted(rows, "hbm_bytes", "model_hbm_bytes")
    if not known:
        return
    worst, row, count = worst_deviation(known, "hbm_bytes", "model_hbm_bytes")
    beyond = sum(abs(deviation(row, "hbm_bytes", "model_hbm_bytes")) > HBM_LIMIT for row in known)
    figures.report("  the same, re-used data 0.4 to 1.5 of L2",
                   f"worst {100 * worst:.1f} % at {label(row)}, {beyond} of {count} rows beyond 10 %")


def check_given_tiles(figures):
    """What tiles move that somebody gave: no limit, since most of these files was chosen to lie near L2's size."""
    rows = [row for name in GIVEN_FILES for row in ok_rows(figures.results.rows(name) or ())]
    known = counted(rows, "hbm_bytes", "model_hbm_bytes")
    if not known:
        return
    off = sorted((deviation(row, "hbm_bytes", "model_hbm_bytes") for row in known), key=abs)
    row = max(known, key=lambda row: abs(deviation(row, "hbm_bytes", "model_hbm_bytes")))
    figures.report("hbm_bytes of given tiles (model_*), whatever they read again",
                   f"median {100 * statistics.median(map(abs, off)):.2f} %, {sum(abs(value) <= HBM_LIMIT for value in off)} of {len(off)} rows "
                   f"within 10 %, worst {100 * off[-1]:+.0f} % at {label(row)}")

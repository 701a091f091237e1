"""The head of a report: what was measured, how it ended, and a line for each variant."""

import numpy as np

from . import identity
from .figure_parts import short_count
from .result_rows import DISPOSITIONS
from .sweep_rows import devices_of, in_common, lengths, remarks, with_panels

BASES = ("naive", "standard")  # what speed is told against: the first that has rows


def other_case():
    """What two variants must have in common to be compared."""
    return [name for name in identity.key() if name not in ("variant", "tile", "knobs")]


def counts_of(rows):
    """How many ended how: 'ok' first."""
    ended = rows["disposition"].where(rows["mark"] == "", rows["mark"])
    return {name: int((ended == name).sum()) for name in DISPOSITIONS if (ended == name).any()}


def best_of_cases(rows):
    """The fastest right row of each variant and case."""
    right = rows[rows["right"] & (rows["latency_median_ns"] > 0)]
    return right.sort_values("latency_median_ns", kind="stable").drop_duplicates(["variant", *other_case()])


def mean_ratio(rows, base, column):
    """Geometric mean of base over rows where both have the case, and how many cases that is."""
    both = rows.merge(base, on=other_case(), suffixes=("", "_base"))
    both = both[(both[column] > 0) & (both[column + "_base"] > 0)]
    return (float(np.exp(np.log(both[column + "_base"] / both[column]).mean())), len(both)) if len(both) else (None, 0)


def case_words(row):
    return f"N = {short_count(row['q_len'])}" + (f", {row['panel']}" if row["panel"] else "")


def line_of(name, rows, best, base):
    """Of one line: counts, its highest rate and where, speed and saving against the base."""
    mine, entry = best[best["line"] == name], {"name": name, "counts": counts_of(rows[rows["line"] == name])}
    rated = mine[mine["useful_tflops_per_s"] > 0]
    if len(rated):
        top = rated.loc[rated["useful_tflops_per_s"].idxmax()]
        entry |= {"rate": top["useful_tflops_per_s"], "where": case_words(top)}
    if len(base) and not mine["variant"].isin(base["variant"]).any():
        entry["speed"], entry["cases"] = mean_ratio(mine, base, "latency_median_ns")
        entry["saving"], entry["saving_cases"] = mean_ratio(mine, base, "hbm_bytes")
    return entry


def summary_of(rows):
    """Of sweep_rows.with_lines: plain values for the page."""
    shaped, by = with_panels(rows)
    best = best_of_cases(shaped)
    base = next((best[best["variant"] == name] for name in BASES if (best["variant"] == name).any()), best.iloc[:0])
    lines = [line_of(name, shaped, best, base) for name in dict.fromkeys(rows["line"])]
    return {"devices": devices_of(rows), "common": in_common(shaped, without=[*by, "x"]), "cases": len(rows),
            "counts": counts_of(rows), "lengths": lengths(rows), "remarks": remarks(rows[rows["right"]]),
            "base": base["variant"].iloc[0] if any(line.get("speed") for line in lines) else "",
            "saving": any(line.get("saving") for line in lines), "lines": lines}

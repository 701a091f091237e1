"""Several turns of one case as one row, and the order in which cases take their turns.

Under a power limit the clock falls by what ran before, and a median hangs on how many samples it is of. So both sides take
equally many samples in each turn, one after the other in an order drawn anew, and what counts is the median of the turns.
"""

import random
import statistics

# So wide that attnprof and peers.py both stop at the fewest samples they take.
EQUAL_SAMPLES = ("90%", 0.9)
MEDIANS = ("latency_median_ns", "latency_min_ns", "latency_p90_ns", "sm_clock_mhz")


def order(shapes, seed):
    """The shapes as one turn takes them."""
    drawn = list(shapes)
    random.Random(seed).shuffle(drawn)
    return drawn


def merged(rows):
    """One row of the turns of a case: medians, with the slowest and the fastest turn's median as its interval; a flag of any
    of them. A turn that failed is the row."""
    failed = [row for row in rows if row["disposition"] != "ok"]
    if failed or len(rows) == 1:
        return (failed or rows)[-1]
    row = dict(rows[-1])
    for name in MEDIANS:
        values = [float(each[name]) for each in rows if each.get(name)]
        if values:
            row[name] = f"{statistics.median(values):.6g}"
    medians = [float(each["latency_median_ns"]) for each in rows if each.get("latency_median_ns")]
    if medians:
        row["latency_ci95_low_ns"], row["latency_ci95_high_ns"] = f"{min(medians):.6g}", f"{max(medians):.6g}"
    if "flags" in row:
        row["flags"] = ";".join(dict.fromkeys(flag for each in rows for flag in each["flags"].split(";") if flag))
    return row

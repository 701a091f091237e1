"""Measured bytes against the model's, of measured rows: a panel a memory level, with the ratio below."""

import numpy as np
from matplotlib.lines import Line2D
from matplotlib.patches import Patch

from . import levels as memory_levels
from .figure_parts import short_count
from .sweep_rows import devices_of, in_common, remarks, with_panels
from .sweep_sheet import GREY, dress, finish, plain_log, sheet

BAND = 0.1
BAND_COLOUR = "#e4e4e4"


def modelled_levels():
    return [level for level in memory_levels.drawn() if level.model_bytes]


def of_level(rows, level):
    return rows[(rows[level.bytes] > 0) & (rows[level.model_bytes] > 0)]


def summary(rows, level):
    """How many lie within the band, and the row farthest from the model."""
    off = rows[level.bytes] / rows[level.model_bytes] - 1
    far = rows.loc[off.abs().idxmax()]
    case = f"{far['line']}, N = {short_count(far['q_len'])}" + (f", {far['panel']}" if far["panel"] else "")
    words = f"farthest {100 * off.loc[far.name]:+.3g} % ({case})" if off.abs().max() > 1e-4 else "all within 0.01 %"
    return f"{(off.abs() <= BAND).sum()} of {len(rows)} within 10 %", words


def draw_level(upper, lower, rows, level, styles):
    measured, model, name = level.bytes, level.model_bytes, level.label
    dress(upper, f"{name} bytes")
    upper.set_title(summary(rows, level)[0], fontsize=9, loc="right", color=GREY)
    ends = np.array([rows[[measured, model]].min().min() / 1.5, rows[[measured, model]].max().max() * 1.5]) * 1e-9
    upper.fill_between(ends, ends * (1 - BAND), ends * (1 + BAND), color=BAND_COLOUR, zorder=1)
    upper.plot(ends, ends, color=GREY, linewidth=1, zorder=2)
    dress(lower, "")
    lower.axhspan(-100 * BAND, 100 * BAND, color=BAND_COLOUR, zorder=1)
    lower.axhline(0, color=GREY, linewidth=1, zorder=2)
    for line, (colour, marker) in styles.items():
        group = rows[rows["line"] == line]
        style = {"color": colour, "marker": marker, "s": 36, "alpha": 0.85, "edgecolor": "white", "linewidth": 0.5,
                 "zorder": 3}
        upper.scatter(group[model] * 1e-9, group[measured] * 1e-9, **style)
        lower.scatter(group[model] * 1e-9, 100 * (group[measured] / group[model] - 1), **style)
    upper.set(xscale="log", yscale="log", xlim=ends, ylim=ends)
    widest = 100 * (rows[measured] / rows[model] - 1).abs().max()
    lower.set_ylim(-max(14, 1.15 * widest), max(14, 1.15 * widest))
    for axis in (upper.yaxis, lower.xaxis):
        plain_log(axis)
    upper.tick_params(labelbottom=False, which="both")
    upper.set_ylabel(f"measured {name} bytes (GB)", fontsize=10)
    lower.set_ylabel("difference (%)", fontsize=10)
    lower.set_xlabel(f"modelled {name} bytes (GB)", fontsize=10)


def captions(rows, shown, levels, source):
    simulated = int((rows["backend"] == "sim").sum())
    wrong = int((~rows["right"]).sum())
    without = int((rows["right"] & (rows["backend"] != "sim")).sum()) - len(shown)
    parts = [source, f"{len(shown)} of {len(rows)} cases drawn", "band: 10 % about y = x", *remarks(shown)]
    counts = {"simulated left out, which agree by construction": simulated, "skipped, incorrect or failed left out": wrong,
              "without measured or modelled bytes": without}
    parts += [f"{count} {what}" for what, count in counts.items() if count]
    farthest = [f"{level.label} bytes: {summary(group, level)[1]}" for level, group in levels]
    return ["; ".join(parts) + ".", "; ".join(farthest) + "."]


def levels_of(rows):
    """The measured rows of `rows` (sweep_rows.with_lines) that have bytes of both kinds, those of each level that has any,
    and why there are none."""
    right = rows[rows["right"] & (rows["backend"] != "sim")]
    levels = [(level, of_level(right, level)) for level in modelled_levels()]
    levels = [(level, group) for level, group in levels if len(group)]
    if levels:
        return right.loc[sorted(set().union(*(group.index for _, group in levels)))], levels, ""
    if right.empty and (rows["right"] & (rows["backend"] == "sim")).any():
        return None, [], "all rows are simulated, and there measured and modelled bytes agree by construction"
    return None, [], "no correct row has both measured and modelled bytes"


def draw_model(rows, styles, source, output):
    """Draws `rows` (sweep_rows.with_lines) into `output`. Returns why not where there is nothing to draw. Throws OSError."""
    shown, levels, reason = levels_of(rows)
    if reason:
        return reason
    shown, by = with_panels(shown)
    levels = [(level, shown.loc[group.index]) for level, group in levels]
    handles = [Line2D([], [], color=colour, marker=marker, linestyle="", label=name)
               for name, (colour, marker) in styles.items() if name in set(shown["line"])]
    page = sheet(f"Measured against modelled bytes: {devices_of(shown)}",
                 in_common(shown, without=[*by, "x"]), captions(rows, shown, levels, source), 5.6,
                 [*handles, Line2D([], [], color=GREY, label="y = x"), Patch(color=BAND_COLOUR, label="within 10 %")])
    grid = page.grid(1, len(levels), between=(0, 0.9))
    for i, (level, group) in enumerate(levels):
        cell = grid[0, i].subgridspec(2, 1, height_ratios=[2.2, 1], hspace=0.06)
        upper = page.figure.add_subplot(cell[0])
        draw_level(upper, page.figure.add_subplot(cell[1], sharex=upper), group, level, styles)
    finish(page, output)
    return ""

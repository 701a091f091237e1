"""The roofline figure: a panel a memory level, over one axis of useful TFLOP/s."""

import math
import textwrap

import matplotlib
from matplotlib.lines import Line2D

from . import identity, levels
from .figure_parts import plt, save, short_count, styles_of
from .point_labels import place_labels

ROOF_COLOUR = "#555555"
LABELLED = ["q_len", "kv_len", "head_dim", "batch", "heads", "kv_heads", "dtype", "mask", "tile", "cache"]


def label_part(column, value):
    if column in ("q_len", "kv_len"):
        return ("kv" if column == "kv_len" else "") + short_count(value)
    prefixes = {"head_dim": "d", "batch": "b", "heads": "h", "kv_heads": "kvh"}
    if column in prefixes:
        return f"{prefixes[column]}{int(value)}"
    return str(value) if column in LABELLED else f"{column}={value}"


def varying_columns(rows):
    """What tells the points of one variant apart; kv_len and kv_heads only where they are not q_len and heads again."""
    varying = [column for column in LABELLED + identity.further() if rows[column].nunique() > 1]
    for column, same in (("kv_len", "q_len"), ("kv_heads", "heads")):
        if column in varying and (rows[column] == rows[same]).all():
            varying.remove(column)
    return varying


def series_of(rows):
    """A series a variant, in the file's order; simulated rows are their own where measured ones are drawn too."""
    mixed = rows["backend"].nunique() > 1
    several = rows["device"].nunique() > 1
    names = rows["variant"].copy()
    names += rows["backend"].map(lambda backend: " (simulated)" if mixed and backend == "sim" else "")
    return names + rows["device"].map(lambda device: f", {device}" if several else "")


def limits(values, low, high):
    """Log axis limits with room for labels around the values."""
    return min(values) / low, max(values) * high


def draw_bandwidth(axes, tbps, top, strong):
    """The slope y = bandwidth x, up to the highest ceiling. Returns its visible ends, or None."""
    start = max(axes.get_xlim()[0], axes.get_ylim()[0] / tbps)
    end = min(top / tbps, axes.get_xlim()[1])
    if start >= end:
        return None
    axes.plot([start, end], [start * tbps, end * tbps], color=ROOF_COLOUR, linewidth=1.4 if strong else 0.9,
              linestyle="-" if strong else (0, (4, 3)), zorder=1)
    return start, end


def name_bandwidth(axes, tbps, ends, name, above, pixels):
    """Writes the name along the slope where it covers the fewest points (`pixels`). Returns its box in pixels."""
    start, end = ends
    (x0, y0), (x1, y1) = axes.transData.transform([(start, start * tbps), (end, end * tbps)])
    text = axes.annotate(f"{name} {tbps:.3g} TB/s", (start, start * tbps), textcoords="offset points",
                         xytext=(-3, 3) if above else (3, -3), va="bottom" if above else "top", ha="left",
                         rotation=math.degrees(math.atan2(y1 - y0, x1 - x0)), rotation_mode="anchor", fontsize=8,
                         color=ROOF_COLOUR)

    def move(share):
        at = start * (end / start) ** share
        text.xy = (at, at * tbps)
        return text.get_window_extent()

    def covered(share):
        box = move(share)
        return sum(box.contains(*pixel) for pixel in pixels)

    return move(min((0.12, 0.3, 0.45, 0.6, 0.72), key=covered))


def draw_ceiling(axes, tflops, bandwidth, name, above):
    """The flat roof from where the panel's own bandwidth reaches it, named above or below. Returns its name's box, pixels."""
    left, right = axes.get_xlim()
    start = max(left, tflops / bandwidth) if bandwidth else left
    axes.plot([min(start, right), right], [tflops, tflops], color=ROOF_COLOUR, linewidth=1.4, zorder=1)
    text = axes.annotate(f"{name} {tflops:.3g} TFLOP/s", (right, tflops), xytext=(-4, 3 if above else -3),
                         textcoords="offset points", fontsize=8, color=ROOF_COLOUR, ha="right", va="bottom" if above else "top")
    return text.get_window_extent()


def draw_roofs(axes, own, roofs, pixels):
    """All roofs of all devices; the panel's own bandwidth solid. Returns the boxes of their names, pixels."""
    boxes, titles = [], levels.roof_titles()
    for device, roof in roofs.items():
        suffix = f", {device}" if len(roofs) > 1 else ""
        top = max(roof.ceilings.values(), default=axes.get_ylim()[1])
        for other, tbps in roof.bandwidths.items():
            ends = draw_bandwidth(axes, tbps, top, other == own)
            above = tbps == max(roof.bandwidths.values())  # the lower slope's name goes below it
            if ends:
                boxes.append(name_bandwidth(axes, tbps, ends, titles[other] + suffix, above, pixels))
        for name, tflops in roof.ceilings.items():
            boxes.append(draw_ceiling(axes, tflops, roof.bandwidths.get(own), name + suffix, roof.name_is_above(tflops)))
    return boxes


def draw_points(axes, rows, x, series, styles):
    points, columns = [], varying_columns(rows)
    for name, group in rows[rows[x] > 0].groupby(series, sort=False):
        colour, marker = styles[name]
        axes.scatter(group[x], group["useful_tflops_per_s"], s=26, color=colour, marker=marker, edgecolor="white",
                     linewidth=0.5, zorder=4)
        for _, row in group.iterrows():
            text = " ".join(label_part(column, row[column]) for column in columns)
            points.append((row[x], row["useful_tflops_per_s"], text, colour))
    return points


def set_limits(axes, x_values, y_values, own, roofs):
    """Both axes hold every point; x also holds the ridge of this panel's roof, y every ceiling."""
    ceilings = [tflops for roof in roofs.values() for tflops in roof.ceilings.values()]
    ridges = [max(roof.ceilings.values()) / roof.bandwidths[own] for roof in roofs.values()
              if roof.ceilings and own in roof.bandwidths]
    axes.set(xscale="log", yscale="log")
    axes.set_xlim(*limits([*x_values, *ridges] or [1], 2.2, 3.0))
    axes.set_ylim(*limits([*y_values, *ceilings], 2.2, 1.9))
    for axis in (axes.xaxis, axes.yaxis):
        axis.set_major_formatter(matplotlib.ticker.FuncFormatter(lambda value, _: f"{value:g}"))
        axis.set_minor_formatter(matplotlib.ticker.LogFormatter())  # plain too; 6 x 10^2 pushes the label off the page


def x_label_of(level):
    return f"useful FLOPs a byte {level.passage}"


def draw_panel(axes, rows, level, roofs, series, styles):
    x_values = rows.loc[rows[level.intensity] > 0, level.intensity]
    set_limits(axes, x_values, rows["useful_tflops_per_s"], level.roof, roofs)
    axes.set_title(level.title, fontsize=11, loc="left")
    axes.set_xlabel(x_label_of(level))
    axes.grid(which="major", color="#e4e4e4", linewidth=0.7)
    axes.set_axisbelow(True)
    axes.spines[["top", "right"]].set_visible(False)
    points = draw_points(axes, rows, level.intensity, series, styles)
    boxes = draw_roofs(axes, level.roof, roofs, [axes.transData.transform(point[:2]) for point in points])
    if not points:
        axes.text(0.5, 0.5, "no row has these bytes", transform=axes.transAxes, ha="center", color=ROOF_COLOUR)
    return place_labels(axes, points, boxes)


def title_of(rows):
    simulated = (rows["backend"] == "sim").sum()
    kind = "Simulated roofline" if simulated == len(rows) else "Roofline"
    partly = f" ({simulated} of {len(rows)} points simulated)" if 0 < simulated < len(rows) else ""
    return f"{kind}: {', '.join(rows['device'].unique())}{partly}"


def subtitle_of(rows):
    """What all drawn rows have in common; of traced kernels no problem is known."""
    same = [column for column in LABELLED if rows[column].nunique() == 1 and rows[column].iloc[0] not in ("-", 0)]
    words = {"dtype": "{}", "mask": "{} mask", "cache": "{} cache", "batch": "batch {}", "heads": "{} heads",
             "kv_heads": "{} kv heads", "head_dim": "d = {}", "q_len": "N = {}", "tile": "tile {}"}
    first = rows.iloc[0]
    if (rows["kv_heads"] == rows["heads"]).all():
        del words["kv_heads"]
    values = {column: f"{first[column]:g}" if isinstance(first[column], float) else first[column] for column in same}
    return ", ".join(words[column].format(values[column]) for column in words if column in values)


def caption_of(rows, roofs, caption, unlabelled):
    parts = [caption]
    if (rows["backend"] == "sim").any():
        parts.append("simulated points come from a model of the device, not from a measurement")
    if (rows["cache"] == "as_found").any():
        parts.append("FLOPs of traced kernels are executed ones")
    unchecked = int((rows["verified"] == "unchecked").sum())
    if unchecked:
        parts.append(f"{unchecked} drawn without a check of their output")
    if unlabelled:
        parts.append(f"{unlabelled} labels left out for room")
    sources = " and ".join(dict.fromkeys(roof.source for roof in roofs.values() if roof.source))
    parts.append(f"roofs from {sources}" if sources else "no roof of the device is known")
    return "\n".join(textwrap.wrap("; ".join(parts) + ".", 200))


def draw(rows, roofs, caption, output):
    """Draws `rows` under `roofs` (device -> Roofs) into `output`. Throws OSError where it cannot be written."""
    drawn = levels.drawn()
    figure, grid = plt.subplots(1, len(drawn), figsize=(7 * len(drawn), 6.6), dpi=130, sharey=True, squeeze=False)
    panels = grid[0]
    figure.subplots_adjust(left=0.055, right=0.885, top=0.86, bottom=0.165, wspace=0.05)
    series = series_of(rows)
    styles = styles_of(series)
    unlabelled = sum(draw_panel(axes, rows, level, roofs, series, styles) for axes, level in zip(panels, drawn))
    panels[0].set_ylabel("useful TFLOP/s")
    handles = [Line2D([], [], color=colour, marker=marker, linestyle="", label=name)
               for name, (colour, marker) in styles.items()]
    figure.legend(handles=handles, loc="center left", bbox_to_anchor=(0.892, 0.5), frameon=False)
    figure.text(0.055, 0.95, title_of(rows), fontsize=14, weight="bold")
    figure.text(0.055, 0.915, subtitle_of(rows), fontsize=10, color=ROOF_COLOUR)
    figure.text(0.055, 0.03, caption_of(rows, roofs, caption, unlabelled), fontsize=8.5, color=ROOF_COLOUR, va="bottom")
    save(figure, output)
    plt.close(figure)

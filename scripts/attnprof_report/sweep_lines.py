"""A quantity against the length N: a line a variant, a panel a shape, marks below for cases without a right number."""

import dataclasses
import math

import matplotlib
from matplotlib.lines import Line2D

from . import levels
from .figure_parts import short_count
from .sweep_rows import SIMULATED, devices_of, in_common, listed, remarks, with_panels
from .sweep_sheet import GREY, dress, finish, plain_log, sheet

MOST_PANELS = 24
GAP = 0.75  # inches between rows of panels


@dataclasses.dataclass
class Quantity:
    column: str
    title: str
    axis: str
    scale: float  # of the column's unit in the axis's
    log: bool = True
    bound: str = ""  # a column that no row can go below


def quantities():
    """Name of the picture -> Quantity: of bytes one a memory level."""
    of_levels = {f"sweep_{level.level}_bytes.png":
                 Quantity(level.bytes, f"Bytes {level.passage}", f"{level.label} bytes (GB)", 1e-9, bound=level.least_bytes or "")
                 for level in levels.drawn()}
    return {"sweep_latency.png": Quantity("latency_median_ns", "Latency", "median latency (ms)", 1e-6), **of_levels,
            "sweep_tflops.png": Quantity("useful_tflops_per_s", "Useful throughput", "useful TFLOP/s", 1.0, log=False)}


def fastest(rows):
    """Of several tiles or knobs of one case, the fastest."""
    return rows.sort_values("latency_median_ns", kind="stable").drop_duplicates(["panel", "line", "x"]).sort_values("x")


def marked_of(rows):
    """Cases without a right number: all that are wrong, and skipped ones where no other tile ran."""
    ran = rows.groupby(["panel", "line", "x"])["right"].transform("any")
    return rows[(rows["mark"] != "") & ~((rows["mark"] == "skipped") & ran)]


def why_not(rows, quantity):
    """Why these rows give no picture, or nothing."""
    found = rows[rows["right"] & (rows[quantity.column] > 0)]
    if found.empty:
        return f"no correct row has {quantity.column}"
    if found.groupby(["panel", "line"])["x"].nunique().max() < 2:
        return "no variant has two lengths N of one shape"
    return ""


def length_ticks(values):
    """Lengths to write: those measured where they have room, else powers of two."""
    values = sorted(set(values))
    if len(values) > 7 or any(b < 1.6 * a for a, b in zip(values, values[1:])):
        powers = [2.0**k for k in range(40) if values[0] <= 2.0**k <= values[-1]]
        values = powers[::math.ceil(len(powers) / 7) or 1] if len(powers) > 1 else [values[0], values[-1]]
    return values


def set_scales(axes, rows, quantity):
    axes.set_xscale("log", base=2)
    axes.set_xticks(length_ticks(rows["x"]), [short_count(n) for n in length_ticks(rows["x"])])
    axes.xaxis.set_minor_locator(matplotlib.ticker.NullLocator())
    axes.set_xlim(rows["x"].min() / 1.25, rows["x"].max() * 1.25)
    if quantity.log:
        axes.set_yscale("log")
        plain_log(axes.yaxis)


def dashes(name):
    return "--" if name.endswith(SIMULATED) else "-"


def draw_bound(axes, rows, column, scale):
    for _, group in rows[rows[column] > 0].groupby(["dtype", "pass"], sort=False):
        least = group.groupby("x")[column].min()
        axes.plot(least.index, least * scale, color=GREY, linewidth=1.2, linestyle=":", zorder=2)


def draw_lines(axes, rows, marked, quantity, styles):
    """Lines that lie on each other stay visible: each is narrower, with smaller markers, than the one before. A line breaks
    where a case is marked."""
    for i, (name, (colour, marker)) in enumerate(styles.items()):
        line = rows[rows["line"] == name].set_index("x")[quantity.column] * quantity.scale
        line = line.reindex(sorted(set(line.index) | set(marked.loc[marked["line"] == name, "x"])))
        share = i / max(1, len(styles) - 1)
        axes.plot(line.index, line, color=colour, marker=marker, label=name,
                  linewidth=2.2 - 0.8 * share, markersize=8 - 2 * share, markeredgecolor="white", markeredgewidth=0.5,
                  linestyle=dashes(name), zorder=3)


def draw_marks(axes, rows, styles):
    """The strip below a panel: a hollow marker for a skipped case, a cross for a wrong or failed one."""
    names = [name for name in styles if name in set(rows["line"])]
    for place, name in enumerate(names):
        colour, marker = styles[name]
        for mark, group in rows[rows["line"] == name].groupby("mark"):
            style = {"marker": marker, "markerfacecolor": "none"} if mark == "skipped" else {"marker": "x"}
            axes.plot(group["x"], [place] * len(group), linestyle="", color=colour, markersize=7, markeredgewidth=1.5,
                      **style)
    axes.set_facecolor("#f4f4f4")
    axes.set_ylim(max(1, len(names)) - 0.4, -0.6)
    axes.set_yticks([])
    axes.spines[["top", "right", "left"]].set_visible(False)
    axes.tick_params(labelsize=9)


def handles_of(styles, quantity, marked):
    handles = [Line2D([], [], color=colour, marker=marker, label=name, markersize=6, linestyle=dashes(name))
               for name, (colour, marker) in styles.items()]
    if quantity.bound:
        handles.append(Line2D([], [], color=GREY, linestyle=":", label="inputs and outputs once"))
    if (marked["mark"] == "skipped").any():
        handles.append(Line2D([], [], color=GREY, marker="o", markerfacecolor="none", linestyle="", label="skipped"))
    if marked["mark"].isin(["incorrect", "failed"]).any():
        handles.append(Line2D([], [], color=GREY, marker="x", linestyle="", label="incorrect or failed"))
    return handles


def captions_of(rows, drawn, marked, left_out, quantity, source):
    parts = [source, f"{len(drawn)} of {len(rows)} cases drawn", *remarks(drawn)]
    without = int((rows["right"] & ~(rows[quantity.column] > 0)).sum())
    parts += [f"{without} without {quantity.column}"] if without else []
    if rows[rows["right"]].duplicated(["panel", "line", "x"]).any():
        parts.append("of several tiles or knobs the fastest")
    parts += [f"{left_out} shapes with the fewest cases left out for room"] if left_out else []
    return ["; ".join(parts) + ".", *listed(marked)]


def panels_of(rows, drawn):
    """Titles in order, how many stand side by side, and how many more found no room.

    A row of panels is every head_dim and mask of one batch where four panels hold them, else every head_dim of one mask."""
    shapes = rows[rows["panel"].isin(drawn["panel"])]
    one_row = shapes.groupby(["head_dim", "mask"]).ngroups <= 4
    inner = ["head_dim", "heads", "kv_heads", "mask"] if one_row else ["mask", "head_dim", "heads", "kv_heads"]
    other = "q_len" if (shapes["x"] != shapes["q_len"]).any() else "kv_len"
    shapes = shapes.sort_values(["batch", "tokens", other, *inner], key=lambda cells: cells.ne("full") if cells.name == "mask" else cells)
    titles = list(dict.fromkeys(shapes["panel"]))
    counts = drawn["panel"].value_counts()
    kept = set(sorted(titles, key=lambda title: -counts[title])[:MOST_PANELS])
    columns = shapes.groupby(["head_dim", "mask"] if one_row else "head_dim").ngroups
    return [title for title in titles if title in kept], min(columns, len(kept), 4), len(titles) - len(kept)


def strip_height(marked):
    """Inches below each panel for the marks; 0 without any."""
    return 0.1 + 0.17 * marked.groupby("panel")["line"].nunique().max() if len(marked) else 0


def add_panels(page, grid, tall, strip):
    """(axes, strip or None) of every panel of the grid, all with the same axes; only the outer ones have labels."""
    pairs, (rows, columns) = [], grid.get_geometry()
    for i in range(rows * columns):
        parts = grid[i // columns, i % columns].subgridspec(2 if strip else 1, 1, hspace=0,
                                                           height_ratios=[tall, strip] if strip else [1])
        first = pairs[0][0] if pairs else None
        axes = page.figure.add_subplot(parts[0], sharex=first, sharey=first)
        axes.tick_params(labelleft=i % columns == 0, which="both")
        if strip:
            axes.tick_params(labelbottom=False, bottom=False, which="both")
        pairs.append((axes, page.figure.add_subplot(parts[1], sharex=axes) if strip else None))
    return pairs


def draw_panels(pairs, titles, columns, rows, drawn, marked, quantity, styles):
    """A shape into each pair of add_panels; what is left of the last row goes."""
    for i, ((axes, low), title) in enumerate(zip(pairs, titles)):
        dress(axes, title)
        here = marked[marked["panel"] == title]
        if quantity.bound:
            draw_bound(axes, rows[rows["panel"] == title], quantity.bound, quantity.scale)
        draw_lines(axes, drawn[drawn["panel"] == title], here, quantity, styles)
        if low:
            draw_marks(low, here, styles)
        if i % columns == 0:
            axes.set_ylabel(quantity.axis, fontsize=10)
        if i + columns >= len(titles):
            (low or axes).set_xlabel("N (tokens)" if (rows["x"] == rows["q_len"]).all() else "kv_len (tokens)", fontsize=10)
    for axes, low in pairs[len(titles):]:
        axes.remove()
        if low:
            low.remove()


@dataclasses.dataclass
class Picture:
    """What a picture of one quantity shows, whatever draws it."""
    rows: object  # all rows, with their panels
    drawn: object  # the points
    marked: object  # cases of the panels without a right number
    titles: list  # panels, in order
    columns: int  # panels side by side where a page is wide enough
    styles: dict  # line -> (colour, marker), as far as it is there
    subtitle: str
    captions: list


def picture_of(rows, quantity, styles, source):
    """The Picture of `rows` (sweep_rows.with_lines), or None, and why there is nothing to draw."""
    every, rows = rows, rows[(rows["q_len"] > 0) & (rows["kv_len"] > 0)]
    if rows.empty:
        return None, "no row has a length N, as kernels that were traced have none"
    rows, by = with_panels(rows)
    reason = why_not(rows, quantity)
    if reason:
        return None, reason
    drawn = fastest(rows[rows["right"] & (rows[quantity.column] > 0)])
    titles, columns, left_out = panels_of(rows, drawn)
    drawn, marked = drawn[drawn["panel"].isin(titles)], marked_of(rows)
    captions = captions_of(rows, drawn, marked, left_out, quantity, source)
    if len(every) > len(rows):
        captions.insert(1, f"{len(every) - len(rows)} without a length N left out.")
    here = marked[marked["panel"].isin(titles)]
    styles = {name: style for name, style in styles.items() if name in set(drawn["line"]) | set(here["line"])}
    return Picture(rows, drawn, here, titles, columns, styles, in_common(rows, without=[*by, "x"]), captions), ""


def draw_sweep(rows, quantity, styles, source, output):
    """Draws `rows` (sweep_rows.with_lines) into `output`. Returns why not where there is nothing to draw. Throws OSError."""
    picture, reason = picture_of(rows, quantity, styles, source)
    if reason:
        return reason
    rows, drawn, here, titles, styles = picture.rows, picture.drawn, picture.marked, picture.titles, picture.styles
    columns = picture.columns
    count = math.ceil(len(titles) / columns)
    tall, strip = 3.4 if count == 1 else 2.5, strip_height(here)
    page = sheet(f"{quantity.title} against N: {devices_of(drawn)}", picture.subtitle, picture.captions,
                 (tall + strip + GAP) * count - GAP, handles_of(styles, quantity, here))
    pairs = add_panels(page, page.grid(count, columns, between=(GAP, 0.35)), tall, strip)
    draw_panels(pairs, titles, columns, rows, drawn, here, quantity, styles)
    set_scales(pairs[0][0], rows[rows["panel"].isin(titles)], quantity)
    if not quantity.log:
        pairs[0][0].set_ylim(0, drawn[quantity.column].max() * quantity.scale * 1.08)
    finish(page, output)
    return ""

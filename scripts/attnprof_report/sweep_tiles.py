"""Heat maps Br x Bc of a sweep with several tiles: a panel a case, a cell a tile, coloured by its ratio to the lowest."""

import dataclasses
import math

import matplotlib
import numpy as np
import pandas as pd
from matplotlib.lines import Line2D
from matplotlib.patches import Patch, Rectangle

from .figure_parts import plt
from .sweep_rows import SHAPE, devices_of, in_common, listed, remarks, shape_words, varying
from .sweep_sheet import GREY, WIDTH, finish, sheet

MOST_PANELS = 24
CELL = 0.5  # inches a row of tiles is high
COLOURS = matplotlib.colormaps["cividis"].reversed()  # made for colour-blind readers; light is lowest, dark is highest
DEFAULT_COLOUR = "#D55E00"  # the frame of what `auto` chose
CASE = ["line", "mask", "batch", "heads", "kv_heads", "q_len", "kv_len", "head_dim", "knobs"]


@dataclasses.dataclass
class TileQuantity:
    column: str
    title: str
    units: tuple  # (unit, its size in the column's unit), the largest first


TILE_QUANTITIES = {
    "tiles_latency.png": TileQuantity("latency_median_ns", "Median latency",
                                      (("ms", 1e6), ("us", 1e3), ("ns", 1.0))),
    "tiles_sm_bytes.png": TileQuantity("sm_bytes", "Bytes into and out of the SMs",
                                       (("GB", 1e9), ("MB", 1e6), ("kB", 1e3), ("B", 1.0)))}


def unit_of(cases, quantity):
    """(unit, its size) for all cells of a picture: the largest in which none is below 0.1."""
    lowest = min(row[quantity.column] for case in cases for row in best_of(case, quantity.column).values())
    return next((unit for unit in quantity.units if lowest >= 0.1 * unit[1]), quantity.units[-1])


def three_digits(value):
    return f"{value:.{max(0, 2 - math.floor(math.log10(value)))}f}"


def cases_of(rows, column):
    """The cases with at least two tiles that have the quantity, in the rows' order."""
    tiled = rows[rows["br"].notna() & rows["bc"].notna()]
    groups = [group for _, group in tiled.groupby(CASE, sort=False, dropna=False)]
    counts = [len(group[group["right"] & (group[column] > 0)].drop_duplicates(["br", "bc"])) for group in groups]
    return [group for group, count in zip(groups, counts) if count > 1]


def best_of(case, column):
    """(br, bc) -> the fastest right row of that tile (a tile asked for by name and as `auto` is two rows)."""
    right = case[case["right"] & (case[column] > 0)].sort_values("latency_median_ns", kind="stable")
    return {(row["br"], row["bc"]): row for _, row in right.drop_duplicates(["br", "bc"]).iterrows()}


def text_colour(ratio, norm):
    red, green, blue, _ = COLOURS(norm(ratio))
    return "black" if 0.3 * red + 0.59 * green + 0.11 * blue > 0.5 else "white"


def draw_cells(axes, case, column, size, norm, places):
    """`size`: of the unit; `places`: the Br and the Bc of the panel, in order."""
    best = best_of(case, column)
    lowest = min(row[column] for row in best.values())
    ratios = np.full((len(places[0]), len(places[1])), np.nan)
    for (br, bc), row in best.items():
        i, j, ratio = places[0].index(br), places[1].index(bc), row[column] / lowest
        ratios[i, j] = ratio
        axes.text(j, i, f"{three_digits(row[column] / size)}\n{ratio:.2f}x", ha="center", va="center",
                  fontsize=9, color=text_colour(ratio, norm), weight="bold" if ratio == 1 else "normal", linespacing=1.15)
    axes.imshow(ratios, cmap=COLOURS, norm=norm, aspect="auto")
    return best


def draw_marks(axes, marked, places):
    for _, row in marked.iterrows():
        style = {"marker": "o", "markerfacecolor": "none"} if row["mark"] == "skipped" else {"marker": "x"}
        axes.plot(places[1].index(row["bc"]), places[0].index(row["br"]), color=GREY, markersize=10, markeredgewidth=1.6,
                  linestyle="", **style)


def draw_default(axes, case, places):
    """A frame around what `auto` chose."""
    for _, row in case[(case["tile"] == "auto") & case["right"]].drop_duplicates(["br", "bc"]).iterrows():
        i, j = places[0].index(row["br"]), places[1].index(row["bc"])
        axes.add_patch(Rectangle((j - 0.46, i - 0.44), 0.92, 0.88, fill=False, edgecolor=DEFAULT_COLOUR, linewidth=2, zorder=4))


def draw_case(axes, case, column, size, norm):
    case = case[(case[column] > 0) | (case["mark"] != "")]
    places = sorted(case["br"].unique()), sorted(case["bc"].unique())
    best = draw_cells(axes, case, column, size, norm, places)
    draw_marks(axes, marks_of(case, best), places)
    draw_default(axes, case, places)
    axes.set_xticks(range(len(places[1])), [f"{bc:g}" for bc in places[1]])
    axes.set_yticks(range(len(places[0])), [f"{br:g}" for br in places[0]])
    axes.set(xlim=(-0.5, len(places[1]) - 0.5), ylim=(len(places[0]) - 0.5, -0.5))
    axes.tick_params(labelsize=9, length=0)
    axes.spines[:].set_visible(False)


def marks_of(case, best):
    """Tiles that ended otherwise and have no right row."""
    tiles = pd.MultiIndex.from_frame(case[["br", "bc"]])
    return case[(case["mark"] != "").to_numpy() & ~tiles.isin(list(best))]


def titles_of(cases, rows):
    columns = varying(rows, [column for column in SHAPE if column in rows.columns])
    several = rows["line"].nunique() > 1
    knobs = rows["knobs"].nunique() > 1
    titles = []
    for case in cases:
        first = case.iloc[0]
        words = ([first["line"]] if several else []) + shape_words(first, columns)
        titles.append(", ".join(words + ([first["knobs"]] if knobs and first["knobs"] != "-" else [])))
    return titles, columns


def handles_of(rows, marked):
    handles = []
    if ((rows["tile"] == "auto") & rows["right"]).any():
        handles.append(Patch(fill=False, edgecolor=DEFAULT_COLOUR, linewidth=2, label="the default tile (auto)"))
    if (marked["mark"] == "skipped").any():
        handles.append(Line2D([], [], color=GREY, marker="o", markerfacecolor="none", linestyle="", label="skipped"))
    if marked["mark"].isin(["incorrect", "failed"]).any():
        handles.append(Line2D([], [], color=GREY, marker="x", linestyle="", label="incorrect or failed"))
    return handles


def captions(cases, marked, left_out, quantity, source):
    drawn = pd.DataFrame([row for case in cases for row in best_of(case, quantity.column).values()])
    of_cases = "1 case" if len(cases) == 1 else f"{len(cases)} cases"
    parts = [source, f"{len(drawn)} tiles of {of_cases} drawn", "bold: the lowest", *remarks(drawn)]
    if any(case[case["right"]].duplicated(["br", "bc"]).any() for case in cases):
        parts.append("of several rows of a tile the fastest")
    parts += [f"{left_out} cases left out for room"] if left_out else []
    return ["; ".join(parts) + ".", *listed(marked)]


def columns_of(cases):
    """Panels side by side, as many as leave a cell room for its text."""
    widest = max(case["bc"].nunique() for case in cases)
    return max(1, min(max(len(cases), 2), 4, int(WIDTH / (0.65 * widest + 0.5))))


def add_scale(page, image_of, label):
    """The colours' scale, at the right of the panels."""
    height = min(3.0, page.height - page.top - page.bottom)
    box = (1 - 0.88 / WIDTH, 1 - (page.top + height) / page.height, 0.16 / WIDTH, height / page.height)
    axes = page.figure.add_axes(box)
    bar = page.figure.colorbar(image_of, cax=axes)
    bar.set_label(label, fontsize=9)
    bar.ax.tick_params(labelsize=9)
    bar.ax.yaxis.set_major_formatter(matplotlib.ticker.FuncFormatter(lambda value, _: f"{value:g}x"))


def ratio_scale(cases, column):
    ratios = [row[column] / min(other[column] for other in best.values())
              for best in (best_of(case, column) for case in cases) for row in best.values()]
    return matplotlib.colors.Normalize(1, max(1.05, *ratios))


def draw_tiles(rows, quantity, source, output):
    """Draws `rows` (sweep_rows.with_lines) into `output`. Returns why not where there is nothing to draw. Throws OSError."""
    found = cases_of(rows, quantity.column)
    cases = found[:MOST_PANELS]
    if not cases:
        return f"no case has two tiles with {quantity.column}"
    shown = pd.concat(cases)
    titles, by = titles_of(cases, shown)
    marked = pd.concat([marks_of(case, best_of(case, quantity.column)).assign(panel=title)
                        for case, title in zip(cases, titles)])
    columns, norm = columns_of(cases), ratio_scale(cases, quantity.column)
    count = math.ceil(len(cases) / columns)
    tall = max(1.2, CELL * max(case["br"].nunique() for case in cases))
    variants = "" if shown["line"].nunique() > 1 else f", {shown['line'].iloc[0]}"
    unit, size = unit_of(cases, quantity)
    page = sheet(f"{quantity.title} by tile ({unit}){variants}: {devices_of(shown)}", in_common(shown, without=by),
                 captions(cases, marked, len(found) - len(cases), quantity, source), (tall + 0.8) * count - 0.8,
                 handles_of(shown, marked))
    grid = page.grid(count, columns, between=(0.8, 0.6), right=1.1)
    for i, (case, title) in enumerate(zip(cases, titles)):
        axes = page.figure.add_subplot(grid[i // columns, i % columns])
        draw_case(axes, case, quantity.column, size, norm)
        axes.set_title(title, fontsize=10, loc="left", parse_math=False)
        if i % columns == 0:
            axes.set_ylabel("Br (rows of Q)", fontsize=10)
        if i + columns >= len(cases):
            axes.set_xlabel("Bc (rows of K and V)", fontsize=10)
    add_scale(page, plt.cm.ScalarMappable(norm=norm, cmap=COLOURS), "ratio to the lowest")
    finish(page, output)
    return ""

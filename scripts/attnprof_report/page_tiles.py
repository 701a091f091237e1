"""The report's heat maps Br x Bc: what `attnprof_report sweep` draws, as panels that answer a pointer."""

import pandas as pd

from .figure_parts import short_count
from .page_plots import GREY, Key, Panel, Plot, SYMBOLS, figure, mark_keys, text, wrapped
from .sweep_rows import devices_of, in_common
from .sweep_tiles import (COLOURS, DEFAULT_COLOUR, MOST_PANELS, TILE_QUANTITIES, best_of, captions, cases_of, marks_of,
                         ratio_scale, text_colour, three_digits, titles_of, unit_of)


def colour_scale():
    """The map of the pictures, as Plotly takes it."""
    colours = [(share / 10, COLOURS(share / 10)) for share in range(11)]
    return [[share, "rgb(" + ",".join(str(round(255 * part)) for part in colour[:3]) + ")"] for share, colour in colours]


def cell_texts(best, column, size, unit, places, norm):
    """(ratios, labels, annotations) of the grid; cells without a right row are empty."""
    lowest = min(row[column] for row in best.values())
    ratios, labels, notes = [], [], []
    for i, br in enumerate(places[0]):
        ratios.append([])
        labels.append([])
        for j, bc in enumerate(places[1]):
            row = best.get((br, bc))
            ratio = row[column] / lowest if row is not None else None
            ratios[-1].append(ratio)
            labels[-1].append("" if row is None else f"Br x Bc = {br:g}x{bc:g}<br>{row[column] / size:.4g} {unit}<br>"
                              f"{ratio:.3f} times the lowest")
            if row is not None:
                value = three_digits(row[column] / size)
                notes.append({"x": j, "y": i, "text": f"<b>{value}</b>" if ratio == 1 else value, "showarrow": False,
                              "font": {"size": 12, "color": text_colour(ratio, norm)}})
    return ratios, labels, notes


def mark_trace(marked, places):
    """Tiles that ended otherwise, with the reason."""
    signs = {"skipped": "circle-open"}
    return {"type": "scatter", "mode": "markers", "x": [places[1].index(bc) for bc in marked["bc"]],
            "y": [places[0].index(br) for br in marked["br"]], "hovertemplate": "%{text}<extra></extra>",
            "text": [f"{text(row['tile'])}: {row['mark']}<br>{wrapped(row['reason'])}" for _, row in marked.iterrows()],
            "marker": {"size": 11, "color": GREY, "line": {"width": 2, "color": GREY},
                       "symbol": [signs.get(mark, "x-thin") for mark in marked["mark"]]}}


def frames_of(case, places):
    """Around what `auto` chose."""
    chosen = case[(case["tile"] == "auto") & case["right"]].drop_duplicates(["br", "bc"])
    return [{"type": "rect", "x0": j - 0.47, "x1": j + 0.47, "y0": i - 0.46, "y1": i + 0.46,
             "line": {"color": DEFAULT_COLOUR, "width": 3}, "fillcolor": "rgba(0,0,0,0)"}
            for i, j in ((places[0].index(row["br"]), places[1].index(row["bc"])) for _, row in chosen.iterrows())]


def panel_of(case, title, column, unit, size, norm):
    case = case[(case[column] > 0) | (case["mark"] != "")]
    places = sorted(case["br"].unique()), sorted(case["bc"].unique())
    best = best_of(case, column)
    ratios, labels, notes = cell_texts(best, column, size, unit, places, norm)
    traces = [{"type": "heatmap", "z": ratios, "text": labels, "hovertemplate": "%{text}<extra></extra>", "xgap": 2, "ygap": 2,
               "colorscale": colour_scale(), "zmin": norm.vmin, "zmax": norm.vmax, "hoverongaps": False, "showscale": False}]
    marked = marks_of(case, best)
    traces += [mark_trace(marked, places)] if len(marked) else []
    axes = {name: {"tickvals": list(range(len(values))), "ticktext": [f"{value:g}" for value in values], "showgrid": False,
                   "zeroline": False, "title": {"text": label, "standoff": 8}, "ticklabelstandoff": 3, "automargin": True}
            for name, values, label in (("xaxis", places[1], "Bc (rows of K and V)"), ("yaxis", places[0], "Br (rows of Q)"))}
    axes["xaxis"]["range"], axes["yaxis"]["range"] = [-0.5, len(places[1]) - 0.5], [len(places[0]) - 0.5, -0.5]
    height = max(210, 90 + 44 * len(places[0]))
    return Panel(title, figure(traces, height, annotations=notes, shapes=frames_of(case, places), **axes),
                 f"{column} by tile, {title}")


def tiles_plot(rows, name, source):
    """The plot of one of sweep_tiles.TILE_QUANTITIES, or why there is nothing to draw."""
    quantity = TILE_QUANTITIES[name]
    key, title, column = name.removesuffix(".png"), f"{quantity.title} by tile", quantity.column
    found = cases_of(rows, column)
    cases = found[:MOST_PANELS]
    if not cases:
        return Plot(key, title, reason=f"no case has two tiles with {column}")
    shown = pd.concat(cases)
    titles, by = titles_of(cases, shown)
    unit, size = unit_of(cases, quantity)
    norm, variants = ratio_scale(cases, column), "" if shown["line"].nunique() > 1 else f", {shown['line'].iloc[0]}"
    marked = pd.concat([marks_of(case, best_of(case, column)) for case in cases]).assign(panel="")
    keys = [Key("the default tile (auto)", DEFAULT_COLOUR, SYMBOLS["s"][1], hollow=True, toggles=False)] \
        if ((shown["tile"] == "auto") & shown["right"]).any() else []
    gradient = "linear-gradient(to right," + ",".join(colour for _, colour in colour_scale()) + ")"
    scale = (gradient, f"{norm.vmin:.3g}x", f"{norm.vmax:.3g}x the lowest")
    return Plot(key, f"{title} ({unit}){variants}: {devices_of(shown)}", in_common(shown, without=by),
                captions(cases, marked, len(found) - len(cases), quantity, source)[:1], scale=scale,
                columns=max(2, min(4, len(cases))), keys=keys + mark_keys(marked),
                panels=[panel_of(case, title, column, unit, size, norm) for case, title in zip(cases, titles)])

"""The report's plots against the length N: what `attnprof_report sweep` draws, as panels that answer a pointer."""

import math

from .figure_parts import short_count
from .page_plots import (FLAT, GREY, Key, Panel, Plot, figure, hover, line_keys, linear_axis, log_axis, mark_keys, symbol,
                          text, tokens_axis, wrapped)
from .sweep_lines import dashes, length_ticks, picture_of
from .sweep_rows import devices_of

STRIP = 0.2  # share of a panel's height for marks, where there are any


def log_ends(values, low=1.3, high=1.3):
    return math.log10(min(values) / low), math.log10(max(values) * high)


def line_trace(name, style, points, marked, quantity):
    """A line that breaks where a case is marked."""
    points, (colour, marker) = points.set_index("x"), style
    places = sorted(set(points.index) | set(marked["x"]))
    values = points[quantity.column] * quantity.scale
    labels = {x: hover(row, f"{quantity.axis}: {values[x]:.4g}") for x, row in points.iterrows()}
    return {"type": "scatter", "name": name, "x": places, "y": [values.get(x) for x in places], "connectgaps": False,
            "mode": "lines+markers", "line": {"color": colour, "width": 2, "dash": "dash" if dashes(name) == "--" else "solid"},
            "marker": {"symbol": symbol(marker), "size": 8}, "hovertemplate": "%{text}<extra></extra>",
            "text": [labels.get(x, "") for x in places]}


def mark_traces(names, styles, marked):
    """The strip below: hollow for a skipped case, a cross for a wrong or failed one, with the reason."""
    traces = []
    for place, name in enumerate(names):
        colour, marker = styles[name]
        for mark, group in marked[marked["line"] == name].groupby("mark"):
            sign = symbol(marker) + "-open" if mark == "skipped" else "x-thin"
            labels = [f"<b>{text(name)}</b>: {mark}<br>N = {short_count(row['q_len'])}<br>" + wrapped(row["reason"])
                      for _, row in group.iterrows()]
            traces.append({"type": "scatter", "name": name, "mode": "markers", "x": list(group["x"]), "yaxis": "y2",
                           "y": [place] * len(group), "text": labels, "hovertemplate": "%{text}<extra></extra>",
                           "marker": {"symbol": sign, "size": 9, "color": colour, "line": {"color": colour, "width": 2}}})
    return traces


def bound_traces(rows, quantity):
    traces = []
    for _, group in rows[rows[quantity.bound] > 0].groupby(["dtype", "pass"], sort=False):
        least = group.groupby("x")[quantity.bound].min() * quantity.scale
        traces.append({"type": "scatter", "mode": "lines", "x": list(least.index), "y": list(least), "hoverinfo": "skip",
                       "line": {"color": GREY, "width": 1.5, "dash": "dot"}})
    return traces


def panel_of(title, picture, quantity, x_axis, y_axis):
    drawn, marked = (rows[rows["panel"] == title] for rows in (picture.drawn, picture.marked))
    traces = bound_traces(picture.rows[picture.rows["panel"] == title], quantity) if quantity.bound else []
    traces += [line_trace(name, style, drawn[drawn["line"] == name], marked[marked["line"] == name], quantity)
               for name, style in picture.styles.items() if name in set(drawn["line"])]
    layout, names = {"xaxis": x_axis, "yaxis": y_axis}, [line for line in picture.styles if line in set(marked["line"])]
    if names:
        traces += mark_traces(names, picture.styles, marked)
        layout["xaxis"] = x_axis | {"anchor": "y2"}
        layout["yaxis"] = y_axis | {"domain": [STRIP + 0.04, 1]}
        layout["yaxis2"] = {"domain": [0, STRIP], "range": [len(names) - 0.4, -0.6], "showticklabels": False, "zeroline": False,
                            "showgrid": False, "fixedrange": True}
    return Panel(title, figure(traces, 330 if names else 290, **layout), f"{quantity.title} against N, {title or 'all cases'}")


def y_axis_of(picture, quantity):
    values = picture.drawn[quantity.column] * quantity.scale
    if not quantity.log:
        return linear_axis(quantity.axis, range=[0, 1.08 * values.max()])
    bounds = picture.rows[quantity.bound] * quantity.scale if quantity.bound else values
    return log_axis(quantity.axis, log_ends([*values, *bounds[bounds > 0]]))


def lines_plot(rows, name, quantity, styles, source):
    """The plot of one of sweep_lines.quantities(), or why there is nothing to draw."""
    key, title = name.removesuffix(".png"), f"{quantity.title} against N"
    picture, reason = picture_of(rows, quantity, styles, source)
    if reason:
        return Plot(key, title, reason=reason)
    shown = picture.rows[picture.rows["panel"].isin(picture.titles)]
    of_q = (picture.rows["x"] == picture.rows["q_len"]).all()
    x_axis = tokens_axis("N (tokens)" if of_q else "kv_len (tokens)", length_ticks(shown["x"]), log_ends(shown["x"]))
    panels = [panel_of(panel, picture, quantity, x_axis, y_axis_of(picture, quantity)) for panel in picture.titles]
    keys = line_keys(picture.styles, [line for line in picture.styles if dashes(line) == "--"])
    if quantity.bound:
        keys.append(Key("inputs and outputs once", GREY, stroke=FLAT, dash="2 3", toggles=False))
    return Plot(key, f"{title}: {devices_of(picture.drawn)}", picture.subtitle, picture.captions[:1], panels=panels,
                keys=keys + mark_keys(picture.marked), columns=picture.columns)

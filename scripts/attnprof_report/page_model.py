"""The report's measured against modelled bytes: what `attnprof_report sweep` draws, as panels that answer a pointer."""

import math

from .page_plots import GREY, FLAT, SLOPED, Key, Panel, Plot, figure, hover, line_keys, linear_axis, log_axis, symbol
from .sweep_model import BAND, captions, levels_of, summary
from .sweep_rows import devices_of, in_common, with_panels

BAND_COLOUR = "rgba(128,128,128,0.22)"


def band(x, low, high, axis):
    """The filled area between two curves over x."""
    return {"type": "scatter", "x": [*x, *reversed(x)], "y": [*low, *reversed(high)], "fill": "toself", "mode": "lines",
            "fillcolor": BAND_COLOUR, "line": {"width": 0}, "hoverinfo": "skip", "yaxis": axis}


def middle(x, y, axis):
    return {"type": "scatter", "x": x, "y": y, "mode": "lines", "line": {"color": GREY, "width": 1.2}, "hoverinfo": "skip",
            "yaxis": axis}


def point_traces(rows, level, styles):
    """Every case twice: its bytes above, their difference below."""
    measured, model, name = level.bytes, level.model_bytes, level.label
    traces = []
    for line, (colour, marker) in styles.items():
        group = rows[rows["line"] == line]
        off = 100 * (group[measured] / group[model] - 1)
        labels = [hover(row, f"measured {row[measured] * 1e-9:.4g} GB, modelled {row[model] * 1e-9:.4g} GB", f"{off[i]:+.3g} %")
                  for i, row in group.iterrows()]
        for y, axis in ((list(group[measured] * 1e-9), "y"), (list(off), "y2")):
            traces.append({"type": "scatter", "mode": "markers", "name": line, "x": list(group[model] * 1e-9), "y": y,
                           "yaxis": axis, "text": labels, "hovertemplate": "%{text}<extra></extra>",
                           "marker": {"symbol": symbol(marker), "size": 7, "color": colour, "opacity": 0.85}})
    return traces


def panel_of(rows, level, styles):
    measured, model, name = level.bytes, level.model_bytes, level.label
    low, high = rows[[measured, model]].min().min() / 1.5e9, rows[[measured, model]].max().max() * 1.5e-9
    widest = max(14, 1.15 * 100 * (rows[measured] / rows[model] - 1).abs().max())
    ends, log_ends = [low, high], [math.log10(low), math.log10(high)]
    share = 100 * BAND
    traces = [band(ends, [(1 - BAND) * end for end in ends], [(1 + BAND) * end for end in ends], "y"), middle(ends, ends, "y"),
              band(ends, [-share, -share], [share, share], "y2"), middle(ends, [0, 0], "y2"), *point_traces(rows, level, styles)]
    layout = {"xaxis": log_axis(f"modelled {name} bytes (GB)", log_ends, 2.5, anchor="y2"),
              "yaxis": log_axis("measured (GB)", log_ends, 3, domain=[0.42, 1]),
              "yaxis2": linear_axis("difference (%)", domain=[0, 0.33], range=[-widest, widest])}
    return Panel(f"{name} bytes: {summary(rows, level)[0]}", figure(traces, 440, **layout),
                 f"Measured against modelled {name} bytes: {', '.join(summary(rows, level))}")


def model_plot(rows, styles, source):
    """The plot, or why there is nothing to draw."""
    title = "Measured against modelled bytes"
    shown, levels, reason = levels_of(rows)
    if reason:
        return Plot("model", title, reason=reason)
    shown, by = with_panels(shown)
    levels = [(level, shown.loc[group.index]) for level, group in levels]
    styles = {name: style for name, style in styles.items() if name in set(shown["line"])}
    keys = [Key("measured = modelled", GREY, stroke=SLOPED, toggles=False),
            Key("within 10 %", GREY, "M-9,-5H9V5H-9Z", toggles=False)]
    return Plot("model", f"{title}: {devices_of(shown)}", in_common(shown, without=[*by, "x"]),
                captions(rows, shown, levels, source),
                panels=[panel_of(group, level, styles) for level, group in levels],
                keys=line_keys(styles, stroke="") + keys, columns=2)

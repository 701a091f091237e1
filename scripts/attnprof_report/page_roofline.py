"""The report's roofline: what `attnprof_report roofline` draws, as panels that answer a pointer."""

import math

from . import levels
from .roofline import drawable, left_out
from .page_plots import GREY, Panel, Plot, figure, line_keys, linear_axis, log_axis, symbol, text
from .roofline_figure import caption_of, label_part, limits, subtitle_of, title_of, varying_columns, x_label_of


def roof_traces(own, roofs, ends):
    """Slopes and ceilings between the panel's ends; the panel's own bandwidth and the ceilings are solid."""
    traces, titles = [], levels.roof_titles()
    for device, roof in roofs.items():
        suffix = f", {text(device)}" if len(roofs) > 1 else ""
        top = max(roof.ceilings.values(), default=ends[1][1])
        for name, tbps in roof.bandwidths.items():
            start, end = max(ends[0][0], ends[1][0] / tbps), min(top / tbps, ends[0][1])
            if start < end:
                traces.append(roof_trace([start, end], [start * tbps, end * tbps], name == own,
                                         f"{titles[name]} {tbps:.3g} TB/s{suffix}"))
        for name, tflops in roof.ceilings.items():
            start = max(ends[0][0], tflops / roof.bandwidths[own]) if own in roof.bandwidths else ends[0][0]
            traces.append(roof_trace([min(start, ends[0][1]), ends[0][1]], [tflops, tflops], True,
                                     f"{text(name)} {tflops:.3g} TFLOP/s{suffix}"))
    return traces


def roof_trace(x, y, own, name):
    """Points along the line too, so that a pointer anywhere on it finds the name."""
    shares = [i / 24 for i in range(25)]
    return {"type": "scatter", "mode": "lines", "x": [x[0] * (x[1] / x[0]) ** share for share in shares],
            "y": [y[0] * (y[1] / y[0]) ** share for share in shares], "hovertemplate": f"{name}<extra></extra>",
            "line": {"color": GREY, "width": 2 if own else 1.2, "dash": "solid" if own else "dash"}}


def ceiling_names(roofs, ends):
    """Names of the ceilings, at their right end."""
    names, label = [], {"showarrow": False, "font": {"size": 11, "color": GREY}}
    for roof in roofs.values():
        for name, tflops in roof.ceilings.items():
            names.append({"x": math.log10(ends[0][1]), "y": math.log10(tflops), "xanchor": "right",
                          "yanchor": "bottom" if roof.name_is_above(tflops) else "top", "text": f"{text(name)} {tflops:.3g} TFLOP/s"} | label)
    return names


def slopes_of(own, roofs):
    """What the slopes of a panel are, in words."""
    several, titles = len(roofs) > 1, levels.roof_titles()
    words = [f"{'solid' if name == own else 'dashed'}: {titles[name]} {tbps:.3g} TB/s" + (f" of {device}" if several else "")
             for device, roof in roofs.items() for name, tbps in roof.bandwidths.items()]
    return f" ({'; '.join(words)})" if words else ""


def ends_of(rows, x, own, roofs):
    """((x, x), (y, y)): every point, the panel's ridge, every ceiling."""
    ceilings = [tflops for roof in roofs.values() for tflops in roof.ceilings.values()]
    ridges = [max(roof.ceilings.values()) / roof.bandwidths[own] for roof in roofs.values()
              if roof.ceilings and own in roof.bandwidths]
    return limits([*rows.loc[rows[x] > 0, x], *ridges], 2.2, 3.0), limits([*rows["useful_tflops_per_s"], *ceilings], 2.2, 1.9)


def point_traces(rows, x, x_label, styles):
    columns, traces = varying_columns(rows), []
    for name, group in rows[rows[x] > 0].groupby("line", sort=False):
        colour, marker = styles[name]
        labels = [f"<b>{text(name)}</b><br>" + text(" ".join(label_part(column, row[column]) for column in columns))
                  + f"<br>{row['useful_tflops_per_s']:.4g} useful TFLOP/s<br>{row[x]:.4g} {x_label}"
                  for _, row in group.iterrows()]
        traces.append({"type": "scatter", "mode": "markers", "name": name, "x": list(group[x]), "text": labels,
                       "y": list(group["useful_tflops_per_s"]), "hovertemplate": "%{text}<extra></extra>",
                       "marker": {"symbol": symbol(marker), "size": 8, "color": colour,
                                  "line": {"width": 0.5, "color": "white"}}})
    return traces


def roofline_plot(rows, roofs_of, styles):
    """Of sweep_rows.with_lines, and roofs_of(devices): the plot, or why there is nothing to draw."""
    drawn = drawable(rows)
    rest = left_out(rows, drawn)
    if drawn.empty:
        return Plot("roofline", "Roofline", reason=f"of {len(rows)} rows, {rest}")
    roofs = roofs_of(drawn["device"].unique())
    styles, panels = {name: style for name, style in styles.items() if name in set(drawn["line"])}, []
    for level in levels.drawn():
        x, x_label = level.intensity, x_label_of(level)
        if not (drawn[x] > 0).any():
            continue
        ends = ends_of(drawn, x, level.roof, roofs)
        axes = [[math.log10(value) for value in pair] for pair in ends]
        traces = roof_traces(level.roof, roofs, ends) + point_traces(drawn, x, x_label, styles)
        layout = {"xaxis": log_axis(x_label, axes[0], 2.5), "yaxis": log_axis("useful TFLOP/s", axes[1]),
                  "annotations": ceiling_names(roofs, ends) if len(roofs) == 1 else []}
        panels.append(Panel(level.title + slopes_of(level.roof, roofs), figure(traces, 420, **layout), f"Roofline, {level.title}"))
    caption = f"{len(drawn)} of {len(rows)} rows drawn" + (f"; not drawn: {rest}" if rest else "")
    lines = [caption_of(drawn, roofs, caption, 0).replace("\n", " ")]
    return Plot("roofline", title_of(drawn), subtitle_of(drawn), lines, panels=panels, columns=2, keys=line_keys(styles, stroke=""))

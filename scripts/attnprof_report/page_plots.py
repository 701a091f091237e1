"""What the plots of the HTML report share: panels with a common key, scales, hover texts; colours as in every figure."""

import dataclasses
import html

import plotly.graph_objects as go

from .figure_parts import short_count

GREY = "#808080"  # legible on white and on near-black
# Marker of figure_parts -> Plotly's symbol, and its outline for the key in a box from -6 to 6.
SYMBOLS = {"o": ("circle", "M-4,0a4,4 0 1,0 8,0a4,4 0 1,0 -8,0Z"), "s": ("square", "M-4,-4H4V4H-4Z"),
           "D": ("diamond", "M0,-5L5,0L0,5L-5,0Z"), "^": ("triangle-up", "M0,-5L5,4H-5Z"),
           "v": ("triangle-down", "M0,5L5,-4H-5Z"), "P": ("cross", "M-2,-5H2V-2H5V2H2V5H-2V2H-5V-2H-2Z"),
           "X": ("x", "M-5,-3L-3,-5L0,-2L3,-5L5,-3L2,0L5,3L3,5L0,2L-3,5L-5,3L-2,0Z"),
           "*": ("star", "M0,-6L1.5,-2L6,-2L2.5,1L4,6L0,3L-4,6L-2.5,1L-6,-2L-1.5,-2Z")}
FLAT, SLOPED = "M-12,0H12", "M-10,5L10,-5"


@dataclasses.dataclass
class Key:
    """An entry of the key: a line of the plot that can be hidden, or (toggles=False) what a sign means."""
    name: str
    colour: str
    shape: str = ""  # outline, filled unless hollow
    stroke: str = ""  # a line behind it
    dash: str = ""
    hollow: bool = False
    toggles: bool = True


@dataclasses.dataclass
class Panel:
    title: str
    figure: dict  # Plotly's data and layout
    label: str  # for those who cannot see it


@dataclasses.dataclass
class Plot:
    key: str  # of its place in the page
    title: str
    subtitle: str = ""
    captions: list = dataclasses.field(default_factory=list)
    reason: str = ""  # why there is nothing to draw
    panels: list = dataclasses.field(default_factory=list)
    keys: list = dataclasses.field(default_factory=list)
    columns: int = 4  # panels side by side where the page is wide enough
    scale: tuple = ()  # colours of a heat map: (CSS gradient, name of its start, name of its end)


def symbol(marker):
    return SYMBOLS[marker][0]


def line_keys(styles, dashed=(), stroke=FLAT):
    """A key for each line -> (colour, marker)."""
    return [Key(name, colour, SYMBOLS[marker][1], stroke, "4 3" if name in dashed else "")
            for name, (colour, marker) in styles.items()]


def mark_keys(marked):
    """What the signs of cases without a right number mean, as far as there are any."""
    keys = []
    if (marked["mark"] == "skipped").any():
        keys.append(Key("skipped", GREY, SYMBOLS["o"][1], hollow=True, toggles=False))
    if marked["mark"].isin(["incorrect", "failed"]).any():
        keys.append(Key("incorrect or failed", GREY, "M-4,-4L4,4M4,-4L-4,4", hollow=True, toggles=False))
    return keys


def figure(traces, height, **layout):
    """A figure as plain data: no title (the page has it), no legend (the panels share one), colours of text by the page."""
    base = {"height": height, "margin": {"l": 58, "r": 14, "t": 10, "b": 44}, "showlegend": False, "hovermode": "closest",
            "paper_bgcolor": "rgba(0,0,0,0)", "plot_bgcolor": "rgba(0,0,0,0)", "template": None,
            "font": {"family": "system-ui, sans-serif", "size": 12}}
    return go.Figure(traces, base | layout).to_plotly_json()


def linear_axis(title, **changes):
    return {"title": {"text": title, "standoff": 8, "font": {"size": 12}}, "zeroline": False, "showline": False,
            "automargin": True} | changes


def log_axis(title, ends, decades=4.6, **changes):
    """`ends` are logarithms; plain numbers as labels, also between decades where those are few."""
    step = "D2" if ends[1] - ends[0] < decades else 1
    return linear_axis(title, type="log", range=list(ends), dtick=step, tickformat="~g", exponentformat="none", **changes)


def tokens_axis(title, values, ends, **changes):
    """A log axis of lengths, written as on the command line."""
    return linear_axis(title, type="log", range=list(ends), tickvals=list(values),
                       ticktext=[short_count(value) for value in values], **changes)


def text(value):
    """Cells of a file as Plotly's labels show them: it takes a few tags, which a cell must not bring."""
    return html.escape(str(value), quote=False)


def hover(row, *lines):
    """What a point says of its case: its line, length, shape, tile, these lines, and warnings."""
    shape = f", {text(row['panel'])}" if row["panel"] else ""
    words = [f"<b>{text(row['line'])}</b>", f"N = {short_count(row['q_len'])}{shape}"]
    words += [f"tile {row['br']:g}x{row['bc']:g}"] if row["br"] > 0 and row["bc"] > 0 else []
    words += lines
    words += [f"flags: {text(row['flags'])}"] if row["flags"] else []
    words += ["output not checked"] if row["verified"] == "unchecked" else []
    words += ["simulated"] if row["backend"] == "sim" else []
    return "<br>".join(words)


def wrapped(sentence, width=60):
    """A long sentence on several lines of a label."""
    lines = [""]
    for word in str(sentence).split():
        if len(lines[-1]) + len(word) > width:
            lines.append("")
        lines[-1] += (" " if lines[-1] else "") + word
    return "<br>".join(text(line) for line in lines)

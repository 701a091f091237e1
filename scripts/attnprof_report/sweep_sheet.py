"""The page that every picture of a sweep stands on: title, legend, panels, caption, at 12 inches by what it needs."""

import dataclasses
import math
import textwrap

import numpy as np
from matplotlib.ticker import FuncFormatter, LogFormatter

from .figure_parts import plt, save

WIDTH = 12.0  # inches: 1200 px at 100 dots an inch, where the smallest text is 11 px high
GREY = "#555555"
CAPTION_LINE = 0.2  # inches from one caption line to the next


@dataclasses.dataclass
class Sheet:
    figure: object
    height: float  # inches
    bottom: float  # inches below the panels, the caption's
    top: float  # inches above the panels

    def grid(self, rows, columns, between=(0.75, 0.35), left=0.9, right=0.2):
        """A GridSpec of panels: `between` is inches between rows and between columns."""
        body = self.height - self.bottom - self.top
        high = (body - between[0] * (rows - 1)) / rows
        wide = (WIDTH - left - right - between[1] * (columns - 1)) / columns
        return self.figure.add_gridspec(rows, columns, left=left / WIDTH, right=1 - right / WIDTH,
                                        bottom=self.bottom / self.height, top=1 - self.top / self.height,
                                        hspace=between[0] / high, wspace=between[1] / wide)


def legend_shape(labels):
    """(columns, rows) of a legend whose columns are filled one by one: the fewest rows that the page is wide enough for."""
    for rows in range(1, len(labels)):
        columns = math.ceil(len(labels) / rows)
        widths = [0.8 + 0.085 * max(map(len, column)) for column in np.array_split(np.array(labels, object), columns)]
        if sum(widths) < WIDTH:
            return columns, rows
    return 1, len(labels)


def sheet(title, subtitle, caption, body, handles=()):
    """A page with `body` inches for the panels; `caption` is sentences, `handles` the legend's."""
    lines = [line for sentence in caption for line in textwrap.wrap(sentence, 205)]
    columns, legend_rows = legend_shape([handle.get_label() for handle in handles])
    top, bottom = 1.0 + 0.25 * legend_rows, 0.15 + CAPTION_LINE * len(lines) + 0.5
    height = top + body + bottom
    figure = plt.figure(figsize=(WIDTH, height), dpi=120)
    figure.text(0.15 / WIDTH, 1 - 0.34 / height, title, fontsize=14, weight="bold")
    figure.text(0.15 / WIDTH, 1 - 0.58 / height, subtitle, fontsize=10, color=GREY)
    if handles:
        figure.legend(handles=handles, loc="upper left", bbox_to_anchor=(0.1 / WIDTH, 1 - 0.63 / height), ncol=columns,
                      frameon=False, fontsize=10, handletextpad=0.5, columnspacing=1.6)
    for i, line in enumerate(reversed(lines)):
        figure.text(0.15 / WIDTH, (0.1 + CAPTION_LINE * i) / height, line, fontsize=8.5, color=GREY, va="bottom")
    return Sheet(figure, height, bottom, top)


def finish(page, output):
    """Writes the picture. Throws OSError where it cannot."""
    try:
        save(page.figure, output)
    finally:
        plt.close(page.figure)


class PlainMinor(LogFormatter):
    """Labels between decades where there are few of those, as plain numbers: 0.2, not 2e-01."""

    def __init__(self):
        super().__init__(minor_thresholds=(1, 0.4))

    def __call__(self, x, pos=None):
        return f"{x:g}" if super().__call__(x, pos) else ""


def plain_log(axis):
    axis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    axis.set_minor_formatter(PlainMinor())
    axis.set_tick_params(which="minor", labelsize=9)


def dress(axes, title):
    axes.set_title(title, fontsize=10, loc="left")
    axes.grid(which="major", color="#e4e4e4", linewidth=0.7)
    axes.set_axisbelow(True)
    axes.spines[["top", "right"]].set_visible(False)
    axes.tick_params(labelsize=9)

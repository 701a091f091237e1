"""What all figures share: matplotlib without a display, colours and markers, numbers as people write them, saving."""

import io

import matplotlib

matplotlib.use("Agg")
matplotlib.rcParams["svg.hashsalt"] = "attnprof"  # equal rows give an equal file
matplotlib.rcParams["text.parse_math"] = False  # names are no formulas, whatever they hold

import matplotlib.pyplot as plt  # noqa: E402

from .output_file import replace_file  # noqa: E402

# Okabe and Ito's palette, told apart with every common colour blindness; grey for its yellow, which is faint on white.
COLOURS = ["#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000", "#999999"]
MARKERS = "osD^vPX*"


def short_count(value):
    """4096 as 4k, as lengths are written on the command line."""
    value = int(value)
    return f"{value // 1024}k" if value >= 1024 and value % 1024 == 0 else str(value)


def styles_of(series):
    """name -> (colour, marker), in order of appearance; no two are equal up to 64 names."""
    names = list(dict.fromkeys(series))
    return {name: (COLOURS[i % len(COLOURS)], MARKERS[(i + i // len(COLOURS)) % len(MARKERS)])
            for i, name in enumerate(names)}


def save(figure, output):
    """Throws OSError where it cannot be written."""
    picture = io.BytesIO()
    figure.savefig(picture, format=output.suffix[1:], metadata={"Date": None} if output.suffix == ".svg" else None)
    replace_file(output, picture.getvalue())

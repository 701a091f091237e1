"""Draws the roofline of one or more attnprof result files.

A panel a memory level that has a roof (`attnprof list --levels`): each case at its intensity there. Only rows that are `ok`
are drawn; every other row is counted in the caption. Roofs are what `attnprof roofline` says of the rows: ceilings that
their run measured, else the nominal peaks that it recorded, else the device's built-in profile.

Exit codes: 2 for what cannot be read (or a bad option), 3 when there is nothing to draw, the picture cannot be written, or
there is no attnprof to ask.
"""

import pandas as pd

from . import identity, levels
from .result_rows import DISPOSITIONS, Refusal, read_columns, run
from .roofline_figure import draw
from .roofs import ask_roofs

TEXT = ["variant", "dtype", "mask", "tile", "cache", "backend", "device", "run", "disposition", "verified"]
WHOLE = ["batch", "heads", "kv_heads", "q_len", "kv_len", "head_dim"]


def real_columns():
    return ["useful_tflops_per_s", *levels.intensities()]


def read_rows(path):
    """The rows of one file, as far as they are drawn."""
    return read_columns(path, "attnprof_report roofline", TEXT + identity.further(), WHOLE + real_columns())


def drawable(rows):
    """Rows that ran, gave right numbers, and have a time and bytes at one level at least."""
    right = (rows["disposition"] == "ok") & (rows["verified"] != "no")
    placed = (rows[levels.intensities()] > 0).any(axis="columns")
    return rows[right & placed & (rows["useful_tflops_per_s"] > 0)]


def left_out(rows, drawn):
    """What is not drawn, in words: '2 skipped, 1 incorrect'; empty when all is."""
    rest = rows.drop(drawn.index)
    counts = {name: int((rest["disposition"] == name).sum()) for name in DISPOSITIONS[1:]}
    wrong = int(((rest["disposition"] == "ok") & (rest["verified"] == "no")).sum())
    counts["incorrect"] += wrong
    counts["without a time or bytes"] = int((rest["disposition"] == "ok").sum()) - wrong
    return ", ".join(f"{count} {name}" for name, count in counts.items() if count)


def plot(paths, output, attnprof):
    if output.suffix not in (".png", ".svg"):
        raise Refusal(f"-o {output}: the name must end in .png or .svg.")
    rows = pd.concat([read_rows(path) for path in paths], ignore_index=True)
    if rows.empty:
        raise Refusal(f"{', '.join(map(str, paths))}: there are no rows, so there is nothing to draw.", 3)
    drawn = drawable(rows)
    rest = left_out(rows, drawn)
    if drawn.empty:
        raise Refusal(f"{', '.join(map(str, paths))}: nothing to draw: of {len(rows)} rows, {rest}.", 3)
    caption = f"{len(drawn)} of {len(rows)} rows drawn" + (f"; not drawn: {rest}" if rest else "")
    roofs = ask_roofs(paths, drawn["device"].unique(), attnprof)
    try:
        draw(drawn, roofs, caption, output)
    except OSError as error:
        raise Refusal(f"-o {output}: cannot be written: {error.strerror}.", 3) from None


def main(arguments):
    return run(plot, arguments, program="attnprof_report roofline", description="Draws the roofline of attnprof result files.",
               csv_help="result files of attnprof sweep -o", output_help="picture to write: .png or .svg",
               add_options=add_options)


def add_options(parser):
    parser.add_argument("--attnprof", help="the program to ask for columns and roofs; without it $ATTNPROF, build/release, or PATH")

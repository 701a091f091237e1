"""Draws the roofline of one or more attnprof result files.

Left: each case at its HBM intensity, under the HBM roof. Right: the same cases at their SM-side intensity, under the L2
roof. Only rows that are `ok` are drawn; every other row is counted in the caption. Roofs come from FILE.meta.json beside
a file; without it, from the rows' own columns.

Exit codes: 2 for what cannot be read (or a bad option), 3 when there is nothing to draw.
"""

import json
import pathlib

import pandas as pd

from .result_rows import DISPOSITIONS, Refusal, read_columns, run
from .roofline_figure import draw
from .roofs import roofs_from_meta, roofs_from_rows

TEXT = ["variant", "dtype", "mask", "tile", "cache", "backend", "device", "run", "disposition", "verified"]
WHOLE = ["batch", "heads", "kv_heads", "q_len", "kv_len", "head_dim"]
REAL = ["useful_tflops_per_s", "mfu_pct", "hbm_intensity", "sm_intensity", "roof_tflops_per_s"]


def read_rows(path):
    """The rows of one file, as far as they are drawn."""
    return read_columns(path, "attnprof_report roofline", TEXT, WHOLE + REAL)


def read_meta(path):
    """The .meta.json beside a result file, or None where there is none."""
    meta_path = pathlib.Path(str(path) + ".meta.json")
    if not meta_path.exists():
        return None
    try:
        return json.loads(meta_path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise Refusal(f"{meta_path}: cannot be read as JSON ({error}); remove it to draw without it.") from None


def drawable(rows):
    """Rows that ran, gave right numbers, and have a time and bytes at one level at least."""
    right = (rows["disposition"] == "ok") & (rows["verified"] != "no")
    placed = (rows["hbm_intensity"] > 0) | (rows["sm_intensity"] > 0)
    return rows[right & placed & (rows["useful_tflops_per_s"] > 0)]


def left_out(rows, drawn):
    """What is not drawn, in words: '2 skipped, 1 incorrect'; empty when all is."""
    rest = rows.drop(drawn.index)
    counts = {name: int((rest["disposition"] == name).sum()) for name in DISPOSITIONS[1:]}
    wrong = int(((rest["disposition"] == "ok") & (rest["verified"] == "no")).sum())
    counts["incorrect"] += wrong
    counts["without a time or bytes"] = int((rest["disposition"] == "ok").sum()) - wrong
    return ", ".join(f"{count} {name}" for name, count in counts.items() if count)


def read_all(paths):
    """Rows of all files, and the roofs of every device in them."""
    return with_roofs([(path, read_rows(path)) for path in paths])


def with_roofs(files):
    """The rows of all (path, rows), and the roofs of every device in them."""
    roofs = {}
    for path, rows in files:
        meta = read_meta(path)
        for (device, run), group in rows.groupby(["device", "run"]):
            try:
                known = roofs_from_meta(meta, run, group["dtype"].unique()) if meta else None
            except (AttributeError, KeyError, TypeError) as error:
                raise Refusal(f"{path}.meta.json: the peaks of run {run} are no numbers ({error}); remove it to draw "
                              "without it.") from None
            roofs.setdefault(device, known or roofs_from_rows(drawable(group)))
    return pd.concat([rows for _, rows in files], ignore_index=True), roofs


def plot(paths, output):
    if output.suffix not in (".png", ".svg"):
        raise Refusal(f"-o {output}: the name must end in .png or .svg.")
    rows, roofs = read_all(paths)
    if rows.empty:
        raise Refusal(f"{', '.join(map(str, paths))}: there are no rows, so there is nothing to draw.", 3)
    drawn = drawable(rows)
    rest = left_out(rows, drawn)
    if drawn.empty:
        raise Refusal(f"{', '.join(map(str, paths))}: nothing to draw: of {len(rows)} rows, {rest}.", 3)
    caption = f"{len(drawn)} of {len(rows)} rows drawn" + (f"; not drawn: {rest}" if rest else "")
    try:
        draw(drawn, {device: roofs[device] for device in drawn["device"].unique()}, caption, output)
    except OSError as error:
        raise Refusal(f"-o {output}: cannot be written: {error.strerror}.") from None


def main(arguments):
    return run(plot, arguments, program="attnprof_report roofline", description="Draws the roofline of attnprof result files.",
               csv_help="result files of attnprof sweep -o", output_help="picture to write: .png or .svg")

#!/usr/bin/env python3
"""Draws the roofline of one or more attnprof result files.

Left: each case at its HBM intensity, under the HBM roof. Right: the same cases at their SM-side intensity, under the L2
roof. Only rows that are `ok` are drawn; every other row is counted in the caption. Roofs come from FILE.meta.json beside
a file; without it, from the rows' own columns.

Exit codes: 2 for what cannot be read (or a bad option), 3 when there is nothing to draw.
"""

import argparse
import csv
import io
import json
import pathlib
import sys

import pandas as pd

from roofline_figure import draw
from roofs import roofs_from_meta, roofs_from_rows

TEXT = ["variant", "dtype", "mask", "tile", "cache", "backend", "device", "run", "disposition", "verified"]
WHOLE = ["batch", "heads", "kv_heads", "q_len", "kv_len", "head_dim"]
REAL = ["useful_tflops_per_s", "mfu_pct", "hbm_intensity", "sm_intensity", "roof_tflops_per_s"]
DISPOSITIONS = ["ok", "skipped", "incorrect", "failed"]


class Refusal(Exception):
    """A sentence for the user, and the exit code."""

    def __init__(self, sentence, code=2):
        super().__init__(sentence)
        self.code = code


def numbers(frame, column, path):
    """The column as floats; empty cells become NaN."""
    text = frame[column]
    values = pd.to_numeric(text.where(text != ""), errors="coerce").astype(float)
    wrong = text[(text != "") & ~values.abs().lt(float("inf"))]
    if len(wrong):
        raise Refusal(f"{path}: row {wrong.index[0] + 2}: {column} is '{wrong.iloc[0]}', which is no number.")
    return values


def whole_records(text):
    """The records of CSV text but for blank lines, and the line where a torn last one starts, or None."""
    lines = io.StringIO(text, newline="").readlines()
    reader, records, start = csv.reader(lines, strict=True), [], 1
    while reader.line_num < len(lines):
        try:
            record = next(reader)
        except csv.Error:
            if "".join(lines[start - 1:]).count('"') % 2 == 0 or reader.line_num < len(lines):
                raise
            return records, start  # its quote is open
        if reader.line_num == len(lines) and not lines[-1].endswith(("\n", "\r")):
            return records, start
        if record:
            records.append(record)
        start = reader.line_num + 1
    return records, None


def read_table(path):
    """The whole file as text, with its header's names. A torn last line is reported and not used."""
    try:
        text = path.read_bytes().decode("utf-8-sig")
        (header, *rows), torn = whole_records(text)
    except OSError as error:
        raise Refusal(f"{path}: cannot be read: {error.strerror}.") from None
    except (UnicodeDecodeError, csv.Error) as error:
        raise Refusal(f"{path}: is not a CSV file of attnprof ({error}).") from None
    except ValueError:
        raise Refusal(f"{path}: has no whole line; give a file that `attnprof sweep -o` wrote.") from None
    if torn:
        print(f"plot_roofline: {path}, line {torn}: the line is torn and is not drawn; `attnprof sweep --resume` repairs it.",
              file=sys.stderr)
    for number, row in enumerate(rows, start=2):
        if len(row) != len(header):
            raise Refusal(f"{path}: row {number} has {len(row)} fields, the header has {len(header)}.")
    if len(set(header)) != len(header):
        raise Refusal(f"{path}: two columns have the same name.")
    return pd.DataFrame(rows, columns=header, dtype=str)


def read_rows(path):
    """The rows of one file as text and float columns, by name; other columns are left out."""
    frame = read_table(path)
    missing = [name for name in TEXT + WHOLE + REAL if name not in frame.columns]
    if missing:
        raise Refusal(f"{path}: has no column {missing[0]}; give a file that `attnprof sweep -o` wrote.")
    frame = frame[TEXT + WHOLE + REAL].copy()
    unknown = frame[~frame["disposition"].isin(DISPOSITIONS)]
    if len(unknown):
        raise Refusal(f"{path}: row {unknown.index[0] + 2}: unknown disposition '{unknown['disposition'].iloc[0]}'.")
    for column in WHOLE + REAL:
        frame[column] = numbers(frame, column, path)
    return frame


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
    frames, roofs = [], {}
    for path in paths:
        rows = read_rows(path)
        frames.append(rows)
        meta = read_meta(path)
        for (device, run), group in rows.groupby(["device", "run"]):
            try:
                known = roofs_from_meta(meta, run, group["dtype"].unique()) if meta else None
            except (AttributeError, TypeError) as error:
                raise Refusal(f"{path}.meta.json: the peaks of run {run} are no numbers ({error}); remove it to draw "
                              "without it.") from None
            roofs.setdefault(device, known or roofs_from_rows(drawable(group)))
    return pd.concat(frames, ignore_index=True), roofs


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


def main(arguments=None):
    parser = argparse.ArgumentParser(description="Draws the roofline of attnprof result files.")
    parser.add_argument("csv", nargs="+", type=pathlib.Path, help="result files of attnprof sweep -o")
    parser.add_argument("-o", "--output", required=True, type=pathlib.Path, help="picture to write: .png or .svg")
    options = parser.parse_args(arguments)
    try:
        plot(options.csv, options.output)
    except Refusal as refusal:
        print(f"plot_roofline: {refusal}", file=sys.stderr)
        return refusal.code
    return 0


if __name__ == "__main__":
    sys.exit(main())

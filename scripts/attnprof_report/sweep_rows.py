"""Rows of a sweep as its pictures need them: one row a case, its line, its panel, and what could not be drawn."""

import textwrap

import pandas as pd

from . import identity, levels
from .figure_parts import short_count, styles_of
from .result_rows import read_columns

WHOLE = ["batch", "heads", "kv_heads", "q_len", "kv_len", "head_dim", "br", "bc"]
SHAPE = {"head_dim": "d = {}", "mask": "{}", "batch": "batch {}", "tokens": "batch x N = {}", "heads": "{} heads",
         "kv_heads": "{} kv heads", "q_len": "N = {}", "kv_len": "kv_len = {}"}
LENGTHS = ("tokens", "q_len", "kv_len")
LISTED = 6  # groups of cases that a footnote names
SIMULATED = " (simulated)"


def text_columns():
    return [name for name in identity.key() if name not in WHOLE] + ["run", "disposition", "reason", "flags", "verified"]


def real_columns():
    return ["latency_median_ns", *levels.byte_columns(), "useful_tflops_per_s"]


def read_sweep(paths):
    """latest_of the rows of all files."""
    return latest_of([read_columns(path, "attnprof_report sweep", text_columns(), WHOLE + real_columns()) for path in paths])


def latest_of(frames):
    """The rows of all frames, the latest of each case (by the run's time, then by place), where it first stood."""
    rows = pd.concat(frames, ignore_index=True)
    key = identity.key()
    order = rows.drop_duplicates(key).reset_index().set_index(key)["index"]
    latest = rows.sort_values("run", kind="stable").drop_duplicates(key, keep="last")
    places = [order[tuple(row)] for row in latest[key].itertuples(index=False)]
    return with_lines(latest.assign(place=places).sort_values("place").drop(columns="place").reset_index(drop=True))


def with_lines(rows):
    """Adds `line` (the variant, and what else tells lines apart), `right` (may be drawn), `mark` (how else it ended), and
    the tile as numbers also where only its name is known."""
    rows = rows.copy()
    rows["line"] = rows["variant"]
    for column in ("pass", "dtype", "cache", "device"):
        if rows.groupby("backend")[column].nunique().max() > 1:
            rows["line"] += " " + rows[column]
    for column in identity.further():
        if rows[column].nunique() > 1:
            rows["line"] += f" {column} " + rows[column]
    if rows["backend"].nunique() > 1:
        rows["line"] += rows["backend"].map(lambda backend: SIMULATED if backend == "sim" else "")
    wrong = (rows["disposition"] == "ok") & (rows["verified"] == "no")
    rows["right"] = (rows["disposition"] == "ok") & ~wrong
    rows["mark"] = rows["disposition"].where(~wrong, "incorrect").where(~rows["right"], "")
    named = rows["tile"].str.extract(r"^(?P<br>\d+)x(?P<bc>\d+)$").astype(float)
    return rows.fillna({"br": named["br"], "bc": named["bc"]})


def with_panels(rows):
    """Adds `x` (the length that varies) and `panel` (a title: the shape, as far as it varies but along x).

    Where every length of a shape has the batch that makes the same number of tokens, that number stands for the batch."""
    rows = rows.copy()
    axis = "kv_len" if rows["q_len"].nunique() == 1 and rows["kv_len"].nunique() > 1 else "q_len"
    rows["x"], rows["tokens"] = rows[axis], rows["batch"] * rows["q_len"]
    of_shape = rows.groupby(["head_dim", "mask", "heads", "kv_heads"])
    constant = (of_shape["tokens"].transform("nunique") == 1) & (of_shape["batch"].transform("nunique") > 1)
    rows["tokens"] = rows["tokens"].where(constant)
    rows["batch"] = rows["batch"].where(~constant)
    if axis == "q_len":
        rows["kv_len"] = rows["kv_len"].where(rows["kv_len"] != rows["q_len"])
    columns = varying(rows, [column for column in SHAPE if column != axis])
    rows["panel"] = [", ".join(shape_words(row, columns)) for _, row in rows.iterrows()]
    return rows, columns


def varying(rows, columns):
    """Those that tell rows apart; kv_heads and kv_len only where they are not heads and q_len again."""
    found = [column for column in columns if rows[column].nunique(dropna=False) > 1]
    for column, same in (("kv_heads", "heads"), ("kv_len", "q_len")):
        if column in found and (rows[column] == rows[same]).all():
            found.remove(column)
    return found


def shape_word(column, value):
    if pd.isna(value):
        return "kv_len = N" if column == "kv_len" else ""
    if column == "mask":
        return value
    word = SHAPE[column].format(short_count(value) if column in LENGTHS else int(value))
    return word.removesuffix("s") if value == 1 else word


def shape_words(row, columns):
    return [word for word in (shape_word(column, row[column]) for column in columns) if word]


def styles_of_lines(rows):
    """line -> (colour, marker); a simulated line has those of the measured one."""
    names = {line: line.removesuffix(SIMULATED) for line in rows["line"]}
    styles = styles_of(names.values())
    return {line: styles[name] for line, name in names.items()}


def in_common(rows, without=()):
    """What all rows share, in words."""
    first = rows.iloc[0]
    shape = [column for column in SHAPE if column in rows.columns and column not in without
             and rows[column].nunique(dropna=False) == 1]
    if "kv_heads" in shape and (rows["kv_heads"] == rows["heads"]).all():
        shape.remove("kv_heads")
    if "kv_len" in shape and ((rows["kv_len"] == rows["q_len"]) | rows["kv_len"].isna()).all():
        shape.remove("kv_len")
    words = {"pass": "{}", "dtype": "{}", "cache": "{} cache"}
    words |= {column: column + " {}" for column in identity.further()
              if column in rows.columns and not identity.at_absent(rows, column)}
    other = [text.format(first[column]) for column, text in words.items() if rows[column].nunique() == 1]
    return ", ".join(other + [word + (" mask" if word == first["mask"] else "") for word in shape_words(first, shape)])


def devices_of(rows):
    names = rows["device"] + rows["backend"].map(lambda backend: SIMULATED if backend == "sim" else "")
    return ", ".join(names.unique())


def lengths(rows):
    return ", ".join(short_count(n) for n in sorted(rows["q_len"].unique()))


def listed(marked):
    """Lines that name the cases marked in a picture: how they ended, which, and why."""
    found = {}  # (how, line, reason, lengths, tiles) -> panels
    for (mark, line, reason, panel), group in marked.groupby(["mark", "line", "reason", "panel"], sort=False):
        tiles = ", ".join(tile for tile in group["tile"].unique() if tile != "auto")
        found.setdefault((mark, line, reason, lengths(group), tiles), []).append(panel)
    lines = []
    for (mark, line, reason, of_lengths, tiles), panels in list(found.items())[:LISTED]:
        where = textwrap.shorten("; ".join(panel for panel in panels if panel), 130, placeholder=" ...")
        words = [f"{mark.capitalize()}: {line}, N = {of_lengths}", where, f"tile {tiles}" if tiles else "",
                 textwrap.shorten(reason, 150, placeholder=" ...")]
        lines.append("; ".join(word for word in words if word) + ".")
    more = len(found) - LISTED
    return lines + ([f"And {more} more such groups of cases."] if more > 0 else [])


def remarks(rows):
    """What a reader must know of the drawn rows, beyond their numbers."""
    counts = {"with the flag throttled": rows["flags"].str.split(";").map(lambda flags: "throttled" in flags).sum(),
              "drawn without a check of their output": (rows["verified"] == "unchecked").sum(),
              "simulated, not measured": (rows["backend"] == "sim").sum()}
    return [f"{count} {what}" for what, count in counts.items() if count]

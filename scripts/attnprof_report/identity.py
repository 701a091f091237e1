"""The columns that say which case a row is of, as the program lists them: a field that a problem gets later is there too."""

import functools

from . import listing, program

# What pictures have a place for: an axis, a panel, a line's name. Others are named where they tell rows apart.
PLACED = ["variant", "pass", "dtype", "mask", "batch", "heads", "kv_heads", "q_len", "kv_len", "head_dim", "tile", "knobs", "cache"]
WHERE = ["backend", "device"]  # the same case elsewhere is another


@functools.cache
def columns_by(asked):
    return [column for column in program.ask(asked, "list", "--columns") if column["group"] == "identity"]


def columns():
    """[{column, absent, absent_as}, ...]. Throws Refusal (3) where there is no program to ask."""
    return listing.listed(columns_by, "--columns")


def key():
    """What tells cases apart."""
    return [column["column"] for column in columns()] + WHERE


def further():
    """The fields of a problem that no picture has a place of its own for."""
    return [column["column"] for column in columns() if column["column"] not in PLACED]


def at_absent(rows, column):
    """Whether a field has, in all rows, the value that its absence means: then nobody asked for it."""
    absent = next(entry["absent"] for entry in columns() if entry["column"] == column)
    return absent is not None and (rows[column] == str(absent)).all()


def absences(present):
    """(name, value, other) of each that is not among these columns: what its absence means is a value, or another column's."""
    present = set(present)
    return [(column["column"], None if column["absent"] is None else str(column["absent"]), column["absent_as"])
            for column in columns() if column["column"] not in present]


def with_absent(frame):
    """The table with the columns that its file was written before: what their absence means."""
    for name, value, other in absences(frame.columns):
        if value is not None:
            frame = frame.assign(**{name: value})
        elif other in frame.columns:
            frame = frame.assign(**{name: frame[other]})
    return frame

"""The memory levels, as the program lists them: columns of a row, words for pictures, and the roof of each."""

import dataclasses
import functools

from . import listing, program


@dataclasses.dataclass(frozen=True)
class Level:
    """What a level lacks is None."""
    level: str  # as points of a roofline name it
    title: str  # of a panel
    label: str  # before "bytes"
    passage: str  # which bytes: "into and out of the SMs"
    bytes: str  # column, or two with " + " between them
    model_bytes: str  # column of the same by the schedule
    least_bytes: str  # column that no row's bytes go below
    intensity: str  # column
    everywhere: str  # "yes", or "no": of some cases alone, and of files since then
    roof: str  # the bandwidth it is held against
    roof_title: str


@functools.cache
def levels_by(asked):
    names = [field.name for field in dataclasses.fields(Level)]
    return [Level(*(record[name] for name in names)) for record in program.ask(asked, "list", "--levels")]


def listed():
    """Every Level. Throws Refusal (3) where there is no program to ask."""
    return listing.listed(levels_by, "--levels")


def drawn():
    """The levels that have a roof: each a panel, with a column of bytes and one of intensity."""
    return [level for level in listed() if level.roof]


def roof_titles():
    """roof -> its name in a picture."""
    return {level.roof: level.roof_title for level in drawn()}


def intensities():
    return [level.intensity for level in drawn()]


def byte_columns():
    """Measured, modelled and least bytes."""
    columns = [getattr(level, kind) for kind in ("bytes", "model_bytes", "least_bytes") for level in drawn()]
    return [column for column in columns if column]


def with_absent(frame):
    """The table with the columns of levels that its file was written before: no row of it has bytes there."""
    later = [column for level in drawn() if level.everywhere == "no"
             for column in (level.bytes, level.model_bytes, level.least_bytes, level.intensity) if column]
    return frame.assign(**{column: "" for column in later if column not in frame.columns})

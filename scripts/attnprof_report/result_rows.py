"""Reading attnprof's result files as tables of text, and cells as numbers. Shared by all commands."""

import argparse
import csv
import io
import pathlib
import sys

import pandas as pd

from . import levels
from . import program as program_module
from .identity import with_absent
from .output_file import Refusal, check_distinct, with_meta
from .safe_text import make_streams_safe

DISPOSITIONS = ["ok", "skipped", "incorrect", "failed"]


def run(draw, arguments, *, program, description, csv_help, output_help, add_options=None, outputs=None):
    """What every command does: PROGRAM CSV... -o OUTPUT through draw(paths, output). Returns the exit code.

    `add_options(parser)` adds a program's own options, which draw takes by name; `outputs(output)`: the files that are
    written, where they are others than OUTPUT."""
    make_streams_safe()
    parser = argparse.ArgumentParser(prog=program, description=description)
    parser.add_argument("csv", nargs="+", type=pathlib.Path, help=csv_help)
    parser.add_argument("-o", "--output", required=True, type=pathlib.Path, help=output_help)
    if add_options:
        add_options(parser)
    options = vars(parser.parse_args(arguments))
    try:
        program_module.preferred = options.get("attnprof")
        paths, output = options.pop("csv"), options.pop("output")
        read = with_meta(paths) + [value for value in options.values() if isinstance(value, pathlib.Path)]
        check_distinct(outputs(output) if outputs else [output], read)
        draw(paths, output, **options)
    except Refusal as refusal:
        print(f"{program}: {refusal}", file=sys.stderr)
        return refusal.code
    finally:
        program_module.preferred = None
    return 0


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


def read_text(path):
    """Throws Refusal also for a device, such as /dev/zero, which has no end."""
    if not (path.is_file() or path.is_fifo()):
        raise Refusal(f"{path}: cannot be read: give an existing, readable file.")
    return path.read_bytes().decode("utf-8-sig")


def check_rows(path, text):
    """Throws Refusal for rows, or a .meta.json beside them, that the program would not take: it knows what a row can be."""
    try:
        done = (program_module.run(program_module.find(), "check-rows", path) if path.is_file() else
                program_module.run(program_module.find(), "check-rows", "/dev/stdin", text=text))
    except program_module.NotUsable as lacking:
        raise Refusal(str(lacking), 3) from None
    if done.returncode != 0:
        raise Refusal(program_module.last_line(done))


def read_table(path, program):
    """The whole file as text, with its header's names and the columns that it was written before. A torn last line is
    reported in `program`'s name and not used."""
    try:
        text = read_text(path)
        (header, *rows), torn = whole_records(text)
    except OSError as error:
        raise Refusal(f"{path}: cannot be read: {error.strerror}.") from None
    except (UnicodeDecodeError, csv.Error) as error:
        raise Refusal(f"{path}: is not a CSV file of attnprof ({error}).") from None
    except ValueError:
        raise Refusal(f"{path}: has no whole line; give a file that `attnprof sweep -o` wrote.") from None
    if torn:
        print(f"{program}: {path}, line {torn}: the line is torn and is not drawn; `attnprof sweep --resume` repairs it.",
              file=sys.stderr)
    for number, row in enumerate(rows, start=2):
        if len(row) != len(header):
            raise Refusal(f"{path}: row {number} has {len(row)} fields, the header has {len(header)}.")
    if len(set(header)) != len(header):
        raise Refusal(f"{path}: two columns have the same name.")
    check_rows(path, text)
    return levels.with_absent(with_absent(pd.DataFrame(rows, columns=header, dtype=str)))


def read_columns(path, program, text, numeric):
    """columns_of a file. Throws Refusal also for one that cannot be read."""
    return columns_of(read_table(path, program), path, text, numeric)


def columns_of(frame, path, text, numeric):
    """Columns of read_table(path) by name, as text and as floats (NaN: empty); other columns are left out.

    Throws Refusal where a column lacks, or a cell that should be is no number."""
    missing = [name for name in [*text, *numeric] if name not in frame.columns]
    if missing:
        raise Refusal(f"{path}: has no column {missing[0]}; give a file that `attnprof sweep -o` wrote.")
    frame = frame[[*text, *numeric]].copy()
    for column in numeric:
        frame[column] = numbers(frame, column, path)
    return frame

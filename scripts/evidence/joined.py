#!/usr/bin/env python3
"""Result files of one kind as one file, and back: results/ keeps few files, of many runs each.

    joined.py join OUT.csv [--from FOLDER] FILE.csv...      into OUT.csv and OUT.csv.meta.json; nothing is deleted
    joined.py split FILE.csv -o FOLDER                      the files again, as their scripts wrote them

A joined CSV has the rows of all files, and its .meta.json says of every run, beside what it said before, the `part` it came
from: the file's name below FOLDER (default: the files' own folder), without .csv. attnprof reads it as it reads any file of
several runs. Columns that a file did not have are empty cells, but those that name a row have what their absence means, as
`attnprof list --columns` says it. Texts (logs) are joined in sections, `==> NAME <==` before
each, as head and tail print them.

Exit codes: 0; 2 (usage, a file that cannot be read or written, or files that cannot be told apart once joined); 3 where there
is no attnprof to ask. Standard library only.
"""

import argparse
import csv
import json
import pathlib
import re
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))

from attnprof_report import identity  # noqa: E402
from attnprof_report.output_file import Refusal  # noqa: E402

ROWS = {"variant", "disposition"}  # columns of rows of attnprof; other tables are joined too
SECTION = re.compile(r"^==> (\S+) <==\n", re.MULTILINE)


def meta_path(path):
    return path.with_name(path.name + ".meta.json")


def read_meta(path):
    """The .meta.json beside a CSV; nothing in it where there is none."""
    beside = meta_path(path)
    return json.loads(beside.read_text(encoding="utf-8")) if beside.exists() else {}


def read_csv(path):
    """(columns, rows as dictionaries)."""
    with open(path, newline="", encoding="utf-8") as file:
        reader = csv.DictReader(file)
        rows = list(reader)
        return list(reader.fieldnames or []), rows


def write_csv(path, columns, rows):
    path.parent.mkdir(parents=True, exist_ok=True)
    with open(path, "w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, columns, restval="", lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)


def write_meta(path, runs):
    text = json.dumps({"schema": "1", "runs": runs}, indent=2, ensure_ascii=False)
    meta_path(path).write_text(text + "\n", encoding="utf-8")


def fill_absent(path, columns, own, rows):
    """What names a row stands in each: columns of the identity that are older files' absence get its meaning."""
    if set(columns) <= set(own) or not ROWS <= set(own):
        return
    for name, value, other in identity.absences(own):
        if name not in columns:
            continue
        if value is None and other not in own:
            raise Refusal(f"{path}: has no column {name}, which every file of rows has; measure again")
        for row in rows:
            row[name] = row[other] if value is None else value


def join(files, output):
    """Joins {part: path} into `output`."""
    tables = {part: read_csv(path) for part, path in files.items()}
    columns = max((columns for columns, _ in tables.values()), key=len)
    runs, rows = {}, []
    for part, (own, of_part) in tables.items():
        if "run" not in own or not set(own) <= set(columns):
            raise Refusal(f"{files[part]}: its columns are not among those of the other files")
        fill_absent(files[part], columns, own, of_part)
        known = read_meta(files[part]).get("runs", {})
        for run in dict.fromkeys([*known, *(row["run"] for row in of_part)]):
            if run in runs:
                raise Refusal(f"{files[part]}: its run {run} is of {runs[run]['part']} too")
            runs[run] = {"part": part} | known.get(run, {})
        rows += of_part
    write_csv(output, columns, rows)
    write_meta(output, runs)


def parts_of(path):
    """{run: part} of a joined CSV; empty for any other."""
    runs = read_meta(path).get("runs", {})
    return {run: known["part"] for run, known in runs.items() if "part" in known}


def rows_by_part(path):
    """{part: its rows} of a joined CSV, in their order."""
    parts, found = parts_of(path), {}
    found.update((part, []) for part in parts.values())
    for row in read_csv(path)[1]:
        found[parts[row["run"]]].append(row)
    return found


def write_part(path, part, output):
    """One part of a joined CSV as a file of its own; runs that nothing was known of leave it without a .meta.json."""
    write_csv(output, read_csv(path)[0], rows_by_part(path)[part])
    runs = {run: {name: value for name, value in known.items() if name != "part"}
            for run, known in read_meta(path)["runs"].items() if known.get("part") == part}
    if any(runs.values()):
        write_meta(output, runs)


def join_texts(texts):
    """{name: text} in sections. Each ends its line, so that the next begins one."""
    for name, text in texts.items():
        if SECTION.search(text) or (text and not text.endswith("\n")):
            raise Refusal(f"{name}: holds a line like those between sections, or does not end its last line")
    return "".join(f"==> {name} <==\n{text}" for name, text in texts.items())


def split_text(text):
    """{name: text} of join_texts; empty for any other text."""
    pieces = SECTION.split(text)
    return dict(zip(pieces[1::2], pieces[2::2])) if pieces[0] == "" else {}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(dest="command", required=True)
    joining = commands.add_parser("join")
    joining.add_argument("output", type=pathlib.Path)
    joining.add_argument("files", nargs="+", type=pathlib.Path)
    joining.add_argument("--from", dest="folder", type=pathlib.Path)
    splitting = commands.add_parser("split")
    splitting.add_argument("file", type=pathlib.Path)
    splitting.add_argument("-o", "--output", type=pathlib.Path, required=True)
    options = parser.parse_args()
    try:
        if options.command == "join":
            join({path.relative_to(options.folder or path.parent).with_suffix("").as_posix(): path for path in options.files},
                 options.output)
        else:
            for part in rows_by_part(options.file):
                write_part(options.file, part, options.output / f"{part}.csv")
    except (OSError, ValueError, KeyError, RecursionError, Refusal) as error:
        print(f"joined: {error}", file=sys.stderr)
        return getattr(error, "code", 2)
    return 0


if __name__ == "__main__":
    sys.exit(main())

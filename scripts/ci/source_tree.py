"""The files of src/ as the checks of lint read them, and how these checks report. Standard library only."""

import argparse
import os
import re
import sys

REPOSITORY = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
INCLUDE = re.compile(r'^\s*#\s*include\s+(?:"([^"]+)"|<([^>]+)>)', re.MULTILINE)  # (of src/, "") or ("", of elsewhere)


def source_files(src):
    """Paths below src/, in order."""
    for folder, _, names in sorted(os.walk(src)):
        for name in sorted(names):
            if name.endswith((".cpp", ".hpp", ".h", ".c")):
                yield os.path.relpath(os.path.join(folder, name), src)


def read(src, path):
    with open(os.path.join(src, path), encoding="utf-8") as file:
        return file.read()


def is_for_tests(path):
    return path.startswith("testing/") or re.search(r"_(test|fixture)\.[ch]pp$", path) is not None


def options_of(description):
    """A parser with what every check takes."""
    parser = argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--source", default=os.path.join(REPOSITORY, "src"), help=argparse.SUPPRESS)
    return parser


def report(check, wrong, summary):
    """Prints a sentence for each fault, and the summary. Returns the exit code."""
    for sentence in wrong:
        print(f"{check}: {sentence}", file=sys.stderr)
    print(f"{check}: {summary}")
    return 1 if wrong else 0

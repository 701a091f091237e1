#!/usr/bin/env python3
"""Rewrites the parts of README.md that attnprof prints itself, so that they stay true.

    scripts/ci/update_readme.py PROGRAM [--check]

A part stands between `<!-- begin: attnprof ARGUMENTS -->` and `<!-- end -->`. --check writes nothing and exits 1 where a
part differs from what the program prints now.
"""

import pathlib
import re
import shlex
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))

from attnprof_report.output_file import replace_file  # noqa: E402
from attnprof_report.safe_text import make_streams_safe  # noqa: E402

README = pathlib.Path(__file__).resolve().parents[2] / "README.md"
PART = re.compile(r"(<!-- begin: attnprof (.*?) -->\n).*?(<!-- end -->)", re.DOTALL)


def updated(text, program):
    """The text with every part printed anew; throws CalledProcessError where the program refuses."""

    def part(match):
        command = [program, *shlex.split(match[2])]
        printed = subprocess.run(command, check=True, capture_output=True, encoding="utf-8").stdout
        return f"{match[1]}\n{printed.strip()}\n\n{match[3]}"

    return PART.sub(part, text)


def main():
    make_streams_safe()
    arguments = [argument for argument in sys.argv[1:] if argument != "--check"]
    if len(arguments) != 1:
        print("update_readme: usage: scripts/ci/update_readme.py PROGRAM [--check]", file=sys.stderr)
        return 2
    before = README.read_text(encoding="utf-8")
    try:
        after = updated(before, arguments[0])
    except (OSError, subprocess.CalledProcessError) as error:
        print(f"update_readme: {arguments[0]} did not print its part: {error}", file=sys.stderr)
        return 2
    if after == before:
        return 0
    if "--check" in sys.argv:
        print("update_readme: README.md is not what the program prints; run scripts/ci/update_readme.py PROGRAM", file=sys.stderr)
        return 1
    replace_file(README, after)
    return 0


if __name__ == "__main__":
    sys.exit(main())

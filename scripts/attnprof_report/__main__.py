"""Pictures and a page of attnprof's result files.

    attnprof_report roofline FILE.csv... -o FILE.png     the roofline; .png or .svg
    attnprof_report sweep FILE.csv... -o FOLDER          latency, bytes and TFLOP/s against N, heat maps of tiles, the model
    attnprof_report page FILE.csv... -o FILE.html        all of it, every row and each run's environment in one HTML page

`attnprof_report` stands for `python scripts/attnprof_report` (or `python -m attnprof_report` in scripts/). Each command
has --help. Exit codes: 0, 2 for what cannot be read or written (or a bad option), 3 when there is nothing to draw.
"""

import importlib
import pathlib
import sys

COMMANDS = ("roofline", "sweep", "page")


def main(arguments):
    if arguments and arguments[0] in COMMANDS:
        return importlib.import_module(f"attnprof_report.{arguments[0]}").main(arguments[1:])
    if arguments and arguments[0] in ("-h", "--help"):
        print(__doc__.strip())
        return 0
    said = f"there is no command '{arguments[0]}'" if arguments else "no command was given"
    print(f"attnprof_report: {said}; it takes {', '.join(COMMANDS)}, each with --help", file=sys.stderr)
    return 2


if __name__ == "__main__":
    if not __package__:  # run as a folder, which then stands where its parent should
        sys.path[0] = str(pathlib.Path(__file__).resolve().parent.parent)
    sys.exit(main(sys.argv[1:]))

"""Pictures and a page of attnprof's result files.

    attnprof_report roofline FILE.csv... -o FILE.png     the roofline; .png or .svg
    attnprof_report sweep FILE.csv... -o FOLDER          latency, bytes and TFLOP/s against N, heat maps of tiles, the model
    attnprof_report page FILE.csv... -o FILE.html        all of it, every row and each run's environment in one HTML page

`attnprof_report` stands for `python scripts/attnprof_report` (or `python -m attnprof_report` in scripts/), installed by pip
for `attnprof-report`. Each command has --help. Exit codes: 0, 2 for what cannot be read (or a bad option), 3 when there is
nothing to draw, an output cannot be written, or the environment lacks something.
"""

import importlib
import pathlib
import sys

COMMANDS = ("roofline", "sweep", "page")


def lacking(error):
    """A sentence about a package that this Python does not have."""
    package = (error.name or "a package").split(".")[0]
    return (f"attnprof_report: this Python ({sys.executable}) has no {package}; run scripts/setup.sh and use .venv/bin/python, or "
            "install scripts/requirements/report.txt; for an installed attnprof: pip install 'attnprof[report]'")


def main_of(command):
    try:
        return importlib.import_module(f"attnprof_report.{command}").main
    except ModuleNotFoundError as error:
        if (error.name or "").startswith("attnprof_report"):
            raise
        print(lacking(error), file=sys.stderr)
        sys.exit(3)


def main(arguments):
    if arguments and arguments[0] in COMMANDS:
        return main_of(arguments[0])(arguments[1:])
    if arguments and arguments[0] in ("-h", "--help"):
        print(__doc__.strip())
        return 0
    said = f"there is no command '{arguments[0]}'" if arguments else "no command was given"
    print(f"attnprof_report: {said}; it takes {', '.join(COMMANDS)}, each with --help", file=sys.stderr)
    return 2


def command():
    """The entry point `attnprof-report` of pyproject.toml."""
    return main(sys.argv[1:])


if __name__ == "__main__":
    if not __package__:  # run as a folder, which then stands where its parent should
        sys.path[0] = str(pathlib.Path(__file__).resolve().parent.parent)
    sys.exit(command())

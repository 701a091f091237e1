"""Writes one HTML file about one or more attnprof result files (rows of scripts/peers/peers.py too), for reading and for handing on.

    attnprof_report page ROWS.csv... -o report.html [--explain explain.json | --attnprof build/release/attnprof]

A summary, the findings of `attnprof explain`, the roofline, latency, bytes and TFLOP/s against N, heat maps of tiles,
measured against modelled bytes, cases without a right number and why, all rows in a table that can be filtered and sorted,
and each run's machine and command line from FILE.meta.json. The file holds all it needs and loads nothing.

Exit codes: 2 for what cannot be read (or a bad option), 3 when there are no rows, the page cannot be written, or there is no
attnprof to ask for columns and roofs.
"""

import pathlib

from .sweep import source_of
from .page_environment import environment_of
from .page_findings import findings_of
from .page_lines import lines_plot
from .page_model import model_plot
from .page_html import write_page
from .page_roofline import roofline_plot
from .page_rows import read_files, sweep_of, table_of, without_number
from .page_summary import summary_of
from .page_tiles import tiles_plot
from .result_rows import Refusal, run
from .roofs import ask_roofs
from .sweep_lines import quantities
from .sweep_rows import styles_of_lines
from .sweep_tiles import TILE_QUANTITIES


def plots_of(files, sweep, attnprof):
    """Every plot, drawn or with the reason why not."""
    styles, source = styles_of_lines(sweep), source_of(sweep, [file.path for file in files])
    roofline = roofline_plot(sweep, lambda devices: ask_roofs([file.path for file in files], devices, attnprof), styles)
    return [roofline, *(lines_plot(sweep, name, quantity, styles, source) for name, quantity in quantities().items()),
            *(tiles_plot(sweep, name, source) for name in TILE_QUANTITIES), model_plot(sweep, styles, source)]


def report(paths, output, explain, attnprof):
    files = read_files(paths)
    sweep = sweep_of(files)
    environment, findings = environment_of(files), findings_of(explain, attnprof, paths)
    content = {"files": files, "summary": summary_of(sweep), "findings": findings, "plots": plots_of(files, sweep, attnprof),
               "wrong": without_number(sweep), "table": table_of(files, findings.places(files)),
               "environment": environment}
    try:
        if write_page(content, output):
            print(output)
    except OSError as error:
        raise Refusal(f"-o {output}: cannot be written: {error.strerror}.", 3) from None


def add_options(parser):
    findings = parser.add_mutually_exclusive_group()
    findings.add_argument("--explain", type=pathlib.Path,
                          help="findings: what attnprof explain --format json -o wrote of the files")
    findings.add_argument("--attnprof", help="findings: a program to run `explain --format json` with, and to ask for columns and roofs")


def main(arguments):
    return run(report, arguments, program="attnprof_report page", description="Writes an HTML report of attnprof result files.",
               csv_help="result files of attnprof sweep -o or scripts/peers/peers.py", output_help="HTML file to write",
               add_options=add_options)

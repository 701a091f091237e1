"""Draws the pictures of a sweep from one or more attnprof result files (rows of scripts/peers/peers.py too) into a folder.

Against the length N, a line a variant and a panel a shape: sweep_latency.png, sweep_tflops.png, and a picture a memory level
that has a roof (`attnprof list --levels`): sweep_hbm_bytes.png, sweep_sm_bytes.png. Of sweeps with several tiles, Br x Bc:
tiles_latency.png, tiles_sm_bytes.png. Measured against modelled bytes of measured rows: measured_against_model.png. Of
several rows of one case the latest is drawn. Skipped, incorrect and failed cases are marked without a number and listed
below. A picture that would be empty is not written, and a sentence says why.

Exit codes: 2 for what cannot be read (or a bad option), 3 when there is nothing to draw, the pictures cannot be written,
or there is no attnprof to ask for columns.
"""

import sys

from .result_rows import Refusal, run
from .sweep_lines import draw_sweep, quantities
from .sweep_model import draw_model
from .sweep_rows import devices_of, read_sweep, styles_of_lines
from .sweep_tiles import TILE_QUANTITIES, draw_tiles


def source_of(rows, paths):
    """Device and files, as captions name them; files of one name with their folders."""
    unique = len({path.name for path in paths}) == len(paths)
    names = [path.name if unique else f"{path.resolve().parent.name}/{path.name}" for path in paths[:4]]
    names += [f"{len(paths) - 4} more files"] if len(paths) > 4 else []
    return f"{devices_of(rows)}; {', '.join(names)}"


MODEL = "measured_against_model.png"


def pictures_in(folder):
    return [folder / name for name in [*quantities(), *TILE_QUANTITIES, MODEL]]


def draw_all(rows, source, folder):
    """Draws what the rows allow. Returns name -> why it was not written, or nothing where it was."""
    styles = styles_of_lines(rows)
    reasons = {name: draw_sweep(rows, quantity, styles, source, folder / name) for name, quantity in quantities().items()}
    reasons |= {name: draw_tiles(rows, quantity, source, folder / name) for name, quantity in TILE_QUANTITIES.items()}
    return reasons | {MODEL: draw_model(rows, styles, source, folder / MODEL)}


def plot(paths, folder):
    """Names of the pictures not written, with the reason."""
    rows = read_sweep(paths)
    files = ", ".join(map(str, paths))
    if rows.empty:
        raise Refusal(f"{files}: there are no rows, so there is nothing to draw.", 3)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        reasons = draw_all(rows, source_of(rows, paths), folder)
    except OSError as error:
        raise Refusal(f"-o {folder}: cannot be written: {error.strerror}.", 3) from None
    for name, reason in reasons.items():
        print(f"attnprof_report sweep: {folder / name} is not written: {reason}." if reason else folder / name,
              file=sys.stderr if reason else sys.stdout)
    if all(reasons.values()):
        raise Refusal(f"{files}: nothing to draw.", 3)


def main(arguments):
    return run(plot, arguments, program="attnprof_report sweep",
               description="Draws the pictures of a sweep from attnprof result files.",
               csv_help="result files of attnprof sweep -o or scripts/peers/peers.py", output_help="folder for the pictures",
               outputs=pictures_in)

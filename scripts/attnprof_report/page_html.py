"""The page of a report: template, style, scripts and Plotly in one file that loads nothing and runs nothing else."""

import base64
import functools
import hashlib
import json
import pathlib

import jinja2
import plotly

from .output_file import replace_file

PARTS = pathlib.Path(__file__).resolve().parent / "page_parts"
SCRIPTS = ["plots.js", "table.js", "page.js"]
UNITS = {"time": (("s", 1e9), ("ms", 1e6), ("us", 1e3), ("ns", 1.0)), "size": (("GB", 1e9), ("MB", 1e6), ("kB", 1e3), ("B", 1.0))}


def with_unit(value, kind):
    """A value in ns or bytes as people write it, three digits."""
    if not isinstance(value, (int, float)):
        return ""
    unit, size = next((unit for unit in UNITS[kind] if abs(value) >= unit[1]), UNITS[kind][-1])
    return f"{value / size:.3g} {unit}"


def digits(value, count=3):
    """A number with so many digits, plain; empty for none."""
    if not isinstance(value, (int, float)):
        return ""
    return f"{value:.0f}" if abs(value) >= 10**count else f"{value:.{count}g}"


def six_digits(value):
    """Plain data with numbers as far as a picture shows them: the file is a third smaller."""
    if isinstance(value, dict):
        return {key: six_digits(inner) for key, inner in value.items()}
    if isinstance(value, (list, tuple)):
        return [six_digits(inner) for inner in value]
    return float(f"{value:.6g}") if isinstance(value, float) else value


def in_script(value):
    """JSON that cannot end the script element it stands in."""
    text = json.dumps(value, allow_nan=False, separators=(",", ":"), default=lambda item: item.tolist())
    return text.replace("<", "\\u003c").replace("\u2028", "\\u2028").replace("\u2029", "\\u2029")


def source_hash(script):
    """The script as a content security policy names it."""
    return "'sha256-" + base64.b64encode(hashlib.sha256(script.encode()).digest()).decode() + "'"


def policy_of(scripts):
    """Only these scripts run, and nothing is loaded, whatever a cell holds."""
    return ("default-src 'none'; img-src data: blob:; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'; script-src "
            + " ".join(source_hash(script) for script in scripts))


@functools.cache
def templates():
    """Compiled once, however many pages a process writes."""
    environment = jinja2.Environment(loader=jinja2.FileSystemLoader(PARTS), autoescape=True, undefined=jinja2.StrictUndefined,
                                     trim_blocks=True, lstrip_blocks=True)
    environment.filters |= {"time": lambda value: with_unit(value, "time"), "size": lambda value: with_unit(value, "size"),
                            "digits": digits}
    return environment


def page_of(content):
    """The HTML text."""
    library = (pathlib.Path(plotly.__file__).parent / "package_data" / "plotly.min.js").read_text(encoding="utf-8")
    own = "\n".join((PARTS / name).read_text(encoding="utf-8") for name in SCRIPTS)
    figures = {f"{plot.key}-{i}": six_digits(panel.figure) for plot in content["plots"] for i, panel in enumerate(plot.panels)}
    return templates().get_template("page.html").render(
        content, style=(PARTS / "style.css").read_text(encoding="utf-8"), library=library, script=own,
        policy=policy_of([library, own]), table_data=in_script(content["table"]), figure_data=in_script(figures))


def write_page(content, output):
    """Returns whether it is a file, which lies there now. Throws OSError where it cannot be written."""
    return replace_file(output, page_of(content))

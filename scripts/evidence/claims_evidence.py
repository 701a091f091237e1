"""What claims are made of: the committed rows and the texts that other scripts computed from them. Standard library only."""

import functools
import json
import pathlib
import re
import sys

from figures import label, number, ok_rows, unsteady
from results_folder import Results

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "peers"))

from attnprof_report import program as attnprof  # noqa: E402
import versus  # noqa: E402


class Evidence:
    def __init__(self, program, root):
        self.program, self.folder = program, pathlib.Path(root) / "results/h200"
        self.results = Results(self.folder)

    def rows(self, name, **cells):
        """The ok rows of NAME.csv with these cells."""
        return [row for row in ok_rows(self.results.rows(name)) if all(row[column] == str(value) for column, value in cells.items())]

    def one(self, name, **cells):
        found = self.rows(name, **cells)
        if len(found) != 1:
            raise LookupError(f"{name}: {len(found)} rows have {cells}")
        return found[0]

    @functools.cached_property
    def figures(self):
        """[(state, figure and text)] of figures.txt."""
        lines = self.results.text("figures.txt").splitlines()
        return [(line[:4].strip(), line[6:]) for line in lines]

    def figure(self, pattern):
        """What the groups of `pattern` hold in the first line of figures.txt that has it."""
        return self.match(pattern, [text for _, text in self.figures])

    def held(self, name, pattern):
        """The same of another text of evidence/."""
        return self.match(pattern, self.results.text(name).splitlines())

    @staticmethod
    def match(pattern, lines):
        found = next((match for match in map(re.compile(pattern).search, lines) if match), None)
        if not found:
            raise LookupError(f"no line has: {pattern}")
        return found.groups()

    @functools.cached_property
    def gate(self):
        return json.loads((self.folder / "evidence/gate_evidence.json").read_text(encoding="utf-8"))

    @functools.cached_property
    def runs(self):
        """{run: what its .meta.json says} of all files."""
        metas = [json.loads(path.read_text(encoding="utf-8")) for path in self.folder.rglob("*.csv.meta.json")]
        return {name: run for meta in metas for name, run in meta.get("runs", {}).items()}

    def commit(self, row):
        """Of the program that measured a row."""
        return self.runs[row["run"]]["attnprof"]["commit"]

    def versus_rows(self, variant, dtype="bf16"):
        """The rows of all turns."""
        name = "versus" if variant in ("flash2", "flash3", "standard") else "versus_peers"
        return self.rows(name, variant=variant, dtype=dtype)

    def ratios(self, name):
        """The ratios of one of versus.py's comparisons that have a value."""
        return next([ratio for ratio in ratios if ratio.value is not None] for comparison, ratios in
                    versus.time_ratios(self.folder / "sweeps", versus.LENGTHS) if comparison.name == name)

    @functools.cached_property
    def ceilings(self):
        return {row["name"]: row for row in self.results.rows("ceilings")}

    def explained(self, selection, against):
        """The case of forward.csv that `selection` names, as `attnprof explain` says it."""
        cases = attnprof.ask(self.program, "explain", self.folder / "sweeps/forward.csv", "--case", selection, "--against", against)["cases"]
        return next(case for case in cases if case["line"])


def shape_name(shape):
    """Of a versus.Shape, as text."""
    return f"d = {shape.head_dim} {shape.mask} N = {length_text(shape.q_len)}"


def length_text(length):
    length = int(length)
    return f"{length // 1024}k" if length % 1024 == 0 else str(length)


def case_name(row):
    return f"{row['variant']} {row['mask']} d = {row['head_dim']} N = {length_text(row['q_len'])} batch {row['batch']}"


def size(amount):
    """Bytes in three digits, as tables print them."""
    for unit, scale in (("GB", 1e9), ("MB", 1e6), ("kB", 1e3)):
        if amount >= scale:
            value = amount / scale
            return f"{value:.{2 if value < 10 else 1 if value < 100 else 0}f} {unit}"
    return f"{amount:.0f} B"


def percent_span(values, digits=2):
    return f"{100 * min(values):.{digits}f} to {100 * max(values):.{digits}f} %"


def flagged(rows):
    return f"`drift` or `throttled` in {unsteady(rows)} of {len(rows)}"


__all__ = ["Evidence", "case_name", "flagged", "label", "length_text", "number", "percent_span", "shape_name", "size", "unsteady"]

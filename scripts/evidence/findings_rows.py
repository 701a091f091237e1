"""Rows of sweeps/ as findings.py asks for them, and how it writes what it finds. Standard library only."""

import csv

from figures import unsteady


class Missing(Exception):
    """A file, or what the text needs of one, as a sentence."""


class Rows:
    """Rows that are ok, of one result file."""

    def __init__(self, path):
        try:
            with open(path, newline="", encoding="utf-8") as file:
                self.rows = [row for row in csv.DictReader(file) if row["disposition"] == "ok"]
        except (OSError, KeyError, UnicodeDecodeError) as error:
            raise Missing(f"{path}: cannot be read as a result file: {error!r}") from None
        if not self.rows:
            raise Missing(f"{path}: no row is ok")

    def of(self, **cells):
        return [row for row in self.rows if all(row[name] == str(value) for name, value in cells.items())]

    def one(self, **cells):
        found = self.of(**cells)
        return found[-1] if found else None


def number(row, column):
    return float(row[column])


def ratio(above, below, column):
    return number(above, column) / number(below, column)


def table(header, lines):
    return "\n".join(["| " + " | ".join(header) + " |", "|" + "---|" * len(header), *("| " + " | ".join(line) + " |" for line in lines)])


def lengths(rows):
    return sorted({int(row["q_len"]) for row in rows})


def unsteady_text(name, rows):
    return f"`drift` or `throttled` in {unsteady(rows)} of {name.format(len(rows))}"


def span(values, digits=2):
    return f"{min(values):.{digits}f} to {max(values):.{digits}f}"


def case_text(row):
    return f"d = {row['head_dim']}, N = {row['q_len']}, batch {row['batch']}"


def slower(pairs):
    losses = [f"{row['mask']} {case_text(row)}, {row['kv_heads']} kv heads ({ratio(standard, row, 'latency_median_ns'):.3f})" for standard, row in pairs
              if ratio(standard, row, "latency_median_ns") < 1]
    return f"{len(losses)} of these {len(pairs)}" + (f": {'; '.join(losses)}" if losses else "")


def twins(pairs, column, one, other):
    """Pairs of `pairs` that differ in one column alone."""
    keys = ("head_dim", "q_len", "batch", "kv_heads")
    by_key = {tuple(pair[0][key] for key in keys): pair for pair in pairs}
    place = keys.index(column)
    return [(pair, by_key[key[:place] + (other,) + key[place + 1:]]) for key, pair in by_key.items()
            if key[place] == one and key[:place] + (other,) + key[place + 1:] in by_key]

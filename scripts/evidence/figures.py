"""Rows of gpu_test.sh's files, and lines of the table that check_figures.py prints. Standard library only."""

from results_folder import Results


def number(row, column):
    """The cell as a float, or None when it is empty."""
    return float(row[column]) if row[column] else None


def label(row):
    keys = ("variant", "tile", "dtype", "mask", "batch", "heads", "kv_heads", "q_len", "kv_len", "head_dim", "cache")
    return " ".join(row[key] for key in keys)


def ok_rows(rows):
    return [row for row in rows if row["disposition"] == "ok"]


UNSTEADY = ("drift", "throttled")


def unsteady(rows):
    """How many rows carry a flag of UNSTEADY: their times, and what is derived from them, are of a clock that moved."""
    return sum(any(flag in UNSTEADY for flag in row["flags"].split(";")) for row in rows)


def tell_unsteady(rows):
    return f"drift or throttled: {unsteady(rows)}"


def deviation(row, measured, modelled):
    """measured / modelled - 1 of a row that has both."""
    a, b = number(row, measured), number(row, modelled)
    return a / b - 1 if b else (0.0 if a == 0 else float("inf"))


class Figures:
    """Collects lines of the final table."""

    def __init__(self, folder):
        self.results = Results(folder)
        self.lines = []
        self.missed = 0

    def rows(self, figure, *names):
        """The rows of the named files, or None (and a line) when one is absent."""
        rows = []
        for name in names:
            found = self.results.rows(name)
            if found is None:
                return self.not_measured(figure, f"no {name.rsplit('/', 1)[-1]}.csv")
            rows += found
        return rows

    def add(self, figure, reached, text):
        self.missed += not reached
        self.lines.append(("ok" if reached else "MISS", figure, text))

    def report(self, figure, text):
        self.lines.append(("info", figure, text))

    def not_measured(self, figure, why):
        self.lines.append(("----", figure, f"not measured: {why}"))

    def show(self):
        for state, figure, text in self.lines:
            print(f"{state:4}  {figure:58}  {text}")


def worst_deviation(rows, measured, modelled):
    """(largest |measured / modelled - 1|, its row, number of rows) over the rows that have both."""
    worst, worst_row, count = 0.0, None, 0
    for row in rows:
        a, b = number(row, measured), number(row, modelled)
        if a is None or b is None:
            continue
        count += 1
        off = abs(deviation(row, measured, modelled))
        if worst_row is None or off > worst:
            worst, worst_row = off, row
    return worst, worst_row, count


def check_deviation(figures, figure, rows, measured, modelled, limit, least):
    worst, row, count = worst_deviation(rows, measured, modelled)
    where = f" at {label(row)}" if row else ""
    figures.add(figure, count >= least and worst <= limit, f"worst {100 * worst:.3f} % of {count} rows{where}")

"""Every row of the files of a report: as its plots read them, as its table shows them, and why some have no right number."""

import dataclasses
import pathlib

import pandas as pd

from . import identity, levels, roofline
from .result_rows import Refusal, columns_of, read_table
from .sweep_rows import WHOLE, latest_of, lengths, real_columns, text_columns

SHARED = ["dtype", "mask", "batch", "heads", "kv_heads", "kv_len", "head_dim", "tile", "knobs", "cache"]
OF_FILE = ["file", "line"]


def main_columns():
    """Columns that the table shows at first, as far as any row has them; the others come on request."""
    return ["variant", "dtype", "mask", "batch", "heads", "kv_heads", "q_len", "kv_len", "head_dim", "tile", "knobs", "cache",
            *identity.further(), "latency_median_ns", "useful_tflops_per_s", *(level.bytes for level in levels.drawn()),
            "roof_pct", "bound", "status", "verified", "flags", "reason"]


@dataclasses.dataclass
class File:
    path: pathlib.Path
    name: str  # as the report writes it
    table: pd.DataFrame  # all columns, as text
    rows: pd.DataFrame  # the columns of the plots


def read_files(paths):
    """The files, each read and checked once. Throws Refusal (3 where there is no row at all)."""
    unique = len({path.name for path in paths}) == len(paths)
    files = []
    numeric = WHOLE + list(dict.fromkeys(real_columns() + roofline.real_columns()))
    for path in paths:
        table = read_table(path, "attnprof_report page")
        files.append(File(path, path.name if unique else f"{path.resolve().parent.name}/{path.name}", table,
                          columns_of(table, path, text_columns(), numeric)))
    if not any(len(file.table) for file in files):
        raise Refusal(f"{', '.join(map(str, paths))}: there are no rows, so there is nothing to report.", 3)
    return files


def sweep_of(files):
    return latest_of([file.rows for file in files if len(file.rows)])


def status_of(rows):
    """The disposition, but incorrect for what ran and failed its check, and `old` after that of a row whose case was
    measured again later."""
    status = rows["disposition"].where((rows["disposition"] != "ok") | (rows["verified"] != "no"), "incorrect")
    latest = rows.reset_index().sort_values("run", kind="stable").drop_duplicates(identity.key(), keep="last")["index"]
    return status.where(rows.index.isin(latest), status + ", old")


def table_of(files, findings):
    """What the page's table is made of: names of columns, those shown at first, and the cells of every row as text.

    `findings`: (file's name, line) -> the page's place for what `explain` says of the row."""
    names = list(dict.fromkeys(name for file in files for name in file.table.columns))
    rows = pd.concat([file.table.assign(file=file.name, line=[str(i + 2) for i in range(len(file.table))]) for file in files],
                     ignore_index=True).fillna("")
    rows["status"] = status_of(rows)
    columns = OF_FILE + [name for name in names if name != "disposition"]
    columns.insert(columns.index("reason"), "status")
    first = [name for name in main_columns() if name in columns and worth_showing(rows, name)]
    first[1:1] = ["file"] if len(files) > 1 else []
    return {"columns": columns, "first": first, "rows": rows[columns].to_numpy().tolist(),
            "findings": [findings.get((file, int(line)), "") for file, line in zip(rows["file"], rows["line"])]}


def worth_showing(rows, name):
    """Whether a column tells rows apart: kv_heads and kv_len are mostly heads and q_len again, and what all cases share
    stands at the head of the page."""
    same = {"kv_heads": "heads", "kv_len": "q_len"}.get(name)
    if name in SHARED and rows[name].nunique() == 1:
        return False
    return bool((rows[name] != "").any() and not (same and (rows[name] == rows[same]).all()))


def without_number(sweep):
    """Groups of cases without a right number: how they ended, of which line, why, how many, and at which lengths."""
    wrong = sweep[sweep["mark"] != ""]
    reasons = wrong["reason"].where(wrong["reason"] != "", "no reason given")
    return [{"mark": mark, "line": line, "reason": reason, "count": len(group), "lengths": lengths(group)}
            for (mark, line, reason), group in wrong.groupby(["mark", "line", reasons], sort=False)]

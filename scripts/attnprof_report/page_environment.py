"""What the .meta.json beside a result file says of its runs: machine, versions, command line, peaks and ceilings."""

import json
import pathlib

from .result_rows import Refusal

SHOWN_APART = ("peaks", "ceilings", "notices", "command_line", "comparable")


def read_meta(path):
    """The .meta.json beside a result file, or None where there is none."""
    meta_path = pathlib.Path(str(path) + ".meta.json")
    if not meta_path.exists():
        return None
    try:
        return json.loads(meta_path.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError) as error:
        raise Refusal(f"{meta_path}: cannot be read as JSON ({error}); remove it to draw without it.") from None


def mapping(value):
    return value if isinstance(value, dict) else {}


def facts_of(run):
    """(title, [(name, value)]) of what describes a run: an object is a group of its own."""
    shown = {key: value for key, value in run.items() if key not in SHOWN_APART}
    plain = {key: value for key, value in shown.items() if not isinstance(value, dict)}
    groups = {key: value for key, value in shown.items() if isinstance(value, dict)}
    return [(title, flat(value)) for title, value in {"run": plain, **groups}.items() if value]


def flat(value, name=""):
    """(name, value) of everything in nested objects that can be written in one cell."""
    if isinstance(value, dict):
        return [pair for key, inner in value.items() for pair in flat(inner, f"{name}.{key}" if name else str(key))]
    if isinstance(value, list):
        words = [" ".join(f"{key} {part[key]}" for key in part) if isinstance(part, dict) else str(part) for part in value]
        return [(name, "; ".join(words))]
    return [(name, f"{value:.10g}" if isinstance(value, float) else str(value))]


def number(value):
    return float(value) if isinstance(value, (int, float)) and not isinstance(value, bool) else None


def ceilings_of(run):
    """Measured ceilings beside what the vendor or the device's attributes say."""
    rows = []
    for name, ceiling in mapping(run.get("ceilings")).items():
        ceiling = mapping(ceiling)
        median, nominal = number(ceiling.get("median")), number(ceiling.get("nominal"))
        rows.append({"name": str(name), "median": median, "nominal": nominal, "spread": number(ceiling.get("spread_pct")),
                     "samples": number(ceiling.get("samples")), "clock": number(ceiling.get("sm_clock_mhz")),
                     "share": 100 * median / nominal if median and nominal else None})
    return rows


def run_of(file, name, run):
    return {"file": file, "run": name, "command": str(run.get("command_line", "")), "facts": facts_of(run),
            "ceilings": ceilings_of(run), "peaks": flat(mapping(run.get("peaks"))),
            "notices": [str(notice) for notice in run["notices"]] if isinstance(run.get("notices"), list) else []}


def environment_of(files):
    """The runs that the files' rows came from, and a sentence for each that nothing is known of. Throws Refusal."""
    runs, unknown = [], []
    for file in files:
        meta = read_meta(file.path)
        if meta is None:
            unknown.append(f"{file.name} has no .meta.json beside it: its device, driver and command line are not known.")
            continue
        known = mapping(mapping(meta).get("runs"))
        for name in dict.fromkeys(file.table["run"]):
            if isinstance(known.get(name), dict):
                runs.append(run_of(file.name, name, known[name]))
            else:
                unknown.append(f"{file.name}.meta.json does not know the run {name} of its rows.")
    return {"runs": runs, "unknown": unknown}

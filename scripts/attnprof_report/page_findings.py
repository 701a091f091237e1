"""What `attnprof explain --format json` says of the rows of a report: read from a file, or from the program itself."""

import dataclasses
import json
import pathlib
import tempfile

from . import identity, program
from .figure_parts import short_count
from .result_rows import Refusal

SCHEMA = 1
LISTS = {"sentences": str, "resources": dict, "tiles": dict}  # of a case, and what they hold


@dataclasses.dataclass
class Findings:
    cases: list  # as explain writes them, each with `id` and `title`
    notices: list
    left_out: list
    reason: str = ""  # why there are none

    def places(self, files):
        """(file's name, line) -> the case's id in the page."""
        found = {}
        for case in self.cases:
            for file in files:
                if names_file(case.get("file"), file, files) and isinstance(case.get("line"), int):
                    found[(file.name, case["line"])] = case["id"]
        return found


def names_file(given, file, files):
    """Whether explain's name of a file is this one: by its path, else by its name where only one file has that."""
    path = pathlib.Path(str(given))
    if any(path == other.path for other in files):
        return path == file.path
    return path.name == file.path.name and sum(other.path.name == path.name for other in files) == 1


def parsed(text, source):
    """The object that explain wrote. Throws Refusal where it is none."""
    try:
        explained = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise Refusal(f"{source}: is no JSON ({error}); give what `attnprof explain --format json` wrote.") from None
    cases = explained.get("cases") if isinstance(explained, dict) else None
    if not isinstance(cases, list) or not all(isinstance(case, dict) for case in cases):
        raise Refusal(f"{source}: has no list of cases; give what `attnprof explain --format json` wrote.")
    if explained.get("schema") != SCHEMA:
        raise Refusal(f"{source}: has schema {explained.get('schema')}, this script reads {SCHEMA}; use those of one version.")
    check_lists(cases, source)
    return explained


def check_lists(cases, source):
    """Throws Refusal where a part of a case is not what the page goes through."""
    for i, case in enumerate(cases):
        against = case.get("against") if isinstance(case.get("against"), dict) else {}
        parts = [(name, case.get(name), kind) for name, kind in LISTS.items()] + [("factors", against.get("factors"), dict)]
        for name, part, kind in parts:
            if part is not None and not (isinstance(part, list) and all(isinstance(entry, kind) for entry in part)):
                raise Refusal(f"{source}: case {i + 1}: {name} is no list of {'sentences' if kind is str else 'objects'}; "
                              "give what `attnprof explain --format json` wrote.")


def from_file(path):
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise Refusal(f"{path}: cannot be read: {getattr(error, 'strerror', None) or error}.") from None
    return [parsed(text, path)]


def from_program(attnprof, paths):
    """What the program explains of each file, and its sentences where it explains nothing (exit code 3)."""
    explained, sentences = [], []
    for path in paths:
        with tempfile.TemporaryDirectory() as folder:
            output = pathlib.Path(folder) / "explain.json"
            try:
                done = program.run(attnprof, "explain", path, "--format", "json", "-o", output)
            except program.NotUsable as error:
                raise Refusal(f"--attnprof {error}") from None
            said = (done.stderr.strip().splitlines() or ["it said nothing"])[-1]
            if done.returncode == 0 and output.exists():
                explained.append(parsed(output.read_text(encoding="utf-8"), f"{attnprof} explain {path}"))
            elif done.returncode == 3:
                sentences.append(said)
            else:
                raise Refusal(f"--attnprof {attnprof}: explain {path} ended with exit code {done.returncode}: {said}")
    return explained, sentences


def case_title(case):
    """The case in a line, by its identity columns."""
    cells = case.get("identity") if isinstance(case.get("identity"), dict) else {}
    words = {"variant": "{}", "dtype": "{}", "mask": "{}", "head_dim": "d = {}", "batch": "batch {}", "heads": "{} heads",
             "cache": "{} cache"} | {name: name + " {}" for name in identity.further()}
    length = str(cells.get("q_len", "?"))
    parts = [words[name].format(cells[name]) for name in words if name in cells]
    parts.insert(1, f"N = {short_count(length) if length.isdigit() else length}")
    parts += [f"tile {cells['tile']}"] if cells.get("tile", "auto") != "auto" else []
    return ", ".join(parts)


def listed(result, name):
    return result[name] if isinstance(result.get(name), list) else []


def findings_of(explain, attnprof, paths):
    """The findings of --explain or --attnprof, or none and why. Throws Refusal."""
    sentences = []
    if explain:
        results = from_file(explain)
    elif attnprof:
        results, sentences = from_program(attnprof, paths)
    else:
        return Findings([], [], [], "neither --explain nor --attnprof was given")
    cases = [case for result in results for case in result["cases"]]
    for i, case in enumerate(cases):
        case |= {"id": f"finding-{i}", "title": case_title(case), "binds": str(case.get("binds") or "unknown")}
        case |= {name: case.get(name) or [] for name in LISTS}
    notices = [str(notice) for result in results for notice in listed(result, "notices")]
    left_out = [entry for result in results for entry in listed(result, "left_out") if isinstance(entry, dict)]
    return Findings(cases, notices, left_out, "" if cases else "; ".join(sentences) or "no case could be explained")

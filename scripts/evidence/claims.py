#!/usr/bin/env python3
"""Every measured figure in the prose of README.md and results/, computed from the committed rows and looked for in the text.

    scripts/evidence/claims.py PROGRAM [ROOT]          PROGRAM: attnprof, which explains rows; ROOT: the checkout

A claim is a function that makes a sentence from rows (claims_readme.py, claims_results.py, claims_notes.py), and the document that must hold that
sentence, word for word but for line breaks. One rule for all: a claim names all that was measured, its lowest row, and how many
rows carry `drift` or `throttled`; a figure that is missed is told as missed. What figures.txt, findings.md and the other texts of
evidence/ say may be taken from them, since tests/results_test.py computes those anew.

A figure in a document (a number with a unit, a share or a count) that stands neither in a claim nor in what is STATED (settings,
limits and figures of others) is an error: give it a claim, or take it out. Tables, code and generated parts are held by
results_test.py and update_readme.py.

Prints a line a claim. Exit codes: 0, 1 (a claim that its document does not make, or a figure without a claim), 2 (usage, or
PROGRAM cannot be asked). Standard library only.
"""

import pathlib
import re
import sys

import claims_notes
import claims_readme
import claims_results
from claims_evidence import Evidence
from claims_stated import DOCUMENTS, LOGS, STATED

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))

from attnprof_report import program as attnprof  # noqa: E402
from attnprof_report.safe_text import make_streams_safe  # noqa: E402

CLAIMS = claims_readme.CLAIMS + claims_results.CLAIMS + claims_notes.CLAIMS
FIGURE = re.compile(r"(?<![\w.])[-+]?\d[\d.,]*(?:e\d+)?\s?(?:%|(?:times|us|ms|ns|s|kB|MB|GB|MiB|TB/s|GB/s|TFLOP/s|MHz|W|pJ|"
                    r"rows|cases|pairs|shapes|processes|of(?= (?:\d|all|its)))\b)")


def normal(text):
    return re.sub(r"\s+", " ", text).strip()


def sections(text):
    """(heading, lines) of a Markdown text, code and generated parts left out."""
    heading, lines, generated = "", [], False
    for line in text.splitlines():
        generated = line.startswith("<!-- begin") or (generated and not line.startswith("<!-- end"))
        if line.startswith("#"):
            yield heading, lines
            heading, lines = line.lstrip("# "), []
        elif not generated and not line.startswith("    "):
            lines.append(line)
    yield heading, lines


def prose(document, text):
    """What must be covered by claims: without tables where these are held by a test of their own, and without LOGS."""
    kept = [line for heading, lines in sections(text) if (document, heading) not in LOGS for line in lines
            if DOCUMENTS[document] or not line.startswith("|")]
    return normal("\n".join(kept))


def uncovered(document, text, known):
    """[figure with the words around it] of what stands in none of the `known` phrases."""
    words = prose(document, text)
    covered = [(found.start(), found.end()) for phrase in known for found in re.finditer(re.escape(normal(phrase)), words)]
    return [words[max(0, found.start() - 60):found.end() + 30] for found in FIGURE.finditer(words)
            if not any(first <= found.start() and found.end() <= last for first, last in covered)]


def check(evidence, texts):
    """[(state, document, what)] of every claim, every statement and every figure that is neither."""
    lines, known = [], {document: [] for document in texts}
    for document, claim in CLAIMS:
        try:
            sentence = normal(claim(evidence))
        except (LookupError, ValueError, TypeError) as error:  # rows that do not hold what the sentence takes for granted
            lines.append(("NO ROWS", document, f"{claim.__name__}: {error}"))
            continue
        known[document].append(sentence)
        lines.append(("ok" if sentence in normal(texts[document]) else "ABSENT", document, sentence))
    for document, phrase, _why in STATED:
        known[document].append(phrase)
        if normal(phrase) not in normal(texts[document]):
            lines.append(("STALE", document, f"stated, but not in the text: {phrase}"))
    for document, text in texts.items():
        lines += [("NO CLAIM", document, f"...{figure}...") for figure in uncovered(document, text, known[document])]
    return lines


def read_texts(root):
    return {document: (root / document).read_text(encoding="utf-8") for document in DOCUMENTS}


def main(arguments):
    make_streams_safe()
    if len(arguments) not in (1, 2):
        print(__doc__.strip(), file=sys.stderr)
        return 2
    root = pathlib.Path(arguments[1]) if len(arguments) > 1 else pathlib.Path(__file__).resolve().parents[2]
    try:
        lines = check(Evidence(arguments[0], root), read_texts(root))
    except (attnprof.NotUsable, OSError) as error:
        print(f"claims: {error}", file=sys.stderr)
        return 2
    for state, document, what in lines:
        print(f"{state:8}  {document}: {what}")
    return 0 if all(state == "ok" for state, _, _ in lines) else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

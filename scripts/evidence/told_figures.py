"""Figures that other scripts of this folder hold and wrote down: Nsight Compute beside explain, predicted tiles, the gate's own
errors. Part of check_figures.py, which lists them beside its own; tests/results_test.py computes each text anew. Standard library
only."""

import json
import re

AGREE = re.compile(r"(\d+) of (\d+) cases agree")
PAIRS = re.compile(r"within 15 %: (\d+) of (\d+) pairs")


def check_ncu(figures):
    """The lines that gpu_test.sh's part `ncu` left; what they must reach is ncu_agreement.py's business."""
    table = figures.results.text("ncu_agreement.txt")
    if table is None:
        return
    lines = table.strip().splitlines()
    at = next(number for number, line in enumerate(lines) if AGREE.match(line))
    agree, cases = map(int, AGREE.match(lines[at]).groups())
    figures.add("explain names what Nsight Compute shows, 80 % of 40 cases", agree >= 0.8 * cases and cases == 40, lines[at])
    for line in lines[at + 1:]:
        figures.report("  the same", line)


def check_predicted_tiles(figures):
    text = figures.results.text("explain_evidence.txt")
    if text is None:
        return
    found = [line for line in text.splitlines() if line.startswith(("within 15 %", "remainder"))]
    good, pairs = map(int, PAIRS.match(found[0]).groups())
    figures.add("explain predicts 20 of 20 pairs of tiles within 15 %", good == pairs == 20, found[0])
    for line in found[1:]:
        figures.report("  the same", line)


def check_gate(figures):
    """gate_evidence.py's figures, of times spread over memory; of times in one place they are only reported."""
    for name, is_held in (("gate_evidence.json", True), ("gate_one_place.json", False)):
        for path in sorted(figures.results.folder.rglob(name)):
            for figure, must, seen, reached in json.loads(path.read_text(encoding="utf-8"))["figures"]:
                text = f"{seen}; must reach: {re.sub(' +', ' ', must)}"
                if is_held and reached is not None:
                    figures.add(f"gate: {figure}", reached, text)
                else:
                    figures.report(f"gate, one place in memory: {figure}", f"{text}{' (missed)' if reached is False else ''}")

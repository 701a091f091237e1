"""The rule of explain_evidence.py: which pairs it draws, and that no time has a say in it."""

import pathlib
import sys
import unittest

EVIDENCE = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(EVIDENCE))
import explain_evidence  # noqa: E402
from results_folder import Results  # noqa: E402

RESULTS = Results(EVIDENCE.parents[1] / "results/h200")


def texts(pairs):
    return [text for text, _, _ in explain_evidence.drawn(pairs)]


class DrawnPairs(unittest.TestCase):
    def test_twenty_of_the_committed_rows(self):
        pairs = explain_evidence.all_pairs(RESULTS)
        self.assertEqual(len(pairs), 1115)
        chosen = texts(pairs)
        self.assertEqual(len(chosen), 20)
        committed = RESULTS.text("explain_evidence.txt")
        for text in chosen:
            self.assertIn(text, committed)

    def test_times_have_no_say(self):
        rows = RESULTS.rows("tiles")
        others = [row | {"latency_median_ns": str(1000 + 77 * i)} for i, row in enumerate(reversed(rows))]
        self.assertEqual(texts(explain_evidence.pairs_of("tiles", others)), texts(explain_evidence.pairs_of("tiles", rows)))

    def test_pairs_differ_in_the_tile_alone(self):
        for _, first, second in explain_evidence.all_pairs(RESULTS):
            self.assertNotEqual(first["tile"], second["tile"])
            for column in explain_evidence.IDENTITY + ("run",):
                self.assertEqual(first[column], second[column])

    def test_few_pairs_are_all_taken(self):
        few = [(str(i), None, None) for i in range(7)]
        self.assertEqual(len(explain_evidence.drawn(few)), 7)


class Reported(unittest.TestCase):
    class Fixed:
        def __init__(self, speedup):
            self.value = speedup

        def speedup(self, file, line, tile):
            return self.value

    def good(self, predicted):
        pair = ("f.csv x", {"latency_median_ns": "200", "line": 2}, {"latency_median_ns": "100", "tile": "64x64"})
        return explain_evidence.report_tiles([pair], self.Fixed(predicted), verbose=False)

    def test_fifteen_percent_either_way(self):
        self.assertEqual([self.good(p) for p in (2.0, 2.29, 2.31, 1.71, 1.69, None)], [1, 1, 0, 1, 0, 0])


if __name__ == "__main__":
    unittest.main()

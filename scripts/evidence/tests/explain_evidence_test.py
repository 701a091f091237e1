"""The rule of explain_evidence.py: which pairs it draws, that no time has a say in it, and what it makes of predictions."""

import os
import pathlib
import sys
import tempfile
import unittest

EVIDENCE = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(EVIDENCE))
import explain_evidence  # noqa: E402
from results_folder import Results  # noqa: E402

PROGRAM = os.environ["ATTNPROF_BUILD_DIR"] + "/attnprof"
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
        self.assertEqual([self.good(p)[0] for p in (2.0, 2.29, 2.31, 1.71, 1.69, None)], [1, 1, 0, 1, 0, 0])

    def test_no_change_is_told_beside_it(self):
        self.assertEqual(self.good(2.0)[1], 0)
        alike = ("f.csv x", {"latency_median_ns": "110", "line": 2}, {"latency_median_ns": "100", "tile": "64x64"})
        self.assertEqual(explain_evidence.report_tiles([alike], self.Fixed(2.0), verbose=False), (0, 1))


class Predicted(unittest.TestCase):
    """The program's own predictions of the tiles of tiles.csv, and those of programs that predict nothing of worth."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.pairs = explain_evidence.pairs_of("tiles", RESULTS.rows("tiles"))

    def good(self, program):
        return explain_evidence.report_tiles(self.pairs, explain_evidence.Predictions(program, RESULTS, self.folder), verbose=False)

    def spoilt(self, change):
        """The program, each speedup it predicts changed."""
        program = self.folder / "spoilt"
        program.write_text(f"""#!{sys.executable}
import json, subprocess, sys
said = json.loads(subprocess.run(["{PROGRAM}", *sys.argv[1:]], capture_output=True, check=True).stdout)
for case in said["cases"]:
    for tile in case["tiles"]:
        speedup = tile["speedup"]
        tile["speedup"] = {change}
print(json.dumps(said))
""", encoding="utf-8")
        program.chmod(0o755)
        return program

    def test_the_programs_predictions_beat_no_change(self):
        good, unchanged = self.good(PROGRAM)
        self.assertEqual(len(self.pairs), 60)
        self.assertGreaterEqual(good, 54)
        self.assertGreater(good, unchanged + 10)

    def test_predictions_that_say_nothing_or_the_contrary_are_found(self):
        unchanged = self.good(PROGRAM)[1]
        self.assertEqual(self.good(self.spoilt("1.0")), (unchanged, unchanged))
        self.assertLess(self.good(self.spoilt("1 / speedup"))[0], 45)
        self.assertEqual(self.good(self.spoilt("None"))[0], 0)


if __name__ == "__main__":
    unittest.main()

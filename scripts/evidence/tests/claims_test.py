"""claims.py: a sentence that rows do not bear, a figure without a claim and rows that nobody tells of are found."""

import os
import pathlib
import shutil
import sys
import tempfile
import unittest

EVIDENCE = pathlib.Path(__file__).resolve().parent.parent
ROOT = EVIDENCE.parents[1]
PROGRAM = os.environ["ATTNPROF_BUILD_DIR"] + "/attnprof"
sys.path.insert(0, str(EVIDENCE))

import claims  # noqa: E402
import joined  # noqa: E402
from claims_evidence import Evidence, size  # noqa: E402
from claims_stated import COMPUTED  # noqa: E402


class ClaimsTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.root = pathlib.Path(folder.name)
        shutil.copytree(ROOT / "results/h200", cls.root / "results/h200", ignore=shutil.ignore_patterns("*.png"))
        cls.texts = claims.read_texts(ROOT)

    def wrong(self, readme=None):
        """[(state, what)] of all that is not ok."""
        texts = self.texts | ({"README.md": readme} if readme else {})
        return [(state, what) for state, _, what in claims.check(Evidence(PROGRAM, self.root), texts) if state != "ok"]

    def changed_rows(self, name, change):
        """The rows of a file of results/h200 changed until the test ends; `change` takes and gives all of them."""
        path = self.root / f"results/h200/{name}.csv"
        kept = path.read_bytes()
        self.addCleanup(path.write_bytes, kept)
        columns, rows = joined.read_csv(path)
        joined.write_csv(path, columns, change(rows))

    def test_the_committed_texts_are_borne_by_the_rows(self):
        self.assertEqual(self.wrong(), [])

    def test_every_markdown_file_is_read(self):
        kept = {path.relative_to(ROOT).as_posix() for folder in ("results", "scripts", "src", "kernels", "fuzz", "cmake")
                for path in (ROOT / folder).rglob("*.md") if not {"demo", "tmp"} & set(path.parts)} | {path.name for path in ROOT.glob("*.md")}
        self.assertEqual(kept, set(claims.DOCUMENTS) | COMPUTED)

    def test_a_figure_that_was_changed(self):
        found = self.wrong(readme=self.texts["README.md"].replace("(36, lowest 1.002", "(18, lowest 1.059"))
        self.assertIn("ABSENT", [state for state, _ in found])
        self.assertIn("NO CLAIM", [state for state, _ in found])

    def test_a_figure_without_a_claim(self):
        for more in ("\nflash2 is 1.20 times as fast.\n", "\nIt takes 3 us.\n", "\n* 12 of 40 rows, or 30 %, are right.\n", "\nHBM gives 4.6 TB/s.\n"):
            found = self.wrong(readme=self.texts["README.md"] + more)
            self.assertTrue(found and {state for state, _ in found} == {"NO CLAIM"}, (more, found))
        for more in ("\n    attnprof sweep    # takes 3 us\n", "\n| a | 3 us |\n", "\n<!-- begin: x -->\n3 us\n<!-- end -->\n", "\nTwo ranges of sm_90, version 3.\n"):
            self.assertEqual(self.wrong(readme=self.texts["README.md"] + more), [], more)

    def test_a_short_shape_that_got_slower(self):
        def slower(rows):
            return [row | {"latency_median_ns": str(2 * float(row["latency_median_ns"]))} if (row["variant"], row["q_len"]) == ("flash3", "512") else row
                    for row in rows]

        self.changed_rows("sweeps/versus", slower)
        found = self.wrong()
        self.assertTrue(any(state == "ABSENT" and "lowest 0.501 at d = 64 causal N = 512" in what for state, what in found), found)

    def test_flags_that_appear(self):
        self.changed_rows("sweeps/versus", lambda rows: [row | {"flags": "throttled"} for row in rows])
        self.assertTrue(any("36 of flash2's 36 shapes, 36 of flash3's 36" in what for _, what in self.wrong()))

    def test_a_peer_that_nobody_tells_of(self):
        self.changed_rows("sweeps/versus_peers", lambda rows: [*rows, rows[0] | {"variant": "fa4"}])
        self.assertTrue(any(state == "NO ROWS" and what.startswith("peers:") for state, what in self.wrong()))

    def test_a_turn_that_is_missing(self):
        self.changed_rows("sweeps/versus_peers", lambda rows: [row for row in rows if row is not rows[0]])
        self.assertTrue(any(state == "NO ROWS" and what.startswith("turns:") for state, what in self.wrong()))

    def test_peers_that_do_not_say_whether_they_drifted(self):
        self.changed_rows("sweeps/versus_peers", lambda rows: [row | {"drift_pct": ""} for row in rows])
        self.assertTrue(any(state == "NO ROWS" and what.startswith("beside_others:") for state, what in self.wrong()))

    def test_rows_of_another_flash3_are_told_apart(self):
        newest = joined.read_csv(self.root / "results/h200/sweeps/versus.csv")[1][0]["run"]
        self.changed_rows("sweeps/short", lambda rows: [row | {"run": newest} for row in rows])
        self.assertTrue(any(state == "ABSENT" and "`model`, `short` and `versus` are of f5decca3b2b9" in what for state, what in self.wrong()))

    def test_default_tiles_that_are_off(self):
        def off(rows):
            return [row | {"sm_bytes": str(int(1.2 * int(row["sm_bytes"])))} if row["variant"] == "flash2" else row for row in rows]

        self.changed_rows("sweeps/tiles", off)
        self.assertTrue(any(state == "ABSENT" and "the schedules' within 20 % in 600 rows" in what for state, what in self.wrong()))

    def test_sizes_are_those_of_tables(self):
        self.assertEqual([size(value) for value in (2.2239e9, 67.96e6, 1.1e9, 5120)], ["2.22 GB", "68.0 MB", "1.10 GB", "5.12 kB"])


if __name__ == "__main__":
    unittest.main()

"""gate_runs.sh on the simulator: it runs the schedules, so of the regressions it sees the smaller tile alone."""

import csv
import os
import pathlib
import subprocess
import tempfile
import unittest

SCRIPT = pathlib.Path(__file__).resolve().parent.parent / "gate_runs.sh"
BUILD = os.environ["ATTNPROF_BUILD_DIR"]


class GateRunsTest(unittest.TestCase):
    def runs(self, *arguments):
        return subprocess.run([SCRIPT, BUILD, self.folder, *arguments], capture_output=True, text=True, check=False,
                              env={**os.environ, "ATTNPROF_BACKEND": "sim"})

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def test_runs_and_regressions(self):
        done = self.runs("1", "1")
        self.assertEqual(done.returncode, 1, done.stderr)
        with open(self.folder / "a_1_1.csv", newline="", encoding="utf-8") as file:
            rows = list(csv.DictReader(file))
        self.assertEqual({row["disposition"] for row in rows}, {"ok"})
        self.assertGreaterEqual(len(rows), 40)
        self.assertTrue((self.folder / "a_1_1.csv.meta.json").exists())
        lines = (self.folder / "regressions.txt").read_text(encoding="utf-8").splitlines()
        verdicts = {line.split("|")[0].strip(): line.split("|")[-1].strip() for line in lines}
        self.assertEqual(verdicts, {"k_read_twice": "MISSED", "causal_not_skipped": "MISSED", "delay": "MISSED",
                                    "smaller_tile": "ok"})
        self.assertIn("worse: sm_bytes x8", lines[-1])

    def test_usage(self):
        self.assertEqual(self.runs().returncode, 2)
        self.assertEqual(self.runs("one").returncode, 2)


if __name__ == "__main__":
    unittest.main()

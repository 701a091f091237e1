"""check_figures.py: nothing measured is not a pass."""

import pathlib
import subprocess
import sys
import tempfile
import unittest

SCRIPT = pathlib.Path(__file__).resolve().parent.parent / "check_figures.py"


class CheckFiguresTest(unittest.TestCase):
    def check(self, folder):
        return subprocess.run([sys.executable, SCRIPT, folder], capture_output=True, text=True, check=False)

    def test_nothing_measured(self):
        with tempfile.TemporaryDirectory() as folder:
            for place in (folder, folder + "/none"):
                done = self.check(place)
                self.assertEqual(done.returncode, 2, done.stdout)
                self.assertIn("nothing was measured", done.stderr)

    def test_a_figure_that_is_reached_and_one_that_is_missed(self):
        head = "read_ratio,settled_write_bytes,true_write_bytes\n"
        with tempfile.TemporaryDirectory() as folder:
            for ratio, code in (("1.001", 0), ("1.02", 1)):
                (pathlib.Path(folder) / "selftest.csv").write_text(f"{head}{ratio},1000,1000\n", encoding="utf-8")
                self.assertEqual(self.check(folder).returncode, code)


if __name__ == "__main__":
    unittest.main()

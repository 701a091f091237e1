"""hbm_scatter.py on made counts whose deviations are known."""

import pathlib
import random
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
import hbm_scatter  # noqa: E402


def made(count, place, process, seed=1):
    """40 processes of 8 places of 2 counts near 1e8, with these deviations in percent."""
    rng = random.Random(seed)
    processes = []
    for _ in range(40):
        base = 1e8 + rng.gauss(0, process * 1e6)
        places = [base + rng.gauss(0, place * 1e6) for _ in range(8)]
        processes.append({i: [where + rng.gauss(0, count * 1e6) for _ in range(2)] for i, where in enumerate(places)})
    return processes


class HbmScatterTest(unittest.TestCase):
    def percents(self, **deviations):
        middle, *parts = hbm_scatter.components(made(**deviations))
        self.assertAlmostEqual(middle / 1e8, 1, delta=0.03)
        return [100 * part / middle for part in parts[:3]]

    def test_each_source_is_told_from_the_others(self):
        for source, expected in (("count", [2, 0, 0]), ("place", [0, 2, 0]), ("process", [0, 0, 2])):
            deviations = {"count": 0.0, "place": 0.0, "process": 0.0, source: 2.0}
            for found, wanted in zip(self.percents(**deviations), expected):
                self.assertAlmostEqual(found, wanted, delta=0.5, msg=source)

    def test_files_of_a_run(self):
        with tempfile.TemporaryDirectory() as name:
            folder = pathlib.Path(name)
            header = "variant,mask,batch,heads,q_len,head_dim,hbm_counts\n"
            for process in range(2):
                (folder / f"scatter_{process}_0.csv").write_text(
                    header + "flash2,full,1,16,512,64,1\nflash1,full,1,16,4096,64,5\n", encoding="utf-8")
                (folder / f"scatter_{process}_0.log").write_text(
                    "".join(f"2,{place},{100 + process}\n" for place in (0, 1, 1, 2, 2)), encoding="utf-8")
            cases = hbm_scatter.read_counts(folder)
        self.assertEqual(cases, {"flash1 full 1 16 4096 64": [{1: [100, 100], 2: [100, 100]}, {1: [101, 101], 2: [101, 101]}]})
        self.assertIn("flash1 full 1 16 4096 64", hbm_scatter.table(cases)[1])

    def run_script(self, *arguments):
        done = subprocess.run([sys.executable, hbm_scatter.__file__, *arguments], capture_output=True, text=True, check=False)
        self.assertNotIn("Traceback", done.stderr)
        return done.returncode, done.stderr

    def test_a_sweep_that_fails_ends_it_with_its_exit_code(self):
        with tempfile.TemporaryDirectory() as name:
            program = pathlib.Path(name) / "attnprof"
            program.write_text("#!/bin/sh\necho no driver >&2\nexit 3\n", encoding="utf-8")
            program.chmod(0o755)
            self.assertEqual(self.run_script(str(program), "-o", name + "/out"), (3, "no driver\n"))
            code, text = self.run_script(name + "/absent")
            self.assertEqual(code, 2)
            self.assertIn("absent is no program", text)

    def test_a_run_in_which_nothing_was_counted_again_says_so(self):
        with tempfile.TemporaryDirectory() as name:
            (pathlib.Path(name) / "scatter_0_0.csv").write_text("variant,hbm_counts\nflash1,1\n", encoding="utf-8")
            code, text = self.run_script("--analyse", name)
        self.assertEqual(code, 1)
        self.assertIn("was counted more than once", text)


if __name__ == "__main__":
    unittest.main()

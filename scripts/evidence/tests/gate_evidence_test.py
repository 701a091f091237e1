"""gate_evidence.py on simulated sweeps, and on the same rows dressed as measured ones with noise."""

import csv
import json
import os
import pathlib
import random
import subprocess
import sys
import tempfile
import unittest

SCRIPT = pathlib.Path(__file__).resolve().parent.parent / "gate_evidence.py"
PROGRAM = os.environ["ATTNPROF_BUILD_DIR"] + "/attnprof"


FILES = "processes, machine starts, cases"  # these are too few


def measured(rows, seed):
    """What a GPU might have answered: runs that scatter by 0.1 %, intervals of 0.3 %."""
    rng = random.Random(seed)
    for row in rows:
        median = 1e6 * rng.gauss(1, 0.001)
        row.update(backend="gpu", latency_source="cuda_events", bytes_source="cupti", flags="", samples="100",
                   latency_median_ns=f"{median:.6g}", latency_ci95_low_ns=f"{median * 0.997:.6g}",
                   latency_ci95_high_ns=f"{median * 1.003:.6g}", sm_cycles=str(round(median * 1.98)))
        row.update(hbm_bytes="64000000", sm_bytes=row["sm_bytes"] or "100000000")
    return rows


class GateEvidenceTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.sim = pathlib.Path(folder.name) / "sim.csv"  # which every test reads
        subprocess.run([PROGRAM, "sweep", "--backend", "sim", "-N", "256,512", "-d", "64", "-o", cls.sim],
                       capture_output=True, check=True)

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def evidence(self, files, pairs, *options):
        output = self.folder / "evidence.json"
        done = subprocess.run([sys.executable, SCRIPT, PROGRAM, *files, "--pairs", str(pairs), "-o", output, *options],
                              capture_output=True, text=True, check=False)
        return done.returncode, json.loads(output.read_text(encoding="utf-8")) if output.exists() else done.stderr

    def files_of(self, count, change=lambda rows, seed: rows):
        with open(self.sim, newline="", encoding="utf-8") as file:
            rows = list(csv.DictReader(file))
        files = []
        for seed in range(count):
            files.append(self.folder / f"run{seed}.csv")
            with open(files[-1], "w", newline="", encoding="utf-8") as file:
                writer = csv.DictWriter(file, rows[0].keys(), lineterminator="\n")
                writer.writeheader()
                writer.writerows(change([dict(row) for row in rows], seed))
        return files

    def missed(self, result):
        return [figure for figure, _, _, ok in result["figures"] if ok is False]

    def test_simulated_runs(self):
        code, result = self.evidence(self.files_of(2), 2)
        self.assertEqual(self.missed(result), [FILES])
        self.assertEqual(code, 1)
        self.assertEqual(result["a_against_a"]["failures"], 0)
        self.assertEqual(result["latency_3_percent"]["tried"], 0)
        self.assertGreater(result["amounts"]["sm_bytes"]["tried"], 5)

    def test_noisy_runs(self):
        code, result = self.evidence(self.files_of(4, measured), 20)
        self.assertEqual(self.missed(result), [FILES])
        self.assertEqual(result["latency_3_percent"]["tried"], 20)
        self.assertEqual(result["amounts"]["hbm_bytes"]["found"], 4 * 10)
        self.assertEqual(result["amounts"]["hbm_bytes"]["tried"], 4 * 10)

    def test_rows_whose_counts_scatter_are_named_and_not_found(self):
        def scattering(rows, seed):
            rows = measured(rows, seed)
            rows[0].update(hbm_spread_pct="20", hbm_counts="16")
            return rows

        _, result = self.evidence(self.files_of(2, scattering), 2)
        self.assertEqual(self.missed(result), [FILES, "+2 % hbm_bytes"])
        amount = result["amounts"]["hbm_bytes"]
        self.assertEqual((amount["found"], amount["tried"], amount["missed"]), (2 * 9, 2 * 10, []))
        self.assertEqual(amount["ambiguous"], ["naive full 1 16 256 64"])

    def test_an_unstable_run_is_shown(self):
        def unstable(rows, seed):
            rows[0]["sm_bytes"] = str(1000 + 100 * seed)
            return rows

        code, result = self.evidence(self.files_of(3, unstable), 10)
        self.assertEqual(code, 1)
        self.assertGreater(result["a_against_a"]["failures"], 0)
        self.assertIn("A against A: failures", self.missed(result))

    def test_regressions_are_figures_too(self):
        table = self.folder / "regressions.txt"
        table.write_text("delay | exit 1, worse: latency_median_ns | exit 1, worse: latency_median_ns x8 | ok\n"
                         "k_read_twice | exit 1, worse: sm_bytes | exit 0, worse: nothing | MISSED\n", encoding="utf-8")
        _, result = self.evidence(self.files_of(2), 1, "--regressions", table)
        self.assertEqual(self.missed(result), [FILES, "regression k_read_twice"])


if __name__ == "__main__":
    unittest.main()

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

    def evidence(self, files, *options):
        output = self.folder / "evidence.json"
        done = subprocess.run([sys.executable, SCRIPT, PROGRAM, *files, "-o", output, *options],
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
        code, result = self.evidence(self.files_of(2))
        self.assertEqual(self.missed(result), [FILES])
        self.assertEqual(code, 1)
        self.assertEqual(result["a_against_a"]["failures"], 0)
        self.assertEqual(result["latency_3_percent"]["tried"], 0)
        self.assertGreater(result["amounts"]["sm_bytes"]["tried"], 5)

    def test_noisy_runs(self):
        code, result = self.evidence(self.files_of(4, measured))
        self.assertEqual(self.missed(result), [FILES])
        self.assertEqual(result["a_against_a"]["pairs"], 4 * 3)
        self.assertEqual(result["latency_3_percent"]["tried"], 4 * 3 * 10)
        self.assertEqual(result["latency_3_percent"]["found_at_2_percent"], 4 * 3 * 10)
        self.assertEqual(result["amounts"]["hbm_bytes"]["found"], 4 * 10)
        self.assertEqual(result["amounts"]["hbm_bytes"]["tried"], 4 * 10)

    def test_rows_whose_counts_scatter_are_named_and_not_found(self):
        def scattering(rows, seed):
            rows = measured(rows, seed)
            rows[0].update(hbm_spread_pct="20", hbm_counts="16")
            return rows

        _, result = self.evidence(self.files_of(2, scattering))
        self.assertEqual(self.missed(result), [FILES, "+2 % hbm_bytes"])
        amount = result["amounts"]["hbm_bytes"]
        self.assertEqual((amount["found"], amount["tried"], amount["missed"]), (2 * 9, 2 * 10, []))
        self.assertEqual(amount["ambiguous"], ["naive full 1 16 256 64"])

    def test_what_another_process_counts_is_in_it(self):
        def drifting(rows, seed):
            rows = measured(rows, seed)
            rows[0]["sm_bytes"] = str(100_000_000 - 2_000_000 * seed)
            return rows

        _, result = self.evidence(self.files_of(2, drifting))
        amount = result["amounts"]["sm_bytes"]  # +1 % on a file that has 2 % less is no more than there was
        self.assertEqual((amount["tried"], amount["missed"]), (2 * 10, ["naive full 1 16 256 64"]))
        self.assertIn("+1 % sm_bytes", self.missed(result))

    def test_rows_changed_at_once_are_judged_as_each_alone(self):
        sys.path.insert(0, str(SCRIPT.parent))
        import gate_evidence

        first, second = self.files_of(2, measured)
        rows = gate_evidence.read(second)
        gate = gate_evidence.Gate(PROGRAM, self.folder)
        together = gate.run(first, gate_evidence.write_changed([gate_evidence.slower(row, 1.03) for row in rows], second, self.folder),
                            "--latency", "2%")[1]
        for i, row in enumerate(rows):
            alone = [gate_evidence.slower(each, 1.03) if each is row else each for each in rows]
            verdicts = gate.run(first, gate_evidence.write_changed(alone, second, self.folder), "--latency", "2%")[1]
            self.assertEqual(verdicts[i, "latency_median_ns"], together[i, "latency_median_ns"])

    def test_an_unstable_run_is_shown(self):
        def unstable(rows, seed):
            rows[0]["sm_bytes"] = str(1000 + 100 * seed)
            return rows

        code, result = self.evidence(self.files_of(3, unstable))
        self.assertEqual(code, 1)
        self.assertGreater(result["a_against_a"]["failures"], 0)
        self.assertIn("A against A: failures", self.missed(result))

    def test_regressions_are_figures_too(self):
        table = self.folder / "regressions.txt"
        table.write_text("delay | exit 1, worse: latency_median_ns | exit 1, worse: latency_median_ns x8 | ok\n"
                         "k_read_twice | exit 1, worse: sm_bytes | exit 0, worse: nothing | MISSED\n", encoding="utf-8")
        _, result = self.evidence(self.files_of(2), "--regressions", table)
        self.assertEqual(self.missed(result), [FILES, "regression k_read_twice"])


if __name__ == "__main__":
    unittest.main()

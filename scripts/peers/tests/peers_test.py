"""peers.py writes files that attnprof reads: every column of the schema, in its order."""

import csv
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
import peers  # noqa: E402

PROGRAM = os.environ["ATTNPROF_BUILD_DIR"] + "/attnprof"


class PeersTest(unittest.TestCase):
    def setUp(self):
        self.protocol = peers.Protocol(PROGRAM)

    def test_what_it_asks_the_program(self):
        self.assertEqual(self.protocol.columns[:2], ["variant", "pass"])
        self.assertEqual([self.protocol.rules[name] for name in ("tolerance_fp16", "tolerance_bf16", "precision")],
                         [0.002, 0.015, 0.005])
        for name in ("least_random_rows", "samples_a_placement", "most_placements", "samples_before_stopping", "largest_batch"):
            self.assertIsInstance(self.protocol.rules[name], int, name)

    def test_no_program_is_a_sentence(self):
        with self.assertRaisesRegex(peers.program.NotUsable, "none/attnprof: cannot be run: No such file"):
            peers.Protocol("none/attnprof")

    def test_the_gate_takes_its_rows(self):
        case = peers.Case("torch_flash", "bf16", "full", 1, 16, 16, 512, 512, 64)
        row = peers.identity(case, self.protocol,
                             {"schema": peers.SCHEMA, "run": "r", "env_id": "e", "backend": "gpu", "device": "GPU"})
        row.update(disposition="ok", verified="yes", latency_source="cuda_events", latency_median_ns="50000",
                   latency_ci95_low_ns="49900", latency_ci95_high_ns="50100")
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "peers.csv"
            with open(path, "w", newline="", encoding="utf-8") as file:
                writer = csv.DictWriter(file, self.protocol.columns, lineterminator="\n")
                writer.writeheader()
                writer.writerow(row)
            done = subprocess.run([PROGRAM, "gate", path, path], capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("1 of 1 row the same; 1 value compared", done.stdout)


if __name__ == "__main__":
    unittest.main()

"""peers.py writes files that attnprof reads: every column of the schema, in its order."""

import csv
import json
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
    def test_columns_are_the_schemas(self):
        listed = subprocess.run([PROGRAM, "list", "--columns", "--format", "json"], capture_output=True, text=True, check=True)
        self.assertEqual(peers.COLUMNS, [column["column"] for column in json.loads(listed.stdout)])

    def test_the_gate_takes_its_rows(self):
        case = peers.Case("torch_flash", "bf16", "full", 1, 16, 16, 512, 512, 64)
        row = peers.identity(case, {"schema": peers.SCHEMA, "run": "r", "env_id": "e", "backend": "gpu", "device": "GPU"})
        row.update(disposition="ok", verified="yes", latency_source="cuda_events", latency_median_ns="50000",
                   latency_ci95_low_ns="49900", latency_ci95_high_ns="50100")
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "peers.csv"
            with open(path, "w", newline="", encoding="utf-8") as file:
                writer = csv.DictWriter(file, peers.COLUMNS, lineterminator="\n")
                writer.writeheader()
                writer.writerow(row)
            done = subprocess.run([PROGRAM, "gate", path, path], capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("1 row and 1 value compared", done.stdout)


if __name__ == "__main__":
    unittest.main()

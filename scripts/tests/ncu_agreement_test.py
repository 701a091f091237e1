"""ncu_agreement.py: which cases it takes, and what it makes of Nsight Compute's metrics."""

import contextlib
import csv
import io
import json
import pathlib
import sys
import tempfile
import unittest

SCRIPTS = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(SCRIPTS))

import ncu_agreement as ncu  # noqa: E402


def row(**cells):
    return dict.fromkeys(ncu.IDENTITY, "1") | {"disposition": "ok"} | cells


def kernel(compute, memory, **parts):
    """Metrics of a kernel; parts: of a breakdown, `__` for a dot."""
    return {ncu.DURATION: 1000.0, ncu.BREAKDOWNS[0]: compute, ncu.BREAKDOWNS[1]: memory} | parts


class Chosen(unittest.TestCase):
    def test_evenly_spaced_among_what_is_ok_and_by_identity_alone(self):
        rows = [row(variant=name, latency_median_ns=str(i)) for i, name in enumerate("dbcahgfe")]
        rows[0]["disposition"] = "failed"
        taken = ncu.chosen(rows, 3)
        self.assertEqual([r["variant"] for _, r in taken], ["b", "e", "g"])
        self.assertEqual([line for line, _ in taken], [3, 9, 7])
        shuffled = ncu.chosen(list(reversed(rows)), 3)
        self.assertEqual([r["variant"] for _, r in shuffled], ["b", "e", "g"])

    def test_no_more_than_there_are(self):
        self.assertEqual(len(ncu.chosen([row(), row(variant="2")], 40)), 2)

    def test_a_tile_that_was_asked_for_is_asked_for_again(self):
        self.assertIn("--br", ncu.sweep_options(row(tile="128x64")))
        self.assertNotIn("--br", ncu.sweep_options(row(tile="auto")))


class Verdict(unittest.TestCase):
    def test_the_highest_metric_names_the_resource(self):
        for metric, resource in {"sm__pipe_tensor_op_hmma_cycles_active.avg.pct": "tensor", "sm__inst_executed_pipe_xu.avg.pct": "exp",
                                 "sm__pipe_fma_cycles_active.avg.pct": "fma", "dram__throughput.avg.pct": "hbm", "lts__t_sectors.avg.pct": "l2",
                                 "l1tex__m_xbar2l1tex_read_sectors.avg.pct": "l2", "l1tex__data_pipe_lsu_wavefronts.avg.pct": "smem",
                                 "sm__inst_issued.avg.pct": "issue"}.items():
            name, top, share, _ = ncu.verdicts(kernel(70.0, 30.0, **{metric: 70.0, "other": 10.0}))
            self.assertEqual((name, top, share), (resource, metric, 70.0))

    def test_little_of_everything_is_latency(self):
        self.assertEqual(ncu.verdicts(kernel(20.0, 10.0, dram=20.0))[0], "latency")

    def test_the_rule_of_nsight_compute(self):
        self.assertEqual(ncu.verdicts(kernel(50.0, 40.0, dram=50.0))[3], "latency")
        self.assertEqual(ncu.verdicts(kernel(61.0, 40.0, dram=50.0))[3], "compute")
        self.assertEqual(ncu.verdicts(kernel(61.0, 70.0, dram=50.0))[3], "memory")


class Compare(unittest.TestCase):
    def compare(self, binds):
        with tempfile.TemporaryDirectory() as folder:
            table, explained = pathlib.Path(folder, "ncu.csv"), pathlib.Path(folder, "explain.json")
            with open(table, "w", newline="", encoding="utf-8") as file:
                writer = csv.writer(file)
                writer.writerow(["line", "case", "step", "kernel", "metric", "value"])
                for step, duration, dram, tensor in [(0, 10, 90, 5), (1, 1000, 5, 80)]:
                    values = {ncu.DURATION: duration, ncu.BREAKDOWNS[0]: tensor, ncu.BREAKDOWNS[1]: dram, "dram__t": dram, "sm__pipe_tensor": tensor}
                    writer.writerows([2, "a case", step, f"k{step}", name, value] for name, value in values.items())
            explained.write_text(json.dumps({"cases": [{"line": 2, "binds": binds}]}), encoding="utf-8")
            with contextlib.redirect_stdout(io.StringIO()) as out:
                code = ncu.compare(type("Options", (), {"ncu": table, "explain": explained}))
        return code, out.getvalue()

    def test_the_longest_step_speaks(self):
        code, text = self.compare("tensor")
        self.assertEqual(code, 0)
        self.assertIn("1 of 1 cases agree (100 %)", text)

    def test_disagreements_are_marked(self):
        code, text = self.compare("hbm")
        self.assertEqual(code, 1)
        self.assertIn("DISAGREES", text)


if __name__ == "__main__":
    unittest.main()

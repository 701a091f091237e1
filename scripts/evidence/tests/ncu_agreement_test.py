"""ncu_agreement.py: which cases it takes, and what it makes of Nsight Compute's metrics."""

import contextlib
import csv
import io
import json
import pathlib
import sys
import tempfile
import unittest

EVIDENCE = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(EVIDENCE))

import ncu_agreement as ncu  # noqa: E402


IDENTITY = {"variant": "flash2", "dtype": "fp16", "mask": "full", "batch": 1, "q_len": 512, "head_dim": 64}


def row(**cells):
    return dict.fromkeys(ncu.IDENTITY, "1") | {"disposition": "ok"} | cells


def kernel(**parts):
    """Metrics of a kernel, by their names without the suffix."""
    return {ncu.DURATION: 1000.0} | {name + ncu.SUFFIX: share for name, share in parts.items()}


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


class Bottlenecks(unittest.TestCase):
    def test_the_highest_metric_names_the_resource(self):
        for resource, metrics in ncu.RESOURCES.items():
            for metric in metrics:
                others = {other[0]: 10.0 for name, other in ncu.RESOURCES.items() if name != resource}
                expected = ["latency"] if resource == "issue" else [resource]
                self.assertEqual(ncu.bottlenecks(kernel(**{metric: 70.0}, **others)), expected)

    def test_what_is_as_high_binds_too(self):
        both = kernel(sm__pipe_tensor_cycles_active=58.0, sm__inst_executed_pipe_xu=58.1, dram__cycles_active=55.0)
        self.assertEqual(ncu.bottlenecks(both), ["exp", "tensor"])

    def test_little_of_everything_is_latency(self):
        self.assertEqual(ncu.bottlenecks(kernel(dram__cycles_active=20.0)), ["latency"])
        self.assertTrue(ncu.same("launch", ["latency"]))
        self.assertFalse(ncu.same("hbm", ["latency"]))


class Compare(unittest.TestCase):
    def compare(self, binds):
        with tempfile.TemporaryDirectory() as folder:
            table, explained = pathlib.Path(folder, "ncu.csv"), pathlib.Path(folder, "explain.json")
            with open(table, "w", newline="", encoding="utf-8") as file:
                writer = csv.writer(file)
                writer.writerow(["line", "case", "step", "kernel", "metric", "value"])
                for step, duration, dram, tensor in [(0, 10, 90, 5), (1, 1000, 5, 80)]:
                    values = kernel(dram__cycles_active=dram, sm__pipe_tensor_cycles_active=tensor) | {ncu.DURATION: duration}
                    writer.writerows([2, "a case", step, f"k{step}", name, value] for name, value in values.items())
            explained.write_text(json.dumps({"cases": [{"line": 2, "binds": binds, "identity": IDENTITY, "resources": [{"name": "tensor", "share": 0.7}]}]}), encoding="utf-8")
            with contextlib.redirect_stdout(io.StringIO()) as out:
                code = ncu.compare(type("Options", (), {"ncu": table, "explain": explained}))
        return code, out.getvalue()

    def test_the_longest_step_speaks(self):
        code, text = self.compare("tensor")
        self.assertEqual(code, 0)
        self.assertIn("1 of 1 cases agree (100 %)", text)

    def test_latency_with_latency_is_told_apart(self):
        said = [("latency", ["latency"])] * 10 + [("launch", ["latency"]), ("tensor", ["tensor"]), ("hbm", ["latency"]), ("hbm", ["exp"])]
        self.assertEqual(ncu.told_apart(said), "both say latency: 11; of the others 1 of 3 agree (33 %)")
        self.assertIn("both say latency: 0; of the others 1 of 1 agree (100 %)", self.compare("tensor")[1])

    def test_what_the_cases_span_is_told(self):
        shapes = [IDENTITY | {"q_len": length} for length in (16384, 512)]
        self.assertEqual(ncu.spread_text(shapes), "cases: variant flash2; dtype fp16; mask full; batch 1; q_len 512 16384; head_dim 64")

    def test_disagreements_are_marked(self):
        code, text = self.compare("hbm")
        self.assertEqual(code, 1)
        self.assertIn("DISAGREES", text)


if __name__ == "__main__":
    unittest.main()

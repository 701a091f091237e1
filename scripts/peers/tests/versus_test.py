"""versus.py's table on rows made here, and its run: attnprof simulated, PyTorch's side measured by peers.py on a device of fake_torch.py."""

import contextlib
import csv
import io
import os
import pathlib
import sys
import tempfile
import types
import unittest
from unittest import mock

PEERS = pathlib.Path(__file__).resolve().parent.parent
sys.path[:0] = [str(PEERS), str(PEERS / "tests")]

import fake_torch  # noqa: E402
import peers  # noqa: E402
import turns  # noqa: E402
import versus  # noqa: E402

PROGRAM = os.environ["ATTNPROF_BUILD_DIR"] + "/attnprof"
COLUMNS = ["latency_ci95_high_ns", "flags", "drift_pct", "variant", "dtype", "mask", "batch", "heads", "kv_heads", "q_len", "head_dim",
           "disposition", "reason", "rel_err", "latency_median_ns", "latency_min_ns", "latency_ci95_low_ns"]  # in no order that counts

COLD_NS = {"flash": 5e6, "cudnn": 4e6, "math": 9e6, "fa3": 3e6, "three": 7e6}


def backend_of(each):
    """A row's name in COLD_NS."""
    return each["variant"].removeprefix("torch_").removesuffix("_kernels")


def row(variant, shape, median, dtype="bf16", **changes):
    cells = shape._asdict() | {"variant": variant, "dtype": dtype, "disposition": "ok", "reason": "", "flags": "", "rel_err": "0.002",
                               "latency_median_ns": median, "latency_min_ns": median, "latency_ci95_low_ns": median * 0.99,
                               "latency_ci95_high_ns": median * 1.01}
    return cells | changes


class VersusTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def write(self, name, rows):
        with open(self.folder / name, "w", newline="", encoding="utf-8") as file:
            writer = csv.DictWriter(file, COLUMNS)
            writer.writeheader()
            writer.writerows(rows)

    def report(self, function=versus.report_times, lengths=versus.LENGTHS):
        out = io.StringIO()
        with contextlib.redirect_stdout(out):
            reached = function(self.folder, lengths)
        return reached, out.getvalue()

    def all_rows(self, flash2=100.0, flash3=60.0, fp8=40.0, standard=300.0):
        shapes = versus.grid(versus.LENGTHS)
        ours = [row("flash2", shape, flash2) for shape in shapes] + [row("flash3", shape, flash3) for shape in shapes]
        ours += [row("standard", shape, standard) for shape in shapes if shape.q_len <= 2048]
        ours += [row("flash3", shape, fp8, "fp8") for shape in versus.fp8_shapes(versus.LENGTHS)]
        theirs = [row(name, shape, median) for shape in shapes
                  for name, median in (("torch_flash", 101.0), ("torch_cudnn", 61.0), ("fa3", 60.6), ("torch_math", 330.0),
                                       ("three_kernels", 315.0))]
        return ours, theirs

    def test_figures_that_are_reached(self):
        ours, theirs = self.all_rows()
        self.write("versus.csv", ours)
        self.write("versus_peers.csv", theirs)
        reached, text = self.report()
        self.assertTrue(reached, text)
        for figure in ("flash2 / torch_flash: geometric mean 1.010 of 36,", "flash3 / torch_cudnn: geometric mean 1.017 of 36,",
                       "flash3 / fa3: geometric mean 1.010 of 36 with each capped at 1.10 (1.010 without), must reach 1.00",
                       "flash3 / fa3 or torch_cudnn: geometric mean 1.010 of 36,", "standard / three_kernels: geometric mean 1.050 of 18,",
                       "standard / torch_math: geometric mean 1.100 of 18,", "flash3 fp8 / flash3: lowest 1.500"):
            self.assertIn(figure, text)
        self.assertNotIn("MISSED", text)

    def test_no_shape_is_left_out(self):
        for comparison in versus.comparisons(versus.LENGTHS, plugin=True):
            shapes = set(versus.grid(versus.LENGTHS))
            if comparison.ours == "standard":  # more does not fit beside S and P
                shapes = {shape for shape in shapes if shape.q_len <= versus.UNFUSED_UP_TO}
            elif comparison.ours == "flash3 fp8":
                shapes = set(versus.fp8_shapes(versus.LENGTHS))
            self.assertEqual(set(comparison.shapes), shapes, comparison.name)

    def test_a_short_shape_counts_like_any_other(self):
        ours, theirs = self.all_rows()
        short = versus.shape_of("causal", 64, 512)
        self.write("versus.csv", [each | {"latency_median_ns": 120.0} if (each["variant"], each["q_len"], each["mask"], each["head_dim"]) ==
                                  ("flash3", 512, "causal", 64) else each for each in ours])
        self.write("versus_peers.csv", theirs)
        reached, text = self.report()
        self.assertFalse(reached)
        self.assertIn(f"flash3 / torch_cudnn: lowest 0.508 ({versus.shape_text(short)}) of 36", text)

    def test_rows_of_a_clock_that_moved_are_counted(self):
        ours, theirs = self.all_rows()
        for each in ours:
            each["drift_pct"] = "0.1"
        ours[0]["flags"], ours[1]["flags"], ours[2]["flags"] = "drift;throttled", "throttled;imprecise", "gpu_shared"
        self.write("versus.csv", ours)
        self.write("versus_peers.csv", theirs)
        _, text = self.report()
        self.assertIn("drift or throttled in any turn: 2 of 36 shapes of flash2, not told of torch_flash", text)
        self.assertIn("drift or throttled in any turn: 0 of 36 shapes of flash3, not told of torch_cudnn", text)
        theirs[0].update(drift_pct="4", flags="drift")
        theirs[1].update(drift_pct="0.1", flags="throttled")
        theirs[5].update(drift_pct="0.1")
        self.write("versus_peers.csv", theirs)
        self.assertIn("2 of 36 shapes of flash2, 1 of 2 shapes of torch_flash", self.report()[1])

    def test_a_shape_far_ahead_does_not_make_up_for_others(self):
        ours, theirs = self.all_rows()
        for each in theirs:
            if each["variant"] == "fa3":
                each["latency_median_ns"] = 600.0 if each["q_len"] == 512 else 58.0
        self.write("versus.csv", ours)
        self.write("versus_peers.csv", theirs)
        reached, text = self.report()
        self.assertFalse(reached)
        self.assertIn("MISSED    flash3 / fa3: geometric mean 0.988 of 36 with each capped at 1.10 (1.427 without), must reach 1.00", text)

    def test_of_several_peers_the_fastest_of_each_shape_counts(self):
        ours, theirs = self.all_rows()
        for each in theirs:
            if (each["variant"], each["mask"]) == ("torch_cudnn", "causal"):
                each["latency_median_ns"] = 54.0
        theirs[2].update(disposition="failed", reason="no kernel", latency_median_ns="")
        self.write("versus.csv", ours)
        self.write("versus_peers.csv", theirs)
        text = self.report()[1]
        self.assertIn("flash3 / fa3 or torch_cudnn: lowest 0.900 (d64 causal N512 b32 h32) of 35, 1 not measured", text)
        self.assertIn("fa3 or torch_cudnn failed: no kernel", text)

    def test_what_is_no_peer_is_only_reported(self):
        ours, theirs = self.all_rows(standard=1e6)
        for each in theirs:
            if each["variant"] == "three_kernels":
                each["latency_median_ns"] = 2e6
        self.write("versus.csv", ours)
        self.write("versus_peers.csv", theirs)
        reached, text = self.report()
        self.assertTrue(reached, text)
        self.assertIn("reported  standard / torch_math: geometric mean 0.000 of 18, only reported: torch_math multiplies without", text)

    def test_a_case_under_the_floor_is_named(self):
        ours, theirs = self.all_rows()
        ours[5] = row("flash2", versus.grid(versus.LENGTHS)[5], 200.0)
        self.write("versus.csv", ours)
        self.write("versus_peers.csv", theirs)
        reached, text = self.report()
        self.assertFalse(reached)
        self.assertIn("under it: d64 full N16384 b1 h32 0.505", text)
        self.assertIn("0.505 *", text)

    def test_the_plug_in_is_held_to_what_pytorch_calls(self):
        ours, theirs = self.all_rows()
        self.write("versus_peers.csv", theirs)
        plugin = [row("cudnn", shape, 60.0) for shape in versus.grid(versus.LENGTHS)]
        self.write("versus.csv", ours + plugin)
        reached, text = self.report()
        self.assertTrue(reached, text)
        self.assertIn("cudnn / torch_cudnn: fastest samples, furthest from 1 1.017 (d64 full N512 b32 h32) of 36, within 3 %", text)
        plugin[0]["latency_median_ns"] = 66.0  # as under a power limit
        self.write("versus.csv", ours + plugin)
        self.assertTrue(self.report()[0])
        plugin[1] = row("cudnn", versus.grid(versus.LENGTHS)[1], 63.0)
        plugin[2].update(disposition="failed", reason="no plan")
        self.write("versus.csv", ours + plugin)
        reached, text = self.report()
        self.assertFalse(reached)
        self.assertIn("of 35, 1 not measured, within 3 %; beyond it: d64 full N1024 b16 h32 0.968", text)

    def test_rows_that_are_missing_or_not_ok_are_no_ratio(self):
        ours, theirs = self.all_rows()
        theirs[0].update(disposition="failed", reason="no kernel", latency_median_ns="", latency_ci95_low_ns="")
        self.write("versus.csv", [each for each in ours if each["variant"] != "flash3"])
        self.write("versus_peers.csv", theirs)
        reached, text = self.report()
        self.assertFalse(reached)
        self.assertIn("torch_flash failed: no kernel", text)
        self.assertIn("of 35, 1 not measured", text)
        self.assertIn("flash3 / torch_cudnn: not measured (flash3 not measured)", text)

    def test_of_several_turns_medians_count_and_their_span_is_the_interval(self):
        shape = versus.shape_of("full", 64, 512)
        self.write("versus.csv", [row("flash2", shape, median, flags=flags)
                                  for median, flags in ((90.0, "drift"), (300.0, ""), (100.0, "throttled;drift"))])
        self.write("versus_peers.csv", [row("torch_flash", shape, median) for median in (120.0, 110.0, 100.0)])
        rows = versus.read_rows(self.folder / "versus.csv", self.folder / "versus_peers.csv")
        self.assertEqual(rows["flash2", shape]["flags"], "drift;throttled")
        ratio = versus.ratio_of(rows, versus.comparisons(versus.LENGTHS)[0], shape)
        self.assertAlmostEqual(ratio.value, 110 / 100)
        self.assertAlmostEqual(ratio.low, 100 / 300)
        self.assertAlmostEqual(ratio.high, 120 / 90)
        self.write("versus.csv", [row("flash2", shape, 90.0), row("flash2", shape, 90.0, disposition="failed", reason="lost")])
        rows = versus.read_rows(self.folder / "versus.csv")
        self.assertEqual(rows["flash2", shape]["reason"], "lost", "a turn that failed hides behind none that did not")

    def test_turns_come_in_orders_of_their_own(self):
        shapes = versus.grid(versus.LENGTHS)
        first, second = turns.order(shapes, "1 0"), turns.order(shapes, "1 1")
        self.assertEqual(sorted(first), sorted(shapes))
        self.assertNotEqual(first, second)
        self.assertNotEqual(first, shapes)
        self.assertEqual(first, turns.order(shapes, "1 0"))

    def test_the_interval_of_one_turn(self):
        shape = versus.shape_of("full", 64, 512)
        self.write("versus.csv", [row("flash2", shape, 100.0)])
        self.write("versus_peers.csv", [row("torch_flash", shape, 110.0)])
        rows = versus.read_rows(self.folder / "versus.csv", self.folder / "versus_peers.csv")
        ratio = versus.ratio_of(rows, versus.comparisons(versus.LENGTHS)[0], shape)
        self.assertAlmostEqual(ratio.value, 1.1)
        self.assertAlmostEqual(ratio.low, 110 * 0.99 / (100 * 1.01))
        self.assertAlmostEqual(ratio.high, 110 * 1.01 / (100 * 0.99))

    def test_errors_are_held_against_the_peers(self):
        shapes = versus.error_shapes(versus.LENGTHS)
        exact = [{"rel_err": "0"} if shape.q_len == 1 else {} for shape in shapes]
        self.write("errors.csv", [row(name, shape, 1.0, **same) for name in ("flash2", "flash3")
                                  for shape, same in zip(shapes, exact)])
        self.write("errors_peers.csv", [row("torch_flash", shape, 1.0, **same) for shape, same in zip(shapes, exact)])
        reached, text = self.report(versus.report_errors, versus.ERROR_LENGTHS)
        self.assertTrue(reached, text)
        self.assertIn("rel_err of flash2 / torch_flash: largest 1.000 of 48, at most 1.2", text)
        self.write("errors.csv", [row("flash2", shape, 1.0, rel_err="0.0025") for shape in shapes])
        reached, text = self.report(versus.report_errors, versus.ERROR_LENGTHS)
        self.assertFalse(reached)
        self.assertIn("d64 full N129 b2 h16/2 1.250", text)
        self.assertIn("rel_err of flash3 / torch_flash: not measured", text)

    def test_exact_on_both_sides_is_a_ratio_of_one(self):
        self.assertEqual(versus.error_ratio({"rel_err": "0"}, {"rel_err": "0"}), 1.0)
        self.assertEqual(versus.error_ratio({"rel_err": "3e-16"}, {"rel_err": "1e-16"}), 1.0)
        self.assertGreater(versus.error_ratio({"rel_err": "1e-3"}, {"rel_err": "0"}), versus.ERROR_SLACK)
        self.assertIsNone(versus.error_ratio({"rel_err": ""}, {"rel_err": "0"}))

    # The program, on the simulator: what attnprof is asked for is what it takes.
    def simulated_build(self):
        build = self.folder / "build"
        build.mkdir()
        wrapper = build / "attnprof"
        wrapper.write_text('#!/bin/sh\n[ "$1" = compile ] && exit 0\n'
                           'case "$*" in *--plugin*) exit 2 ;; esac\nfirst=1\nfor word; do\n'
                           '  [ $first = 1 ] && set -- && first=0\n  [ "$word" = gpu ] && word=sim\n  set -- "$@" "$word"\n'
                           f'done\nexec "{PROGRAM}" "$@"\n', encoding="utf-8")
        wrapper.chmod(0o755)
        return build

    def run_small(self, *more, device=None):
        self.device = device or fake_torch.Device(COLD_NS)
        modules = fake_torch.make(self.device)
        small = {"TOKENS": 256, "HIDDEN": 256, "LENGTHS": (128,), "ERROR_LENGTHS": (128,), "ODD_LENGTHS": (1, 33), "REST_S": 0}
        out = io.StringIO()
        with mock.patch.multiple(versus, **small), mock.patch.object(peers, "import_torch", lambda: modules["torch"]), \
                mock.patch.dict(sys.modules, modules), mock.patch.object(peers, "time", types.SimpleNamespace(monotonic=lambda: self.device.now_ns / 1e9)), \
                contextlib.redirect_stdout(out), contextlib.redirect_stderr(io.StringIO()) as err:
            code = versus.main([str(self.folder / "build"), str(self.folder / "out"), *more])
        return code, out.getvalue(), err.getvalue()

    def rows_of(self, name):
        with open(self.folder / "out" / name, newline="", encoding="utf-8") as file:
            return list(csv.DictReader(file))

    def test_a_run_measures_every_case_of_both(self):
        self.simulated_build()
        _, text, err = self.run_small("--turns", "2")
        self.assertNotIn("exited", err)
        ours = self.rows_of("versus.csv")
        shapes = {(each["mask"], each["head_dim"]) for each in ours if each["variant"] == "flash2"}
        self.assertEqual(len(shapes), 6)
        self.assertTrue(all(each["dtype"] == "bf16" and each["batch"] == "2" for each in ours))
        self.assertEqual(sum(each["variant"] == "standard" for each in ours), 2 * 6)
        theirs = self.rows_of("versus_peers.csv")
        self.assertEqual(len(theirs), 2 * 6 * 5)
        self.assertNotEqual([each["variant"] for each in theirs[:5]], [each["variant"] for each in theirs[30:35]])
        for each in theirs:  # as peers.py timed them: cold, and nothing but the call between a sample's events
            self.assertEqual((each["disposition"], each["verified"]), ("ok", "yes"), each)
            self.assertAlmostEqual(float(each["latency_median_ns"]), COLD_NS[backend_of(each)], delta=0.01)
            self.assertEqual(each["samples"], "32")
        self.assertIn("flash2 / torch_flash: geometric mean", text)
        self.assertTrue((self.folder / "out" / "versus_peers.csv.meta.json").exists())
        code, _, err = self.run_small()
        self.assertEqual(code, 2)
        self.assertIn("versus.csv exists", err)
        self.assertEqual(self.run_small("--report")[1], text)

    def test_a_peer_that_is_wrong_or_unable_has_no_ratio(self):
        self.simulated_build()
        _, text, _ = self.run_small(device=fake_torch.Device(COLD_NS, wrong=("flash",), unable=("cudnn",)))
        by_name = {}
        for each in self.rows_of("versus_peers.csv"):
            by_name.setdefault(each["variant"], set()).add((each["disposition"], each["verified"], each["latency_median_ns"] != ""))
        self.assertEqual(by_name, {"torch_flash": {("incorrect", "no", False)}, "torch_cudnn": {("failed", "unchecked", False)},
                                   "fa3": {("ok", "yes", True)}, "three_kernels": {("ok", "yes", True)}, "torch_math": {("ok", "yes", True)}})
        self.assertIn("flash2 / torch_flash: not measured (torch_flash incorrect", text)
        self.assertIn("torch_cudnn failed: cudnn does not take this", text)

    def test_earlier_rows_outlive_a_run_that_cannot_start(self):
        self.simulated_build()
        earlier = self.folder / "out" / "versus.csv"
        earlier.parent.mkdir()
        earlier.write_text("rows", encoding="utf-8")
        with mock.patch.object(peers, "import_torch", side_effect=SystemExit(3)), self.assertRaises(SystemExit):
            versus.main([str(self.folder / "build"), str(earlier.parent), "--overwrite"])
        self.assertEqual(earlier.read_text(encoding="utf-8"), "rows")

    def test_errors_are_of_all_shapes(self):
        self.simulated_build()
        _, text, err = self.run_small("--errors")
        self.assertNotIn("exited", err)
        ours = [each for each in self.rows_of("errors.csv") if each["variant"] == "flash2"]
        self.assertEqual(len(ours), 6 + 12)
        self.assertEqual({each["kv_heads"] for each in ours if each["q_len"] in ("1", "33")}, {"2"})
        self.assertIn("of 18", text)


class PeersTest(unittest.TestCase):
    def test_rows_are_those_that_attnprof_samples(self):
        case = peers.Case("torch_flash", "bf16", "full", 2, 3, 3, 100, 100, 64)
        rows = peers.rows_to_verify(case, full=False, seed=1, least_random_rows=64)
        self.assertEqual(len(rows), 6)
        self.assertEqual([rows[key][0] for key in sorted(rows)], [99, 0, 99, 0, 99, 0])
        self.assertTrue(all(len(chosen) == 1 + 64 // 6 for chosen in rows.values()))
        self.assertEqual(len(peers.rows_to_verify(case, full=True, seed=1, least_random_rows=64)[1, 2]), 100)

    def test_samples_end_where_attnprof_ends_them(self):
        scattered = [100.0 + index % 10 for index in range(32)]
        self.assertFalse(peers.enough([100.0] * 31, 32, 0.005, 9, 1))
        self.assertTrue(peers.enough([100.0] * 32, 32, 0.005, 0, 1))
        self.assertFalse(peers.enough(scattered, 32, 0.005, 0, 1))
        self.assertTrue(peers.enough(scattered, 32, 0.005, 1, 1))
        self.assertTrue(peers.enough(scattered, 32, 0.05, 0, 1))

    def test_cases_of_unequal_lengths_and_grouped_heads(self):
        options = peers.parse_arguments(["-o", "x", "-q", "1,100", "-k", "1000", "--kv-heads", "2", "-d", "256",
                                         "--backends", "torch_efficient"])
        found = list(peers.cases(options))
        self.assertEqual([(case.q_len, case.kv_len, case.kv_heads) for case in found], [(1, 1000, 2), (100, 1000, 2)])
        protocol = peers.Protocol(PROGRAM)
        row_of_one = peers.identity(found[1], protocol, {})
        self.assertEqual(row_of_one["io_lower_bound_bytes"], 2 * (2 * 16 * 100 + 2 * 2 * 1000) * 256)
        self.assertEqual(row_of_one["useful_flops"], 4 * 256 * 100 * 1000 * 16)
        causal = peers.Case("torch_flash", "bf16", "causal", 1, 1, 1, 5, 2, 64)
        self.assertEqual(protocol.amounts(causal)["useful_flops"], 4 * 64 * (0 + 0 + 0 + 1 + 2), "aligned to the bottom right")


if __name__ == "__main__":
    unittest.main()

"""check_figures.py: nothing measured is not a pass, a figure that is missed fails."""

import csv
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

EVIDENCE = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(EVIDENCE))
sys.path.insert(0, str(EVIDENCE.parent / "peers"))

import joined  # noqa: E402
import versus  # noqa: E402

KEPT = EVIDENCE.parents[1] / "results/h200/sweeps"
PROGRAM = os.environ["ATTNPROF_BUILD_DIR"] + "/attnprof"

PROBLEM = {"dtype": "bf16", "mask": "full", "batch": 8, "heads": 16, "kv_heads": 16, "q_len": 2048, "kv_len": 2048,
           "head_dim": 128, "tile": "auto", "knobs": "-", "cache": "cold", "disposition": "ok", "reason": "", "flags": "",
           "verified": "yes"}
CLEAN = {"memcheck": "ERROR SUMMARY: 0 errors", "racecheck": "RACECHECK SUMMARY: 0 hazards displayed (0 errors, 0 warnings)",
         "initcheck": "ERROR SUMMARY: 0 errors", "synccheck": "ERROR SUMMARY: 0 errors"}


class CheckFiguresTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def check(self, folder=None):
        return subprocess.run([sys.executable, EVIDENCE / "check_figures.py", PROGRAM, folder or self.folder], capture_output=True,
                              text=True, check=False)

    def write(self, name, rows):
        with open(self.folder / name, "w", newline="", encoding="utf-8") as file:
            writer = csv.DictWriter(file, list(rows[0]))
            writer.writeheader()
            writer.writerows(rows)

    def line(self, figure, done=None):
        """(state, text) of the one line of a figure."""
        found = [line for line in (done or self.check()).stdout.splitlines() if line[6:].startswith(figure)]
        self.assertEqual(len(found), 1, found)
        return found[0][:4].strip(), found[0][6 + len(figure):].strip()

    def test_nothing_measured(self):
        for place in (self.folder, self.folder / "none"):
            done = self.check(place)
            self.assertEqual(done.returncode, 2, done.stdout)
            self.assertIn("nothing was measured", done.stderr)

    def test_a_figure_that_is_reached_and_one_that_is_missed(self):
        for ratio, code in (("1.001", 0), ("1.02", 1)):
            self.write("selftest.csv", [{"operation": "copy", "read_ratio": ratio, "settled_write_bytes": 1000,
                                         "true_write_bytes": 1000}])
            self.assertEqual(self.check().returncode, code)

    def test_kernels_of_ones_own(self):
        (self.folder / "own_kernel").mkdir()
        row = PROBLEM | {"latency_median_ns": 1000, "hbm_bytes": 1000}
        for name in ("variant_file", "variant_file_gqa", "plugin", "cudnn"):
            self.write(f"own_kernel/{name}.csv", [row])
        self.write("own_kernel/beyond.csv", [row | {"disposition": "failed", "reason": "wrote 16 bytes beyond O, which"}])
        figure = "variant file, plug-in, cudnn: verified, timed, counted"
        self.assertEqual(self.line(figure), ("ok", "4 of 4 rows"))
        self.assertEqual(self.line("own kernel that is wrong: beyond")[0], "ok")
        self.assertEqual(self.line("own kernel that is wrong: hangs_in_prepare")[0], "----")
        self.write("own_kernel/plugin.csv", [row, row | {"hbm_bytes": ""}])
        self.write("own_kernel/beyond.csv", [row])
        done = self.check()
        self.assertEqual(self.line(figure, done), ("MISS", "4 of 5 rows"))
        self.assertEqual(self.line("own kernel that is wrong: beyond", done)[0], "MISS")

    def test_two_commits_that_differ_miss(self):
        self.assertEqual(self.line("before and after house")[0], "----")
        kept = EVIDENCE.parents[1] / "results/h200/evidence/house.csv"
        for part in joined.rows_by_part(kept):
            joined.write_part(kept, part, self.folder / f"{part}.csv")
        for figure in ("six sweeps", "gate --latency 2%", "sm_bytes equal", "kernel_hash equal"):
            self.assertEqual(self.line(f"before and after house: {figure}")[0], "ok")
        after = self.folder / "house/after_2.csv"
        columns, rows = joined.read_csv(after)
        rows[0]["sm_bytes"] = str(int(int(rows[0]["sm_bytes"]) * 1.01))
        joined.write_csv(after, columns, rows)
        done = self.check()
        self.assertTrue(self.line("before and after house: gate --latency 2%", done)[1].startswith("2 of 3 pairs pass"), done.stdout)
        self.assertEqual(self.line("before and after house: sm_bytes equal", done), ("MISS", "39 of 40 rows, in all sweeps"))
        self.assertEqual(self.line("before and after house: kernel_hash equal", done)[0], "ok")
        joined.write_csv(after, columns, rows[1:])
        self.assertEqual(self.line("before and after house")[0], "MISS")

    def test_a_trace_that_misses_is_named(self):
        (self.folder / "trace").mkdir()
        state, text = self.line("trace: sweeps, plug-in, exact FLOPs, Nsight Compute, slowdown")
        self.assertEqual(state, "MISS")
        self.assertIn("SDPA flash", text)

    def test_the_model_of_one_variant_is_enough(self):
        row = PROBLEM | {"variant": "flash3", "sm_bytes": 1000, "model_sm_bytes": 1000, "executed_tensor_flops": 5000,
                         "model_tensor_flops": 5000}
        for name in ("", "_wide", "_fp8"):
            self.write(f"model_flash3{name}.csv", [row] * 20)
        self.assertEqual(self.check().returncode, 0)
        self.write("model_flash3_fp8.csv", [row] * 19 + [row | {"executed_tensor_flops": 5006}])
        done = self.check()
        self.assertEqual(done.returncode, 1)
        self.assertEqual(self.line("flash3: sm_bytes against", done)[0], "ok")
        self.assertEqual(self.line("flash3: executed against", done)[0], "MISS")
        self.assertEqual(self.line("flash2: sm_bytes against", done)[0], "----")

    def test_spills_are_named(self):
        row = {"variant": "flash3", "step": "attention", "dtype": "bf16", "mask": "full", "head_dim": 128, "br": 128,
               "bc": 160, "registers": 168, "spill_bytes": 0, "error": ""}
        self.write("spills.csv", [row])
        self.assertEqual(self.line("spills of every default tile")[0], "ok")
        self.write("spills.csv", [row, row | {"spill_bytes": 24, "mask": "causal"}])
        done = self.check()
        self.assertEqual(self.line("spills of every default tile", done),
                         ("MISS", "2 kernels, 1 spill, 1 of them without a reason in notes-forward.md, 0 do not compile"))
        self.assertIn("flash3 128x160 bf16 causal d128: 24 bytes a thread", done.stdout)
        (self.folder / "notes-forward.md").write_text("| flash3 128x160 bf16 causal d128 | 24 | faster |\n", encoding="utf-8")
        self.assertEqual(self.line("spills of every default tile")[0], "ok")
        (self.folder / "notes-forward.md").write_text("| flash3 128x160 bf16 causal d128 | 16 | faster |\n", encoding="utf-8")
        self.assertEqual(self.line("spills of every default tile")[0], "MISS")  # the bytes are told too

    def test_fp8_with_outliers_has_a_limit_of_its_own(self):
        for name in ("lengths", "unequal", "tiles", "knobs", "many", "outliers"):
            self.write(f"correct_fp8_{name}.csv", [PROBLEM | {"variant": "flash3", "dtype": "fp8", "rel_err": 0.03}] * 30)
        self.assertEqual(self.check().returncode, 0)
        self.write("correct_fp8_outliers.csv", [PROBLEM | {"variant": "flash3", "dtype": "fp8", "rel_err": 0.051}] * 30)
        done = self.check()
        self.assertEqual(self.line("fp8 against fp64, normal inputs", done)[0], "ok")
        self.assertEqual(self.line("fp8 against fp64, inputs with outliers", done)[0], "MISS")

    def test_the_share_of_mma_sync(self):
        self.write("selftest.csv", [
            {"operation": "copy", "read_ratio": "1.0", "settled_write_bytes": 10, "true_write_bytes": 10, "tflops_per_s": "",
             "sm_clock_mhz": ""},
            {"operation": "mma_sync_bf16", "read_ratio": "", "settled_write_bytes": "", "true_write_bytes": "",
             "tflops_per_s": "600.0", "sm_clock_mhz": "1980"}])
        self.write("mma_share.csv", [PROBLEM | {
            "variant": "flash2", "useful_tflops_per_s": 300, "useful_flops": 1000, "executed_tensor_flops": 1100,
            "achieved_occupancy_pct": 12.5, "waves": 3.5, "tensor_pipe_pct": 54, "sm_clock_mhz": 1755}])
        done = self.check()
        self.assertEqual(done.returncode, 0, done.stdout)
        self.assertEqual(self.line("self-test reads within 0.5 %", done), ("ok", "worst 0.000 % of 1 rows"))
        self.assertIn("bf16 600.0 TFLOP/s at 1980 MHz", done.stdout)
        self.assertIn("50 % useful, 55 % executed, occupancy 12 %, 3.50 waves, tensor pipe 54 %, 1755 MHz", done.stdout)
        self.assertEqual(self.line("  flash1", done)[0], "----")

    def test_versus_is_held_to_its_figures(self):
        def cells(variant, shape, median):
            return shape._asdict() | {"variant": variant, "dtype": "bf16", "disposition": "ok", "reason": "",
                                      "flags": "drift" if variant == "flash2" else "", "drift_pct": "4" if variant == "flash2" else "",
                                      "latency_median_ns": median, "latency_ci95_low_ns": "", "latency_ci95_high_ns": ""}

        shapes = versus.grid(versus.LENGTHS)
        self.write("versus.csv", [cells("flash2", shape, 100) for shape in shapes])
        self.write("versus_peers.csv", [cells("torch_flash", shape, 101) for shape in shapes])
        done = self.check()
        self.assertEqual(done.returncode, 1)
        lines = [line for line in done.stdout.splitlines() if "flash2 / torch_flash" in line]
        self.assertEqual([line[:4].strip() for line in lines], ["ok", "ok"], done.stdout)
        self.assertIn("of 36, must reach 1.00; drift or throttled in any turn: 36 of 36 shapes of flash2, not told of torch_flash", lines[0])
        self.assertEqual(self.line("cudnn / torch_cudnn", done), ("----", "not measured: no row of the plug-in cudnn"))
        self.assertEqual(self.line("flash3 / torch_cudnn", done)[0], "MISS")
        self.assertEqual(self.line("beside PyTorch: errors", done)[0], "----")

    def kept(self, name, change):
        """A kept file of sweeps/, its rows changed."""
        columns, rows = joined.read_csv(KEPT / f"{name}.csv")
        joined.write_csv(self.folder / f"{name}.csv", columns, [change(row) for row in rows])
        shutil.copy(KEPT / f"{name}.csv.meta.json", self.folder)

    def test_default_tiles_that_are_off_are_named_one_by_one(self):
        self.kept("tiles", dict)
        for column in ("sm_bytes", "tensor FLOPs", "hbm_bytes"):
            self.assertEqual(self.line(f"default tiles, flash2: {column}")[0], "ok")
        self.kept("tiles", lambda row: row | ({"sm_bytes": str(int(row["sm_bytes"]) * 2), "spill_bytes": "24", "flags": "throttled"}
                                              if row["tile"] == "64x32" and row["mask"] == "full" else {}))
        done = self.check()
        state, text = self.line("default tiles, flash2: sm_bytes", done)
        self.assertEqual((state, text.split(", ", 1)[1]), ("MISS", "2 of 24 rows beyond; drift or throttled: 2"))
        self.assertEqual(done.stdout.count("24 bytes spilled a thread: flash2 64x32 fp16 full"), 2)
        self.assertEqual(self.line("default tiles, flash2: hbm_bytes", done)[0], "ok")

    def test_hbm_bytes_are_held_clear_of_l2_alone(self):
        near = self.line_of_tiles(lambda row: row | {"hbm_bytes": row["hbm_bytes"]})
        self.assertIn("0 of 12 rows beyond", near)
        doubled = self.line_of_tiles(lambda row: row | {"hbm_bytes": str(int(row["hbm_bytes"]) * 2)})
        self.assertIn("12 of 12 rows beyond", doubled)
        self.assertIn("12 of 12 rows beyond 10 %", self.line("  the same, re-used data 0.4 to 1.5 of L2")[1])

    def line_of_tiles(self, change):
        self.kept("tiles", change)
        return self.line("default tiles, flash2: hbm_bytes")[1]

    def test_the_scatter_between_processes(self):
        (self.folder / "gate").mkdir()
        row = PROBLEM | {"variant": "flash2", "latency_median_ns": 200000}
        for start, process in ((1, 1), (1, 2), (1, 3), (2, 1), (2, 2), (2, 3)):
            self.write(f"gate/a_{start}_{process}.csv", [row, row | {"q_len": 512, "latency_median_ns": 1000 * (100 + process * start)}])
        state, text = self.line("latency between 6 processes, gate (two starts)")
        self.assertEqual(state, "info")
        self.assertIn("largest 4.88 % of 2 cases", text)
        self.assertIn("drift or throttled: 0 of 12 rows", text)

    def test_what_the_gate_missed_is_missed(self):
        figures = [["A against A: failures", "0", "0", True], ["+2 % hbm_bytes", "always", "131 of 144", False], ["regression delay", "x", "-", None]]
        (self.folder / "gate_evidence.json").write_text(json.dumps({"figures": figures}), encoding="utf-8")
        done = self.check()
        self.assertEqual((done.returncode, self.line("gate: +2 % hbm_bytes", done)), (1, ("MISS", "131 of 144; must reach: always")))
        self.assertEqual(self.line("gate: A against A: failures", done)[0], "ok")

    def sanitizer_logs(self, changed=None, text=""):
        for tool, summary in CLEAN.items():
            for name in ("naive", "standard", "flash1", "flash2", "flash3", "flash3_fp8"):
                log = f"========= COMPUTE-SANITIZER\n========= {summary}\n"
                file = f"sanitizer_{tool}_{name}"
                (self.folder / f"{file}.log").write_text(text if file == changed else log, encoding="utf-8")
                self.write(f"{file}.csv", [PROBLEM | {"variant": name}])

    def test_sanitizer_reports_are_counted_for_each_tool_and_variant(self):
        self.sanitizer_logs()
        self.assertEqual(self.check().returncode, 0)
        self.sanitizer_logs("sanitizer_racecheck_flash3", "========= COMPUTE-SANITIZER\n"
                            "========= Error: Race reported between Write access at flash3\n"
                            "========= RACECHECK SUMMARY: 2 hazards displayed (2 errors, 0 warnings)\n"
                            "========= RACECHECK SUMMARY: 1 hazard displayed (0 errors, 1 warning)\n")
        done = self.check()
        self.assertEqual(done.returncode, 1)
        self.assertEqual(self.line("racecheck flash3  ", done), ("MISS", "3 reports, 1 of 1 cases ok; first: Error: Race "
                                                                "reported between Write access at flash3"))
        self.assertEqual(self.line("racecheck flash3_fp8", done)[0], "ok")
        self.sanitizer_logs("sanitizer_memcheck_flash1", "========= COMPUTE-SANITIZER\nkilled\n")
        self.assertIn("no summary", self.line("memcheck flash1")[1])


if __name__ == "__main__":
    unittest.main()

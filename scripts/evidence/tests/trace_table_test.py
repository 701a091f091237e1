"""trace_table.py on made-up measurements, and the scripts around it as far as they go without a GPU."""

import contextlib
import csv
import io
import pathlib
import subprocess
import sys
import tempfile
import unittest

EVIDENCE = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(EVIDENCE))

import trace_table  # noqa: E402

FLOPS = trace_table.useful_flops()
COLUMNS = ["variant", "knobs", "samples", "latency_median_ns", "sm_bytes", "hbm_bytes", "local_bytes", "hbm_read_bytes",
           "sm_read_bytes", "sm_write_bytes", "executed_tensor_flops", "registers", "spill_bytes"]


def row(**cells):
    return {"samples": 24, "latency_median_ns": 1000, "sm_bytes": 500, "hbm_bytes": 300, "local_bytes": 0,
            "hbm_read_bytes": 200, "sm_read_bytes": 400, "sm_write_bytes": 100, "executed_tensor_flops": FLOPS,
            "registers": 255, "spill_bytes": 16, "variant": "k", "knobs": "grid=1x1x1", **cells}


class TraceTableTest(unittest.TestCase):
    def setUp(self):
        self.temporary = tempfile.TemporaryDirectory()
        self.folder = pathlib.Path(self.temporary.name)
        self.addCleanup(self.temporary.cleanup)

    def write(self, name, rows):
        with open(self.folder / name, "w", newline="", encoding="utf-8") as file:
            writer = csv.DictWriter(file, COLUMNS)
            writer.writeheader()
            writer.writerows(rows)

    def write_all(self, flash_flops=FLOPS, traced_step=10.1):
        self.write("own_flash2.csv", [row()])
        self.write("traced_flash2.csv", [row(samples=1, sm_bytes=1), row(samples=40, sm_bytes=505)])
        halves = [row(knobs="range=math", executed_tensor_flops=FLOPS / 4, samples=31),  # launched twice a call
                  row(knobs="range=math", executed_tensor_flops=FLOPS / 2, samples=15)]
        self.write("sdpa.csv", [row(knobs="grid=1x1x1;range=flash", executed_tensor_flops=flash_flops),
                                row(knobs="range=cudnn"), *halves])
        for name, flash, cudnn in (("calls_plain", 1, 1), ("calls_traced", 31, 29)):
            (self.folder / f"{name}.txt").write_text(f"flash,{flash}\ncudnn,{cudnn}\n", encoding="utf-8")
        for kind, step in (("plain", 10), ("traced", traced_step)):
            (self.folder / f"train_{kind}_1.txt").write_text(f"step,{step}\n", encoding="utf-8")
            (self.folder / f"launches_{kind}_1.txt").write_text(f"launch,{step}\n", encoding="utf-8")

    def table(self):
        with contextlib.redirect_stdout(io.StringIO()) as said:
            code = trace_table.main([str(self.folder)])
        return code, said.getvalue()

    def test_all_reached(self):
        self.write_all()
        code, said = self.table()
        self.assertEqual(code, 0, said)
        self.assertRegex(said, r"flash2 sm_bytes, traced / swept +\+1 %")
        self.assertRegex(said, r"overhead a traced launch, SDPA flash +30 ms")
        self.assertRegex(said, r"SDPA math executed FLOPs / 4 N\^2 d +100 %")

    def test_what_is_off_is_missed(self):
        self.write_all(flash_flops=1.03 * FLOPS)
        code, said = self.table()
        self.assertEqual(code, 1)
        self.assertRegex(said, r"SDPA flash executed FLOPs / 4 N\^2 d +\+3 % +within 2 % +MISSED")
        self.write_all(traced_step=10.4)
        self.assertRegex(self.table()[1], r"nothing matching +\+4 % +under 3 % +MISSED")

    def test_what_is_not_there_is_missed(self):
        code, said = self.table()
        self.assertEqual(code, 1)
        self.assertEqual(said.count("not measured"), 7)

    def test_ncu_is_read_by_metric(self):
        self.write_all()
        lines = ["==PROF== Connected", '"ID","Kernel Name","dram__bytes_read.sum","l1tex__m_xbar2l1tex_read_bytes.sum"',
                 '"","","byte","byte"', '"0","flash","200","440"']
        (self.folder / "ncu_flash.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")
        said = self.table()[1]
        self.assertRegex(said, r"SDPA flash hbm_read_bytes / ncu +\+0 %")
        self.assertRegex(said, r"SDPA flash sm_read_bytes / ncu +-9.09 % .*MISSED")

    def test_ncu_counts_all_kernels_of_a_call(self):
        self.write_all()
        metrics = ",".join(f'"{name}"' for name in trace_table.NCU_METRICS.values())
        lines = [f'"ID",{metrics}', '"","byte","byte","byte",""', '"0","200","400","100","0"', '"1","400","800","200","0"']
        (self.folder / "ncu_math.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")
        code, said = self.table()
        self.assertEqual(code, 1)
        self.assertRegex(said, r"SDPA math hbm_read_bytes / ncu +\+0 %")  # twice 200 and once: 600
        self.assertRegex(said, r"SDPA math sm_read_bytes / ncu +\+0 %")
        self.assertRegex(said, r"SDPA math executed_tensor_flops, ncu counts none +\+5.5e\+11 +none +MISSED")

    def test_the_plug_in_is_the_same_operation(self):
        self.write_all()
        self.write("plugin_cudnn.csv", [row(sm_bytes=500, hbm_read_bytes=100)])
        said = self.table()[1]
        self.assertRegex(said, r"SDPA cudnn sm_bytes, traced / plug-in swept +\+0 %")
        self.assertRegex(said, r"SDPA cudnn hbm_read_bytes, traced / plug-in swept +\+100 % .*MISSED")

    def test_usage(self):
        for script in ("trace_table.py", "trace_gpu.sh"):
            self.assertEqual(subprocess.run([EVIDENCE / script], capture_output=True, check=False).returncode, 2)
        wrong = subprocess.run([sys.executable, EVIDENCE.parent / "peers/trace_sdpa.py", "sdpa", "--backends", "x"],
                               capture_output=True, text=True, check=False)
        self.assertEqual(wrong.returncode, 2)
        self.assertIn("none of flash, cudnn, math", wrong.stderr)


if __name__ == "__main__":
    unittest.main()

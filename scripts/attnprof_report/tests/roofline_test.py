"""`attnprof_report roofline` as a person runs it: what it draws, what it refuses, and with which exit code."""

import collections
import contextlib
import io
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest
from unittest import mock

SCRIPTS = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(SCRIPTS))

import pandas as pd  # noqa: E402
from matplotlib.transforms import Bbox  # noqa: E402

from attnprof_report import point_labels, program  # noqa: E402
import result_file  # noqa: E402
from attnprof_report.__main__ import main  # noqa: E402
from attnprof_report.roofline import drawable, left_out, read_rows  # noqa: E402
from attnprof_report.roofline_figure import plt, subtitle_of, title_of  # noqa: E402
from attnprof_report.roofs import Roofs as RoofsOf, ask_roofs, roofs_of  # noqa: E402

PEAKS = {"peaks": {"hbm_gbps": 4800.0, "l2_gbps": 11000.0, "tensor_16bit_tflops": 989.0, "tensor_fp8_tflops": 1979.0,
                   "fp32_tflops": 67.0}}

Done = collections.namedtuple("Done", "returncode stderr")


class PlotTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def write(self, rows, name="rows.csv"):
        return result_file.write(self.folder / name, rows)

    def plot(self, *files, output="out.svg"):
        with contextlib.redirect_stderr(io.StringIO()) as errors:
            code = main(["roofline", *map(str, files), "-o", str(self.folder / output)])
        return Done(code, errors.getvalue())

    def text_of(self, output="out.svg"):
        return (self.folder / output).read_text(encoding="utf-8")

    def refuses(self, code, sentence, *files, **options):
        done = self.plot(*files, **options)
        self.assertEqual(done.returncode, code, done.stderr)
        self.assertIn(sentence, done.stderr)
        self.assertEqual(done.stderr.count("\n"), 1, done.stderr)
        self.assertFalse((self.folder / "out.svg").exists())


class Drawing(PlotTest):
    def test_draws_png_and_svg_without_a_display(self):
        file = self.write(result_file.default_sweep())
        for output, start in (("out.png", b"\x89PNG"), ("out.svg", b"<?xml")):
            command = [sys.executable, SCRIPTS / "attnprof_report", "roofline", file, "-o", self.folder / output]
            done = subprocess.run(command, capture_output=True, text=True, cwd="/", check=False,
                                  env={name: os.environ[name] for name in os.environ if name != "DISPLAY"})
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertTrue((self.folder / output).read_bytes().startswith(start))

    def test_equal_rows_give_an_equal_file(self):
        file = self.write(result_file.default_sweep())
        self.plot(file, output="a.svg")
        self.plot(file, output="b.svg")
        self.assertEqual(self.text_of("a.svg"), self.text_of("b.svg"))

    def test_says_what_is_not_drawn(self):
        rows = result_file.default_sweep() + [result_file.skipped("naive", 65536, 64)] * 2
        rows += [result_file.row("flash1", 512, 64, disposition="incorrect", verified="no"),
                 result_file.row("flash1", 512, 64, disposition="failed"),
                 result_file.row("flash2", 512, 64, hbm_intensity="", sm_intensity="")]
        frame = read_rows(self.write(rows))
        drawn = drawable(frame)
        self.assertEqual(len(drawn), 32)
        self.assertEqual(left_out(frame, drawn), "2 skipped, 1 incorrect, 1 failed, 1 without a time or bytes")

    def test_columns_are_read_by_name(self):
        frame = pd.DataFrame(result_file.default_sweep())
        file = self.folder / "shuffled.csv"
        frame[sorted(frame.columns)].assign(later_column="x").to_csv(file, index=False)
        rows = read_rows(file)
        self.assertEqual(list(rows["q_len"]), [n for _ in range(8) for n in (512, 1024, 2048, 4096)])

    def test_title_tells_simulated_from_measured(self):
        rows = read_rows(self.write(result_file.default_sweep()))
        self.assertEqual(title_of(rows), "Simulated roofline: h200")
        self.assertEqual(title_of(rows.assign(backend="gpu")), "Roofline: h200")
        mixed = rows.copy()
        mixed.loc[:7, "backend"] = "gpu"
        self.assertEqual(title_of(mixed), "Roofline: h200 (24 of 32 points simulated)")
        self.assertEqual(subtitle_of(rows), "fp16, full mask, cold cache, batch 1, 16 heads, tile auto")


class Roofs(PlotTest):
    """The rule is the program's and is tested there: here, what becomes of its answer."""

    def roofs(self, meta, dtypes=("fp16",), device="NVIDIA H200"):
        rows = [result_file.row("flash2", 512, 64, dtype=dtype, device=device, backend="gpu") for dtype in dtypes]
        file = self.write(rows)
        if meta:
            pathlib.Path(f"{file}.meta.json").write_text(json.dumps({"runs": {"r1": meta}}), encoding="utf-8")
        return ask_roofs([file], [device])[device]

    def test_peaks_of_the_run(self):
        roofs = self.roofs(PEAKS | {"ceilings": {}}, ["fp16", "bf16"])
        self.assertEqual(roofs.bandwidths, {"hbm": 4.8, "l2": 11.0})
        self.assertEqual(roofs.ceilings, {"tensor": 989.0, "fp32": 67.0})
        self.assertEqual(roofs.source, "nominal peaks in .meta.json")

    def test_measured_ceilings_come_before_nominal_peaks(self):
        ceilings = {"hbm_read_gbps": {"median": 4500.0}, "wgmma_bf16_tflops": {"median": 850.0}}
        roofs = self.roofs(PEAKS | {"ceilings": ceilings}, ["bf16"])
        self.assertEqual(roofs.bandwidths, {"hbm": 4.5, "l2": 11.0})
        self.assertEqual(roofs.ceilings, {"bf16 tensor": 850.0, "fp32": 67.0})
        self.assertEqual(roofs.source, "measured ceilings, nominal peaks in .meta.json")

    def test_each_dtype_has_its_own(self):
        ceilings = {"wgmma_fp16_tflops": {"median": 840.0}, "wgmma_bf16_tflops": {"median": 850.0}}
        roofs = self.roofs(PEAKS | {"ceilings": ceilings}, ["fp16", "bf16", "fp8"])
        self.assertEqual(roofs.ceilings, {"fp16 tensor": 840.0, "bf16 tensor": 850.0, "fp8 tensor": 1979.0, "fp32": 67.0})
        self.assertEqual([name for name, tflops in roofs.ceilings.items() if not roofs.name_is_above(tflops)], ["fp16 tensor"],
                         "two names above lines so near would overlap")

    def test_of_several_files_what_was_measured_is_drawn(self):
        records = [{"device": "d", "roof": "hbm", "dtype": None, "roof_gbps": gbps, "roof_tflops_per_s": None, "roof_source": source}
                   for gbps, source in ((4800.0, "profile"), (4500.0, "ceiling"), (4400.0, "ceiling"), (4700.0, "run"))]
        self.assertEqual(roofs_of("d", records).bandwidths, {"hbm": 4.5})

    def test_without_a_meta_file_the_profile_of_the_device(self):
        roofs = self.roofs(None)
        self.assertEqual(roofs.source, "the device's built-in profile")
        self.assertEqual(set(roofs.ceilings), {"tensor", "fp32"})

    def test_a_device_of_which_nothing_is_known_is_drawn_without_roofs(self):
        self.assertEqual(self.roofs(None, device="Other GPU"), RoofsOf({}, {}, ""))
        self.assertEqual(self.plot(self.folder / "rows.csv"), Done(0, ""))
        self.assertIn("no roof of the device is known", self.text_of())

    def test_the_program_is_asked_and_its_refusal_is_passed_on(self):
        file = self.write(result_file.default_sweep())
        pathlib.Path(f"{file}.meta.json").write_text("{", encoding="utf-8")
        self.refuses(2, "rows.csv.meta.json is no attnprof meta file: it is no JSON", file)
        self.refuses(3, "none: cannot be run: No such file", file, "--attnprof", self.folder / "none")

    def test_no_program_at_all(self):
        with tempfile.TemporaryDirectory() as empty, mock.patch.dict(os.environ, {"PATH": empty}), \
                mock.patch.object(program, "HERE", pathlib.Path(empty) / "a/b/c/d"):
            del os.environ["ATTNPROF"]
            self.refuses(3, "there is no attnprof to ask: build it", self.write(result_file.default_sweep()))

    def test_one_row_under_a_flat_roof_is_drawn(self):
        self.assertEqual(self.plot(self.write([result_file.row("flash2", 4096, 128)])).returncode, 0)

    def test_ticks_within_a_decade_are_plain_numbers(self):
        rows = [result_file.row("naive", n, 64, useful_tflops_per_s=60) for n in (512, 1024)]
        meta = {"runs": {"r1": {"peaks": {"hbm_gbps": 2400.0, "tensor_16bit_tflops": 494.0}}}}
        file = self.write(rows)
        pathlib.Path(f"{file}.meta.json").write_text(json.dumps(meta), encoding="utf-8")
        self.assertEqual(self.plot(file).returncode, 0)
        texts = set(re.findall("<!-- (.*) -->", self.text_of()))
        self.assertEqual([text for text in texts if "times" in text], [])
        self.assertIn("200", texts)

    def test_byte_order_mark_line_ends_and_blank_lines_change_nothing(self):
        file = self.write(result_file.default_sweep())
        self.plot(file)
        drawn, lines = self.text_of(), file.read_bytes().splitlines()
        file.write_bytes(b"\xef\xbb\xbf" + b"\r\n".join(lines[:4] + [b""]) + b"\n".join(lines[4:] + [b"", b""]))
        self.assertEqual(self.plot(file), Done(0, ""))
        self.assertEqual(self.text_of(), drawn)

    def test_a_torn_last_line_is_reported_and_not_drawn(self):
        rows = result_file.default_sweep()
        self.plot(self.write(rows[:-1]))
        drawn = self.text_of()
        rows[-1]["reason"] = 'of "two"\nlines, say'
        whole = self.write(rows).read_bytes()
        file = self.folder / "rows.csv"
        for cut in (2, 3, 60, len(whole) - whole.index(b'"of') - 3):
            file.write_bytes(whole[:-cut])
            done = self.plot(file)
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertIn("line 33: the line is torn", done.stderr)
            self.assertEqual(self.text_of(), drawn)

    def test_meta_file_is_found_beside_the_rows(self):
        file = self.write(result_file.default_sweep())
        pathlib.Path(f"{file}.meta.json").write_text(json.dumps({"runs": {"r1": {"peaks": {"hbm_gbps": 2039.0}}}}), encoding="utf-8")
        self.assertEqual(self.plot(file).returncode, 0)
        with_meta = self.text_of()
        pathlib.Path(str(file) + ".meta.json").unlink()
        self.plot(file)
        self.assertNotEqual(with_meta, self.text_of())


class Refusals(PlotTest):
    def test_nothing_to_draw(self):
        self.refuses(3, "there are no rows", self.write([]))
        self.refuses(3, "of 2 rows, 2 skipped", self.write([result_file.skipped("naive", 65536, 64)] * 2))

    def test_unreadable_and_malformed(self):
        self.refuses(2, "cannot be read", self.folder / "none.csv")
        bad = self.folder / "bad.csv"
        for text, sentence in (("", "has no whole line"), ("\n", "has no whole line"), ("a,b\n1,2\n", "column variant is missing"),
                               ("a,a\n1,2\n", "same name"), ('a\n"1"x\n', "is not a CSV file")):
            bad.write_text(text, encoding="utf-8")
            self.refuses(2, sentence, bad)
        bad.write_bytes(b"\xff\xfe\xfa,\n")
        self.refuses(2, "is not a CSV file", bad)

    def test_malformed_cells(self):
        row = result_file.row("flash2", 512, 64)
        self.refuses(2, "line 2, column sm_intensity: 'fast' is not a finite number", self.write([row | {"sm_intensity": "fast"}]))
        self.refuses(2, "line 2, column sm_intensity: 'inf' is not a finite number", self.write([row | {"sm_intensity": "inf"}]))
        self.refuses(2, "line 3, column disposition: 'fine' is none of ok, skipped, incorrect, failed", self.write([row, row | {"disposition": "fine"}]))

    def test_ragged_rows(self):
        file = self.write(result_file.default_sweep())
        lines = file.read_text(encoding="utf-8").splitlines()
        for line in (lines[3] + ",more", lines[3].rsplit(",", 3)[0]):
            file.write_text("\n".join(lines[:3] + [line]) + "\n", encoding="utf-8")
            self.refuses(2, "row 4 has", file)

    def test_what_is_read_is_never_written_over(self):
        file = self.write(result_file.default_sweep())
        before = file.read_bytes()
        self.refuses(2, "is one of the files to read", file, output=file.name)
        self.assertEqual(file.read_bytes(), before)

    def test_output(self):
        file = self.write(result_file.default_sweep())
        self.refuses(2, "must end in .png or .svg", file, output="out.pdf")
        self.refuses(3, "cannot be written", file, output="none/out.svg")

    def test_a_device_named_like_a_formula(self):
        rows = [row | {"device": "$\\undefined$"} for row in result_file.default_sweep()]
        self.assertEqual(self.plot(self.write(rows)).returncode, 0)


class Labels(unittest.TestCase):
    def test_labels_cover_neither_each_other_nor_points(self):
        figure, axes = plt.subplots(figsize=(6, 5), dpi=100)
        self.addCleanup(plt.close, figure)
        axes.set(xlim=(0, 10), ylim=(0, 10))
        points = [(2 + 0.4 * (i % 4), 3 + 0.3 * (i // 4), f"{i}k d64", "black") for i in range(24)]
        left_out_count = point_labels.place_labels(axes, points, [])
        boxes = [text.get_window_extent() for text in axes.texts]
        self.assertEqual(len(boxes) + left_out_count, 24)
        self.assertGreater(len(boxes), 12)
        for i, box in enumerate(boxes):
            self.assertFalse(any(box.overlaps(other) for other in boxes[:i]))
            for x, y, _, _ in points:
                self.assertFalse(box.contains(*axes.transData.transform((x, y))))

    def test_a_label_without_room_is_left_out(self):
        figure, axes = plt.subplots(figsize=(4, 4), dpi=100)
        self.addCleanup(plt.close, figure)
        everything = Bbox.from_bounds(0, 0, 400, 400)
        self.assertEqual(point_labels.place_labels(axes, [(0.5, 0.5, "4k", "black")], [everything]), 1)
        self.assertEqual(len(axes.texts), 0)


if __name__ == "__main__":
    unittest.main()

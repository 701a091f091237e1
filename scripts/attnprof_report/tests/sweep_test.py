"""`attnprof_report sweep` as a person runs it: which pictures it writes, what they hold, what it refuses, which exit codes."""

import collections
import contextlib
import io
import json
import os
import pathlib
import shlex
import subprocess
import sys
import tempfile
import unittest
from unittest import mock

SCRIPTS = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(SCRIPTS))

from matplotlib.text import Text  # noqa: E402

import result_file  # noqa: E402
from attnprof_report import page_rows  # noqa: E402
from attnprof_report import sweep_lines  # noqa: E402
from attnprof_report import sweep_model  # noqa: E402
from attnprof_report import sweep_sheet  # noqa: E402
from attnprof_report import sweep_tiles  # noqa: E402
from attnprof_report.__main__ import main  # noqa: E402
from attnprof_report.sweep_rows import in_common, read_sweep, styles_of_lines, with_panels  # noqa: E402

LINES = ["sweep_latency.png", "sweep_hbm_bytes.png", "sweep_sm_bytes.png", "sweep_tflops.png"]
TILES = ["tiles_latency.png", "tiles_sm_bytes.png"]
MODEL = "measured_against_model.png"
Done = collections.namedtuple("Done", "returncode stdout stderr")


def measured(rows):
    return [row | {"backend": "gpu", "device": "NVIDIA H200"} for row in rows]


def tile(br, bc, **changes):
    return measured([result_file.row("flash2", 4096, 64)])[0] | {"tile": f"{br}x{bc}", "br": br, "bc": bc} | changes


def failing(disposition, reason, n=1024, **changes):
    return measured([result_file.row("flash1", n, 64, disposition=disposition, verified="no", reason=reason)])[0] \
        | result_file.empty() | changes


class SweepTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.figures = {}  # name -> figure, of every picture finished
        patch = mock.patch.multiple(sweep_sheet, save=self.keep)
        patch.start()
        self.addCleanup(patch.stop)
        self.addCleanup(sweep_sheet.plt.close, "all")

    def keep(self, figure, output):
        self.figures[output.name] = figure
        output.touch()

    def write(self, rows, name="rows.csv"):
        return result_file.write(self.folder / name, rows)

    def plot(self, *files, output="out"):
        with contextlib.redirect_stderr(io.StringIO()) as errors, contextlib.redirect_stdout(io.StringIO()) as out:
            code = main(["sweep", *map(str, files), "-o", str(self.folder / output)])
        return Done(code, out.getvalue(), errors.getvalue())

    def draws(self, names, *files):
        done = self.plot(*files)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(sorted(path.name for path in (self.folder / "out").iterdir()), sorted(names))
        for name in set(LINES + TILES + [MODEL]) - set(names):
            self.assertRegex(done.stderr, rf"{name} is not written: \w.*\.\n")
        return done

    def refuses(self, code, sentence, *files, **options):
        done = self.plot(*files, **options)
        self.assertEqual(done.returncode, code, done.stderr)
        self.assertIn(sentence, done.stderr)

    def texts(self, name):
        figure = self.figures[name]
        return "\n".join(text.get_text() for text in figure.findobj(match=lambda artist: hasattr(artist, "get_text")))

    def markers(self, name):
        """(marker, filled, xs) of every line drawn in the panels' strips and cells."""
        return [(line.get_marker(), line.get_markerfacecolor() != "none", list(line.get_xdata()))
                for axes in self.figures[name].axes for line in axes.lines if line.get_linestyle() == "None"]


class Written(SweepTest):
    def test_a_png_of_every_kind_without_a_display(self):
        file = self.write(measured(result_file.default_sweep()) + [tile(64, 32), tile(128, 64)])
        done = subprocess.run([sys.executable, SCRIPTS / "attnprof_report", "sweep", file, "-o", self.folder / "new/out"], text=True,
                              capture_output=True, cwd="/", check=False,
                              env={name: os.environ[name] for name in os.environ if name != "DISPLAY"})
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        for name in LINES + TILES + [MODEL]:
            self.assertTrue((self.folder / "new/out" / name).read_bytes().startswith(b"\x89PNG"), name)
            self.assertIn(name, done.stdout)

    def test_only_pictures_that_the_rows_allow(self):
        self.draws(LINES + [MODEL], self.write(measured(result_file.default_sweep())))

    def test_tiles_of_one_length_have_heat_maps_only(self):
        self.draws(TILES + [MODEL], self.write([tile(64, 64), tile(128, 64)]))

    def test_rows_of_peers_have_no_bytes(self):
        path = result_file.write_peers(self.folder / "peers.csv")
        done = self.draws(["sweep_latency.png", "sweep_tflops.png"], path)
        self.assertIn("sweep_hbm_bytes.png is not written: no correct row has hbm_bytes.", done.stderr)

    def test_caption_names_device_files_and_counts(self):
        self.plot(self.write(measured(result_file.default_sweep()), "a.csv"), self.write([tile(64, 64)], "b.csv"))
        self.assertIn("NVIDIA H200; a.csv, b.csv; 32 of 33 cases drawn; of several tiles or knobs the fastest.",
                      self.texts("sweep_tflops.png"))


class Refused(SweepTest):
    def test_nothing_to_draw(self):
        self.refuses(3, "there are no rows", self.write([]))
        self.refuses(3, "nothing to draw", self.write([result_file.skipped("naive", n, 64) for n in (512, 1024)]))
        self.assertEqual(self.figures, {})

    def test_unreadable(self):
        self.refuses(2, "attnprof_report sweep: ", self.folder / "none.csv")
        bad = self.folder / "bad.csv"
        bad.write_text("a,b\n1,2\n", encoding="utf-8")
        self.refuses(2, "column variant is missing", bad)
        row = result_file.row("flash2", 512, 64)
        self.refuses(2, "line 2, column sm_bytes: 'many' is not a whole number", self.write([row | {"sm_bytes": "many"}]))

    def test_folder_that_is_a_file(self):
        file = self.write(measured(result_file.default_sweep()))
        (self.folder / "taken").write_text("a file", encoding="utf-8")
        self.refuses(3, "cannot be written", file, output="taken")

    def test_rows_and_metas_that_the_program_does_not_take(self):
        """The rules are the program's and are tested there: here, that every file goes through them."""
        row = measured([result_file.row("flash2", 512, 64)])[0]
        self.refuses(2, "line 2, column hbm_bytes: -5 is below 0", self.write([row | {"hbm_bytes": "-5"}]))
        self.refuses(2, "line 3, column disposition: 'fine' is none of ok", self.write([row, row | {"disposition": "fine"}]))
        file = result_file.write_peers(self.folder / "peers.csv")
        text = file.read_text(encoding="utf-8")
        meta = pathlib.Path(f"{file}.meta.json")
        for content, sentence in (('{"schema": "99", "runs": {}}', "a newer attnprof wrote schema 99"),
                                  ('{"runs": ' + "[" * 100000, "is no attnprof meta file")):
            meta.write_text(content, encoding="utf-8")
            self.refuses(2, sentence, file)
        meta.unlink()
        file.write_text(text.replace(",cold,,", ",cold,99,"), encoding="utf-8")
        self.refuses(2, "column schema: a newer attnprof wrote schema 99", file)

    def test_a_file_without_an_end(self):
        self.refuses(2, "/dev/zero: cannot be read", "/dev/zero")

    def test_a_pipe_is_read_once(self):
        file = self.write(measured(result_file.default_sweep()))
        done = subprocess.run([sys.executable, SCRIPTS / "attnprof_report", "sweep", "/dev/stdin", "-o", self.folder / "out"],
                              input=file.read_bytes(), capture_output=True, check=False)
        self.assertEqual((done.returncode, b"sweep_latency.png" in done.stdout), (0, True), done.stderr)

    def test_a_python_that_lacks_a_package(self):
        done = subprocess.run([sys.executable, "-S", SCRIPTS / "attnprof_report", "sweep", "x.csv", "-o", "x"], text=True,
                              capture_output=True, check=False)
        self.assertEqual((done.returncode, done.stderr.count("\n")), (3, 1), done.stderr)
        self.assertRegex(done.stderr, r"has no (pandas|matplotlib|numpy); run scripts/setup.sh")


class OddRows(SweepTest):
    def test_rows_without_a_length_are_left_out_and_said_so(self):
        rows = measured(result_file.default_sweep())
        traced = rows[0] | {"variant": "kernel<1>", "q_len": 0, "kv_len": 0, "batch": 0, "heads": 0, "kv_heads": 0, "head_dim": 0}
        self.draws(LINES + [MODEL], self.write(rows + [traced]))
        self.assertIn("1 without a length N left out.", self.texts("sweep_latency.png"))
        done = self.plot(self.write([traced, traced | {"knobs": "grid 2"}]), output="other")
        self.assertIn("sweep_latency.png is not written: no row has a length N", done.stderr)

    def test_names_are_no_formulas(self):
        rows = [row | {"device": "$\\undefined$", "variant": "$a_{$"} for row in result_file.default_sweep()[:8]]
        done = subprocess.run([sys.executable, SCRIPTS / "attnprof_report", "sweep", self.write(rows), "-o", self.folder / "out"],
                              text=True, capture_output=True, check=False)
        self.assertEqual((done.returncode, "Traceback" in done.stderr), (0, False), done.stderr)


class Rows(SweepTest):
    def test_latest_row_of_a_case_wins_in_any_order_of_files(self):
        old = self.write([tile(64, 64, run="20260101T000000Z-1", latency_median_ns=900), tile(128, 64)], "old.csv")
        new = self.write([tile(64, 64, run="20260102T000000Z-0", latency_median_ns=100)], "new.csv")
        for files in ((old, new), (new, old)):
            rows = read_sweep(files)
            self.assertEqual(len(rows), 2)
            self.assertEqual(list(rows[rows["tile"] == "64x64"]["latency_median_ns"]), [100])

    def test_batch_that_makes_equal_tokens_is_one_panel(self):
        rows = [result_file.row("flash2", n, 64, batch=8192 // n) for n in (512, 1024, 2048)]
        drawn, _ = with_panels(read_sweep([self.write(rows)]))
        self.assertEqual(list(drawn["panel"].unique()), [""])
        self.assertIn("batch x N = 8k", in_common(drawn))
        drawn, _ = with_panels(read_sweep([self.write(rows + [result_file.row("flash2", 512, 64)])]))
        self.assertEqual(set(drawn["panel"]), {"batch 16", "batch 8", "batch 4", "batch 1"})

    def test_lines_are_told_apart_by_what_differs(self):
        rows = [result_file.row("flash2", 512, 64), *measured([result_file.row("flash2", 512, 64)]),
                *measured([result_file.row("flash2", 512, 64, dtype="fp8")])]
        drawn = read_sweep([self.write(rows)])
        self.assertEqual(list(drawn["line"]), ["flash2 fp16 (simulated)", "flash2 fp16", "flash2 fp8"])
        styles = styles_of_lines(drawn)
        self.assertEqual(styles["flash2 fp16 (simulated)"], styles["flash2 fp16"])
        self.assertNotEqual(styles["flash2 fp8"], styles["flash2 fp16"])

    def test_ticks_are_lengths_or_powers_of_two(self):
        self.assertEqual(sweep_lines.length_ticks([512, 1024, 4096]), [512, 1024, 4096])
        ticks = sweep_lines.length_ticks(range(100, 5000, 7))
        self.assertEqual(ticks, [128, 256, 512, 1024, 2048, 4096])
        self.assertEqual(sweep_lines.length_ticks([900, 1000]), [900, 1000])


class LaterField(SweepTest):
    """A program with a field that these scripts have never heard of."""

    def setUp(self):
        super().setUp()
        asked = subprocess.run([os.environ["ATTNPROF"], "list", "--columns", "--format", "json"], capture_output=True, text=True,
                               check=True)
        columns = json.loads(asked.stdout)
        columns.insert(5, {"column": "window", "group": "identity", "meaning": "keys", "absent": "off", "absent_as": None})
        (self.folder / "columns.json").write_text(json.dumps(columns), encoding="utf-8")
        program = self.folder / "attnprof"
        program.write_text(f"#!/bin/sh\ncase $2 in --columns) exec cat '{self.folder}/columns.json' ;; esac\n"
                           f"exec {shlex.quote(os.environ['ATTNPROF'])} \"$@\"\n", encoding="utf-8")
        program.chmod(0o755)
        asked_instead = mock.patch.dict(os.environ, {"ATTNPROF": str(program)})
        asked_instead.start()
        self.addCleanup(asked_instead.stop)

    def test_tells_rows_and_lines_apart_and_may_be_absent(self):
        old = [result_file.row("flash2", n, 64) for n in (512, 1024)]
        new = [dict(row, window=window, run="r2") for row in old for window in ("off", "128")]
        self.write(old, "old.csv")
        (self.folder / "new.csv").write_text("\n".join(",".join(map(str, row)) for row in [list(new[0]), *map(dict.values, new)]) +
                                             "\n", encoding="utf-8")
        rows = read_sweep([self.folder / "old.csv", self.folder / "new.csv"])
        self.assertEqual(sorted(rows["line"]), ["flash2 window 128"] * 2 + ["flash2 window off"] * 2)
        self.assertEqual(set(rows["run"]), {"r2"}, "rows without the column are of the same cases as those with `off`")
        self.assertNotIn("window", in_common(rows[rows["window"] == "off"]), "nobody asked for it")
        self.assertIn("window 128", in_common(rows[rows["window"] == "128"]))
        marked = page_rows.table_of(page_rows.read_files([self.folder / "old.csv", self.folder / "new.csv"]), {})
        status = marked["columns"].index("status")
        self.assertEqual([row[status] for row in marked["rows"]], ["ok, old"] * 2 + ["ok"] * 4)


class Marked(SweepTest):
    def test_skipped_and_incorrect_cases_have_marks_and_reasons(self):
        rows = [row for row in measured(result_file.default_sweep()) if (row["variant"], row["q_len"]) != ("flash1", 1024)]
        rows += measured([result_file.skipped("naive", 8192, 64)]) + [failing("incorrect", "off by 0.3")]
        self.plot(self.write(rows))
        texts = self.texts("sweep_latency.png")
        self.assertIn("Skipped: naive, N = 8k; d = 64; needs 9 GB, 1 GB is free.", texts)
        self.assertIn("Incorrect: flash1, N = 1k; d = 64; off by 0.3.", texts)
        self.assertIn(("o", False, [8192]), self.markers("sweep_latency.png"))
        self.assertIn(("x", True, [1024]), self.markers("sweep_latency.png"))

    def test_a_row_that_failed_its_check_is_never_a_point(self):
        rows = measured([result_file.row("flash2", n, 64) for n in (512, 1024, 2048)])
        rows[1] |= {"verified": "no"}
        self.plot(self.write(rows))
        panel = self.figures["sweep_latency.png"].axes[0]
        line = next(line for line in panel.lines if line.get_label() == "flash2")
        self.assertEqual([bool(value == value) for value in line.get_ydata()], [True, False, True])
        self.assertIn(("x", True, [1024]), self.markers("sweep_latency.png"))

    def test_tiles_are_marked_in_their_cells(self):
        rows = [tile(64, 64), tile(128, 64),
                tile(64, 32) | result_file.empty() | {"disposition": "skipped", "reason": "no room"},
                tile(128, 32) | result_file.empty() | {"disposition": "failed", "reason": "fault"}]
        self.plot(self.write(rows))
        self.assertEqual(self.markers("tiles_latency.png"), [("o", False, [0]), ("x", True, [0])])
        self.assertIn("Skipped: flash2, N = 4k; tile 64x32; no room.", self.texts("tiles_latency.png"))


class Tiles(SweepTest):
    def test_cells_hold_the_quantity_and_its_ratio_to_the_lowest(self):
        self.plot(self.write([tile(64, 64, latency_median_ns=2e5), tile(128, 64, latency_median_ns=3e5),
                              tile(64, 64, tile="auto", latency_median_ns=2.2e5)]))
        cells = {text.get_text() for axes in self.figures["tiles_latency.png"].axes for text in axes.texts}
        self.assertEqual(cells, {"0.200\n1.00x", "0.300\n1.50x"})
        self.assertIn("Median latency by tile (ms), flash2", self.texts("tiles_latency.png"))

    def test_numbers_have_three_digits(self):
        self.assertEqual([sweep_tiles.three_digits(value) for value in (0.166, 1.5, 36.0, 229.4, 1076)],
                         ["0.166", "1.50", "36.0", "229", "1076"])


class Model(SweepTest):
    def test_simulated_rows_are_left_out_and_said_so(self):
        rows = measured(result_file.default_sweep()) + result_file.default_sweep()
        self.plot(self.write(rows))
        figure = self.figures[MODEL]
        self.assertEqual(sum(len(points.get_offsets()) for points in figure.axes[0].collections
                             if len(points.get_offsets()) and points.get_zorder() == 3), 32)
        self.assertIn("32 simulated left out, which agree by construction", self.texts(MODEL))

    def test_simulated_rows_alone_give_no_picture(self):
        done = self.draws(LINES, self.write(result_file.default_sweep()))
        self.assertIn(f"{MODEL} is not written: all rows are simulated", done.stderr)

    def test_says_how_many_are_within_the_band_and_which_is_farthest(self):
        rows = measured([result_file.row("flash2", n, 64) for n in (512, 1024, 2048)])
        rows[1]["hbm_bytes"] = round(1.25 * float(rows[1]["model_hbm_bytes"]))
        rows[2]["hbm_bytes"] = round(0.91 * float(rows[2]["model_hbm_bytes"]))
        shown, _ = with_panels(read_sweep([self.write(rows)]))
        hbm, sm = sweep_model.modelled_levels()
        self.assertEqual(sweep_model.summary(shown, hbm),
                         ("2 of 3 within 10 %", "farthest +25 % (flash2, N = 1k)"))
        self.assertEqual(sweep_model.summary(shown, sm), ("3 of 3 within 10 %", "all within 0.01 %"))


class Page(SweepTest):
    def test_nothing_lies_outside_the_page_or_on_other_text(self):
        rows = [row | {"mask": mask} for row in measured(result_file.default_sweep()) for mask in ("full", "causal")]
        rows += result_file.default_sweep() + measured([result_file.skipped("naive", 8192, 64)])
        rows += [tile(64, 64), tile(128, 32)]
        self.plot(self.write(rows))
        for name, figure in self.figures.items():
            figure.draw_without_rendering()
            ticks = [text for axes in figure.axes for axis in (axes.xaxis, axes.yaxis)
                     for text in axis.get_ticklabels(which="both")]
            texts = [text for text in figure.findobj(Text) if text.get_text() and text.get_visible() and text not in ticks]
            boxes = [text.get_window_extent() for text in texts]
            for i, box in enumerate(boxes):
                self.assertTrue(figure.bbox.x0 <= box.x0 and box.x1 <= figure.bbox.x1 and figure.bbox.y0 <= box.y0
                                and box.y1 <= figure.bbox.y1, f"{name}: {texts[i]} leaves the page")
                self.assertFalse(any(box.overlaps(other) for other in boxes[:i]), f"{name}: {texts[i]} overlaps")


if __name__ == "__main__":
    unittest.main()

"""Every memory level that the program lists with a roof is in every picture, and one that is listed later is too."""

import dataclasses
import os
import pathlib
import sys
import tempfile
import unittest
from unittest import mock

SCRIPTS = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(SCRIPTS))

import pandas as pd  # noqa: E402

import result_file  # noqa: E402
from attnprof_report import levels, page_rows, program, roofline_figure, sweep_lines, sweep_model  # noqa: E402
from attnprof_report.page_roofline import roofline_plot  # noqa: E402
from attnprof_report.output_file import Refusal  # noqa: E402
from attnprof_report.roofline import drawable, read_rows  # noqa: E402
from attnprof_report.roofs import Roofs  # noqa: E402
from attnprof_report.sweep import pictures_in  # noqa: E402
from attnprof_report.sweep_rows import read_sweep, styles_of_lines  # noqa: E402

LINK = levels.Level("link", "Between GPUs", "Link", "between GPUs", "link_bytes", "model_link_bytes", None, "link_intensity",
                    "no", "link", "NVLink")
BANDWIDTHS = {"hbm": 4.8, "l2": 11.0, "link": 0.9}  # TB/s


class EachLevel(unittest.TestCase):
    """With the program's list, and below with an entry more."""
    more = []

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.listed = levels.listed() + self.more
        patch = mock.patch.object(levels, "listed", lambda: self.listed)
        patch.start()
        self.addCleanup(patch.stop)
        self.drawn = [level for level in self.listed if level.roof]

    def rows(self):
        """Two lengths with bytes at every level, counted and modelled."""
        cells = {name: "1000000" for level in self.drawn for name in (level.bytes, level.model_bytes)}
        cells |= {level.intensity: "20" for level in self.drawn}
        return [result_file.row("flash2", n, 64, backend="gpu", device="NVIDIA H200") | cells for n in (512, 1024)]

    def write(self, rows):
        path = self.folder / "rows.csv"
        pd.DataFrame(rows).to_csv(path, index=False)
        return path

    def roofs(self):
        return Roofs({level.roof: BANDWIDTHS[level.roof] for level in self.drawn}, {"tensor": 989.0}, "test")

    def test_there_is_one(self):
        self.assertGreater(len(self.drawn), 1)

    def test_has_a_panel_of_the_roofline(self):
        kept = []

        def keep(figure, _):
            kept.extend((axes.get_title(loc="left"), axes.get_xlabel(), [text.get_text() for text in axes.texts])
                        for axes in figure.axes)

        with mock.patch.object(roofline_figure, "save", keep):
            rows = drawable(read_rows(self.write(self.rows())))
            roofline_figure.draw(rows, {"NVIDIA H200": self.roofs()}, "", pathlib.Path("x.svg"))
        self.assertEqual([title for title, _, _ in kept], [level.title for level in self.drawn])
        for level, (_, x_label, texts) in zip(self.drawn, kept):
            self.assertIn(level.passage, x_label)
            self.assertTrue(any(text.startswith(level.roof_title) for text in texts), texts)

    def test_has_a_panel_of_the_page(self):
        rows = read_sweep([self.write(self.rows())]).assign(**{level.intensity: 20.0 for level in self.drawn})
        plot = roofline_plot(rows, lambda devices: {device: self.roofs() for device in devices}, styles_of_lines(rows))
        self.assertEqual([panel.title.split(" (")[0] for panel in plot.panels], [level.title for level in self.drawn])

    def test_has_a_picture_against_the_length(self):
        columns = [quantity.column for quantity in sweep_lines.quantities().values()]
        names = [path.name for path in pictures_in(self.folder)]
        for level in self.drawn:
            self.assertIn(level.bytes, columns)
            self.assertIn(f"sweep_{level.level}_bytes.png", names)

    def test_is_held_against_the_model_where_it_is_modelled(self):
        _, of_levels, reason = sweep_model.levels_of(read_sweep([self.write(self.rows())]))
        self.assertEqual(reason, "")
        self.assertEqual([level.label for level, _ in of_levels], [level.label for level in self.drawn])

    def test_is_in_the_table_of_the_page(self):
        for level in self.drawn:
            self.assertIn(level.bytes, page_rows.main_columns())


class WithALink(EachLevel):
    more = [LINK]

    def test_a_file_from_before_the_level_is_read(self):
        later = {LINK.bytes, LINK.model_bytes, LINK.intensity}
        path = self.write([{name: cell for name, cell in row.items() if name not in later} for row in self.rows()])
        self.assertTrue(read_sweep([path])["link_bytes"].isna().all())
        self.assertEqual(len(drawable(read_rows(path))), 2)

    def test_a_file_without_a_level_of_every_case_is_refused(self):
        self.listed[-1] = dataclasses.replace(LINK, everywhere="yes")
        path = self.write([{name: cell for name, cell in row.items() if name != "link_bytes"} for row in self.rows()])
        with self.assertRaisesRegex(Refusal, "has no column link_bytes"):
            read_sweep([path])


class Asking(unittest.TestCase):
    def test_a_program_that_lists_other_things_is_refused(self):
        levels.levels_by.cache_clear()
        self.addCleanup(levels.levels_by.cache_clear)
        with mock.patch.object(program, "ask", lambda *_: [{"level": "hbm"}]), self.assertRaisesRegex(Refusal, "lacks 'title'"):
            levels.listed()

    def test_columns_are_those_of_a_row(self):
        columns = {column["column"] for column in program.ask(os.environ["ATTNPROF"], "list", "--columns")}
        self.assertLessEqual({*levels.byte_columns(), *levels.intensities()}, columns)


if __name__ == "__main__":
    unittest.main()

"""The one rule for what scripts write: files replaced, links followed, devices written through, inputs left alone."""

import os
import pathlib
import stat
import subprocess
import sys
import tempfile
import threading
import unittest

SCRIPTS = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(SCRIPTS))

from attnprof_report.output_file import Refusal, check_distinct, open_rows, replace_file, with_meta  # noqa: E402
from attnprof_report.safe_text import SafeStream, printable, printable_lines  # noqa: E402


class InFolder(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.file = self.folder / "out.txt"

    def mode(self, path):
        return stat.S_IMODE(path.stat().st_mode)


class Replacing(InFolder):
    def test_a_new_file_has_the_mode_of_the_umask(self):
        before = os.umask(0o077)
        try:
            self.assertTrue(replace_file(self.file, "text"))
        finally:
            os.umask(before)
        self.assertEqual((self.file.read_text(), self.mode(self.file)), ("text", 0o600))
        self.assertEqual(list(self.folder.iterdir()), [self.file], "no temporary stays")

    def test_a_file_keeps_its_mode_and_readers_keep_the_old_one(self):
        self.file.write_text("old")
        self.file.chmod(0o640)
        with open(self.file, encoding="utf-8") as reader:
            replace_file(self.file, b"new")
            self.assertEqual(reader.read(), "old")
        self.assertEqual((self.file.read_text(), self.mode(self.file)), ("new", 0o640))

    def test_links_are_followed_and_stay(self):
        (self.folder / "deep").mkdir()
        target, link, twice = self.folder / "deep/target", self.folder / "link", self.folder / "twice"
        link.symlink_to("deep/target")
        twice.symlink_to(link)
        for text in ("new", "replaced"):  # it is not there at first
            replace_file(twice, text)
            self.assertEqual(target.read_text(), text)
            self.assertTrue(link.is_symlink() and twice.is_symlink())
        link.unlink()
        link.symlink_to(link)
        with self.assertRaisesRegex(OSError, "Too many levels"):
            replace_file(link, "x")

    def test_a_pipe_is_written_through(self):
        pipe = self.folder / "pipe"
        os.mkfifo(pipe)
        read = []
        reader = threading.Thread(target=lambda: read.append(pipe.read_bytes()))
        reader.start()
        self.assertFalse(replace_file(pipe, "through"))
        reader.join()
        self.assertEqual(read, [b"through"])
        self.assertTrue(stat.S_ISFIFO(pipe.stat().st_mode))

    def test_devices_stay_devices(self):
        with self.assertRaisesRegex(OSError, "No space left"):
            replace_file("/dev/full", "x")
        replace_file("/dev/null", "x")
        for name in ("full", "null"):
            self.assertTrue(stat.S_ISCHR(os.stat(f"/dev/{name}").st_mode))

    def test_descriptors_are_written_where_they_stand(self):
        program = ("import sys; sys.path.insert(0, sys.argv[1]); from attnprof_report.output_file import replace_file\n"
                   "print('before'); replace_file('/dev/stdout', 'through\\n'); print('after')")
        with open(self.file, "w", encoding="utf-8") as file:
            subprocess.run([sys.executable, "-c", program, SCRIPTS], stdout=file, check=True)
            self.assertEqual(os.fstat(file.fileno()).st_ino, self.file.stat().st_ino)
        self.assertEqual(self.file.read_text(), "before\nthrough\nafter\n")

    def test_what_cannot_be_written_is_an_error_and_changes_nothing(self):
        for path in (self.folder, self.folder / "no/out.txt", f"{self.folder}/", ""):
            with self.assertRaises(OSError):
                replace_file(path, "x")
        self.assertEqual(list(self.folder.iterdir()), [])

    def test_a_link_of_somebody_elses_in_a_shared_folder_is_not_followed(self):
        if os.geteuid() != 0:
            self.skipTest("only root can make a link of another user's")
        shared, victim, link = self.folder / "shared", self.folder / "victim", self.folder / "shared/out"
        shared.mkdir()
        shared.chmod(0o1777)
        victim.write_text("precious")
        link.symlink_to(victim)
        os.chown(link, 65534, 65534, follow_symlinks=False)
        with self.assertRaises(PermissionError):
            replace_file(link, "x")
        self.assertEqual(victim.read_text(), "precious")

    def test_rows_are_added_behind_links_too(self):
        link = self.folder / "link"
        link.symlink_to(self.file)
        for mode, text in (("x", "a"), ("a", "ab"), ("w", "b")):
            with open_rows(link, mode) as rows:
                rows.write(text[-1])
            self.assertEqual(self.file.read_text(), text)
        with self.assertRaises(FileExistsError):
            open_rows(link, "x")


class Distinct(InFolder):
    def test_an_input_is_no_output_by_any_name(self):
        self.file.write_text("rows")
        link, hard = self.folder / "link", self.folder / "hard"
        link.symlink_to(self.file)
        os.link(self.file, hard)
        with open(self.file, "rb") as opened:
            for output in (self.file, link, hard, self.folder / "." / "out.txt", f"/dev/fd/{opened.fileno()}"):
                with self.assertRaisesRegex(Refusal, "one of the files to read"):
                    check_distinct([output], with_meta([self.file]))
        check_distinct([self.folder / "other"], [self.file])

    def test_what_lies_beside_an_input_is_one(self):
        meta = self.folder / "out.txt.meta.json"
        meta.write_text("{}")
        with self.assertRaisesRegex(Refusal, "one of the files to read"):
            check_distinct([meta], with_meta([self.file]))

    def test_two_outputs_are_two_files(self):
        (self.folder / "link").symlink_to("out.txt")
        with self.assertRaisesRegex(Refusal, "two outputs"):
            check_distinct([self.file, self.folder / "link"], [])
        check_distinct(["/dev/null", "/dev/null", self.file], [])


class SafeText(unittest.TestCase):
    def test_nothing_commands_a_terminal(self):
        self.assertEqual(printable("a\x1b[31mb\x07\x7f\x9b\n\u202ex\u2066 \udcff é 表"), r"a\x1b[31mb\x07\x7f\x9b\n\u202ex\u2066 \xff é 表")
        self.assertEqual(printable_lines("a\n\tb\r"), "a\n\tb\\r")

    def test_a_stream_is_safe_whatever_is_printed(self):
        with tempfile.TemporaryFile("w+", encoding="utf-8") as file:
            print("a\x1bb", file=SafeStream(file))
            file.seek(0)
            self.assertEqual(file.read(), "a\\x1bb\n")


if __name__ == "__main__":
    unittest.main()

"""README's generated parts are what the program prints."""

import os
import pathlib
import subprocess
import sys
import unittest

CI = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(CI))

from update_readme import PART, README, updated  # noqa: E402


class ReadmeTest(unittest.TestCase):
    def test_generated_parts_are_up_to_date(self):
        command = [sys.executable, CI / "update_readme.py", os.environ["ATTNPROF_BUILD_DIR"] + "/attnprof", "--check"]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(len(PART.findall(README.read_text(encoding="utf-8"))), 2)

    def test_a_program_that_is_not_there_is_a_sentence(self):
        command = [sys.executable, CI / "update_readme.py", "/nonexistent/attnprof"]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 2)
        self.assertEqual(done.stderr.count("\n"), 1, done.stderr)

    def test_a_part_is_replaced_and_the_rest_kept(self):
        text = "before\n<!-- begin: attnprof 'some words' -->\nold\n<!-- end -->\nafter\n"
        new = "before\n<!-- begin: attnprof 'some words' -->\n\nsome words\n\n<!-- end -->\nafter\n"
        self.assertEqual(updated(text, "echo"), new)
        self.assertEqual(updated(new, "echo"), new)


if __name__ == "__main__":
    unittest.main()

"""check_rooms.py and check_includes.py on a source tree with each fault that they are there for."""

import pathlib
import subprocess
import sys
import tempfile
import unittest

CI = pathlib.Path(__file__).resolve().parents[1]
ROOMS = "| room | what |\n|---|---|\n| `base` | below |\n| `gate` | above |\n"
UNIT = '#pragma once\n#include <string>\nnamespace attnprof {\nstruct Unit {\n  std::string name;\n};\n}  // namespace attnprof\n'


class ChecksTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.src = pathlib.Path(folder.name) / "src"
        self.write("README.md", ROOMS)
        self.write("base/unit.hpp", UNIT)

    def write(self, name, text):
        (self.src / name).parent.mkdir(parents=True, exist_ok=True)
        (self.src / name).write_text(text, encoding="utf-8")

    def check(self, script):
        done = subprocess.run([sys.executable, CI / script, "--source", self.src], capture_output=True, text=True, check=False)
        return done.returncode, done.stderr

    def finds(self, script, sentence):
        code, said = self.check(script)
        self.assertEqual((code, said.count("\n")), (1, 1), said)
        self.assertIn(sentence, said)

    def test_a_right_tree_passes(self):
        self.write("gate/gate.cpp", '// As base/unit.hpp says.\n#include "base/unit.hpp"\nattnprof::Unit unit;\n')
        self.assertEqual(self.check("check_rooms.py"), (0, ""))
        self.assertEqual(self.check("check_includes.py"), (0, ""))

    def test_an_include_that_climbs(self):
        self.write("gate/gate.hpp", "#pragma once\n")
        self.write("base/low.cpp", '#include "gate/gate.hpp"\n')
        self.finds("check_rooms.py", "src/base/low.cpp includes gate/gate.hpp, which climbs from base to gate")

    def test_a_folder_that_is_no_room(self):
        self.write("other/file.cpp", "")
        self.finds("check_rooms.py", "src/other/file.cpp: its folder is no room")

    def test_a_comment_that_names_a_lost_file(self):
        self.write("gate/gate.cpp", "// See base/gone.hpp.\n")
        self.finds("check_rooms.py", "src/gate/gate.cpp: a comment names base/gone.hpp, which is not there")

    def test_a_type_that_no_include_reaches(self):
        self.write("gate/gate.cpp", "namespace attnprof {\nint size(const Unit& unit);\n}\n")
        self.finds("check_includes.py", 'src/gate/gate.cpp names Unit and does not include "base/unit.hpp"')

    def test_a_name_of_the_standard_library(self):
        self.write("gate/gate.cpp", "int size(const std::vector<int>& all);\n")
        self.finds("check_includes.py", "src/gate/gate.cpp names std::vector and does not include <vector>")

    def test_one_name_in_two_files_of_a_folder(self):
        for name in ("a", "b"):
            self.write(f"gate/{name}.cpp", "namespace attnprof {\nnamespace {\n\nint twice(int n) {\n  return 2 * n;\n}\n\n}  // namespace\n}\n")
        self.finds("check_includes.py", "src/gate/a.cpp and src/gate/b.cpp define twice(int n)")

    def test_a_capture_that_may_stay_open(self):
        self.write("gate/gate_test.cpp", "void f() {\n  testing::internal::CaptureStdout();\n}\n")
        self.write("testing/captured.hpp", "#pragma once\nvoid f() {\n  testing::internal::CaptureStdout();\n}\n")
        self.finds("check_includes.py", "src/gate/gate_test.cpp names testing::internal")


if __name__ == "__main__":
    unittest.main()

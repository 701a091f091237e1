"""`cmake --install` under any prefix: program, kernels, scripts and documents are where they look for each other."""

import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

SOURCE = pathlib.Path(__file__).resolve().parents[3]


class InstallTest(unittest.TestCase):
    def test_installed_tree_works_from_any_folder(self):
        with tempfile.TemporaryDirectory() as prefix:
            subprocess.run([os.environ["ATTNPROF_CMAKE"], "--install", os.environ["ATTNPROF_BUILD_DIR"], "--prefix", prefix],
                           check=True, capture_output=True)
            data = pathlib.Path(prefix) / "share/attnprof"
            for kernel in (SOURCE / "kernels").rglob("*.*"):
                installed = data / "kernels" / kernel.relative_to(SOURCE / "kernels")
                self.assertEqual(installed.read_bytes(), kernel.read_bytes())
            header = pathlib.Path(prefix) / "include/attnprof_plugin.h"
            self.assertEqual(header.read_bytes(), (SOURCE / "src/plugin/attnprof_plugin.h").read_bytes())
            for document in ("README.md", "LICENSE"):
                self.assertTrue((pathlib.Path(prefix) / "share/doc/attnprof" / document).is_file())
            self.check_program(pathlib.Path(prefix) / "bin/attnprof")
            self.check_trace_library_is_found(pathlib.Path(prefix) / "bin/attnprof")
            self.check_kernels_are_found(pathlib.Path(prefix) / "bin/attnprof", prefix)
            self.check_pictures(pathlib.Path(prefix), data / "scripts/attnprof_report")

    def check_program(self, program):
        done = subprocess.run([program, "--version"], cwd="/", capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertRegex(done.stdout, r"^attnprof \d+\.\d+\.\d+")

    def check_trace_library_is_found(self, program):
        done = subprocess.run([program, "trace", "-o", "none.csv", "--", "true"], cwd=program.parent, capture_output=True,
                              text=True, check=False)
        self.assertEqual(done.returncode, 3)
        self.assertRegex(done.stderr, "used no CUDA|built without")

    def check_kernels_are_found(self, program, prefix):
        arguments = ["compile", "--variant", "naive", "-N", "512", "-d", "64", "--arch", "sm_80", "--cache-dir",
                     f"{prefix}/cache"]
        done = subprocess.run([program, *arguments], cwd="/", capture_output=True, text=True, check=False)
        if done.returncode == 3 and "ATTNPROF_EXPECT_CUDA" not in os.environ:
            self.assertRegex(done.stderr, "nvcc")  # the kernels were there, the compiler is not on this machine
        else:
            self.assertEqual(done.returncode, 0, done.stderr)

    def check_pictures(self, prefix, package):
        """Drawn by the installed scripts, which find the installed program."""
        rows = prefix / "rows.csv"
        subprocess.run([prefix / "bin/attnprof", "sweep", "--backend", "sim", "-N", "512,1k", "-d", "64", "-o", rows], check=True,
                       capture_output=True)
        environment = {name: value for name, value in os.environ.items() if name != "ATTNPROF"} | {"PATH": "/usr/bin:/bin"}
        for command, output in (("roofline", "roofline.png"), ("sweep", "pictures"), ("page", "page.html")):
            done = subprocess.run([sys.executable, package, command, rows, "-o", prefix / output], cwd="/", capture_output=True,
                                  text=True, env=environment, check=False)
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertTrue((prefix / output).exists())


if __name__ == "__main__":
    unittest.main()

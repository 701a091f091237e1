"""The made regressions fit kernels/flash2.cu as it is now, and still compile where there is a compiler."""

import os
import pathlib
import shutil
import subprocess
import tempfile
import unittest

EVIDENCE = pathlib.Path(__file__).resolve().parent.parent
KERNELS = EVIDENCE.parents[1] / "kernels"
MAKE = EVIDENCE / "regressions" / "make.sh"
PROGRAM = os.environ["ATTNPROF_BUILD_DIR"] + "/attnprof"
NAMES = sorted(path.stem for path in (EVIDENCE / "regressions").glob("*.sed"))


class RegressionsTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def make(self, name, script=MAKE):
        return subprocess.run([script, name, self.folder / name], capture_output=True, text=True, check=False)

    def test_each_changes_a_line_or_two_of_flash2_alone(self):
        self.assertEqual(NAMES, ["causal_not_skipped", "delay", "k_read_twice"])
        for name in NAMES:
            done = self.make(name)
            self.assertEqual(done.returncode, 0, done.stderr)
            difference = subprocess.run(["diff", "-r", KERNELS, self.folder / name], capture_output=True,
                                        text=True, check=False).stdout
            changed = [line for line in difference.splitlines() if line[0] in "<>"]
            self.assertIn(len(changed), (2, 3), difference)
            self.assertEqual(difference.count("diff -r"), 1, difference)
            self.assertIn("flash2.cu", difference)

    def test_an_edit_that_no_longer_fits_is_refused(self):
        copy = self.folder / "copy"
        shutil.copytree(EVIDENCE / "regressions", copy / "scripts/evidence/regressions")
        shutil.copytree(KERNELS, copy / "kernels")
        (copy / "kernels" / "flash2.cu").write_text("another kernel", encoding="utf-8")
        for name in NAMES:
            done = self.make(name, copy / "scripts/evidence/regressions/make.sh")
            self.assertEqual(done.returncode, 3)
            self.assertIn("changes nothing", done.stderr)

    def test_they_compile(self):
        for name in NAMES:
            self.make(name)
            done = subprocess.run([PROGRAM, "compile", "--arch", "sm_90a", "--variant", "flash2", "-N", "512", "-d", "64",
                                   "--mask", "causal", "--kernels", self.folder / name, "--cache-dir", self.folder / "cache"],
                                  capture_output=True, text=True, check=False)
            if done.returncode == 3 and not os.environ.get("ATTNPROF_EXPECT_CUDA"):
                self.skipTest(done.stderr.strip())
            self.assertEqual(done.returncode, 0, done.stderr)


if __name__ == "__main__":
    unittest.main()

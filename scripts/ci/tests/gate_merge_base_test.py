"""gate_merge_base.sh on a small history: worse machine code and more bytes of the model fail it, a comment does not.

The program is one that is built, behind a stand-in that a build command makes of each revision; each revision's kernels/ are
its own, and nvcc compiles them.
"""

import json
import os
import pathlib
import shutil
import subprocess
import tempfile
import unittest

SOURCE = pathlib.Path(__file__).resolve().parents[3]
PROGRAM = pathlib.Path(os.environ.get("ATTNPROF_BUILD_DIR", "")) / "attnprof"
KERNEL = "kernels/naive.cu"
PLAN = ["--variant", "naive", "-N", "128", "-d", "64", "--heads", "1", "-b", "1"]

# BUILD/attnprof: the program, but that the model of a revision with a file `more_bytes` counts more; with `broken`, none.
BUILD = """#!/bin/sh
[ ! -e "$1/broken" ] || exit 1
cat >"$2/attnprof" <<END
#!/usr/bin/env python3
import csv, os, subprocess, sys
code = subprocess.run(["{program}", *sys.argv[1:]], check=False).returncode
if sys.argv[1] == "sweep" and os.path.exists("$1/more_bytes"):
    path = sys.argv[sys.argv.index("-o") + 1]
    rows = list(csv.reader(open(path, newline="")))
    place = rows[0].index("sm_bytes")
    for row in rows[1:]:
        row[place] = str(int(row[place]) * 2) if row[place] else ""
    csv.writer(open(path, "w", newline=""), lineterminator="\\\\n").writerows(rows)
sys.exit(code)
END
chmod +x "$2/attnprof"
"""


def nvcc_is_there():
    doctor = subprocess.run([PROGRAM, "doctor", "--format", "json"], capture_output=True, text=True, check=False)
    return any(finding["topic"] == "nvcc" and finding["state"] == "ok" for finding in json.loads(doctor.stdout)["findings"])


class GateMergeBase(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        if not nvcc_is_there():
            if os.environ.get("ATTNPROF_EXPECT_CUDA"):
                raise AssertionError("there is no nvcc")
            raise unittest.SkipTest("gate_merge_base_test skipped: there is no nvcc")
        cls.folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(cls.folder.cleanup)
        cls.tree = pathlib.Path(cls.folder.name).resolve() / "tree"
        cls.out = cls.tree.parent / "out"
        (cls.tree / "scripts/ci").mkdir(parents=True)
        shutil.copy(SOURCE / "scripts/ci/gate_merge_base.sh", cls.tree / "scripts/ci")
        shutil.copytree(SOURCE / "kernels", cls.tree / "kernels")
        (cls.tree / ".gitignore").write_text("/build\n", encoding="utf-8")
        cls.build = cls.tree.parent / "build.sh"
        cls.build.write_text(BUILD.format(program=PROGRAM), encoding="utf-8")
        cls.build.chmod(0o755)
        cls.git("init", "-q")
        cls.base = cls.commit("base")

    @classmethod
    def git(cls, *arguments):
        name = ["-c", "user.name=test", "-c", "user.email=test@example.org"]
        return subprocess.run(["git", *name, *arguments], cwd=cls.tree, check=True, capture_output=True, text=True).stdout.strip()

    @classmethod
    def commit(cls, message):
        cls.git("add", "-A")
        cls.git("commit", "-q", "--allow-empty", "-m", message)
        return cls.git("rev-parse", "HEAD")

    def gated(self):
        """The exit code with the tree as it is now, as a commit on top of the base; the base is the tree again after it."""
        self.commit("change")
        environment = os.environ | {"ATTNPROF_BUILD": str(self.build), "XDG_CACHE_HOME": str(self.tree.parent / "cache")}
        for name in ("ATTNPROF_BASE", "ATTNPROF_HEAD"):
            environment.pop(name, None)
        done = subprocess.run(["scripts/ci/gate_merge_base.sh", "cpu", self.base, self.out, *PLAN], cwd=self.tree, env=environment,
                              capture_output=True, text=True, check=False)
        self.git("reset", "-q", "--hard", self.base)
        self.said = done.stdout + done.stderr
        return done.returncode

    def report(self, name):
        return json.loads((self.out / f"{name}.json").read_text(encoding="utf-8"))

    def change_kernel(self, line):
        """`line` as the first of the kernel's body."""
        path = self.tree / KERNEL
        before, after = path.read_text(encoding="utf-8").split("__grid_constant__ AttentionParams p) {\n", 1)
        path.write_text(f"{before}__grid_constant__ AttentionParams p) {{\n{line}\n{after}", encoding="utf-8")

    def test_a_comment_passes_and_the_reports_say_what_was_compared(self):
        self.change_kernel("  // nothing")
        self.assertEqual(self.gated(), 0, self.said)
        for name in ("gate-build", "gate-sim"):
            kernels = self.report(name)["kernels"]
            (before,), (now,) = kernels["baseline"], kernels["current"]
            self.assertEqual((before["path"], now["path"]), (f"{self.tree}/build/ci-base/kernels", f"{self.tree}/kernels"))
            self.assertNotEqual(before["hash"], now["hash"], "their sources differ")
            for text in (self.said, (self.out / f"{name}.xml").read_text(encoding="utf-8"),
                         (self.out / f"{name}.md").read_text(encoding="utf-8")):
                self.assertIn(before["hash"], text)
                self.assertIn(now["hash"], text)

    def test_shared_memory_that_takes_blocks_from_an_sm_fails(self):
        self.change_kernel("  __shared__ volatile int padding[8192];\n  padding[threadIdx.x % 8192] = 1;")
        self.assertEqual(self.gated(), 1, self.said)
        self.assertRegex(self.said, r"worse.*shared memory")
        self.assertRegex(self.said, r"worse.*blocks an SM")
        self.assertEqual(self.report("gate-build")["exit_code"], 1)
        self.assertEqual(self.report("gate-sim")["exit_code"], 0)

    def test_more_bytes_of_the_heads_model_fail(self):
        (self.tree / "more_bytes").touch()
        self.assertEqual(self.gated(), 1, self.said)
        self.assertRegex(self.said, r"worse.*SM bytes")
        self.assertEqual(self.report("gate-build")["exit_code"], 0)
        self.assertEqual(self.report("gate-sim")["exit_code"], 1)

    def test_a_base_without_kernels_is_no_pass(self):
        self.git("rm", "-q", "-r", "kernels")
        empty = self.commit("no kernels")
        self.git("reset", "-q", "--hard", self.base)
        before, type(self).base = self.base, empty
        try:
            self.assertEqual(self.gated(), 3, self.said if hasattr(self, "said") else "")
        finally:
            type(self).base = before
            self.git("reset", "-q", "--hard", before)

    def test_a_revision_that_does_not_build_is_no_pass(self):
        (self.tree / "broken").touch()
        self.assertEqual(self.gated(), 3, self.said)
        self.assertIn("does not build", self.said)


if __name__ == "__main__":
    unittest.main()

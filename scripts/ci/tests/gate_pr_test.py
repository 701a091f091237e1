"""attnprof gate-pr in the repository of a stranger: what passes, what fails, what is refused with which command, and that
nothing is left behind.

The repository has a simulated device and a sweep's options, and where nvcc is there a kernel of its own.
"""

import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest

SOURCE = pathlib.Path(__file__).resolve().parents[3]
PROGRAM = pathlib.Path(os.environ.get("ATTNPROF_BUILD_DIR", "")).resolve() / "attnprof"

DEVICE = {"name": "mine", "title": "My GPU", "arch": "sm_90a", "sms": 66, "sm_clock_mhz": 1980, "launch_us": 2,
          "smem_per_sm_bytes": 233472, "smem_per_block_bytes": 232448, "registers_per_sm": 65536,
          "max_threads_per_sm": 2048, "max_ctas_per_sm": 32, "hbm_bytes": 80e9, "hbm_gbps": 2400, "l2_bytes": 33554432,
          "l2_gbps": 2750, "l2_curve": [[12, 0], [22, 0.5], [30, 1]], "smem_gbps": 16700, "tensor_16bit_tflops": 494,
          "fp32_tflops": 33.5, "exp_gops": 2090}
SMALL_L2 = DEVICE | {"l2_curve": [[0.01, 0], [0.02, 0.9], [0.03, 1]]}
SWEEP = '[sweep]\nvariant = "flash1"\nseqlen = "128,256"\nhead-dim = "64"\nheads = "2"\n'
SIMULATED = ["sweep", "--backend", "sim", "--target-file", "k/device.json", "--config", "k/sweep.toml"]
COMPILED = ["compile", "--variant-file", "k/mine.json", "--arch", "sm_90a", "-N", "512", "-d", "64"]

# Of a kernel: an array that no registers can hold.
STACK = "  volatile int local[64];\n  local[threadIdx.x % 64] = 1;"


def nvcc_is_there():
    doctor = subprocess.run([PROGRAM, "doctor", "--format", "json"], capture_output=True, text=True, check=False)
    return any(finding["topic"] == "nvcc" and finding["state"] == "ok" for finding in json.loads(doctor.stdout)["findings"])


def everything_in(folder):
    """Paths and contents, but those of git's index, which git status may refresh."""
    return {str(path.relative_to(folder)): path.read_bytes() if path.is_file() and path.name != "index" else None
            for path in folder.rglob("*") if not path.is_symlink()}


class Toy(unittest.TestCase):
    """A repository with a branch `main`, its base, and a branch `change`, checked out."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name).resolve()
        self.tree, self.scratch, self.home = (self.folder / name for name in ("tree", "scratch", "home"))
        for path in (self.tree / "k", self.scratch, self.home):
            path.mkdir(parents=True)
        # A kernel cache that this file's tests share: a kernel is compiled once.
        cache = pathlib.Path(os.environ.get("ATTNPROF_BUILD_DIR", self.folder)).resolve() / "gate-pr-cache"
        self.environment = {name: value for name, value in os.environ.items() if not name.startswith(("GIT_", "GITHUB_"))}
        self.environment |= {"HOME": str(self.home), "TMPDIR": str(self.scratch), "XDG_CACHE_HOME": str(cache),
                             "GIT_CONFIG_NOSYSTEM": "1", "GIT_ALLOW_PROTOCOL": "file", "GIT_TERMINAL_PROMPT": "0"}
        for name, value in (("user.name", "test"), ("user.email", "test@example.org"), ("init.defaultBranch", "main"),
                            ("protocol.file.allow", "always"), ("advice.detachedHead", "false")):
            self.git("config", "--global", name, value, at=self.home)
        self.git("init", "-q")
        self.write("k/device.json", json.dumps(DEVICE))
        self.write("k/sweep.toml", SWEEP)
        self.write(".gitignore", "/gate\n*.so\n")
        self.add_to_base()
        self.commit("base")
        self.git("checkout", "-q", "-b", "change")

    def add_to_base(self):
        """What a test's base has beside."""

    def write(self, path, text):
        (self.tree / path).parent.mkdir(parents=True, exist_ok=True)
        (self.tree / path).write_text(text, encoding="utf-8")

    def git(self, *words, at=None):
        return subprocess.run(["git", *words], cwd=at or self.tree, env=self.environment, check=True, capture_output=True,
                              text=True).stdout.strip()

    def commit(self, message="change", at=None):
        self.git("add", "-A", at=at)
        self.git("commit", "-q", "--allow-empty", "-m", message, at=at)
        return self.git("rev-parse", "HEAD", at=at)

    def gate(self, *words, base="main", command=None, at=None, **variables):
        """The exit code; what was said is in self.out and self.err."""
        words = [PROGRAM, "gate-pr", *(["--base", base] if base else []), *words, "--", *(command or SIMULATED)]
        done = subprocess.run(words, cwd=at or self.tree, env=self.environment | variables, capture_output=True, text=True,
                              check=False)
        self.out, self.err = done.stdout, done.stderr
        self.assertEqual([], list(self.scratch.iterdir()), "scratch is left")
        self.assertFalse((self.tree / ".git/worktrees").exists(), "git's record of the worktree is left")
        return done.returncode

    def assert_refused(self, code, *parts):
        """One sentence with these parts, the last that was said."""
        sentence = self.err.rstrip("\n").rsplit("\n", 1)[-1]
        self.assertTrue(sentence.startswith("attnprof: "), self.err)
        for part in parts:
            self.assertIn(part, sentence)
        self.assertEqual(self.code, code, self.err)

    def refused(self, code, *parts, **arguments):
        words = arguments.pop("words", ())
        self.code = self.gate(*words, **arguments)
        self.assert_refused(code, *parts)

    def run_advice(self, at):
        """Runs the command that the refusal names."""
        command = re.search(r"run first: (.*)$", self.err, re.MULTILINE).group(1)
        subprocess.run(command, shell=True, cwd=at, env=self.environment, check=True, capture_output=True)
        return command


class Simulated(Toy):
    def test_a_neutral_change_passes_and_says_so_and_writes_nothing(self):
        self.write("README", "new\n")
        self.commit()
        before = everything_in(self.tree)
        self.assertEqual(self.gate(), 0, self.err)
        self.assertIn("k/device.json, k/sweep.toml are unchanged", self.out)
        self.assertIn("gate passed: 2 of 2 rows the same; 8 values compared", self.out)
        self.assertRegex(self.err, r"the base is [0-9a-f]{10}, the merge base of main and HEAD")
        self.assertEqual(everything_in(self.tree), before)

    def test_a_worse_change_fails_by_either_sides_own_files(self):
        self.write("k/device.json", json.dumps(SMALL_L2))
        self.commit()
        larger = [*SIMULATED, "-N", "1k"]
        self.refused(3, "target_figures", command=larger)
        self.assertEqual(self.gate("--allow-different", "target_figures", command=larger), 1, self.err)
        self.assertRegex(self.out, r"worse.*HBM bytes")
        self.assertNotIn("unchanged", self.out)

    def test_a_case_that_is_gone_fails_and_base_moves_on_do_not_count(self):
        self.write("k/sweep.toml", SWEEP.replace("128,256", "128"))
        self.commit()
        self.git("checkout", "-q", "main")
        self.write("k/sweep.toml", SWEEP.replace("128,256", "1k"))
        self.commit("main moves on")
        self.git("checkout", "-q", "change")
        self.assertEqual(self.gate(), 1, self.err)
        self.assertRegex(self.out, r"missing .*q_len=256")
        self.assertNotIn("1024", self.out)

    def test_the_head_is_the_working_tree_as_it_stands(self):
        self.write("k/sweep.toml", SWEEP.replace("128,256", "128"))
        self.assertEqual(self.gate(), 1, self.err)
        self.assertIn("and 1 uncommitted change (k/sweep.toml)", self.err)

    def test_a_clean_head_that_is_its_base_is_refused(self):
        self.refused(3, "is its own merge base with main", "nothing to compare")
        self.write("gate.md", "of an earlier gate")
        self.refused(3, "is its own merge base", words=("--markdown", "gate.md"))
        self.assertIn("is its own merge base", (self.tree / "gate.md").read_text(encoding="utf-8"))

    def test_paths_are_each_sides_own_from_any_folder(self):
        self.write("k/sweep.toml", SWEEP.replace("128,256", "128"))
        absolute = [str(self.tree / word) if word.startswith("k/") else word for word in SIMULATED]
        relative = [word.removeprefix("k/") for word in SIMULATED]
        for command, folder in ((absolute, self.tree), (absolute, self.tree / "k"), (relative, self.tree / "k")):
            self.assertEqual(self.gate(command=command, at=folder), 1, self.err)
            self.assertRegex(self.out, r"missing .*q_len=256")

    def test_the_folder_keeps_both_sides_and_the_reports(self):
        self.write("README", "new\n")
        kept = self.tree / "gate"
        for _ in range(2):  # the second replaces the first's
            self.assertEqual(self.gate("-o", "gate", "--markdown", "k/gate.md"), 0, self.err)
            self.assertEqual({path.name for path in kept.iterdir()},
                             {"base.csv", "base.csv.meta.json", "head.csv", "head.csv.meta.json", "gate.xml", "gate.json",
                              "gate-pr.txt"})
            (kept / "base.csv").write_text("of an earlier gate", encoding="utf-8")
        self.assertEqual(json.loads((kept / "gate.json").read_text(encoding="utf-8"))["exit_code"], 0)
        base = self.git("rev-parse", "--short=10", "main")
        self.assertIn(base, (self.tree / "k/gate.md").read_text(encoding="utf-8"))
        self.assertEqual(self.gate("-o", "gate"), 0, self.err)
        again = subprocess.run([PROGRAM, "gate", kept / "base.csv", kept / "head.csv"], capture_output=True, check=False)
        self.assertEqual(again.returncode, 0, "the files can be gated again")

    def test_files_that_no_gate_pr_wrote_are_not_replaced(self):
        self.write("README", "new\n")
        for name in ("base.csv", "head.csv.meta.json", "gate.json", "gate-pr.txt"):
            self.write(f"mine/{name}", "the user's own")
            before = everything_in(self.tree)
            self.refused(2, f"-o mine has {name}, which no gate-pr wrote", words=("-o", "mine"))
            self.assertEqual(everything_in(self.tree), before)
            (self.tree / "mine" / name).unlink()
        self.assertEqual(self.gate("-o", "mine"), 0, self.err)

    def test_changes_beside_the_outputs_count(self):
        self.write("k/sweep.toml", SWEEP.replace("128,256", "128"))
        for folder in ("k", "."):
            before = everything_in(self.tree)
            for _ in range(2):  # what the first left is no change either
                self.assertEqual(self.gate("-o", folder), 1, self.err)
                self.assertIn("and 1 uncommitted change (k/sweep.toml)", self.err)
            for path in everything_in(self.tree).keys() - before:
                (self.tree / path).unlink()

    def test_quiet_is_quiet_of_both_sides(self):
        self.write("README", "new\n")
        self.assertEqual(self.gate("--quiet"), 0, self.err)
        self.assertNotRegex(self.err, "gate-pr:|backend sim, target mine: asked for")
        self.assertEqual(self.gate(), 0, self.err)
        self.assertRegex(self.err, "gate-pr:(.*\n)*backend sim, target mine: asked for", "else it is said")

    def test_an_output_is_no_input_and_is_opened_before_anything_runs(self):
        self.write("README", "new\n")
        self.refused(2, "k/device.json", words=("--json", "k/device.json"))
        self.write("k/kernel.cu", "code\n")
        self.commit()
        self.refused(2, "k/kernel.cu is a file that the repository tracks", words=("--markdown", "k/kernel.cu"))
        self.assertEqual((self.tree / "k/kernel.cu").read_text(encoding="utf-8"), "code\n")
        self.refused(3, "nowhere/gate.md", words=("--markdown", "nowhere/gate.md", "--build", "touch ran"))
        self.assertFalse((self.tree / "ran").exists())

    def test_what_the_pull_request_takes_away(self):
        (self.tree / "k/device.json").unlink()
        self.refused(3, "k/device.json is in the merge base alone: the pull request takes it away")

    def test_the_command_is_one_that_writes_rows_and_has_no_files_of_its_own(self):
        self.refused(2, "gate-pr runs compile, sweep or resources, not 'tune'", command=["tune"])
        self.refused(2, "may not have --gate", command=[*SIMULATED, "--gate", "b.csv"])
        self.refused(2, "may not have -o", command=[*SIMULATED, "-o", "b.csv"])
        self.write("README", "new\n")
        self.refused(2, "names no file or folder of this repository", command=["sweep", "--backend", "sim"])
        self.refused(2, "exit code 2 in the head", command=[*SIMULATED, "--no-such-option"])
        done = subprocess.run([PROGRAM, "gate-pr", "--base", "main"], cwd=self.tree, capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 2)
        self.assertIn("after --", done.stderr)


    def test_the_help_fits_80_columns_and_has_examples_and_exit_codes(self):
        said = subprocess.run([PROGRAM, "gate-pr", "--help"], capture_output=True, text=True, check=True).stdout
        own = said[:said.index("Thresholds:")] + said[said.index("Runs the command"):]
        self.assertEqual([], [line for line in own.splitlines() if len(line) > 80])
        self.assertIn("Examples:", said)
        self.assertIn("Exit codes: 0 no regression", said)
        self.assertIn("Usage: attnprof gate-pr [OPTIONS] -- COMMAND\n", said)
        self.assertNotIn("--against", said)
        self.refused(2, "'--against' is no option of attnprof gate-pr", words=("--against", "baseline"))


class Environment(Toy):
    def test_without_git_or_a_repository(self):
        self.refused(3, "there is none in PATH", PATH=str(self.home))
        self.refused(3, "is in no git repository", at=self.home)
        self.refused(3, "no working tree", at=self.tree / ".git")
        empty = self.folder / "empty"
        self.git("init", "-q", str(empty))
        self.refused(3, "has no commit yet", at=empty)

    def test_revisions_that_are_none(self):
        self.write("README", "new\n")
        self.refused(2, "--base nonsense", "no such revision", base="nonsense")
        self.refused(2, "--base main^{tree}", base="main^{tree}")
        self.refused(2, "--base REV is missing; see attnprof gate-pr --help", base=None)
        self.git("checkout", "-q", "--orphan", "other")
        self.commit("no ancestor")
        self.refused(3, "main and HEAD have no commit in common")

    def test_an_owner_that_git_finds_dubious(self):
        self.write("README", "new\n")
        self.refused(3, "another user owns the repository", "run first: git config --global --add safe.directory",
                     GIT_TEST_ASSUME_DIFFERENT_OWNER="1")
        self.run_advice(self.tree)
        self.assertEqual(self.gate(GIT_TEST_ASSUME_DIFFERENT_OWNER="1"), 0, self.err)

    def clone(self, *options):
        """As CI makes it, of a branch `change` that is three commits ahead of where main was left, which is two ahead."""
        for number in range(3):
            self.write("README", f"{number}\n")
            self.commit()
        self.git("checkout", "-q", "main")
        for number in range(2):
            self.write("other", f"{number}\n")
            self.commit("main moves on")
        clone = self.folder / "clone"
        self.git("clone", "-q", "-b", "change", *options, f"file://{self.tree}", str(clone), at=self.folder)
        return clone

    def assert_advice_helps(self, clone, base, *parts):
        self.refused(3, *parts, base=base, at=clone)
        command = self.run_advice(clone)
        self.assertEqual(self.gate(base=base, at=clone), 0, f"after {command}: {self.err}")

    def test_a_shallow_clone_of_all_branches(self):
        clone = self.clone("--depth=1", "--no-single-branch")
        self.assert_advice_helps(clone, "origin/main", "only a part of the history", "run first: git fetch --unshallow origin")

    def test_a_shallow_clone_of_one_branch_and_its_base_fetched(self):
        clone = self.clone("--depth=1")
        self.git("fetch", "-q", "--depth=1", "origin", "main:refs/remotes/origin/main", at=clone)
        self.assert_advice_helps(clone, "origin/main", "run first: git fetch --unshallow origin")

    def test_a_shallow_clone_of_one_branch(self):
        clone = self.clone("--depth=1")
        self.assert_advice_helps(clone, "origin/main", "does not have that branch", "run first: git fetch --unshallow origin")

    def test_a_clone_of_one_branch(self):
        clone = self.clone("--single-branch")
        self.assert_advice_helps(clone, "origin/main", "does not have that branch", "run first: git fetch origin")

    def test_a_commit_that_the_clone_does_not_have(self):
        clone = self.clone("--depth=1")
        self.assert_advice_helps(clone, self.git("rev-parse", "main"), "does not have that commit", "run first: git fetch")

    def test_a_branch_that_only_the_remote_has(self):
        clone = self.clone()
        self.refused(2, "give --base origin/main", base="main", at=clone)
        self.assertEqual(self.gate(base="origin/main", at=clone), 0, self.err)

    def test_the_merge_commit_that_github_checks_out(self):
        clone = self.clone()
        self.git("merge", "-q", "--no-edit", "origin/main", at=clone)
        self.assertEqual(self.gate(base="HEAD^2", at=clone), 0, self.err)

    def test_from_a_hook_and_without_running_one(self):
        self.write("README", "new\n")
        for name in ("post-checkout", "post-index-change"):
            hook = self.tree / ".git/hooks" / name
            hook.parent.mkdir(exist_ok=True)
            hook.write_text(f"#!/bin/sh\ntouch {self.folder}/ran\n", encoding="utf-8")
            hook.chmod(0o755)
        build = 'git rev-parse --show-toplevel >>"$HOME/tops"'
        self.assertEqual(self.gate("--build", build, GIT_DIR=str(self.tree / ".git"), GIT_INDEX_FILE=".git/index",
                                   GIT_WORK_TREE=str(self.tree)), 0, self.err)
        self.assertFalse((self.folder / "ran").exists())
        tops = (self.home / "tops").read_text(encoding="utf-8").split()
        self.assertTrue(tops[0].startswith(str(self.scratch)), tops)
        self.assertEqual(tops[1], str(self.tree))

    def test_files_that_anybody_may_write_to_are_none_of_the_worktrees(self):
        self.write("README", "new\n")
        before = os.umask(0)
        try:
            self.assertEqual(self.gate("--build", 'ls -l k/device.json >>"$HOME/modes"'), 0, self.err)
        finally:
            os.umask(before)
        self.assertTrue((self.home / "modes").read_text(encoding="utf-8").startswith("-rw-rw-r--"))

    def test_submodules_are_there_where_the_users_are(self):
        module = self.folder / "module"
        self.git("init", "-q", str(module))
        (module / "sweep.toml").write_text(SWEEP, encoding="utf-8")
        self.commit("of the base", at=module)
        self.git("checkout", "-q", "main")
        self.git("submodule", "--quiet", "add", str(module), "third party")
        self.commit("with a submodule")
        self.git("checkout", "-q", "-B", "change")
        inside = self.tree / "third party"
        (inside / "sweep.toml").write_text(SWEEP.replace("128,256", "128"), encoding="utf-8")
        self.commit("of the head", at=inside)
        self.commit()
        command = [word.replace("k/sweep.toml", "third party/sweep.toml") for word in SIMULATED]
        before = everything_in(self.tree)
        self.assertEqual(self.gate(command=command), 1, self.err)
        self.assertRegex(self.out, r"missing .*q_len=256")
        self.assertEqual(everything_in(self.tree), before)
        clone = self.folder / "clone"
        self.git("clone", "-q", str(self.tree), str(clone), at=self.folder)
        self.assertEqual(self.gate(base="origin/main", at=clone), 0, self.err)
        self.assertIn("not checked out here, so empty in the merge base too: third party", self.err)

    def test_a_submodule_without_the_bases_commit(self):
        module = self.folder / "module"
        self.git("init", "-q", str(module))
        self.commit("first", at=module)
        self.git("checkout", "-q", "main")
        self.git("submodule", "--quiet", "add", str(module), "third")
        self.git("checkout", "-q", "-b", "side", at=module)
        newer = self.commit("newer", at=module)
        self.git("update-index", "--cacheinfo", f"160000,{newer},third")
        self.git("commit", "-q", "-m", "newer")
        self.git("checkout", "-q", "-B", "change")
        self.commit("back to the first")
        self.refused(3, "the submodule third lacks the commit", "run first: git -C")
        self.run_advice(self.tree)
        self.assertEqual(self.gate(), 0, self.err)

    def test_a_pointer_of_git_lfs_is_not_compared_with_its_file(self):
        self.git("checkout", "-q", "main")
        pointer = "version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 1\n"
        self.write(".gitattributes", "*.bin filter=lfs\n")
        self.write("k/weights.bin", pointer)
        self.commit("with a pointer")
        self.git("checkout", "-q", "-B", "change")
        self.write("README", "new\n")
        self.assertEqual(self.gate(), 0, "a pointer on both sides")
        self.write("k/weights.bin", "its content")
        self.refused(3, "k/weights.bin is kept by git-lfs", "lfs install --local &&", "lfs fetch origin")


class Sides(Toy):
    def test_both_sides_are_built_in_the_folder_of_the_command(self):
        self.write("README", "new\n")
        self.write("k/Makefile", "all:\n\tpwd >>$(HOME)/built\n")
        self.git("checkout", "-q", "main")
        self.commit("with a Makefile")
        self.git("checkout", "-q", "-B", "change")
        self.write("README", "newer\n")
        relative = [word.removeprefix("k/") for word in SIMULATED]
        self.assertEqual(self.gate("--build", "make", command=relative, at=self.tree / "k"), 0, self.err)
        base, head = (self.home / "built").read_text(encoding="utf-8").split()
        self.assertTrue(base.startswith(f"{self.scratch}/") and base.endswith("/k"), base)
        self.assertEqual(head, str(self.tree / "k"))

    def test_a_side_that_does_not_build(self):
        self.write("only_in_head", "")
        self.refused(3, "--build 'test -e only_in_head' ended with exit code 1 in the merge base",
                     words=("--build", "test -e only_in_head", "--json", "gate.json"))
        self.assertEqual(json.loads((self.tree / "gate.json").read_text(encoding="utf-8"))["exit_code"], 3)
        self.refused(3, "ended with exit code 1 in the head", words=("--build", "! test -e only_in_head"))
        self.refused(3, "was ended by signal 11", "in the merge base", words=("--build", "kill -SEGV $$"))

    def test_a_side_that_cannot_be_measured(self):
        self.write("k/sweep.toml", "nonsense")
        self.refused(2, "'attnprof sweep' ended with exit code 2 in the head")
        self.git("checkout", "-q", "main")
        self.commit("nonsense")
        self.git("checkout", "-q", "-B", "change")
        self.write("k/sweep.toml", SWEEP)
        self.refused(3, "'attnprof sweep' ended with exit code 2 in the merge base")

    def test_what_the_base_does_not_have(self):
        self.write("k/new.toml", SWEEP)
        command = [word.replace("sweep.toml", "new.toml") for word in SIMULATED]
        self.refused(3, "does not have k/new.toml, which this pull request adds", command=command)
        self.write("deep/new.toml", SWEEP)
        self.refused(3, "has no folder deep", command=["sweep", "--config", "new.toml"], at=self.tree / "deep")
        self.write("k/made.so", "")
        self.refused(3, "k/made.so is in no commit", "give --build", command=[*SIMULATED, "--plugin", "./k/made.so"])

    def test_signals_end_it_with_nothing_left(self):
        self.write("README", "new\n")
        before = everything_in(self.tree)
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            pid_file = self.home / "pid"
            pid_file.unlink(missing_ok=True)
            build = f"sleep 600 & echo $! $$ >{pid_file}.new; mv {pid_file}.new {pid_file}; wait"
            code, said = self.ended_by(number, ["--build", build, "--", *SIMULATED], pid_file.exists)
            self.assertEqual(code, 128 + number, said)
            self.assertIn("attnprof: ended by SIG", said)
            self.assert_nothing_runs(pid_file.read_text(encoding="utf-8").split())
            self.assertEqual(everything_in(self.tree), before)

    def test_a_signal_while_a_side_is_measured_ends_its_program_too(self):
        self.write("k/sweep.toml", SWEEP.replace("128,256", "64k").replace('"2"', '"64"'))
        before, pids = everything_in(self.tree), []
        code, said = self.ended_by(signal.SIGTERM, ["--", *SIMULATED], lambda: pids.extend(self.inner()) or pids)
        self.assertEqual(code, 128 + signal.SIGTERM, said)
        self.assert_nothing_runs(pids)
        self.assertEqual(everything_in(self.tree), before)

    def test_a_side_that_crashes_is_a_sentence(self):
        self.write("k/sweep.toml", SWEEP.replace("128,256", "64k").replace('"2"', '"64"'))
        pids = []
        code, said = self.ended_by(signal.SIGSEGV, ["--", *SIMULATED], lambda: pids.extend(self.inner()) or pids, pids)
        self.assertEqual(code, 3, said)
        self.assertIn("attnprof: 'attnprof sweep' was ended by signal 11 (Segmentation fault) in the head", said)

    def inner(self):
        return [int(pid) for pid in os.listdir("/proc") if pid.isdigit() and self.is_inner(pid)]

    def is_inner(self, pid):
        try:
            words = pathlib.Path(f"/proc/{pid}/cmdline").read_bytes().decode().split("\0")
        except OSError:
            return False
        return words[1:2] == ["sweep"] and any(word.startswith(str(self.scratch)) for word in words)

    def ended_by(self, number, words, ready, pids=()):
        """Exit code and words of a gate-pr that is sent a signal, or those of `pids` are, once it is `ready`."""
        with tempfile.TemporaryFile("w+") as output:
            program = subprocess.Popen([PROGRAM, "gate-pr", "--base", "main", *words], cwd=self.tree, env=self.environment,
                                       stdout=output, stderr=output)
            end = time.monotonic() + 60
            while not ready() and time.monotonic() < end:
                time.sleep(0.01)
            for pid in pids or [program.pid]:
                os.kill(pid, number)
            code = program.wait(timeout=60)
            output.seek(0)
            self.assertEqual([], list(self.scratch.iterdir()))
            return code, output.read()

    def assert_nothing_runs(self, pids):
        self.assertTrue(pids)
        for pid in pids:
            end = time.monotonic() + 20
            while self.runs(pid) and time.monotonic() < end:
                time.sleep(0.01)
            self.assertFalse(self.runs(pid), pid)

    @staticmethod
    def runs(pid):
        try:
            return pathlib.Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rsplit(") ", 1)[1][0] not in "ZX"
        except OSError:
            return False

    def test_what_a_killed_one_left_goes_at_the_next_start(self):
        self.add_submodule("deep/third party")
        program = self.waiting()
        program.kill()
        program.wait()
        os.kill(int((self.home / "pid").read_text(encoding="utf-8")), signal.SIGKILL)
        (record,) = (self.tree / ".git/worktrees").iterdir()
        of_module = self.tree / ".git/modules/deep/third party/worktrees"
        self.assertTrue(list(self.scratch.iterdir()) and of_module.exists(), "nobody could remove it")
        (record / "locked").touch()
        own = self.worktrees_of_the_user()
        self.run_again()
        self.assertEqual([], list(self.scratch.iterdir()))
        self.assertFalse(of_module.exists())
        self.assertEqual({*own, record.name}, set(os.listdir(record.parent)), "the user's own stay, and what is locked")
        (record / "locked").unlink()
        self.run_again()
        self.assertEqual(own, set(os.listdir(record.parent)))

    def test_what_runs_where_its_tmp_cannot_be_seen_is_left_alone(self):
        self.write("README", "new\n")
        program = self.waiting()
        (scratch,) = self.scratch.iterdir()
        scratch.rename(self.folder / "hidden")
        before = everything_in(self.tree / ".git/worktrees")
        self.run_again()
        self.assertEqual(before.keys(), everything_in(self.tree / ".git/worktrees").keys())
        program.terminate()
        self.assertEqual(program.wait(), 128 + signal.SIGTERM)
        self.assertFalse((self.tree / ".git/worktrees").exists())

    def add_submodule(self, path):
        module = self.folder / "module"
        self.git("init", "-q", str(module))
        self.commit("of the base", at=module)
        self.git("checkout", "-q", "main")
        self.git("submodule", "--quiet", "add", str(module), path)
        self.commit("with a submodule")
        self.git("checkout", "-q", "-B", "change")
        self.write("README", "new\n")

    def worktrees_of_the_user(self):
        """The names of worktrees whose folders are gone, or on what is not mounted."""
        folders = [self.folder / "own-worktree", self.folder / "attnprof.work/x",
                   self.folder / "attnprof.0123456789abcdef/attnprof.0123456789abcdef-base"]
        for folder in folders:
            self.git("worktree", "add", "-q", "--detach", str(folder))
            shutil.rmtree(folder)
        return {folder.name for folder in folders}

    def run_again(self):
        done = subprocess.run([PROGRAM, "gate-pr", "--base", "main", "--", *SIMULATED], cwd=self.tree, env=self.environment,
                              capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 0, done.stderr)

    def waiting(self):
        """A gate-pr that is building the base."""
        pid_file = self.home / "pid"
        program = subprocess.Popen([PROGRAM, "gate-pr", "--base", "main", "--build", f"echo $$ >{pid_file}; exec sleep 600", "--",
                                    *SIMULATED], cwd=self.tree, env=self.environment, stderr=subprocess.DEVNULL)
        self.addCleanup(lambda: program.poll() is None and program.kill())
        while not (pid_file.exists() and pid_file.read_text(encoding="utf-8")):
            self.assertIsNone(program.poll())
            time.sleep(0.01)
        return program


class Compiled(Toy):
    """A kernel file, as README shows it."""

    @classmethod
    def setUpClass(cls):
        if not nvcc_is_there():
            if os.environ.get("ATTNPROF_EXPECT_CUDA"):
                raise AssertionError("there is no nvcc")
            raise unittest.SkipTest("there is no nvcc")

    def add_to_base(self):
        for name in ("mine", "other"):
            self.new_variant(name)

    def new_variant(self, name):
        subprocess.run([PROGRAM, "new-variant", name, "-o", "k"], cwd=self.tree, check=True, capture_output=True)

    def change_kernel(self, line, name="mine"):
        path = self.tree / f"k/{name}.cu"
        text = path.read_text(encoding="utf-8")
        place = text.index("{\n", text.index('extern "C" __global__')) + 2
        path.write_text(text[:place] + line + "\n" + text[place:], encoding="utf-8")

    def test_a_comment_passes_and_says_that_the_kernels_are_unchanged(self):
        self.change_kernel("  // nothing")
        self.commit()
        self.assertEqual(self.gate(command=COMPILED), 0, self.err)
        self.assertIn("the machine code of the kernels is unchanged in every row", self.out)

    def test_a_kernel_that_uses_stack_fails(self):
        self.change_kernel(STACK)
        self.assertEqual(self.gate("-o", "gate", command=COMPILED, GITHUB_ACTIONS="true", GITHUB_WORKSPACE=str(self.folder)), 1,
                         self.err)
        self.assertRegex(self.out, "1 of 1 kernel worse: stack.bytes 0 -> 256")
        self.assertIn("\n::error file=k/mine.cu,", self.out, "from the top of the repository, as pull requests show files")
        self.assertNotIn("unchanged", self.out)
        self.assertNotIn("the same sources", self.out, "the commit is, the file is not")
        report = json.loads((self.tree / "gate/gate.json").read_text(encoding="utf-8"))
        base = self.git("rev-parse", "--short=10", "main")
        self.assertEqual(report["kernels"]["baseline"], [{"hash": base, "path": str(self.tree)}])
        self.assertEqual(report["kernels"]["current"], [{"hash": base, "path": str(self.tree), "uncommitted_changes": 1}])

    def test_a_kernel_that_no_longer_compiles_fails(self):
        self.change_kernel("  nonsense;")
        self.assertEqual(self.gate(command=[*COMPILED, "--variant-file", "k/other.json"]), 1, self.err)
        self.assertIn('identifier "nonsense" is undefined', self.err)
        self.assertEqual(self.gate(command=COMPILED), 1, "the only kernel broke")

    def test_a_kernel_that_is_new(self):
        self.new_variant("fresh")
        both = [*COMPILED, "--variant-file", "k/fresh.json"]
        self.assertEqual(self.gate(command=both), 0, self.err)
        self.assertIn("new in this pull request, so with nothing to compare: k/fresh.json", self.err)
        alone = [word.replace("mine", "fresh") for word in COMPILED]
        self.refused(3, "does not have k/fresh.json, which this pull request adds, so there is nothing to compare yet",
                     command=alone)

    def test_the_workflow_for_a_repository_of_ones_own(self):
        workflow = (SOURCE / "scripts/ci/github-own-kernels.yml").read_text(encoding="utf-8")
        (step,) = re.findall(r'run: \|\n((?: {10}.*\n)*?.*gate-pr(?:.*\n {10})*.*)', workflow)
        self.change_kernel("  // nothing")
        self.commit()
        for code in (0, 1):
            done = subprocess.run(["bash", "-e", "-c", step], cwd=self.tree, capture_output=True, text=True, check=False,
                                  env=self.environment | {"ATTNPROF": str(PROGRAM), "BASE": self.git("rev-parse", "main"),
                                                          "GATE": str(self.folder / "gate")})
            self.assertEqual(done.returncode, code, done.stderr)
            self.assertTrue((self.folder / "gate/gate.md").read_text(encoding="utf-8"))
            self.change_kernel(STACK)

    def test_the_workflows_summary_is_the_report_where_there_is_one(self):
        workflow = (SOURCE / "scripts/ci/github-own-kernels.yml").read_text(encoding="utf-8")
        (step,) = re.findall(r"run: \| #.*\n((?: {10}.*\n)+)", workflow)
        summary = self.folder / "summary"
        for report in ("", "the report\n"):
            if report:
                (self.folder / "gate").mkdir()
                (self.folder / "gate/gate.md").write_text(report, encoding="utf-8")
            subprocess.run(["bash", "-e", "-c", step], check=True,
                           env=self.environment | {"RUNNER_TEMP": str(self.folder), "GITHUB_STEP_SUMMARY": str(summary)})
            self.assertEqual(summary.read_text(encoding="utf-8") if summary.exists() else "", report)

    def test_a_kernels_folder_of_ones_own(self):
        shutil.copytree(SOURCE / "kernels", self.tree / "kernels")
        self.git("checkout", "-q", "main")
        self.commit("with kernels")
        self.git("checkout", "-q", "-B", "change")
        self.change_kernel_of_tree()
        command = ["compile", "--kernels", "kernels", "--variant", "naive", "--arch", "sm_90a", "-N", "128", "-d", "64"]
        self.assertEqual(self.gate(command=command), 1, self.err)
        self.assertRegex(self.out, r"worse.*stack.bytes")

    def change_kernel_of_tree(self):
        path = self.tree / "kernels/naive.cu"
        before, after = path.read_text(encoding="utf-8").split("__grid_constant__ AttentionParams p) {\n", 1)
        path.write_text(f"{before}__grid_constant__ AttentionParams p) {{\n{STACK}\n{after}", encoding="utf-8")


@unittest.skipUnless(shutil.which("cc") and shutil.which("make"), "there is no C compiler or make")
class PlugIn(Toy):
    """A library that --build makes of each side's source: here of a plug-in that launches nothing, beside a simulated one."""

    def add_to_base(self):
        shutil.copy(SOURCE / "src/testing/test_plugin.c", self.tree / "k/plugin.c")
        self.write("k/Makefile", f"CPPFLAGS = -D_GNU_SOURCE -DBEHAVIOUR=RIGHT -I{SOURCE}/src\nLDLIBS = -lm\n"
                                 "libmine.so: plugin.c\n\t$(CC) $(CPPFLAGS) -shared -fPIC -o $@ $< $(LDLIBS)\n")

    COMMAND = ["sweep", "--backend", "sim", "--target-file", "k/device.json", "--plugin", "k/libmine.so", "--variant",
               "flash2,hosted", "-N", "128", "-d", "64", "--heads", "2"]

    def test_each_side_loads_its_own_library(self):
        self.write("README", "new\n")
        self.assertEqual(self.gate("--build", "make -s -C k", command=self.COMMAND), 0, self.err)
        self.write("k/Makefile", (self.tree / "k/Makefile").read_text(encoding="utf-8").replace("RIGHT", "ANOTHER_ABI"))
        self.refused(2, "exit code 2 in the head", words=("--build", "make -s -B -C k"), command=self.COMMAND)

    def test_a_library_that_is_made_by_no_build(self):
        self.write("README", "new\n")
        subprocess.run(["make", "-s", "-C", "k"], cwd=self.tree, check=True)
        self.refused(3, "k/libmine.so is in no commit", "give --build", command=self.COMMAND)


if __name__ == "__main__":
    sys.exit(unittest.main())

"""setup.sh where something is missing or nothing is: what it prints, its exit code, and that it installs only then.

The package tools are stand-ins on PATH that note their calls, so that no test changes the machine or needs a network.
"""

import os
import pathlib
import shutil
import subprocess
import tempfile
import unittest

SCRIPTS = pathlib.Path(__file__).resolve().parents[2]
NOBODY = 65534
ALL_THERE = "echo installed"
NONE_THERE = "exit 1"


class SetupTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = pathlib.Path(folder.name)
        self.root.chmod(0o755)
        self.calls = self.root / "calls"
        self.calls.touch()
        self.calls.chmod(0o666)
        (self.root / "scripts").mkdir()
        shutil.copy(SCRIPTS / "setup.sh", self.root / "scripts")
        shutil.copytree(SCRIPTS / "requirements", self.root / "scripts/requirements")
        self.stand_in("apt-get", f'echo "apt-get $*" >>{self.calls}')
        self.stand_in("cmake", "echo cmake version 3.25.1")
        for tool in ("ninja", "g++", "shellcheck", "clang++"):
            self.stand_in(tool, "exit 0")

    def stand_in(self, name, body, folder="bin"):
        file = self.root / folder / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(f"#!/bin/sh\n{body}\n", encoding="utf-8")
        file.chmod(0o755)

    def make_venv(self):
        """An environment that looks complete, and whose Python notes every call of pip."""
        self.stand_in("python", f'[ "$1" != -m ] || echo "python $*" >>{self.calls}', ".venv/bin")
        for name in ("report", "lint", "wheel"):
            shutil.copy(SCRIPTS / f"requirements/{name}.txt", self.root / ".venv" / f"requirements-{name}.installed")

    def setup(self, *options, packages, user=None):
        self.stand_in("dpkg-query", packages)
        path = f"{self.root}/bin:/usr/bin:/bin"
        return subprocess.run([self.root / "scripts/setup.sh", *options], capture_output=True, text=True, cwd="/",
                              env={"PATH": path}, user=user, check=False)

    def called(self):
        return self.calls.read_text(encoding="utf-8").splitlines()


class MissingPackages(SetupTest):
    def test_a_clang_that_cannot_fuzz_is_not_enough(self):
        self.make_venv()
        self.assertEqual(self.setup("--fuzz", "--no-install", packages=ALL_THERE).returncode, 0)
        self.stand_in("clang++", "cat >/dev/null; exit 1")
        self.assertEqual(self.setup("--no-install", packages=ALL_THERE).returncode, 0)
        done = self.setup("--fuzz", "--no-install", packages=ALL_THERE)
        self.assertEqual(done.returncode, 3)
        self.assertIn("--no-install-recommends clang libclang-rt-dev", done.stderr)

    LINE = ("apt-get update && apt-get install -y --no-install-recommends libcli11-dev libfmt-dev libcsv-dev "
            "nlohmann-json3-dev libxxhash-dev")

    def test_without_root_prints_the_one_line(self):
        self.make_venv()
        done = self.setup(packages=NONE_THERE, user=NOBODY if os.geteuid() == 0 else None)
        self.assertEqual(done.returncode, 3)
        self.assertEqual(done.stderr, f"setup: packages are missing; as root, run: {self.LINE}\n")
        self.assertEqual(self.called(), [])

    def test_no_install_prints_the_same_line(self):
        self.make_venv()
        done = self.setup("--no-install", "--tests", packages=NONE_THERE)
        self.assertEqual(done.returncode, 3)
        self.assertTrue(done.stderr.endswith(f"as root, run: {self.LINE} libgtest-dev libgmock-dev\n"), done.stderr)
        self.assertEqual(self.called(), [])

    def test_only_what_is_missing_is_asked_for(self):
        self.make_venv()
        (self.root / "bin/cmake").write_text("#!/bin/sh\necho cmake version 3.9.0\n", encoding="utf-8")
        done = self.setup("--no-install", packages='for name; do :; done; [ "$name" = libcsv-dev ] || echo installed')
        self.assertTrue(done.stderr.endswith("--no-install-recommends cmake libcsv-dev\n"), done.stderr)

    @unittest.skipUnless(os.geteuid() == 0, "needs root")
    def test_root_installs_them(self):
        self.make_venv()
        done = self.setup(packages=NONE_THERE)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(self.called()[0], "apt-get -qq update")
        self.assertEqual(self.called()[1], "apt-get -qq " + self.LINE.split("apt-get ")[2])

    @unittest.skipUnless(os.geteuid() == 0, "needs root")
    def test_a_failing_package_manager_is_a_sentence(self):
        self.make_venv()
        self.stand_in("apt-get", "exit 100")
        done = self.setup(packages=NONE_THERE)
        self.assertEqual(done.returncode, 3)
        self.assertIn("apt-get failed", done.stderr)


class Browser(SetupTest):
    def test_one_that_does_not_run_is_missing(self):
        self.make_venv()
        self.stand_in("chromedriver", "exit 0")
        self.stand_in("chromium", "exit 1")
        self.assertEqual(self.setup("--no-install", packages=ALL_THERE).returncode, 0)
        done = self.setup("--browser", "--no-install", packages=ALL_THERE)
        self.assertEqual(done.returncode, 3)
        self.assertIn("--no-install-recommends chromium chromium-driver\n", done.stderr)

    def test_what_drives_it_is_installed_into_the_environment(self):
        self.make_venv()
        for name in ("chromium", "chromedriver"):
            self.stand_in(name, "exit 0")
        self.assertEqual(self.setup("--browser", packages=ALL_THERE).returncode, 0)
        self.assertEqual([call.split()[:4] + call.split()[5:6] for call in self.called()],
                         [["python", "-m", "pip", "install", "scripts/requirements/browser.txt"]])


class Wheel(SetupTest):
    def test_what_builds_a_portable_one_is_installed_on_request(self):
        self.make_venv()
        (self.root / ".venv/requirements-wheel.installed").unlink()
        self.assertEqual(self.setup(packages=ALL_THERE).returncode, 0)
        self.assertEqual(self.called(), [])
        self.assertEqual(self.setup("--manylinux", packages=ALL_THERE).returncode, 0)
        self.assertEqual([call.split()[5] for call in self.called()],
                         ["scripts/requirements/manylinux.txt", "scripts/requirements/wheel.txt"])


class EverythingThere(SetupTest):
    def test_a_second_run_calls_no_package_manager(self):
        self.make_venv()
        for options in ([], ["--tests", "--lint"], ["--no-install"]):
            done = self.setup(*options, packages=ALL_THERE)
            self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(self.called(), [])

    def test_changed_requirements_are_installed_once(self):
        self.make_venv()
        with open(self.root / "scripts/requirements/report.txt", "a", encoding="utf-8") as file:
            file.write("another-package\n")
        self.assertEqual(self.setup("--no-install", packages=ALL_THERE).returncode, 3)
        self.assertEqual(self.called(), [])
        for _ in range(2):
            self.assertEqual(self.setup(packages=ALL_THERE).returncode, 0)
        self.assertEqual([call.split()[:4] for call in self.called()], [["python", "-m", "pip", "install"]])


class Environment(SetupTest):
    def test_no_install_makes_no_environment(self):
        done = self.setup("--no-install", packages=ALL_THERE)
        self.assertEqual(done.returncode, 3)
        self.assertIn("scripts/setup.sh", done.stderr)
        self.assertFalse((self.root / ".venv").exists())

    def test_a_toolkit_that_is_there_is_taken(self):
        self.make_venv()
        toolkit = self.root / "cuda"
        self.stand_in("nvcc", "exit 0", "cuda/bin")
        for file in ("include/cuda.h", "include/cupti_range_profiler.h", "lib64/libcupti.so.13"):
            (toolkit / file).parent.mkdir(exist_ok=True)
            (toolkit / file).touch()
        self.stand_in("dpkg-query", ALL_THERE)
        done = subprocess.run([self.root / "scripts/setup.sh", "--with-cuda", "--no-install"], capture_output=True,
                              text=True, check=False, env={"PATH": f"{self.root}/bin:/usr/bin:/bin", "CUDA_HOME": toolkit})
        self.assertEqual((done.returncode, done.stderr), (0, f"setup: all there; CUDA_HOME={toolkit}\n"))

    def test_unknown_option(self):
        done = self.setup("--fast", packages=ALL_THERE)
        self.assertEqual(done.returncode, 2)
        self.assertIn("'--fast'", done.stderr)


if __name__ == "__main__":
    unittest.main()

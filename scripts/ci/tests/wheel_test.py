"""The wheel, installed by an ordinary user into an environment of its own: it sweeps, draws, and measures where there is a GPU.

ATTNPROF_WHEEL names the file; without it one is packed from what the build folder holds (cmake/packed), with which the tests of
the program have run.
"""

import csv
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest
import zipfile

SOURCE = pathlib.Path(__file__).resolve().parents[3]
NOBODY = 65534
GIVEN = os.environ.get("ATTNPROF_WHEEL")
HAS_GPU = pathlib.Path("/proc/driver/nvidia/version").exists()


def pip(*arguments, **options):
    return subprocess.run([sys.executable, "-m", "pip", "--disable-pip-version-check", *arguments], check=False, text=True,
                          capture_output=True, **options)


def packed(folder):
    build = os.environ["ATTNPROF_BUILD_DIR"]
    environment = os.environ | {"PATH": f"{pathlib.Path(os.environ['ATTNPROF_CMAKE']).parent}:{os.environ['PATH']}"}
    done = pip("wheel", SOURCE, "--no-deps", "--no-build-isolation", "--wheel-dir", folder, env=environment,
               *(f"--config-settings=cmake.{setting}" for setting in ("source-dir=cmake/packed", f"define.ATTNPROF_BUILD={build}")))
    assert done.returncode == 0, done.stdout + done.stderr
    return next(pathlib.Path(folder).glob("*.whl"))


def runs(python, user):
    """Whether the user can make environments with it, whose packages can be this Python's."""
    check = f"import ensurepip, sys, venv; sys.exit(sys.version_info[:2] != {sys.version_info[:2]})"
    try:
        return subprocess.run([python, "-c", check], user=user, cwd="/", capture_output=True, check=False).returncode == 0
    except OSError:
        return False


class Wheel(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        holder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(holder.cleanup)
        cls.root = pathlib.Path(holder.name)
        cls.root.chmod(0o755)
        cls.wheel = pathlib.Path(GIVEN).resolve() if GIVEN else packed(cls.root)
        cls.user = NOBODY if os.geteuid() == 0 else None
        pythons = (f"{sys.base_prefix}/bin/python3", "/usr/bin/python3")
        python = next((python for python in pythons if runs(python, cls.user)), None)
        assert python, f"an ordinary user can run none of {pythons}, or it has no ensurepip: install python3-venv"
        cls.home = cls.root / "home"
        cls.home.mkdir(mode=0o700)
        if cls.user:
            os.chown(cls.home, cls.user, cls.user)
        cls.prefix = cls.home / "venv"
        cls.check_run(python, "-m", "venv", cls.prefix)
        file = cls.root / cls.wheel.name  # where that user can read it
        if file != cls.wheel:
            file.write_bytes(cls.wheel.read_bytes())
        cls.check_run(cls.prefix / "bin/pip", "install", "--no-index", "--no-deps", file)

    @classmethod
    def run_as_user(cls, *command, **variables):
        """In the user's home, with nothing of this process's environment that would lead elsewhere."""
        return cls.run_as(cls.user, *command, **variables)

    @classmethod
    def run_as(cls, user, *command, **variables):
        environment = {"HOME": str(cls.home), "PATH": "/usr/bin:/bin", "TMPDIR": str(cls.home)} | variables
        return subprocess.run([str(word) for word in command], user=user, group=user, extra_groups=[] if user else None,
                              cwd=cls.home, env=environment, check=False, text=True, capture_output=True)

    @classmethod
    def check_run(cls, *command, **variables):
        done = cls.run_as_user(*command, **variables)
        assert done.returncode == 0, f"{command}: {done.stdout}{done.stderr}"
        return done.stdout

    def attnprof(self, *arguments, **variables):
        return self.check_run(self.prefix / "bin/attnprof", *arguments, **variables)

    def test_version_is_the_programs_and_kernels_are_the_prefixs(self):
        version = self.wheel.name.split("-")[1]
        self.assertTrue(self.attnprof("--version").startswith(f"attnprof {version}"))
        findings = json.loads(self.run_as_user(self.prefix / "bin/attnprof", "doctor", "--format", "json").stdout)["findings"]
        kernels = next(finding["text"] for finding in findings if finding["topic"] == "kernels")
        self.assertEqual(kernels, str(self.prefix / "share/attnprof/kernels"))

    def test_trace_library_is_found(self):
        done = self.run_as_user(self.prefix / "bin/attnprof", "trace", "-o", "none.csv", "--", "true")
        self.assertEqual(done.returncode, 3)
        self.assertRegex(done.stderr, "used no CUDA|built without")

    def test_sweep_and_report(self):
        self.attnprof("sweep", "--backend", "sim", "-N", "512,1k", "-d", "64", "-o", "rows.csv")
        report = self.prefix / "bin/attnprof-report"
        # The extra `report` is this Python's: installing it anew is some 100 MB.
        packages = os.pathsep.join(path for path in sys.path if path.endswith("-packages"))
        # These may lie where their owner alone may look, as in /root: then the report is drawn by who runs the tests.
        seen = self.run_as_user(self.prefix / "bin/python", "-c", "import pandas, matplotlib", PYTHONPATH=packages).returncode == 0
        drawn = self.run_as(self.user if seen else None, report, "roofline", "rows.csv", "-o", "roofline.svg", PYTHONPATH=packages)
        self.assertEqual(drawn.returncode, 0, drawn.stdout + drawn.stderr)
        self.assertTrue((self.home / "roofline.svg").stat().st_size > 10_000)

    def test_it_holds_the_kernels_and_no_tests(self):
        with zipfile.ZipFile(self.wheel) as wheel:
            names = wheel.namelist()
            for kernel in (SOURCE / "kernels").rglob("*.*"):
                held = next(name for name in names if name.endswith(f".data/data/share/attnprof/{kernel.relative_to(SOURCE)}"))
                self.assertEqual(wheel.read(held), kernel.read_bytes())
            header = next(name for name in names if name.endswith(".data/data/include/attnprof_plugin.h"))
            self.assertEqual(wheel.read(header), (SOURCE / "src/plugin/attnprof_plugin.h").read_bytes())
            self.assertFalse([name for name in names if "test" in name])
            metadata = wheel.read(next(name for name in names if name.endswith("/METADATA"))).decode()
        for extra, package in (("cuda", "nvidia-cuda-nvcc"), ("cuda", "nvidia-cuda-cupti"), ("report", "matplotlib")):
            self.assertRegex(metadata, f'Requires-Dist: {package}.*; extra == "{extra}"')

    @unittest.skipUnless(GIVEN, "a packed program is one that install_test compiles with")
    def test_kernels_compile(self):
        done = self.run_as_user(self.prefix / "bin/attnprof", "compile", "--variant", "naive", "-N", "512", "-d", "64", "--arch",
                                "sm_80")
        if done.returncode == 3 and "ATTNPROF_EXPECT_CUDA" not in os.environ:
            self.assertRegex(done.stderr, "nvcc")  # the kernels were there, the compiler is not on this machine
        else:
            self.assertEqual(done.returncode, 0, done.stderr)

    @unittest.skipUnless(HAS_GPU, "there is no NVIDIA driver")
    def test_counted_sweep(self):
        """By who runs the tests: an ordinary user may not read counters (README)."""
        rows = self.root / "counted.csv"
        command = [self.prefix / "bin/attnprof", "sweep", "--backend", "gpu", "--variant", "flash2", "-N", "512", "-d", "64",
                   "--counters", "on", "--cache-dir", self.root / "cache", "-o", rows]
        done = subprocess.run([str(word) for word in command], env=os.environ | {"ATTNPROF_TRUST": str(NOBODY)}, check=False,
                              text=True, capture_output=True)
        self.assertEqual(done.returncode, 0, done.stderr)
        with open(rows, encoding="utf-8", newline="") as file:
            row = next(csv.DictReader(file))
        self.assertEqual((row["backend"], row["bytes_source"], row["disposition"], row["verified"]), ("gpu", "cupti", "ok", "yes"))
        self.assertGreater(float(row["hbm_bytes"]), 0)


if __name__ == "__main__":
    unittest.main()

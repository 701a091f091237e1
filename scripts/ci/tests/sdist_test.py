"""The source distribution: what a wheel is built from, without measured results."""

import os
import pathlib
import subprocess
import tarfile
import tempfile
import unittest

from scikit_build_core.build import build_sdist

SOURCE = pathlib.Path(__file__).resolve().parents[3]
PARTS = ("src/", "kernels/", "cmake/", "scripts/", "CMakeLists.txt", "LICENSE", "README.md", "pyproject.toml")


def held():
    here = os.getcwd()
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(SOURCE)
        try:
            name = build_sdist(folder)
        finally:
            os.chdir(here)
        with tarfile.open(f"{folder}/{name}") as archive:
            return {member.name.partition("/")[2] for member in archive.getmembers()}


class Sources(unittest.TestCase):
    def test_it_holds_what_a_wheel_is_built_from_and_no_results(self):
        names = held()
        tracked = subprocess.run(["git", "-c", f"safe.directory={SOURCE}", "ls-files"], cwd=SOURCE, check=False, text=True,
                                 capture_output=True).stdout.splitlines() or ["CMakeLists.txt", "src/main.cpp", "pyproject.toml"]
        self.assertEqual([name for name in tracked if name.startswith(PARTS) and name not in names], [])
        self.assertEqual(sorted(name for name in names if name.startswith(("results/", ".venv", "build/", ".git/"))), [])


if __name__ == "__main__":
    unittest.main()

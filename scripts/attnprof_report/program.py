"""The attnprof program, which knows what scripts must not know better: roofs, columns, rules. Standard library only."""

import json
import os
import pathlib
import shutil
import subprocess

HERE = pathlib.Path(__file__).resolve().parent
TEN_MINUTES = 600
preferred = None  # what a command's --attnprof names


class NotUsable(Exception):
    """No program, or one that does not answer as it should, as a sentence."""


def find(given=None):
    """The program: `given`, else `preferred`, else $ATTNPROF, else the one built or installed beside these scripts, else PATH's."""
    named = given or preferred or os.environ.get("ATTNPROF")
    if named:
        return str(named)
    # Installed, these scripts lie in share/attnprof/scripts, or by pip in lib/python3.x/site-packages of the prefix.
    beside = [HERE / "../../build/release/attnprof", HERE / "../../../../bin/attnprof"]
    found = next((str(path.resolve()) for path in beside if os.access(path, os.X_OK) and path.is_file()), shutil.which("attnprof"))
    if not found:
        raise NotUsable("there is no attnprof to ask: build it (scripts/demo.sh), put it into PATH, or name it in ATTNPROF.")
    return found


def run(program, *arguments, text=None):
    """The ended process, its output as text; `text`: its standard input. Throws NotUsable where it cannot be run."""
    try:
        return subprocess.run([program, *map(str, arguments)], capture_output=True, text=True, timeout=TEN_MINUTES, check=False,
                              input=text)
    except (OSError, subprocess.TimeoutExpired) as error:
        raise NotUsable(f"{program}: cannot be run: {getattr(error, 'strerror', None) or error}.") from None


def last_line(done):
    """What the program said at the end, for a sentence about it."""
    return (done.stderr.strip().splitlines() or ["it said nothing"])[-1].removeprefix("attnprof: ")


def ask(program, *arguments):
    """The JSON that a command prints. Throws NotUsable."""
    done = run(program, *arguments, "--format", "json")
    if done.returncode != 0:
        raise NotUsable(f"{program} {' '.join(map(str, arguments))} ended with exit code {done.returncode}: {last_line(done)}")
    try:
        return json.loads(done.stdout)
    except ValueError as error:
        raise NotUsable(f"{program} {arguments[0]} printed no JSON ({error}); use a program of these scripts' version.") from None

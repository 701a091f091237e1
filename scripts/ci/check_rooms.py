#!/usr/bin/env python3
"""Holds src/ to the order of its rooms, which the table of src/README.md lists from the ground up.

    scripts/ci/check_rooms.py [--objects BUILD_DIR]

Fails (exit code 1) on a folder that is no room, on an include that climbs (from a room to a later one), on a comment that
names a file which is not there and, with
--objects, on an undefined symbol of an object file that only a later room defines: declarations can be written by hand.
"""
import json
import os
import re
import subprocess
import sys

from source_tree import INCLUDE, is_for_tests, options_of, read, report, source_files

ROOM_LINE = re.compile(r"^\| `([a-z/]+)` \|")
DEFINED = frozenset("TDBR")  # strong definitions; templates and inline functions are weak
UNITY_OBJECT = re.compile(r"Unity/unity_([a-z_]+)_\d+_cxx\.cxx\.o$")
# In a comment; NAME.cpp and the like stand for any.
NAMED_FILE = re.compile(r"(?<![\w./${*<-])((?:[\w-]+/)*(?!NAME)[\w-]+\.(?:hpp|cpp|cuh|py|sh|md))\b(?![\w(])")


def read_rooms(text):
    """Rank of each room, the ground's 0."""
    return {room: rank for rank, room in enumerate(m.group(1) for m in map(ROOM_LINE.match, text.splitlines()) if m)}


def room_of(path, rooms):
    """The innermost room that a path below src/ lies in; None for a folder that is none."""
    together = UNITY_OBJECT.match(path)  # of a folder's files, compiled together (cmake/UnityByFolder.cmake)
    if together:
        path = next((room for room in sorted(rooms, key=len, reverse=True)
                     if (together.group(1) + "_").startswith(room.replace("/", "_") + "_")), "") + "/"
    folder = os.path.dirname(path)
    while folder and folder not in rooms:
        folder = os.path.dirname(folder)
    return folder or None


def is_checked(path):
    return "/" in path and not is_for_tests(path)


def climbing_includes(src, rooms):
    """A sentence for each include that climbs, and for each file outside of the rooms."""
    for path in filter(is_checked, source_files(src)):
        own = room_of(path, rooms)
        if own is None:
            yield f"src/{path}: its folder is no room; name it in src/README.md"
            continue
        for other, _ in INCLUDE.findall(read(src, path)):
            if not other or not os.path.exists(os.path.join(src, other)):
                continue  # of kernels/, which stands below all rooms
            room = room_of(other, rooms)
            if other.startswith("testing/") or (room and rooms[room] > rooms[own]):
                yield f"src/{path} includes {other}, which climbs from {own} to {room or 'testing'}"


def lost_files(src):
    """A sentence for each file that a comment of src/ names and nobody has."""
    root = os.path.dirname(os.path.abspath(src))
    places = [os.path.join(root, place) for place in ("", "src", "kernels", "scripts")]
    known = {name for place in places[1:] + [os.path.join(root, "cmake")] for _, _, names in os.walk(place) for name in names}
    for path in source_files(src):
        comments = "\n".join(re.findall(r"//(.*)", read(src, path)))
        for named in sorted(set(NAMED_FILE.findall(comments))):
            beside = os.path.join(src, os.path.dirname(path))
            if not (any(os.path.exists(os.path.join(place, named)) for place in [*places, beside])
                    if "/" in named else named in known):
                yield f"src/{path}: a comment names {named}, which is not there"


def symbols(objects):
    """Lists of (defined, undefined) symbols by object file."""
    for path in objects:
        lines = subprocess.run(["nm", "--demangle=none", path], capture_output=True, text=True, check=True).stdout
        defined, undefined = set(), set()
        for line in lines.splitlines():
            kind, name = line.split()[-2:]
            (defined if kind in DEFINED else undefined if kind == "U" else set()).add(name)
        yield path, defined, undefined


def climbing_symbols(build, rooms):
    """A sentence for each symbol that only a later room defines."""
    with open(os.path.join(build, "compile_commands.json"), encoding="utf-8") as file:
        outputs = [re.search(r" -o (\S+)", entry["command"]).group(1) for entry in json.load(file)]
    objects = [os.path.join(build, output) for output in outputs if re.search(r"attnprof_(fast|plain|traced)\.dir/(src|Unity)/", output)]
    if not objects or not all(map(os.path.exists, objects)):
        sys.exit(f"check_rooms: {build} lacks object files; build the program first")
    by_object = [(re.sub(r".*attnprof_\w+\.dir/(src/)?", "", path), d, u) for path, d, u in symbols(sorted(objects))]
    owner = {}
    for path, defined, _ in by_object:
        for name in defined:
            owner[name] = path
    for path, _, undefined in by_object:
        own = room_of(path, rooms)
        if own is None:
            yield f"{path}: an object of no room"
        for name in sorted(undefined & owner.keys()):
            room = room_of(owner[name], rooms)
            if own and room and rooms[room] > rooms[own]:
                yield f"{path[:-2]} uses {name} of {owner[name][:-2]}, which climbs from {own} to {room}"


def main():
    parser = options_of(__doc__)
    parser.add_argument("--objects", metavar="BUILD_DIR", help="check the symbols of this build too")
    options = parser.parse_args()
    rooms = read_rooms(read(options.source, "README.md"))
    if not rooms:
        sys.exit("check_rooms: src/README.md has no table of rooms")
    wrong = [*climbing_includes(options.source, rooms), *lost_files(options.source)]
    if options.objects:
        wrong += climbing_symbols(options.objects, rooms)
    return report("check_rooms", wrong, f"{len(rooms)} rooms, {len(wrong)} climbs and lost files")


if __name__ == "__main__":
    sys.exit(main())

#!/usr/bin/env python3
"""Holds every file of src/ to what compiling the files of a folder together needs and hides (cmake/UnityByFolder.cmake): names
that two of them may not share, and includes that another's hide. And every test to what running many in a process needs.

    scripts/ci/check_includes.py

Fails (exit code 1) where two files of a folder define the same type, constant or function in their unnamed namespaces; where
a file names a type, or calls a function, that exactly one header of src/ declares and that its includes do not reach; or
where it names something of STANDARD or FOREIGN whose header neither it nor a header of src/ that it reaches includes. It
reads text, so it finds most gaps and not all: the preset `dev` compiles each file by itself.
"""
import os
import re
import sys

from source_tree import INCLUDE, is_for_tests, options_of, read, report, source_files

STRINGS_AND_COMMENTS = re.compile(r'//[^\n]*|/\*.*?\*/|R"(\w*)\((?:.|\n)*?\)\1"|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])+\'', re.DOTALL)
# What a header declares at the left margin (namespaces are not indented): types, macros, constants and functions.
DECLARED = (
    re.compile(r"^(?:template <[^\n]*>\n)?(?:class|struct|enum class|enum|union) (?:\[\[\w+\]\] )?(\w+)[^;]*?[{:]", re.MULTILINE),
    re.compile(r"^using (\w+) =", re.MULTILINE),
    re.compile(r"^#define (\w+)", re.MULTILINE),
    re.compile(r"^(?:extern |inline |constexpr |const )+[\w:<>, ]+?[ &*](\w+)(?:\[\])?(?: =|\{|;)", re.MULTILINE),
    re.compile(r"^(?:\[\[\w+\]\] |inline |constexpr )*(?!return|  |using|namespace|typedef)[\w:<>,*& ]+?[ &*>](\w+)\(", re.MULTILINE),
)
# Names of namespace std, each with the headers that declare it; what GCC's other headers bring along is not relied on.
STANDARD = {
    "algorithm": "all_of any_of clamp copy_if count count_if fill find_if for_each max_element min_element minmax nth_element "
                 "remove_if sort stable_sort transform unique lower_bound upper_bound equal_range max min",
    "array": "array", "atomic": "atomic atomic_flag atomic_bool", "charconv": "from_chars to_chars",
    "cmath": "sqrt exp log log2 pow floor ceil round isfinite isnan isinf lround llround fabs ldexp frexp fmod",
    "condition_variable": "condition_variable", "deque": "deque",
    "fstream": "ifstream ofstream fstream", "functional": "function reference_wrapper",
    "future": "future promise async", "iostream": "cout cerr cin clog",
    "limits": "numeric_limits", "list": "list", "map": "map multimap",
    "memory": "unique_ptr shared_ptr weak_ptr make_unique make_shared enable_shared_from_this",
    "mutex": "mutex lock_guard unique_lock scoped_lock once_flag call_once recursive_mutex",
    "numeric": "accumulate iota inner_product reduce partial_sum gcd lcm",
    "optional": "optional nullopt make_optional",
    "random": "mt19937 mt19937_64 normal_distribution uniform_int_distribution uniform_real_distribution random_device",
    "set": "set multiset", "span": "span", "sstream": "istringstream ostringstream stringstream",
    "string": "string to_string stoi stol stoll stod getline", "string_view": "string_view",
    "thread": "thread jthread this_thread", "tuple": "tuple tie make_tuple apply",
    "unordered_map": "unordered_map unordered_multimap", "unordered_set": "unordered_set",
    "variant": "variant visit get_if holds_alternative monostate", "vector": "vector",
}
# Headers that promise another's names as well (of the standard, or of the library's documentation).
BRINGS = {
    "fstream": ("string", "iostream"), "sstream": ("string",), "iostream": ("string",), "filesystem": ("string",),
    "gtest/gtest.h": ("string", "vector", "tuple", "memory", "optional", "variant"),
    "gmock/gmock.h": ("string", "vector", "tuple", "memory", "optional", "variant", "functional", "gtest/gtest.h"),
    "nlohmann/json.hpp": ("string", "vector", "map", "nlohmann/json_fwd.hpp"),
    "nlohmann/json_fwd.hpp": ("string", "vector", "map"),
    "CLI/CLI.hpp": ("string", "vector", "functional", "memory"),
    "string": ("string_view",), "fmt/format.h": ("string",), "fmt/ranges.h": ("fmt/format.h", "string"),
    "fmt/chrono.h": ("fmt/format.h", "string"),
}
FOREIGN = {  # how a name looks, and the header it is of
    re.compile(r"\bfmt::(?:format|print|runtime)\b"): "fmt/format.h",
    re.compile(r"\b(?:std::filesystem|fs)::\w"): "filesystem",
    re.compile(r"\btesting::Test\w*|\bASSERT_NO_THROW\("): "gtest/gtest.h",
    re.compile(r"\b(?:EXPECT|ASSERT)_THAT\("): "gmock/gmock.h",
}
TEST_NAMES = re.compile(r"^TEST(?=_?[FP]?\()\w*\(\w+, \w+\)", re.MULTILINE)
STANDARD_OF = {name: header for header, names in STANDARD.items() for name in names.split()}
# Types and constants by name, functions by name and parameters.
DEFINED_UNNAMED = (
    re.compile(r"^(?:class|struct|enum class|enum) (\w+)[^;]*?\{", re.MULTILINE),
    re.compile(r"^(?:constexpr|const|inline)[\w:<>, ]*? (\w+)(?:\[\])? ?[={]", re.MULTILINE),
    re.compile(r"^(?!return|using|namespace| )[\w:<>,*& ]+?[ &*>](\w+\([^;{]*?\))(?: const)? \{", re.MULTILINE),
)
CAPTURES = "testing/captured.hpp"
COMPILED_APART = ("variants", "testing", "trace/inject", "plugin/cudnn")
TYPE_NAMED = re.compile(r"(?<![\w.>:])([A-Z]\w+)\b")
FUNCTION_CALLED = re.compile(r"(?<![\w.>:])([a-z]\w*[a-z0-9])\(")
NO_TYPE = "return|throw|else|case|new|not|and|or|do|co_return|co_yield"
STANDARD_NAME = re.compile(r"\bstd::(\w+)")
OWN_TYPE = re.compile(r"\b(?:class|struct|enum class|enum|using|typename|concept|namespace) (\w+)|^#define (\w+)|= struct (\w+)", re.MULTILINE)


class Source:
    def __init__(self, text):
        included = INCLUDE.findall(text)
        self.own = [own for own, _ in included if own]
        self.foreign = {foreign for _, foreign in included if foreign}
        self.tests = bool(re.search(r"^TEST(?:_F|_P)?\(", text, re.MULTILINE))
        self.code = TEST_NAMES.sub("", STRINGS_AND_COMMENTS.sub(lambda m: '""' if m.group(0)[0] in "\"R'" else " ",
                                             INCLUDE.sub("", text)))

    def declared(self):
        return {name for pattern in DECLARED for name in pattern.findall(self.code)}


def read_sources(root):
    return {path: Source(read(root, path)) for path in source_files(root)}


def reached(path, sources):
    """The headers of src/ that `path` includes, themselves or by others; and all headers from elsewhere on the way."""
    own, foreign, waiting = set(), set(), [path]
    while waiting:
        source = sources[waiting.pop()]
        foreign |= source.foreign
        new = {header for header in source.own if header in sources} - own
        own |= new
        waiting += new
    brought = {other for header in foreign for other in BRINGS.get(header, ())}
    brought |= {other for header in brought for other in BRINGS.get(header, ())}
    return own, foreign | brought


def only_header_of(sources):
    """Names that one header alone declares, and that no source of ours takes for something else."""
    headers = {}
    for path, source in sources.items():
        if path.endswith((".hpp", ".h")):
            for name in source.declared():
                headers.setdefault(name, set()).add(path)
    return {name: next(iter(paths)) for name, paths in headers.items() if len(paths) == 1}


def own_captures(sources):
    """A sentence for each file that may leave a capture open, which aborts a later test of the same process."""
    for path, source in sorted(sources.items()):
        if "testing::internal" in source.code and path != CAPTURES:
            yield f"src/{path} names testing::internal: what is printed is captured by {CAPTURES} alone"


def own_names(source):
    """Types that a source declares or announces itself, in whatever scope."""
    return {name for names in OWN_TYPE.findall(source.code) for name in names if name}


def gaps(sources):
    home = only_header_of(sources)
    for path, source in sorted(sources.items()):
        own, foreign = reached(path, sources)
        known = set().union(*(own_names(sources[other]) for other in own | {path})) | source.declared()
        elsewhere = {name: header for name, header in home.items()
                     if header != path and header not in own and name not in known and (is_for_tests(path) or not is_for_tests(header))}
        for name in sorted(set(TYPE_NAMED.findall(source.code)) & elsewhere.keys()):
            yield f'src/{path} names {name} and does not include "{elsewhere[name]}"'
        told_here = "".join(sources[other].code for other in own | {path})
        for name in sorted(set(FUNCTION_CALLED.findall(source.code)) & elsewhere.keys()):
            # A member or a local function object of that name is not it.
            if not re.search(rf"(?:(?<![\w])(?!(?:{NO_TYPE}) )\w+|>|\w[&*]) {name}\(|\b{name}\{{|[&*] ?{name}\b|\b{name} =|\w {name}[;,)>]", told_here):
                yield f'src/{path} calls {name} and does not include "{elsewhere[name]}"'
        for name in sorted(set(STANDARD_NAME.findall(source.code)) & STANDARD_OF.keys()):
            if STANDARD_OF[name] not in foreign:
                yield f"src/{path} names std::{name} and does not include <{STANDARD_OF[name]}>"
        if source.tests and "gtest/gtest.h" not in foreign:
            yield f"src/{path} has tests and does not include <gtest/gtest.h>"
        for pattern, header in FOREIGN.items():
            named = pattern.search(source.code)
            if named and header not in foreign:
                yield f"src/{path} names {named.group(0)} and does not include <{header}>"


def clashes(sources):
    """A sentence for each name that the unnamed namespaces of two files of a folder both define."""
    defined = {}
    for path, source in sorted(sources.items()):
        folder = os.path.dirname(path)
        if not path.endswith(".cpp") or folder in COMPILED_APART:
            continue
        kind = "test" if path.endswith("_test.cpp") else "source"
        for part in re.findall(r"^namespace \{$(.*?)^\}(?=\s|$)", source.code, re.MULTILINE | re.DOTALL):
            for name in {name for pattern in DEFINED_UNNAMED for name in pattern.findall(part)}:
                defined.setdefault((folder, kind, re.sub(r"\s+", " ", name)), []).append(path)
    for (folder, _, name), paths in sorted(defined.items()):
        if len(paths) > 1:
            yield f"src/{' and src/'.join(paths)} define {name}: files of a folder are compiled together"


def main():
    sources = read_sources(options_of(__doc__).parse_args().source)
    wrong = [*gaps(sources), *clashes(sources), *own_captures(sources)]
    return report("check_includes", wrong, f"{len(sources)} files, {len(wrong)} gaps, clashes and captures")


if __name__ == "__main__":
    sys.exit(main())

#!/usr/bin/env python3
"""Puts what gpu_test.sh, plugin_gpu.sh, trace_gpu.sh, gate_runs.sh and hbm_scatter.py wrote where results/ keeps it.

    shelve.py OUT_DIR results/h200

OUT_DIR holds gpu_test.sh's files, and the other scripts' in own_kernel/, trace/, gate/, house/, passes/ and hbm_scatter/. Files of one
kind are joined (joined.py), others copied; logs that no figure reads stay behind. What RESULTS has of a shelf that OUT_DIR
has nothing for is kept.

Exit codes: 0, 2 (usage, or a file that cannot be read or written).
"""

import fnmatch
import pathlib
import shutil
import sys

import joined

JOINED = {  # CSVs of one kind -> one file
    "sweeps/tune": ("tune_*",),
    "evidence/correct": ("correct_*",),
    "evidence/model": ("model_*",),
    "evidence/hbm": ("hbm_tokens", "hbm_batch1"),
    "evidence/limits": ("fault_*", "counters_*", "too_large"),
    "evidence/sanitizer": ("sanitizer_*",),
    "evidence/gate": ("gate/*", "gate_one_place/*"),
    "evidence/house": ("house/*",),
    "evidence/passes": ("passes/*",),
    "evidence/hbm_scatter": ("hbm_scatter/scatter_*",),
    "evidence/own_kernel": ("own_kernel/*",),
    "evidence/trace": ("trace/own_*", "trace/traced_*", "trace/plugin_*", "trace/sdpa", "trace/calls"),
}
TEXTS = {  # logs of one kind -> one file in sections
    "evidence/sanitizer.log": ("sanitizer_memcheck_*.log", "sanitizer_racecheck_*.log", "sanitizer_initcheck_*.log",
                               "sanitizer_synccheck_*.log", "sanitizer_version.txt"),
    "evidence/gate.log": ("gate/gate_*.txt", "gate/regressions.txt", "gate_one_place/regressions.txt"),
    "evidence/hbm_scatter.log": ("hbm_scatter/scatter_*.log",),
    "evidence/trace.log": ("trace/calls_*.txt", "trace/train_*.txt", "trace/launches_*.txt"),
}
COPIED = {  # shelf -> what keeps its name
    "sweeps": ("forward.csv", "tiles.csv", "short.csv", "little.csv", "defaults.csv", "repeat.csv", "mma_share.csv", "versus.csv",
               "versus_peers.csv", "errors.csv", "errors_peers.csv"),
    "evidence": ("selftest.csv", "ceilings.csv", "spills.csv", "ncu.csv", "ncu_agreement.txt", "walltime.txt", "trace/ncu_*.csv",
                 "backward.csv", "paged.csv"),
}
LEFT = ("sanitizer_none_*", "own_kernel/newcomer/*")  # not joined with what else their names match


def matching(folder, patterns, suffix=""):
    """{name without the suffix: path} of the files of `folder` that match, sorted."""
    found = {path.relative_to(folder).as_posix(): path for path in sorted(folder.rglob("*")) if path.is_file()}
    return {name.removesuffix(suffix): path for pattern in patterns for name, path in found.items()
            if fnmatch.fnmatch(name, pattern + suffix) and not any(fnmatch.fnmatch(name, left) for left in LEFT)}


def shelve(source, results):
    for target, patterns in JOINED.items():
        files = matching(source, patterns, ".csv")
        if files:
            joined.join(files, results / f"{target}.csv")
    for target, patterns in TEXTS.items():
        files = matching(source, patterns)
        if files:
            text = joined.join_texts({name: path.read_text(encoding="utf-8") for name, path in files.items()})
            (results / target).parent.mkdir(parents=True, exist_ok=True)
            (results / target).write_text(text, encoding="utf-8")
    for shelf, patterns in COPIED.items():
        for name, path in matching(source, [*patterns, *(f"{pattern}.meta.json" for pattern in patterns)]).items():
            (results / shelf / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(path, results / shelf / name)


def main(arguments):
    if len(arguments) != 2 or not pathlib.Path(arguments[0]).is_dir():
        print(__doc__.strip(), file=sys.stderr)
        return 2
    try:
        shelve(*map(pathlib.Path, arguments))
    except (OSError, ValueError, KeyError, joined.Refusal) as error:
        print(f"shelve: {error}", file=sys.stderr)
        return getattr(error, "code", 2)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

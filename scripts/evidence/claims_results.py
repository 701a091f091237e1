"""The measured sentences of results/README.md and scripts/evidence/README.md, from rows. Standard library only."""

import collections

from claims_evidence import length_text
from claims_readme import missed

RESULTS, SCRIPTS = "results/README.md", "scripts/evidence/README.md"


def correct_cases(evidence):
    oks = [int(evidence.figure(rf"every shape verified: {name} +(\d+) ok")[0]) for name in ("naive, standard, flash1, flash2", "flash3", "flash3 fp8")]
    return f"right on {sum(oks)} cases"


def versus_shapes(evidence):
    return f"{len(evidence.ratios('flash2 / torch_flash'))} shapes in bf16"


def axis(rows, column):
    return sorted({int(row[column]) for row in rows})


def forward_axes(evidence):
    rows = evidence.rows("forward")
    lengths, words = axis(rows, "q_len"), {1: "one", 5: "five"}
    return (f"{words[len({row['variant'] for row in rows})]} variants, N = {length_text(lengths[0])} to {length_text(lengths[-1])}, d = "
            f"{' and '.join(map(str, axis(rows, 'head_dim')))}, "
            f"batch {' and '.join(map(str, axis(rows, 'batch')))}, {' and '.join(sorted({row['mask'] for row in rows}, reverse=True))}, "
            f"{' and '.join({row['dtype'] for row in rows})}, "
            f"counted, with ceilings: {len(rows)} rows")


def short_axes(evidence):
    short, little = evidence.rows("short"), evidence.rows("little")
    lengths = axis(short, "q_len")
    return (f"N = {lengths[0]} to {lengths[-1]} at batch {axis(short, 'batch')[-1]}; batch "
            f"{' and '.join(map(str, axis(little, 'batch')))}, "
            f"{' and '.join(map(str, reversed(axis(little, 'kv_heads'))))} kv heads: {len(short)} and {len(little)} rows")


def repeat_axes(evidence):
    rows = evidence.rows("repeat")
    cases = {tuple(row[column] for column in ("variant", "batch", "q_len", "head_dim")) for row in rows}
    if len(rows) != 10 * len(cases):
        raise LookupError(f"{len(rows)} rows are not ten of each of {len(cases)} cases")
    return f"`attnprof sweep` without options; {len(cases)} cases in ten processes each"


PEERS = {"torch_flash": "PyTorch 2.11's FlashAttention-2", "torch_cudnn": "its cuDNN 9.19", "torch_efficient": "its memory-efficient path",
         "torch_math": "its math path", "fa3": "FlashAttention-3", "three_kernels": "three kernels in bf16"}


def peers(evidence):
    """Whom `versus` is beside; a backend that this does not know has to be told of first."""
    seen = {row["variant"] for row in evidence.rows("versus_peers")}
    names = [PEERS[name] for name in sorted(seen, key=list(PEERS).index)]
    return f"beside {', '.join(names[:-1])} and {names[-1]}"


def turns(evidence):
    """How often each shape was measured; the same of ours and of theirs."""
    counts = [collections.Counter((row["mask"], row["head_dim"], row["q_len"]) for row in evidence.versus_rows(name))
              for name in ("flash2", "flash3", "torch_flash", "torch_cudnn", "fa3")]
    if any(each != counts[0] for each in counts) or set(counts[0].values()) != {2, 3}:
        raise LookupError(f"turns are not two or three of all: {counts}")
    samples = {row["samples"] for name in ("versus", "versus_peers") for row in evidence.rows(name)}
    if len(samples) != 1:
        raise LookupError(f"rows are of {samples} samples")
    return f"two turns of {samples.pop()} samples, of {list(counts[0].values()).count(3)} shapes three"


def flash3_commits(evidence):
    """Which rows are of the flash3 that `versus` is of."""
    commits = {}
    for name in evidence.results.names():
        for row in evidence.results.rows(name):
            if row.get("variant") == "flash3" and row.get("run") in evidence.runs:
                stem = evidence.results.path(name).stem
                commits.setdefault(stem, set()).add(evidence.commit(row))
    (newest,) = commits["versus"]
    new = sorted(stem for stem, found in commits.items() if found == {newest})
    older = sorted(stem for stem, found in commits.items() if newest not in found)
    if set(new) | set(older) != set(commits):
        raise LookupError(f"files of flash3 of several commits: {commits}")
    return (f"flash3 became faster in df7b211: its rows in {listed(new)} are of {newest}, which has that; those in {listed(older)} are of "
            f"commits before it.")


def listed(names):
    return f"{', '.join(f'`{name}`' for name in names[:-1])} and `{names[-1]}`"


def error_shapes(evidence):
    (shapes,) = evidence.figure(r"rel_err of flash2 / torch_flash +largest [0-9.]+ of (\d+)")
    return f"against fp64 on {shapes} shapes"


CLAIMS = [(RESULTS, claim) for claim in (missed, versus_shapes, peers, turns, flash3_commits, forward_axes, short_axes, repeat_axes, error_shapes)]
CLAIMS += [(SCRIPTS, correct_cases)]

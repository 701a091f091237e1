"""The measured sentences of results/README.md and scripts/evidence/README.md, from rows. Standard library only."""

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


PEERS = {"torch_flash": "FlashAttention-2", "torch_cudnn": "cuDNN 9.19", "torch_efficient": "memory-efficient", "torch_math": "math paths"}


def peers(evidence):
    """Whom `versus` is beside; a backend that this does not know has to be told of first."""
    seen = {row["variant"] for row in evidence.rows("versus_peers")}
    names = [PEERS[name] for name in sorted(seen, key=list(PEERS).index)]
    return f"beside PyTorch 2.11's {', '.join(names[:-1])} and {names[-1]}"


def error_shapes(evidence):
    (shapes,) = evidence.figure(r"rel_err of flash2 / torch_flash +largest [0-9.]+ of (\d+)")
    return f"against fp64 on {shapes} shapes"


CLAIMS = [(RESULTS, claim) for claim in (missed, versus_shapes, peers, forward_axes, short_axes, repeat_axes, error_shapes)]
CLAIMS += [(SCRIPTS, correct_cases)]

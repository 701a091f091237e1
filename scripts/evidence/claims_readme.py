"""The measured sentences of README.md, from rows. Standard library only."""

import math
import re

from claims_evidence import case_name, label, number, percent_span, shape_name, size, unsteady
from model_figures import DEFAULT_FILES, GIVEN_FILES, HBM_LIMIT, counted
from figures import deviation
from scatter_figures import groups, spread
import versus

README = "README.md"


def example(evidence, variant, length):
    return evidence.one("forward", variant=variant, mask="full", batch=1, head_dim=128, q_len=length)


def example_rows(evidence):
    rows = evidence.rows("forward")
    return (f"A forward sweep of all five variants on an NVIDIA H200 (fp16, 16 heads, cold L2), ten of its {len(rows)} rows "
            f"({unsteady(rows)} carry `drift` or `throttled`): batch 1, d = 128, no mask.")


def example_long(evidence):
    rows = {name: example(evidence, name, 4096) for name in ("naive", "standard", "flash1", "flash2", "flash3")}
    moved = {name: number(row, "hbm_bytes") for name, row in rows.items()}
    ratios = [moved[above] / moved[below] for above in ("naive", "standard") for below in ("flash2", "flash3")]
    idle = 132 - int(rows["flash1"]["ctas"])
    return (f"At N = 4096 naive and standard move {size(moved['naive'])} through HBM where flash2 and flash3 move "
            f"{size(moved['flash2'])} and "
            f"{size(moved['flash3'])}: {min(ratios):.1f} to {max(ratios):.1f} times less, where N / d + 1 is 33; flash1 saves none of "
            f"it at this size "
            f"({size(moved['flash1'])}) and leaves {idle} of 132 SMs idle, one block a head.")


def example_short(evidence):
    standard, flash2 = (example(evidence, name, 512) for name in ("standard", "flash2"))
    shares = [number(flash2, column) / number(standard, column) for column in ("hbm_bytes", "latency_median_ns")]
    if "hbm" in (standard["bound"], flash2["bound"]):
        raise LookupError("the sentence about N = 512 takes neither to be bound by HBM")
    return f"At N = 512 flash2 moves {shares[0]:.2f} of standard's bytes in {shares[1]:.2f} of its time: neither waits for HBM there."


def example_kernel(evidence):
    own, (newest,) = evidence.commit(example(evidence, "flash3", 4096)), {evidence.commit(row) for row in evidence.versus_rows("flash3")}
    if own == newest:
        raise LookupError("the example's flash3 is the newest")
    return f"flash3's rows here are of commit {own}, before it became faster (`versus`, below, is of {newest})."


def example_roof(evidence):
    row, ceiling = example(evidence, "flash3", 4096), evidence.ceilings["wgmma_fp16_tflops"]
    own, clock = number(ceiling, "sm_clock_mhz"), number(row, "sm_clock_mhz")
    return (f"`roof_pct` takes a measured peak at the clock that the power limit left it: flash3's {number(row, 'roof_pct'):.1f} % at "
            f"N = 4096 are of wgmma at "
            f"{own:.0f} MHz; at the row's {clock:.0f} MHz they would be {number(row, 'roof_pct') * own / clock:.0f} %, and its tensor "
            f"pipe was busy "
            f"{number(row, 'tensor_pipe_pct'):.0f} % of the time.")


def given_rows(evidence, *variants):
    return [row for name in GIVEN_FILES for row in evidence.rows(name) if row["variant"] in variants]


def default_rows(evidence, *variants):
    return [row for name in DEFAULT_FILES for row in evidence.rows(name) if row["variant"] in variants and (row["tile"] == "auto" or name == "tiles")]


def worst(rows, measured, modelled):
    return max((abs(deviation(row, measured, modelled)) for row in counted(rows, measured, modelled)), default=0.0)


def equal_within(value, step):
    """The share in percent, rounded up to a multiple of `step`, as what follows `equal`."""
    return f"within {-(-100 * value // step) * step:g} %" if value else "exactly"


def sm_bytes(evidence):
    exact, pair = ("naive", "flash1", "flash2"), ("sm_bytes", "model_sm_bytes")
    given, default = given_rows(evidence, *exact), default_rows(evidence, *exact)
    least = max(worst(rows, *pair) for rows in (given, default))
    given3, default3 = given_rows(evidence, "flash3"), counted(default_rows(evidence, "flash3"), *pair)
    off = max(default3, key=lambda row: abs(deviation(row, *pair)))
    beyond = [row for row in default3 if abs(deviation(row, *pair)) > 0.01]
    flops = worst([*given, *default, *given3, *default3], "executed_tensor_flops", "model_tensor_flops")
    return (f"Counted bytes at the SMs equal the schedules' {equal_within(least, 0.001)} in {len(given)} rows of given and "
            f"{len(default)} of default tiles of "
            f"naive, flash1 and flash2, and {equal_within(worst(given3, *pair), 0.1)} in {len(given3)} of given tiles of flash3; "
            f"{len(beyond)} of the {len(default3)} of its default "
            f"tiles are more than 1 % off, the worst {100 * deviation(off, *pair):+.1f} % ({case_name(off)}: the tiles of "
            f"{off['br']}x{off['bc']} that it had in commit {evidence.commit(off)} spill, which is not "
            f"modelled). Executed tensor FLOPs are equal {equal_within(flops, 0.001)} in all of these.")


def hbm_bytes(evidence):
    pair = ("hbm_bytes", "model_hbm_bytes")
    lines = [evidence.figure(rf"default tiles, {name}: hbm_bytes within 10 % +worst (\S+) % at (.*), (\d+) of (\d+) rows beyond; drift or throttled: (\d+)")
             for name in ("naive", "standard", "flash1", "flash2", "flash3")]
    beyond, rows, flags = (sum(int(line[i]) for line in lines) for i in (2, 3, 4))
    furthest = max(lines, key=lambda line: float(line[0]))
    row = next(row for row in default_rows(evidence, furthest[1].split()[0]) if label(row) == furthest[1])
    near = [near_of(evidence, name) for name in ("naive", "standard", "flash1", "flash2", "flash3")]
    given = counted(given_rows(evidence, "naive", "flash1", "flash2", "flash3"), *pair)
    off = max(given, key=lambda row: abs(deviation(row, *pair)))
    out = sum(abs(deviation(row, *pair)) > HBM_LIMIT for row in given)
    return (f"HBM bytes of default tiles are within 10 % of the model in {rows - beyond} of {rows} rows ({flags} carry `drift` or "
            f"`throttled`) whose data that is read "
            f"again is well smaller or larger than L2 (the worst {100 * deviation(row, *pair):+.0f} %, "
            f"{(number(row, 'hbm_bytes') - number(row, 'model_hbm_bytes')) / 1e6:.2f} MB: {case_name(row)}), and in "
            f"{sum(of - out for out, of in near)} of {sum(of for _, of in near)} near its size; of {len(given)} rows of given tiles "
            f"{out} are further off, one by "
            f"{100 * deviation(off, *pair):+.0f} % ({case_name(off)}, {off['tile']}).")


def near_of(evidence, variant):
    """(rows beyond 10 %, rows) of the line that follows the variant's own."""
    texts = [text for _, text in evidence.figures]
    start = next(i for i, text in enumerate(texts) if text.startswith(f"default tiles, {variant}: hbm_bytes"))
    for text in texts[start + 1:]:
        if text.startswith("default tiles") or text.startswith("hbm_bytes of given"):
            return 0, 0
        if text.startswith("  the same, re-used"):
            return tuple(map(int, evidence.match(r"(\d+) of (\d+) rows beyond 10 %", [text])))
    return 0, 0


def told(ratios, whose, side=0):
    """On how many shapes a side carries a flag of a clock that moved, in any of its turns."""
    flags = [ratio.unsteady[side] for ratio in ratios]
    if None in flags:
        raise LookupError(f"rows of {whose} do not say whether they drifted")
    return f"{sum(flags)} of {whose}'{'' if whose.endswith('s') else 's'} {len(flags)}"


def lowest(ratios):
    least = min(ratios, key=lambda ratio: ratio.value)
    return f"lowest {least.value:.3f} at {shape_name(least.shape)}"


def mean(ratios, cap=math.inf):
    return f"{versus.geometric_mean([min(ratio.value, cap) for ratio in ratios]):.3f}"


COMPARED = {"flash2": "flash2 / torch_flash", "cudnn": "flash3 / torch_cudnn", "fa3": "flash3 / fa3",
            "best": "flash3 / fa3 or torch_cudnn", "standard": "standard / three_kernels", "fp8": "flash3 fp8 / flash3"}


def beside_others(evidence):
    """The lengths 1k and 4k, which the mark for FlashAttention-3 was not set for, are told apart once."""
    flash2, cudnn, fa3, best, standard, fp8 = (evidence.ratios(name) for name in COMPARED.values())
    marked = [ratio for ratio in fa3 if ratio.shape.q_len not in (1024, 4096)]
    short = [ratio.value for ratio in cudnn if ratio.shape.q_len == 512]
    cap = versus.RATIO_CAP
    return (f"flash2 ran at {mean(flash2)} times PyTorch's FlashAttention-2 (geometric mean of {len(flash2)}, {lowest(flash2)}), flash3 "
            f"at {mean(cudnn)} times cuDNN 9.19 ({len(cudnn)}, {lowest(cudnn)}; at N = 512 {min(short):.3f} to {max(short):.3f}), "
            f"{mean(fa3)} times FlashAttention-3 ({len(fa3)}, {lowest(fa3)}; with each ratio capped at {cap:.2f} {mean(fa3, cap)}, and "
            f"{mean(marked, cap)} of the {len(marked)} without N = 1k and 4k) and {mean(best)} times the faster of the two "
            f"({len(best)}, {lowest(best)}), standard at {mean(standard)} times three kernels in bf16 ({len(standard)}, "
            f"{lowest(standard)}), and flash3 in fp8, the turning of V not timed, at "
            f"{' and '.join(f'{ratio.value:.2f}' for ratio in fp8)} times bf16 "
            f"({' and '.join(shape_name(ratio.shape) for ratio in fp8)}, no others measured). In any turn `drift` or `throttled` "
            f"are on {told(flash2, 'flash2')} shapes, {told(cudnn, 'flash3')}, {told(standard, 'standard')} and {told(fp8, 'fp8')}; "
            f"on {told(flash2, 'FlashAttention-2', 1)}, {told(cudnn, 'cuDNN', 1)}, {told(fa3, 'FlashAttention-3', 1)} and "
            f"{told(standard, 'the three kernels', 1)}.")


def missed_beside(evidence):
    """The figures of COMPARED that are missed, as figures.txt has them."""
    lines = [re.split("  +", text, maxsplit=1) for state, text in evidence.figures if state == "MISS"]
    found = [f"{name}, {text.split('; drift')[0]}" for name, text in lines if name in COMPARED.values()]
    return f"Missed of these: {'; '.join(found)}." if found else "None of these is missed."


def missed(evidence):
    states = [state for state, _ in evidence.figures if state in ("ok", "MISS")]
    return f"Of {len(states)} figures {states.count('MISS')} are missed."


def explained(evidence):
    case = evidence.explained("variant=flash2,N=512,head_dim=128,mask=full,batch=1", "standard")
    factors = {factor["name"]: factor["factor"] for factor in case["against"]["factors"]}
    row = example(evidence, "flash2", 512)
    said = (f"only {case['against']['speedup']:.2f} times as fast as standard: fewer bytes would give {factors['fewer_bytes']:.2f}, but "
            f"occupancy_and_waves takes {factors['occupancy_and_waves']:.2f}")
    if not any(said in sentence for sentence in case["sentences"]):
        raise LookupError(f"explain does not say: {said}")
    return (f"at N = 512, d = 128 it finds flash2 \"{said}\", and that {row['ctas']} blocks leave {100 * case['idle_share']:.0f} % of "
            f"the SMs' room idle.")


def explain_tiles(evidence):
    good, pairs, unchanged = evidence.held("explain_evidence.txt", r"within 15 %: (\d+) of (\d+) pairs.*each: (\d+)")
    all_good, every, all_unchanged = evidence.held("explain_evidence.txt", r"within 15 %: (\d+) of all (\d+).*each: (\d+)")
    return (f"Its predictions of other tiles were within 15 % on {good} of {pairs} pairs drawn beforehand and on {all_good} of all "
            f"{every}; to say that nothing "
            f"changes would be so on {unchanged} and {all_unchanged}.")


def explain_ncu(evidence):
    agree, cases = evidence.held("ncu_agreement.txt", r"(\d+) of (\d+) cases agree")
    waits, agree_rest, rest = evidence.held("ncu_agreement.txt", r"both say latency: (\d+); of the others (\d+) of (\d+) agree")
    (lengths,), (dims,) = (evidence.held("ncu_agreement.txt", rf"{column} ([\d ]+)") for column in ("q_len", "head_dim"))
    return (f"Of {cases} cases fixed beforehand (fp16, d = {dims.strip()}, N = {' and '.join(lengths.split())} alone) Nsight Compute "
            f"shows the bottleneck it names in {agree}: "
            f"in {waits} both say latency, and in {agree_rest} of the other {rest}.")


def trace_cost(evidence):
    (first,), (second,) = (evidence.held("trace.txt", rf"overhead a traced launch, SDPA {name} +([\d.]+) ms") for name in ("flash", "cudnn"))
    (none,) = evidence.held("trace.txt", r"more with nothing matching +([\d.]+) us")
    return f"A counted launch costs {first} and {second} ms in two programs on an H200, one that does not match {none} us of the host."


def near_full_counts(evidence):
    rows = [row for name in evidence.results.names() for row in evidence.results.rows(name)
            if row.get("disposition") == "ok" and row.get("hbm_counts") == "24"]
    highest = max(rows, key=lambda row: number(row, "hbm_spread_pct"))
    return (f"one program's HBM bytes scatter by {min(number(row, 'hbm_spread_pct') for row in rows):.1f} to "
            f"{number(highest, 'hbm_spread_pct'):.0f} % from place to place in memory "
            f"({len(rows)} rows that were counted 24 times; the most: {case_name(highest)})")


def repeats(evidence):
    found = groups(evidence.results, tuple(f"gate/a_{start}_{i}" for start in (1, 2) for i in (1, 2, 3)))
    exact = all(len({row[column] for row in rows}) == 1 for rows in found.values() for column in ("sm_bytes", "executed_tensor_flops")
                if rows[0]["variant"] != "standard" or column != "sm_bytes")
    if not exact:
        raise LookupError("bytes at the SMs or FLOPs differ between processes")
    large = {case: rows for case, rows in found.items() if number(rows[0], "hbm_bytes") >= 32e6}
    off = max(large, key=lambda case: spread(large[case], "hbm_bytes"))
    hbm = sorted(spread(rows, "hbm_bytes") for rows in large.values())
    times = [spread(rows) for rows in found.values()]
    return (f"In six processes of one program ({len(found)} cases, two starts of the machine) executed FLOPs and the SM bytes of our "
            f"own kernels are equal, HBM bytes "
            f"above 32 MB differ by {percent_span(hbm)} (the most: {case_name(large[off][0])}) and times by {percent_span(times)}, so "
            f"each metric has a threshold of its own:")


CLAIMS = [(README, claim) for claim in (
    example_rows, example_long, example_short, example_kernel, example_roof, sm_bytes, hbm_bytes, beside_others, missed_beside, missed,
    explained,
    explain_tiles, explain_ncu, trace_cost, near_full_counts, repeats)]

"""The measured sentences of results/h200/pages/notes.md and notes-forward.md, from rows. Standard library only."""

import statistics

from claims_evidence import flagged, length_text, number, percent_span, shape_name, size, unsteady
from claims_readme import COMPARED, lowest, mean, missed
from scatter_figures import PROCESSES, SHORT_NS, groups, spread, spreads
import versus

NOTES, FORWARD = "results/h200/pages/notes.md", "results/h200/pages/notes-forward.md"


def near_model(evidence):
    hbm, where = evidence.figure(r"the same, re-used data 0.4 to 1.5 of L2 +worst (\S+) % of \d+ rows at (.*)")
    lines = [text for _, text in evidence.figures if "rows beyond 10 %" in text and text.startswith("  the same, re-used")]
    worst = max((evidence.match(r"worst (\S+) % at (.*), \d+ of", [line]) for line in lines), key=lambda found: float(found[0]))
    return (f"There the model is up to {float(hbm):.0f} % off in `hbm_*` ({where}) and up to {float(worst[0]):.0f} % in the default "
            f"tiles of the other files ({worst[1]}).")


def ncu_disagree(evidence):
    agree, cases = evidence.held("ncu_agreement.txt", r"(\d+) of (\d+) cases agree")
    lines = [line.split() for line in evidence.results.text("ncu_agreement.txt").splitlines() if line.endswith("DISAGREES")]
    if len(lines) != int(cases) - int(agree):
        raise LookupError("cases that disagree are not all marked")
    named = [f"{variant} {mask} N = {length_text(n)} batch {batch}" for variant, mask, batch, _, n, *_ in lines]
    return f"{len(lines)} of {cases} disagree: {'; '.join(named)}."


def throttled(evidence):
    names = ("forward", "short", "little", "tiles", "defaults", "versus", "versus_peers", "mma_share")
    counts = [f"{unsteady(evidence.rows(name))} of {len(evidence.rows(name))} in `{name}`" for name in names]
    return f"`drift` or `throttled` are on {', '.join(counts)}."


def counting(evidence):
    rows = evidence.rows("defaults")
    (seconds,) = evidence.figure(r"counting a case under 0.2 s +([\d.]+) s a case")
    many = sum(row["hbm_counts"] == "24" for row in rows)
    return (f"Counting the default sweep takes {float(seconds):.2f} s a case instead of 0.2: {many} of its {len(rows)} cases nearly fill "
            f"L2 and are counted 24 times.")


def missed_names(evidence):
    names = [text.split("  ")[0].strip() for state, text in evidence.figures if state == "MISS"]
    return f"The missed ones: {'; '.join(names)}."


def repeat_bytes(evidence):
    off, _ = evidence.figure(r"spread of hbm_bytes +([\d.]+) %, .*: (flash1 .* 4 16 16 2048 .*)")
    return f"HBM bytes of flash1, N = 2k, batch 4 in `repeat` differ by {off} % between ten processes, where 0.5 % was asked for."


def above_ceiling(evidence):
    rows = evidence.rows("versus")
    spreads = [value["spread_pct"] for row in rows for value in evidence.runs[row["run"]]["ceilings"].values()]
    return (f"{sum('above_ceiling' in row['flags'].split(';') for row in rows)} of its {len(rows)} rows carry `above_ceiling`, and none "
            f"is: the ceilings of that run were measured while the peers' process used the GPU, and their samples differ by up to "
            f"{max(spreads):.0f} % (`evidence/ceilings` holds sound ones).")


def no_plugin(evidence):
    if evidence.rows("versus", variant=versus.PLUGIN):
        raise LookupError("versus has rows of the plug-in")
    return "The plug-in `cudnn` was not built for this run, so that its times are not held to PyTorch's cuDNN."


def math_path(evidence):
    (flops,) = evidence.held("trace.txt", r"SDPA math executed FLOPs / 4 N\^2 d +(\S+) %")
    (kernels,) = evidence.held("trace.txt", r"SDPA math hbm_bytes a call, (\d+) kernels")
    slow, fair = evidence.ratios("standard / torch_math"), evidence.ratios("standard / three_kernels")
    full = [ratio for ratio in fair if ratio.shape.mask == "full"]
    return (f"PyTorch's math path runs {kernels} kernels a call and {flops} % of the products on tensor cores, so that standard's "
            f"{ratio_span(slow)} times its speed ({len(slow)} shapes, N = 512 to 2k) say nothing of standard. Its peer is three kernels "
            f"in bf16 (a matmul, a softmax, a matmul; under a causal mask a fourth for the scores that are not seen): "
            f"{ratio_span(full)} times their speed of {len(full)} full shapes, {ratio_span(fair)} of all {len(fair)}.")


def ratio_span(ratios):
    values = [ratio.value for ratio in ratios]
    return f"{min(values):.2f} to {max(values):.2f}"


def places(evidence):
    lines = [line.split() for line in evidence.results.text("hbm_scatter.txt").splitlines()[1:]]
    once, place, process, medians = ([float(line[i].rstrip("%")) for line in lines] for i in (-4, -3, -2, -1))
    return (f"(four cases, six processes each: repeated counts in one place differ by {min(once):.2f} to {max(once):.2f} %, places by "
            f"{min(place):.1f} to {max(place):.0f} %, "
            f"processes by {max(process):.2f} % more than places; medians of processes by {min(medians):.1f} to {max(medians):.0f} %)")


def time_scatter(evidence):
    def flash(key, variant, n):
        return percent_span(spreads(evidence.results, key, variant=variant, q_len=n).values())

    return (f"flash1 at N = 2k (4 cases) differs by {flash('gate, start 1', 'flash1', 2048)} and "
            f"{flash('gate, start 2', 'flash1', 2048)} between the three processes of a start, by "
            f"{flash('gate', 'flash1', 2048)} between the six of both, and by {flash('gate_one_place', 'flash1', 2048)} between three "
            f"in one place; flash2 at N = 8k (4 cases) "
            f"by {flash('gate, start 1', 'flash2', 8192)} and {flash('gate, start 2', 'flash2', 8192)}, "
            f"{flash('gate', 'flash2', 8192)}, and {flash('gate_one_place', 'flash2', 8192)}.")


def all_scatter(evidence):
    found = groups(evidence.results, PROCESSES["gate"][1])
    sizes = {case: statistics.median(number(row, "latency_median_ns") for row in rows) for case, rows in found.items()}
    short, long = ({case: spread(rows) for case, rows in found.items() if (sizes[case] < SHORT_NS) == wanted} for wanted in (True, False))
    worst = max(short, key=short.get), max(long, key=long.get)
    rows = [row for each in found.values() for row in each]
    return (f"Over all of `gate`'s six processes the {len(short)} cases under 100 us differ by {percent_span(short.values())} (most: "
            f"{worst[0]}), the {len(long)} longer ones by "
            f"{percent_span(long.values())} (most: {worst[1]}); {flagged(rows)} rows.")


def flash2_causal(evidence):
    (off,) = spreads(evidence.results, "gate", variant="flash2", mask="causal", q_len=2048, head_dim=64).values()
    return (f"flash2 causal at N = 2k, d = 64 differs by {100 * off:.2f} % between the six processes of `gate`, whatever is moved within "
            f"a process.")


def sm_cycles(evidence):
    found = groups(evidence.results, PROCESSES["gate"][1])
    short = [spread(rows, "sm_cycles") for rows in found.values() if number(rows[0], "latency_median_ns") < 2e5]
    return (f"SM cycles counted in a profiled run differ by {percent_span(short)} between `gate`'s processes in its {len(short)} cases "
            f"under 200 us")


def gate_itself(evidence):
    same, added, amounts = (evidence.gate[name] for name in ("a_against_a", "latency_3_percent", "amounts"))
    hbm, sm, flops = (amounts[name] for name in ("hbm_bytes", "sm_bytes", "executed_tensor_flops"))
    regressions = [figure for figure in evidence.gate["figures"] if figure[0].startswith("regression ")]
    return (f"The gate on the six processes of `evidence/gate`, every one against every other: {same['failures']} failures in "
            f"{same['pairs']} pairs, with {same['ambiguous']} values "
            f"ambiguous; 3 % added to a latency found in {added['found_at_2_percent']} of {added['tried']} at `--latency 2%` "
            f"({100 * added['found_at_2_percent'] / added['tried']:.1f} %, where 95 was asked for; {added['ambiguous_at_2_percent']} "
            f"ambiguous), in {added['worse_at_10_percent']} at 10 %. Every process against the "
            f"next: +1 % SM bytes found in {sm['found']} of {sm['tried']}, +0.2 % FLOPs in {flops['found']} of {flops['tried']}, +2 % "
            f"HBM bytes in {hbm['found']} of {hbm['tried']}, where all were asked "
            f"for; the others are {', '.join(sorted({*hbm['ambiguous'], *hbm['missed']}))}, where L2 is nearly full. "
            f"{sum(figure[3] for figure in regressions)} of {len(regressions)} made regressions were found by the right metric.")


def ceilings(evidence):
    def told(instruction):
        return " and ".join(f"{number(evidence.ceilings[f'{instruction}_{dtype}_tflops'], 'median'):.0f} TFLOP/s in {dtype} at "
                            f"{number(evidence.ceilings[f'{instruction}_{dtype}_tflops'], 'sm_clock_mhz'):.0f} "
                            f"MHz" for dtype in ("fp16", "bf16"))

    return (f"wgmma, sustained on random data under the power limit, reaches {told('wgmma')}, of "
            f"{number(evidence.ceilings['wgmma_fp16_tflops'], 'nominal'):.0f} nominal; "
            f"mma.sync {told('mma')}.")


def l2_rate(evidence):
    return (f"L2 delivers {number(evidence.ceilings['l2_read_gbps'], 'median') / 1e3:.1f} TB/s to the SMs, not the 5.5 TB/s that H100 "
            f"microbenchmarks are quoted with.")


def traced_flash(evidence):
    (local,) = evidence.held("trace.txt", r"SDPA flash local_bytes a call, 1 kernels +(\d+) MB")
    registers, spilled = evidence.held("trace.txt", r"SDPA flash longest kernel, regs, local B a thread +(\d+), (\d+)")
    return (f"PyTorch's FlashAttention-2 moves {size(1e6 * int(local))} of local memory for a call of batch 4, N = 4k, d = 128 "
            f"(`evidence/trace`): {registers} registers and "
            f"{spilled} B a thread.")


def traced_own(evidence):
    reads = [abs(float(evidence.held("trace.txt", rf"{name} hbm_read_bytes, traced / swept +(\S+) %")[0])) for name in ("flash2", "flash3")]
    exact = [float(evidence.held("trace.txt", rf"{name} {column}, traced / swept +(\S+) %")[0]) for name in ("flash2", "flash3")
             for column in ("sm_bytes", "executed_tensor_flops")]
    if any(exact):
        raise LookupError(f"traced SM bytes or FLOPs are not those of a sweep: {exact}")
    return f"Traced counts of our own kernels equal those of a sweep: SM bytes and FLOPs exactly, HBM reads within {max(reads):.2f} %."


def last_state(evidence):
    return f"hold the last state, all {len(evidence.ratios('flash3 / torch_cudnn'))} shapes"


def fp8_stands(evidence):
    ratios = evidence.ratios("flash3 fp8 / flash3")
    return (f"Where fp8 stands: {' and '.join(f'{ratio.value:.2f}' for ratio in ratios)} times bf16 at d = 128 and 256, N = 16k, full, "
            f"in the committed run")


def causal_2k(evidence):
    shape = versus.shape_of("causal", 64, 2048)
    cudnn, fa3 = (next(ratio.value for ratio in evidence.ratios(name) if ratio.shape == shape) for name in ("flash3 / torch_cudnn", "flash3 / fa3"))
    return f"At d = 64, N = 2k, causal ({cudnn:.2f} of cuDNN, {fa3:.2f} of FlashAttention-3) 2048 queries are 10.7 tiles of 192 rows."


def beside_fa3(evidence):
    fa3, cudnn, best = (evidence.ratios(COMPARED[name]) for name in ("fa3", "cudnn", "best"))
    marked = [ratio for ratio in fa3 if ratio.shape.q_len not in (1024, 4096)]
    under = [f"{shape_name(ratio.shape)} {ratio.value:.3f}" for ratio in fa3 if ratio.value < 0.93]
    cap = versus.RATIO_CAP
    return (f"Geometric mean to FlashAttention-3 {mean(fa3)} of {len(fa3)} shapes ({lowest(fa3)}), {mean(fa3, cap)} with each ratio capped "
            f"at {cap:.2f}; of the {len(marked)} with N = 512, 2k, 8k and 16k {mean(marked)} and {mean(marked, cap)}, where 1.00 capped was "
            f"asked for. {len(under)} are under 0.93: {'; '.join(under)}. To cuDNN {mean(cudnn)} ({lowest(cudnn)}), to the faster of the two "
            f"{mean(best)} ({lowest(best)}).")


def unsteady_beside(evidence):
    names = {"flash3": "flash3", "FlashAttention-3": "fa3", "cuDNN": "torch_cudnn"}
    rows = {name: evidence.versus_rows(variant) for name, variant in names.items()}
    long = {name: [row for row in found if int(row["q_len"]) >= 8192] for name, found in rows.items()}
    told = [f"{unsteady(found)} of {len(found)} rows of {name} ({unsteady(long[name])} of {len(long[name])} of N = 8k and 16k)"
            for name, found in rows.items()]
    return f"`drift` or `throttled` are on {', '.join(told)}."


def flash2_peer(evidence):
    ratios = evidence.ratios("flash2 / torch_flash")
    least = min(ratios, key=lambda ratio: ratio.value)
    return (f"Geometric mean to PyTorch's FlashAttention-2 over {len(ratios)} cases: "
            f"{versus.geometric_mean([ratio.value for ratio in ratios]):.3f}; the lowest is {least.value:.3f} "
            f"at d = {least.shape.head_dim}, N = {least.shape.q_len}, {least.shape.mask}")


def mma_rate(evidence):
    rate, clock = evidence.figure(r"mma.sync's rate +bf16 ([\d.]+) TFLOP/s at (\d+) MHz")
    shares = [evidence.figure(rf"  {name} +(\d+) to (\d+) %, geometric mean \d+ % of (\d+) rows; drift or throttled: (\d+)") for name in ("flash2", "flash1")]
    return (f"mma.sync's own rate on this card (`doctor --self-test`, registers only, random data) is {float(rate):.0f} TFLOP/s in bf16 "
            f"at {clock} MHz, {100 * float(rate) / 989:.0f} % of wgmma's "
            f"nominal 989. flash2 reaches {shares[0][0]} to {shares[0][1]} % of it and flash1 {shares[1][0]} to {shares[1][1]} % "
            f"(`mma_share.csv`, {shares[0][2]} rows each, of which "
            f"{shares[0][3]} and {shares[1][3]} carry `drift` or `throttled`)")


def flash1_waves(evidence):
    waves = [number(row, "waves") for row in evidence.rows("mma_share", variant="flash1", q_len=8192)]
    return f"which at N = 8k fill {100 * min(waves):.0f} to {100 * max(waves):.0f} % of a wave"


def spills(evidence):
    rows = evidence.results.rows("spills")
    none = sum(row["spill_bytes"] in ("", "0") for row in rows)
    return f"{none} of {len(rows)} default kernels have none."


CLAIMS = [(NOTES, claim) for claim in (
    near_model, ncu_disagree, throttled, missed, missed_names, counting, repeat_bytes, above_ceiling, no_plugin, math_path, places, time_scatter,
    all_scatter, flash2_causal, sm_cycles, gate_itself, ceilings, l2_rate, traced_flash, traced_own)]
CLAIMS += [(FORWARD, claim) for claim in (last_state, fp8_stands, causal_2k, beside_fa3, unsteady_beside, flash2_peer, mma_rate, flash1_waves, spills)]

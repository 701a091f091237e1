#!/usr/bin/env python3
"""Writes findings.md: what the papers say of attention's memory traffic and speed, beside measured rows.

    scripts/evidence/findings.py results/h200/sweeps -o results/h200/pages/findings.md

Reads forward.csv, short.csv, little.csv and forward.csv.meta.json of the folder. Every figure in tables and text is computed
from them, but for those of the papers.
Exit codes: 0, 2 (a file or column is missing or cannot be read).
"""

import argparse
import json
import pathlib
import sys

from findings_rows import Missing, Rows, case_text, lengths, number, ratio, slower, span, table, twins, unsteady_text
from figures import unsteady

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))

from attnprof_report.output_file import Refusal, check_distinct, replace_file, with_meta  # noqa: E402
from attnprof_report.safe_text import make_streams_safe  # noqa: E402

HEAD = """# What the rows say of the papers' statements

One {device}, fp16, 16 heads, cold L2; written by `scripts/evidence/findings.py` from `forward.csv`, `short.csv` and `little.csv`. Times are
medians; bytes are counted. "SM side" is what arrives at and leaves the SMs: the papers' "HBM accesses", for a machine without L2.
Rows flagged `drift` or `throttled`, whose times are of a clock that moved: {flags}.
"""


def over_scores(row, amount):
    """`amount` over the bytes of S and P: 8 N^2 a head in 16 bits, written and read once each."""
    return amount / number(row, "model_intermediate_bytes")


def beyond_operands(row):
    return number(row, "hbm_bytes") - number(row, "io_lower_bound_bytes")


def traffic(forward, device):
    lines = []
    for length in lengths(forward.rows):
        cells = [str(length)]
        for batch in (1, 8):
            row = forward.one(variant="standard", mask="full", batch=batch, q_len=length, head_dim=64)
            naive = forward.one(variant="naive", mask="full", batch=batch, q_len=length, head_dim=64)
            if row and naive:
                shares = [over_scores(row, number(row, "sm_bytes")), *(over_scores(each, beyond_operands(each)) for each in (naive, row))]
                cells += [f"{share:.2f}" for share in shares]
            else:
                cells += ["-"] * 3
        lines.append(cells)
    unfused = [row for name in ("naive", "standard") for row in forward.of(variant=name, mask="full")]
    large, small = ([over_scores(row, beyond_operands(row)) for row in unfused if is_large(row, device) == wanted] for wanted in (True, False))
    at_sms = [over_scores(row, number(row, "sm_bytes")) for row in unfused]
    return f"""## S and P: 8 N^2 bytes a head

Standard attention writes S and P and reads them again: 8 N^2 bytes a head in 16 bits. Measured over that, d = 64, full mask; HBM less Q, K, V
and O once:

{table(["N", "standard, SM side, batch 1", "naive, HBM", "standard, HBM", "SM side, batch 8", "naive, HBM", "standard, HBM"], lines)}

Of naive and standard, both d and batches: where S alone is larger than L2 ({len(large)} rows), {span(large)} times 8 N^2 pass through HBM; where it
is smaller ({len(small)} rows), {span(small)}: L2 keeps some of what is written and read soon after, but what is dirty must leave in the end.
At the SMs it is {span(at_sms)} times 8 N^2, since tiles of Q, K and V are read more than once.
"""


def is_large(row, device):
    """One of S and P does not fit in L2."""
    return number(row, "model_intermediate_bytes") / 4 > device["l2_bytes"]


def saving(forward):
    lines, pairs = [], []
    for dim in (64, 128):
        for length in lengths(forward.rows):
            cells = [str(dim), str(length), f"{length / dim + 1:g}"]
            for batch in (1, 8):
                standard, flash = (forward.one(variant=name, mask="full", batch=batch, q_len=length, head_dim=dim) for name in ("standard", "flash2"))
                cells += [f"{ratio(standard, flash, 'hbm_bytes'):.1f}", f"{ratio(standard, flash, 'sm_bytes'):.1f}",
                          f"{ratio(standard, flash, 'latency_median_ns'):.2f}"] if standard and flash else ["-"] * 3
                pairs += [(standard, flash)] if standard and flash else []
            lines.append(cells)
    most = max(pairs, key=lambda pair: ratio(*pair, "hbm_bytes"))
    at_sms = {dim: span([ratio(*pair, "sm_bytes") for pair in pairs if pair[0]["head_dim"] == str(dim)], 1) for dim in (64, 128)}
    return f"""## The saving is N / d + 1 in HBM where L2 does not help, and does not grow with N at the SMs

Standard over flash2:

{table(["d", "N", "N / d + 1", "HBM, batch 1", "SM side", "time", "HBM, batch 8", "SM side", "time"], lines)}

S and P with Q, K, V and O, over Q, K, V and O alone, are (8 N^2 + 8 N d) / (8 N d) = N / d + 1. Measured over that:
{of_expected(pairs, 1)}; {of_expected(pairs, 8)}. It is less where L2 absorbs S and P, and where flash2 itself reads K and V again from
HBM: it moves {span([number(pair[1], "hbm_bytes") / number(pair[1], "io_lower_bound_bytes") for pair in pairs])} times Q, K, V and O once. At the SMs the saving is {at_sms[64]} (d = 64) and {at_sms[128]} (d = 128) over all N: flash2 reads K and V
once a tile of Q. Time follows neither: {ratio(*most, "hbm_bytes"):.1f} times fewer bytes give {ratio(*most, "latency_median_ns"):.2f} times the speed ({case_text(most[1])}); of flash2's {len(pairs)} rows `bound`
says tensor in {sum(pair[1]["bound"] == "tensor" for pair in pairs)}. {unsteady_text("these {} rows", [row for pair in pairs for row in pair])}.
"""


def of_expected(pairs, batch):
    shares = {ratio(*pair, "hbm_bytes") / (number(pair[0], "q_len") / number(pair[0], "head_dim") + 1): pair[0]
              for pair in pairs if pair[0]["batch"] == str(batch)}
    return f"{span(shares)} at batch {batch} (lowest at {case_text(shares[min(shares)])})"


def crossover(short, ceilings, device):
    lines, pairs, seen = [], [], {"flash1": [], "flash2": [], "flash3": []}
    for mask in ("full", "causal"):
        for dim in (64, 128):
            for length in lengths(short.rows):
                standard = short.one(variant="standard", mask=mask, q_len=length, head_dim=dim)
                cells = [mask, str(dim), str(length), f"{number(standard, 'latency_median_ns') / 1e3:.1f}"]
                for name, ratios in seen.items():
                    row = short.one(variant=name, mask=mask, q_len=length, head_dim=dim)
                    cells.append(f"{ratio(standard, row, 'latency_median_ns'):.2f}" if row else "-")
                    ratios += [ratio(standard, row, "latency_median_ns")] if row else []
                    pairs += [(standard, row)] if row and name == "flash2" else []
                lines.append(cells)
    blocks = sorted({row["ctas"] for row in short.of(variant="flash1")})
    return f"""## Short sequences at batch 1

Time of standard over that of the others:

{table(["mask", "d", "N", "standard, us", "flash1", "flash2", "flash3"], lines)}

flash2 is slower than standard at {slower(pairs)}; it reaches {span(seen["flash2"])}, flash3 {span(seen["flash3"])}. flash1, one block a head, reaches
{span(seen["flash1"])}: its {' or '.join(blocks)} blocks leave most of {device["sms"]} SMs idle. {launches_text(pairs, ceilings)} {unsteady_text("the {} rows of `short`", short.rows)}.
"""


def launches_text(pairs, ceilings):
    """What part of the time that flash2 saves is launches: as many fewer as the rows say, at the measured time of one."""
    each = ceilings["launch_ns"]["median"]
    shares = [(number(standard, "launches") - number(row, "launches")) * each / (number(standard, "latency_median_ns") - number(row, "latency_median_ns"))
              for standard, row in pairs if ratio(standard, row, "latency_median_ns") > 1]
    fewer = sorted({int(row["launches"]) - int(standard["launches"]) for standard, row in pairs})
    return (f"flash2's launches differ from standard's by {' or '.join(f'{each:+d}' for each in fewer)}, at {each / 1e3:.1f} us each (`launch_ns` in\n"
            f"`.meta.json`) {100 * min(shares):.0f} to {100 * max(shares):.0f} % of the time it saves, over half of it in {sum(share > 0.5 for share in shares)} of {len(shares)} cases.")


def batch32(little, device):
    lines, pairs = [], []
    for dim in (64, 128):
        for length in lengths(little.rows):
            for batch in (1, 32):
                for kv_heads in (16, 1):
                    rows = {name: little.one(variant=name, batch=batch, kv_heads=kv_heads, q_len=length, head_dim=dim)
                            for name in ("standard", "flash2")}
                    if not all(rows.values()):
                        continue
                    standard, flash = rows["standard"], rows["flash2"]
                    pairs.append((standard, flash))
                    lines.append([str(dim), str(length), str(batch), str(kv_heads), f"{ratio(standard, flash, 'latency_median_ns'):.2f}",
                                  f"{ratio(standard, flash, 'hbm_bytes'):.1f}", f"{number(flash, 'waves'):.2f}",
                                  f"{number(flash, 'achieved_occupancy_pct'):.1f} %", f"{number(flash, 'useful_tflops_per_s'):.0f}"])
    few = min((pair[1] for pair in pairs), key=lambda row: number(row, "waves"))
    return f"""## Batch 32, and few kv heads

Standard over flash2, and how full flash2 keeps the card:

{table(["d", "N", "batch", "kv heads", "time", "HBM bytes", "flash2's waves", "occupancy", "TFLOP/s"], lines)}

flash2 is slower than standard at {slower(pairs)}. Where it has fewest blocks ({case_text(few)}) these are
{few["ctas"]} for {device["sms"]} SMs, {number(few, "waves"):.2f} of a wave. {rise_text(pairs)} {kv_text(pairs)} {unsteady_text("these {} rows", [row for pair in pairs for row in pair])}.
"""


def rise_text(pairs):
    rises = [ratio(many[1], few[1], "useful_tflops_per_s") for few, many in twins(pairs, "batch", "1", "32")]
    bytes_of = [ratio(*many, "hbm_bytes") / ratio(*few, "hbm_bytes") for few, many in twins(pairs, "batch", "1", "32")]
    return (f"From batch 1 to 32 its rate rises {span(rises)} times;\n"
            f"the ratio of bytes, {span(bytes_of)} times.")


def kv_text(pairs):
    times = [ratio(one[i], all_heads[i], "latency_median_ns") for all_heads, one in twins(pairs, "kv_heads", "16", "1") for i in (0, 1)]
    moved = [ratio(one[1], all_heads[1], "hbm_bytes") for all_heads, one in twins(pairs, "kv_heads", "16", "1")]
    return f"With one kv head instead of 16 flash2\nmoves {span(moved)} of the HBM bytes; the times of both are {span(times)} of what they were."


PAPERS = {"flash1": "25 to 40 % (A100)", "flash2": "50 to 73 % (A100), about 35 % on Hopper", "flash3": "75 % (H100)"}


def peaks(forward, ceilings, nominal):
    wgmma, mma = ceilings["wgmma_fp16_tflops"], ceilings["mma_fp16_tflops"]
    lines, seen = [], []
    for name, paper in PAPERS.items():
        own = wgmma if name == "flash3" else mma
        for dim in (64, 128):
            rows = forward.of(variant=name, mask="full", batch=8, head_dim=dim)
            seen += rows
            rates = [number(row, "useful_tflops_per_s") for row in rows]
            best = max(rows, key=lambda row: number(row, "useful_tflops_per_s"))
            rate, clock = number(best, "useful_tflops_per_s"), number(best, "sm_clock_mhz")
            lines.append([name, str(dim), f"{span(rates, 0)}", f"{100 * rate / nominal:.0f} %",
                          f"{100 * rate / own['median']:.0f} % of {own['median']:.0f} ({'wgmma' if name == 'flash3' else 'mma.sync'}, {own['sm_clock_mhz']:.0f} MHz)",
                          f"{100 * rate / own['median'] * own['sm_clock_mhz'] / clock:.0f} % ({clock:.0f} MHz)", paper])
    return f"""## Shares of peak

Full mask, batch 8, all N of `forward`; nominal is {nominal:.0f} TFLOP/s. A ceiling is measured at the clock that the power limit leaves it, a row at its own: the
share at the row's clock takes the ceiling in proportion. A row's clock is what the driver told while it ran, which lags, so a row that ran at a lower clock has a
higher share:

{table(["variant", "d", "TFLOP/s", "best, of nominal", "best, of its own instruction's ceiling", "the same at the row's clock", "the paper"], lines)}

An A100's nominal peak is mma.sync's own; an H200's is wgmma's, of which mma.sync reaches {100 * mma['median'] / nominal:.0f} % as measured. wgmma itself, on random data, reaches
{100 * wgmma['median'] / nominal:.0f} % of nominal at {wgmma['sm_clock_mhz']:.0f} MHz. {unsteady_text("these {} rows", seen)}.
"""


def main():
    make_streams_safe()
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("-o", "--output", type=pathlib.Path, required=True)
    options = parser.parse_args()
    try:
        files = [options.folder / f"{name}.csv" for name in ("forward", "short", "little")]
        check_distinct([options.output], with_meta(files))
        forward, short, little = map(Rows, files)
        meta = json.loads((options.folder / "forward.csv.meta.json").read_text(encoding="utf-8"))
        run = next(iter(meta["runs"].values()))
        ceilings, device, nominal = run["ceilings"], run["device"], run["peaks"]["tensor_16bit_tflops"]
        flags = ", ".join(f"{unsteady(rows.rows)} of {len(rows.rows)} in `{path.stem}`" for path, rows in zip(files, (forward, short, little)))
        text = "\n".join([HEAD.format(device=device["name"], flags=flags), traffic(forward, device), saving(forward),
                          crossover(short, ceilings, device), batch32(little, device), peaks(forward, ceilings, nominal)])
        replace_file(options.output, text)
    except Refusal as refusal:
        print(f"findings: {refusal}", file=sys.stderr)
        return refusal.code
    except (OSError, ValueError, LookupError, TypeError, AttributeError, StopIteration, Missing) as error:
        print(f"findings: {options.folder}: rows, a column or ceilings are missing or cannot be read, or -o cannot be written: {error!r}",
              file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())

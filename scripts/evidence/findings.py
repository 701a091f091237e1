#!/usr/bin/env python3
"""Writes findings.md: what the papers say of attention's memory traffic and speed, beside measured rows.

    scripts/evidence/findings.py results/h200/sweeps -o results/h200/pages/findings.md

Reads forward.csv, short.csv, little.csv and forward.csv.meta.json of the folder. Figures are computed from them, apart from the
sizes of the sweep and of the card that the text names.
Exit codes: 0, 2 (a file or column is missing or cannot be read).
"""

import argparse
import csv
import json
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))

from attnprof_report.output_file import Refusal, check_distinct, replace_file, with_meta  # noqa: E402
from attnprof_report.safe_text import make_streams_safe  # noqa: E402

HEAD = """# What the rows say of the papers' statements

One NVIDIA H200, fp16, 16 heads, cold L2; written by `scripts/evidence/findings.py` from `forward.csv`, `short.csv` and `little.csv`. Times are
medians; bytes are counted. "SM side" is what arrives at and leaves the SMs: the papers' "HBM accesses", for a machine without L2.
"""


class Missing(Exception):
    """A file, or what the text needs of one, as a sentence."""


class Rows:
    """Rows that are ok, of one result file."""

    def __init__(self, path):
        try:
            with open(path, newline="", encoding="utf-8") as file:
                self.rows = [row for row in csv.DictReader(file) if row["disposition"] == "ok"]
        except (OSError, KeyError, UnicodeDecodeError) as error:
            raise Missing(f"{path}: cannot be read as a result file: {error!r}") from None
        if not self.rows:
            raise Missing(f"{path}: no row is ok")

    def of(self, **cells):
        return [row for row in self.rows if all(row[name] == str(value) for name, value in cells.items())]

    def one(self, **cells):
        found = self.of(**cells)
        return found[-1] if found else None


def number(row, column):
    return float(row[column])


def ratio(above, below, column):
    return number(above, column) / number(below, column)


def table(header, lines):
    return "\n".join(["| " + " | ".join(header) + " |", "|" + "---|" * len(header), *("| " + " | ".join(line) + " |" for line in lines)])


def lengths(rows):
    return sorted({int(row["q_len"]) for row in rows})


def over_scores(row, amount):
    """`amount` over the bytes of S and P: 8 N^2 a head in 16 bits, written and read once each."""
    return amount / number(row, "model_intermediate_bytes")


def beyond_operands(row):
    return number(row, "hbm_bytes") - number(row, "io_lower_bound_bytes")


def traffic(forward):
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
    shares = [float(line[6]) for line in lines if line[6] != "-"]
    first = lines[0]
    return f"""## S and P: 8 N^2 bytes a head

Standard attention writes S and P and reads them again: 8 N^2 bytes a head in 16 bits. Measured over that, d = 64, full mask; HBM less Q, K, V
and O once:

{table(["N", "standard, SM side, batch 1", "naive, HBM", "standard, HBM", "SM side, batch 8", "naive, HBM", "standard, HBM"], lines)}

In HBM it is what the papers count wherever S and P do not fit into L2: {min(shares[1:]):.2f} to {max(shares):.2f} times 8 N^2 at batch 8 from
N = {lines[1][0]} on. At N = {first[0]}, batch 1, only {float(first[3]):.2f} of it arrives: L2 keeps what is written and read soon after, but what
is dirty must leave in the end. At the SMs there is more than 8 N^2, since tiles of Q, K and V are read more than once.
"""


def saving(forward):
    lines = []
    for dim in (64, 128):
        for length in lengths(forward.rows):
            cells = [str(dim), str(length), f"{length / dim:g}"]
            for batch in (1, 8):
                standard, flash = (forward.one(variant=name, mask="full", batch=batch, q_len=length, head_dim=dim) for name in ("standard", "flash2"))
                cells += [f"{ratio(standard, flash, 'hbm_bytes'):.1f}", f"{ratio(standard, flash, 'sm_bytes'):.1f}",
                          f"{ratio(standard, flash, 'latency_median_ns'):.2f}"] if standard and flash else ["-"] * 3
            lines.append(cells)
    return f"""## The saving is N / d in HBM, and constant at the SMs

Standard over flash2:

{table(["d", "N", "N / d", "HBM, batch 1", "SM side", "time", "HBM, batch 8", "SM side", "time"], lines)}

HBM bytes shrink by N / d, as 8 N^2 over the 8 N d of Q, K, V and O: less where L2 absorbs S and P (short N at batch 1) or where flash2 itself reads
K and V again from HBM (N = 16k, d = 128). At the SMs the saving does not grow with N: flash2 reads K and V once a tile of Q. Time follows neither:
flash2 is bound by its products, so {lines[5][6]} times fewer bytes give {lines[5][8]} times the speed (d = {lines[5][0]}, N = {lines[5][1]}, batch 8).
"""


def crossover(short, ceilings):
    lines = []
    for mask in ("full", "causal"):
        for dim in (64, 128):
            for length in lengths(short.rows):
                standard = short.one(variant="standard", mask=mask, q_len=length, head_dim=dim)
                cells = [mask, str(dim), str(length), f"{number(standard, 'latency_median_ns') / 1e3:.1f}"]
                for name in ("flash1", "flash2", "flash3"):
                    row = short.one(variant=name, mask=mask, q_len=length, head_dim=dim)
                    cells.append(f"{ratio(standard, row, 'latency_median_ns'):.2f}" if row else "-")
                lines.append(cells)
    losses = [f"{mask} d = {dim} N = {length}" for mask, dim, length, _, _, gain, _ in lines if gain != "-" and float(gain) < 1]
    flash1 = [float(line[4]) for line in lines if line[4] != "-"]
    return f"""## Short sequences at batch 1

Time of standard over that of the others:

{table(["mask", "d", "N", "standard, us", "flash1", "flash2", "flash3"], lines)}

flash2 is slower than standard at {'; '.join(losses) if losses else 'none of these'}. flash1, one block a head, reaches {min(flash1):.2f} to
{max(flash1):.2f}: with 16 heads it fills 16 of 132 SMs. What flash2 gains here is mostly two launches less, of {ceilings["launch_ns"]["median"] / 1e3:.1f} us each
(`launch_ns` in `.meta.json`), not bytes: at these lengths S and P stay in L2.
"""


def batch32(little):
    lines = []
    for dim in (64, 128):
        for length in lengths(little.rows):
            for batch in (1, 32):
                for kv_heads in (16, 1):
                    rows = {name: little.one(variant=name, batch=batch, kv_heads=kv_heads, q_len=length, head_dim=dim)
                            for name in ("standard", "flash2")}
                    if not all(rows.values()):
                        continue
                    standard, flash = rows["standard"], rows["flash2"]
                    lines.append([str(dim), str(length), str(batch), str(kv_heads), f"{ratio(standard, flash, 'latency_median_ns'):.2f}",
                                  f"{ratio(standard, flash, 'hbm_bytes'):.1f}", f"{number(flash, 'waves'):.2f}",
                                  f"{number(flash, 'achieved_occupancy_pct'):.1f} %", f"{number(flash, 'useful_tflops_per_s'):.0f}"])
    return f"""## Batch 32, and few kv heads

Standard over flash2, and how full flash2 keeps the card:

{table(["d", "N", "batch", "kv heads", "time", "HBM bytes", "flash2's waves", "occupancy", "TFLOP/s"], lines)}

The gain at batch 1 and N = 512 is limited by blocks: flash2 has 64 of them for 132 SMs (a quarter of a wave at two an SM). At batch 32 the same kernel has 32 times
the blocks, and its rate rises by that alone while bytes shrink by the same N / d: the rise from batch 1 to 32 is occupancy, the ratio to
standard at batch 32 is IO. One kv head instead of 16 saves at most the bytes of K and V, which are few beside S and P: times hardly move.
"""


def peaks(forward, ceilings):
    nominal = 989
    wgmma, mma = ceilings["wgmma_fp16_tflops"], ceilings["mma_fp16_tflops"]
    papers = {"flash1": "25 to 40 % (A100)", "flash2": "50 to 73 % (A100), about 35 % on Hopper", "flash3": "75 % (H100)"}
    lines = []
    for name, paper in papers.items():
        own = wgmma if name == "flash3" else mma
        for dim in (64, 128):
            rates = [number(row, "useful_tflops_per_s") for row in forward.of(variant=name, mask="full", batch=8, head_dim=dim)]
            best = max(rates)
            lines.append([name, str(dim), f"{min(rates):.0f} to {best:.0f}", f"{100 * best / nominal:.0f} %",
                          f"{100 * best / own['median']:.0f} % of {own['median']:.0f} ({'wgmma' if name == 'flash3' else 'mma.sync'})", paper])
    return f"""## Shares of peak

Full mask, batch 8, N = 512 to 16k; nominal is 989 TFLOP/s:

{table(["variant", "d", "TFLOP/s", "best, of nominal", "best, of its own instruction's ceiling", "the paper"], lines)}

An A100's nominal peak is mma.sync's own; an H200's is wgmma's, of which mma.sync reaches {100 * mma['median'] / nominal:.0f} %. So flash2's share of nominal here is the
"about 35 %" that the FlashAttention-3 paper names, and its share of mma.sync's ceiling is what compares with the A100 figure. The power limit holds wgmma itself, on random data, to
{100 * wgmma['median'] / nominal:.0f} % of nominal ({wgmma['sm_clock_mhz']:.0f} MHz instead of 1980): nothing on this card reaches the data sheet.
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
        ceilings = next(iter(meta["runs"].values()))["ceilings"]
        text = "\n".join([HEAD, traffic(forward), saving(forward), crossover(short, ceilings), batch32(little), peaks(forward, ceilings)])
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

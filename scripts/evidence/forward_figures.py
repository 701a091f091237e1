"""Figures of the forward kernels: spills, share of mma.sync's rate, PyTorch beside us, compute-sanitizer. Part of
check_figures.py; standard library only."""

import pathlib
import re
import statistics
import sys

from figures import label, number, ok_rows, tell_unsteady

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "peers"))

import versus  # noqa: E402

TOOLS = ("memcheck", "racecheck", "initcheck", "synccheck")
SANITIZED = ("naive", "standard", "flash1", "flash2", "flash3", "flash3_fp8")
SUMMARY = re.compile(r"ERROR SUMMARY: (\d+) error|RACECHECK SUMMARY: (\d+) hazard")
FINDING = re.compile(r"^========= (?!COMPUTE-SANITIZER|ERROR SUMMARY|RACECHECK SUMMARY)(\S.*)", re.MULTILINE)


def kernel_text(row):
    return f"{row['variant']} {row['br']}x{row['bc']} {row['dtype']} {row['mask']} d{row['head_dim']}"


def check_spills(figures):
    figure = "spills of every default tile"
    rows = figures.rows(figure, "spills")
    if rows is None:
        return
    spilling = [row for row in rows if row["spill_bytes"] not in ("", "0")]
    broken = [row for row in rows if row["error"]]
    notes = "notes-forward.md"
    reasons = figures.results.text(notes) or ""
    unexplained = [row for row in spilling if f"| {kernel_text(row)} | {row['spill_bytes']} |" not in reasons]
    figures.add(figure, bool(rows) and not unexplained and not broken,
                f"{len(rows)} kernels, {len(spilling)} spill, {len(unexplained)} of them without a reason in "
                f"{notes}, {len(broken)} do not compile")
    for row in spilling + broken:
        what = row["error"] or f"{row['spill_bytes']} bytes a thread, {row['registers']} registers"
        figures.report("    ", f"{kernel_text(row)}: {what}")


def check_mma_share(figures):
    """flash1 and flash2 multiply by mma.sync, which on Hopper and later is slower than the tensor cores can be."""
    figure = "flash1 and flash2 as a share of mma.sync's rate"
    rates = figures.rows(figure, "selftest")
    rows = figures.rows(figure, "mma_share") if rates is not None else None
    if rows is None:
        return
    measured = {row["operation"].removeprefix("mma_sync_"): row for row in rates if row["operation"].startswith("mma_sync_")}
    rows = [row for row in ok_rows(rows) if row["dtype"] in measured]
    if not rows:
        figures.not_measured(figure, "no rate of mma.sync beside the rows")
        return
    for dtype in sorted({row["dtype"] for row in rows}):
        rate = measured[dtype]
        figures.report("mma.sync's rate", f"{dtype} {rate['tflops_per_s']} TFLOP/s at {rate['sm_clock_mhz']} MHz")
    for variant in ("flash1", "flash2"):
        own = [row for row in rows if row["variant"] == variant]
        shares = {label(row): number(row, "useful_tflops_per_s") / float(measured[row["dtype"]]["tflops_per_s"]) for row in own}
        if not shares:
            figures.not_measured(f"  {variant}", "no row")
            continue
        figures.report(f"  {variant}", f"{100 * min(shares.values()):.0f} to {100 * max(shares.values()):.0f} %, geometric mean "
                                       f"{100 * statistics.geometric_mean(shares.values()):.0f} % of {len(shares)} rows; "
                                       f"{tell_unsteady(own)}")
    for row in rows:
        figures.report(f"    {row['variant']} {row['mask']} d{row['head_dim']} N{row['q_len']} b{row['batch']}",
                       share_text(row, float(measured[row["dtype"]]["tflops_per_s"])))


def share_text(row, rate):
    useful, flops, executed = (number(row, name) for name in ("useful_tflops_per_s", "useful_flops", "executed_tensor_flops"))
    parts = [f"{100 * useful / rate:.0f} % useful"]
    if executed:
        parts.append(f"{100 * useful * executed / flops / rate:.0f} % executed")
    for column, text in (("achieved_occupancy_pct", "occupancy {:.0f} %"), ("waves", "{:.2f} waves"),
                         ("tensor_pipe_pct", "tensor pipe {:.0f} %"), ("sm_clock_mhz", "{:.0f} MHz")):
        if number(row, column) is not None:
            parts.append(text.format(number(row, column)))
    return ", ".join(parts)


def check_versus(figures):
    """What versus.sh prints, on its files."""
    for name, found in (("versus", versus.time_figures), ("errors", versus.error_figures)):
        path = figures.results.path(name)
        if path is None:
            figures.not_measured(f"beside PyTorch: {name}", f"no {name}.csv")
            continue
        told = found(path.parent)
        if name == "versus" and not any(sentence.startswith(f"{versus.PLUGIN} / ") for sentence, _ in told):
            figures.not_measured(f"{versus.PLUGIN} / torch_cudnn", f"no row of the plug-in {versus.PLUGIN}")
        for sentence, reached in told:
            figure, text = sentence.split(": ", 1)
            if reached is None:
                figures.report(figure, text)
            else:
                figures.add(figure, reached, text)


def check_sanitizer(figures):
    if not figures.results.text_names("sanitizer_*.log"):
        figures.not_measured("compute-sanitizer", "no sanitizer_*.log")
        return
    for tool in TOOLS:
        for name in SANITIZED:
            figures.add(f"{tool} {name}", *sanitizer_verdict(figures.results, f"sanitizer_{tool}_{name}"))


def sanitizer_verdict(results, name):
    """(clean, text): reports of all processes, and whether the cases themselves were ok."""
    text = results.text(f"{name}.log")
    if text is None:
        return False, f"no {name}.log"
    counts = [int(errors or hazards) for errors, hazards in SUMMARY.findall(text)]
    if not counts:
        return False, f"{name}.log has no summary: the tool did not end"
    rows = results.rows(name) or []
    ok = len(ok_rows(rows))
    first = FINDING.search(text) if sum(counts) else None
    return (sum(counts) == 0 and ok == len(rows) > 0,
            f"{sum(counts)} reports, {ok} of {len(rows)} cases ok" + (f"; first: {first[1].strip()}" if first else ""))

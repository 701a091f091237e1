"""Figures of the measured ceilings: against nominal ones, and against every row that was timed and counted. Part of
check_figures.py. Standard library only."""

from figures import label, number, ok_rows

# As much may a row exceed a ceiling: noise of counters and clocks.
SLACK = 1.02


def read_ceilings(results):
    return {row["name"]: row for row in results.rows("ceilings") or ()}


def at_clock(ceiling, clock):
    """What the ceiling would be at the row's clock."""
    own = number(ceiling, "sm_clock_mhz")
    return number(ceiling, "median") * (clock / own if own and clock else 1)


def rates(row):
    """(ceiling, rate, whether it goes with the SMs' clock) of everything a row's counters tell."""
    ns = number(row, "latency_median_ns")
    read, written, moved = (number(row, name) for name in ("hbm_read_bytes", "hbm_write_in_kernel_bytes", "sm_bytes"))
    if read is not None and written is not None:
        yield "hbm_read_gbps", (read + written) / ns, False
    if moved is not None:
        yield "l2_read_gbps", moved / ns, True
    flops = number(row, "executed_tensor_flops")
    if flops and row["variant"] in ("flash1", "flash2", "flash3"):
        instruction = "wgmma" if row["variant"] == "flash3" else "mma"
        yield f"{instruction}_{row['dtype']}_tflops", flops / ns / 1e3, True


def timed_files(results):
    """(name, rows timed by events) of what gpu_test.sh and gate_runs.sh measured."""
    for name in results.names():
        rows = results.rows(name) if "/" not in name or name.startswith("gate/") else None
        if rows and "sm_clock_mhz" in rows[0] and "latency_source" in rows[0]:
            yield name.rsplit("/", 1)[-1] + ".csv", [row for row in ok_rows(rows) if row["latency_source"] == "cuda_events"]


def check_ceilings(figures):
    ceilings = read_ceilings(figures.results)
    if not ceilings:
        return figures.not_measured("ceilings", "no ceilings.csv")
    hbm = ceilings["hbm_read_gbps"]
    share = 100 * number(hbm, "median") / number(hbm, "nominal")
    figures.add("ceilings: HBM read at least 88 % of nominal", share >= 88, f"{number(hbm, 'median'):.0f} GB/s, {share:.1f} %")
    nearest, count = {}, 0
    for file, rows in timed_files(figures.results):
        for row in rows:
            count += 1
            for name, rate, with_clock in rates(row):
                if name in ceilings:
                    of_it = rate / at_clock(ceilings[name], number(row, "sm_clock_mhz") if with_clock else None)
                    nearest[name] = max(nearest.get(name, (0, "")), (of_it, f"{file} {label(row)}"))
    for name, (of_it, where) in sorted(nearest.items()):
        figures.add(f"no row beats {name} per clock by 2 %", of_it <= SLACK, f"nearest of {count} rows: {100 * of_it:.0f} %, {where}")
    return None

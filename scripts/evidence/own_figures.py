"""What kernels that are not attnprof's own must show: plugin_gpu.sh's rows and trace_gpu.sh's table. For check_figures.py."""

import trace_table

VERIFIED = ("variant_file", "variant_file_gqa", "plugin", "cudnn")
FAULTS = {"beyond": "wrote 16 bytes beyond O", "crashes_in_prepare": "signal 11", "hangs_in_prepare": "--case-timeout",
          "fails_in_prepare": "no plan"}


def check_own_kernels(figures):
    if not figures.results.has_folder("own_kernel"):
        return figures.not_measured("kernels of one's own", "no own_kernel/")
    figure = "variant file, plug-in, cudnn: verified, timed, counted"
    rows = figures.rows(figure, *(f"own_kernel/{name}" for name in VERIFIED))
    if rows is not None:
        whole = [row for row in rows if row["verified"] == "yes" and row["latency_median_ns"] and row["hbm_bytes"]]
        figures.add(figure, bool(rows) and len(whole) == len(rows), f"{len(whole)} of {len(rows)} rows")
    for name, words in FAULTS.items():
        figure = f"own kernel that is wrong: {name}"
        rows = figures.rows(figure, f"own_kernel/{name}")
        if rows is not None:
            told = [row for row in rows if row["disposition"] == "failed" and words in row["reason"]]
            figures.add(figure, bool(rows) and len(told) == len(rows), f"a failed row that says: {words}")
    return None


def check_trace(figures):
    figure = "trace: sweeps, plug-in, exact FLOPs, Nsight Compute, slowdown"
    if not figures.results.has_folder("trace"):
        return figures.not_measured(figure, "no trace/")
    table = trace_table.table_of(figures.results, "trace/")
    held = [line for line in table.lines if line[2] or line[3]]
    missed = [name for name, _, _, verdict in held if verdict]
    figures.add(figure, not missed, f"{len(held) - len(missed)} of {len(held)} reached" + (f"; not: {'; '.join(missed)}" if missed else ""))
    return None

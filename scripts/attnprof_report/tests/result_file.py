"""Result files for the tests, in the columns that the plots read."""

import csv
import os
import pathlib
import sys

os.environ.setdefault("ATTNPROF", os.environ["ATTNPROF_BUILD_DIR"] + "/attnprof")  # whom pictures ask for roofs
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2]))

from attnprof_report import program  # noqa: E402

HBM_TBPS, TENSOR_TFLOPS, FP32_TFLOPS = 4.8, 989.0, 67.0
# Share of the roof a variant reaches, its peak, the tile rows that its SM-side intensity follows, whether S and P move.
VARIANTS = {"naive": (0.15, FP32_TFLOPS, 16, True), "standard": (0.45, TENSOR_TFLOPS, 128, True),
            "flash1": (0.2, TENSOR_TFLOPS, 24, False), "flash2": (0.35, TENSOR_TFLOPS, 128, False)}


def row(variant, n, d, **changes):
    """An `ok` row of 16 fp16 heads on an H200, its figures by simple formulas; `changes` replace cells."""
    share, peak, tile, moves_scores = VARIANTS[variant]
    flops = 4.0 * n * n * d * 16
    lower_bound = 16 * 8.0 * n * d
    hbm = flops / (lower_bound + (16 * 8.0 * n * n if moves_scores else 0))
    sm = flops / (16 * 4.0 * n * d * (n / tile + 1) + (16 * 8.0 * n * n if moves_scores else 0))
    roof = min(peak, hbm * HBM_TBPS)
    useful = share * roof * n / (n + 700)
    cells = {"variant": variant, "pass": "fwd", "dtype": "fp16", "mask": "full", "batch": 1, "heads": 16,
             "kv_heads": 16, "q_len": n, "kv_len": n, "head_dim": d, "tile": "auto", "cache": "cold", "run": "r1",
             "bytes_source": "sim", "useful_flops": f"{flops:.0f}", "executed_tensor_flops": f"{flops:.0f}", "backend": "sim", "device": "h200", "disposition": "ok", "reason": "", "verified": "yes",
             "knobs": "-", "flags": "", "br": 64, "bc": 64, "latency_median_ns": f"{flops / useful / 1e3:.6g}",
             "hbm_bytes": f"{flops / hbm:.0f}", "model_hbm_bytes": f"{flops / hbm:.0f}", "sm_bytes": f"{flops / sm:.0f}",
             "model_sm_bytes": f"{flops / sm:.0f}", "io_lower_bound_bytes": f"{lower_bound:.0f}",
             "useful_tflops_per_s": f"{useful:.6g}", "mfu_pct": f"{100 * useful / peak:.6g}",
             "hbm_intensity": f"{hbm:.6g}", "sm_intensity": f"{sm:.6g}", "roof_tflops_per_s": f"{roof:.6g}"}
    return cells | changes


def skipped(variant, n, d):
    return row(variant, n, d, disposition="skipped", reason="needs 9 GB, 1 GB is free", verified="", **empty())


def empty():
    """The cells that a case without a right number leaves empty."""
    return dict.fromkeys(["br", "bc", "latency_median_ns", "hbm_bytes", "sm_bytes", "useful_tflops_per_s", "mfu_pct",
                          "hbm_intensity", "sm_intensity", "roof_tflops_per_s"], "")


def default_sweep():
    return [row(variant, n, d) for variant in VARIANTS for d in (64, 128) for n in (512, 1024, 2048, 4096)]


def write(path, rows):
    with open(path, "w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, list(row("flash2", 512, 64)))
        writer.writeheader()
        writer.writerows(rows)
    return path


def write_peers(path):
    """A file of scripts/peers/peers.py: two lengths, without counted bytes."""
    cells = {"variant": "torch_flash", "pass": "fwd", "dtype": "bf16", "mask": "full", "batch": "2", "heads": "8",
             "kv_heads": "8", "head_dim": "64", "tile": "auto", "knobs": "-", "cache": "cold", "backend": "gpu",
             "device": "NVIDIA H200", "run": "r1", "disposition": "ok", "verified": "yes"}
    with open(path, "w", newline="", encoding="utf-8") as file:
        columns = program.ask(program.find(), "list", "--columns")
        absent = {line["column"]: line["absent"] for line in columns if line.get("absent") is not None}
        writer = csv.DictWriter(file, [line["column"] for line in columns], restval="")
        writer.writeheader()
        for n in (512, 1024):
            writer.writerow(absent | cells | {"q_len": n, "kv_len": n, "latency_median_ns": 9 * n, "useful_tflops_per_s": 100})
    return path

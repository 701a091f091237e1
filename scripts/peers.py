#!/usr/bin/env python3
"""Measures PyTorch's attention with attnprof's protocol and writes rows in attnprof's schema.

    peers.py -o OUT.csv [--backends torch_flash,torch_cudnn,torch_math] [--dtype bf16] [--mask full,causal]
             [-N 512,2048] [-d 64,128] [--tokens 16384 | -b 1] [--hidden 2048 | --heads 16] [--max-time 0.5]

The protocol is that of `attnprof sweep`: fresh random inputs near N(0, 1), output checked against fp64 on sampled rows
before any timing, L2 evicted before each sample by reading a clean buffer of at least 4 x L2, CUDA events around the
call, the median of all samples with its 95 % interval. Columns that only attnprof can fill (counters, build) stay
empty. Needs PyTorch with CUDA. Exit codes: 0, 1 (a case failed or is incorrect), 2 (usage), 3 (no PyTorch or GPU).
"""

import argparse
import csv
import datetime
import hashlib
import json
import math
import os
import statistics
import sys
import time

COLUMNS = [
    "variant", "pass", "dtype", "mask", "batch", "heads", "kv_heads", "q_len", "kv_len", "head_dim", "tile", "knobs",
    "cache", "schema", "run", "env_id", "backend", "device", "disposition", "reason", "flags", "verified", "rel_err",
    "max_abs_err", "latency_source", "latency_median_ns", "latency_min_ns", "latency_p90_ns", "latency_ci95_low_ns",
    "latency_ci95_high_ns", "samples", "bytes_source", "io_lower_bound_bytes", "useful_flops", "half_square_flops",
    "useful_tflops_per_s",
]
SCHEMA = "1"
TOLERANCE = {"fp16": 2e-3, "bf16": 1.5e-2}  # relative Frobenius error, as in src/verify
FEWEST_SAMPLES, LARGEST_BATCH = 3, 64


def parse_arguments(arguments):
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])

    def numbers(text):
        return [int(part[:-1]) * 1024 if part.endswith("k") else int(part) for part in text.split(",")]

    def words(text):
        return text.split(",")

    parser.add_argument("-o", "--output", required=True, help="CSV file to write; must not exist")
    parser.add_argument("--backends", type=words, default=["torch_flash", "torch_cudnn", "torch_math"])
    parser.add_argument("--dtype", type=words, default=["bf16"])
    parser.add_argument("--mask", type=words, default=["full"])
    parser.add_argument("-N", "--seqlen", type=numbers, default=[512, 1024, 2048, 4096])
    parser.add_argument("-d", "--head-dim", type=numbers, default=[64, 128])
    parser.add_argument("-b", "--batch", type=int, default=1)
    parser.add_argument("--tokens", type=lambda text: numbers(text)[0], help="batch = tokens / N")
    parser.add_argument("--heads", type=int, default=16)
    parser.add_argument("--hidden", type=int, help="heads = hidden / d")
    parser.add_argument("--max-time", type=float, default=0.5, help="seconds of timing a case")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args(arguments)
    for name, known in (("backends", BACKENDS), ("dtype", TOLERANCE), ("mask", ("full", "causal"))):
        unknown = [word for word in getattr(options, name) if word not in known]
        if unknown:
            parser.error(f"--{name}: {unknown[0]} is none of {', '.join(known)}")
    return options


BACKENDS = {"torch_flash": "FLASH_ATTENTION", "torch_cudnn": "CUDNN_ATTENTION", "torch_math": "MATH",
            "torch_efficient": "EFFICIENT_ATTENTION"}


def cases(options):
    """(backend, dtype, mask, batch, heads, N, d), the backends of one problem next to each other."""
    for dtype in options.dtype:
        for mask in options.mask:
            for d in options.head_dim:
                for n in options.seqlen:
                    batch = options.tokens // n if options.tokens else options.batch
                    heads = options.hidden // d if options.hidden else options.heads
                    for backend in options.backends:
                        yield backend, dtype, mask, batch, heads, n, d


def median_interval(values):
    """95 % interval of the median by order statistics: the ranks that a binomial(n, 1/2) leaves 2.5 % outside."""
    ordered, n = sorted(values), len(values)
    if n < 6:
        return None
    cumulative, rank = 0.0, 0
    while cumulative + math.comb(n, rank) / 2**n <= 0.025:
        cumulative += math.comb(n, rank) / 2**n
        rank += 1
    return ordered[rank - 1], ordered[n - rank]


class Bench:
    """One case on the GPU: inputs, the call, its check and its timing."""

    def __init__(self, torch, case, options):
        from torch.nn.attention import SDPBackend, sdpa_kernel

        backend, dtype, mask, batch, heads, n, d = case
        self.torch, self.causal = torch, mask == "causal"
        generator = torch.Generator(device="cuda").manual_seed(options.seed * 1000003 + n * 31 + d)
        kind = {"fp16": torch.float16, "bf16": torch.bfloat16}[dtype]
        self.q, self.k, self.v = (
            torch.randn(batch, heads, n, d, device="cuda", generator=generator).to(kind) for _ in range(3))
        self.backend, self.kernel = getattr(SDPBackend, BACKENDS[backend]), sdpa_kernel
        l2 = torch.cuda.get_device_properties(0).L2_cache_size
        self.eviction = torch.ones(l2, dtype=torch.float32, device="cuda")  # 4 x L2 bytes

    def run(self):
        with self.kernel(self.backend):
            return self.torch.nn.functional.scaled_dot_product_attention(self.q, self.k, self.v, is_causal=self.causal)

    def check(self):
        """(relative Frobenius error, largest error) of 64 query rows of every 8th head against fp64."""
        torch, n = self.torch, self.q.shape[2]
        output = self.run()
        rows = torch.linspace(0, n - 1, min(64, n), device="cuda").long()
        error = reference = largest = 0.0
        for b in range(0, self.q.shape[0], max(1, self.q.shape[0] // 2)):
            for h in range(0, self.q.shape[1], 8):
                scores = self.q[b, h, rows].double() @ self.k[b, h].double().T / math.sqrt(self.q.shape[3])
                if self.causal:
                    hidden = torch.arange(n, device="cuda")[None, :] > rows[:, None]
                    scores.masked_fill_(hidden, float("-inf"))
                expected = torch.softmax(scores, dim=-1) @ self.v[b, h].double()
                difference = output[b, h, rows].double() - expected
                error += difference.square().sum().item()
                reference += expected.square().sum().item()
                largest = max(largest, difference.abs().max().item())
        return math.sqrt(error / reference), largest

    def samples_ns(self, max_time):
        torch = self.torch
        for _ in range(3):
            self.run()
        torch.cuda.synchronize()
        samples, start = [], time.monotonic()
        while len(samples) < FEWEST_SAMPLES or time.monotonic() - start < max_time:
            batch = min(LARGEST_BATCH, max(FEWEST_SAMPLES, len(samples)))
            marks = [[torch.cuda.Event(enable_timing=True) for _ in range(2)] for _ in range(batch)]
            for before, after in marks:
                self.eviction.sum()
                before.record()
                self.run()
                after.record()
            torch.cuda.synchronize()
            samples += [before.elapsed_time(after) * 1e6 for before, after in marks]
        return samples


def identity(case, provenance):
    backend, dtype, mask, batch, heads, n, d = case
    pairs = n * (n + 1) // 2 if mask == "causal" else n * n
    return {"variant": backend, "pass": "fwd", "dtype": dtype, "mask": mask, "batch": batch, "heads": heads,
            "kv_heads": heads, "q_len": n, "kv_len": n, "head_dim": d, "tile": "auto", "knobs": "-", "cache": "cold",
            "io_lower_bound_bytes": 4 * batch * heads * n * d * 2, "useful_flops": 4 * d * pairs * heads * batch,
            "half_square_flops": 4 * d * n * n * heads * batch // (2 if mask == "causal" else 1),
            "bytes_source": "none", **provenance}


def measure(torch, case, options, row):
    """Fills the row's status, verify and latency groups."""
    bench = Bench(torch, case, options)
    row["rel_err"], row["max_abs_err"] = (f"{value:.6g}" for value in bench.check())
    limit = TOLERANCE[row["dtype"]]
    if not float(row["rel_err"]) <= limit:
        row.update(disposition="incorrect", verified="no", reason=f"relative error {row['rel_err']} is above {limit}")
        return
    samples = bench.samples_ns(options.max_time)
    median = statistics.median(samples)
    row.update(disposition="ok", verified="yes", latency_source="cuda_events", latency_median_ns=f"{median:.6g}",
               latency_min_ns=f"{min(samples):.6g}", samples=len(samples),
               latency_p90_ns=f"{sorted(samples)[math.ceil(0.9 * len(samples)) - 1]:.6g}",
               useful_tflops_per_s=f"{row['useful_flops'] / median / 1e3:.6g}")
    interval = median_interval(samples)
    if interval:
        row["latency_ci95_low_ns"], row["latency_ci95_high_ns"] = (f"{value:.6g}" for value in interval)
    else:
        row["flags"] = "few_samples"


def describe_run(torch, output):
    """Writes OUTPUT.meta.json; returns the provenance columns of every row."""
    now = datetime.datetime.now(datetime.timezone.utc)
    environment = {"gpu": torch.cuda.get_device_name(), "torch": torch.__version__, "cuda": torch.version.cuda,
                   "cudnn": str(torch.backends.cudnn.version()), "input": "normal"}
    digest = hashlib.sha256(json.dumps(environment).encode()).hexdigest()[:16]
    run = f"{now:%Y%m%dT%H%M%SZ}-{digest[:8]}"
    meta = {"schema": SCHEMA, "runs": {run: {"started": f"{now:%Y-%m-%dT%H:%M:%SZ}", "backend": "gpu", "env_id": digest,
                                             "command_line": " ".join(["peers.py", *sys.argv[1:]]),
                                             "comparable": list(environment), "environment": environment}}}
    with open(f"{output}.meta.json", "w", encoding="utf-8") as file:
        json.dump(meta, file, indent=1)
        file.write("\n")
    return {"schema": SCHEMA, "run": run, "env_id": digest, "backend": "gpu", "device": environment["gpu"]}


def main(arguments):
    options = parse_arguments(arguments)
    if os.path.exists(options.output):
        print(f"peers.py: {options.output} exists; give another -o", file=sys.stderr)
        return 2
    try:
        import torch
    except ImportError:
        print("peers.py: PyTorch is not installed; install torch with CUDA", file=sys.stderr)
        return 3
    if not torch.cuda.is_available():
        print("peers.py: PyTorch sees no GPU", file=sys.stderr)
        return 3
    provenance = describe_run(torch, options.output)
    wrong = False
    with open(options.output, "x", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, COLUMNS, lineterminator="\n")
        writer.writeheader()
        for case in cases(options):
            row = identity(case, provenance)
            print(" ".join(str(part) for part in case), file=sys.stderr)
            try:
                measure(torch, case, options, row)
            except torch.cuda.OutOfMemoryError as error:
                row.update(disposition="skipped", verified="unchecked", reason=str(error).splitlines()[0])
            except RuntimeError as error:  # a backend that does not take the problem
                row.update(disposition="failed", verified="unchecked", reason=str(error).splitlines()[0])
            wrong |= row["disposition"] in ("failed", "incorrect")
            writer.writerow(row)
            file.flush()
            torch.cuda.empty_cache()
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

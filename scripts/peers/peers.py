#!/usr/bin/env python3
"""Measures other people's attention with attnprof's protocol and writes rows in attnprof's schema.

    peers.py -o OUT.csv [--backends torch_flash,torch_cudnn,torch_math,torch_efficient,three_kernels,fa3,fa4] [--dtype bf16]
             [--mask full,causal] [-N 512,2048 | -q 100 -k 1000] [-d 64,128,256] [--tokens 16384 | -b 1]
             [--hidden 2048 | --heads 16] [--kv-heads 2] [--precision 0.005] [--max-time 0.5] [--verify sampled|full]
             [--attnprof build/release/attnprof]

The protocol is that of `attnprof sweep`: fresh random inputs near N(0, 1), output checked against fp64 before any
timing on the rows that attnprof samples (of every head a first or last row and at least one random row, 64 random rows
in all), a causal mask aligned to the bottom right, L2 evicted before each sample by reading a clean buffer of at least
4 x L2, CUDA events around the call, all of it enqueued before the GPU begins it, samples until half the 95 % interval of
their median is under --precision of it; flags drift and throttled. Its numbers (`attnprof list --rules`), the columns, and
what a problem asks for (`attnprof sweep --dry-run`) are the program's. Columns that only attnprof can fill (counters, build)
stay empty. Needs PyTorch with CUDA, and attnprof; fa3 and fa4 packages of their own. Exit codes: 0, 1 (a case failed or is
incorrect), 2 (usage), 3 (no PyTorch, GPU, attnprof or package).
"""

import argparse
import collections
import csv
import datetime
import hashlib
import json
import math
import os
import pathlib
import random
import statistics
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))

import late  # noqa: E402
from attnprof_report import program  # noqa: E402
from attnprof_report.output_file import open_rows, replace_file  # noqa: E402
from attnprof_report.safe_text import make_streams_safe  # noqa: E402
from backends import BACKENDS, missing, open_backend  # noqa: E402

SCHEMA = "1"
DEVICE = "cuda"
DTYPES = ("fp16", "bf16")  # of PyTorch's fused paths
MOST_LATE_BATCHES = 8  # one after the other, before a case is given up

Case = collections.namedtuple("Case", "backend dtype mask batch heads kv_heads q_len kv_len head_dim")


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
    parser.add_argument("-q", "--q-len", type=numbers, help="queries a sequence, with -k instead of -N")
    parser.add_argument("-k", "--kv-len", type=numbers, help="keys a sequence")
    parser.add_argument("--heads", type=int, default=16)
    parser.add_argument("--kv-heads", type=int, help="fewer than --heads is GQA; default: as --heads")
    parser.add_argument("--hidden", type=int, help="heads = hidden / d")
    parser.add_argument("--precision", type=float, help="half the median's 95 %% interval over the median; default: attnprof's")
    parser.add_argument("--max-time", type=float, help="seconds of timing a case; default: attnprof's")
    parser.add_argument("--verify", choices=("sampled", "full"), default="sampled", help="rows that are checked")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--attnprof", help="the program to ask; without it $ATTNPROF, build/release, or PATH")
    options = parser.parse_args(arguments)
    if (options.q_len is None) != (options.kv_len is None):
        parser.error("-q and -k come together, instead of -N")
    if options.q_len and options.tokens:
        parser.error("--tokens needs -N; give -b with -q and -k")
    for name, known in (("backends", BACKENDS), ("dtype", DTYPES), ("mask", ("full", "causal"))):
        unknown = [word for word in getattr(options, name) if word not in known]
        if unknown:
            parser.error(f"--{name}: {unknown[0]} is none of {', '.join(known)}")
    return options


class Protocol:
    """What attnprof measures by, as it says itself. Throws program.NotUsable."""

    def __init__(self, attnprof=None):
        self.attnprof = program.find(attnprof)
        columns = program.ask(self.attnprof, "list", "--columns")
        self.columns = [line["column"] for line in columns]
        # What a problem is at that asks for nothing of a field, by column.
        self.absent = {line["column"]: line["absent"] for line in columns if line.get("absent") is not None}
        self.rules = {line["rule"]: line["value"] for line in program.ask(self.attnprof, "list", "--rules")}

    def amounts(self, case):
        """FLOPs and bytes that the case's problem asks for, by column."""
        problem = [("--variant", "standard"), ("--dtype", case.dtype), ("--mask", case.mask), ("-b", case.batch),
                   ("--heads", case.heads), ("--kv-heads", case.kv_heads), ("-q", case.q_len), ("-k", case.kv_len),
                   ("-d", case.head_dim)]
        plan = program.ask(self.attnprof, "sweep", "--dry-run", "--backend", "sim", "--target", "h200",
                           *(word for pair in problem for word in pair))
        return {name: plan[0][name] for name in ("io_lower_bound_bytes", "useful_flops", "half_square_flops")}


def lengths(options):
    """(queries, keys) of a sequence."""
    if options.q_len:
        return [(q, k) for q in options.q_len for k in options.kv_len]
    return [(n, n) for n in options.seqlen]


def cases(options):
    """Cases with the backends of one problem next to each other."""
    for dtype in options.dtype:
        for mask in options.mask:
            for d in options.head_dim:
                for q_len, kv_len in lengths(options):
                    batch = options.tokens // q_len if options.tokens else options.batch
                    heads = options.hidden // d if options.hidden else options.heads
                    for backend in options.backends:
                        yield Case(backend, dtype, mask, batch, heads, options.kv_heads or heads, q_len, kv_len, d)


def rows_to_verify(case, full, seed, least_random_rows):
    """{(batch, head): query rows}, the choice that attnprof makes: what a mask's and a ragged tile's edges hold, and
    random rows."""
    rows, chance = {}, random.Random(seed)
    slices = case.batch * case.heads
    for index in range(slices):
        if full:
            chosen = list(range(case.q_len))
        else:
            chosen = [case.q_len - 1 if index % 2 == 0 else 0]
            chosen += [chance.randrange(case.q_len) for _ in range(max(1, least_random_rows // slices))]
            chosen += [0] if slices == 1 else []
        rows[divmod(index, case.heads)] = chosen
    return rows


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


def enough(samples, fewest, precision, spent_s, max_time):
    """Whether attnprof would take no more samples."""
    if len(samples) < fewest:
        return False
    low, high = median_interval(samples)
    return spent_s >= max_time or (high - low) / 2 <= precision * statistics.median(samples)


class Bench:
    """One case on the GPU: inputs, the call, its check and its timing."""

    def __init__(self, torch, case, options, rules):
        self.torch, self.case, self.rules = torch, case, rules
        seed = options.seed * 1000003 + case.q_len * 31 + case.kv_len * 7 + case.head_dim
        generator = torch.Generator(device=DEVICE).manual_seed(seed)
        kind = {"fp16": torch.float16, "bf16": torch.bfloat16}[case.dtype]

        def tensor(heads, rows):
            return torch.randn(case.batch, heads, rows, case.head_dim, device=DEVICE, generator=generator).to(kind)

        self.q = tensor(case.heads, case.q_len)
        self.k, self.v = tensor(case.kv_heads, case.kv_len), tensor(case.kv_heads, case.kv_len)
        self.places, self.place = [(self.q, self.k, self.v)], 0
        self.rows = rows_to_verify(case, options.verify == "full", seed, rules["least_random_rows"])
        self.backend = open_backend(torch, case)
        self.holder, self.surroundings = late.Holder(torch), late.Surroundings(torch)

    def run(self):
        return self.backend.run(self.q, self.k, self.v)

    def move(self):
        """Inputs to another place in device memory: to a new one, until there are most_placements or no room."""
        inputs = self.places[0]
        size = sum(tensor.nbytes for tensor in inputs)
        if len(self.places) < self.rules["most_placements"] and 2 * size < self.torch.cuda.mem_get_info()[0]:
            self.places.append(tuple(tensor.clone() for tensor in inputs))
        self.place = (self.place + 1) % len(self.places)
        self.q, self.k, self.v = self.places[self.place]

    def expected(self, batch, head, rows):
        """Output rows in fp64; zero where a query sees no key."""
        torch, case = self.torch, self.case
        kv_head = head // (case.heads // case.kv_heads)
        scores = self.q[batch, head, rows].double() @ self.k[batch, kv_head].double().T / math.sqrt(case.head_dim)
        if case.mask == "causal":
            keys = torch.arange(case.kv_len, device=DEVICE)
            scores.masked_fill_(keys[None, :] > rows[:, None] + case.kv_len - case.q_len, float("-inf"))
        return torch.softmax(scores, dim=-1).nan_to_num(0.0) @ self.v[batch, kv_head].double()

    def check(self):
        """(relative Frobenius error, largest error) of the checked rows against fp64."""
        torch = self.torch
        with self.backend.chosen():
            output = self.run()
        error, reference, largest = (torch.zeros((), dtype=torch.float64, device=DEVICE) for _ in range(3))
        for (batch, head), chosen in self.rows.items():
            for first in range(0, len(chosen), 1024):  # bounds the fp64 scores in memory
                rows = torch.tensor(chosen[first:first + 1024], device=DEVICE)
                expected = self.expected(batch, head, rows)
                difference = output[batch, head, rows].double() - expected
                error += difference.square().sum()
                reference += expected.square().sum()
                largest = torch.maximum(largest, difference.abs().max())
        relative = math.sqrt((error / reference).item()) if reference.item() > 0 else math.sqrt(error.item())
        return relative, largest.item()

    def samples_ns(self, precision, max_time):
        torch = self.torch
        l2 = torch.cuda.get_device_properties(0).L2_cache_size
        eviction = torch.ones(l2, dtype=torch.float32, device=DEVICE)  # 4 x L2 bytes
        samples = []
        with self.backend.chosen():
            self.warm_up()
            start, idle = time.monotonic(), 0
            while not enough(samples, self.rules["samples_before_stopping"], precision, time.monotonic() - start, max_time):
                taken = self.batch_ns(len(samples), eviction)
                idle = 0 if taken else idle + 1
                if idle == MOST_LATE_BATCHES:
                    raise RuntimeError("the host is late with every sample: enqueueing one takes longer than the GPU is held for it")
                samples += taken
        return samples

    def warm_up(self):
        start, runs, seconds = time.monotonic(), 0, self.rules["warm_up_s"]
        marks = [self.torch.cuda.Event(enable_timing=True) for _ in range(2)]
        while runs < self.rules["warm_up_runs"] or time.monotonic() - start < seconds:
            if runs and time.monotonic() - start > 5 * seconds:
                break  # long operations: once is enough
            self.holder.enqueue(lambda: None, marks[0], self.run, marks[1])
            self.torch.cuda.synchronize()
            runs += 1

    def batch_ns(self, done, eviction):
        """The samples that follow the first `done`; fewer where the host was late."""
        torch = self.torch
        missing_yet = self.rules["samples_before_stopping"] - done  # no more of them, so that two sides take equally many
        size = missing_yet if missing_yet > 0 else min(self.rules["largest_batch"], max(self.rules["samples_before_stopping"], done // 2))
        marks = [[torch.cuda.Event(enable_timing=True) for _ in range(2)] for _ in range(size)]
        taken = []
        for index, (before, after) in enumerate(marks, done):
            if index % self.rules["samples_a_placement"] == 0:
                self.surroundings.look()
                self.move()
            if self.holder.enqueue(eviction.sum, before, self.run, after):
                taken.append((before, after))
        torch.cuda.synchronize()
        return [before.elapsed_time(after) * 1e6 for before, after in taken]


def identity(case, protocol, provenance):
    """The columns that are known before anything runs."""
    return {**protocol.absent, "variant": case.backend, "pass": "fwd", "dtype": case.dtype, "mask": case.mask, "batch": case.batch,
            "heads": case.heads, "kv_heads": case.kv_heads, "q_len": case.q_len, "kv_len": case.kv_len,
            "head_dim": case.head_dim, "tile": "auto", "knobs": "-", "cache": "cold", "bytes_source": "none",
            **protocol.amounts(case), **provenance}


def measure(torch, case, options, rules, row):
    """Fills the row's status, verify and latency groups."""
    bench = Bench(torch, case, options, rules)
    row["rel_err"], row["max_abs_err"] = (f"{value:.6g}" for value in bench.check())
    limit = rules[f"tolerance_{row['dtype']}"]
    if not float(row["rel_err"]) <= limit:
        row.update(disposition="incorrect", verified="no", reason=f"relative error {row['rel_err']} is above {limit}")
        return
    samples = bench.samples_ns(*(getattr(options, name) if getattr(options, name) is not None else rules[rule]
                                 for name, rule in (("precision", "precision"), ("max_time", "max_time_s"))))
    median = statistics.median(samples)
    row.update(disposition="ok", verified="yes", latency_source="cuda_events", latency_median_ns=f"{median:.6g}",
               latency_min_ns=f"{min(samples):.6g}", samples=len(samples),
               latency_p90_ns=f"{sorted(samples)[math.ceil(0.9 * len(samples)) - 1]:.6g}",
               useful_tflops_per_s=f"{row['useful_flops'] / median / 1e3:.6g}")
    interval = median_interval(samples)
    if interval:
        row["latency_ci95_low_ns"], row["latency_ci95_high_ns"] = (f"{value:.6g}" for value in interval)
    drift = late.drift_percent(samples)
    if drift is not None:
        row["drift_pct"] = f"{drift:.6g}"
    if bench.surroundings.clocks_mhz:
        row["sm_clock_mhz"] = f"{statistics.median(bench.surroundings.clocks_mhz):.6g}"
    row["flags"] = flags_of(drift, interval, bench.surroundings.throttled)


def flags_of(drift, interval, throttled):
    """As attnprof writes them."""
    found = {"drift": drift is not None and abs(drift) > late.DRIFT_PERCENT, "throttled": throttled,
             "few_samples": interval is None}
    return ";".join(name for name, holds in found.items() if holds)


def describe_run(torch, output):
    """Writes OUTPUT.meta.json; returns the provenance columns of every row."""
    now = datetime.datetime.now(datetime.timezone.utc)
    environment = {"gpu": torch.cuda.get_device_name(), "torch": torch.__version__, "cuda": torch.version.cuda,
                   "cudnn": str(torch.backends.cudnn.version()), "input": "normal"}
    digest = hashlib.sha256(json.dumps(environment).encode()).hexdigest()[:16]
    run = f"{now:%Y%m%dT%H%M%SZ}-{digest[:8]}"
    meta = {"schema": SCHEMA, "runs": {run: {"started": f"{now:%Y-%m-%dT%H:%M:%SZ}", "backend": "gpu", "env_id": digest,
                                             "command_line": " ".join([os.path.basename(sys.argv[0]), *sys.argv[1:]]),
                                             "comparable": list(environment), "environment": environment}}}
    replace_file(f"{output}.meta.json", json.dumps(meta, indent=1) + "\n")
    return {"schema": SCHEMA, "run": run, "env_id": digest, "backend": "gpu", "device": environment["gpu"]}


def measured_row(torch, case, options, protocol, provenance):
    """The row of one case, whatever becomes of it."""
    row = identity(case, protocol, provenance)
    try:
        measure(torch, case, options, protocol.rules, row)
    except torch.cuda.OutOfMemoryError as error:
        row.update(disposition="skipped", verified="unchecked", reason=str(error).splitlines()[0])
    except RuntimeError as error:  # a backend that does not take the problem
        row.update(disposition="failed", verified="unchecked", reason=str(error).splitlines()[0])
    torch.cuda.empty_cache()
    return row


def import_torch(program="peers.py"):
    """PyTorch with a GPU; exits with 3 and a sentence of `program` where there is none."""
    try:
        import torch
    except ImportError:
        print(f"{program}: PyTorch is not installed; install torch with CUDA", file=sys.stderr)
        sys.exit(3)
    if not torch.cuda.is_available():
        print(f"{program}: PyTorch sees no GPU", file=sys.stderr)
        sys.exit(3)
    return torch


class Rows:
    """The file of rows, each flushed as it is finished, with its meta file."""

    def __init__(self, torch, path, columns):
        self.provenance = describe_run(torch, path)
        self.file = open_rows(path, "x")
        self.writer = csv.DictWriter(self.file, columns, lineterminator="\n")
        self.writer.writeheader()

    def add(self, row):
        self.writer.writerow(row)
        self.file.flush()


def main(arguments):
    make_streams_safe()
    options = parse_arguments(arguments)
    if os.path.exists(options.output):
        print(f"peers.py: {options.output} exists; give another -o", file=sys.stderr)
        return 2
    torch = import_torch()
    lacking = missing(options.backends)
    if lacking:
        print(f"peers.py: {lacking}", file=sys.stderr)
        return 3
    try:
        protocol = Protocol(options.attnprof)
        return measure_all(torch, options, protocol)
    except program.NotUsable as error:
        print(f"peers.py: {error}", file=sys.stderr)
        return 3


def measure_all(torch, options, protocol):
    rows = Rows(torch, options.output, protocol.columns)
    wrong = False
    for case in cases(options):
        print(" ".join(str(part) for part in case), file=sys.stderr)
        row = measured_row(torch, case, options, protocol, rows.provenance)
        wrong |= row["disposition"] in ("failed", "incorrect")
        rows.add(row)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

#!/usr/bin/env python3
"""What `attnprof trace` is tried on: PyTorch's attention, a training loop, and launches alone.

    trace_sdpa.py sdpa [--backends flash,cudnn,math] [--iterations 24] [-b 4] [--heads 16] [-N 4096] [-d 128]
    trace_sdpa.py train [--steps 40]
    trace_sdpa.py launches

`sdpa` calls scaled_dot_product_attention so often with each backend, each call in an NVTX range named after it, and
prints a line `backend,ms a call`. `train` prints the median ms of a training step of a transformer (four layers of
width 2048, 16k tokens). `launches` prints the median host us of launching a kernel that does nearly nothing. All need
PyTorch with CUDA. Exit codes: 0, 2 (usage), 3 (no PyTorch or GPU).
"""

import argparse
import statistics
import sys
import time

from peers import import_torch

BACKENDS = {"flash": "FLASH_ATTENTION", "cudnn": "CUDNN_ATTENTION", "math": "MATH"}


def parse_arguments(arguments):
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    commands = parser.add_subparsers(dest="command", required=True)
    sdpa = commands.add_parser("sdpa", help="calls of PyTorch's attention, a range a backend")
    sdpa.add_argument("--backends", type=lambda text: text.split(","), default=list(BACKENDS))
    sdpa.add_argument("--iterations", type=int, default=24)
    sdpa.add_argument("--dtype", choices=("bf16", "fp16"), default="bf16")
    sdpa.add_argument("-b", "--batch", type=int, default=4)
    sdpa.add_argument("--heads", type=int, default=16)
    sdpa.add_argument("-N", "--seqlen", type=int, default=4096)
    sdpa.add_argument("-d", "--head-dim", type=int, default=128)
    train = commands.add_parser("train", help="steps of a transformer")
    train.add_argument("--steps", type=int, default=40)
    commands.add_parser("launches", help="host time of a launch")
    options = parser.parse_args(arguments)
    if options.command == "sdpa":
        unknown = [name for name in options.backends if name not in BACKENDS]
        if unknown:
            parser.error(f"--backends: {unknown[0]} is none of {', '.join(BACKENDS)}")
    return options


def milliseconds(torch, work):
    """Wall time of `work`, with all that it launches."""
    torch.cuda.synchronize()
    start = time.perf_counter()
    work()
    torch.cuda.synchronize()
    return 1e3 * (time.perf_counter() - start)


def attend(torch, options):
    from torch.nn.attention import SDPBackend, sdpa_kernel

    kind = {"bf16": torch.bfloat16, "fp16": torch.float16}[options.dtype]
    generator = torch.Generator(device="cuda").manual_seed(1)
    shape = (options.batch, options.heads, options.seqlen, options.head_dim)
    q, k, v = (torch.randn(shape, device="cuda", generator=generator).to(kind) for _ in range(3))

    def call(name):
        torch.cuda.nvtx.range_push(name)
        torch.nn.functional.scaled_dot_product_attention(q, k, v)
        torch.cuda.nvtx.range_pop()

    for name in options.backends:
        with sdpa_kernel(getattr(SDPBackend, BACKENDS[name])):
            call("warm-up")
            times = [milliseconds(torch, lambda: call(name)) for _ in range(options.iterations)]
        print(f"{name},{statistics.median(times):.6g}")


def train(torch, options):
    torch.manual_seed(1)
    layer = torch.nn.TransformerEncoderLayer(2048, 32, 8192, batch_first=True, dropout=0.0)
    model = torch.nn.TransformerEncoder(layer, 4, enable_nested_tensor=False).cuda().to(torch.bfloat16)
    optimiser = torch.optim.AdamW(model.parameters())
    inputs = torch.randn(32, 512, 2048, device="cuda", dtype=torch.bfloat16)

    def step():
        optimiser.zero_grad(set_to_none=True)
        model(inputs).square().mean().backward()
        optimiser.step()

    for _ in range(10):
        step()
    times = [milliseconds(torch, step) for _ in range(options.steps)]
    print(f"step,{statistics.median(times):.6g}")


def launches(torch, _options):
    x = torch.zeros(32, device="cuda")

    def microseconds():
        torch.cuda.synchronize()
        start = time.perf_counter()
        for _ in range(500):
            x.add_(1)
        return (time.perf_counter() - start) * 1e6 / 500

    microseconds()
    print(f"launch,{statistics.median(microseconds() for _ in range(100)):.6g}")


def main(arguments):
    options = parse_arguments(arguments)
    torch = import_torch("trace_sdpa.py")
    {"sdpa": attend, "train": train, "launches": launches}[options.command](torch, options)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

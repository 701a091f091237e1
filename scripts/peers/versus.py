#!/usr/bin/env python3
"""attnprof beside other people's attention, case by case in one run; see versus.sh. Where the build has the plug-in `cudnn`,
it is measured too, beside PyTorch's own use of cuDNN.

In each turn every problem comes once, in an order drawn anew: attnprof measures its variants (short processes), and
peers.py's backends are measured in this process, all by one protocol with equally many samples, in drawn order too (turns.py).
A ratio is the peer's median latency over ours, each the median of its turns: above 1, ours is faster. Its interval is what the
turns, or of one turn the two medians' 95 % intervals, leave open.
"""

import argparse
import collections
import csv
import functools
import io
import itertools
import math
import pathlib
import random
import subprocess
import sys
import time

import backends
import peers
import turns

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))

from attnprof_report.safe_text import make_streams_safe  # noqa: E402

HEAD_DIMS, MASKS = (64, 128, 256), ("full", "causal")
LENGTHS, QUICK_LENGTHS, ERROR_LENGTHS = (512, 1024, 2048, 4096, 8192, 16384), (2048, 16384), (512, 2048, 8192, 16384)
TOKENS, HIDDEN = 16384, 2048
UNFUSED_UP_TO = 2048  # beyond it S and P of 16k tokens do not fit beside each other
FP8_DIMS, FP8_LENGTH = (128, 256), 16384
RATIO_CAP = 1.10  # of FlashAttention-3, which is furthest behind on short sequences
TURNS, SECONDS = 3, 1.0
REST_S = 0.25  # before each peer: about what attnprof's processes take to start and verify, in which the GPU cools
PACKAGES = ("fa3",)  # peers of packages that may be absent
PLUGIN, PLUGIN_SLACK = "cudnn", 0.03  # the plug-in and torch_cudnn: one library behind two callers

# Errors. Under a causal mask the first rows hold most of the output's norm and an error that falls as 1 / row, so a few
# random rows say little: there every row is checked, of two heads. Then lengths that no tile divides, with 8 query heads
# a key head.
CAUSAL_HEADS = 2
ODD_LENGTHS, ODD_BATCH, ODD_HEADS, ODD_KV_HEADS = (1, 129, 1000, 4097), 2, 16, 2
REFERENCE_ERROR = 1e-9
ERROR_SLACK = 1.2

Shape = collections.namedtuple("Shape", "mask head_dim q_len kv_heads heads batch")


class Comparison:
    """`ours` against `theirs` over all shapes that both are measured on: what the geometric mean and each ratio must reach.
    Where both are one library behind two callers, how far a ratio may be from 1 (`same`): then of the fastest samples, since
    under a power limit the clock falls by 10 % with the samples taken before, whichever of the two it is that takes more.
    `no_peer`: why theirs is nothing to be held to; then the ratios are reported alone. `cap`: what a ratio counts for at most
    in the mean, so that no shape far ahead makes up for others. `theirs` may be several, A or B: the fastest of each shape."""

    def __init__(self, ours, theirs, mean, floor, shapes, same=None, no_peer=None, cap=None):
        self.ours, self.theirs, self.mean, self.floor, self.shapes, self.same = ours, theirs, mean, floor, shapes, same
        self.no_peer, self.cap = no_peer, cap
        self.name = f"{ours} / {theirs}"
        self.latency = "latency_median_ns" if same is None else "latency_min_ns"


def shape_of(mask, head_dim, length):
    heads = HIDDEN // head_dim
    return Shape(mask, head_dim, length, heads, heads, TOKENS // length)


def grid(lengths):
    return [shape_of(mask, d, n) for d, mask, n in itertools.product(HEAD_DIMS, MASKS, lengths)]


def odd_shapes():
    return [Shape(mask, d, n, ODD_KV_HEADS, ODD_HEADS, ODD_BATCH)
            for d, mask, n in itertools.product(HEAD_DIMS, MASKS, ODD_LENGTHS)]


def causal_shapes(lengths):
    return [Shape("causal", d, n, CAUSAL_HEADS, CAUSAL_HEADS, 1) for d, n in itertools.product(HEAD_DIMS, lengths)]


def error_shapes(lengths):
    return [shape for shape in grid(lengths) if shape.mask == "full"] + causal_shapes(lengths) + odd_shapes()


def fp8_shapes(lengths):
    return [shape_of("full", d, FP8_LENGTH) for d in FP8_DIMS] if FP8_LENGTH in lengths else []


def comparisons(lengths, plugin=False):
    """plugin: also the plug-in `cudnn`, which not every build has."""
    shapes = grid(lengths)
    unfused = [shape for shape in shapes if shape.q_len <= UNFUSED_UP_TO]
    found = [Comparison("flash2", "torch_flash", 1.00, 0.85, shapes),
             Comparison("flash3", "torch_cudnn", 1.00, 0.85, shapes),
             Comparison("flash3", "fa3", 1.00, 0.93, shapes, cap=RATIO_CAP),
             Comparison("flash3", "fa3 or torch_cudnn", 0.97, 0.90, shapes),
             Comparison("standard", "three_kernels", 1.00, None, unfused),
             Comparison("standard", "torch_math", None, None, unfused, no_peer="torch_math multiplies without tensor cores")]
    if fp8_shapes(lengths):
        found.append(Comparison("flash3 fp8", "flash3", None, 1.40, fp8_shapes(lengths)))
    if plugin:
        found.append(Comparison(PLUGIN, "torch_cudnn", None, None, shapes, PLUGIN_SLACK))
    return [comparison for comparison in found if comparison.shapes]


def read_rows(*paths):
    """One row of each (variant, shape), of all its turns, by column name; "flash3 fp8" is flash3 on fp8 inputs."""
    rows = collections.defaultdict(list)
    for path in paths:
        if not path.exists():
            continue
        with open(path, newline="", encoding="utf-8") as file:
            for row in csv.DictReader(file):
                name = row["variant"] + (" fp8" if row["dtype"] == "fp8" else "")
                shape = Shape(row["mask"], *(int(row[column]) for column in Shape._fields[1:]))
                rows[name, shape].append(row)
    return {key: turns.merged(found) for key, found in rows.items()}


def why_no_value(row):
    if row is None:
        return "not measured"
    return "" if row["disposition"] == "ok" else f"{row['disposition']}: {row['reason']}"


# ours, theirs: of the rows, in ns. unsteady: of each of the two rows, whether it carries a flag of UNSTEADY; None of a row
# whose program tells no drift.
Ratio = collections.namedtuple("Ratio", "shape ours theirs value low high reason unsteady", defaults=((None, None),))
UNSTEADY = ("drift", "throttled")


def number(row, column):
    return float(row[column]) if row.get(column) else None


def peer_of(rows, comparison, shape):
    """The peer's row: of several the fastest, or one that has no time."""
    found = [rows.get((name, shape)) for name in comparison.theirs.split(" or ")]
    return min(found, key=lambda row: 0 if why_no_value(row) else number(row, comparison.latency))


def ratio_of(rows, comparison, shape):
    ours, theirs = rows.get((comparison.ours, shape)), peer_of(rows, comparison, shape)
    reasons = [f"{name} {why}" for name, why in ((comparison.ours, why_no_value(ours)),
                                                 (comparison.theirs, why_no_value(theirs))) if why]
    if reasons:
        return Ratio(shape, None, None, None, None, None, "; ".join(reasons))
    a, b = number(ours, comparison.latency), number(theirs, comparison.latency)
    unsteady = is_unsteady(ours), is_unsteady(theirs)
    if comparison.same is not None:
        return Ratio(shape, a, b, b / a, None, None, "", unsteady)
    bounds = [number(row, f"latency_ci95_{end}_ns") for row in (ours, theirs) for end in ("low", "high")]
    low, high = (bounds[2] / bounds[1], bounds[3] / bounds[0]) if None not in bounds else (None, None)
    return Ratio(shape, a, b, b / a, low, high, "", unsteady)


def is_unsteady(row):
    """Whether the row carries a flag of UNSTEADY, of any of its turns; None where its program tells no drift, so that no flag means nothing."""
    return any(flag in UNSTEADY for flag in row["flags"].split(";")) if row.get("drift_pct") else None


def unsteady_text(comparison, ratios):
    """On how many shapes either side carries a flag of UNSTEADY."""
    sides = []
    for name, told in zip((comparison.ours, comparison.theirs), zip(*(ratio.unsteady for ratio in ratios if ratio.value is not None))):
        known = [flag for flag in told if flag is not None]
        sides.append(f"{sum(known)} of {len(known)} shapes of {name}" if known else f"not told of {name}")
    return f"{' or '.join(UNSTEADY)} in any turn: {', '.join(sides)}"


def geometric_mean(values):
    return math.exp(sum(math.log(value) for value in values) / len(values))


def shape_text(shape):
    heads = f"{shape.heads}" if shape.heads == shape.kv_heads else f"{shape.heads}/{shape.kv_heads}"
    return f"d{shape.head_dim} {shape.mask} N{shape.q_len} b{shape.batch} h{heads}"


def print_table(lines):
    widths = [max(len(line[i]) for line in lines) for i in range(len(lines[0]))]
    for line in lines:
        print("  ".join(text.ljust(width) if i == 0 else text.rjust(width)
                        for i, (text, width) in enumerate(zip(line, widths))).rstrip())


def ratio_line(ratio, floor):
    if ratio.value is None:
        return [shape_text(ratio.shape), "-", "-", "-", ratio.reason]
    interval = f"{ratio.low:.3f} to {ratio.high:.3f}" if ratio.low is not None else "-"
    below = floor is not None and ratio.value < floor
    return [shape_text(ratio.shape), f"{ratio.ours / 1e3:.1f}", f"{ratio.theirs / 1e3:.1f}",
            f"{ratio.value:.3f}{' *' if below else ''}", interval]


def verdicts(comparison, ratios):
    """(sentence, reached) for each figure of a comparison; reached is None where it is only reported."""
    known = [ratio for ratio in ratios if ratio.value is not None]
    missing = len(ratios) - len(known)
    if not known:
        return [(f"{comparison.name}: not measured ({ratios[0].reason})", False)]
    if comparison.same is not None:
        return [same_verdict(comparison, ratios)]
    of = f"of {len(known)}{f', {missing} not measured' if missing else ''}"
    return [mean_verdict(comparison, known, of, missing), lowest_verdict(comparison, known, of, missing)]


def mean_verdict(comparison, known, of, missing):
    values, wanted = [ratio.value for ratio in known], comparison.mean
    mean = geometric_mean(values) if comparison.cap is None else geometric_mean([min(value, comparison.cap) for value in values])
    capped = "" if comparison.cap is None else f" with each capped at {comparison.cap:.2f} ({geometric_mean(values):.3f} without)"
    goal = f", must reach {wanted:.2f}" if wanted is not None else ""
    why = f", only reported: {comparison.no_peer}" if comparison.no_peer else ""
    return (f"{comparison.name}: geometric mean {mean:.3f} {of}{capped}{goal}{why}; {unsteady_text(comparison, known)}",
            None if wanted is None else mean >= wanted and not missing)


def lowest_verdict(comparison, known, of, missing):
    floor, worst = comparison.floor, min(known, key=lambda ratio: ratio.value)
    sentence = f"{comparison.name}: lowest {worst.value:.3f} ({shape_text(worst.shape)}) {of}"
    if floor is None:
        return sentence, None
    under = [f"{shape_text(ratio.shape)} {ratio.value:.3f}" for ratio in known if ratio.value < floor]
    return (f"{sentence}, none may be under {floor:.2f}" + (f"; under it: {'; '.join(under)}" if under else ""),
            not under and not missing)


def same_verdict(comparison, ratios):
    """(sentence, reached) of the ratio furthest from 1."""
    known = [ratio for ratio in ratios if ratio.value is not None]
    furthest = max(known, key=lambda ratio: abs(ratio.value - 1))
    beyond = [f"{shape_text(ratio.shape)} {ratio.value:.3f}" for ratio in known if abs(ratio.value - 1) > comparison.same]
    return (f"{comparison.name}: fastest samples, furthest from 1 {furthest.value:.3f} ({shape_text(furthest.shape)}) of {len(known)}"
            f"{f', {len(ratios) - len(known)} not measured' if len(known) < len(ratios) else ''}, within "
            f"{100 * comparison.same:.0f} %" + (f"; beyond it: {'; '.join(beyond)}" if beyond else ""),
            not beyond and len(known) == len(ratios))


def print_verdicts(found):
    print("\nfigures")
    for sentence, reached in found:
        print(f"  {'reported' if reached is None else 'reached ' if reached else 'MISSED  '}  {sentence}")
    return all(reached is not False for _, reached in found)


def time_ratios(folder, lengths):
    """(comparison, its ratios) of the rows in `folder`."""
    rows = read_rows(folder / "versus.csv", folder / "versus_peers.csv")
    return [(comparison, [ratio_of(rows, comparison, shape) for shape in comparison.shapes])
            for comparison in comparisons(lengths, plugin=any(name == PLUGIN for name, _ in rows))]


def time_figures(folder, lengths=LENGTHS):
    """(sentence, reached) of what the times must show."""
    return [figure for comparison, ratios in time_ratios(folder, lengths) for figure in verdicts(comparison, ratios)]


def report_times(folder, lengths):
    for comparison, ratios in time_ratios(folder, lengths):
        if all(ratio.value is None for ratio in ratios):
            continue
        print(f"\n{comparison.name}{', fastest samples' if comparison.same is not None else ''}")
        print_table([["shape", "ours us", "theirs us", "ratio", "95 % interval"]] +
                    [ratio_line(ratio, comparison.floor) for ratio in ratios])
    return print_verdicts(time_figures(folder, lengths))


def error_ratio(ours, theirs):
    """None where a row has no error; both exact is 1."""
    a, b = (number(row, "rel_err") if row else None for row in (ours, theirs))
    if a is None or b is None:
        return None
    # Below what two fp64 evaluations differ by, either is exact: a single key's output is V itself.
    return max(a, REFERENCE_ERROR) / max(b, REFERENCE_ERROR)


ErrorRatio = collections.namedtuple("ErrorRatio", "shape ours theirs value reason")  # ours, theirs: rel_err as written


def error_ratios(folder, lengths):
    """(variant, its error over torch_flash's for every shape) of the rows in `folder`."""
    rows = read_rows(folder / "errors.csv", folder / "errors_peers.csv")

    def ratio(variant, shape):
        ours, theirs = rows.get((variant, shape)), rows.get(("torch_flash", shape))
        value = error_ratio(ours, theirs)
        if value is None:
            return ErrorRatio(shape, "-", "-", None, why_no_value(ours) or why_no_value(theirs) or "unchecked")
        return ErrorRatio(shape, ours["rel_err"], theirs["rel_err"], value, "")

    return [(variant, [ratio(variant, shape) for shape in error_shapes(lengths)]) for variant in ("flash2", "flash3")]


def error_verdict(variant, ratios):
    """(sentence, reached) for one variant's errors."""
    values = [ratio.value for ratio in ratios if ratio.value is not None]
    if not values:
        return f"rel_err of {variant} / torch_flash: not measured ({ratios[-1].reason})", False
    missing = len(ratios) - len(values)
    above = [f"{shape_text(ratio.shape)} {ratio.value:.3f}" for ratio in ratios
             if ratio.value is not None and ratio.value > ERROR_SLACK]
    return (f"rel_err of {variant} / torch_flash: largest {max(values):.3f} of {len(values)}"
            f"{f', {missing} not measured' if missing else ''}, at most {ERROR_SLACK}"
            + (f"; above it: {'; '.join(above)}" if above else ""), not above and not missing)


def error_figures(folder, lengths=ERROR_LENGTHS):
    """(sentence, reached) of what the errors must show."""
    return [error_verdict(variant, ratios) for variant, ratios in error_ratios(folder, lengths)]


def report_errors(folder, lengths):
    for variant, ratios in error_ratios(folder, lengths):
        if all(ratio.value is None for ratio in ratios):
            continue
        print(f"\nrel_err of {variant} against fp64, beside torch_flash's")
        print_table([["shape", "ours", "theirs", "ratio", ""]] +
                    [[shape_text(ratio.shape), ratio.ours, ratio.theirs, "-" if ratio.value is None else
                      f"{ratio.value:.3f}{' *' if ratio.value > ERROR_SLACK else ''}", ratio.reason] for ratio in ratios])
    return print_verdicts(error_figures(folder, lengths))


class Ours:
    """attnprof as short processes that append to one file."""

    def __init__(self, build, output):
        self.program, self.output = build.resolve() / "attnprof", output
        listed = self.run("list", "--format", "csv", "--dtype", "bf16", "-d", "128", "--target", "h200")
        self.variants = {row["variant"] for row in csv.DictReader(io.StringIO(listed.stdout))}
        if self.run("list", "--plugin", PLUGIN).returncode == 0:  # this build has it, and what it needs is found
            self.variants.add(PLUGIN)

    def run(self, *arguments):
        return subprocess.run([self.program, *map(str, arguments)], capture_output=True, text=True, check=False)

    def has_fp8(self):
        return "flash3" in self.variants and self.run("list", "--dtype", "fp8").returncode == 0

    def sweep(self, variants, shapes, dtype, *more):
        """One process for shapes that differ in mask, head_dim and length alone."""
        names = [name for name in variants if name in self.variants]
        if not names:
            return
        axes = [",".join(dict.fromkeys(str(getattr(shape, axis)) for shape in shapes))
                for axis in ("mask", "head_dim", "q_len")]
        done = self.run("sweep", "--backend", "gpu", "--variant", ",".join(names), "--dtype", dtype, "--mask", axes[0],
                        "-d", axes[1], "-N", axes[2], "--counters", "off", "--append", "-o", self.output,
                        "--format", "csv", *more)
        if done.returncode != 0:
            last = (done.stderr.strip().splitlines() or ["no word"])[-1]
            print(f"versus.py: attnprof sweep exited {done.returncode}: {last}", file=sys.stderr)

    def compile(self, torch, variants, lengths):
        """All kernels at once, on all cores, so that no process below waits for one."""
        major, minor = torch.cuda.get_device_capability()
        arch = f"sm_{major}{minor}" + ("a" if major >= 9 else "")
        names = [name for name in variants if name in self.variants]
        self.run("compile", "--arch", arch, "--variant", ",".join(names), "--dtype", "bf16,fp8", "-d",
                 ",".join(map(str, HEAD_DIMS)), "-N", ",".join(map(str, lengths)), "--mask", ",".join(MASKS),
                 "--tokens", TOKENS, "--hidden", HIDDEN, "--format", "csv")


class Theirs:
    """Other people's attention in this process."""

    def __init__(self, torch, protocol, output, seconds, rest):
        self.torch, self.protocol, self.seconds, self.rest = torch, protocol, seconds, rest
        self.rows = peers.Rows(torch, output, protocol.columns)

    def measure(self, names, shape, verify="sampled"):
        options = argparse.Namespace(precision=turns.EQUAL_SAMPLES[1], max_time=self.seconds, seed=1, verify=verify)
        for backend in names:
            time.sleep(self.rest)
            case = peers.Case(backend, "bf16", shape.mask, shape.batch, shape.heads, shape.kv_heads, shape.q_len,
                              shape.q_len, shape.head_dim)
            self.rows.add(peers.measured_row(self.torch, case, options, self.protocol, self.rows.provenance))


def peers_here():
    """The backends that this machine has; a sentence for each that it lacks."""
    found = ["torch_flash", "torch_cudnn"]
    for name in PACKAGES:
        lacking = backends.missing([name])
        if lacking:
            print(f"versus.py: {lacking}", file=sys.stderr)
        else:
            found.append(name)
    return found


class Bout:
    """One problem's turn: each side once, in drawn order."""

    def __init__(self, ours, theirs, lengths, found):
        self.ours, self.theirs, self.lengths, self.peers = ours, theirs, lengths, found
        self.size = ("--tokens", TOKENS, "--hidden", HIDDEN, "--max-time", f"{SECONDS}s", "--precision", turns.EQUAL_SAMPLES[0])

    def sides(self, shape):
        small = shape.q_len <= UNFUSED_UP_TO
        for variant in ("flash2", "flash3") + (("standard",) if small else ()):
            yield functools.partial(self.ours.sweep, (variant,), [shape], "bf16", *self.size)
        if shape in fp8_shapes(self.lengths) and self.ours.has_fp8():
            yield functools.partial(self.ours.sweep, ("flash3",), [shape], "fp8", *self.size)
        yield functools.partial(self.ours.sweep, (PLUGIN,), [shape], "bf16", "--plugin", PLUGIN, *self.size)
        for backend in self.peers + (["torch_math", "three_kernels"] if small else []):
            yield functools.partial(self.theirs.measure, (backend,), shape)

    def take(self, shape, chance):
        sides = list(self.sides(shape))
        chance.shuffle(sides)
        for side in sides:
            side()


def measure_times(options, torch):
    ours = Ours(options.build, options.out / "versus.csv")
    theirs = Theirs(torch, options.protocol, options.out / "versus_peers.csv", SECONDS, REST_S)
    ours.compile(torch, ("flash2", "flash3", "standard"), options.lengths)
    bout = Bout(ours, theirs, options.lengths, peers_here())
    shapes = grid(options.lengths)
    for turn in range(options.turns):
        for index, shape in enumerate(turns.order(shapes, f"{options.seed} {turn}")):
            print(f"[{turn + 1}/{options.turns}] [{index + 1}/{len(shapes)}] {shape_text(shape)}", file=sys.stderr)
            bout.take(shape, random.Random(f"{options.seed} {turn} {index}"))


def measure_errors(options, torch):
    ours = Ours(options.build, options.out / "errors.csv")
    theirs = Theirs(torch, options.protocol, options.out / "errors_peers.csv", 0.0, 0.0)
    full = [shape for shape in grid(options.lengths) if shape.mask == "full"]
    for shapes, verify, size in (
            (full, "sampled", ("--tokens", TOKENS, "--hidden", HIDDEN)),
            (causal_shapes(options.lengths), "full", ("-b", 1, "--heads", CAUSAL_HEADS)),
            (odd_shapes(), "full", ("-b", ODD_BATCH, "--heads", ODD_HEADS, "--kv-heads", ODD_KV_HEADS))):
        ours.sweep(("flash2", "flash3"), shapes, "bf16", *size, "--verify", verify, "--precision", "50%", "--max-time",
                   "1ms", "--case-timeout", "2min")
        for shape in shapes:
            print(shape_text(shape), file=sys.stderr)
            theirs.measure(("torch_flash",), shape, verify)


def parse_arguments(arguments):
    parser = argparse.ArgumentParser(prog="versus.sh", description=__doc__.splitlines()[0])
    parser.add_argument("build", type=pathlib.Path, help="folder of the attnprof binary")
    parser.add_argument("out", type=pathlib.Path, help="folder for the rows")
    parser.add_argument("--quick", action="store_true", help="fewer lengths, one turn")
    parser.add_argument("--turns", type=int, help=f"how often each case is measured; default: {TURNS}, of --quick 1")
    parser.add_argument("--seed", type=int, default=1, help="of the order that cases and sides are drawn in")
    parser.add_argument("--errors", action="store_true", help="relative errors instead of times")
    parser.add_argument("--report", action="store_true", help="measure nothing, print the table of the files")
    parser.add_argument("--overwrite", action="store_true", help="replace the files of an earlier run")
    options = parser.parse_args(arguments)
    options.lengths = QUICK_LENGTHS if options.quick else ERROR_LENGTHS if options.errors else LENGTHS
    options.turns = options.turns or (1 if options.quick else TURNS)
    return options


def files(options):
    name = "errors" if options.errors else "versus"
    return options.out / f"{name}.csv", options.out / f"{name}_peers.csv"


def obstacle(options):
    """None, or why nothing can be measured."""
    if not (options.build / "attnprof").is_file():
        return f"no attnprof in {options.build}; build it first"
    for path in files(options):
        if path.exists() and not options.overwrite:
            return f"{path} exists; give another folder or --overwrite"
    return None


def clear_files(options):
    options.out.mkdir(parents=True, exist_ok=True)
    for path in files(options):
        for file in (path, path.with_name(path.name + ".meta.json")):
            file.unlink(missing_ok=True)


def main(arguments):
    make_streams_safe()
    options = parse_arguments(arguments)
    if not options.report:
        complaint = obstacle(options)
        if complaint:
            print(f"versus.sh: {complaint}", file=sys.stderr)
            return 2
        torch = peers.import_torch()  # before files of an earlier run go
        try:
            options.protocol = peers.Protocol(options.build.resolve() / "attnprof")
        except peers.program.NotUsable as error:
            print(f"versus.sh: {error}", file=sys.stderr)
            return 2
        clear_files(options)
        (measure_errors if options.errors else measure_times)(options, torch)
    reached = (report_errors if options.errors else report_times)(options.out, options.lengths)
    return 0 if reached else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

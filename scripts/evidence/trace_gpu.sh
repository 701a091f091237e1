#!/usr/bin/env bash
# `attnprof trace` on a GPU: attnprof's own kernels traced and swept, PyTorch's attention traced (and beside Nsight Compute
# where there is one), the cost of a traced launch, and what training and a launch cost more with nothing to trace. Builds nothing.
#
#   scripts/evidence/trace_gpu.sh OUT_DIR [BUILD_DIR]
#
# BUILD_DIR (build/release) holds attnprof and libattnprof_trace.so. PYTHON names a Python that has PyTorch with CUDA,
# NCU Nsight Compute. The last lines are one table of figures against what they must reach; exit 0 only when all are.
set -uo pipefail

if [ $# -lt 1 ] || [ $# -gt 2 ] || [ "$1" = --help ]; then
  sed -n '2,9p' "$0" | sed 's/^# \{0,1\}//'
  exit 2
fi
source_dir=$(cd "$(dirname "$0")/../.." && pwd)
build_dir=$(cd "${2:-$source_dir/build/release}" && pwd) || exit 2
mkdir -p "$1" && cd "$1" || exit 2
attnprof=$build_dir/attnprof python=${PYTHON:-python3} ncu=${NCU:-ncu}
[ -x "$attnprof" ] || { echo "trace_gpu.sh: no attnprof in $build_dir; build it first" >&2; exit 2; }
script=("$python" "$source_dir/scripts/peers/trace_sdpa.py")
sdpa=("${script[@]}" sdpa)

say() { printf '\n== %s (%s)\n' "$1" "$(date +%H:%M:%S)"; }

say "attnprof's own kernels, swept and traced"
for variant in flash2 flash3; do
  case_of=(sweep --backend gpu --variant "$variant" --dtype bf16 -N 4k -d 128 --heads 16 -b 4 --ceilings off --verify off)
  "$attnprof" "${case_of[@]}" -o "own_$variant.csv" --overwrite --counters on >/dev/null
  # The sweep evicts L2 before each of its launches, so that what is found is what it counts itself.
  "$attnprof" trace --kernel "$variant" --limit 40 --per-name -o "traced_$variant.csv" --overwrite -- \
    "$attnprof" "${case_of[@]}" --counters off >"traced_$variant.log" 2>&1 || tail -3 "traced_$variant.log"
done

say "PyTorch's attention"
"$attnprof" trace --range '^(flash|cudnn|math)$' --limit 0 --per-name -o sdpa.csv --overwrite -- \
  "${sdpa[@]}" --iterations 24 || echo "trace_gpu.sh: the trace ended with $?"
if [ -e "$build_dir/plugins/cudnn.so" ]; then  # what PyTorch calls, called by attnprof's plug-in and counted by its sweep
  "$attnprof" sweep --backend gpu --plugin cudnn --variant cudnn --dtype bf16 -N 4k -d 128 --heads 16 -b 4 --ceilings off \
    -o plugin_cudnn.csv --overwrite --counters on >/dev/null || echo "trace_gpu.sh: the sweep of cudnn ended with $?"
fi
if command -v "$ncu" >/dev/null; then
  metrics=dram__bytes_read.sum,l1tex__m_xbar2l1tex_read_bytes.sum,l1tex__m_l1tex2xbar_write_bytes.sum
  for name in flash cudnn math; do  # all kernels of one call
    "$ncu" --cache-control none --clock-control none --nvtx --nvtx-include "$name/" \
      --metrics "$metrics,sm__ops_path_tensor_src_bf16_dst_fp32.sum" --csv --page raw --print-units base \
      "${sdpa[@]}" --backends "$name" --iterations 1 >"ncu_$name.csv" || echo "trace_gpu.sh: ncu ended with $?"
  done
fi

say "cost of a traced launch"
"${sdpa[@]}" --backends flash,cudnn --iterations 60 -N 1024 >calls_plain.txt
"$attnprof" trace --range '^(flash|cudnn)$' --limit 0 --per-name -o calls.csv --overwrite -- \
  "${sdpa[@]}" --backends flash,cudnn --iterations 60 -N 1024 >calls_traced.txt

# Processes of one program differ by some percent, so that several of each take turns.
untraced_and_traced() { # NAME COMMAND...
  local name=$1 run
  shift
  for run in 1 2 3; do
    "$@" >"${name}_plain_$run.txt"
    "$attnprof" trace --kernel nothing_matches -o none.csv --overwrite -- "$@" >"${name}_traced_$run.txt" 2>none.log
    [ $? -eq 3 ] || tail -2 none.log
  done
}
say "training with nothing to trace"
untraced_and_traced train "${script[@]}" train
say "launches with nothing to trace"
untraced_and_traced launches "${script[@]}" launches

say "figures"
"$python" "$source_dir/scripts/evidence/trace_table.py" .

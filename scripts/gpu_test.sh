#!/usr/bin/env bash
# Tests and evidence that need an NVIDIA GPU: correctness, known copies, model against counters, repeatability,
# permission paths, faults and time-outs, compute-sanitizer. Builds nothing; runs anywhere with a GPU.
#
#   scripts/gpu_test.sh BUILD_DIR OUT_DIR [PART...]
#
# BUILD_DIR holds the attnprof binary (and attnprof_tests, if built). Every part writes its rows and logs to OUT_DIR;
# the last lines are one table of figures against what they must reach. Exit 0 only when every part that ran passed.
set -uo pipefail

usage() {
  sed -n '2,9p' "$0" | sed 's/^# \{0,1\}//'
  exit 2
}
[ $# -ge 2 ] || usage
build_dir=$(cd "$1" && pwd) || exit 2
mkdir -p "$2" || exit 2
out_dir=$(cd "$2" && pwd)
shift 2
all_parts=(units selftest correct model_naive model_flash1 model_flash2 hbm repeat walltime faults counters forward peers sanitizer)
parts=("${@:-${all_parts[@]}}")
source_dir=$(cd "$(dirname "$0")/.." && pwd)
attnprof=$build_dir/attnprof
[ -x "$attnprof" ] || { echo "gpu_test.sh: no attnprof in $build_dir; build it first" >&2; exit 2; }
failures=()
cd "$out_dir" || exit 2

say() { printf '\n== %s (%s)\n' "$1" "$(date +%H:%M:%S)"; }
fail() {
  echo "FAIL: $1"
  failures+=("$1")
}
# sweep NAME ARGS...: one sweep on the GPU into OUT_DIR/NAME.csv; its exit code must be 0.
sweep() {
  local name=$1
  shift
  "$attnprof" sweep --backend gpu -o "$name.csv" --overwrite --format csv "$@" >/dev/null 2>"$name.log"
  local code=$?
  [ $code -eq 0 ] || { fail "$name: sweep exited $code"; tail -3 "$name.log"; }
}
quick=(--precision 10% --max-time 0.02s)

# The GPU cases of the unit tests (label gpu); without a GPU they would be skipped with a reason.
part_units() {
  [ -x "$build_dir/attnprof_tests" ] || { fail "units: attnprof_tests is not in $build_dir"; return; }
  "$build_dir/attnprof_tests" --gtest_filter='*Gpu*.*' >"units.log" 2>&1 || fail "units: see units.log"
  grep -E '^\[  (PASSED|FAILED|SKIPPED)' "units.log" | head -20
}

part_selftest() {
  "$attnprof" doctor --format json >selftest.csv.meta.json || fail "doctor exited $?"
  "$attnprof" doctor --self-test -o "selftest.csv" >"selftest.txt" 2>&1 || fail "self-test exited $?"
  cat "selftest.txt"
}

# Shapes and tiles that break kernels: odd lengths, unequal lengths, grouped heads, every head_dim, edge tiles.
part_correct() {
  local base=(--counters off --verify full "${quick[@]}" --cache warm)
  sweep correct_lengths --variant naive,standard,flash1,flash2 -N 1,17,129,1000 -d 64,128 -b 2 --heads 4 \
    --kv-heads 1,4 --dtype fp16,bf16 --mask full,causal "${base[@]}"
  sweep correct_unequal --variant naive,standard,flash1,flash2 -q 1,100,384 -k 1,77,513 -d 64 -b 1 --heads 8 \
    --kv-heads 2 --mask full,causal "${base[@]}"
  sweep correct_head_dims --variant naive,standard,flash1,flash2 -N 200 -d 16:128:16 -b 1 --heads 2 \
    --mask causal "${base[@]}"
  sweep correct_wide --variant naive,standard,flash2 -N 300 -d 160,192,256 -b 1 --heads 2 --mask causal "${base[@]}"
  sweep correct_tiles --variant naive,flash1,flash2 -N 333 -d 64 -b 1 --heads 2 --br 16,48,64,128 --bc 16,48,80,128 \
    --mask full,causal "${base[@]}"
  sweep correct_knobs --variant flash2 -N 333 -d 64 -b 1 --heads 2 --br 64 --bc 32 --knob stages=1,3,4 \
    --knob warp_rows=16,32 --knob q_in_registers=0,1 --mask causal "${base[@]}"
  sweep correct_fp32 --variant naive,standard -N 1,129,1000 -d 64,128 -b 1 --heads 2 --dtype fp32 --mask full,causal \
    "${base[@]}"
}

# sm_bytes and executed FLOPs against the schedule: five tiles a variant.
sweep_model() {
  local base=(-d '64,128' -b 1 --heads 16 --kv-heads '4,16' --mask 'full,causal' -N '1000,1k:8k:x2' "${quick[@]}")
  sweep "model_$1" --variant "$1" --br "$2" --bc 32,64 "${base[@]}"
  sweep "model_$1_wide" --variant "$1" --br 64 --bc 128 "${base[@]}"
}
part_model_naive() { sweep_model naive 32,64; }
part_model_flash1() { sweep_model flash1 32,64; }
part_model_flash2() { sweep_model flash2 64,128; }

# hbm_bytes against the L2 model, and S and P's share in standard.
part_hbm() {
  sweep hbm_tokens --tokens 16k --hidden 2048 -N 512:16k:x2 -d 64,128 "${quick[@]}"
  sweep hbm_batch1 -b 1 --hidden 2048 -N 512:16k:x2 -d 64,128 "${quick[@]}"
}

# Ten repeats of five named cases, two of them under 50 us; each repeat is a process of its own.
part_repeat() {
  rm -f "repeat.csv" "repeat.csv.meta.json"
  for _ in $(seq 10); do
    for shape in "flash2 512 64 1" "flash2 1k 64 1" "flash2 4k 128 1" "standard 2k 64 1" "flash1 2k 64 4"; do
      read -r variant n d b <<<"$shape"
      "$attnprof" sweep --backend gpu --variant "$variant" -N "$n" -d "$d" -b "$b" --append -o "repeat.csv" \
        >/dev/null 2>>"repeat.log" || fail "repeat $shape"
    done
  done
}

# Wall time of the default sweep once its kernels are compiled.
part_walltime() {
  sweep compiled
  local start end
  start=$(date +%s.%N)
  COLUMNS=110 "$attnprof" sweep -o defaults.csv --overwrite >defaults.txt 2>defaults.log || fail "the default sweep exited $?"
  end=$(date +%s.%N)
  echo "$start $end" >walltime.txt
  start=$(date +%s.%N)
  sweep uncounted --counters off
  end=$(date +%s.%N)
  echo "$start $end" >>walltime.txt
}

# A flash2 that leaves O untouched, writes where it must not, or never ends.
broken_kernel() {
  local body
  case $1 in
    wrong) body='' ;;
    fault) body='*reinterpret_cast<volatile int*>(16) = p.q_len;' ;;
    hang) body='while (*static_cast<const volatile int*>(p.o) != p.q_len + 1) __nanosleep(1000);' ;;
  esac
  printf '#include "attention_params.h"\nextern "C" __global__ void flash2(const __grid_constant__ AttentionParams p) { %s }\n' \
    "$body"
}

# A kernel that is wrong, faults, or never ends is a row that says so, and the next case runs.
part_faults() {
  local broken=broken_kernels kind
  for kind in wrong fault hang; do
    rm -rf "$broken"
    cp -r "$source_dir/kernels" "$broken"
    broken_kernel "$kind" >"$broken/flash2.cu"
    "$attnprof" sweep --backend gpu --kernels "$broken" --variant flash2,flash1 -N 512 -d 64 --case-timeout 5s \
      -o "fault_$kind.csv" --overwrite --format csv >/dev/null 2>"fault_$kind.log"
    [ $? -eq 1 ] || fail "faults: a $kind kernel must end in exit code 1"
  done
  rm -rf "$broken"
}

# No permission, no CUPTI, counters held by another tool: time and model columns still come.
part_counters() {
  local args=(--backend gpu --variant flash2 -N 512 -d 64 --overwrite --format csv "${quick[@]}")
  ATTNPROF_CUPTI=/nonexistent/libcupti.so "$attnprof" sweep "${args[@]}" -o "counters_no_cupti.csv" \
    >/dev/null 2>"counters_no_cupti.log" || fail "counters: no CUPTI must still measure time"
  ATTNPROF_CUPTI=/nonexistent/libcupti.so "$attnprof" sweep "${args[@]}" --counters on -o "tmp.csv" \
    >/dev/null 2>"counters_on.log"
  [ $? -eq 3 ] || fail "counters: --counters on without CUPTI must exit 3"
  if command -v ncu >/dev/null; then
    ncu --clock-control none --target-processes all --kernel-name none "$attnprof" sweep "${args[@]}" \
      -o "counters_held.csv" >/dev/null 2>"counters_held.log" || fail "counters: held by another tool"
  else
    echo "ncu is not installed: the path 'counters held by another tool' was not tried"
  fi
  if [ "$(id -u)" = 0 ] && command -v setpriv >/dev/null; then
    local dir
    dir=$(mktemp -d)
    chmod 777 "$dir"
    setpriv --reuid 65534 --regid 65534 --clear-groups env HOME="$dir" XDG_CACHE_HOME="$dir" "$attnprof" sweep "${args[@]}" \
      -o "$dir/denied.csv" >/dev/null 2>"counters_denied.log" || fail "counters: an ordinary user must still measure time"
    cp "$dir/denied.csv" "counters_denied.csv"
    rm -rf "$dir"
  fi
  rm -f "tmp.csv"*
}

part_forward() {
  sweep forward --variant naive,standard,flash1,flash2 -N 512:16k:x2 -d 64,128 -b 1,8 --mask full,causal --max-time 0.2s
  sweep tiles --variant flash2 -N 4k -d 64,128 --br 64,128 --bc 32:128:x2 --mask full,causal --max-time 0.2s
  sweep too_large --variant naive,flash2 -N 64k -d 64 --max-time 0.2s
}

# flash2 beside PyTorch's own attention, in one run.
part_peers() {
  python3 -c 'import torch' 2>/dev/null || { fail "peers: PyTorch is not installed"; return; }
  rm -f peers.csv
  python3 "$source_dir/scripts/peers.py" -o peers.csv --backends torch_flash,torch_cudnn,torch_math --dtype bf16 \
    -N 512,2k,8k -d 64,128 --tokens 16k --hidden 2048 --mask full,causal --max-time 0.2 2>peers.log || fail "peers.py exited $?"
  sweep peers_ours --variant standard,flash2 --dtype bf16 -N 512,2k,8k -d 64,128 --tokens 16k --hidden 2048 \
    --mask full,causal --max-time 0.2s
}

part_sanitizer() {
  command -v compute-sanitizer >/dev/null || { fail "sanitizer: compute-sanitizer is not installed"; return; }
  for tool in memcheck racecheck initcheck synccheck; do
    compute-sanitizer --tool $tool --target-processes all --error-exitcode 99 "$attnprof" sweep --backend gpu \
      --variant naive,standard,flash1,flash2 -N 129 -d 64 -b 1 --heads 2 --kv-heads 1 --mask full,causal --counters off \
      --case-timeout 200s "${quick[@]}" --cache warm -o "sanitizer_$tool.csv" --overwrite --format csv \
      >"sanitizer_$tool.log" 2>&1 || fail "sanitizer: $tool"
    grep -E 'ERROR SUMMARY|RACECHECK SUMMARY' "sanitizer_$tool.log" | sort | uniq -c
  done
}

for part in "${parts[@]}"; do
  declare -F "part_$part" >/dev/null || { echo "gpu_test.sh: no part '$part'; parts: ${all_parts[*]}" >&2; exit 2; }
  say "$part"
  "part_$part"
done
say "figures"
python3 "$source_dir/scripts/check_figures.py" . || failures+=("figures")
if [ ${#failures[@]} -gt 0 ]; then
  printf 'gpu_test.sh: %d failed:\n' ${#failures[@]}
  printf '  %s\n' "${failures[@]}"
  exit 1
fi
echo "gpu_test.sh: all parts passed: ${parts[*]}"

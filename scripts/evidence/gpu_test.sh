#!/usr/bin/env bash
# Tests and evidence that need an NVIDIA GPU: correctness, known copies, model against counters, repeatability,
# permission paths, faults and time-outs, compute-sanitizer, PyTorch beside us. Builds nothing; runs anywhere with a GPU.
#
#   scripts/evidence/gpu_test.sh BUILD_DIR OUT_DIR [PART...]
#
# BUILD_DIR holds the attnprof binary (and attnprof_tests, if built). Every part writes its rows and logs to OUT_DIR and
# says how long it took; the last lines are one table of figures against what they must reach. Exit 0 only when every part
# that ran passed. PART `spills` needs the compiler alone, no GPU.
set -uo pipefail

usage() {
  sed -n '2,10p' "$0" | sed 's/^# \{0,1\}//'
  exit 2
}
[ $# -ge 2 ] || usage
build_dir=$(cd "$1" && pwd) || exit 2
mkdir -p "$2" || exit 2
out_dir=$(cd "$2" && pwd)
shift 2
all_parts=(units selftest correct correct_flash3 correct_fp8 spills model_naive model_flash1 model_flash2 model_flash3
  hbm repeat walltime faults counters ceilings forward little ncu mma_share versus versus_errors sanitizer wheel)
parts=("${@:-${all_parts[@]}}")
source_dir=$(cd "$(dirname "$0")/../.." && pwd)
attnprof=$build_dir/attnprof
[ -x "$attnprof" ] || { echo "gpu_test.sh: no attnprof in $build_dir; build it first" >&2; exit 2; }
cd "$out_dir" || exit 2
failures=$(mktemp) || exit 2  # a file: sweeps side by side write to it too
trap 'rm -f "$failures"' EXIT

say() { printf '\n== %s (%s)\n' "$1" "$(date +%H:%M:%S)"; }
fail() {
  echo "FAIL: $1"
  echo "$1" >>"$failures"
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
# Where times are of no interest, sweeps run side by side (`sweep ... &`, then `wait`): they compile on all cores.
untimed=(--counters off "${quick[@]}" --cache warm)
checked=("${untimed[@]}" --case-timeout 3min --verify full)

# The GPU cases of the unit tests (label gpu). Elsewhere they are skipped with a reason; here a skip is a failure.
part_units() {
  [ -x "$build_dir/attnprof_tests" ] || { fail "units: attnprof_tests is not in $build_dir"; return; }
  ATTNPROF_EXPECT_GPU=1 "$build_dir/attnprof_tests" --gtest_filter='*Gpu*.*' >"units.log" 2>&1 || fail "units: see units.log"
  grep -q '^\[  PASSED  \] [1-9]' "units.log" || fail "units: none ran; see units.log"
  grep -q '^\[  SKIPPED \]' "units.log" && fail "units: some were skipped; see units.log"
  grep -E '^\[  (PASSED|FAILED|SKIPPED)' "units.log" | head -20
}

part_selftest() {
  "$attnprof" doctor --format json >selftest.csv.meta.json || fail "doctor exited $?"
  "$attnprof" doctor --self-test -o "selftest.csv" >"selftest.txt" 2>&1 || fail "self-test exited $?"
  cat "selftest.txt"
}

# Shapes and tiles that break kernels: odd lengths, unequal lengths, grouped heads, every head_dim, edge tiles.
part_correct() {
  local dtype
  for dtype in fp16 bf16; do
    sweep "correct_lengths_$dtype" --variant naive,standard,flash1,flash2 -N 1,17,129,1000 -d 64,128 -b 2 --heads 4 \
      --kv-heads 1,4 --dtype "$dtype" --mask full,causal "${checked[@]}" &
  done
  sweep correct_unequal --variant naive,standard,flash1,flash2 -q 1,100,384 -k 1,77,513 -d 64 -b 1 --heads 8 \
    --kv-heads 2 --mask full,causal "${checked[@]}" &
  sweep correct_head_dims --variant naive,standard,flash1,flash2 -N 200 -d 16:128:16 -b 1 --heads 2 \
    --mask causal "${checked[@]}" &
  sweep correct_wide --variant naive,standard,flash2 -N 300 -d 160,192,256 -b 1 --heads 2 --mask causal \
    "${checked[@]}" &
  sweep correct_tiles --variant naive,flash1,flash2 -N 333 -d 64 -b 1 --heads 2 --br 16,48,64,128 --bc 16,48,80,128 \
    --mask full,causal "${checked[@]}" &
  sweep correct_knobs --variant flash2 -N 333 -d 64 -b 1 --heads 2 --br 64 --bc 32 --knob stages=1,3,4 \
    --knob warp_rows=16,32 --knob q_in_registers=0,1 --mask causal "${checked[@]}" &
  sweep correct_fp32 --variant naive,standard -N 1,129,1000 -d 64,128 -b 1 --heads 2 --dtype fp32 --mask full,causal \
    "${checked[@]}" &
  wait
}

# flash3 in 16 bits: about 80 kernels. Every branch of the kernel (mask, ping-pong, ring of one to four tiles, one or two
# blocks an SM, one to four warpgroups) meets ragged and unequal lengths; `many` and `groups`: blocks take up further tiles,
# and heads whose causal groups are uneven.
part_correct_flash3() {
  local flash3=(--variant flash3 "${checked[@]}") two=(-N 333 -b 1 --heads 2)
  sweep correct_flash3_lengths "${flash3[@]}" -N 1,17,129,1000 -d 64,128 -b 2 --heads 4 --kv-heads 1,4 --dtype fp16,bf16 \
    --mask full,causal &
  sweep correct_flash3_unequal "${flash3[@]}" -q 1,100,384 -k 1,77,513 -d 64,256 -b 1 --heads 8 --kv-heads 2 \
    --mask full,causal &
  sweep correct_flash3_head_dims "${flash3[@]}" -N 200 -d 16:256:16 -b 1 --heads 2 --dtype bf16 --mask causal &
  sweep correct_flash3_many "${flash3[@]}" -N 500 -d 64,128 -b 16 --heads 8 --kv-heads 2 --mask full,causal &
  sweep correct_flash3_groups --variant flash3 "${untimed[@]}" -N 4097 -d 128 -b 5 --heads 10 --kv-heads 5 --mask causal &
  sweep correct_flash3_tiles_causal "${flash3[@]}" "${two[@]}" -d 64 --br 64,192 --bc 16,80,112,144,176,192 --mask causal &
  sweep correct_flash3_tiles_full "${flash3[@]}" "${two[@]}" -d 64 --br 128,256 --bc 16,32,64,80,112,144,176,192 --mask full \
    --dtype bf16 &
  sweep correct_flash3_tiles_wide "${flash3[@]}" "${two[@]}" -d 192,256 --br 64,128 --bc 16,80,112 --mask causal &
  sweep correct_flash3_knobs "${flash3[@]}" -q 129,333 -k 77,500 -d 64 -b 1 --heads 4 --kv-heads 2 --br 128 --bc 48 \
    --mask causal --dtype bf16 --knob stages=1,2,3,4 --knob min_blocks=1,2 --knob ping_pong=0,1 &
  # Maxima that jump, after tiles in which some rows see no key.
  sweep correct_flash3_outliers "${flash3[@]}" --input outliers -q 300,1000 -k 500,1000 -d 64,128 -b 1 --heads 4 \
    --kv-heads 2 --br 64,128 --bc 16,80 --dtype bf16 --mask full,causal &
  sweep correct_flash3_knobs_uneven "${flash3[@]}" "${two[@]}" -d 96 --br 64,192 --bc 64 --mask full --dtype fp16 \
    --knob stages=1,3 --knob ping_pong=0,1 &
  wait
}

# fp8: about 40 kernels, and its tolerance. `outliers`: one element in a thousand is far larger.
part_correct_fp8() {
  local fp8=(--variant flash3 --dtype fp8 "${checked[@]}")
  sweep correct_fp8_lengths "${fp8[@]}" -N 1,129,1000 -d 64,96,128,192,256 -b 1 --heads 4 --kv-heads 2 --mask full,causal &
  sweep correct_fp8_unequal "${fp8[@]}" -q 1,100,384 -k 1,77,513 -d 128 -b 2 --heads 8 --kv-heads 2 --mask full,causal \
    --knob time_v_layout=0,1 &
  sweep correct_fp8_tiles "${fp8[@]}" -N 333 -d 64 -b 1 --heads 2 --br 64,128,192 --bc 32,96,128,224,256 --mask causal &
  sweep correct_fp8_knobs "${fp8[@]}" -N 333 -d 32,160 -b 1 --heads 2 --br 128 --bc 64 --mask full --knob stages=1,3 \
    --knob ping_pong=0,1 &
  sweep correct_fp8_many "${fp8[@]}" -N 500 -d 64 -b 16 --heads 8 --kv-heads 2 --mask full,causal &
  sweep correct_fp8_outliers "${fp8[@]}" --input outliers -N 129,1000,4k -d 64,96,128,192,256 -b 1 --heads 4 --kv-heads 2 \
    --mask full,causal &
  wait
}

# What the compiler says of every default tile, for Hopper.
part_spills() {
  "$attnprof" compile --arch sm_90a --variant naive,standard,flash1,flash2,flash3 --dtype bf16,fp8 \
    -d 64,96,128,192,256 -N 4k --mask full,causal -o spills.csv --overwrite --format csv >/dev/null 2>spills.log ||
    fail "spills: compile exited $?"
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
# 60 rows: 16-bit tiles, small and large head_dims, fp8.
part_model_flash3() {
  local base=(--variant flash3 -b 1 --heads 16 --mask 'full,causal' -N '1000,4k' "${quick[@]}")
  sweep model_flash3 "${base[@]}" --dtype bf16,fp16 -d 64,128 --kv-heads 4 --br 128 --bc 80,128
  sweep model_flash3_wide "${base[@]}" --dtype bf16 -d 32,96,256 --br 64 --bc 48
  sweep model_flash3_fp8 "${base[@]}" --dtype fp8 -d 64,128 --kv-heads 4 --br 128 --bc 96,160
}

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
    hang) body='while (*static_cast<const volatile int*>(p.tensors[operand_o].data) != p.q_len + 1) __nanosleep(1000);' ;;
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
  sweep forward --variant naive,standard,flash1,flash2,flash3 -N 512:16k:x2 -d 64,128 -b 1,8 --mask full,causal --max-time 0.2s
  sweep tiles --variant flash2 -N 4k -d 64,128 --br 64,128 --bc 32:128:x2 --mask full,causal --max-time 0.2s
  sweep too_large --variant naive,flash2 -N 64k -d 64 --max-time 0.2s
}

# What flash helps little with: short sequences at batch 1; batch 32, few kv heads.
part_little() {
  sweep short --variant standard,flash1,flash2,flash3 -N 64:512:x2 -d 64,128 -b 1 --mask full,causal --max-time 0.1s
  sweep little --variant naive,standard,flash2,flash3 -N 512,2k -d 64,128 -b 1,32 --heads 16 --kv-heads 16,1 --max-time 0.2s
}

part_ceilings() {
  "$attnprof" ceilings -o ceilings.csv --overwrite >ceilings.txt 2>ceilings.log || fail "ceilings exited $?"
  cat ceilings.txt
}

# The bottleneck that explain names beside Nsight Compute's, on 40 cases of `forward` that were fixed beforehand.
part_ncu() {
  python3 "$source_dir/scripts/evidence/ncu_agreement.py" measure "$attnprof" forward.csv -o ncu.csv 2>ncu.log || fail "ncu: see ncu.log"
  "$attnprof" explain forward.csv --format json -o explain.json --overwrite >/dev/null 2>&1 || fail "explain exited $?"
  python3 "$source_dir/scripts/evidence/ncu_agreement.py" compare ncu.csv explain.json >ncu_agreement.txt
  tail -1 ncu_agreement.txt
}

# flash1 and flash2 with counters, beside the rate of mma.sync that `selftest` measures.
part_mma_share() {
  sweep mma_share --variant flash1,flash2 --dtype bf16 -d 64,128,256 -N 512,2k,8k --tokens 16k --hidden 2048 \
    --mask full,causal --max-time 0.1s
}

# attnprof and PyTorch's attention in turns; figures that are missed are lines of the table below.
versus() {
  bash "$source_dir/scripts/peers/versus.sh" "$build_dir" . --overwrite "${@:2}" >"$1.txt" 2>"$1.log"
  local code=$?
  [ $code -le 1 ] || { fail "$1: versus.sh exited $code"; tail -3 "$1.log"; }
}
part_versus() { versus versus; }
part_versus_errors() { versus versus_errors --errors; }

# sanitized NAME ARGS...: every tool of compute-sanitizer on one small sweep, side by side, into
# sanitizer_TOOL_NAME.{csv,log}. A plain sweep before them compiles the kernels, which no tool needs to watch.
sanitized() {
  local name=$1 tool
  shift
  sweep "sanitizer_none_$name" "$@" "${untimed[@]}"
  for tool in memcheck racecheck initcheck synccheck; do
    compute-sanitizer --tool $tool --target-processes all --print-limit 20 --error-exitcode 99 "$attnprof" sweep \
      --backend gpu "$@" "${untimed[@]}" --case-timeout 4min -o "sanitizer_${tool}_$name.csv" --overwrite --format csv \
      >"sanitizer_${tool}_$name.log" 2>&1 &
  done
  wait
}

# Each variant by itself, so that one's reports do not hide another's. flash3: a batch that gives blocks a second tile; one
# warpgroup with a ring of one tile, and two that take turns.
part_sanitizer() {
  command -v compute-sanitizer >/dev/null || { fail "sanitizer: compute-sanitizer is not installed"; return; }
  compute-sanitizer --version >sanitizer_version.txt
  local small=(-N 129 -d 64 -b 1 --heads 2 --kv-heads 1 --mask 'full,causal') variant
  local many=(-N 129 -d 64 -b 64 --heads 2 --kv-heads 1 --mask 'full,causal' --br '64,128' --bc 32)
  for variant in naive standard flash1 flash2; do
    sanitized "$variant" --variant "$variant" "${small[@]}" &
  done
  sanitized flash3 --variant flash3 --dtype bf16 "${many[@]}" --knob stages=1,2 &
  sanitized flash3_fp8 --variant flash3 --dtype fp8 "${many[@]}" --knob time_v_layout=1 &
  wait
}

# A wheel (ATTNPROF_WHEEL, else packed from BUILD_DIR) in an environment of its own: among others a counted sweep with it.
part_wheel() {
  (cd "$source_dir/scripts/ci/tests" && ATTNPROF_BUILD_DIR=$build_dir ATTNPROF_CMAKE=$(command -v cmake) ATTNPROF_EXPECT_CUDA=1 \
    python3 -m unittest -v wheel_test.Wheel) >wheel.log 2>&1 || fail "wheel: see wheel.log"
}

for part in "${parts[@]}"; do
  declare -F "part_$part" >/dev/null || { echo "gpu_test.sh: no part '$part'; parts: ${all_parts[*]}" >&2; exit 2; }
  say "$part"
  start=$SECONDS
  "part_$part"
  echo "$part: $((SECONDS - start)) s"
done
say "figures"
python3 "$source_dir/scripts/evidence/check_figures.py" "$attnprof" . || fail "figures"
if [ -s "$failures" ]; then
  printf 'gpu_test.sh: %d failed:\n' "$(wc -l <"$failures")"
  sed 's/^/  /' "$failures"
  exit 1
fi
echo "gpu_test.sh: all parts passed: ${parts[*]}"

#!/usr/bin/env bash
# Measures what scripts/evidence/gate_evidence.py needs, on a machine with a GPU and nvcc: repeated sweeps of one unchanged program,
# and at the first machine start made regressions, gated. Builds nothing but kernels.
#
#   scripts/evidence/gate_runs.sh BUILD_DIR OUT_DIR START [PROCESSES]
#
# Writes OUT_DIR/a_START_1.csv to a_START_PROCESSES.csv (3 without), 44 cases each, with their meta files. With START 1 also
# r_NAME.csv and gate_NAME.txt of every regression (scripts/evidence/regressions), and regressions.txt: expected against observed.
# About 25 s a process. Exit codes: 0 all measured and every regression found, 1 not, 2 usage.
set -uo pipefail

usage() {
  sed -n '2,9p' "$0" | sed 's/^# \{0,1\}//'
  exit 2
}
if [ $# -lt 3 ] || [ $# -gt 4 ]; then usage; fi
[[ $3 =~ ^[0-9]+$ && ${4:-3} =~ ^[0-9]+$ ]] || usage
attnprof=$(cd "$1" && pwd)/attnprof || exit 2
[ -x "$attnprof" ] || { echo "gate_runs.sh: no attnprof in $1; build it first" >&2; exit 2; }
mkdir -p "$2" && out_dir=$(cd "$2" && pwd) || exit 2
start=$3 processes=${4:-3}
source_dir=$(cd "$(dirname "$0")/../.." && pwd)
backend=${ATTNPROF_BACKEND:-gpu} arch=${ATTNPROF_ARCH:-sm_90a}
cd "$out_dir" || exit 2
status=0

fail() {
  echo "FAIL: $1"
  status=1
}

# A line a plan. The first has every variant; the others add rows of a millisecond and more, and a batch.
plans=(
  "--variant naive,standard,flash1,flash2 -N 512,2k -d 64,128 -b 1 --mask full,causal"
  "--variant standard,flash2 -N 1k -d 64,128 -b 8 --mask full,causal"
  "--variant flash2 -N 8k -d 64,128 -b 1 --mask full,causal"
)
# The regressions' cases are among those of the first plan.
regression_plan="--variant flash2 -N 512,2k -d 64,128 -b 1 --mask full,causal"
# Finer than by default, so that intervals leave little of a 2 % threshold open.
timing=(--precision 0.2% --max-time 0.3s)

# sweep FILE.csv 'PLAN' OPTIONS...: appends a run; 1 when a case failed or is incorrect.
sweep() {
  local file=$1 plan
  read -r -a plan <<<"$2"
  shift 2
  "$attnprof" sweep --backend "$backend" "${plan[@]}" "${timing[@]}" --append -o "$file" --format csv "$@" >/dev/null 2>>"${file%.csv}.log"
}

# Compiled before anything is timed, so that no compiler runs beside a measurement.
compile() {
  local plan
  [ "$backend" = gpu ] || return 0
  read -r -a plan <<<"$1"
  shift
  "$attnprof" compile --arch "$arch" "${plan[@]}" "$@" >/dev/null 2>>compile.log || fail "compile ${plan[*]} $*: see compile.log"
}

unchanged_runs() {
  local i plan file
  for plan in "${plans[@]}"; do compile "$plan"; done
  for ((i = 1; i <= processes; ++i)); do
    file=a_${start}_$i.csv
    rm -f "$file" "$file.meta.json" "${file%.csv}.log"
    for plan in "${plans[@]}"; do sweep "$file" "$plan" || fail "$file: '$plan' exited $?; see ${file%.csv}.log"; done
    echo "$file: $(($(wc -l <"$file") - 1)) rows ($(date +%H:%M:%S))"
  done
}

# The columns that are worse in a gate's JSON, and in how many rows: "hbm_bytes x3, sm_bytes x8".
worse_in() {
  python3 -c '
import collections, json, sys
rows = json.load(open(sys.argv[1], encoding="utf-8")).get("rows", [])
worse = collections.Counter(one["column"] for row in rows for one in row["metrics"] if one["verdict"] == "worse")
print(", ".join(f"{column} x{count}" for column, count in sorted(worse.items())))' "$1"
}

# judge NAME 'MUST BE WORSE' 'MUST NOT BE WORSE': gates r_NAME.csv against the first unchanged run, adds a line to the table.
judge() {
  local name=$1 must=$2 must_not=$3 code worse metric verdict=ok
  "$attnprof" gate a_1_1.csv "r_$name.csv" --run newest --allow-missing --json "gate_$name.json" >"gate_$name.txt" 2>&1
  code=$?
  worse=$(worse_in "gate_$name.json")
  rm -f "gate_$name.json"
  [ $code -eq 1 ] || verdict=MISSED
  for metric in $must; do [[ " $worse" == *" $metric x"* ]] || verdict=MISSED; done
  for metric in $must_not; do [[ " $worse" != *" $metric x"* ]] || verdict=MISSED; done
  if [ "$name" = smaller_tile ]; then grep -q 'tile .* -> 64x32' "gate_$name.txt" || verdict=MISSED; fi
  # Wrong outputs would be found without a gate: each regression must still be right.
  if cut -d, -f1-40 "r_$name.csv" | grep -qE ',(incorrect|failed|skipped),'; then verdict="NOT RIGHT"; fi
  printf '%-18s | exit 1, worse: %-22s not: %-48s | exit %d, worse: %s | %s\n' "$name" "$must" "${must_not:--}" "$code" "${worse:-nothing}" \
    "$verdict" | tee -a regressions.txt
  [ "$verdict" = ok ] || fail "regression $name: $verdict; see gate_$name.txt"
}

# regress NAME 'MUST' 'MUST NOT': an edited kernel, measured and judged.
regress() {
  local name=$1
  rm -rf "kernels_$name" "r_$name.csv"*
  "$source_dir/scripts/evidence/regressions/make.sh" "$name" "kernels_$name" || { fail "regression $name does not apply"; return; }
  compile "$regression_plan" --kernels "kernels_$name"
  sweep "r_$name.csv" "$regression_plan" --kernels "kernels_$name" || fail "r_$name: sweep exited $?"
  rm -rf "kernels_$name"
  judge "$name" "$2" "$3"
}

# What a program with another default tile would write: the rows of that tile, asked for as `auto`.
smaller_tile() {
  rm -f r_smaller_tile.csv*
  compile "$regression_plan" --br 64 --bc 32
  sweep r_smaller_tile.csv "$regression_plan" --br 64 --bc 32 || fail "r_smaller_tile: sweep exited $?"
  sed -i '2,$s/,64x32,/,auto,/' r_smaller_tile.csv
  judge smaller_tile sm_bytes executed_tensor_flops
}

unchanged_runs
if [ "$start" = 1 ]; then
  rm -f regressions.txt
  regress k_read_twice sm_bytes "hbm_bytes executed_tensor_flops"
  regress causal_not_skipped executed_tensor_flops ""
  regress delay latency_median_ns "hbm_bytes sm_bytes executed_tensor_flops"
  smaller_tile
fi
exit $status

#!/usr/bin/env bash
# Builds the merge base and this checkout, measures both on this machine, one after the other, and gates.
#
#   scripts/ci/gate_merge_base.sh gpu|cpu BASE_REVISION OUT_FOLDER [PLAN OPTION...]
#
#   gpu   attnprof sweep --backend gpu: time, bytes and FLOPs. Both revisions meet the same GPU, driver and clocks
#   cpu   attnprof compile (registers, spills, shared memory; needs nvcc) and sweep --backend sim (bytes, FLOPs)
#
# PLAN OPTIONs are those of attnprof's axes (-N 1k,4k -d 128 ...). In OUT_FOLDER: the CSVs, gate*.md, gate*.xml, gate*.json.
# ATTNPROF_BASE and ATTNPROF_HEAD: programs that are already built. ATTNPROF_ARCH: targets of cpu, sm_90a without.
# ATTNPROF_TARGET: simulated device, h200 without. Exit code: the highest of the gates'; see attnprof gate --help.
set -euo pipefail

usage() {
  sed -n '2,/^set /{/^set /d;s/^# \{0,1\}//;p}' "$0" >&2
  exit 2
}

[[ $# -ge 3 && ($1 == gpu || $1 == cpu) ]] || usage
mode=$1 base=$2 out=$3
shift 3
mkdir -p "$out"
out=$(cd "$out" && pwd)
cd "$(dirname "${BASH_SOURCE[0]}")/../.."

build() { # SOURCE BUILD: the path of the program
  cmake -S "$1" -B "$2" -G Ninja -DCMAKE_BUILD_TYPE=Release -DBUILD_TESTING=OFF >&2
  cmake --build "$2" --target attnprof >&2
  echo "$2/attnprof"
}

checkout_base() {
  git worktree remove --force build/ci-base 2>/dev/null || rm -rf build/ci-base
  git worktree add --force --detach build/ci-base "$base" >&2
}

if [[ -z ${ATTNPROF_BASE:-} ]]; then
  checkout_base
  ATTNPROF_BASE=$(build build/ci-base build/ci-base-build)
fi
[[ -n ${ATTNPROF_HEAD:-} ]] || ATTNPROF_HEAD=$(build . build/ci-head-build)

worst=0
remember() { # COMMAND...: keeps the highest exit code, so that every gate reports
  local code=0
  "$@" || code=$?
  ((code <= worst)) || worst=$code
}
# A failing case of the base is the base's: the gate decides, by rows. Without a file there is nothing to decide.
measure() { # FILE COMMAND...
  local file=$1 code=0
  shift
  "$@" -o "$file" --overwrite || code=$?
  if ((code > 1)) || [[ ! -s $file ]]; then
    echo "gate_merge_base: '$*' ended with exit code $code" >&2
    exit "$code"
  fi
}
reports() { # NAME: sets `files`, the options that write a gate's reports
  files=(--markdown "$out/$1.md" --junit "$out/$1.xml" --json "$out/$1.json")
}

if [[ $mode == gpu ]]; then
  measure "$out/base.csv" "$ATTNPROF_BASE" sweep --backend gpu "$@"
  reports gate
  remember "$ATTNPROF_HEAD" sweep --backend gpu "$@" -o "$out/head.csv" --overwrite --gate "$out/base.csv" "${files[@]}"
else
  plan=("$@")
  measure "$out/build-base.csv" "$ATTNPROF_BASE" compile --arch "${ATTNPROF_ARCH:-sm_90a}" "${plan[@]}"
  measure "$out/build-head.csv" "$ATTNPROF_HEAD" compile --arch "${ATTNPROF_ARCH:-sm_90a}" "${plan[@]}"
  reports gate-build
  remember "$ATTNPROF_HEAD" gate "$out/build-base.csv" "$out/build-head.csv" "${files[@]}"
  simulate=(sweep --backend sim --target "${ATTNPROF_TARGET:-h200}")
  measure "$out/sim-base.csv" "$ATTNPROF_BASE" "${simulate[@]}" "${plan[@]}"
  measure "$out/sim-head.csv" "$ATTNPROF_HEAD" "${simulate[@]}" "${plan[@]}"
  reports gate-sim
  remember "$ATTNPROF_HEAD" gate "$out/sim-base.csv" "$out/sim-head.csv" "${files[@]}"
fi
exit "$worst"

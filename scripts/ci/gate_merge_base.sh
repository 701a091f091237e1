#!/usr/bin/env bash
# Builds the merge base and this checkout, measures both on this machine, one after the other, and gates.
#
#   scripts/ci/gate_merge_base.sh gpu|cpu BASE_REVISION OUT_FOLDER [PLAN OPTION...]
#
#   gpu   attnprof sweep --backend gpu: time, bytes and FLOPs. Both revisions meet the same GPU, driver and clocks
#   cpu   attnprof compile (registers, spills, shared memory; needs nvcc) and sweep --backend sim (bytes, FLOPs)
#
# PLAN OPTIONs are those of attnprof's axes (-N 1k,4k -d 128 ...). Each revision has its own program and its own kernels/; a
# file that an option names (--variant-file) is each revision's own too. In OUT_FOLDER: the CSVs, gate*.md, gate*.xml and
# gate*.json, which say what was compared: paths and hashes of both kernel trees.
#
# ATTNPROF_BUILD: instead of cmake, a command that is given SOURCE and BUILD and leaves the program in BUILD/attnprof.
# ATTNPROF_BASE and ATTNPROF_HEAD: programs that are already built. ATTNPROF_ARCH: targets of cpu, sm_90a without.
# ATTNPROF_TARGET: simulated device, h200 without. Exit code: the highest of the gates' (see attnprof gate --help); 3 where
# a revision does not build or has no kernels/.
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

head_tree=$PWD base_tree=$PWD/build/ci-base

make_program() { # SOURCE BUILD
  if [[ -n ${ATTNPROF_BUILD:-} ]]; then
    mkdir -p "$2" && $ATTNPROF_BUILD "$1" "$2" # a command and its arguments
  else
    cmake -S "$1" -B "$2" -G Ninja -DCMAKE_BUILD_TYPE=Release -DBUILD_TESTING=OFF && cmake --build "$2" --target attnprof
  fi
}
build() { # SOURCE BUILD: the path of the program
  if ! make_program "$1" "$2" >&2 || [[ ! -x $2/attnprof ]]; then
    echo "gate_merge_base: $1 does not build" >&2
    exit 3
  fi
  echo "$2/attnprof"
}

checkout_base() {
  git worktree remove --force build/ci-base 2>/dev/null || rm -rf build/ci-base
  git worktree prune
  git worktree add --force --detach build/ci-base "$base" >&2
  [[ ! -e .venv ]] || ln -s "$head_tree/.venv" build/ci-base/.venv # one compiler for both
}

checkout_base
[[ -n ${ATTNPROF_BASE:-} ]] || ATTNPROF_BASE=$(build "$base_tree" "$head_tree/build/ci-base-build")
[[ -n ${ATTNPROF_HEAD:-} ]] || ATTNPROF_HEAD=$(build "$head_tree" "$head_tree/build/ci-head-build")
ATTNPROF_BASE=$(realpath "$ATTNPROF_BASE") ATTNPROF_HEAD=$(realpath "$ATTNPROF_HEAD")

kernels_of() { # TREE: its kernels' folder, which is said
  if [[ ! -f $1/kernels/attention_params.h ]]; then
    echo "gate_merge_base: $1 has no kernels/attention_params.h, so there is nothing to compare" >&2
    exit 3
  fi
  echo "gate_merge_base: kernels of $(git -C "$1" rev-parse --short HEAD) in $1/kernels" >&2
  echo "$1/kernels"
}
base_kernels=$(kernels_of "$base_tree")
head_kernels=$(kernels_of "$head_tree")

worst=0
remember() { # COMMAND...: keeps the highest exit code, so that every gate reports
  local code=0
  "$@" || code=$?
  ((code <= worst)) || worst=$code
}
# shellcheck disable=SC2317 # through measure
at_base() { # COMMAND OPTION...: in the tree of the merge base, by its kernels
  (cd "$base_tree" && "$ATTNPROF_BASE" "$1" --kernels "$base_kernels" "${@:2}")
}
# shellcheck disable=SC2317 # through measure and remember
at_head() {
  (cd "$head_tree" && "$ATTNPROF_HEAD" "$1" --kernels "$head_kernels" "${@:2}")
}
# A failing case of the base is the base's: the gate decides, by rows. Without a file there is nothing to decide.
measure() { # FILE COMMAND...
  local file=$1 code=0
  shift
  rm -f "$file" "$file.meta.json" # of an earlier run
  "$@" -o "$file" || code=$?
  if ((code > 1)) || [[ ! -s $file ]]; then
    echo "gate_merge_base: '$*' ended with exit code $code" >&2
    exit "$code"
  fi
}
reports() { # NAME: sets `files`, the options of a gate that write its reports, in words for a pull request
  files=(--against merge-base --markdown "$out/$1.md" --junit "$out/$1.xml" --json "$out/$1.json")
}

if [[ $mode == gpu ]]; then
  measure "$out/base.csv" at_base sweep --backend gpu "$@"
  reports gate
  rm -f "$out/head.csv" "$out/head.csv.meta.json"
  remember at_head sweep --backend gpu "$@" -o "$out/head.csv" --gate "$out/base.csv" "${files[@]}"
else
  compiled=(compile --arch "${ATTNPROF_ARCH:-sm_90a}" "$@")
  measure "$out/build-base.csv" at_base "${compiled[@]}"
  measure "$out/build-head.csv" at_head "${compiled[@]}"
  reports gate-build
  remember "$ATTNPROF_HEAD" gate "$out/build-base.csv" "$out/build-head.csv" "${files[@]}"
  simulated=(sweep --backend sim --target "${ATTNPROF_TARGET:-h200}" "$@")
  measure "$out/sim-base.csv" at_base "${simulated[@]}"
  measure "$out/sim-head.csv" at_head "${simulated[@]}"
  reports gate-sim
  remember "$ATTNPROF_HEAD" gate "$out/sim-base.csv" "$out/sim-head.csv" "${files[@]}"
fi
exit "$worst"

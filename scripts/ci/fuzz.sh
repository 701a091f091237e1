#!/bin/sh
# Builds the fuzz targets and runs them on their corpora: scripts/ci/fuzz.sh [SECONDS], 30 without. Two thirds of the time go to
# the CSV reader and the gate, the rest to variant files and the command lines that come of them.
# Needs clang++ with libFuzzer. A crash leaves its input in build/fuzz/.
set -eu
cd "$(dirname "$0")/../.."
seconds=${1:-30}
cmake --preset fuzz >/dev/null
cmake --build --preset fuzz

fuzz() { # TARGET SECONDS
  mkdir -p "build/fuzz/found_$1"
  "build/fuzz/attnprof_$1_fuzz" -max_total_time="$2" -max_len=20000 -timeout=10 -print_final_stats=1 \
    -artifact_prefix=build/fuzz/ -dict="fuzz/$1.dict" "build/fuzz/found_$1" "fuzz/corpus/$1"
}
# At the same time, each on a core.
fuzz variant $((seconds - seconds * 2 / 3)) >build/fuzz/variant.log 2>&1 &
variant=$!
gate_status=0 variant_status=0
fuzz gate $((seconds * 2 / 3)) || gate_status=$?
wait "$variant" || variant_status=$?
cat build/fuzz/variant.log
[ "$gate_status" = 0 ] || exit "$gate_status"
exit "$variant_status"

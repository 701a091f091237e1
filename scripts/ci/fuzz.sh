#!/bin/sh
# Builds the fuzz targets and runs them on their corpora, two at a time: scripts/ci/fuzz.sh [SECONDS], of each, 15 without.
# What is fuzzed: the CSV readers and the gate; variant files and the command lines that come of them; target files; --config
# files; .meta.json. Needs clang++ with libFuzzer. A crash leaves its input in build/fuzz/.
set -eu
cd "$(dirname "$0")/../.."
seconds=${1:-15}
cmake --preset fuzz >/dev/null
cmake --build --preset fuzz

status=0
# shellcheck disable=SC2016 # the inner shell's
printf '%s\n' gate variant target config meta | xargs -n 1 -P 2 sh -c '
  mkdir -p "build/fuzz/found_$2"
  "build/fuzz/attnprof_$2_fuzz" -max_total_time="$1" -max_len=20000 -timeout=10 -print_final_stats=1 \
    -artifact_prefix="build/fuzz/$2-" -dict="fuzz/$2.dict" "build/fuzz/found_$2" "fuzz/corpus/$2" \
    >"build/fuzz/$2.log" 2>&1' one "$seconds" || status=$?
for target in gate variant target config meta; do
  echo "== $target =="
  cat "build/fuzz/$target.log"
done
exit "$status"

#!/bin/sh
# Builds the fuzz target of the CSV reader and the gate, and runs it on the corpus: scripts/ci/fuzz.sh [SECONDS], 30 without.
# Needs clang++ with libFuzzer. A crash leaves its input in build/fuzz/.
set -eu
cd "$(dirname "$0")/../.."
seconds=${1:-30}
cmake --preset fuzz >/dev/null
cmake --build --preset fuzz
mkdir -p build/fuzz/found
exec build/fuzz/attnprof_gate_fuzz -max_total_time="$seconds" -max_len=20000 -timeout=10 -print_final_stats=1 \
  -artifact_prefix=build/fuzz/ -dict=fuzz/gate.dict build/fuzz/found fuzz/corpus/gate

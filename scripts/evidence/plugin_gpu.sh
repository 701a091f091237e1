#!/usr/bin/env bash
# Evidence for variants of one's own: a variant file and a plug-in, verified, timed and counted; faults as failed rows; and,
# where this build has it, cuDNN's plug-in. Needs nvcc, and a GPU unless BACKEND is sim.
#
#   scripts/evidence/plugin_gpu.sh BUILD_DIR OUT_DIR [BACKEND]
#
# BUILD_DIR holds the attnprof binary, and test-plugins/ if the tests were built. BACKEND: gpu (default), or sim, with which
# kernels are compiled and every row must be skipped with a sentence: all that can be tried without a GPU. Writes CSVs and
# logs to OUT_DIR, prints a table, exits 0 only when every part is as it must be.
set -uo pipefail

[ $# -ge 2 ] || { sed -n '2,9p' "$0" | sed 's/^# \{0,1\}//'; exit 2; }
build_dir=$(cd "$1" && pwd) || exit 2
mkdir -p "$2" || exit 2
out_dir=$(cd "$2" && pwd)
backend=${3:-gpu}
source_dir=$(cd "$(dirname "$0")/../.." && pwd)
attnprof=$build_dir/attnprof
[ -x "$attnprof" ] || { echo "plugin_gpu.sh: no attnprof in $build_dir; build it first" >&2; exit 2; }
nvcc=$(command -v nvcc || echo "${CUDA_HOME:-/usr/local/cuda}/bin/nvcc")
[ -x "$nvcc" ] || { echo "plugin_gpu.sh: no nvcc; put it into PATH or set CUDA_HOME" >&2; exit 2; }
case $source_dir$out_dir$nvcc in
  *[!A-Za-z0-9_./+-]*)
    echo "plugin_gpu.sh: nvcc hands paths to a shell; use folders named by letters, digits and _ . + - alone" >&2
    exit 2
    ;;
esac
cd "$out_dir" || exit 2
failures=0
fail() { echo "FAIL: $1"; failures=$((failures + 1)); }
say() { printf '\n== %s\n' "$1"; }

# check NAME DISPOSITION WORDS: every row of NAME.csv has this disposition, is verified where it is ok, and its reason holds
# WORDS. Columns are found by their names.
check() {
  python3 - "$1.csv" "$2" "$3" <<'EOF' || fail "$1: rows are not what they must be"
import csv, sys

path, disposition, words = sys.argv[1:]
rows = list(csv.DictReader(open(path, newline="")))
bad = [r for r in rows if r["disposition"] != disposition or words not in r["reason"]
       or (disposition == "ok" and r["verified"] != "yes")]
for r in rows:
    print(f'{r["variant"]:16}{r["dtype"]:6}{r["mask"]:8}{r["q_len"]:>6}{r["head_dim"]:>5}  {r["disposition"]:9}'
          f'{r["verified"]:5}{r["latency_median_ns"]:>12} ns  HBM {r["hbm_bytes"]:>11}  SM {r["sm_bytes"]:>12}  {r["reason"][:90]}')
print(f"{len(rows)} rows, {len(bad)} not as they must be")
sys.exit(bool(bad) or not rows)
EOF
}

# sweep NAME DISPOSITION WORDS ARGS...
sweep() {
  local name=$1 disposition=$2 words=$3
  shift 3
  say "$name"
  [ "$backend" = gpu ] || { disposition=skipped; words=""; }
  "$attnprof" sweep --backend "$backend" --overwrite -o "$name.csv" "$@" >"$name.log" 2>&1
  [ -s "$name.csv" ] || { fail "$name: no rows; see $name.log"; tail -2 "$name.log"; return; }
  check "$name" "$disposition" "$words"
}

say "a variant file, as new-variant writes it"
rm -rf kernels
"$attnprof" new-variant mine -o kernels || fail "new-variant"
"$attnprof" compile --variant-file kernels/mine.json --arch sm_90a -N 512 -d 64,128 --mask full,causal || fail "compile"
sweep variant_file ok "" --variant-file kernels/mine.json -N 512,1k,2000 -d 32,64,128,256 --dtype fp16,bf16 \
  --mask full,causal
sweep variant_file_gqa ok "" --variant-file kernels/mine.json -q 100,1k -k 77,1k --heads 8 --kv-heads 1,2 -d 64 \
  --mask full,causal --br 8,32 --bc 16,100 --verify full
gated() { "$attnprof" sweep --backend gpu --variant-file kernels/mine.json -N 512,1k -d 64,128 "$@"; }
if [ "$backend" = gpu ]; then
  gated --overwrite -o base.csv || fail "no baseline"
  gated --gate base.csv || fail "the gate does not pass on the same kernel"
fi

say "a kernel that writes 16 bytes beyond O"
sed 's/  const int head = blockIdx.y/  if (threadIdx.x < 8 \&\& blockIdx.x + blockIdx.y + blockIdx.z == 0)\n    static_cast<Element*>(p.tensors[operand_o].data)[p.batch * p.tensors[operand_o].strides.batch + threadIdx.x] = Element(1.0f);\n&/' \
  kernels/mine.cu >kernels/beyond.cu
sed 's/"name": "mine"/"name": "beyond"/; s/"mine.cu"/"beyond.cu"/' kernels/mine.json >kernels/beyond.json
cmp -s kernels/mine.cu kernels/beyond.cu && fail "beyond.cu is no other kernel"
sweep beyond failed "wrote 16 bytes beyond O" --variant-file kernels/beyond.json -N 512 -d 64

say "a plug-in that launches a CUDA kernel"
arch=$([ "$backend" = gpu ] && echo native || echo sm_90a)
"$nvcc" -shared -Xcompiler -fPIC -arch="$arch" -std=c++17 "-I$source_dir/src/plugin" "-I$source_dir/kernels" \
  "-I$source_dir/kernels/example" "$source_dir/src/plugin/example/example_plugin.cu" -o libexample.so || fail "nvcc"
sweep plugin ok "" --plugin ./libexample.so -N 512,1k,2000 -d 64
for fault in crashes_in_prepare:"signal 11" hangs_in_prepare:"--case-timeout 3 s" fails_in_prepare:"no plan for head_dim"; do
  library=$build_dir/test-plugins/${fault%%:*}.so
  [ -e "$library" ] || { echo "skipped: $library is not built"; continue; }
  sweep "${fault%%:*}" failed "${fault#*:}" --plugin "$library" --dtype fp32 -N 64 -d 16 --case-timeout 3s
done

if [ -e "$build_dir/plugins/cudnn.so" ]; then
  sweep cudnn ok "" --plugin cudnn -N 512,1k,4k,16k -d 64,128 --dtype bf16 --mask full,causal
else
  echo "skipped: this build has no plug-in cudnn"
fi

printf '\n%s\n' "$([ $failures -eq 0 ] && echo "all as it must be" || echo "$failures parts failed")"
[ $failures -eq 0 ]

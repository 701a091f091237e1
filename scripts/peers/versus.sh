#!/usr/bin/env bash
# attnprof beside PyTorch's own attention and FlashAttention-3, case by case in one run on one GPU; prints ratios. Builds nothing.
#
#   scripts/peers/versus.sh BUILD_DIR OUT_DIR [--quick] [--errors] [--report] [--overwrite] [--turns N] [--seed N]
#
# BUILD_DIR holds the attnprof binary. Rows go to OUT_DIR/versus.csv (attnprof) and OUT_DIR/versus_peers.csv (peers).
# --quick: fewer lengths, one turn instead of three. --errors: relative errors instead of times, into OUT_DIR/errors.csv and
# errors_peers.csv. --report: the table of files that are there. PYTHON names a Python that has PyTorch with CUDA.
# Exit codes: 0 all figures reached, 1 some missed or not measured, 2 usage, 3 no PyTorch or GPU.
set -euo pipefail

if [ $# -lt 2 ]; then
  sed -n '2,9p' "$0" | sed 's/^# \{0,1\}//'
  exit 2
fi
exec "${PYTHON:-python3}" "$(dirname "$0")/versus.py" "$@"

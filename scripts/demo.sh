#!/usr/bin/env bash
# From a fresh machine to a verified sweep: installs what is missing, builds, sweeps with the defaults, and draws the
# roofline. On a machine with an NVIDIA GPU the numbers are hardware counters, elsewhere the simulator's.
#
#   scripts/demo.sh [--no-install] [-- more options for `attnprof sweep`]
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
source scripts/setup.sh

results=results/demo

read_options() {
  setup_options=()
  while (($#)); do
    case $1 in
      --no-install) setup_options+=(--no-install) ;;
      --help | -h)
        sed -n '2,5p' scripts/demo.sh | sed 's/^# \{0,1\}//'
        exit 0
        ;;
      --)
        sweep_options=("${@:2}")
        return
        ;;
      *)
        echo "demo: unknown option '$1'; it takes --no-install, and after -- options for attnprof sweep" >&2
        exit 2
        ;;
    esac
    shift
  done
}

# Kernels are compiled at run time, so a machine with a GPU needs the compiler too, and cuBLAS for `standard`.
needs_cuda() { [[ -e /proc/driver/nvidia/version || -e /dev/dxg ]]; }

build() {
  cmake --preset release --log-level=WARNING
  cmake --build --preset release --parallel "$(nproc)"
}

sweep() {
  mkdir -p "$results"
  build/release/attnprof sweep --overwrite -o "$results/sweep.csv" "${sweep_options[@]}"
}

sweep_options=()
read_options "$@"
! needs_cuda || setup_options+=(--with-cublas)
start_setup "${setup_options[@]}"
build
finish_setup
status=0
sweep || status=$? # 1: some case is incorrect or failed; the rows are there and worth drawing
((status <= 1)) || exit "$status"
.venv/bin/python scripts/attnprof_report roofline "$results/sweep.csv" -o "$results/roofline.png"
echo "Rows: $results/sweep.csv   Picture: $results/roofline.png"
exit "$status"

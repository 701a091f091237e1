#!/usr/bin/env bash
# Installs what is missing, builds, and runs every test that needs no GPU (those that need one run where there is one).
#
#   scripts/test.sh [--with-cuda] [--no-install] [--browser] [--lint] [--asan] [--fuzz]
#
#   --with-cuda   device code too: where no CUDA toolkit is found, its compiler, CUPTI and headers are installed into .venv
#   --browser     the HTML report in Chromium too, which is installed where it is missing (Debian)
#   --lint        first check formatting and shell scripts
#   --fuzz        afterwards fuzz the CSV reader, the gate and variant files for half a minute, with clang++
#   --asan        afterwards build and test again, but for the scripts, with AddressSanitizer and UndefinedBehaviorSanitizer
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
source scripts/setup.sh

setup_options=(--tests) lint=no asan=no fuzz=no

read_options() {
  local option
  for option in "$@"; do
    case $option in
      --no-install) setup_options+=("$option") ;;
      --with-cuda)
        setup_options+=("$option")
        export ATTNPROF_EXPECT_CUDA=1 # a test that finds no compiler or CUPTI now fails
        ;;
      --browser)
        setup_options+=("$option")
        export ATTNPROF_EXPECT_BROWSER=1 # the browser test now fails where there is none
        ;;
      --lint) lint=yes setup_options+=(--lint) ;;
      --asan) asan=yes ;;
      --fuzz) fuzz=yes setup_options+=(--fuzz) ;;
      *)
        echo "test: unknown option '$option'; it takes --with-cuda, --no-install, --browser, --lint, --asan, --fuzz" >&2
        exit 2
        ;;
    esac
  done
}

check_style() {
  echo "test: clang-format and shellcheck"
  find src kernels fuzz \( -name '*.cpp' -o -name '*.hpp' -o -name '*.cu' -o -name '*.cuh' -o -name '*.h' \) -print0 |
    xargs -0 .venv/bin/clang-format --dry-run -Werror
  shellcheck --external-sources scripts/*.sh scripts/*/*.sh scripts/evidence/regressions/*.sh .ci/run
}

# build_and_test PRESET [CTEST_OPTIONS...]
build_and_test() {
  cmake --preset "$1" --log-level=WARNING
  cmake --build --preset "$1" --parallel "$(nproc)"
  ctest --preset "$1" --parallel "$(nproc)" "${@:2}"
}

read_options "$@"
setup "${setup_options[@]}"
[[ $lint == no ]] || check_style
build_and_test ci
# The scripts are Python, and what they start has unit tests: sanitizers would find nothing more in a minute and a half.
[[ $asan == no ]] || build_and_test asan --exclude-regex '^scripts\.'
[[ $fuzz == no ]] || scripts/ci/fuzz.sh 30

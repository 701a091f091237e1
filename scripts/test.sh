#!/usr/bin/env bash
# Installs what is missing, builds, and runs every test that needs no GPU (those that need one run where there is one).
#
#   scripts/test.sh [--with-cuda] [--no-install] [--browser] [--lint] [--asan] [--fuzz]
#
#   --with-cuda   device code too: where no CUDA toolkit is found, its compiler, CUPTI and headers are installed into .venv
#   --browser     the HTML report in Chromium too, which is installed where it is missing (Debian)
#   --lint        first check formatting, shell scripts, the order of the rooms of src/, and includes
#   --fuzz        afterwards fuzz what reads files (rows, gate, variants, targets, configs, metas), 15 s each, with clang++
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
  echo "test: clang-format, shellcheck, the rooms of src/ and includes"
  find src kernels fuzz \( -name '*.cpp' -o -name '*.hpp' -o -name '*.cu' -o -name '*.cuh' -o -name '*.h' \) -print0 |
    xargs -0 -n 40 -P "$(nproc)" .venv/bin/clang-format --dry-run -Werror
  shellcheck --external-sources scripts/*.sh scripts/*/*.sh scripts/evidence/regressions/*.sh .ci/run
  .venv/bin/python scripts/ci/check_rooms.py
  .venv/bin/python scripts/ci/check_includes.py
}

build() { # PRESET
  cmake --preset "$1" --log-level=WARNING
  cmake --build --preset "$1" --parallel "$(nproc)"
}

run_tests() { ctest --preset "$1" --parallel "$(nproc)" "${@:2}"; } # PRESET [CTEST_OPTIONS...]

# The scripts are Python, and what they start has unit tests: sanitizers would find nothing more in a minute and a half.
test_sanitized() {
  build asan
  run_tests asan --exclude-regex '^scripts\.'
}

read_options "$@"
start_setup "${setup_options[@]}"
[[ $lint == no ]] || check_style
build "test" # in build/release, where scripts/demo.sh builds with the same flags
finish_setup
run_tests "test"
[[ $asan == no ]] || test_sanitized
[[ $fuzz == no ]] || scripts/ci/fuzz.sh 15

#!/usr/bin/env bash
# Installs what attnprof is built and tested with, and nothing that is already there:
#   distribution packages (Debian 12, Ubuntu 24.04), a Python environment in .venv, and on request
#   NVIDIA's compiler, CUPTI and headers from their Python wheels into that environment.
#   --browser: Chromium and what drives it, for the test of the HTML report (Debian).
#
#   --manylinux: what scripts/wheel.sh takes beside that.
#
#   scripts/setup.sh [--tests] [--lint] [--fuzz] [--browser] [--manylinux] [--with-cuda] [--with-cublas] [--no-install]
#
# Without root it prints the one package-manager line that is needed and exits 3; --no-install never installs anything.
# Other scripts source this file and call `setup`, or `start_setup` and after a build `finish_setup`; they leave CUDA_HOME
# set where only the wheels have a toolkit.
set -euo pipefail

repository=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
venv=$repository/.venv
pinned_wheels=13.0 # of requirements/cuda.txt, for messages

# --- messages

note() { echo "setup: $*" >&2; }

# Ends the script: something the environment lacks (exit code 3, as in attnprof).
lacking() {
  echo "setup: $*" >&2
  exit 3
}

# --- distribution packages

have_package() { dpkg-query -W -f='${db:Status-Status}' "$1" 2>/dev/null | grep -qx installed; }

have_cmake() {
  local version
  version=$(cmake --version 2>/dev/null | sed -n '1s/[^0-9]*//p')
  [[ -n $version && $(printf '%s\n' 3.25 "$version" | sort -V | head -n1) == 3.25 ]]
}

# The first Python from 3.9 on that can make environments.
find_python() {
  local python
  for python in python3 /usr/bin/python3; do
    "$python" -c 'import ensurepip, sys, venv; sys.exit(sys.version_info < (3, 9))' 2>/dev/null &&
      command -v "$python" && return
  done
  return 1
}

# Whether a libFuzzer program can be built: clang++ alone may come without the runtime.
have_fuzzer() {
  # No pipe into it: a clang++ that ends before it reads would fail the pipe by SIGPIPE, sometimes.
  clang++ -fsanitize=fuzzer,address -x c++ - -o /dev/null 2>/dev/null \
    <<<'extern "C" int LLVMFuzzerTestOneInput(const unsigned char*, unsigned long) { return 0; }'
}

# Whether Chromium and its driver run.
have_browser() { chromium --version >/dev/null 2>&1 && chromedriver --version >/dev/null 2>&1; }

# Packages that are missing, one a line. Tools count as there when the command is, wherever it came from.
missing_packages() {
  have_cmake || echo cmake
  command -v ninja >/dev/null || echo ninja-build
  command -v g++ >/dev/null || echo g++
  [[ -x $venv/bin/python ]] || find_python >/dev/null || echo python3-venv
  [[ $want_lint == no ]] || command -v shellcheck >/dev/null || echo shellcheck
  [[ $want_fuzz == no ]] || have_fuzzer || printf '%s\n' clang libclang-rt-dev
  [[ $want_browser == no ]] || have_browser || printf '%s\n' chromium chromium-driver
  local package packages=(libcli11-dev libfmt-dev libcsv-dev nlohmann-json3-dev libxxhash-dev)
  [[ $want_tests == no ]] || packages+=(libgtest-dev libgmock-dev)
  for package in "${packages[@]}"; do
    have_package "$package" || echo "$package"
  done
}

apt_install() {
  export DEBIAN_FRONTEND=noninteractive
  apt-get -qq update && apt-get -qq install -y --no-install-recommends "$@" >/dev/null
}

ensure_packages() {
  command -v dpkg-query >/dev/null ||
    lacking "this is neither Debian nor Ubuntu: use the Dockerfile, or install the libraries README names and run CMake."
  local missing
  mapfile -t missing < <(missing_packages)
  ((${#missing[@]})) || return 0
  local line="apt-get update && apt-get install -y --no-install-recommends ${missing[*]}"
  if [[ $may_install == no ]]; then
    lacking "packages are missing and --no-install was given; as root, run: $line"
  elif ((EUID != 0)); then
    lacking "packages are missing; as root, run: $line"
  fi
  note "installing ${missing[*]}"
  apt_install "${missing[@]}" || lacking "apt-get failed; see its message above, then run: $line"
  have_cmake || lacking "the distribution's CMake is older than 3.25: use Debian 12, Ubuntu 24.04 or the Dockerfile."
}

# --- Python environment

ensure_venv() {
  "$venv/bin/python" -c '' 2>/dev/null && return 0
  [[ $may_install == yes ]] ||
    lacking "the Python environment .venv is missing and --no-install was given; run: scripts/setup.sh"
  note "making the Python environment .venv"
  rm -rf "$venv"
  "$(find_python)" -m venv "$venv" || lacking "python3 -m venv failed; see its message above."
}

# Installs scripts/requirements/$1.txt unless exactly that file has been installed before.
ensure_requirements() {
  local file=$repository/scripts/requirements/$1.txt stamp=$venv/requirements-$1.installed
  cmp -s "$file" "$stamp" && return 0
  local install=(.venv/bin/python -m pip install -r "scripts/requirements/$1.txt")
  [[ $may_install == yes ]] ||
    lacking "Python packages are missing and --no-install was given; run: ${install[*]}"
  note "installing $(grep -o '^[a-z][a-z0-9-]*' "$file" | paste -sd ' ') into .venv"
  (cd "$repository" && "${install[@]}" --quiet --disable-pip-version-check) ||
    lacking "pip failed; see its message above."
  [[ -z ${2:-} ]] || "$2"
  cp "$file" "$stamp"
}

# --- CUDA

# Whether directory $1 holds all that is needed: the compiler, the driver API's header, CUPTI and its header.
is_toolkit() {
  local cupti
  cupti=$(find "$1"/lib "$1"/lib64 "$1"/extras/CUPTI/lib64 -maxdepth 1 -name 'libcupti.so*' -print -quit 2>/dev/null || true)
  [[ -x $1/bin/nvcc && -f $1/include/cuda.h && -n $cupti ]] &&
    [[ -f $1/include/cupti_range_profiler.h || -f $1/extras/CUPTI/include/cupti_range_profiler.h ]]
}

wheel_toolkit() { find "$venv"/lib/python3*/site-packages/nvidia/cu13 -maxdepth 0 2>/dev/null | head -n1; }

# A toolkit's directory: CUDA_HOME, the usual places, the nvcc on PATH, and last the wheels.
find_toolkit() {
  local candidate nvcc
  nvcc=$(command -v nvcc || true)
  [[ -z $nvcc ]] || nvcc=$(dirname "$(dirname "$(readlink -f "$nvcc")")")
  for candidate in "${CUDA_HOME:-}" /usr/local/cuda /opt/cuda "$nvcc" "$(wheel_toolkit)"; do
    if [[ -n $candidate ]] && is_toolkit "$candidate"; then
      echo "$candidate"
      return
    fi
  done
  return 1
}

# Shows that the wheels work here: a kernel compiles for two targets, and CUPTI opens without a driver. nvcc hands the paths
# it is given to a shell, so it runs in a folder of a safe name, to which the wheels' is linked.
check_cuda_wheels() {
  local toolkit work arch
  toolkit=$(wheel_toolkit)
  is_toolkit "$toolkit" || lacking "the CUDA $pinned_wheels wheels did not bring nvcc, cuda.h and CUPTI; is pip's index complete?"
  work=$(mktemp -d /tmp/attnprof.XXXXXXXXXX)
  ln -s "$toolkit/bin" "$work/toolkit"
  echo '#include <cuda_fp16.h>
    extern "C" __global__ void twice(__half* x) { x[threadIdx.x] = __hadd(x[threadIdx.x], x[threadIdx.x]); }' >"$work/twice.cu"
  for arch in sm_80 sm_90a; do
    (cd "$work" && TMPDIR=. toolkit/nvcc -cubin -arch="$arch" -o twice.cubin twice.cu) ||
      lacking "the wheels' nvcc cannot compile for $arch; see its message above."
  done
  rm -rf "$work"
  "$venv/bin/python" -c 'import ctypes, sys
version = ctypes.c_uint32()
sys.exit(ctypes.CDLL(sys.argv[1]).cuptiGetVersion(ctypes.byref(version)) or version.value == 0)' \
    "$toolkit/lib/libcupti.so.13" || lacking "libcupti.so.13 from the wheels cannot be opened; see the message above."
}

# A wheel has only the versioned name of a library; nothing else is needed, since libraries are opened at run time.
ensure_cuda() {
  local toolkit
  find_toolkit >/dev/null || ensure_requirements cuda check_cuda_wheels
  toolkit=$(find_toolkit) || lacking "no CUDA toolkit after installing the wheels; remove .venv and run again."
  export CUDA_HOME=$toolkit
}

ensure_cublas() {
  [[ -n $(find "$CUDA_HOME"/lib "$CUDA_HOME"/lib64 -maxdepth 1 -name 'libcublas.so*' -print -quit 2>/dev/null) ]] ||
    ensure_requirements cublas
}

# --- all of it

# What no build needs, and whose time is mostly the network's.
ensure_script_packages() {
  ensure_requirements report
  [[ $want_tests$want_manylinux == nono ]] || ensure_requirements wheel
  [[ $want_browser == no ]] || ensure_requirements browser
}

# On return, what a build needs is there; the scripts' packages still come in the background until finish_setup, but for
# --no-install, which says at once what is missing.
start_setup() {
  want_tests=no want_lint=no want_fuzz=no want_browser=no want_manylinux=no want_cuda=no want_cublas=no may_install=yes
  local option
  for option in "$@"; do
    case $option in
      --tests) want_tests=yes ;;
      --lint) want_lint=yes ;;
      --fuzz) want_fuzz=yes ;;
      --browser) want_browser=yes ;;
      --manylinux) want_manylinux=yes ;;
      --with-cuda) want_cuda=yes ;;
      --with-cublas) want_cuda=yes want_cublas=yes ;;
      --no-install) may_install=no ;;
      *)
        echo "setup: unknown option '$option'; it takes --tests, --lint, --fuzz, --browser, --manylinux, --with-cuda, --with-cublas, --no-install" >&2
        exit 2
        ;;
    esac
  done
  ensure_packages
  ensure_venv
  [[ $want_lint == no ]] || ensure_requirements lint
  [[ $want_manylinux == no ]] || ensure_requirements manylinux
  [[ $want_cuda == no ]] || ensure_cuda
  [[ $want_cublas == no ]] || ensure_cublas
  script_packages=
  if [[ $may_install == no ]]; then
    ensure_script_packages
    return
  fi
  set -m # a process group of its own, so that pip ends with it
  ensure_script_packages </dev/null &
  script_packages=$!
  set +m
  trap 'kill -- "-$script_packages" 2>/dev/null || true' EXIT
}

finish_setup() {
  [[ -n $script_packages ]] || return 0
  wait "$script_packages" || exit
  trap - EXIT
}

setup() {
  start_setup "$@"
  finish_setup
}

if [[ ${BASH_SOURCE[0]} == "$0" ]]; then
  setup "$@"
  note "all there${CUDA_HOME:+; CUDA_HOME=$CUDA_HOME}"
fi

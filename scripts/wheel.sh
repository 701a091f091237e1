#!/usr/bin/env bash
# A wheel that runs on other and older distributions, into build/wheels: compiled by Clang against the C library of 2018 and
# with the C++ library inside (cmake/zig.cmake), held to the tag it gets by auditwheel, then installed and tested.
#
#   scripts/wheel.sh [--no-install]
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
source scripts/setup.sh

tag=manylinux_2_28_x86_64 # as cmake/zig.cmake compiles

case ${1:-} in
  "" | --no-install) ;;
  *)
    echo "wheel: unknown option '$1'; it takes --no-install" >&2
    exit 2
    ;;
esac
setup --manylinux --with-cuda "$@"

# build/wheel keeps what is compiled for the next time.
compile() { # OUT_DIR
  .venv/bin/python -m pip wheel . --no-deps --no-build-isolation --disable-pip-version-check --wheel-dir "$1" \
    --config-settings=build-dir=build/wheel --config-settings=cmake.toolchain-file="$PWD/cmake/zig.cmake"
}

plain=$(mktemp -d)
trap 'rm -rf "$plain"' EXIT
rm -rf build/wheels
compile "$plain"
PATH=$PWD/.venv/bin:$PATH .venv/bin/auditwheel repair --plat "$tag" --only-plat --wheel-dir build/wheels "$plain"/*.whl
wheel=$(echo build/wheels/attnprof-*-"$tag".whl)
(cd scripts/ci/tests && ATTNPROF_WHEEL=$OLDPWD/$wheel "$OLDPWD/.venv/bin/python" -m unittest -v wheel_test)
echo "$wheel"

#!/usr/bin/env bash
# Copies the kernels to DIR with the made regression NAME: scripts/evidence/regressions/make.sh NAME DIR
# Exit codes: 0, 2 usage, 3 the edit does not fit kernels/flash2.cu any more.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
if [ $# -ne 2 ] || [ ! -f "$here/$1.sed" ]; then
  echo "make.sh: give NAME DIR; names: $(cd "$here" && printf '%s ' *.sed | sed 's/\.sed//g')" >&2
  exit 2
fi
rm -rf "$2"
cp -r "$here/../../../kernels" "$2"
sed -i -f "$here/$1.sed" "$2/flash2.cu"
if cmp -s "$here/../../../kernels/flash2.cu" "$2/flash2.cu"; then
  echo "make.sh: $1.sed changes nothing in kernels/flash2.cu; fit it to the kernel" >&2
  exit 3
fi

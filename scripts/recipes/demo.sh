#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# scripts/demo --python: builds the Python package, runs a recipe of docs/python.md and draws a picture of its move.
set -eu
cd "$(dirname "$0")/../.."

scripts/install-deps build
scripts/install-deps packages python3-dev python3-numpy

# The build tree may be older than Python's headers here.
if [ ! -f build/build.ninja ]; then
    meson setup build >/dev/null
elif ! ninja -C build -t query python/mli/_core.abi3.so >/dev/null 2>&1; then
    meson configure build --clearcache >/dev/null
    meson setup --reconfigure build -Dpython=enabled >/dev/null
fi
echo "building (a minute or two)"
package=$(ninja -C build -t targets all | sed -n 's/^\(python\/mli\/[^:]*\.\(py\|pyi\|so\|typed\)\):.*/\1/p')
# shellcheck disable=SC2086 # names of files without blanks
if [ -t 1 ]; then # a line that shows the progress
    ninja -C build cli/mlictl daemon/mlid $package
else
    ninja -C build cli/mlictl daemon/mlid $package | tail -n 1
fi

echo
PYTHONPATH=$PWD/build/python /usr/bin/python3 -B scripts/recipes/show.py docs/python.md \
    "Tiles of a convolution with their halo" build/demo.svg
echo "picture, as a notebook shows the value of mli.explain(): $PWD/build/demo.svg"
echo "more recipes: docs/python.md; scripts/python-recipes renders them with pictures"

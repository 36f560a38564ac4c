#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Builds the fuzz targets as OSS-Fuzz does: with $CC, $CXX, $CFLAGS, $CXXFLAGS and $LIB_FUZZING_ENGINE, into $OUT.
# Each target gets its corpus as TARGET_seed_corpus.zip, its dictionary and its options. The image needs the packages
# of `scripts/install-deps fuzz`. By hand:
#
#   CC=clang CXX=clang++ CFLAGS='-O1 -g -fsanitize=address,fuzzer-no-link' CXXFLAGS=$CFLAGS \
#       LIB_FUZZING_ENGINE=-fsanitize=fuzzer OUT=/tmp/out tests/fuzz/oss-fuzz-build.sh
set -eu
cd "$(dirname "$0")/../.."
: "${CC:?}" "${CXX:?}" "${OUT:?}" "${LIB_FUZZING_ENGINE:?}"
work=${WORK:-$(mktemp -d)}/mli

# The sanitizers are in CFLAGS. Shared libraries are copied beside the targets, which run on another image.
rm -rf "$work"
LDFLAGS="${LDFLAGS:-} -Wl,-rpath,\$ORIGIN/lib" meson setup "$work" -Dfuzz=true "-Dfuzz_engine=$LIB_FUZZING_ENGINE" \
    -Db_lundef=false -Doptimization=1 -Dhardening=false -Dpython=disabled -Dman=disabled
ninja -C "$work" fuzzers

mkdir -p "$OUT/lib"
for program in "$work"/tests/fuzz/fuzz_*; do
    if [ -d "$program" ]; then
        continue # objects
    fi
    name=$(basename "$program")
    target=${name#fuzz_}
    cp "$program" "$OUT/"
    ldd "$program" | sed -n 's#.* => \(/[^ ]*/lib\(cjson\|uv\|md\|z\|expat\)\.so[^ ]*\) .*#\1#p' |
        xargs -r cp -Lt "$OUT/lib"
    corpus=tests/fuzz/corpus/$target
    [ "$target" != profile ] || corpus=conf/profiles
    [ ! -d "$corpus" ] || python3 -m zipfile -c "$OUT/${name}_seed_corpus.zip" "$corpus"/*
    [ ! -f "tests/fuzz/dict/$target.dict" ] || cp "tests/fuzz/dict/$target.dict" "$OUT/$name.dict"
    printf '[libfuzzer]\nmax_len = 4096\ntimeout = 25\n' >"$OUT/$name.options"
done

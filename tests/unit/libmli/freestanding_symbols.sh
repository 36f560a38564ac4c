#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Checks that a freestanding build of libmli requires only the four functions that every compiler
# may call by itself, and the compiler's own library (division of 64-bit numbers, for example). That
# library has no atomic operations. (The linker defines _GLOBAL_OFFSET_TABLE_.)
# usage: freestanding_symbols.sh NM LIBRARY LIBGCC
set -eu

{
    "$1" --defined-only "$3" 2>/dev/null | awk 'NF == 3 { print "H", $3 }'
    "$1" "$2"
} | awk '
    $1 == "H" { helper[$2] = 1; next }
    $1 == "U" { wanted[$2] = 1; next }
    NF == 3 { defined[$3] = 1; symbols++ }
    END {
        if (symbols < 40) {
            print "only " symbols + 0 " symbols defined: is this the library?"
            exit 1
        }
        for (name in wanted) {
            if (name in defined || name in helper || name ~ /^(mem(cpy|move|set|cmp)|_GLOBAL_OFFSET_TABLE_)$/)
                continue
            print "needs " name
            bad = 1
        }
        exit bad
    }'

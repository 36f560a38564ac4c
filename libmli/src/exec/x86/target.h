/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Functions between TARGET_BEGIN("avx2,...") and TARGET_END may use these instruction sets, which
 * the rest of the library is not compiled for. <immintrin.h> stays outside: its functions have
 * targets of their own. What a compiler's target macros (__AVX2__) say in between is not portable.
 */
#ifndef MLI_EXEC_X86_TARGET_H
#define MLI_EXEC_X86_TARGET_H

#define TARGET_PRAGMA(text) _Pragma(#text)

#ifdef __clang__
#define TARGET_BEGIN(sets)                                                                         \
    TARGET_PRAGMA(clang attribute push(__attribute__((target(sets))), apply_to = function))
#define TARGET_END TARGET_PRAGMA(clang attribute pop)
#else
#define TARGET_BEGIN(sets) TARGET_PRAGMA(GCC push_options) TARGET_PRAGMA(GCC target(sets))
#define TARGET_END         TARGET_PRAGMA(GCC pop_options)
#endif

#endif /* MLI_EXEC_X86_TARGET_H */

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Functions between TARGET_BEGIN("avx2,...") and TARGET_END may use these instruction sets; the
 * rest of the library is compiled without them. Include <immintrin.h> before TARGET_BEGIN: its
 * functions have targets of their own. Do not test the compiler's target macros (__AVX2__) in
 * between: their value there differs between compilers.
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

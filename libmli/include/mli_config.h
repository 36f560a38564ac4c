/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * embARC MLI 2.0's configuration macros, for programs written for embARC. The macros have no
 * prefix; therefore the headers of this library include this one only for embARC's forms
 * (mli_compat_embarc.h).
 *
 * PLATFORM names the processor that the program is compiled for. The compiler's macros for ARC
 * cores choose it, or -DV2DSP_VECTOR, -DV2DSP_XY, -DV2DSP_WIDE or -DV2DSP; without them it is
 * X86_PLATFORM, as in embARC on every host. PLATFORM does not change the library.
 */
#ifndef MLI_CONFIG_H
#define MLI_CONFIG_H

#include <stdint.h>

/* Values of MLI_DEBUG_MODE; docs/library.md describes the debug modes. */
#define DBG_MODE_RELEASE   0
#define DBG_MODE_RET_CODES 1
#define DBG_MODE_ASSERT    2
#define DBG_MODE_DEBUG     3
#define DBG_MODE_FULL      4

/* The default of a build. The header does not know how the library was built;
   mli_hlp_compile_options_string() returns that. */
#ifndef MLI_DEBUG_MODE
#define MLI_DEBUG_MODE DBG_MODE_RET_CODES
#endif

#if defined(V2DSP_VECTOR) || defined(__Xvdsp)
#undef V2DSP_VECTOR
#define PLATFORM     4
#define PLATFORM_STR "ARCv2DSP VDSP"
#elif defined(V2DSP_XY) || (defined(__Xxy) && !defined(V2DSP) && !defined(V2DSP_WIDE))
#undef V2DSP_XY
#define PLATFORM     2
#define PLATFORM_STR "ARCv2DSP XY"
#elif defined(V2DSP_WIDE) || (defined(__Xdsp_wide) && !defined(V2DSP))
#undef V2DSP_WIDE
#define PLATFORM     3
#define PLATFORM_STR "ARCv2DSP Wide"
#elif defined(V2DSP) || defined(__Xdsp2) || defined(__Xdsp_complex)
#undef V2DSP
#define PLATFORM     1
#define PLATFORM_STR "ARCv2DSP"
#else
#define PLATFORM     5
#define PLATFORM_STR "X86"
#endif

#undef X86_PLATFORM
#define V2DSP        1
#define V2DSP_XY     2
#define V2DSP_WIDE   3
#define V2DSP_VECTOR 4
#define X86_PLATFORM 5

/* Pointers to data of kernels. This library's functions take plain pointers on every platform. */
#if PLATFORM == V2DSP_XY
#define MLI_PTR(p)          __xy p *
#define MLI_PTR_IS_XY       true
#define MLI_OUT_PTR(p)      __xy p *
#define MLI_OUT_PTR_IS_XY   true
#define MLI_CONV_OUT_PTR(p) p *
#define MLI_CCM_ATT
#elif PLATFORM == V2DSP_VECTOR && !defined(MLI_BUILD_REFERENCE)
#define MLI_PTR(p)          __vccm p *
#define MLI_PTR_IS_XY       false
#define MLI_OUT_PTR(p)      __vccm p *
#define MLI_OUT_PTR_IS_XY   false
#define MLI_CONV_OUT_PTR(p) __vccm p *
#define MLI_CCM_ATT         __vccm
#else
#define MLI_PTR(p)          p *
#define MLI_PTR_IS_XY       false
#define MLI_OUT_PTR(p)      p *
#define MLI_OUT_PTR_IS_XY   false
#define MLI_CONV_OUT_PTR(p) p *
#define MLI_CCM_ATT
#endif
#define MLI_CONV_OUT_PTR_IS_XY false

#define MLI_FORCE_INLINE inline __attribute__((always_inline))
#define MLI_NO_INLINE    __attribute__((noinline))

#endif /* MLI_CONFIG_H */

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * tile.h with x86 instructions; included once for each width, with LANES, VEC, VEC_LOAD and
 * TILE_NAME as tile.h requires, and OP(name), the intrinsic of that width.
 */
#define OP_EXPANDED(name) OP(name)
#define VEC_STORE(at, v)  OP_EXPANDED(STORE)((void *)(at), (v))
#define VEC_LOW_1(a, b)   OP(unpacklo_epi8)((a), (b))
#define VEC_HIGH_1(a, b)  OP(unpackhi_epi8)((a), (b))
#define VEC_LOW_2(a, b)   OP(unpacklo_epi16)((a), (b))
#define VEC_HIGH_2(a, b)  OP(unpackhi_epi16)((a), (b))
#define VEC_LOW_4(a, b)   OP(unpacklo_epi32)((a), (b))
#define VEC_HIGH_4(a, b)  OP(unpackhi_epi32)((a), (b))
#define VEC_LOW_8(a, b)   OP(unpacklo_epi64)((a), (b))
#define VEC_HIGH_8(a, b)  OP(unpackhi_epi64)((a), (b))

#include "libmli/src/exec/tile.h"

#undef VEC_STORE
#undef VEC_LOW_1
#undef VEC_HIGH_1
#undef VEC_LOW_2
#undef VEC_HIGH_2
#undef VEC_LOW_4
#undef VEC_HIGH_4
#undef VEC_LOW_8
#undef VEC_HIGH_8
#undef LANES
#undef VEC
#undef VEC_LOAD
#undef VEC_LOAD_AT
#undef TILE_NAME
#undef OP
#undef OP_EXPANDED

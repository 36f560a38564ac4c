/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Transposing tiles in vector registers; included once for each width of vector. The includer
 * defines, for its width:
 *
 *     LANES               lanes of 16 bytes: 1, 2 or 4
 *     VEC                 the register's type
 *     VEC_LOAD(at, step)  lane i from at + i * step
 *     VEC_LOW_E(a, b), VEC_HIGH_E(a, b)   for E = 1, 2, 4, 8: in each lane, elements of the low
 *                         (high) halves of a and b in turn
 *     VEC_STORE(at, v)    all lanes to consecutive addresses
 *     TILE_NAME(name)     name with a suffix for the width
 *
 * A tile of E-byte elements has N = 16 / E rows and N * LANES columns. Register k holds column
 * k + N * i in lane i. The index of an element in a lane is (k, r); interleaving register k with
 * k + N / 2 turns the bits of that index by one place, and after log2(N) such stages k and r have
 * changed places.
 */

#define TILE_STAGES(E, x, t)                                                                       \
    _Pragma("GCC unroll 4") for (int stage = 1; stage < 16 / (E); stage *= 2)                      \
    {                                                                                              \
        _Pragma("GCC unroll 8") for (int i = 0; i < 8 / (E); i++)                                  \
        {                                                                                          \
            t[2 * i] = VEC_LOW_##E(x[i], x[i + 8 / (E)]);                                          \
            t[2 * i + 1] = VEC_HIGH_##E(x[i], x[i + 8 / (E)]);                                     \
        }                                                                                          \
        _Pragma("GCC unroll 16") for (int i = 0; i < 16 / (E); i++) x[i] = t[i];                   \
    }

#define DEFINE_TILE(E)                                                                             \
    static inline __attribute__((always_inline)) void TILE_NAME(tile_##E)(                         \
        uint8_t * dst, size_t dst_step, const uint8_t *src, size_t src_step)                       \
    {                                                                                              \
        VEC x[16 / (E)], t[16 / (E)];                                                              \
                                                                                                   \
        _Pragma("GCC unroll 16") for (int k = 0; k < 16 / (E); k++) x[k] =                         \
            VEC_LOAD(src + (size_t)k * src_step, 16 / (E)*src_step);                               \
        TILE_STAGES(E, x, t)                                                                       \
        _Pragma("GCC unroll 16") for (int r = 0; r < 16 / (E); r++)                                \
            VEC_STORE(dst + (size_t)r * dst_step, x[r]);                                           \
    }

/*
 * All tiles of a matrix of at least one tile. Tiles at the far edges overlap the ones before them:
 * what lies in two tiles is written twice, with the same bytes. Blocks of a cache line's worth of
 * rows by `block` columns keep the source's lines in the first-level cache until they are used up;
 * the lines that the next tile writes are fetched ahead, or each of its stores would wait for one.
 */
#define DEFINE_TILES(E)                                                                            \
    DEFINE_TILE(E)                                                                                 \
    static void TILE_NAME(tiles_##E)(uint8_t * dst, size_t dst_step, const uint8_t *src,           \
                                     size_t src_step, size_t rows, size_t cols)                    \
    {                                                                                              \
        enum { HIGH = 16 / (E), WIDE = HIGH * LANES, LINE_ROWS = 64 / (E) };                       \
        const size_t block = tile_block(src_step, WIDE);                                           \
                                                                                                   \
        for (size_t c0 = 0; c0 < cols; c0 += block) {                                              \
            const size_t c1 = cols - c0 < block ? cols : c0 + block;                               \
            for (size_t r0 = 0; r0 < rows; r0 += LINE_ROWS) {                                      \
                const size_t r1 = rows - r0 < LINE_ROWS ? rows : r0 + LINE_ROWS;                   \
                for (size_t c = c0; c < c1; c += WIDE) {                                           \
                    const size_t col = c + WIDE <= cols ? c : cols - WIDE;                         \
                    for (size_t r = r0; r < r1; r += HIGH) {                                       \
                        const size_t row = r + HIGH <= rows ? r : rows - HIGH;                     \
                        uint8_t *to = dst + row * dst_step + col * (E);                            \
                                                                                                   \
                        if (c + WIDE < c1)                                                         \
                            tile_prefetch(to + WIDE * (E), dst_step, HIGH);                        \
                        TILE_NAME(tile_##E)                                                        \
                        (to, dst_step, src + col * src_step + row * (E), src_step);                \
                    }                                                                              \
                }                                                                                  \
            }                                                                                      \
        }                                                                                          \
    }

DEFINE_TILES(1)
DEFINE_TILES(2)
DEFINE_TILES(4)
DEFINE_TILES(8)

#undef DEFINE_TILES
#undef DEFINE_TILE
#undef TILE_STAGES

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Transposing tiles in vector registers; included once for each width of vector. The includer
 * defines, for its width:
 *
 *     LANES               lanes of 16 bytes: 1, 2 or 4
 *     VEC                 the register's type
 *     VEC_LOAD(COLUMN, c, apart, offset)   lane i from COLUMN(c + i * apart) + offset
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

/*
 * All tiles of a matrix of at least one tile, in which column c of the source is at COLUMN(c) and
 * row r of the destination at ROW(r). Tiles at the far edges overlap the ones before them: what
 * lies in two tiles is written twice, with the same bytes. Blocks of a cache line's worth of rows
 * by some columns keep the source's lines in the first-level cache until they are used up; the
 * lines that the next tile writes are fetched ahead, or each of its stores would wait for one.
 */
#define TILE_LOOPS(E, COLUMN, ROW, src_step)                                                       \
    enum { HIGH = 16 / (E), WIDE = HIGH * LANES, LINE_ROWS = 64 / (E) };                           \
    const size_t block = tile_block(src_step, WIDE);                                               \
                                                                                                   \
    for (size_t c0 = 0; c0 < cols; c0 += block) {                                                  \
        const size_t c1 = cols - c0 < block ? cols : c0 + block;                                   \
                                                                                                   \
        for (size_t r0 = 0; r0 < rows; r0 += LINE_ROWS) {                                          \
            const size_t r1 = rows - r0 < LINE_ROWS ? rows : r0 + LINE_ROWS;                       \
                                                                                                   \
            for (size_t c = c0; c < c1; c += WIDE) {                                               \
                const size_t col = c + WIDE <= cols ? c : cols - WIDE;                             \
                                                                                                   \
                for (size_t r = r0; r < r1; r += HIGH) {                                           \
                    const size_t row = r + HIGH <= rows ? r : rows - HIGH;                         \
                    VEC x[HIGH], t[HIGH];                                                          \
                                                                                                   \
                    if (c + WIDE < c1)                                                             \
                        _Pragma("GCC unroll 16") for (size_t i = 0; i < HIGH; i++)                 \
                            tile_prefetch(ROW(row + i) + (col + WIDE) * (E));                      \
                    _Pragma("GCC unroll 16") for (size_t k = 0; k < HIGH; k++) x[k] =              \
                        VEC_LOAD(COLUMN, col + k, HIGH, row * (E));                                \
                    TILE_STAGES(E, x, t)                                                           \
                    _Pragma("GCC unroll 16") for (size_t i = 0; i < HIGH; i++)                     \
                        VEC_STORE(ROW(row + i) + col * (E), x[i]);                                 \
                }                                                                                  \
            }                                                                                      \
        }                                                                                          \
    }

#define STEP_COLUMN(c) (src + (c)*src_step)
#define STEP_ROW(r)    (dst + (r)*dst_step)
#define AT_COLUMN(c)   (src + src_at[c])
#define AT_ROW(r)      (dst + dst_at[r])

#define DEFINE_TILES(E)                                                                            \
    static void TILE_NAME(tiles_##E)(uint8_t * dst, size_t dst_step, const uint8_t *src,           \
                                     size_t src_step, size_t rows, size_t cols)                    \
    {                                                                                              \
        TILE_LOOPS(E, STEP_COLUMN, STEP_ROW, src_step)                                             \
    }                                                                                              \
                                                                                                   \
    static void TILE_NAME(tiles_at_##E)(uint8_t * dst, const size_t *dst_at, const uint8_t *src,   \
                                        const size_t *src_at, size_t rows, size_t cols)            \
    {                                                                                              \
        TILE_LOOPS(E, AT_COLUMN, AT_ROW, src_at[1] - src_at[0])                                    \
    }

DEFINE_TILES(1)
DEFINE_TILES(2)
DEFINE_TILES(4)
DEFINE_TILES(8)

#undef DEFINE_TILES
#undef TILE_LOOPS
#undef TILE_STAGES
#undef STEP_COLUMN
#undef STEP_ROW
#undef AT_COLUMN
#undef AT_ROW

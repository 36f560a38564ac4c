/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Transposing tiles in vector registers; included once for each width of vector. The includer
 * defines, for its width:
 *
 *     LANES               lanes of 16 bytes: 1, 2 or 4
 *     VEC                 the register's type
 *     VEC_LOAD(at, step)              lane i from at + i * step
 *     VEC_LOAD_AT(base, offset, step) lane i from base + offset[i * step]
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
 * Moves all tiles of a matrix of at least one tile. Tiles at the far edges overlap the tiles before
 * them: elements in both tiles are written twice, with the same bytes. The first step advances by
 * `lead` columns, fewer than a tile has, so that all later tiles begin at a cache line of the
 * destination. PREFETCH fetches the lines that the next tile writes, because otherwise each store
 * would wait for its line; it is used if `room` says that the cache can hold these lines. LOAD
 * fills the registers of a tile, STORE writes them. tile_block.h explains and chooses block, strip,
 * lead and room.
 */
#define TILE_LOOPS(E, block, strip, lead, room, PREFETCH, LOAD, STORE)                             \
    enum { HIGH = 16 / (E), WIDE = HIGH * LANES };                                                 \
                                                                                                   \
    for (size_t c0 = 0, c1; c0 < cols; c0 = c1) {                                                  \
        c1 = c0 + (block) + (c0 == 0 ? (lead) : 0);                                                \
        if (c1 > cols)                                                                             \
            c1 = cols;                                                                             \
        for (size_t r0 = 0; r0 < rows; r0 += (strip)) {                                            \
            const size_t r1 = rows - r0 < (strip) ? rows : r0 + (strip);                           \
                                                                                                   \
            for (size_t c = c0, next; c < c1; c = next) {                                          \
                const size_t col = c + WIDE <= cols ? c : cols - WIDE;                             \
                                                                                                   \
                next = c + (c == 0 && (lead) > 0 ? (lead) : WIDE);                                 \
                for (size_t r = r0; r < r1; r += HIGH) {                                           \
                    const size_t row = r + HIGH <= rows ? r : rows - HIGH;                         \
                    VEC x[HIGH], t[HIGH];                                                          \
                                                                                                   \
                    if ((room) && next < c1)                                                       \
                        PREFETCH(E)                                                                \
                    LOAD(E)                                                                        \
                    TILE_STAGES(E, x, t)                                                           \
                    STORE(E)                                                                       \
                }                                                                                  \
            }                                                                                      \
        }                                                                                          \
    }

/* One address is incremented: there are not enough registers for an address of each line. */
#define STEP_PREFETCH(E)                                                                           \
    {                                                                                              \
        const uint8_t *at = dst + row * dst_step + next * (E);                                     \
        _Pragma("GCC unroll 16") for (int i = 0; i < HIGH; i++, at += dst_step)                    \
            __builtin_prefetch(at, 1, 3);                                                          \
    }
#define STEP_LOAD(E)                                                                               \
    {                                                                                              \
        const uint8_t *from = src + col * src_step + row * (E);                                    \
        _Pragma("GCC unroll 16") for (int k = 0; k < HIGH; k++, from += src_step) x[k] =           \
            VEC_LOAD(from, HIGH * src_step);                                                       \
    }
#define STEP_STORE(E)                                                                              \
    {                                                                                              \
        uint8_t *to = dst + row * dst_step + col * (E);                                            \
        _Pragma("GCC unroll 16") for (int i = 0; i < HIGH; i++, to += dst_step)                    \
            VEC_STORE(to, x[i]);                                                                   \
    }

#define AT_PREFETCH(E)                                                                             \
    {                                                                                              \
        _Pragma("GCC unroll 16") for (int i = 0; i < HIGH; i++)                                    \
            __builtin_prefetch(dst + dst_at[row + (size_t)i] + next * (E), 1, 3);                  \
    }
#define AT_LOAD(E)                                                                                 \
    {                                                                                              \
        _Pragma("GCC unroll 16") for (int k = 0; k < HIGH; k++) x[k] =                             \
            VEC_LOAD_AT(src + row * (E), src_at + col + k, HIGH);                                  \
    }
#define AT_STORE(E)                                                                                \
    {                                                                                              \
        _Pragma("GCC unroll 16") for (int i = 0; i < HIGH; i++)                                    \
            VEC_STORE(dst + dst_at[row + (size_t)i] + col * (E), x[i]);                            \
    }

#define DEFINE_TILES(E)                                                                            \
    static void TILE_NAME(tiles_##E)(uint8_t * dst, size_t dst_step, const uint8_t *src,           \
                                     size_t src_step, size_t rows, size_t cols)                    \
    {                                                                                              \
        const size_t block = tile_block(src_step, dst_step);                                       \
        const size_t strip = tile_strip(src_step, dst_step, E);                                    \
        const size_t lead = tile_lead(dst, dst_step, E) % (LANES * 16 / (E));                      \
        const bool room = tile_has_room(dst_step, E);                                              \
                                                                                                   \
        TILE_LOOPS(E, block, strip, lead, room, STEP_PREFETCH, STEP_LOAD, STEP_STORE)              \
    }                                                                                              \
                                                                                                   \
    static void TILE_NAME(tiles_at_##E)(uint8_t * dst, const size_t *dst_at, const uint8_t *src,   \
                                        const size_t *src_at, size_t rows, size_t cols)            \
    {                                                                                              \
        TILE_LOOPS(E, cols, (size_t)2 * TUNE_LINE / (E), 0, true, AT_PREFETCH, AT_LOAD, AT_STORE)  \
    }

DEFINE_TILES(1)
DEFINE_TILES(2)
DEFINE_TILES(4)
DEFINE_TILES(8)

#undef DEFINE_TILES
#undef TILE_LOOPS
#undef TILE_STAGES
#undef STEP_PREFETCH
#undef STEP_LOAD
#undef STEP_STORE
#undef AT_PREFETCH
#undef AT_LOAD
#undef AT_STORE

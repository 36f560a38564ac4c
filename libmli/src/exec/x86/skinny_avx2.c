/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Transposes with a side of less than 16 bytes, with AVX2. Columns that are far apart, and rows
 * that are not packed, are copied through a buffer that is packed.
 */
#include "libmli/src/exec/x86/kernels_x86.h"

#if LEVEL_HAS_X86

#include <immintrin.h>

TARGET_BEGIN("avx2,prfchw")

#include "libmli/src/exec/x86/lanes_avx2.h"

enum { SIZES = 3 };

/* Separates pixels of a few channels into planes: transposes with few rows and many columns. */

enum { FOLDS = 3 };

/* Moves 32 bytes of each row, `tiles` times. */
typedef void tiles_kernel(uint32_t size_log, uint8_t *dst, size_t dst_step, const uint8_t *src,
                          size_t src_step, size_t rows, size_t tiles);

/*
 * fold[i][j] shuffles a lane that has columns of 2^j elements of 2^i bytes: it brings the elements
 * of each row together.
 */
static uint8_t fold[SIZES][FOLDS][LANE];

/*
 * pairs[rows] is, for two columns of 5 to 8 bytes, the shuffle that joins the two bytes of each
 * row.
 */
static uint8_t pairs[9][LANE];

/*
 * Three lanes have columns of three elements of 2^i bytes. part_three[i][row][k] shuffles lane k:
 * it brings the elements of this row to their places.
 */
static uint8_t part_three[SIZES][3][3][LANE];

static void init_size(uint32_t i)
{
    const uint32_t size = 1u << i;

    for (uint32_t b = 0; b < LANE; b++) {
        const uint32_t element = b / size, in_element = b % size;

        for (uint32_t j = 1; j < FOLDS && size << j <= LANE; j++) {
            const uint32_t cols = (uint32_t)LANE / (size << j);

            fold[i][j][b] =
                (uint8_t)((element % cols << j) * size + element / cols * size + in_element);
        }
        for (uint32_t row = 0; row < 3; row++) {
            const uint32_t from = (element * 3 + row) * size + in_element;

            for (uint32_t k = 0; k < 3; k++)
                part_three[i][row][k][b] = (uint8_t)(from / LANE == k ? from % LANE : 0x80);
        }
    }
}

static void narrow_init(void)
{
    for (uint32_t i = 0; i < SIZES; i++)
        init_size(i);
    for (uint32_t rows = 5; rows <= 8; rows++)
        for (uint32_t b = 0; b < LANE; b++)
            pairs[rows][b] = (uint8_t)(b / 2 < rows ? b % 2 * rows + b / 2 : 0x80);
}

/*
 * Loads the shuffles for packed columns of 2 to 4 elements. Call it before a loop: the compiler
 * cannot know that stores leave the tables alone.
 */
ALWAYS_INLINE void load_orders(size_t rows, uint32_t size_log, __m256i order[9])
{
    if (rows == 3)
        _Pragma("GCC unroll 9") for (size_t i = 0; i < 9; i++) order[i] =
            both_lanes(part_three[size_log][i / 3][i % 3]);
    else
        order[0] = both_lanes(fold[size_log][rows / 2]);
}

/* Separates packed columns of three elements into rows. Of each row x[r], the low lane comes from
 * the columns at `low`, the high lane from those at `high`. */
ALWAYS_INLINE void separate_3(const __m256i order[9], const uint8_t *low, const uint8_t *high,
                              __m256i x[4])
{
    const __m256i a = load_2(low, high), b = load_2(low + LANE, high + LANE),
                  c = load_2(low + 2 * LANE, high + 2 * LANE);

    _Pragma("GCC unroll 3") for (size_t r = 0; r < 3; r++)
    {
        const __m256i ab = _mm256_or_si256(_mm256_shuffle_epi8(a, order[3 * r]),
                                           _mm256_shuffle_epi8(b, order[3 * r + 1]));

        x[r] = _mm256_or_si256(ab, _mm256_shuffle_epi8(c, order[3 * r + 2]));
    }
}

/*
 * Separates packed columns of 2 to 4 elements. With 2 or 4 elements, collects the parts of each row
 * in a lane, then transposes the parts.
 */
ALWAYS_INLINE void separate(size_t rows, const __m256i order[9], const uint8_t *low,
                            const uint8_t *high, __m256i x[4])
{
    if (rows == 3) {
        separate_3(order, low, high, x);
        return;
    }
    _Pragma("GCC unroll 4") for (size_t k = 0; k < rows; k++) x[k] =
        _mm256_shuffle_epi8(load_2(low + k * LANE, high + k * LANE), order[0]);
    interleave_registers(LANE / rows, rows, x);
}

/* Moves packed columns of 2 to 4 elements. */
ALWAYS_INLINE void narrow_packed(size_t rows, uint32_t size_log, uint8_t *dst, size_t dst_step,
                                 const uint8_t *src, size_t tiles)
{
    const size_t ahead = TUNED(avx2_store_ahead);
    __m256i order[9];

    load_orders(rows, size_log, order);
    for (; tiles > 0; tiles--, src += VEC * rows, dst += VEC) {
        __m256i x[4];

        separate(rows, order, src, src + LANE * rows, x);
        _Pragma("GCC unroll 4") for (size_t r = 0; r < rows; r++)
            store_ahead(dst + r * dst_step, x[r], ahead);
    }
}

/* Moves at least 16, and less than 32, bytes of each row: the first 16 and the last 16. */
ALWAYS_INLINE void short_packed(size_t rows, uint32_t size_log, uint8_t *dst, size_t dst_step,
                                const uint8_t *src, size_t width)
{
    const size_t high = width - LANE;
    __m256i order[9], x[4];

    load_orders(rows, size_log, order);
    separate(rows, order, src, src + high * rows, x);
    _Pragma("GCC unroll 4") for (size_t r = 0; r < rows; r++)
    {
        store_16(dst + r * dst_step, _mm256_castsi256_si128(x[r]));
        store_16(dst + r * dst_step + high, _mm256_extracti128_si256(x[r], 1));
    }
}

typedef void short_kernel(uint32_t size_log, uint8_t *dst, size_t dst_step, const uint8_t *src,
                          size_t width);

#define DEFINE_PACKED(rows)                                                                        \
    static void narrow_##rows(uint32_t size_log, uint8_t *dst, size_t dst_step,                    \
                              const uint8_t *src, size_t src_step, size_t some, size_t tiles)      \
    {                                                                                              \
        (void)src_step;                                                                            \
        (void)some;                                                                                \
        narrow_packed(rows, size_log, dst, dst_step, src, tiles);                                  \
    }                                                                                              \
                                                                                                   \
    static void short_##rows(uint32_t size_log, uint8_t *dst, size_t dst_step, const uint8_t *src, \
                             size_t width)                                                         \
    {                                                                                              \
        short_packed(rows, size_log, dst, dst_step, src, width);                                   \
    }

DEFINE_PACKED(2)
DEFINE_PACKED(3)
DEFINE_PACKED(4)

/*
 * Moves packed columns of 5 to 8 bytes, two in a lane. Reads the bytes after the second column,
 * too.
 */
static void narrow_pairs(uint32_t size_log, uint8_t *dst, size_t dst_step, const uint8_t *src,
                         size_t src_step, size_t rows, size_t tiles)
{
    const size_t ahead = TUNED(avx2_store_ahead);
    const __m256i order = both_lanes(pairs[rows]);

    (void)size_log;
    for (; tiles > 0; tiles--, src += VEC * src_step, dst += VEC) {
        __m256i x[8];

        _Pragma("GCC unroll 8") for (size_t k = 0; k < 8; k++)
        {
            const uint8_t *at = src + k * 2 * src_step;

            x[k] = _mm256_shuffle_epi8(load_2(at, at + LANE * src_step), order);
        }
        interleave_registers(2, 8, x);
        _Pragma("GCC unroll 8") for (size_t r = 0; r < 8; r++)
        {
            if (r < 5 || r < rows)
                store_ahead(dst + r * dst_step, x[r], ahead);
        }
    }
}

/*
 * Moves any columns of at most `most` rows. Reads 16 bytes of each, which may extend past the
 * column.
 */
ALWAYS_INLINE void narrow_any(size_t size, size_t most, uint8_t *dst, size_t dst_step,
                              const uint8_t *src, size_t src_step, size_t rows, size_t tiles)
{
    const size_t cols = LANE / size, ahead = TUNED(avx2_store_ahead);

    for (; tiles > 0; tiles--, src += 2 * cols * src_step, dst += VEC) {
        __m256i x[16];

        _Pragma("GCC unroll 16") for (size_t k = 0; k < cols; k++) x[k] =
            load_2(src + k * src_step, src + (k + cols) * src_step);
        interleave_registers(size, cols, x);
        _Pragma("GCC unroll 16") for (size_t r = 0; r < most; r++)
        {
            if (r <= most / 2 || r < rows)

                store_ahead(dst + r * dst_step, x[r], ahead);
        }
    }
}

#define DEFINE_ANY(size, most)                                                                     \
    static void narrow_##size##_##most(uint32_t size_log, uint8_t *dst, size_t dst_step,           \
                                       const uint8_t *src, size_t src_step, size_t rows,           \
                                       size_t tiles)                                               \
    {                                                                                              \
        (void)size_log;                                                                            \
        narrow_any(size, most, dst, dst_step, src, src_step, rows, tiles);                         \
    }

DEFINE_ANY(1, 2)
DEFINE_ANY(1, 4)
DEFINE_ANY(1, 8)
DEFINE_ANY(1, 16)
DEFINE_ANY(2, 2)
DEFINE_ANY(2, 4)
DEFINE_ANY(2, 8)
DEFINE_ANY(4, 2)
DEFINE_ANY(4, 4)

/* The last columns: 16 bytes of a column may extend past the end of the source. */
struct edge {
    uint8_t *dst;
    size_t dst_step;
    const uint8_t *src, *last; /* start of the last 16 bytes */
    size_t src_step, rows, cols;
};

ALWAYS_INLINE __m128i load_edge(const struct edge *e, size_t col)
{
    const uint8_t *at = e->src + col * e->src_step;

    return at <= e->last ? load_1(at) : slide(load_1(e->last), (size_t)(at - e->last));
}

/* Moves 16 bytes of each row that begin at column `low`, and 16 bytes that begin at column `high`.
 */
ALWAYS_INLINE void edge_any(size_t size, size_t most, const struct edge *e, size_t low, size_t high)
{
    __m256i x[16];

    _Pragma("GCC unroll 16") for (size_t k = 0; k < 16; k++)
    {
        if (k < LANE / size)
            x[k] = _mm256_set_m128i(load_edge(e, high + k), load_edge(e, low + k));
    }
    interleave_registers(size, LANE / size, x);
    _Pragma("GCC unroll 16") for (size_t r = 0; r < most; r++)
    {
        if (r <= most / 2 || r < e->rows) {
            store_16(e->dst + r * e->dst_step + low * size, _mm256_castsi256_si128(x[r]));
            store_16(e->dst + r * e->dst_step + high * size, _mm256_extracti128_si256(x[r], 1));
        }
    }
}

typedef void edge_kernel(const struct edge *edge, size_t low, size_t high);

#define DEFINE_EDGE(size, most)                                                                    \
    static void edge_##size##_##most(const struct edge *edge, size_t low, size_t high)             \
    {                                                                                              \
        edge_any(size, most, edge, low, high);                                                     \
    }

DEFINE_EDGE(1, 2)
DEFINE_EDGE(1, 4)
DEFINE_EDGE(1, 8)
DEFINE_EDGE(1, 16)
DEFINE_EDGE(2, 2)
DEFINE_EDGE(2, 4)
DEFINE_EDGE(2, 8)
DEFINE_EDGE(4, 2)
DEFINE_EDGE(4, 4)

/*
 * Kernels by the logarithm of the largest number of rows, rounded up; kernels for packed columns by
 * the number of rows.
 */
static tiles_kernel *const any[SIZES][4] = {
    {narrow_1_2, narrow_1_4, narrow_1_8, narrow_1_16},
    {narrow_2_2, narrow_2_4, narrow_2_8, NULL},
    {narrow_4_2, narrow_4_4, NULL, NULL},
};
static edge_kernel *const edges[SIZES][4] = {
    {edge_1_2, edge_1_4, edge_1_8, edge_1_16},
    {edge_2_2, edge_2_4, edge_2_8, NULL},
    {edge_4_2, edge_4_4, NULL, NULL},
};
static tiles_kernel *const packed[] = {[2] = narrow_2, [3] = narrow_3, [4] = narrow_4};
static short_kernel *const shorts[] = {[2] = short_2, [3] = short_3, [4] = short_4};

/*
 * leaf_transpose for elements of 2^size_log bytes: at least 2 rows, less than 16 bytes in a column,
 * at least 16 bytes in a row. Also reads the gaps between columns.
 */
static void narrow(uint32_t size_log, uint8_t *dst, size_t dst_step, const uint8_t *src,
                   size_t src_step, size_t rows, size_t cols)
{
    const size_t lane = (size_t)LANE >> size_log, wide = 2 * lane, col = rows << size_log;
    const size_t most = rows <= 2 ? 0 : rows <= 4 ? 1 : rows <= 8 ? 2 : 3;
    const struct edge edge = {dst,      dst_step, src, src + (cols - 1) * src_step + col - LANE,
                              src_step, rows,     cols};
    const bool is_packed = src_step == col && rows <= 4;
    const bool is_paired = src_step == col && rows <= 8 && size_log == 0;
    tiles_kernel *const kernel = is_packed   ? packed[rows]
                                 : is_paired ? narrow_pairs
                                             : any[size_log][most];
    /* The kernels for packed columns read nothing past the columns. The other kernels read 16 bytes
       of each column, and so also bytes of the next columns. */
    const size_t beyond =
        is_packed ? 0 : (uint32_t)(LANE - col + src_step - 1) / (uint32_t)src_step;
    const size_t tiles = cols > beyond ? (cols - beyond) / wide : 0;
    size_t c = tiles * wide;

    if (is_packed && cols < wide) {
        shorts[rows](size_log, dst, dst_step, src, cols << size_log);
        return;
    }
    if (tiles > 0)
        kernel(size_log, dst, dst_step, src, src_step, rows, tiles);
    if (is_packed && c < cols) { /* the last tile overlaps the one before */
        c = cols - wide;
        kernel(size_log, dst + (c << size_log), dst_step, src + c * src_step, src_step, rows, 1);
        return;
    }
    for (; c < cols; c += wide) {
        const size_t low = c + wide <= cols ? c : cols < wide ? 0 : cols - wide;

        edges[size_log][most](&edge, low, cols < wide ? cols - lane : low + lane);
    }
}

/* Interleaves a few planes into pixels: transposes with many rows and few columns. */

/*
 * join_three[i][k][col] is the shuffle of a lane of column `col` for lane k of the three result
 * lanes.
 */
static uint8_t join_three[SIZES][3][3][LANE];

static void interleave_init(void)
{
    for (uint32_t at = 0; at < SIZES * 3 * LANE; at++) {
        const uint32_t i = at / (3 * LANE), to = at % (3 * LANE), element = to >> i;
        const uint32_t in_element = to & ((1u << i) - 1);

        for (uint32_t col = 0; col < 3; col++)
            join_three[i][to / LANE][col][to % LANE] =
                (uint8_t)(element % 3 == col ? (element / 3 << i) + in_element : 0x80);
    }
}

struct interleave {
    uint32_t size_log;
    uint8_t *dst;
    const uint8_t *src;
    size_t src_step, rows, cols;
};

/*
 * Returns 16 bytes of a column from `low` on, and 16 bytes from `high` on. Except for the last
 * tiles, high is low + 16.
 */
ALWAYS_INLINE __m256i load_column(const struct interleave *w, size_t col, size_t low, size_t high,
                                  bool is_last)
{
    const uint8_t *at = w->src + col * w->src_step;

    return is_last ? load_2(at + low, at + high) : load_32(at + low);
}

ALWAYS_INLINE void tile_3(const struct interleave *w, __m256i order[3][3], size_t low, size_t high,
                          bool is_last)
{
    const __m256i a = load_column(w, 0, low, high, is_last),
                  b = load_column(w, 1, low, high, is_last),
                  c = load_column(w, 2, low, high, is_last);

    _Pragma("GCC unroll 3") for (size_t k = 0; k < 3; k++)
    {
        const __m256i ab = _mm256_or_si256(_mm256_shuffle_epi8(a, order[k][0]),
                                           _mm256_shuffle_epi8(b, order[k][1]));
        const __m256i abc = _mm256_or_si256(ab, _mm256_shuffle_epi8(c, order[k][2]));

        store_16(w->dst + low * 3 + k * LANE, _mm256_castsi256_si128(abc));
        store_16(w->dst + high * 3 + k * LANE, _mm256_extracti128_si256(abc, 1));
    }
}

/*
 * Stores the first `bytes` of a lane, at least 8. If it is not the last tile, may also write the
 * bytes after them.
 */
ALWAYS_INLINE void store_part(uint8_t *at, __m128i v, size_t bytes, bool is_last)
{
    if (!is_last || bytes == LANE) {
        store_16(at, v);
        return;
    }
    _mm_storel_epi64((__m128i *)(void *)at, v);
    _mm_storel_epi64((__m128i *)(void *)(at + bytes - 8), slide(v, bytes - 8));
}

/*
 * Moves up to `most` columns; `most` is a power of two. If there are fewer columns, the missing
 * ones have undefined values. A lane of the result has as many rows of `most` elements as fit. If
 * it has two rows, a shuffle removes the missing columns between them.
 */
ALWAYS_INLINE void tile_any(size_t size, size_t most, const struct interleave *w, size_t low,
                            size_t high, bool is_last)
{
    const size_t room = most * size, row = w->cols * size, part = LANE / room * row;
    const __m256i place = _mm256_setr_epi8(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 0,
                                           1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
    const __m256i push = _mm256_add_epi8(
        place, _mm256_and_si256(_mm256_cmpgt_epi8(place, _mm256_set1_epi8((char)(row - 1))),
                                _mm256_set1_epi8((char)(room - row))));
    uint8_t *to_low = w->dst + low * w->cols, *to_high = w->dst + high * w->cols;
    __m256i x[16];

    _Pragma("GCC unroll 16") for (size_t k = 0; k < most; k++)
    {
        x[k] = x[0];
        if (k <= most / 2 || k < w->cols)
            x[k] = load_column(w, k, low, high, is_last);
    }
    interleave_registers(size, most, x);
    _Pragma("GCC unroll 16") for (size_t k = 0; k < most; k++)
    {
        if (room == 8 && part < LANE)
            x[k] = _mm256_shuffle_epi8(x[k], push);
        store_part(to_low + k * part, _mm256_castsi256_si128(x[k]), part, is_last);
    }
    _Pragma("GCC unroll 16") for (size_t k = 0; k < most; k++)
        store_part(to_high + k * part, _mm256_extracti128_si256(x[k], 1), part, is_last);
}

/*
 * Runs TILE for tiles of 32 bytes of every column, which are two lanes of 16 bytes: at `low` and at
 * `high`. The last tile may overlap the tile before it. If columns have less than 32 bytes, the two
 * lanes of the only tile overlap. All other tiles may write 16 bytes too many, because more rows
 * follow.
 */
#define FOR_TILES(w, TILE, low, high)                                                              \
    {                                                                                              \
        const size_t bytes = (w)->rows << (w)->size_log;                                           \
        size_t at = 0;                                                                             \
                                                                                                   \
        for (size_t low, high; at + VEC + LANE <= bytes; at += VEC) {                              \
            low = at;                                                                              \
            high = at + LANE;                                                                      \
            TILE(false);                                                                           \
        }                                                                                          \
        for (size_t low, high; at < bytes; at += VEC) {                                            \
            low = at + VEC <= bytes ? at : bytes < VEC ? 0 : bytes - VEC;                          \
            high = bytes < VEC ? bytes - LANE : low + LANE;                                        \
            TILE(true);                                                                            \
        }                                                                                          \
    }

typedef void interleave_kernel(const struct interleave *interleave);

static void interleave_3(const struct interleave *interleave)
{
    const struct interleave w = *interleave;
    __m256i order[3][3];

    _Pragma("GCC unroll 9") for (size_t i = 0; i < 9; i++) order[i / 3][i % 3] =
        both_lanes(join_three[w.size_log][i / 3][i % 3]);
#define TILE(is_last) tile_3(&w, order, low, high, is_last)
    FOR_TILES(&w, TILE, low, high)
#undef TILE
}

#define DEFINE_INTERLEAVE(name, size, most, columns)                                               \
    static void interleave_##name(const struct interleave *interleave)                             \
    {                                                                                              \
        const struct interleave w = {interleave->size_log, interleave->dst,  interleave->src,      \
                                     interleave->src_step, interleave->rows, columns};             \
                                                                                                   \
        FOR_TILES(&w, TILE_##size##_##most, low, high)                                             \
    }

#define TILE_1_2(is_last)  tile_any(1, 2, &w, low, high, is_last)
#define TILE_1_4(is_last)  tile_any(1, 4, &w, low, high, is_last)
#define TILE_1_8(is_last)  tile_any(1, 8, &w, low, high, is_last)
#define TILE_1_16(is_last) tile_any(1, 16, &w, low, high, is_last)
#define TILE_2_2(is_last)  tile_any(2, 2, &w, low, high, is_last)
#define TILE_2_4(is_last)  tile_any(2, 4, &w, low, high, is_last)
#define TILE_2_8(is_last)  tile_any(2, 8, &w, low, high, is_last)
#define TILE_4_2(is_last)  tile_any(4, 2, &w, low, high, is_last)

DEFINE_INTERLEAVE(1_2, 1, 2, 2)
DEFINE_INTERLEAVE(1_4, 1, 4, 4)
DEFINE_INTERLEAVE(1_8, 1, 8, 8)
DEFINE_INTERLEAVE(1_to_8, 1, 8, interleave->cols)
DEFINE_INTERLEAVE(1_to_16, 1, 16, interleave->cols)
DEFINE_INTERLEAVE(2_2, 2, 2, 2)
DEFINE_INTERLEAVE(2_4, 2, 4, 4)
DEFINE_INTERLEAVE(2_to_8, 2, 8, interleave->cols)
DEFINE_INTERLEAVE(4_2, 4, 2, 2)

/*
 * A leaf_transpose kernel for elements of 2^size_log bytes and packed rows. There must be at least
 * 2 columns, less than 16 bytes in a row, and at least 16 bytes in a column.
 */
static void interleave(uint32_t size_log, uint8_t *dst, const uint8_t *src, size_t src_step,
                       size_t rows, size_t cols)
{
    static interleave_kernel *const of[SIZES][9] = {
        {NULL, NULL, interleave_1_2, interleave_3, interleave_1_4, interleave_1_to_8,
         interleave_1_to_8, interleave_1_to_8, interleave_1_8},
        {NULL, NULL, interleave_2_2, interleave_3, interleave_2_4, interleave_2_to_8,
         interleave_2_to_8, interleave_2_to_8, NULL},
        {NULL, NULL, interleave_4_2, interleave_3, NULL, NULL, NULL, NULL, NULL},
    };

    (cols > 8 ? interleave_1_to_16
              : of[size_log][cols])(&(struct interleave){size_log, dst, src, src_step, rows, cols});
}

/* Transposes with a side of less than 16 bytes. */

/*
 * Up to this step, the kernels may read the bytes between columns; farther apart there may be
 * inaccessible memory.
 */
enum { STEP_MAX = 256 };

static void copy_rows(uint8_t *dst, size_t dst_step, const uint8_t *src, size_t src_step,
                      size_t run, size_t count)
{
    rows_avx2(&(struct leaf_nest){dst, src, {1, 0, 0}, {count, dst_step, src_step}}, run);
}

enum { BUFFER = 4 * LANE }; /* bytes of the long side in the buffer */

/* Returns how much to move through the buffer next: at least a lane. */
static size_t next_piece(const struct skinny *t, size_t left)
{
    const size_t most = (size_t)BUFFER >> t->size_log, lane = (size_t)LANE >> t->size_log;

    return left <= most ? left : left - most < lane ? left - lane : most;
}

static void narrow_through_buffer(const struct skinny *t)
{
    const size_t col = t->rows << t->size_log;
    uint8_t in[BUFFER * LANE];

    for (size_t c = 0; c < t->cols;) {
        const size_t count = next_piece(t, t->cols - c);

        copy_rows(in, col, t->src + c * t->src_step, t->src_step, col, count);
        narrow(t->size_log, t->dst + (c << t->size_log), t->dst_step, in, col, t->rows, count);
        c += count;
    }
}

static void interleave_through_buffer(const struct skinny *t)
{
    const size_t row = t->cols << t->size_log;
    uint8_t out[BUFFER * LANE];

    for (size_t r = 0; r < t->rows;) {
        const size_t count = next_piece(t, t->rows - r);

        interleave(t->size_log, out, t->src + (r << t->size_log), t->src_step, count, t->cols);
        copy_rows(t->dst + r * t->dst_step, t->dst_step, out, row, row, count);
        r += count;
    }
}

void skinny_avx2(uint32_t size_log, uint8_t *dst, size_t dst_step, const uint8_t *src,
                 size_t src_step, size_t rows, size_t cols)
{
    const struct skinny skinny = {size_log, dst, dst_step, src, src_step, rows, cols};
    const size_t few = (size_t)LANE >> size_log;

    if (rows < few && rows >= 2 && cols >= few && src_step >= rows << size_log) {
        if (src_step <= STEP_MAX)
            narrow(size_log, dst, dst_step, src, src_step, rows, cols);
        else
            narrow_through_buffer(&skinny);
    } else if (cols < few && cols >= 2 && rows >= few) {
        if (dst_step == cols << size_log)
            interleave(size_log, dst, src, src_step, rows, cols);
        else
            interleave_through_buffer(&skinny);
    } else {
        leaf_c.transpose[size_log](dst, dst_step, src, src_step, rows, cols);
    }
}

void skinny_avx2_init(void)
{
    narrow_init();
    interleave_init();
}

TARGET_END

#endif

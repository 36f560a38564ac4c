/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Gathers every s-th element with AVX-512: s loads and one permutation for 64 bytes of results.
 *
 * Load k begins where its wanted elements come to the places k, k + s, k + 2s ... of the register.
 * A blend of the s loads then has a wanted element in every place, and one permutation sorts them.
 * If the loads before load k have S[k] wanted elements together, load k begins at element
 * S[k] * s - k of the source.
 */
#include "libmli/src/exec/x86/kernels_x86.h"

#if LEVEL_HAS_AVX512

#include <immintrin.h>

#include "libmli/src/exec/tuning.h"

TARGET_BEGIN("avx512f,avx512bw,avx512vl,avx512vbmi,bmi2,prfchw")

#include "libmli/src/exec/x86/lanes.h"

enum {
    LINE = 64,
    SPREAD_MAX = 16,
    SIZES = 4,
};

/* The tables for one size of element and one spread: the distance of wanted elements, in elements.
 */
static struct pattern {
    _Alignas(64) uint8_t order[LINE]; /* byte i of the result is byte order[i] of the blend */
    uint64_t places[SPREAD_MAX];      /* places[k]: mask of the bytes of the blend from load k */
    uint16_t begin[SPREAD_MAX];       /* start of load k, in bytes from the first element */

    /* The same for one load of a short row, whose elements keep their places: */
    _Alignas(64) uint8_t order_of_row[LINE];
    uint64_t places_of_row;
} patterns[SIZES][SPREAD_MAX + 1];

static void make_pattern(struct pattern *p, uint32_t size, uint32_t spread)
{
    const uint32_t elements = LINE / size;
    uint32_t element = 0;

    for (uint32_t i = 0; i < LINE; i++)
        p->order_of_row[i] = (uint8_t)((i - i % size) * spread + i % size);
    for (uint32_t i = 0; i < LINE; i += spread * size)
        p->places_of_row |= ((UINT64_C(1) << size) - 1) << i;
    for (uint32_t k = 0; k < spread && k < elements; k++) {
        p->begin[k] = (uint16_t)((element * spread - k) * size);
        for (uint32_t place = k; place < elements; place += spread, element++) {
            for (uint32_t b = 0; b < size; b++) {
                p->order[element * size + b] = (uint8_t)(place * size + b);
                p->places[k] |= UINT64_C(1) << (place * size + b);
            }
        }
    }
}

void gather_avx512_init(void)
{
    for (uint32_t i = 0; i < SIZES; i++)
        for (uint32_t spread = 2; spread <= SPREAD_MAX; spread++)
            make_pattern(&patterns[i][spread], 1u << i, spread);
}

bool gather_avx512_can(uint32_t size_log, size_t step)
{
    const size_t spread = step >> size_log;

    return size_log < SIZES && step % ((size_t)1 << size_log) == 0 && spread >= 2 &&
           spread <= SPREAD_MAX && spread <= (size_t)LINE >> size_log;
}

#define LOAD(at, mask)   _mm512_maskz_loadu_epi8((mask), (const void *)(at))
#define ADD(v, at, mask) _mm512_mask_loadu_epi8((v), (mask), (const void *)(at))
#define STORE(at, v)     _mm512_storeu_si512((void *)(at), (v))
#define UNROLL           _Pragma("GCC unroll 16")

/*
 * Gathers rows of at least a register; the last register overlaps the one before. Only the first
 * load reads bytes between elements, and it ends before the last element of the row.
 */
ALWAYS_INLINE void gather_lines(const struct pattern *p, size_t size, size_t spread,
                                const struct leaf_nest *nest, size_t cols)
{
    const size_t line = LINE / size;
    const __m512i order = _mm512_load_si512((const void *)p->order);
    __mmask64 places[SPREAD_MAX];
    size_t begin[SPREAD_MAX];

    for (size_t k = 1; k < spread; k++) {
        places[k] = _cvtu64_mask64(p->places[k]);
        begin[k] = p->begin[k];
    }
    NEST_FOR_ROWS(nest, to, from, {
        for (size_t c = 0; c < cols; c += line) {
            const size_t col = c + line <= cols ? c : cols - line;
            const uint8_t *at = from + col * spread * size;
            __m512i v = _mm512_loadu_si512((const void *)at);

            for (size_t k = 1; k < spread; k++)
                v = ADD(v, at + begin[k], places[k]);
            STORE(to + col * size, _mm512_permutexvar_epi8(order, v));
        }
    })
}

static void gather_long(const struct pattern *p, size_t size, size_t spread,
                        const struct leaf_nest *nest, size_t cols)
{
    /* For the most common spreads the compiler makes loops with a constant spread. */
    if (spread == 2)
        gather_lines(p, size, 2, nest, cols);
    else if (spread == 3)
        gather_lines(p, size, 3, nest, cols);
    else if (spread == 4)
        gather_lines(p, size, 4, nest, cols);
    else
        gather_lines(p, size, spread, nest, cols);
}

/*
 * Short rows: a register takes one or several rows in a few loads, which are blended and then
 * permuted.
 */
struct scoop {
    _Alignas(LINE) uint8_t order[4 * LINE];
    size_t loads, rows;
    size_t row; /* bytes of one gathered row */
    ptrdiff_t at[SPREAD_MAX];
    uint64_t mask[SPREAD_MAX];
};

/* Gathers one row, with only those loads of the pattern that overlap the row. */
static void scoop_one(struct scoop *scoop, const struct pattern *p, size_t size, size_t spread,
                      size_t cols)
{
    const size_t readable = ((cols - 1) * spread + 1) * size;

    scoop->loads = 0;
    for (size_t k = 0; k < spread && p->begin[k] < readable; k++) {
        const uint64_t mask = p->places[k] & first(readable - p->begin[k]);

        if (mask == 0)
            continue;
        scoop->at[scoop->loads] = p->begin[k];
        scoop->mask[scoop->loads++] = mask;
    }
    scoop->rows = 1;
    scoop->row = cols * size;
    STORE(scoop->order, _mm512_load_si512((const void *)p->order));
}

/*
 * Loads several rows, one load for each, into one register. A block of the register has the
 * interleaved elements of `spread` rows; the next `spread` rows are in the next block.
 */
static void scoop_several(struct scoop *scoop, const struct pattern *p, size_t size, size_t spread,
                          size_t cols, const struct leaf_loop *inner)
{
    const size_t block = cols * spread * size, most = LINE / block * spread;
    const uint64_t mask = p->places_of_row & first(block);
    const __m512i order = _mm512_load_si512((const void *)p->order_of_row);

    scoop->rows = most > 8 ? 8 : most;
    if (scoop->rows > inner->count)
        scoop->rows = inner->count;
    scoop->loads = scoop->rows;
    scoop->row = cols * size;
    STORE(scoop->order, order); /* the compiler does not know that there is at least one row */
    for (size_t i = 0; i < scoop->rows; i++) {
        const size_t place = i / spread * block + i % spread * size;

        scoop->at[i] = (ptrdiff_t)(i * inner->src_step) - (ptrdiff_t)place;
        scoop->mask[i] = mask << place;
        STORE(scoop->order + i * scoop->row, _mm512_add_epi8(order, _mm512_set1_epi8((char)place)));
    }
}

/* Moves the last rows, which are fewer than a register takes. */
static void scoop_rest(const struct scoop *scoop, uint8_t *to, const uint8_t *from, size_t rows)
{
    __m512i v = _mm512_setzero_si512();

    for (size_t i = 0; i < rows; i++)
        v = ADD(v, from + scoop->at[i], scoop->mask[i]);
    v = _mm512_permutexvar_epi8(_mm512_load_si512((const void *)scoop->order), v);
    _mm512_mask_storeu_epi8((void *)to, first(rows * scoop->row), v);
}

/* Moves all rows of a nest. If rows are packed, it stores whole registers as long as they fit. */
ALWAYS_INLINE void scoop_rows(const struct scoop *scoop, const struct leaf_nest *nest, size_t loads)
{
    const struct leaf_loop inner = nest->inner, outer = nest->outer;
    const size_t rows = scoop->rows, row = scoop->row;
    const bool packed = inner.count > 1 && inner.dst_step == row;
    const size_t dst_step = packed ? rows * row : inner.dst_step, src_step = rows * inner.src_step;
    const bool all_packed = nest_is_packed(nest, row);
    const __m512i order = _mm512_load_si512((const void *)scoop->order);
    const __mmask64 exact = _cvtu64_mask64(first(rows * row));
    const uint8_t *end = nest->dst + nest_rows(nest) * row;
    __mmask64 mask[SPREAD_MAX];
    ptrdiff_t at[SPREAD_MAX];

    UNROLL for (size_t k = 0; k < loads; k++)
    {
        mask[k] = _cvtu64_mask64(scoop->mask[k]);
        at[k] = scoop->at[k];
    }
    for (size_t o = 0; o < outer.count; o++) {
        uint8_t *to = nest->dst + o * outer.dst_step;
        const uint8_t *from = nest->src + o * outer.src_step;
        size_t left = inner.count;

        if (!all_packed)
            end = to + (packed ? left * row : 0);
        for (; left >= rows; left -= rows, to += dst_step, from += src_step) {
            __m512i v = LOAD(from + at[0], mask[0]);

            UNROLL for (size_t k = 1; k < loads; k++) v = ADD(v, from + at[k], mask[k]);
            v = _mm512_permutexvar_epi8(order, v);
            if (end - to >= LINE)
                STORE(to, v);
            else
                _mm512_mask_storeu_epi8((void *)to, exact, v);
        }
        if (left > 0)
            scoop_rest(scoop, to, from, left);
    }
}

#define DEFINE_SCOOP(loads)                                                                        \
    static void scoop_##loads(const struct scoop *scoop, const struct leaf_nest *nest)             \
    {                                                                                              \
        scoop_rows(scoop, nest, loads);                                                            \
    }

DEFINE_SCOOP(1)
DEFINE_SCOOP(2)
DEFINE_SCOOP(3)
DEFINE_SCOOP(4)
DEFINE_SCOOP(6)
DEFINE_SCOOP(8)
DEFINE_SCOOP(16)

/* Moves short rows by the loop for this number of loads. If there is none, takes the loop for the
 * next larger number and adds loads of nothing. */
static void gather_short(struct scoop *scoop, const struct leaf_nest *nest)
{
    static void (*const by_loads[])(const struct scoop *, const struct leaf_nest *) = {
        scoop_1, scoop_2, scoop_3, scoop_4, scoop_6, scoop_8, scoop_16};
    static const uint8_t loads[] = {1, 2, 3, 4, 6, 8, 16};
    size_t i = 0;

    while (scoop->loads > loads[i])
        i++;
    for (size_t k = scoop->loads; k < loads[i]; k++) {
        scoop->at[k] = scoop->at[0];
        scoop->mask[k] = 0;
    }
    by_loads[i](scoop, nest);
}

void gather_avx512(uint32_t size_log, const struct leaf_nest *nest, size_t step, size_t cols)
{
    const size_t size = (size_t)1 << size_log, spread = step >> size_log;
    const struct pattern *p = &patterns[size_log][spread];
    struct scoop scoop;

    if (cols >= LINE / size) {
        gather_long(p, size, spread, nest, cols);
        return;
    }
    if (packed_avx512_gather(nest, size, step, cols))
        return;
    if (cols * step <= LINE && nest_rows(nest) >= TUNE_AVX512_SEVERAL_MIN &&
        nest->inner.count > 1 && nest->inner.dst_step == cols * size)
        scoop_several(&scoop, p, size, spread, cols, &nest->inner);
    else
        scoop_one(&scoop, p, size, spread, cols);
    gather_short(&scoop, nest);
}

TARGET_END

#endif

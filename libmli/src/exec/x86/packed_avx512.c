/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Rows of at most 64 bytes that follow one another in the destination. A register holds a group of
 * them, as many as it can, and is stored whole: what it has in excess falls where the next group
 * comes. Where rows lie close together in the source too, one load reads several of them.
 */
#include "packed_avx512.h"

#include "../level.h"

#if LEVEL_HAS_X86

#include <immintrin.h>

#include "../nest.h"
#include "target.h"

TARGET_BEGIN("avx512f,avx512bw,avx512vl,avx512vbmi,bmi2,prfchw")

#include "bytes_avx512.h"

enum {
    REGISTER = 64,
    MERGED_MAX = 8,  /* rows, of which each has a load of its own */
    WINDOWS_MAX = 4, /* loads of 64 bytes, one after the other, that a group is permuted from */
    GROUPS_MIN = 8,  /* that are worth the making of permutations */
};

struct packed {
    const struct leaf_nest *nest;
    size_t before, run, width;
    size_t rows; /* of a group */

    /* Where the source is read in windows: bytes of theirs that are, the window's place of each
       byte of a group, and which of the group's bytes are in which window. */
    size_t windows;
    __mmask64 from[WINDOWS_MAX], to[WINDOWS_MAX];
    __m512i place;
};

/* A row's bytes are loaded to where they belong in the group. */
BYTES_INLINE __m512i merge(const struct packed *p, const uint8_t *from, size_t step, size_t rows)
{
    const size_t width = p->width;
    const __mmask64 row = low_bits(p->run) << p->before;
    __m512i v;

    from -= p->before;
    v = load_64_of(row, from);
#define MERGE(i)                                                                                   \
    if (rows > (i))                                                                                \
        v = _mm512_mask_loadu_epi8(v, row << (i)*width, from + (i) * (step - width));
    MERGE(1)
    MERGE(2)
    MERGE(3)
    MERGE(4)
    MERGE(5)
    MERGE(6)
    MERGE(7)
#undef MERGE
    return v;
}

BYTES_INLINE __m512i permute(const struct packed *p, const uint8_t *from, size_t windows)
{
    __m512i v = _mm512_maskz_permutexvar_epi8(p->to[0], p->place, load_64_of(p->from[0], from));

#define PERMUTE(i)                                                                                 \
    if (windows > (i))                                                                             \
        v = _mm512_mask_permutexvar_epi8(v, p->to[i], p->place,                                    \
                                         load_64_of(p->from[i], from + (i)*REGISTER));
    PERMUTE(1)
    PERMUTE(2)
    PERMUTE(3)
#undef PERMUTE
    return v;
}

/*
 * The last group of a stretch of packed rows ends with its last row, and may begin in the group
 * before it. Merged where there are no windows.
 */
BYTES_INLINE void move_groups(const struct packed *packed, size_t rows, size_t windows)
{
    const struct packed p = *packed; /* which the destination is not, for all the compiler knows */
    const struct leaf_nest nest = *p.nest;
    const size_t step = nest.inner.src_step, count = nest.inner.count, bytes = rows * p.width;
    const size_t groups = (count + rows - 1) / rows, last = (count - 1) % rows + 1;
    const __mmask64 group = low_bits(bytes);
    const bool all = nest_is_packed(&nest, p.width);

    for (size_t o = 0; o < nest.outer.count; o++) {
        uint8_t *to = nest.dst + o * nest.outer.dst_step;
        const uint8_t *from = nest.src + o * nest.outer.src_step;
        uint8_t *const end =
            (all ? nest.dst + (nest.outer.count - 1) * nest.outer.dst_step : to) + count * p.width;

        for (size_t left = groups;;) {
            const __m512i v = windows ? permute(&p, from, windows) : merge(&p, from, step, rows);

            fetch_to_write(to + AHEAD);
            if ((size_t)(end - to) >= REGISTER)
                store_64(to, v);
            else
                store_64_of(to, group, v);
            if (--left == 0)
                break;
            to += left > 1 ? bytes : last * p.width;
            from += left > 1 ? rows * step : last * step;
        }
    }
}

/* Chooses how many rows and windows move the most bytes in the least loads and stores. */
static void choose(struct packed *p)
{
    const struct leaf_loop *inner = &p->nest->inner;
    const size_t step = inner->src_step;
    size_t most = REGISTER / p->width;

    if (most > inner->count)
        most = inner->count;
    p->rows = most < MERGED_MAX ? most : MERGED_MAX;
    p->windows = 0;
    if (step == 0 || step >= REGISTER || nest_rows(p->nest) < GROUPS_MIN * most)
        return;
    for (size_t windows = 1, cost = p->rows + 1; windows <= WINDOWS_MAX; windows++) {
        size_t rows;

        if (windows * REGISTER < p->run)
            continue;
        rows = (windows * REGISTER - p->run) / step + 1;
        if (rows > most)
            rows = most;
        if ((windows + 1) * p->rows < cost * rows) {
            cost = windows + 1;
            p->rows = rows;
            p->windows = windows;
        }
    }
}

static void make_windows(struct packed *p)
{
    const __mmask64 run = low_bits(p->run);
    __m512i place = _mm512_setzero_si512();
    uint8_t iota[REGISTER];
    __mmask64 named = 0;

    for (size_t i = 0; i < WINDOWS_MAX; i++)
        p->from[i] = p->to[i] = 0;
    for (size_t i = 0; i < REGISTER; i++)
        iota[i] = (uint8_t)i;
    for (size_t row = 0; row < p->rows; row++) {
        const size_t to = row * p->width + p->before, from = row * p->nest->inner.src_step;
        const size_t window = from / REGISTER, shift = from % REGISTER;

        place = _mm512_mask_add_epi8(place, run << to, load_64(iota),
                                     _mm512_set1_epi8((char)(from - to)));
        named |= run << to;
        p->from[window] |= run << shift;
        if (shift + p->run > REGISTER)
            p->from[window + 1] |= run >> (REGISTER - shift);
    }
    for (size_t i = 0; i < p->windows; i++)
        p->to[i] = _mm512_mask_cmpeq_epi8_mask(
            named, _mm512_and_si512(place, _mm512_set1_epi8((char)((WINDOWS_MAX - 1) << 6))),
            _mm512_set1_epi8((char)(i << 6)));
    p->place = place;
}

bool packed_avx512_can(const struct leaf_nest *nest, size_t row)
{
    return row <= REGISTER && (nest->inner.count == 1 || nest->inner.dst_step == row);
}

void packed_avx512(const struct leaf_nest *nest, const struct leaf_border *border)
{
    struct packed p = {.nest = nest,
                       .before = border->before,
                       .run = border->run,
                       .width = border->before + border->run + border->after};

    choose(&p);
    if (p.windows > 0)
        make_windows(&p);
    switch (p.windows * 16 + (p.windows ? 0 : p.rows)) {
#define CASE(windows, rows, count)                                                                 \
    case (windows)*16 + (rows):                                                                    \
        move_groups(&p, count, windows);                                                           \
        break;
        CASE(0, 1, 1)
        CASE(0, 2, 2)
        CASE(0, 3, 3)
        CASE(0, 4, 4)
        CASE(0, 5, 5)
        CASE(0, 6, 6)
        CASE(0, 7, 7)
        CASE(0, 8, 8)
        CASE(1, 0, p.rows)
        CASE(2, 0, p.rows)
        CASE(3, 0, p.rows)
        CASE(4, 0, p.rows)
#undef CASE
    }
}

TARGET_END

#endif

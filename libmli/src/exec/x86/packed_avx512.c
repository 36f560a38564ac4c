/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Rows of at most 64 bytes, or gathered rows, that follow one another in the destination. A
 * register holds a group of rows and is stored whole: the next group overwrites the bytes in
 * excess. If rows are also close together in the source, one load reads several of them.
 */
#include "libmli/src/exec/x86/kernels_x86.h"

#if LEVEL_HAS_AVX512

#include <immintrin.h>

#include "libmli/src/exec/tuning.h"

TARGET_BEGIN("avx512f,avx512bw,avx512vl,avx512vbmi,bmi2,prfchw")

#include "libmli/src/exec/x86/bytes_avx512.h"

enum {
    REGISTER = 64,
    MERGED_MAX = 8,  /* maximum rows that are moved together, if each row is a load of its own */
    WINDOWS_MAX = 4, /* maximum loads of 64 consecutive bytes for rows that are permuted together */
};

struct packed {
    uint8_t *dst, *end; /* start of the destination; end of all rows, or of the current stretch */
    const uint8_t *src;
    struct leaf_loop outer;
    size_t before, run, width, step; /* in bytes: the zeros before a row's source bytes, the source
                                        bytes, the whole row; the step from row to row */
    size_t parts, part, part_step;   /* number, size and step of the elements gathered from a run */
    size_t rows;                     /* number of rows of a group */
    size_t groups, stretch;          /* groups and bytes in one iteration of the outer loop */
    bool gaps;                       /* true: there are gaps between rows of the source */
    bool all;                        /* true: there is no gap in the destination */
    size_t bytes, stride;            /* steps to the next group, in destination and source */
    size_t last_bytes, last_stride;  /* the same for the step to the last group */

    /* A group can be loaded in windows of 64 consecutive bytes. from[w]: mask of the bytes to load
       of window w. to[w]: mask of the bytes of the group that come from window w. place: for each
       byte of the group, its place in the window. */
    size_t windows;
    __mmask64 from[WINDOWS_MAX], to[WINDOWS_MAX];
    __m512i place;
};

/* Loads each row of a group to its place in the register. */
BYTES_INLINE __m512i merge(const struct packed *p, const uint8_t *from, size_t step, size_t rows)
{
    const size_t width = p->width;
    const ptrdiff_t apart = (ptrdiff_t)step - (ptrdiff_t)width; /* distance of loads in bytes */
    const __mmask64 row = low_bits(p->run) << p->before;
    __m512i v;

    from -= p->before;
    v = load_64_of(row, from);
#define MERGE(i)                                                                                   \
    if (rows > (i))                                                                                \
        v = _mm512_mask_loadu_epi8(v, row << (i)*width, from + (i)*apart);
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

/* Loads one row that fits in a part of a register. */
BYTES_INLINE __m512i load_piece(const struct packed *p, const uint8_t *from, size_t piece)
{
    const __mmask64 row = low_bits(p->run) << p->before;

    from -= p->before;
    return piece == 16 ? _mm512_castsi128_si512(load_16_of((__mmask16)row, from))
                       : _mm512_castsi256_si512(load_32_of((__mmask32)row, from));
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

/* Prefetches the source of a group; `from` is its start. */
BYTES_INLINE void fetch_group(const struct packed *p, const uint8_t *from, size_t step, size_t rows,
                              size_t windows)
{
    for (size_t i = 0; i < windows; i++)
        fetch_to_read(from + i * REGISTER);
    if (windows == 0) {
        for (size_t i = 0; i < rows; i++)
            fetch_to_read(from + i * step);
        if (rows == 1)
            fetch_to_read(from + p->run - 1);
    }
}

/*
 * Moves all groups of rows, and stores `piece` bytes of a register for each. The last group of an
 * iteration of the outer loop ends with its last row, and may overlap the group before. If
 * `windows` is 0, each row of a group is a load of its own.
 */
BYTES_INLINE void move_groups(const struct packed *packed, size_t rows, size_t windows,
                              size_t piece)
{
    const struct packed p = *packed; /* a copy, because the compiler assumes that stores to the
                                        destination may change *packed */
    const size_t step = p.step, stride = p.stride, last_stride = p.last_stride;
    const size_t bytes = p.bytes, last_bytes = p.last_bytes;
    const size_t store_ahead = TUNED(avx512_store_ahead);
    const __mmask64 group = low_bits(rows * p.width);
    uint8_t *end = p.end;

    for (size_t o = 0; o < p.outer.count; o++) {
        uint8_t *to = p.dst + o * p.outer.dst_step;
        const uint8_t *from = p.src + o * p.outer.src_step, *next = from + p.outer.src_step;
        const uint8_t *ahead =
            p.groups > TUNE_AVX512_GROUPS_AHEAD ? from + TUNE_AVX512_GROUPS_AHEAD * stride : next;
        size_t left_ahead =
            p.groups > TUNE_AVX512_GROUPS_AHEAD ? p.groups - TUNE_AVX512_GROUPS_AHEAD : p.groups;

        if (!p.all)
            end = to + p.stretch;
        for (size_t left = p.groups;;) {
            const __m512i v = windows            ? permute(&p, from, windows)
                              : piece < REGISTER ? load_piece(&p, from, piece)
                                                 : merge(&p, from, step, rows);

            if (p.gaps)
                fetch_group(&p, ahead, step, rows, windows);
            ahead += stride;
            if (--left_ahead == 0) {
                ahead = next;
                left_ahead = p.groups;
            }
            fetch_to_write(to + store_ahead);
            if ((size_t)(end - to) < piece)
                store_64_of(to, group, v);
            else if (piece == 16)
                store_16(to, _mm512_castsi512_si128(v));
            else if (piece == 32)
                store_32(to, _mm512_castsi512_si256(v));
            else
                store_64(to, v);
            if (--left == 0)
                break;
            to += left > 1 ? bytes : last_bytes;
            from += left > 1 ? stride : last_stride;
        }
    }
}

static void move_permuted(const struct packed *p)
{
    switch (p->windows) {
#define CASE(windows)                                                                              \
    case windows:                                                                                  \
        move_groups(p, p->rows, windows, REGISTER);                                                \
        break;
        CASE(1)
        CASE(2)
        CASE(3)
        CASE(4)
#undef CASE
    }
}

static void move_merged(const struct packed *p)
{
    switch (p->rows) {
#define CASE(rows)                                                                                 \
    case rows:                                                                                     \
        move_groups(p, rows, 0, REGISTER);                                                         \
        break;
        CASE(1)
        CASE(2)
        CASE(3)
        CASE(4)
        CASE(5)
        CASE(6)
        CASE(7)
        CASE(8)
#undef CASE
    }
}

/* Sets the places of groups that have all rows of several iterations of the outer loop. */
static void lay_out_outers(struct packed *p, const struct leaf_nest *nest, size_t outers)
{
    const size_t count = nest->outer.count, last = (count - 1) % outers + 1;
    const size_t bytes = nest->inner.count * p->width, step = nest->outer.src_step;

    p->gaps = true;
    p->dst = nest->dst;
    p->src = nest->src;
    p->outer = (struct leaf_loop){1, 0, 0};
    p->groups = (count + outers - 1) / outers;
    p->all = true;
    p->end = nest->dst + count * bytes;
    p->bytes = outers * bytes;
    p->last_bytes = last * bytes;
    p->stride = outers * step;
    p->last_stride = last * step;
}

/* Computes the sizes and steps of the groups of rows; p->rows is the number of rows in a group. */
static void lay_out(struct packed *p, const struct leaf_nest *nest)
{
    const size_t count = nest->inner.count, last = (count - 1) % p->rows + 1;

    p->gaps = p->step != p->run;
    p->dst = nest->dst;
    p->src = nest->src;
    p->outer = nest->outer;
    p->groups = (count + p->rows - 1) / p->rows;
    p->stretch = count * p->width;
    p->all = nest_is_packed(nest, p->width);
    p->end = nest->dst + (nest->outer.count - 1) * nest->outer.dst_step + p->stretch;
    p->bytes = p->rows * p->width;
    p->last_bytes = last * p->width;
    p->stride = p->rows * p->step;
    p->last_stride = last * p->step;
    if (p->groups == 1 && p->all) { /* make each iteration of the outer loop a group */
        p->groups = nest->outer.count;
        p->last_bytes = p->bytes;
        p->stride = p->last_stride = nest->outer.src_step;
        p->outer = (struct leaf_loop){1, 0, 0};
    }
}

/*
 * Chooses the numbers of rows and windows that move the most bytes with the fewest loads and
 * stores.
 */
static void choose(struct packed *p, const struct leaf_nest *nest)
{
    const size_t step = p->step;
    size_t most = REGISTER / p->width;

    if (most > nest->inner.count)
        most = nest->inner.count;
    if (most == 0) /* no row is wider than a register, and no nest is empty */
        most = 1;
    p->rows = most < MERGED_MAX ? most : MERGED_MAX;
    p->windows = 0;
    if (step == 0 || step >= REGISTER || nest_rows(nest) < TUNE_AVX512_GROUPS_MIN * most)
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

/*
 * Returns how many iterations of the outer loop one group can have: as many as fit in a register
 * and can be loaded in WINDOWS_MAX windows. Returns 0 if one iteration in a group is better.
 */
static size_t choose_outers(struct packed *p, const struct leaf_nest *nest)
{
    const size_t bytes = nest->inner.count * p->width, step = nest->outer.src_step;
    const size_t span = (nest->inner.count - 1) * p->step + p->run;
    size_t outers;

    if (bytes == 0 || nest->outer.count < TUNE_AVX512_GROUPS_MIN || 2 * bytes > REGISTER ||
        !nest_is_packed(nest, p->width) || step == 0 || step + span > WINDOWS_MAX * REGISTER)
        return 0;
    outers = (WINDOWS_MAX * REGISTER - span) / step + 1;
    if (outers > REGISTER / bytes)
        outers = REGISTER / bytes;
    if (outers > nest->outer.count)
        outers = nest->outer.count;
    p->rows = outers * nest->inner.count;
    p->windows = ((outers - 1) * step + span + REGISTER - 1) / REGISTER;
    return outers;
}

static void make_windows(struct packed *p, const struct leaf_nest *nest)
{
    const __mmask64 part = low_bits(p->part);
    __m512i place = _mm512_setzero_si512();
    uint8_t iota[REGISTER];
    size_t outer = 0, inner = 0;
    __mmask64 named = 0;

    for (size_t i = 0; i < WINDOWS_MAX; i++)
        p->from[i] = p->to[i] = 0;
    for (size_t i = 0; i < REGISTER; i++)
        iota[i] = (uint8_t)i;
    for (size_t i = 0; i < p->rows * p->parts; i++) {
        const size_t k = i % p->parts;
        const size_t to = i / p->parts * p->width + p->before + k * p->part;
        const size_t from = outer * nest->outer.src_step + inner * p->step + k * p->part_step;
        const size_t window = from / REGISTER, shift = from % REGISTER;

        place = _mm512_mask_add_epi8(place, part << to, load_64(iota),
                                     _mm512_set1_epi8((char)(from - to)));
        named |= part << to;
        p->from[window] |= part << shift;
        if (shift + p->part > REGISTER)
            p->from[window + 1] |= part >> (REGISTER - shift);
        if (k + 1 == p->parts && ++inner == nest->inner.count) {
            outer++;
            inner = 0;
        }
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

/*
 * Moves groups of rows by permutations. If `outers` is not 0, a group has the rows of `outers`
 * iterations of the outer loop.
 */
static void move_windows(struct packed *p, const struct leaf_nest *nest, size_t outers)
{
    make_windows(p, nest);
    if (outers > 0)
        lay_out_outers(p, nest, outers);
    else
        lay_out(p, nest);
    move_permuted(p);
}

void packed_avx512(const struct leaf_nest *nest, const struct leaf_border *border)
{
    struct packed p = {.before = border->before,
                       .run = border->run,
                       .width = border->before + border->run + border->after,
                       .step = nest->inner.count > 1 ? nest->inner.src_step : 0,
                       .parts = 1,
                       .part = border->run};
    size_t outers;

    choose(&p, nest);
    outers = choose_outers(&p, nest);
    if (p.windows > 0) {
        move_windows(&p, nest, outers);
    } else if (p.width <= 32 && p.step >= TUNE_AVX512_PACKED_FAR) {
        p.rows = 1;
        lay_out(&p, nest);
        if (p.width <= 16)
            move_groups(&p, 1, 0, 16);
        else
            move_groups(&p, 1, 0, 32);
    } else {
        lay_out(&p, nest);
        move_merged(&p);
    }
}

bool packed_avx512_gather(const struct leaf_nest *nest, size_t elem, size_t step, size_t cols)
{
    struct packed p = {.run = (cols - 1) * step + elem,
                       .width = cols * elem,
                       .step = nest->inner.count > 1 ? nest->inner.src_step : 0,
                       .parts = cols,
                       .part = elem,
                       .part_step = step};
    size_t outers;

    if (!packed_avx512_can(nest, p.width))
        return false;
    outers = choose_outers(&p, nest);
    if (outers < 2) {
        outers = 0;
        choose(&p, nest);
        /* If windows do not save at least half of the loads, gather_avx512.c is faster. */
        if (p.windows == 0 || 2 * p.windows > p.rows)
            return false;
    }
    move_windows(&p, nest, outers);
    return true;
}

TARGET_END

#endif

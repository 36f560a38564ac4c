/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Rows, with and without zeros around them, and streams, in whole registers. The last register of a
 * row overlaps the one before.
 */
#include "libmli/src/exec/x86/kernels_x86.h"

#if LEVEL_HAS_AVX512

#include <immintrin.h>

#include "libmli/src/builtins.h"
#include "libmli/src/exec/tuning.h"

TARGET_BEGIN("avx512f,avx512bw,avx512vl,avx512vbmi,bmi2,prfchw")

#include "libmli/src/exec/x86/bytes_avx512.h"

enum { REGISTER = 64 };

/* Returns the nest with its only loop as the inner loop. */
static struct leaf_nest with_inner(const struct leaf_nest *nest)
{
    if (nest->inner.count > 1)
        return *nest;
    return (struct leaf_nest){nest->dst, nest->src, {1, 0, 0}, nest->outer, 0};
}

/*
 * Returns how many bytes ahead to prefetch: source rows if nest->ahead is not 0, else destination
 * rows.
 */
static size_t next_row(const struct leaf_nest *nest, size_t row)
{
    const size_t step = nest->inner.count > 1 ? nest->inner.dst_step : row;

    if (nest->ahead > 0)
        return nest->ahead;
    return (TUNED(avx512_store_ahead) / step + 1) * step;
}

/* Returns whether a nest is too small for groups of rows. */
static bool is_small(const struct leaf_nest *nest, size_t row)
{
    const size_t rows = nest_rows(nest);

    return rows * row <= TUNE_AVX512_SMALL_BYTES && (row >= 16 || rows <= TUNE_AVX512_SMALL_ROWS);
}

/* Prefetches the line at distance `next`, in the source or in the destination. */
BYTES_INLINE void fetch(const uint8_t *to, const uint8_t *from, size_t next, bool of_source)
{
    if (of_source)
        fetch_far(from + next);
    else
        fetch_to_write(to + next);
}

/*
 * Copies a row by way of `registers` registers. 0 stands for the number that the row needs.
 * Meanwhile prefetches the row that is `next` bytes further.
 */
BYTES_INLINE void copy_row(uint8_t *to, const uint8_t *from, size_t run, size_t next,
                           bool of_source, size_t registers)
{
    const size_t last_at = registers > 0 ? (registers - 1) * REGISTER : run - REGISTER;

    for (size_t i = 0; i < last_at; i += REGISTER) {
        fetch(to + i, from + i, next, of_source);
        store_64(to + i, load_64(from + i));
    }
    fetch(to + last_at, from + last_at, next, of_source);
    fetch(to + run - 1, from + run - 1, next, of_source);
    store_64(to + run - REGISTER, load_64(from + run - REGISTER));
}

/* Moves rows of one piece. */
#define ROWS_WHOLE(LOAD, STORE)                                                                    \
    NEST_FOR_ROWS(nest, to, from, {                                                                \
        fetch(to, from, next, of_source);                                                          \
        STORE(to, LOAD(from));                                                                     \
    })

/* Moves rows in two overlapping pieces. */
#define ROWS_IN_PIECES(type, LOAD, STORE)                                                          \
    {                                                                                              \
        const size_t tail_at = run - sizeof(type);                                                 \
                                                                                                   \
        NEST_FOR_ROWS(nest, to, from, {                                                            \
            const type head = LOAD(from), tail = LOAD(from + tail_at);                             \
                                                                                                   \
            fetch(to, from, next, of_source);                                                      \
            fetch(to + run - 1, from + run - 1, next, of_source);                                  \
            STORE(to, head);                                                                       \
            STORE(to + tail_at, tail);                                                             \
        })                                                                                         \
    }

BYTES_INLINE void rows_apart(const struct leaf_nest *all, size_t run, bool of_source)
{
    const struct leaf_nest copy = *all, *nest = &copy; /* the compiler knows: no store changes it */
    const size_t next = next_row(all, run), ahead = TUNED(avx512_store_ahead);

    if (of_source && run < TUNE_AVX512_FETCH_ROW)
        NEST_FOR_ROWS(nest, to, from, {
            (void)to;
            fetch_far(from + next);
            fetch_far(from + next + run - 1);
        })
    if (run < TUNE_AVX512_FETCH_ROW || run >= TUNE_AVX512_CALL_MIN)
        rows_c(all, run);
    else if (run == 16)
        ROWS_WHOLE(load_16, store_16)
    else if (run == 32)
        ROWS_WHOLE(load_32, store_32)
    else if (run < 32)
        ROWS_IN_PIECES(__m128i, load_16, store_16)
    else if (run <= REGISTER)
        ROWS_IN_PIECES(__m256i, load_32, store_32)
    else if (run <= 128)
        NEST_FOR_ROWS(nest, to, from, { copy_row(to, from, run, next, of_source, 2); })
    else if (run <= 192)
        NEST_FOR_ROWS(nest, to, from, { copy_row(to, from, run, next, of_source, 3); })
    else if (run <= 256)
        NEST_FOR_ROWS(nest, to, from, { copy_row(to, from, run, next, of_source, 4); })
    else
        NEST_FOR_ROWS(nest, to, from,
                      { copy_row(to, from, run, of_source ? next : ahead, of_source, 0); })
}

/* Moves rows of a source that is not in the caches. */
static void rows_far(const struct leaf_nest *nest, size_t run)
{
    rows_apart(nest, run, true);
}

static void rows_near(const struct leaf_nest *nest, size_t run)
{
    rows_apart(nest, run, false);
}

void rows_avx512(const struct leaf_nest *nest, size_t run)
{
    /* Test `ahead` before the nest is copied: a copy of a nest that was just written waits for the
       stores before it, which may be streaming stores. */
    if (nest->ahead > 0) {
        rows_far(nest, run);
        return;
    }

    const struct leaf_nest rows = with_inner(nest);
    const bool whole = run == 32 || (run == 16 && rows.inner.src_step >= REGISTER);
    const bool pays =
        run > REGISTER / 2 ? !is_small(nest, run) : rows.inner.src_step < TUNE_AVX512_ROW_FAR;

    if (run <= REGISTER / 2 && is_small(nest, run))
        rows_c(nest, run);
    else if (!whole && pays && packed_avx512_can(&rows, run))
        packed_avx512(&rows, &(struct leaf_border){0, run, 0});
    else
        rows_near(&rows, run);
}

/* Returns a mask of the bytes from the source, in the register at `at` of a row. */
static __mmask64 source_bytes(const struct leaf_border *border, size_t at)
{
    const size_t begin = border->before, end = begin + border->run;
    const __mmask64 until = end > at ? low_bits(end - at < REGISTER ? end - at : REGISTER) : 0;

    return begin > at ? until & ~low_bits(begin - at < REGISTER ? begin - at : REGISTER) : until;
}

/*
 * Moves rows of up to 64 bytes, in two overlapping pieces. LOAD sets bytes outside its mask to
 * zero.
 */
#define BORDERED_IN_PIECES(piece, LOAD, STORE)                                                     \
    {                                                                                              \
        const size_t tail_at = width - (piece);                                                    \
        const __mmask64 head = low_bits(piece) & source_bytes(border, 0),                          \
                        tail = low_bits(piece) & source_bytes(border, tail_at);                    \
                                                                                                   \
        NEST_FOR_ROWS(nest, to, at, {                                                              \
            const uint8_t *from = at - border->before;                                             \
                                                                                                   \
            STORE(to, LOAD(head, from));                                                           \
            STORE(to + tail_at, LOAD(tail, from + tail_at));                                       \
        })                                                                                         \
    }

#define STORE_LOW(piece, to, v)                                                                    \
    {                                                                                              \
        const int64_t low = _mm_cvtsi128_si64(v);                                                  \
        copy_bytes((to), &low, (piece));                                                           \
    }
#define STORE_8(to, v)      STORE_LOW(8, to, v)
#define STORE_4(to, v)      STORE_LOW(4, to, v)
#define STORE_2(to, v)      STORE_LOW(2, to, v)
#define LOAD_16(mask, from) load_16_of((__mmask16)(mask), from)
#define LOAD_32(mask, from) load_32_of((__mmask32)(mask), from)

static void bordered_short(const struct leaf_nest *nest, const struct leaf_border *border,
                           size_t width)
{
    if (width >= 32)
        BORDERED_IN_PIECES(32, LOAD_32, store_32)
    else if (width >= 16)
        BORDERED_IN_PIECES(16, LOAD_16, store_16)
    else if (width >= 8)
        BORDERED_IN_PIECES(8, LOAD_16, STORE_8)
    else if (width >= 4)
        BORDERED_IN_PIECES(4, LOAD_16, STORE_4)
    else
        BORDERED_IN_PIECES(2, LOAD_16, STORE_2)
}

/* Moves rows of 65 .. 256 bytes: each register has a mask. */
BYTES_INLINE void bordered_masked(const struct leaf_nest *nest, const struct leaf_border *border,
                                  size_t registers)
{
    const size_t width = border->before + border->run + border->after;
    const size_t last_at = width - REGISTER, next = next_row(nest, width);
    const __mmask64 first = source_bytes(border, 0), second = source_bytes(border, REGISTER),
                    third = source_bytes(border, 2 * REGISTER),
                    last = source_bytes(border, last_at);

    NEST_FOR_ROWS(nest, to, at, {
        const uint8_t *from = at - border->before;

        for (size_t i = 0; i < registers; i++)
            fetch_to_write(to + next + i * REGISTER);
        fetch_to_write(to + next + width - 1);
        store_64(to, load_64_of(first, from));
        if (registers > 2)
            store_64(to + REGISTER, load_64_of(second, from + REGISTER));
        if (registers > 3)
            store_64(to + 2 * REGISTER, load_64_of(third, from + 2 * REGISTER));
        store_64(to + last_at, load_64_of(last, from + last_at));
    })
}

/* Moves longer rows. Registers that have no zeros, only bytes of the source, need no mask. */
static void bordered_long(const struct leaf_nest *nest, const struct leaf_border *border)
{
    const size_t before = border->before, end = before + border->run;
    const size_t last_at = end + border->after - REGISTER;
    const size_t fit = end < REGISTER ? 0 : end - REGISTER + 1;
    const size_t full_end = fit < last_at ? fit : last_at;
    const __mmask64 head = source_bytes(border, before / REGISTER * REGISTER),
                    tail = source_bytes(border, end / REGISTER * REGISTER),
                    last = source_bytes(border, last_at);
    const __m512i zero = _mm512_setzero_si512();
    const size_t ahead = TUNED(avx512_store_ahead);

    NEST_FOR_ROWS(nest, to, first, {
        const uint8_t *from = first - before;
        size_t i = 0;

        for (; i + REGISTER <= before; i += REGISTER)
            store_64(to + i, zero);
        if (i < before && i < last_at) {
            fetch_to_write(to + i + ahead);
            store_64(to + i, load_64_of(head, from + i));
            i += REGISTER;
        }
        for (; i < full_end; i += REGISTER) {
            fetch_to_write(to + i + ahead);
            store_64(to + i, load_64(from + i));
        }
        if (i < end && i < last_at) {
            fetch_to_write(to + i + ahead);
            store_64(to + i, load_64_of(tail, from + i));
            i += REGISTER;
        }
        for (; i < last_at; i += REGISTER)
            store_64(to + i, zero);
        fetch_to_write(to + last_at + ahead);
        store_64(to + last_at, load_64_of(last, from + last_at));
    })
}

void bordered_avx512(const struct leaf_nest *nest, const struct leaf_border *border)
{
    const size_t width = border->before + border->run + border->after;
    const struct leaf_nest rows = with_inner(nest);

    if (width == 1)
        bordered_c(&rows, border);
    else if (packed_avx512_can(&rows, width) && !is_small(nest, width))
        packed_avx512(&rows, border);
    else if (width <= REGISTER)
        bordered_short(&rows, border, width);
    else if (width <= 2 * REGISTER)
        bordered_masked(&rows, border, 2);
    else if (width <= 3 * REGISTER)
        bordered_masked(&rows, border, 3);
    else if (width <= 4 * REGISTER)
        bordered_masked(&rows, border, 4);
    else
        bordered_long(&rows, border);
}

/* Zeros, and copies with stores that bypass the caches. */

enum {
    LINE = 64,
    PAGE = 4096,
    PAGES_MIN = 4 * TUNE_AVX512_STREAM_PAGES * PAGE,
};

void fill_avx512(uint8_t *dst, size_t step, size_t run, size_t count)
{
    const __m512i zero = _mm512_setzero_si512();

    if (count == 1 || step == run) {
        run *= count;
        count = 1;
    }
    if (run <= 2 * LINE || run >= TUNE_AVX512_FILL_CALL_MIN) {
        fill_c(dst, step, run, count);
        return;
    }
    for (size_t i = 0; i < count; i++, dst += step) {
        for (size_t at = 0; at < run - LINE; at += LINE)
            store_64(dst + at, zero);
        store_64(dst + run - LINE, zero);
    }
}

BYTES_INLINE void stream_line(uint8_t *to, const uint8_t *from)
{
    _mm512_stream_si512((void *)to, load_64(from));
}

static void copy_part(uint8_t *to, const uint8_t *from, size_t bytes)
{
    const __mmask64 mask = low_bits(bytes);

    store_64_of(to, mask, load_64_of(mask, from));
}

/* Streams several pages alternately, line by line: memory is faster with several streams. */
static void stream_pages(uint8_t *dst, const uint8_t *src)
{
    const size_t ahead = TUNED(avx512_stream_ahead);

    for (size_t i = 0; i < PAGE; i += LINE) {
        for (size_t lane = 0; lane < TUNE_AVX512_STREAM_PAGES * PAGE; lane += PAGE) {
            fetch_to_read(src + lane + i + ahead);
            stream_line(dst + lane + i, src + lane + i);
        }
    }
}

void stream_avx512(uint8_t *dst, const uint8_t *src, size_t bytes)
{
    const size_t to_line = -(uintptr_t)dst % LINE, head = to_line < bytes ? to_line : bytes;
    size_t at = head;

    if (head > 0)
        copy_part(dst, src, head);
    if (bytes >= PAGES_MIN) {
        for (; bytes - at >= TUNE_AVX512_STREAM_PAGES * PAGE; at += TUNE_AVX512_STREAM_PAGES * PAGE)
            stream_pages(dst + at, src + at);
    }
    for (; bytes - at >= LINE; at += LINE)
        stream_line(dst + at, src + at);
    if (at < bytes)
        copy_part(dst + at, src + at, bytes - at);
}

TARGET_END

#endif

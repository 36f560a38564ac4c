/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Pixels of S elements to S planes ("unzip"), and back ("zip"), with AVX-512, for small S.
 *
 * A chunk is S lines of n = 64 / size elements, which are n pixels; element p of line k belongs to
 * plane (k * n + p) mod S. If S is odd, no two lines have elements of one plane at the same place:
 * for each plane the lines are blended, under masks of every S-th place, and one permutation puts
 * the blend in order. If S and n have a common divisor g, that holds for S / g consecutive lines
 * only, and the next S / g lines repeat their places. The elements of each group of g are therefore
 * rotated by one more place in each repetition; then all places differ again. zip does the same
 * backwards.
 *
 * The kernels take the lines in another order than that of addresses: if the first element of a
 * line belongs to plane q, the first element of the next line belongs to plane q + g. So a kernel
 * depends on S, but not on the size of an element.
 */
#include "libmli/src/exec/x86/kernels_x86.h"

#if LEVEL_HAS_AVX512

#include <immintrin.h>

#include "libmli/src/exec/tuning.h"

TARGET_BEGIN("avx512f,avx512bw,avx512vl,avx512vbmi,bmi2,prfchw")

#include "libmli/src/exec/x86/lanes.h"

enum { LINE = 64, MOST = 9, SIZES = 4 };

/* The tables for one number S of planes and one size of element. */
static struct network {
    _Alignas(LINE) uint8_t order[MOST][LINE]; /* byte i of a plane is byte order[i] of its blend */
    uint8_t places[MOST][LINE];               /* the inverse of the permutation order[] */
    uint8_t turn[MOST][LINE]; /* turn[i]: permutation that rotates a line by i elements */
    uint64_t mask[MOST];      /* bytes of every S-th element, starting with this element */
    size_t line[MOST];        /* start of each line, in bytes */
} networks[SIZES][MOST + 1];

/* Returns the largest power of two that divides `spread`. */
#define DIVISOR(spread) ((spread) & -(spread))

/* Makes the permutation `table` take its element number `element` from the place number `at`. */
static void set(uint8_t *table, uint32_t element, uint32_t at, uint32_t size)
{
    for (uint32_t b = 0; b < size; b++)
        table[element * size + b] = (uint8_t)(at * size + b);
}

static void make_network(struct network *net, uint32_t size, uint32_t spread)
{
    const uint32_t n = LINE / size, turns = DIVISOR(spread), period = spread / turns;

    for (uint32_t p = 0; p < n; p++) {
        net->mask[p % spread] |= ((UINT64_C(1) << size) - 1) << (p * size);
        for (uint32_t t = 0; t < turns; t++)
            set(net->turn[t], p, p - p % turns + (p + t) % turns, size);
    }
    for (uint32_t k = 0; k < spread; k++) {
        const uint32_t turn = k / period;

        net->line[k * n % spread / turns + turn * period] = (size_t)k * LINE;
        for (uint32_t p = 0; p < n; p++) {
            const uint32_t place = p - p % turns + (p + turns - turn) % turns;
            const uint32_t plane = (k * n + p) % spread, pixel = (k * n + p) / spread;

            set(net->order[plane], pixel, place, size);
            set(net->places[plane], place, pixel, size);
        }
    }
}

void skinny_avx512_init(void)
{
    for (uint32_t i = 0; i < SIZES; i++)
        for (uint32_t spread = 2; spread <= MOST; spread++)
            make_network(&networks[i][spread], 1u << i, spread);
}

#define LOAD(at)        _mm512_loadu_si512((const void *)(at))
#define STORE(at, v)    _mm512_storeu_si512((void *)(at), (v))
#define STREAM(at, v)   _mm512_stream_si512((void *)(at), (v))
#define PERMUTE(v, how) _mm512_permutexvar_epi8(LOAD(how), (v))
#define UNROLL          _Pragma("GCC unroll 16")

/* Returns the index of the mask that selects a plane's elements in the k-th line that kernels take.
 */
ALWAYS_INLINE size_t mask_of(size_t spread, size_t k, size_t plane)
{
    const size_t turns = DIVISOR(spread), period = spread / turns;
    const size_t first = (plane + spread - k % period * turns) % spread;

    return first - first % turns + (first + turns - k / period) % turns;
}

/* Copies masks and starts of lines into local variables: the compiler assumes that stores may
   change the tables. */
#define KEEP_AT_HAND(net, spread)                                                                  \
    __mmask64 mask[MOST];                                                                          \
    size_t line[MOST];                                                                             \
    UNROLL for (size_t k_ = 0; k_ < (spread); k_++)                                                \
    {                                                                                              \
        mask[k_] = _cvtu64_mask64((net)->mask[k_]);                                                \
        line[k_] = (net)->line[k_];                                                                \
    }

struct chunks {
    uint8_t *dst;
    const uint8_t *src;
    size_t step;   /* distance of planes in bytes */
    size_t planes; /* planes to move, at most the spread */
    size_t count;
    uint64_t keep[MOST]; /* keep[i]: mask of the bytes to write of the i-th line of kernels */
};

ALWAYS_INLINE void unzip(const struct network *net, const struct chunks *chunks, size_t spread,
                         bool past_caches)
{
    const size_t period = spread / DIVISOR(spread);
    uint8_t *dst = chunks->dst;
    const uint8_t *src = chunks->src;
    const size_t step = chunks->step, planes = chunks->planes, count = chunks->count;
    const size_t ahead = TUNED(avx512_skinny_ahead);

    KEEP_AT_HAND(net, spread)
    for (size_t i = 0; i < count; i++, dst += LINE, src += spread * LINE) {
        uint8_t *to = dst;
        __m512i x[MOST];

        UNROLL for (size_t k = 0; k < spread; k++) x[k] = LOAD(src + line[k]);
        UNROLL for (size_t k = period; k < spread; k++) x[k] = PERMUTE(x[k], net->turn[k / period]);
        UNROLL for (size_t r = 0; r < spread; r++, to += step)
        {
            __m512i v = x[0];

            if (r == planes)
                break;
            UNROLL for (size_t k = 1; k < spread; k++) v =
                _mm512_mask_mov_epi8(v, mask[mask_of(spread, k, r)], x[k]);
            v = PERMUTE(v, net->order[r]);
            if (past_caches) {
                STREAM(to, v);
            } else {
                __builtin_prefetch(to + ahead, 1, 3);
                STORE(to, v);
            }
        }
    }
}

/* Chooses how to write pixels: in parts if the move leaves some of their elements unchanged. */
enum zip_way { ZIP_WHOLE, ZIP_PARTS, ZIP_PAST_CACHES };

ALWAYS_INLINE void zip(const struct network *net, const struct chunks *chunks, size_t spread,
                       enum zip_way way)
{
    const bool whole = way != ZIP_PARTS;
    const size_t turns = DIVISOR(spread), period = spread / turns;
    uint8_t *dst = chunks->dst;
    const uint8_t *src = chunks->src;
    const size_t step = chunks->step, planes = chunks->planes, count = chunks->count;
    const size_t ahead = TUNED(avx512_skinny_ahead);

    KEEP_AT_HAND(net, spread)
    for (size_t i = 0; i < count; i++, dst += spread * LINE, src += LINE) {
        __m512i x[MOST];

        UNROLL for (size_t r = 0; r < spread; r++) x[r] =
            whole || r < planes ? PERMUTE(LOAD(src + r * step), net->places[r])
                                : _mm512_setzero_si512();
        UNROLL for (size_t k = 0; k < spread; k++)
        {
            __m512i v = x[0];

            UNROLL for (size_t r = 1; r < spread; r++) v =
                _mm512_mask_mov_epi8(v, mask[mask_of(spread, k, r)], x[r]);
            if (k >= period)
                v = PERMUTE(v, net->turn[turns - k / period]);
            if (way == ZIP_PAST_CACHES) {
                STREAM(dst + line[k], v);
                continue;
            }
            __builtin_prefetch(dst + line[k] + ahead, 1, 3);
            if (whole)
                STORE(dst + line[k], v);
            else
                _mm512_mask_storeu_epi8((void *)(dst + line[k]), chunks->keep[k], v);
        }
    }
}

typedef void kernel(const struct network *net, const struct chunks *chunks);

#define DEFINE_KERNEL(name, S, what, how)                                                          \
    static void name##_##S(const struct network *net, const struct chunks *chunks)                 \
    {                                                                                              \
        what(net, chunks, S, how);                                                                 \
    }
#define DEFINE_KERNELS(S)                                                                          \
    DEFINE_KERNEL(unzip, S, unzip, false)                                                          \
    DEFINE_KERNEL(unzip_past, S, unzip, true)                                                      \
    DEFINE_KERNEL(zip, S, zip, ZIP_WHOLE)                                                          \
    DEFINE_KERNEL(zip_into, S, zip, ZIP_PARTS)                                                     \
    DEFINE_KERNEL(zip_past, S, zip, ZIP_PAST_CACHES)

DEFINE_KERNELS(2)
DEFINE_KERNELS(3)
DEFINE_KERNELS(4)
DEFINE_KERNELS(5)
DEFINE_KERNELS(6)
DEFINE_KERNELS(7)
DEFINE_KERNELS(8)
DEFINE_KERNELS(9)

#define KERNELS(name)                                                                              \
    {                                                                                              \
        NULL, NULL, name##_2, name##_3, name##_4, name##_5, name##_6, name##_7, name##_8, name##_9 \
    }

static kernel *const unzips[MOST + 1] = KERNELS(unzip);
static kernel *const unzips_past[MOST + 1] = KERNELS(unzip_past);
static kernel *const zips[MOST + 1] = KERNELS(zip);
static kernel *const zips_into[MOST + 1] = KERNELS(zip_into);
static kernel *const zips_past[MOST + 1] = KERNELS(zip_past);

/* Copies exactly `bytes` bytes into `count` lines, followed by zeros. */
static void fetch(uint8_t *lines, const uint8_t *src, size_t bytes, size_t count)
{
    for (size_t i = 0; i < count * LINE; i += LINE)
        STORE(lines + i, i < bytes ? _mm512_maskz_loadu_epi8(first(bytes - i), src + i)
                                   : _mm512_setzero_si512());
}

/* Moves `count` pixels from `pixel` on, by way of a chunk on the stack, which has room for them. */
static void unzip_part(const struct skinny *t, const struct chunks *chunks, size_t pixel,
                       size_t count)
{
    const size_t size = (size_t)1 << t->size_log, spread = t->src_step >> t->size_log;
    _Alignas(LINE) uint8_t lines[MOST * LINE], planes[MOST * LINE];
    const struct chunks chunk = {planes, lines, LINE, chunks->planes, 1, {0}};

    fetch(lines, t->src + pixel * t->src_step, (count - 1) * t->src_step + t->rows * size, spread);
    unzips[spread](&networks[t->size_log][spread], &chunk);
    for (size_t r = 0; r < t->rows; r++)
        _mm512_mask_storeu_epi8(t->dst + r * t->dst_step + pixel * size, first(count * size),
                                LOAD(planes + r * LINE));
}

static void zip_part(const struct skinny *t, const struct chunks *chunks, size_t count)
{
    const size_t size = (size_t)1 << t->size_log, spread = t->dst_step >> t->size_log;
    const size_t bytes = (count - 1) * t->dst_step + t->cols * size;
    const struct network *net = &networks[t->size_log][spread];
    _Alignas(LINE) uint8_t lines[MOST * LINE], planes[MOST * LINE];
    const struct chunks chunk = {lines, planes, LINE, spread, 1, {0}};

    for (size_t c = 0; c < spread; c++)
        fetch(planes + c * LINE, t->src + c * t->src_step, c < t->cols ? count * size : 0, 1);
    zips[spread](net, &chunk);
    for (size_t k = 0; k < spread; k++) {
        const size_t at = net->line[k];

        if (at < bytes)
            _mm512_mask_storeu_epi8(t->dst + at, first(bytes - at) & chunks->keep[k],
                                    LOAD(lines + at));
    }
}

/*
 * Returns the first pixel that begins a cache line of the destination, for pixels of `step` bytes;
 * 0 if none of the first `n` does.
 */
static size_t aligned_pixel(const uint8_t *dst, size_t step, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (((uintptr_t)dst + i * step) % LINE == 0)
            return i;
    return 0;
}

/* Moves `count` chunks from pixel `begin` on. */
static void run(kernel *call, const struct network *net, const struct chunks *chunks, size_t begin,
                size_t count, size_t pixel_dst, size_t pixel_src)
{
    struct chunks part = *chunks;

    part.dst += begin * pixel_dst;
    part.src += begin * pixel_src;
    part.count = count;
    call(net, &part);
}

/* Moves all pixels: the first and last pixels exactly, the rest with these kernels. */
static void unzip_all(const struct skinny *t, kernel *const *kernels)
{
    const size_t size = (size_t)1 << t->size_log, spread = t->src_step >> t->size_log;
    const size_t n = LINE / size, cols = t->cols;
    const struct network *net = &networks[t->size_log][spread];
    const struct chunks chunks = {t->dst, t->src, t->dst_step, t->rows, 0, {0}};
    const bool whole =
        t->rows == spread; /* without this, the last chunk would read beyond the end */
    size_t begin = 0;

    if (cols < n) {
        unzip_part(t, &chunks, 0, cols);
        return;
    }
    if (cols > TUNE_AVX512_ALIGN_MIN * n)
        begin = aligned_pixel(t->dst, size, n);
    if (begin > 0)
        run(unzips[spread], net, &chunks, 0, 1, size, t->src_step);
    run(kernels[spread], net, &chunks, begin, (cols - begin - !whole) / n, size, t->src_step);
    if (!whole)
        unzip_part(t, &chunks, cols - n, n);
    else if ((cols - begin) % n > 0)
        run(unzips[spread], net, &chunks, cols - n, 1, size, t->src_step);
}

/* Sets chunks->keep, which leaves out the elements of pixels that the move does not write. */
static void keep_some(struct chunks *chunks, const struct network *net, size_t spread, size_t cols)
{
    size_t first_plane = 0;

    for (size_t k = 0; k < spread; k++) {
        for (size_t c = 0; c < cols; c++)
            chunks->keep[k] |=
                net->mask[c < first_plane ? c + spread - first_plane : c - first_plane];
        first_plane += DIVISOR(spread);
        if (first_plane == spread)
            first_plane = 0;
    }
}

/* Moves all pixels; uses kernels for whole pixels if the move writes whole pixels. */
static void zip_all(const struct skinny *t, kernel *const *kernels)
{
    const size_t size = (size_t)1 << t->size_log, spread = t->dst_step >> t->size_log;
    const size_t n = LINE / size, rows = t->rows;
    const struct network *net = &networks[t->size_log][spread];
    kernel *const edge = t->cols == spread ? zips[spread] : zips_into[spread];
    kernel *const call = t->cols == spread ? kernels[spread] : edge;
    struct chunks chunks = {t->dst, t->src, t->src_step, t->cols, 0, {0}};
    size_t begin = 0;

    keep_some(&chunks, net, spread, t->cols);
    if (rows < n) {
        zip_part(t, &chunks, rows);
        return;
    }
    if (rows > TUNE_AVX512_ALIGN_MIN * n)
        begin = aligned_pixel(t->dst, t->dst_step, n);
    if (begin > 0)
        run(edge, net, &chunks, 0, 1, t->dst_step, size);
    run(call, net, &chunks, begin, (rows - begin) / n, t->dst_step, size);
    if ((rows - begin) % n > 0)
        run(edge, net, &chunks, rows - n, 1, t->dst_step, size);
}

/*
 * Returns whether the kernels support a pixel of `pixel` bytes. If tiles also support it, tiles are
 * faster for few pixels.
 */
static bool is_skinny(const struct skinny *t, size_t pixel, size_t used, size_t pixels)
{
    const size_t size = (size_t)1 << t->size_log, spread = pixel >> t->size_log;

    return pixel % size == 0 && spread >= 2 && spread <= MOST && used <= spread &&
           (used * size < 16 || pixels * size >= TUNE_AVX512_SKINNY_MIN);
}

bool skinny_avx512(const struct skinny *t)
{
    if (is_skinny(t, t->src_step, t->rows, t->cols))
        unzip_all(t, unzips);
    else if (is_skinny(t, t->dst_step, t->cols, t->rows))
        zip_all(t, zips);
    else
        return narrow_avx512(t);
    return true;
}

/* Returns true if there are enough pixels, and a pixel near the start is aligned to a line. */
static bool has_lines(const struct skinny *t, size_t step, size_t pixels)
{
    const size_t n = (size_t)LINE >> t->size_log;
    const uint8_t *first_line = t->dst + aligned_pixel(t->dst, step, n) * step;

    return pixels > TUNE_AVX512_ALIGN_MIN * n && (uintptr_t)first_line % LINE == 0;
}

/* Returns the kernels that stream the transpose; null if none can. */
static kernel *const *past_caches(const struct skinny *t)
{
    const size_t size = (size_t)1 << t->size_log;

    if (is_skinny(t, t->src_step, t->rows, t->cols) && t->dst_step % LINE == 0 &&
        has_lines(t, size, t->cols))
        return unzips_past;
    if (is_skinny(t, t->dst_step, t->cols, t->rows) && t->dst_step == t->cols * size &&
        has_lines(t, t->dst_step, t->rows))
        return zips_past;
    return NULL;
}

bool skinny_streams_avx512(const struct skinny *t)
{
    return past_caches(t) != NULL;
}

bool skinny_stream_avx512(const struct skinny *t)
{
    kernel *const *kernels = past_caches(t);

    if (kernels == unzips_past)
        unzip_all(t, kernels);
    else if (kernels == zips_past)
        zip_all(t, kernels);
    return kernels != NULL;
}

TARGET_END

#endif

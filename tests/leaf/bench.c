/* SPDX-License-Identifier: BSD-3-Clause */
#include "tests/leaf/bench.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "tests/leaf/shape.h"

enum { BUFFER = 64 * 1024 * 1024, ALIGNMENT = 4096, ROUNDS = 5, TABLE = 256 };

static const double round_seconds = 0.01;

/* NEST gives source and destination two loops around the rows, LOOP a single loop. */
#define NEST(outer, loop, dst_outer, dst_step, src_outer, src_step)                                \
    .rows = (outer) * (loop), .dst = {(loop), (dst_step), (dst_outer)},                            \
    .src = {(loop), (src_step), (src_outer)}
#define LOOP(count, dst_step, src_step) NEST(1, count, 0, dst_step, 0, src_step)

#define ROWS(run, ...)                                                                             \
    {                                                                                              \
        .kind = LEAF_ROWS, .size = (run), .cols = 1, __VA_ARGS__                                   \
    }
#define FILL(run, ...)                                                                             \
    {                                                                                              \
        .kind = LEAF_FILL, .size = (run), .cols = 1, __VA_ARGS__                                   \
    }
#define STREAM(bytes)                                                                              \
    {                                                                                              \
        .kind = LEAF_STREAM, .size = (bytes), .cols = 1, LOOP(1, 0, 0)                             \
    }
#define BORDERED(b, run, a, ...)                                                                   \
    {                                                                                              \
        .kind = LEAF_BORDERED, .size = (run), .cols = 1, .before = (b), .after = (a), __VA_ARGS__  \
    }
#define GATHER(E, spread, columns, ...)                                                            \
    {                                                                                              \
        .kind = LEAF_GATHER, .size = (E), .cols = (columns), .gather_step = (spread) * (E),        \
        __VA_ARGS__                                                                                \
    }

/*
 * Transposes with packed source and destination. TRANSPOSE_AT uses tables, and its rows and
 * columns have two loops.
 */
#define TRANSPOSE(E, r, c)                                                                         \
    {                                                                                              \
        .kind = LEAF_TRANSPOSE, .size = (E), .rows = (r), .cols = (c), .dst = {(r), (c) * (E)},    \
        .src = {                                                                                   \
            (c),                                                                                   \
            (r) * (E)                                                                              \
        }                                                                                          \
    }
#define TRANSPOSE_AT(E, r, c)                                                                      \
    {                                                                                              \
        .kind = LEAF_TRANSPOSE_AT, .size = (E), .rows = (r), .cols = (c),                          \
        .dst = {((r) + 1) / 2, 2 * (c) * (E), (c) * (E)}, .src = {                                 \
            ((c) + 1) / 2,                                                                         \
            2 * (r) * (E),                                                                         \
            (r) * (E)                                                                              \
        }                                                                                          \
    }

/* Transposes with a few rows or columns, whose destination fits in the second-level cache. */
#define SKINNY_OF(E, n)                                                                            \
    TRANSPOSE(E, n, SKINNY_BYTES / (E) / (n)), TRANSPOSE(E, SKINNY_BYTES / (E) / (n), n),          \
        TRANSPOSE_AT(E, n, TABLE), TRANSPOSE_AT(E, TABLE, n)
#define SKINNY(n) SKINNY_OF(1, n), SKINNY_OF(2, n), SKINNY_OF(4, n)

/* Rows cut out of images: moved into a packed image, and into a larger image. */
#define SHORT_ROWS(run)                                                                            \
    ROWS(run, LOOP(12000, run, 64)), ROWS(run, LOOP(12000, 64, 64)),                               \
        ROWS(run, NEST(430, 28, 30 * (run), run, 2048, 64))

enum { SKINNY_BYTES = 384 * 1024 };

/*
 * Three cases for each kind of leaf: data that fits in the first-level cache, data that fits in the
 * second-level cache, and larger data.
 */
static const struct shape shapes[] = {
    ROWS(3, LOOP(2048, 3, 8)),
    ROWS(27, LOOP(512, 27, 64)),
    ROWS(100, LOOP(128, 100, 160)),
    ROWS(300, LOOP(1024, 300, 512)),
    ROWS(3000, LOOP(1024, 3000, 4096)),
    SHORT_ROWS(7),
    SHORT_ROWS(17),
    SHORT_ROWS(28),
    SHORT_ROWS(30),
    BORDERED(1, 28, 1, LOOP(12000, 30, 28)),
    BORDERED(1, 28, 1, LOOP(12000, 64, 28)),
    BORDERED(1, 28, 1, NEST(430, 28, 960, 30, 784, 28)),
    BORDERED(3, 84, 3, NEST(140, 28, 2700, 90, 2352, 84)),
    BORDERED(32, 896, 32, LOOP(400, 960, 896)),
    BORDERED(16, 64 * 1024, 0, LOOP(1, 0, 0)), /* at an offset where memcpy is slow: exec/copy.h */
    BORDERED(16, 384 * 1024, 0, LOOP(1, 0, 0)),
    FILL(3, LOOP(2048, 8, 0)),
    FILL(100, LOOP(128, 160, 0)),
    FILL(300, LOOP(1024, 512, 0)),
    TRANSPOSE(1, 128, 128),
    TRANSPOSE(1, 500, 500),
    TRANSPOSE(1, 2048, 2048),
    TRANSPOSE(2, 64, 64),
    TRANSPOSE(2, 300, 300),
    TRANSPOSE(2, 2048, 2048),
    TRANSPOSE(4, 60, 60),
    TRANSPOSE(4, 250, 250),
    TRANSPOSE(4, 1500, 1500),
    TRANSPOSE(8, 40, 40),
    TRANSPOSE(8, 200, 200),
    TRANSPOSE(8, 1000, 1000),
    TRANSPOSE_AT(1, 256, 256),
    TRANSPOSE_AT(2, 256, 256),
    TRANSPOSE_AT(4, 256, 256),
    TRANSPOSE_AT(8, 256, 256),
    SKINNY(2),
    SKINNY(3),
    SKINNY(4),
    SKINNY(5),
    SKINNY(8),
    SKINNY(12),
    SKINNY(16),
    SKINNY(24),
    GATHER(1, 2, 512, LOOP(16, 512, 1024)),
    GATHER(1, 3, 512, LOOP(16, 512, 1536)),
    GATHER(1, 8, 1000, LOOP(256, 1000, 8000)),
    GATHER(1, 37, 1000, LOOP(256, 1000, 37000)),
    GATHER(2, 2, 256, LOOP(16, 512, 1024)),
    GATHER(2, 6, 500, LOOP(256, 1000, 6000)),
    GATHER(4, 2, 128, LOOP(16, 512, 1024)),
    GATHER(4, 5, 250, LOOP(256, 1000, 5000)),
    GATHER(8, 2, 64, LOOP(16, 512, 1024)),
    GATHER(8, 5, 125, LOOP(256, 1000, 5000)),
    GATHER(1, 2, 28, LOOP(14000, 28, 112)),
    GATHER(1, 2, 28, LOOP(14000, 32, 112)),
    GATHER(1, 2, 28, NEST(500, 28, 896, 28, 3200, 112)),
    GATHER(2, 2, 28, LOOP(7000, 56, 224)),
    GATHER(2, 2, 28, LOOP(7000, 64, 224)),
    GATHER(4, 2, 28, LOOP(3500, 112, 448)),
    GATHER(4, 2, 28, LOOP(3500, 128, 448)),
    STREAM(384 * 1024),
    STREAM(8 * 1024 * 1024),
    STREAM(BUFFER),
};

static double now(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static void move(const struct shape *s, const struct leaf_table *leaf, uint8_t *dst,
                 const uint8_t *src)
{
    if (leaf)
        shape_run(s, leaf, dst, src);
    else
        memcpy(dst, src, s->rows * shape_dst_piece(s));
    __asm__ volatile("" : : "r"(dst) : "memory"); /* keeps the compiler from removing the call */
}

/* Returns the seconds of one call, measured in one round. If `leaf` is null, measures memcpy. */
static double measure(const struct shape *s, const struct leaf_table *leaf, uint8_t *dst,
                      const uint8_t *src)
{
    const double start = now();
    double end;
    int calls = 0;

    do {
        for (int i = 0; i < 4; i++, calls++)
            move(s, leaf, dst, src);
        end = now();
    } while (end - start < round_seconds);
    return (end - start) / calls;
}

/*
 * Measures leaf and memcpy alternately, because the machine's speed may change. The best time of
 * each counts.
 */
static void bench(struct shape s, const struct leaf_table *leaf, uint8_t *dst, const uint8_t *src)
{
    const double bytes = (double)(s.rows * shape_dst_piece(&s));
    static size_t dst_at[TABLE], src_at[TABLE];
    double plain = 1e9, ours = 1e9;

    if (s.kind == LEAF_TRANSPOSE_AT) {
        layout_fill(&s.dst, dst_at, s.rows);
        layout_fill(&s.src, src_at, s.cols);
        s.dst.table = dst_at;
        s.src.table = src_at;
    }
    for (int round = 0; round <= ROUNDS; round++) {
        const double copy = measure(&s, NULL, dst, src), time = measure(&s, leaf, dst, src);

        plain = round && copy < plain ? copy : plain;
        ours = round && time < ours ? time : ours;
    }
    printf("%7.2f  %7.2f GB/s  ", ours / plain, bytes / ours * 1e-9);
    shape_print(stdout, &s);
    printf("\n");
    fflush(stdout);
}

int bench_leaves(const char *level, const struct leaf_table *leaf)
{
    uint8_t *src = aligned_alloc(ALIGNMENT, BUFFER), *dst = aligned_alloc(ALIGNMENT, BUFFER);

    if (src && dst) {
        memset(src, 1, BUFFER);
        memset(dst, 2, BUFFER);
        printf("level %s: time as a multiple of memcpy's for the same bytes\n", level);
        for (size_t i = 0; i < sizeof(shapes) / sizeof(shapes[0]); i++)
            if (shape_is_known(&shapes[i], leaf))
                bench(shapes[i], leaf, dst, src);
    }
    free(src);
    free(dst);
    return src && dst ? 0 : -1;
}

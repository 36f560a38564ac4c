/* SPDX-License-Identifier: BSD-3-Clause */
#include "bench.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "shape.h"

enum { BUFFER = 64 * 1024 * 1024, ALIGNMENT = 4096, ROUNDS = 5 };

static const double round_seconds = 0.01;

/* Of each leaf what fits into the first-level cache, what fits into the second, and neither. */
static const struct shape shapes[] = {
    {LEAF_ROWS, 3, 2048, 1, 3, 8, 0},
    {LEAF_ROWS, 27, 512, 1, 27, 64, 0},
    {LEAF_ROWS, 100, 128, 1, 100, 160, 0},
    {LEAF_ROWS, 300, 1024, 1, 300, 512, 0},
    {LEAF_ROWS, 3000, 1024, 1, 3000, 4096, 0},
    {LEAF_FILL, 3, 2048, 1, 8, 0, 0},
    {LEAF_FILL, 100, 128, 1, 160, 0, 0},
    {LEAF_FILL, 300, 1024, 1, 512, 0, 0},
    {LEAF_TRANSPOSE, 1, 3, 4096, 4096, 3, 0},
    {LEAF_TRANSPOSE, 1, 128, 128, 128, 128, 0},
    {LEAF_TRANSPOSE, 1, 500, 500, 500, 500, 0},
    {LEAF_TRANSPOSE, 1, 2048, 2048, 2048, 2048, 0},
    {LEAF_TRANSPOSE, 2, 3, 2048, 4096, 6, 0},
    {LEAF_TRANSPOSE, 2, 64, 64, 128, 128, 0},
    {LEAF_TRANSPOSE, 2, 300, 300, 600, 600, 0},
    {LEAF_TRANSPOSE, 2, 2048, 2048, 4096, 4096, 0},
    {LEAF_TRANSPOSE, 4, 3, 1024, 4096, 12, 0},
    {LEAF_TRANSPOSE, 4, 60, 60, 240, 240, 0},
    {LEAF_TRANSPOSE, 4, 250, 250, 1000, 1000, 0},
    {LEAF_TRANSPOSE, 4, 1500, 1500, 6000, 6000, 0},
    {LEAF_TRANSPOSE, 8, 40, 40, 320, 320, 0},
    {LEAF_TRANSPOSE, 8, 200, 200, 1600, 1600, 0},
    {LEAF_TRANSPOSE, 8, 1000, 1000, 8000, 8000, 0},
    {LEAF_PICK, 1, 16, 512, 512, 1024, 2},
    {LEAF_PICK, 1, 16, 512, 512, 1536, 3},
    {LEAF_PICK, 1, 256, 1000, 1000, 8000, 8},
    {LEAF_PICK, 1, 256, 1000, 1000, 37000, 37},
    {LEAF_PICK, 2, 16, 256, 512, 1024, 4},
    {LEAF_PICK, 2, 256, 500, 1000, 6000, 12},
    {LEAF_PICK, 4, 16, 128, 512, 1024, 8},
    {LEAF_PICK, 4, 256, 250, 1000, 5000, 20},
    {LEAF_PICK, 8, 16, 64, 512, 1024, 16},
    {LEAF_PICK, 8, 256, 125, 1000, 5000, 40},
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
        memcpy(dst, src, s->size * s->rows * s->cols);
    __asm__ volatile("" : : "r"(dst) : "memory"); /* it is wanted */
}

/* Seconds of one call, in the best of some rounds; of memcpy where there is no leaf. */
static double measure(const struct shape *s, const struct leaf_table *leaf, uint8_t *dst,
                      const uint8_t *src)
{
    double best = 1e9;

    move(s, leaf, dst, src);
    for (int round = 0; round < ROUNDS; round++) {
        const double start = now();
        double end;
        int calls = 0;

        do {
            for (int i = 0; i < 4; i++, calls++)
                move(s, leaf, dst, src);
            end = now();
        } while (end - start < round_seconds);
        if ((end - start) / calls < best)
            best = (end - start) / calls;
    }
    return best;
}

int bench_leaves(const char *level, const struct leaf_table *leaf)
{
    uint8_t *src = aligned_alloc(ALIGNMENT, BUFFER), *dst = aligned_alloc(ALIGNMENT, BUFFER);

    if (src && dst) {
        memset(src, 1, BUFFER);
        memset(dst, 2, BUFFER);
        printf("level %s: time as a multiple of memcpy's for the same bytes\n", level);
        for (size_t i = 0; i < sizeof(shapes) / sizeof(shapes[0]); i++) {
            const struct shape *s = &shapes[i];
            const double bytes = (double)(s->size * s->rows * s->cols);
            const double plain = measure(s, NULL, dst, src), ours = measure(s, leaf, dst, src);

            printf("%7.2f  %7.2f GB/s  ", ours / plain, bytes / ours * 1e-9);
            shape_print(stdout, s);
            printf("\n");
            fflush(stdout);
        }
    }
    free(src);
    free(dst);
    return src && dst ? 0 : -1;
}

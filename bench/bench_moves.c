/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Time of a move divided by the time of memcpy of the same destination bytes, both measured
 * alternately in one run, and the same for a plain element loop. Medians over the rounds. Absolute
 * times of a shared machine mean little, ratios within one run do.
 *
 *     bench-moves [KIB OF DESTINATION]
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "mli_api.h"

enum { ROUNDS = 41 };

struct bench_case {
    const char *name;
    uint32_t rank;
    uint32_t shape[MLI_MAX_RANK]; /* the outermost non-zero 0 is set by the size wanted */
    uint8_t perm[MLI_MAX_RANK];
    uint32_t step[MLI_MAX_RANK]; /* 0: 1 */
    uint32_t keep_half[MLI_MAX_RANK];
    uint8_t pad[MLI_MAX_RANK];
};

/* One dimension of each shape is 0: it grows until the destination has the size wanted. */
static const struct bench_case cases[] = {
    {"copy", 1, {0}, {0}, {0}, {0}, {0}},
    {"transpose, odd", 2, {0, 387}, {1, 0}, {0}, {0}, {0}},
    {"transpose, power of two", 2, {0, 512}, {1, 0}, {0}, {0}, {0}},
    {"[M,3] -> [3,M]", 2, {0, 3}, {1, 0}, {0}, {0}, {0}},
    {"HWC -> CHW, C=32", 3, {0, 56, 32}, {2, 0, 1}, {0}, {0}, {0}},
    {"CHW -> HWC, C=32", 3, {32, 0, 56}, {1, 2, 0}, {0}, {0}, {0}},
    {"reverse rank 4", 4, {8, 12, 0, 20}, {3, 2, 1, 0}, {0}, {0}, {0}},
    {"(0,2,1,3), inner 64", 4, {4, 0, 16, 64}, {0, 2, 1, 3}, {0}, {0}, {0}},
    {"slice half H,W of CHW", 3, {0, 56, 56}, {0, 1, 2}, {0}, {0, 1, 1}, {0}},
    {"slice half H,W of HWC", 3, {0, 56, 32}, {0, 1, 2}, {0}, {1, 1, 0}, {0}},
    {"subsample 2 on H,W of CHW", 3, {0, 56, 56}, {0, 1, 2}, {1, 2, 2}, {0}, {0}},
    {"pad 1 around H,W of CHW", 3, {0, 28, 28}, {0, 1, 2}, {0}, {0}, {0, 1, 1}},
    {"pad 1 around H,W of HWC", 3, {0, 28, 32}, {0, 1, 2}, {0}, {0}, {1, 1, 0}},
};

struct bench {
    mli_tensor src, dst;
    mli_mov_cfg_t cfg;
    size_t bytes;
};

static double now(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static uint64_t count_of(const uint32_t *shape, uint32_t rank)
{
    uint64_t count = 1;

    for (uint32_t d = 0; d < rank; d++)
        count *= shape[d];
    return count;
}

static void *buffer(uint64_t bytes)
{
    void *memory = aligned_alloc(64, (bytes + 4159) / 64 * 64);

    if (!memory) {
        fprintf(stderr, "bench-moves: no memory\n");
        exit(1);
    }
    memset(memory, 1, bytes);
    return memory;
}

static void set_up(struct bench *b, const struct bench_case *c, uint32_t elem, size_t wanted)
{
    const mli_element_type type = elem == 1 ? MLI_EL_FX_8 : elem == 2 ? MLI_EL_FX_16 : MLI_EL_FP_32;
    uint32_t grows = 0;
    uint64_t others = 1;

    memset(b, 0, sizeof(*b));
    mli_mov_cfg_for_copy(&b->cfg);
    b->src.rank = c->rank;
    b->src.el_type = type;
    for (uint32_t d = 0; d < c->rank; d++) {
        b->src.shape[d] = c->shape[d];
        b->cfg.perm_dim[d] = c->perm[d];
        b->cfg.sub_sample_step[d] = c->step[d] ? c->step[d] : 1;
        b->cfg.padding_pre[d] = b->cfg.padding_post[d] = c->pad[d];
        if (c->shape[d] == 0)
            grows = d;
        else
            others *= c->shape[d] / (c->keep_half[d] ? 2 : 1) / b->cfg.sub_sample_step[d];
    }
    b->src.shape[grows] = (uint32_t)(wanted / elem / others);
    for (uint32_t d = 0; d < c->rank; d++)
        b->cfg.size[d] = c->keep_half[d] ? b->src.shape[d] / 2 : 0;
    mli_mov_layout(&b->src, &b->cfg, &b->dst);
    b->bytes = b->dst.data.capacity;
    b->src.data.capacity = (uint32_t)(count_of(b->src.shape, c->rank) * elem);
    b->src.data.mem.pi8 = buffer(b->src.data.capacity);
    b->dst.data.mem.pi8 = buffer(b->bytes);
}

/* Where coordinate `at` of destination dimension i comes from, in elements; < 0: padding. */
static int64_t source_index(const struct bench *b, const uint64_t *stride, uint32_t i, uint32_t at)
{
    const uint32_t dim = b->cfg.perm_dim[i];
    const int64_t x = (int64_t)at * b->cfg.sub_sample_step[dim] - b->cfg.padding_pre[dim];

    return x >= 0 && x < (int64_t)b->src.shape[dim] ? x * (int64_t)stride[dim] : INT64_MIN / 8;
}

/* What somebody writes who does not think about speed: one output element after the other. */
static void element_loop(const struct bench *b, uint32_t elem)
{
    uint32_t shape[MLI_MAX_RANK] = {1, 1, 1, 1};
    uint64_t stride[MLI_MAX_RANK] = {0}, packed = 1;
    const uint8_t *in = (const uint8_t *)b->src.data.mem.pi8;
    uint8_t *out = (uint8_t *)b->dst.data.mem.pi8;
    const uint32_t lead = MLI_MAX_RANK - b->src.rank;

    for (uint32_t i = b->src.rank; i-- > 0; packed *= b->src.shape[i]) {
        stride[i] = packed;
        shape[lead + i] = b->dst.shape[i];
    }
#define INDEX(level, at) ((level) < lead ? 0 : source_index(b, stride, (level)-lead, at))
    for (uint32_t i = 0; i < shape[0]; i++) {
        const int64_t a = INDEX(0, i);

        for (uint32_t j = 0; j < shape[1]; j++) {
            const int64_t ab = a + INDEX(1, j);

            for (uint32_t k = 0; k < shape[2]; k++) {
                const int64_t abc = ab + INDEX(2, k);

                for (uint32_t l = 0; l < shape[3]; l++, out += elem) {
                    const int64_t from = abc + INDEX(3, l);

                    for (uint32_t byte = 0; byte < elem; byte++)
                        out[byte] = from < 0 ? 0 : in[(uint64_t)from * elem + byte];
                }
            }
        }
    }
#undef INDEX
}

static int by_value(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

static double median(double *values)
{
    qsort(values, ROUNDS, sizeof(*values), by_value);
    return values[ROUNDS / 2];
}

static void measure(const struct bench_case *c, uint32_t elem, size_t wanted)
{
    static double ours[ROUNDS], loops[ROUNDS];
    struct bench b;
    size_t repeat;
    uint8_t *from;

    set_up(&b, c, elem, wanted);
    from = buffer(b.bytes);
    repeat = 1 + (1 << 20) / b.bytes;
    for (int r = 0; r < ROUNDS; r++) {
        const double t0 = now();

        for (size_t i = 0; i < repeat; i++)
            memcpy(b.dst.data.mem.pi8, from, b.bytes);
        const double t1 = now();

        for (size_t i = 0; i < repeat; i++)
            mli_mov_tensor_sync(&b.src, &b.cfg, &b.dst);
        const double t2 = now();

        element_loop(&b, elem);
        const double t3 = now();

        ours[r] = (t2 - t1) / (t1 - t0);
        loops[r] = (t3 - t2) * (double)repeat / (t1 - t0);
    }
    printf(" %6.2f / %-6.1f", median(ours), median(loops));
    free(from);
    free(b.src.data.mem.pi8);
    free(b.dst.data.mem.pi8);
}

int main(int argc, char **argv)
{
    const size_t kib = argc > 1 ? strtoul(argv[1], NULL, 10) : 384;

    if (kib < 16 || kib > 1024 * 1024) {
        fprintf(stderr, "usage: bench-moves [KIB OF DESTINATION, 16 to 1048576]\n");
        return 2;
    }
    printf("time / memcpy of the same bytes, destination %zu KiB: move / element loop\n\n", kib);
    printf("%-28s %-16s %-16s %s\n", "", "1-byte elements", "2-byte", "4-byte");
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        printf("%-28s", cases[i].name);
        for (uint32_t elem = 1; elem <= 4; elem *= 2)
            measure(&cases[i], elem, kib * 1024);
        printf("\n");
        fflush(stdout);
    }
    return 0;
}

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Tests moves that are too large for the property tests: their blocks, bursts and stages depend on
 * the size. Runs each move at every kernel level, through the caches and bypassing them, and
 * compares the result with a loop over coordinates.
 */
#include <stdlib.h>
#include <string.h>

#include "mli_helpers_api.h"
#include "tests/support/unit.h"

enum { GUARD = 192, FILL = 0xA5 };

/* A move. If perm is all zeros, nothing is permuted; steps of zero mean 1. */
struct large {
    uint32_t elem;
    uint32_t shape[4]; /* rank 4 */
    uint8_t perm[4];
    uint32_t step[4];
    uint8_t pad[4];     /* zeros before and after the source */
    uint32_t gap, skew; /* gap: elements between rows of the destination; skew: its offset in a
                           cache line, in bytes */
};

static const struct large moves[] = {
    /* rows that are next to each other in the source */
    {1, {2, 1501, 8, 64}, {0, 2, 1, 3}, {0}, {0}, 0, 0},
    {1, {2, 4003, 9, 17}, {0, 2, 1, 3}, {0}, {0}, 0, 29},
    {2, {3, 1201, 7, 24}, {0, 2, 1, 3}, {0}, {0}, 0, 2},
    {4, {1, 5003, 5, 15}, {2, 0, 1, 3}, {0}, {0}, 0, 4},
    {2, {40, 41, 9, 43}, {2, 0, 1, 3}, {0}, {0}, 3, 6},
    /*
     * neighbouring rows of the source that are far apart in the destination
     */
    {1, {1501, 8, 3, 64}, {2, 1, 0, 3}, {0}, {0}, 0, 0},
    {2, {1201, 5, 7, 24}, {2, 1, 0, 3}, {0}, {0}, 0, 2},
    {4, {701, 11, 6, 15}, {2, 1, 0, 3}, {0}, {0}, 1, 4},
    /* as above, but with so few rows that they are one block; two moves have zeros around the rows
     */
    {1, {20, 300, 8, 64}, {2, 1, 0, 3}, {0}, {0}, 0, 11},
    {4, {9, 301, 16, 60}, {2, 1, 0, 3}, {0}, {1, 0, 0, 0}, 0, 4},
    {2, {19, 211, 12, 32}, {2, 1, 0, 3}, {0}, {2, 0, 0, 1}, 0, 2},
    /* transposes of matrices */
    {1, {1, 1, 1237, 997}, {0, 1, 3, 2}, {0}, {0}, 0, 5},
    {2, {1, 1, 4099, 150}, {0, 1, 3, 2}, {0}, {0}, 0, 0},
    {4, {1, 1, 613, 499}, {0, 1, 3, 2}, {0}, {0}, 0, 12},
    {8, {1, 1, 300, 511}, {0, 1, 3, 2}, {0}, {0}, 5, 8},
    {8, {1, 1, 304, 511}, {0, 1, 3, 2}, {0}, {0}, 0, 4},
    {1, {1, 1, 2048, 640}, {0, 1, 3, 2}, {0}, {0}, 0, 0},
    {1, {1, 241, 112, 33}, {0, 3, 1, 2}, {0}, {0}, 0, 1},
    {2, {3, 97, 56, 64}, {0, 3, 1, 2}, {0}, {0}, 0, 0},
    {1, {1, 32, 211, 131}, {0, 2, 3, 1}, {0}, {0}, 0, 7},
    /* transposes whose rows and columns are two dimensions each */
    {1, {8, 12, 701, 20}, {3, 2, 1, 0}, {0}, {0}, 0, 11},
    {2, {8, 12, 307, 20}, {3, 2, 1, 0}, {0}, {0}, 0, 0},
    {4, {5, 7, 401, 19}, {3, 2, 1, 0}, {0}, {0}, 0, 4},
    {1, {1, 401, 113, 32}, {0, 3, 1, 2}, {1, 2, 2, 1}, {0, 1, 1, 0}, 0, 3},
    {4, {1, 111, 57, 48}, {0, 3, 1, 2}, {1, 2, 2, 1}, {0, 1, 1, 0}, 0, 0},
    /* rows with zeros around them, and parts of rows */
    {1, {1, 300, 61, 63}, {0}, {0}, {0, 0, 1, 1}, 0, 17},
    {2, {1, 211, 56, 31}, {0}, {0}, {0, 1, 2, 0}, 0, 2},
    {1, {1, 30, 24, 60}, {0}, {0}, {0, 0, 70, 1}, 0, 3},
    {1, {1, 1, 3001, 1023}, {0}, {1, 1, 1, 3}, {0}, 0, 1},
    {1, {1, 500, 56, 56}, {0}, {1, 1, 2, 2}, {0}, 0, 0},
};

struct side {
    uint8_t *memory, *at;
    size_t bytes;
};

static struct side side_init(size_t bytes, size_t skew)
{
    struct side side = {.bytes = bytes};

    side.memory = aligned_alloc(64, (bytes + 2 * GUARD + 127) / 64 * 64);
    assert_non_null(side.memory);
    memset(side.memory, FILL, (bytes + 2 * GUARD + 127) / 64 * 64);
    side.at = side.memory + GUARD + skew;
    return side;
}

static uint32_t or_one(uint32_t n)
{
    return n ? n : 1;
}

static mli_element_type type_of(uint32_t elem)
{
    return elem == 1 ? MLI_EL_FX_8 : elem == 2 ? MLI_EL_FX_16 : MLI_EL_FP_32;
}

/* Strides and counts of a move in elements. Arrays are indexed by destination dimension. */
struct numbers {
    uint32_t perm[4], count[4];
    int64_t to[4], from[4];
    size_t src_bytes, dst_bytes;
};

/* Treats elements of 8 bytes as pairs of 4-byte elements. */
static struct numbers numbers_of(const struct large *m)
{
    struct numbers n = {.src_bytes = m->elem, .dst_bytes = m->elem};
    int64_t stride[4], next = 1;
    const bool permuted = m->perm[0] || m->perm[1] || m->perm[2] || m->perm[3];

    for (uint32_t d = 4; d-- > 0;) {
        stride[d] = next;
        next *= m->shape[d];
        n.src_bytes *= m->shape[d];
    }
    next = 1;
    for (uint32_t i = 4; i-- > 0;) {
        const uint32_t d = permuted ? m->perm[i] : i, step = or_one(m->step[d]);

        n.perm[i] = d;
        n.count[i] = (m->shape[d] + 2 * m->pad[d] + step - 1) / step;
        n.to[i] = next;
        n.from[i] = stride[d];
        n.dst_bytes += (size_t)((n.count[i] - 1) * next) * m->elem;
        next *= (int64_t)n.count[i] + (i == 3 ? m->gap : 0);
    }
    return n;
}

static void expect(const struct large *m, const struct numbers *n, const uint8_t *src, uint8_t *dst)
{
    uint32_t c[4];

    for (c[0] = 0; c[0] < n->count[0]; c[0]++)
        for (c[1] = 0; c[1] < n->count[1]; c[1]++)
            for (c[2] = 0; c[2] < n->count[2]; c[2]++)
                for (c[3] = 0; c[3] < n->count[3]; c[3]++) {
                    int64_t from = 0, to = 0;
                    bool inside = true;

                    for (int i = 0; i < 4; i++) {
                        const uint32_t d = n->perm[i];
                        const int64_t x = (int64_t)c[i] * or_one(m->step[d]) - m->pad[d];

                        inside = inside && x >= 0 && x < m->shape[d];
                        from += x * n->from[i];
                        to += c[i] * n->to[i];
                    }
                    if (inside)
                        memcpy(dst + to * m->elem, src + from * m->elem, m->elem);
                    else
                        memset(dst + to * m->elem, 0, m->elem);
                }
}

/*
 * Elements of 8 bytes are pairs of 4-byte elements: one more dimension, which stays the innermost
 * one.
 */
static void set_up(const struct large *m, const struct numbers *n, const struct side *src,
                   const struct side *dst, mli_tensor *in, mli_tensor *out, mli_mov_cfg_t *cfg)
{
    const uint32_t pair = m->elem == 8 ? 2 : 1, first = pair - 1;

    memset(in, 0, sizeof(*in));
    memset(out, 0, sizeof(*out));
    assert_ok(mli_mov_cfg_for_copy(cfg));
    in->rank = 4;
    in->el_type = type_of(m->elem);
    in->data.capacity = (uint32_t)src->bytes;
    in->data.mem.pi8 = (int8_t *)src->at;
    out->data.capacity = (uint32_t)dst->bytes;
    out->data.mem.pi8 = (int8_t *)dst->at;
    for (uint32_t i = first; i < 4; i++) {
        const uint32_t at = i - first;

        in->shape[at] = m->shape[i];
        cfg->sub_sample_step[at] = or_one(m->step[i]);
        cfg->padding_pre[at] = cfg->padding_post[at] = m->pad[i];
        cfg->perm_dim[at] = (uint8_t)(n->perm[i] - first);
        cfg->dst_mem_stride[at] = (int32_t)n->to[i] * (int32_t)pair;
    }
    if (pair == 2) {
        in->shape[3] = 2;
        cfg->perm_dim[3] = 3;
        cfg->dst_mem_stride[3] = 1;
    }
}

static void assert_same(const struct side *found, const struct side *want, const char *level,
                        const char *how, size_t number)
{
    const uint8_t *a = found->at - 64, *b = want->at - 64;

    if (memcmp(a, b, found->bytes + 128) == 0)
        return;
    for (size_t i = 0;; i++)
        if (a[i] != b[i])
            fail_msg("move %zu at level %s, %s: byte %td is %02x, expected %02x", number, level,
                     how, (ptrdiff_t)i - 64, a[i], b[i]);
}

static void run(size_t number)
{
    static const uint32_t masks[] = {UINT32_MAX, MLI_CPU_AVX2 | MLI_CPU_NEON, 0};
    const struct large *m = &moves[number];
    const struct numbers n = numbers_of(m);
    struct side src = side_init(n.src_bytes, 1), dst = side_init(n.dst_bytes, m->skew),
                want = side_init(n.dst_bytes, m->skew);
    uint32_t word = 12345;

    for (size_t i = 0; i < src.bytes; i++)
        src.at[i] = (uint8_t)((word = word * 1664525 + 1013904223) >> 24);
    expect(m, &n, src.at, want.at);
    for (int k = 0; k < 6; k++) {
        mli_tensor in, out;
        mli_mov_cfg_t cfg;

        mli_cpu_set_mask(masks[k / 2]);
        mli_cpu_set_stream_min(k % 2 ? UINT64_MAX : 0);
        memset(dst.at - 64, FILL, dst.bytes + 128);
        set_up(m, &n, &src, &dst, &in, &out, &cfg);
        assert_ok(mli_mov_tensor_sync(&in, &cfg, &out));
        assert_same(&dst, &want, mli_cpu_level(), k % 2 ? "through the caches" : "bypassing them",
                    number);
    }
    free(src.memory);
    free(dst.memory);
    free(want.memory);
}

static void test_all(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(moves) / sizeof(moves[0]); i++)
        run(i);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_all),
    };

    return cmocka_run_group_tests_name("large", tests, NULL, NULL);
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* Compares extent_read() with a walk over every sample of small random moves. */
#include <stdlib.h>
#include <string.h>

#include "daemon/job/operands.h"
#include "tests/support/unit.h"

static uint32_t below(uint32_t bound)
{
    return (uint32_t)rand() % bound;
}

static void random_case(mli_tensor *src, mli_mov_cfg_t *cfg)
{
    const mli_element_type types[] = {MLI_EL_FX_8, MLI_EL_FX_16, MLI_EL_FP_32};

    memset(src, 0, sizeof *src);
    mli_mov_cfg_for_copy(cfg);
    src->rank = 1 + below(MLI_MAX_RANK);
    src->el_type = types[below(3)];
    for (uint32_t d = 0; d < src->rank; d++) {
        uint32_t padded;

        src->shape[d] = 1 + below(5);
        src->mem_stride[d] = below(2) ? (int32_t)below(50) : 0;
        cfg->padding_pre[d] = (uint8_t)below(4);
        cfg->padding_post[d] = (uint8_t)below(4);
        padded = src->shape[d] + cfg->padding_pre[d] + cfg->padding_post[d];
        cfg->offset[d] = below(padded);
        cfg->size[d] = below(padded - cfg->offset[d] + 1);
        cfg->sub_sample_step[d] = 1 + below(4);
    }
}

/*
 * Computes the smallest and the largest source coordinate that the move reads along dimension d.
 * Returns false if it reads none.
 */
static bool walk(const mli_tensor *src, const mli_mov_cfg_t *cfg, uint32_t d, uint64_t *first,
                 uint64_t *last)
{
    const int pre = cfg->padding_pre[d], shape = (int)src->shape[d];
    const int size =
        cfg->size[d] ? (int)cfg->size[d] : pre + shape + cfg->padding_post[d] - (int)cfg->offset[d];
    bool found = false;

    for (int k = 0; k < size; k += (int)cfg->sub_sample_step[d]) {
        const int at = (int)cfg->offset[d] + k - pre;

        if (at < 0 || at >= shape)
            continue;
        if (!found)
            *first = (uint64_t)at;
        *last = (uint64_t)at;
        found = true;
    }
    return found;
}

static struct span expected(const mli_tensor *src, const mli_mov_cfg_t *cfg)
{
    const uint64_t element = (src->el_type & 0xff) / 8;
    uint64_t begin = 0, end = 0, packed = 1;

    for (uint32_t d = src->rank; d-- > 0;) {
        const uint64_t stride = src->mem_stride[d] ? (uint64_t)src->mem_stride[d] : packed;
        uint64_t first, last;

        if (!walk(src, cfg, d, &first, &last))
            return (struct span){0, element};
        begin += first * stride;
        end += last * stride;
        packed = stride * src->shape[d];
    }
    return (struct span){begin * element, (end + 1) * element};
}

static void test_random_moves(void **state)
{
    (void)state;
    srand(7);
    for (int round = 0; round < 100 * 1000; round++) {
        mli_tensor src;
        mli_mov_cfg_t cfg;
        struct span got, want;

        random_case(&src, &cfg);
        got = extent_read(&src, &cfg);
        want = expected(&src, &cfg);
        assert_int_equal(got.begin, want.begin);
        assert_int_equal(got.end, want.end);
    }
}

/* The span is exact: libmli refuses a capacity that is one byte smaller. */
static void test_libmli_requires_the_same_bytes(void **state)
{
    static int8_t memory[1 << 20];
    mli_mov_handle_t handle;

    (void)state;
    assert_ok(mli_mov_set_num_dma_ch(0, 1));
    assert_ok(mli_mov_acquire_handle(1, &handle));
    for (int round = 0; round < 20 * 1000; round++) {
        mli_tensor src, dst = {0};
        mli_mov_cfg_t cfg;
        struct span span;
        mli_status status;

        random_case(&src, &cfg);
        span = extent_read(&src, &cfg);
        src.data.mem.pi8 = memory;
        dst.data.mem.pi8 = memory + (sizeof memory) / 2;
        dst.data.capacity = (uint32_t)(sizeof memory) / 2;
        src.data.capacity = (uint32_t)span.end;
        status = mli_mov_prepare(&handle, &src, &cfg, &dst);
        assert_ok(status);
        if (span.begin == 0 && span.end == (src.el_type & 0xffu) / 8)
            continue; /* the move may read no byte */
        src.data.capacity--;
        status = mli_mov_prepare(&handle, &src, &cfg, &dst);
        assert_status(status, MLI_STATUS_NOT_ENGH_MEM);
    }
    mli_mov_release_handle(&handle);
    mli_mov_set_num_dma_ch(0, 0);
}

static void test_overflow(void **state)
{
    mli_tensor src = {.rank = 4, .el_type = MLI_EL_FP_32};
    mli_mov_cfg_t cfg;

    (void)state;
    mli_mov_cfg_for_copy(&cfg);
    for (uint32_t d = 0; d < 4; d++)
        src.shape[d] = UINT32_MAX;
    assert_true(extent_read(&src, &cfg).end == UINT64_MAX);
    for (uint32_t d = 0; d < 4; d++)
        src.mem_stride[d] = INT32_MAX;
    assert_true(extent_read(&src, &cfg).end == UINT64_MAX);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_random_moves),
        cmocka_unit_test(test_libmli_requires_the_same_bytes),
        cmocka_unit_test(test_overflow),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

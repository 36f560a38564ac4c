/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Tests transfers on two channels, which are cut at cache lines. If the destination is misaligned,
 * the cuts are inside elements, so zeros beside the columns of a transpose may end, or begin,
 * inside an element.
 */
#include <string.h>

#include "tests/support/unit.h"

enum {
    ROWS = 7,
    COLS = 2,
    ZEROS = 89,
    WIDTH = COLS + ZEROS,
    STRIDE = 878, /* stride of the destination, in elements */
    ELEM = 4,
    BYTES = ((ROWS - 1) * STRIDE + WIDTH) * ELEM,
    PLACES = 64,
};

static uint8_t in[ROWS * COLS * ELEM];
static _Alignas(64) uint8_t out[BYTES + PLACES], wanted[BYTES + PLACES];

static void expect(size_t place)
{
    memset(wanted, 0x90, sizeof(wanted));
    for (size_t r = 0; r < ROWS; r++) {
        uint8_t *row = wanted + place + r * STRIDE * ELEM;

        memset(row, 0, WIDTH * ELEM);
        for (size_t c = 0; c < COLS; c++)
            memcpy(row + c * ELEM, in + (c * ROWS + r) * ELEM, ELEM);
    }
}

static void move(size_t place)
{
    mli_tensor src = {.data = {.capacity = sizeof(in), .mem.pi8 = (int8_t *)in},
                      .shape = {COLS, ROWS},
                      .rank = 2,
                      .el_type = MLI_EL_FP_32};
    mli_tensor dst = {.data = {.capacity = BYTES, .mem.pi8 = (int8_t *)out + place},
                      .mem_stride = {STRIDE, 1}};
    mli_mov_handle_t handle;
    mli_mov_cfg_t cfg;

    assert_ok(mli_mov_cfg_for_copy(&cfg));
    cfg.perm_dim[0] = 1;
    cfg.perm_dim[1] = 0;
    cfg.padding_post[0] = ZEROS;
    memset(out, 0x90, sizeof(out));
    assert_ok(mli_mov_acquire_handle(2, &handle));
    assert_ok(mli_mov_prepare(&handle, &src, &cfg, &dst));
    assert_ok(mli_mov_start(&handle, &src, &cfg, &dst));
    assert_ok(mli_mov_wait(&handle));
    assert_ok(mli_mov_release_handle(&handle));
}

static void test_zeros_in_any_place(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(in); i++)
        in[i] = (uint8_t)(i + 1);
    assert_ok(mli_mov_set_engine("threads:tiny=0")); /* tiny=0 splits small transfers too */
    assert_ok(mli_mov_set_num_dma_ch(0, 2));
    for (size_t place = 0; place < PLACES; place++) {
        expect(place);
        move(place);
        assert_memory_equal(out, wanted, sizeof(out));
    }
    assert_ok(mli_mov_set_num_dma_ch(0, 0));
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_zeros_in_any_place)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}

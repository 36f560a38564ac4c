/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Tests transfers that are cut into parts: on two channels, at cache lines, and in chunks. If the
 * destination is misaligned, a cut may be inside an element. In a transpose with zeros around it,
 * a part may then begin or end inside an element of the zeros.
 */
#include <stdlib.h>
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
    /* the option tiny=0 lets the library split small transfers too */
    assert_ok(mli_mov_set_engine("threads:tiny=0"));
    assert_ok(mli_mov_set_num_dma_ch(0, 2));
    for (size_t place = 0; place < PLACES; place++) {
        expect(place);
        move(place);
        assert_memory_equal(out, wanted, sizeof(out));
    }
    assert_ok(mli_mov_set_num_dma_ch(0, 0));
}

/*
 * Makes planes of rows with gaps between the rows. Three planes have more than the 256 KiB that a
 * channel moves in one chunk.
 */
enum {
    PLANES = 3,
    PLANE_ROWS = 300,
    PLANE_COLS = 400,
    GAPPED = 410, /* number of elements from one row to the next */
    PLANE_BYTES = PLANE_ROWS * GAPPED,
};

struct planes {
    uint8_t src[PLANES * PLANE_BYTES], dst[2 * PLANES * PLANE_BYTES],
        other[2 * PLANES * PLANE_BYTES];
};

static mli_tensor tensor_of(uint8_t *bytes, uint32_t planes)
{
    return (mli_tensor){
        .data = {.capacity = planes * PLANE_BYTES, .mem.pi8 = (int8_t *)bytes},
        .mem_stride = {PLANE_BYTES, GAPPED, 1},
        .el_type = MLI_EL_FX_8,
    };
}

/* Compares a move on a channel, which is cut into chunks, with a synchronous move, which is not. */
static void compare_with_sync(struct planes *planes, const mli_mov_cfg_t *cfg)
{
    mli_tensor src = tensor_of(planes->src, PLANES);
    mli_tensor dst = tensor_of(planes->dst, 2 * PLANES);
    mli_tensor other = tensor_of(planes->other, 2 * PLANES);
    mli_mov_handle_t handle;

    src.rank = 3;
    memcpy(src.shape, (const uint32_t[]){PLANES, PLANE_ROWS, PLANE_COLS}, 3 * sizeof(uint32_t));
    memset(planes->dst, 0x90, sizeof(planes->dst));
    memset(planes->other, 0x90, sizeof(planes->other));
    assert_ok(mli_mov_acquire_handle(1, &handle));
    assert_ok(mli_mov_prepare(&handle, &src, cfg, &dst));
    assert_ok(mli_mov_start(&handle, &src, cfg, &dst));
    assert_ok(mli_mov_wait(&handle));
    assert_ok(mli_mov_release_handle(&handle));
    assert_ok(mli_mov_tensor_sync(&src, cfg, &other));
    assert_memory_equal(planes->dst, planes->other, sizeof(planes->dst));
}

static void test_planes_of_zeros(void **state)
{
    struct planes *planes = malloc(sizeof(*planes));
    mli_mov_cfg_t cfg;

    (void)state;
    assert_non_null(planes);
    for (size_t i = 0; i < sizeof(planes->src); i++)
        planes->src[i] = (uint8_t)(i % 251 + 1);
    assert_ok(mli_mov_set_engine("threads:tiny=0"));
    assert_ok(mli_mov_set_num_dma_ch(0, 1));
    assert_ok(mli_mov_cfg_for_copy(&cfg));
    cfg.padding_pre[0] = PLANES; /* planes that are all padding, without rows of the source */
    compare_with_sync(planes, &cfg);
    cfg.size[0] = PLANES; /* zeros only */
    compare_with_sync(planes, &cfg);
    assert_int_equal(planes->dst[PLANE_COLS - 1], 0);
    assert_int_equal(planes->dst[PLANE_COLS], 0x90);
    assert_ok(mli_mov_set_num_dma_ch(0, 0));
    free(planes);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_zeros_in_any_place),
        cmocka_unit_test(test_planes_of_zeros),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

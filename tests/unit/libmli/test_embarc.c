/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests for errors of embARC 2.0's host build, one test for each error. */
#include <stdatomic.h>
#include <string.h>
#ifdef __linux__
#include <sys/mman.h>
#include <unistd.h>
#endif

#include "tests/support/test_tile.h"
#include "tests/support/unit.h"

static atomic_int fired;

static void on_done(int32_t cookie)
{
    (void)cookie;
    atomic_fetch_add(&fired, 1);
}

/* Removes the state of other tests: the callback, the pool and the counter. */
static int fresh(void **state)
{
    (void)state;
    atomic_store(&fired, 0);
    return mli_mov_set_num_dma_ch(0, 0) != MLI_STATUS_OK;
}

/* The source and the result have the same packed shape, but different bytes. */
static void test_embarc_01_offsets_count_where_packed_shapes_agree(void **state)
{
    static const uint8_t shifted[] = {3, 4, 0, 0}, placed[] = {0xA5, 0xA5, 1, 2};
    struct tile t;

    (void)state;
    tile_init(&t, MLI_EL_FX_8);
    t.src.rank = 1;
    t.src.shape[0] = 4;
    t.cfg.padding_post[0] = 2;
    t.cfg.offset[0] = 2;
    assert_ok(tile_sync(&t));
    assert_int_equal(t.dst.shape[0], 4);
    assert_memory_equal(t.out, shifted, sizeof(shifted));

    tile_init(&t, MLI_EL_FX_8);
    t.src.rank = 1;
    t.src.shape[0] = 4;
    t.cfg.size[0] = 2;
    t.cfg.dst_offset[0] = 2;
    assert_ok(tile_sync(&t));
    assert_int_equal(t.dst.shape[0], 4);
    assert_memory_equal(t.out, placed, sizeof(placed));
}

static void assert_bad_cfg(struct tile *t, const char *names)
{
    struct tile before;

    memcpy(&before, t, sizeof(before));
    assert_status(tile_sync(t), MLI_STATUS_BAD_FUNC_CFG);
    assert_error_names(names, MLI_STATUS_BAD_FUNC_CFG);
    assert_memory_equal(t, &before, sizeof(before));
    mli_mov_cfg_for_copy(&t->cfg);
}

/* A bad cfg is also refused for tensors without an axis. */
static void test_embarc_02_cfg_is_checked_for_every_tensor(void **state)
{
    static const mli_element_type types[] = {MLI_EL_FX_16, MLI_EL_FP_32, MLI_EL_SA_8};
    struct tile t;

    (void)state;
    for (size_t i = 0; i < COUNT_OF(types); i++) {
        tile_init(&t, types[i]);
        t.cfg.sub_sample_step[1] = 0;
        assert_bad_cfg(&t, "cfg.sub_sample_step");
        t.cfg.perm_dim[0] = 255;
        assert_bad_cfg(&t, "cfg.perm_dim");
        t.cfg.offset[1] = 2;
        t.cfg.size[1] = 2;
        assert_bad_cfg(&t, "cfg.size");
    }
}

/* The tensors have 2^30 elements of 4 bytes, which are 4 GiB; in 32 bits this would wrap to 0. */
static void test_embarc_03_capacity_arithmetic_does_not_wrap(void **state)
{
    struct tile t, before;

    (void)state;
    tile_init(&t, MLI_EL_FP_32);
    t.cfg.dst_mem_stride[0] = 0x40000000;
    memcpy(&before, &t, sizeof(before));
    assert_status(tile_sync(&t), MLI_STATUS_NOT_ENGH_MEM);
    assert_memory_equal(&t, &before, sizeof(before));
    mli_mov_cfg_for_copy(&t.cfg);
    t.src.mem_stride[0] = 0x40000000;
    memcpy(&before, &t, sizeof(before));
    assert_status(tile_sync(&t), MLI_STATUS_NOT_ENGH_MEM);
    assert_memory_equal(&t, &before, sizeof(before));
    t.src.mem_stride[0] = 0;
    t.cfg.dst_offset[0] = 0x5555555; /* (0x5555555 + 2) * 12 * 4 is 4 GiB and 80 bytes */
    memcpy(&before, &t, sizeof(before));
    assert_status(tile_sync(&t), MLI_STATUS_NOT_ENGH_MEM);
    assert_memory_equal(&t, &before, sizeof(before));
}

/* Two buffers exactly 4 GiB apart have equal low 32 bits of their addresses. */
static void test_embarc_04_buffers_four_gib_apart_do_not_overlap(void **state)
{
#if UINTPTR_MAX > UINT32_MAX && defined(__linux__)
    const size_t apart = (size_t)1 << 32, page = (size_t)sysconf(_SC_PAGESIZE);
    struct tile t;
    uint8_t *map;

    (void)state;
    map = mmap(NULL, apart + page, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (map == MAP_FAILED)
        skip();
    assert_int_equal(mprotect(map, page, PROT_READ | PROT_WRITE), 0);
    assert_int_equal(mprotect(map + apart, page, PROT_READ | PROT_WRITE), 0);
    tile_init(&t, MLI_EL_FX_16);
    memcpy(map, t.in, 48);
    t.src.data.mem.pi8 = (int8_t *)map;
    t.dst.data.mem.pi8 = (int8_t *)map + apart;
    assert_ok(tile_sync(&t));
    assert_memory_equal(map + apart, t.in, 48);
    assert_int_equal(munmap(map, apart + page), 0);
#elif UINTPTR_MAX > UINT32_MAX /* the addresses are checked, but not accessed */
    struct tile t;

    (void)state;
    tile_init(&t, MLI_EL_FX_16);
    t.dst.data.mem.pi8 = (int8_t *)((uintptr_t)t.in + ((uintptr_t)1 << 32));
    assert_ok(mli_mov_check(&t.src, &t.cfg, &t.dst));
    t.dst.data.mem.pi8 = (int8_t *)t.in;
    assert_status(mli_mov_check(&t.src, &t.cfg, &t.dst), MLI_STATUS_INCOMPATEBLE_TENSORS);
#else
    (void)state;
    skip();
#endif
}

static void test_embarc_05_huge_steps_take_the_first_sample(void **state)
{
    static const uint32_t steps[] = {UINT32_MAX, UINT32_MAX - 1, 0x80000000u, 4};
    struct tile t;

    (void)state;
    for (size_t i = 0; i < COUNT_OF(steps); i++) {
        tile_init(&t, MLI_EL_FX_8);
        t.cfg.sub_sample_step[2] = steps[i];
        assert_ok(tile_sync(&t));
        assert_int_equal(t.dst.shape[2], 1);
        assert_int_equal(t.out[1], 5);
        assert_int_equal(t.out[5], 21);
        assert_int_equal(t.out[6], 0xA5);
    }
}

static void run(mli_mov_handle_t *h, struct tile *t)
{
    assert_ok(tile_prepare(t, h));
    assert_ok(mli_mov_start(h, NULL, NULL, NULL));
    assert_ok(mli_mov_wait(h));
}

static void test_embarc_06_callbacks_do_not_outlive_their_handle(void **state)
{
    mli_mov_handle_t h, mine;
    struct tile t;

    (void)state;
    tile_init(&t, MLI_EL_FX_16);
    assert_ok(mli_mov_set_num_dma_ch(0, 2));
    assert_ok(mli_mov_acquire_handle(1, &h));
    assert_ok(mli_mov_registercallback(&h, on_done, 1));
    assert_ok(mli_mov_release_handle(&h));
    assert_ok(mli_mov_acquire_handle(2, &h)); /* this channel is one of the two claimed channels */
    run(&h, &t);
    assert_ok(mli_mov_release_handle(&h));
    assert_int_equal(atomic_load(&fired), 0);

    assert_ok(mli_mov_acquire_handle(1, &mine));
    assert_ok(tile_prepare(&t, &mine));
    assert_ok(mli_mov_registercallback(&mine, on_done, 1));
    assert_ok(tile_sync(&t)); /* a synchronous move belongs to no handle */
    assert_int_equal(atomic_load(&fired), 0);
    assert_ok(mli_mov_release_handle(&mine));
    assert_ok(tile_sync(&t));
    assert_int_equal(atomic_load(&fired), 0);
}

static void test_embarc_07_the_pool_has_an_end(void **state)
{
    mli_mov_handle_t h[3];

    (void)state;
    assert_ok(mli_mov_set_num_dma_ch(2, 2));
    assert_ok(mli_mov_acquire_handle(1, &h[0]));
    assert_ok(mli_mov_acquire_handle(1, &h[1]));
    assert_status(mli_mov_acquire_handle(1, &h[2]), MLI_STATUS_NOT_ENGH_MEM);
    assert_ok(mli_mov_release_handle(&h[0]));
    assert_status(mli_mov_acquire_handle(2, &h[2]), MLI_STATUS_NOT_ENGH_MEM);
    /* The test has not released h[1] yet. */
    assert_status(mli_mov_set_num_dma_ch(2, 2), MLI_STATUS_ARGUMENT_ERROR);
    assert_status(mli_mov_acquire_handle(2, &h[2]), MLI_STATUS_NOT_ENGH_MEM);
    assert_ok(mli_mov_release_handle(&h[1]));
    assert_ok(mli_mov_acquire_handle(2, &h[2]));
    assert_ok(mli_mov_release_handle(&h[2]));
}

static void test_embarc_08_data_moves_at_start_and_wait_never_hangs(void **state)
{
    mli_mov_handle_t h;
    struct tile t;

    (void)state;
    tile_init(&t, MLI_EL_FX_16);
    assert_ok(mli_mov_set_num_dma_ch(0, 1));
    assert_ok(mli_mov_acquire_handle(1, &h));
    assert_status(mli_mov_wait(&h), MLI_STATUS_ARGUMENT_ERROR);
    assert_ok(tile_prepare(&t, &h));
    for (size_t i = 0; i < sizeof(t.out); i++)
        assert_int_equal(t.out[i], 0xA5);
    assert_false(mli_mov_isdone(&h));
    assert_status(mli_mov_wait(&h), MLI_STATUS_ARGUMENT_ERROR);
    assert_ok(mli_mov_start(&h, &t.src, &t.cfg, &t.dst));
    assert_ok(mli_mov_wait(&h));
    assert_true(mli_mov_isdone(&h));
    assert_memory_equal(t.out, t.in, 48);
    assert_ok(mli_mov_release_handle(&h));
}

static void test_embarc_09_any_negative_dim_is_per_tensor(void **state)
{
    static const int32_t dims[] = {-1, -2, -1000, INT32_MIN};
    struct tile t;

    (void)state;
    for (size_t i = 0; i < COUNT_OF(dims); i++) {
        tile_init(&t, MLI_EL_SA_8);
        t.src.el_params.sa.dim = dims[i];
        assert_ok(tile_sync(&t));
        assert_true(t.dst.el_params.sa.dim < 0);
        memset(t.dst.mem_stride, 0, sizeof(t.dst.mem_stride));
        tile_for_permute(&t, 1, 2, 0);
        memset(&t.dst.el_params, 0xEE, sizeof(t.dst.el_params));
        assert_ok(mli_krn_permute_sa8(&t.src, &t.permute_cfg, &t.dst));
        assert_true(t.dst.el_params.sa.dim < 0);
        assert_int_equal(t.dst.el_params.sa.type, MLI_EL_PARAM_SC16_ZP16);
        assert_int_equal(t.dst.el_params.sa.scale.mem.i16, 77);
        assert_int_equal(t.dst.el_params.sa.zero_point.capacity, 0);
        assert_int_equal(t.dst.el_params.sa.scale.capacity, 0);
        assert_int_equal(t.dst.el_params.sa.scale_frac_bits.capacity, 0);
    }
}

/* In the per-axis case, the permute also sets the type and the capacities. */
static void test_embarc_09_permute_completes_el_params(void **state)
{
    struct tile t;

    (void)state;
    tile_init(&t, MLI_EL_SA_8);
    tile_per_axis(&t, 0, TILE_NULL);
    tile_for_permute(&t, 1, 2, 0);
    t.dst.el_params.sa.type = MLI_EL_PARAM_LARGE_ENUM;
    assert_ok(mli_krn_permute_sa8(&t.src, &t.permute_cfg, &t.dst));
    assert_int_equal(t.dst.el_params.sa.dim, 2);
    assert_int_equal(t.dst.el_params.sa.type, MLI_EL_PARAM_SC16_ZP16);
    assert_int_equal(t.dst.el_params.sa.zero_point.capacity, 4);
    assert_int_equal(t.dst.el_params.sa.scale.capacity, 4);
    assert_int_equal(t.dst.el_params.sa.scale_frac_bits.capacity, 2);
}

static void test_embarc_10_a_refused_move_changes_nothing(void **state)
{
    struct tile t, before;

    (void)state;
    tile_init(&t, MLI_EL_SA_8);
    tile_per_axis(&t, 2, TILE_OWN);
    memset(t.dst.shape, 0x11, sizeof(t.dst.shape));
    t.dst.rank = 2;
    t.dst.data.capacity = 23; /* the capacity is checked last, after shapes and strides */
    memcpy(&before, &t, sizeof(before));
    assert_status(tile_sync(&t), MLI_STATUS_NOT_ENGH_MEM);
    assert_memory_equal(&t, &before, sizeof(before));
    t.dst.data.capacity = 24;
    t.dst.el_params.sa.scale_frac_bits.capacity = 3; /* only two of three arrays are long enough */
    memcpy(&before, &t, sizeof(before));
    assert_status(tile_sync(&t), MLI_STATUS_SPEC_PARAM_MISMATCH);
    assert_memory_equal(&t, &before, sizeof(before));
}

#define EMBARC_TEST(name) cmocka_unit_test_setup(name, fresh)

int main(void)
{
    const struct CMUnitTest tests[] = {
        EMBARC_TEST(test_embarc_01_offsets_count_where_packed_shapes_agree),
        EMBARC_TEST(test_embarc_02_cfg_is_checked_for_every_tensor),
        EMBARC_TEST(test_embarc_03_capacity_arithmetic_does_not_wrap),
        EMBARC_TEST(test_embarc_04_buffers_four_gib_apart_do_not_overlap),
        EMBARC_TEST(test_embarc_05_huge_steps_take_the_first_sample),
        EMBARC_TEST(test_embarc_06_callbacks_do_not_outlive_their_handle),
        EMBARC_TEST(test_embarc_07_the_pool_has_an_end),
        EMBARC_TEST(test_embarc_08_data_moves_at_start_and_wait_never_hangs),
        EMBARC_TEST(test_embarc_09_any_negative_dim_is_per_tensor),
        EMBARC_TEST(test_embarc_09_permute_completes_el_params),
        EMBARC_TEST(test_embarc_10_a_refused_move_changes_nothing),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

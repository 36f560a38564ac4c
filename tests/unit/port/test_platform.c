/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Tests the functions of the platform with the mock port: a device that does not see the
 * processor's cache, addresses of the bus, and attached memory behind an IOMMU.
 */
#include "tests/support/unit.h"

#include <stdlib.h>
#include <string.h>

#include "libmli/port/mock/mock_device.h"
#include "libmli/port/ports.h"
#include "mli_engine.h"
#include "tests/support/rng.h"
#include "tests/unit/port/moves.h"

enum { CACHED = 64 * 1024, OUT = CACHED / 2, MOVES = 400 };
#define BUS_OFFSET (UINT64_C(1) << 60)

static _Alignas(MOCK_LINE) uint8_t memory[CACHED], behind[CACHED];

static int teardown(void **state)
{
    (void)state;
    mock_bus_set_cache(NULL, NULL, 0);
    mock_bus_set_offset(0);
    if (mli_mov_set_num_dma_ch(0, 0) != MLI_STATUS_OK)
        return -1;
    return mli_mov_set_platform(NULL) == MLI_STATUS_OK ? 0 : -1;
}

static void clean_invalidate(const void *address, size_t bytes)
{
    mock_cache_clean(address, bytes);
    mock_cache_invalidate(address, bytes);
}

static uint64_t bus_address(const void *address)
{
    return (uintptr_t)address + BUS_OFFSET;
}

static const struct mli_platform incoherent = {
    .size = sizeof(struct mli_platform),
    .line = MOCK_LINE,
    .clean = mock_cache_clean,
    .clean_invalidate = clean_invalidate,
    .invalidate = mock_cache_invalidate,
};

/*
 * A random move from one half of the cached memory to the other; the bytes around both tensors must
 * not change.
 */
static void random_move(struct rng *rng, mli_tensor *src, mli_mov_cfg_t *cfg, mli_tensor *dst)
{
    const uint8_t perms[][MLI_MAX_RANK] = {{0, 1, 2}, {2, 0, 1}, {1, 0, 2}, {0, 2, 1}};

    memset(src, 0, sizeof(*src));
    memset(dst, 0, sizeof(*dst));
    src->rank = 3;
    src->el_type = MLI_EL_FX_8;
    for (uint32_t i = 0; i < src->rank; i++)
        src->shape[i] = rng_between(rng, 1, 20);
    src->data.mem.pi8 = (int8_t *)memory + rng_below(rng, 200);
    src->data.capacity = OUT - 200;
    dst->data.mem.pi8 = (int8_t *)memory + OUT + rng_below(rng, 200);
    dst->data.capacity = OUT - 200;
    assert_ok(mli_mov_cfg_for_permute(cfg, perms[rng_below(rng, COUNT_OF(perms))]));
    for (uint32_t i = 0; i < src->rank; i++) {
        cfg->padding_pre[i] = (uint8_t)(rng_chance(rng, 30) ? rng_below(rng, 3) : 0);
        cfg->padding_post[i] = (uint8_t)(rng_chance(rng, 30) ? rng_below(rng, 3) : 0);
    }
    dst->mem_stride[2] = rng_chance(rng, 50) ? 1 : 2;
    dst->mem_stride[1] = 26 * dst->mem_stride[2];
    dst->mem_stride[0] = 26 * dst->mem_stride[1];
}

/* Returns whether the device's move has the same result as a move by the processor. */
static bool moves_alike(struct rng *rng, uint32_t channels)
{
    static uint8_t expected[CACHED];
    mli_tensor src, dst, unplaced;
    mli_mov_cfg_t cfg;
    mli_mov_handle_t h;

    do {
        random_move(rng, &src, &cfg, &dst);
        unplaced = dst;
    } while (mli_mov_check(&src, &cfg, &unplaced) != MLI_STATUS_OK);
    for (size_t i = 0; i < CACHED; i++) {
        memory[i] = (uint8_t)rng_below(rng, 256);
        behind[i] = (uint8_t)~memory[i]; /* no cache line is written back yet */
    }
    memcpy(expected, memory, CACHED);
    assert_ok(mli_mov_acquire_handle((int)channels, &h));
    assert_ok(mli_mov_prepare(&h, &src, &cfg, &dst));
    assert_ok(mli_mov_start(&h, NULL, NULL, NULL));
    assert_ok(mli_mov_wait(&h));
    assert_ok(mli_mov_release_handle(&h));
    dst = unplaced;
    dst.data.mem.pi8 = (int8_t *)expected + (dst.data.mem.pi8 - (int8_t *)memory);
    assert_ok(mli_mov_acquire_handle(0, &h)); /* the processor moves these pieces */
    assert_ok(mli_mov_prepare(&h, &src, &cfg, &dst));
    mock_cache_invalidate(memory, OUT);
    memcpy(memory, expected, OUT);
    assert_ok(mli_mov_start(&h, NULL, NULL, NULL));
    assert_ok(mli_mov_wait(&h));
    assert_ok(mli_mov_release_handle(&h));
    return memcmp(memory + OUT, expected + OUT, OUT) == 0;
}

static uint32_t count_wrong(const char *engine, uint32_t channels, uint32_t moves)
{
    struct rng rng = rng_for_case(20261123, channels);
    uint32_t wrong = 0;

    moves_engine(engine, (int)channels);
    mock_bus_set_cache(memory, behind, CACHED);
    for (uint32_t i = 0; i < moves; i++)
        wrong += !moves_alike(&rng, channels);
    moves_engine_away();
    mock_bus_set_cache(NULL, NULL, 0);
    return wrong;
}

/*
 * Without cache maintenance, the device reads old bytes, and so does the processor after the device
 * has written.
 */
static void test_cache_without_maintenance(void **state)
{
    (void)state;
    assert_int_equal(count_wrong("mock", 1, 20), 20);
}

static void test_cache_with_maintenance(void **state)
{
    (void)state;
    assert_ok(mli_mov_set_platform(&incoherent));
    assert_false(mli_mov_is_coherent());
    assert_int_equal(count_wrong("mock", 1, MOVES), 0);
    assert_int_equal(count_wrong("mock", 4, MOVES), 0);
    assert_int_equal(count_wrong("mock:interrupt=1,loops=0", 1, MOVES), 0);
}

/* The processor writes parts of cache lines whose other parts the device writes. */
static void test_cache_and_pieces_of_the_processor(void **state)
{
    (void)state;
    assert_ok(mli_mov_set_platform(&incoherent));
    assert_int_equal(count_wrong("mock:unit=8", 1, MOVES), 0);
    assert_int_equal(count_wrong("mock:unit=2,worth=16", 4, MOVES), 0);
}

static void test_bus_addresses(void **state)
{
    const struct mli_platform shifted = {.size = sizeof shifted, .bus_address = bus_address};
    struct move m;
    mli_mov_handle_t h;

    (void)state;
    mock_bus_set_offset(BUS_OFFSET);
    for (int i = 0; i < 2; i++) {
        moves_engine("mock", 1);
        move_init_padded(&m, 7, 9);
        move_prepare(&m, 1, &h);
        assert_ok(mli_mov_start(&h, NULL, NULL, NULL));
        assert_status(mli_mov_wait(&h), i == 0 ? MLI_STATUS_DMA_ERROR : MLI_STATUS_OK);
        assert_int_equal(i, move_is_right(&m));
        assert_ok(mli_mov_release_handle(&h));
        move_finish(&m);
        moves_engine_away();
        assert_ok(mli_mov_set_platform(&shifted));
        assert_true(mli_mov_is_coherent());
    }
}

static void test_refused_platforms(void **state)
{
    struct mli_platform platform = {.size = sizeof platform};

    (void)state;
    moves_engine("mock", 1);
    assert_status(mli_mov_set_platform(&platform), MLI_STATUS_ARGUMENT_ERROR);
    moves_engine_away();
    platform.line = 48;
    assert_status(mli_mov_set_platform(&platform), MLI_STATUS_ARGUMENT_ERROR);
    platform = (struct mli_platform){.size = 0};
    assert_status(mli_mov_set_platform(&platform), MLI_STATUS_ARGUMENT_ERROR);
    platform.size = offsetof(struct mli_platform, clean); /* a later library has more members */
    assert_ok(mli_mov_set_platform(&platform));
    assert_true(mli_mov_is_coherent());
}

static mli_mov_memory memory_of(uint8_t *at, uint32_t bytes, uint32_t flags)
{
    return (mli_mov_memory){.address = at, .size = bytes, .fd = -1, .flags = flags};
}

/* Behind an IOMMU, the device can access attached memory only. */
static void test_attached_memory(void **state)
{
    struct move m;
    mli_mov_handle_t h;
    mli_mov_memory in, out;

    (void)state;
    moves_engine("mock:iommu=1", 1);
    move_init_padded(&m, 30, 50);
    in = memory_of(m.in, m.in_bytes, 0);
    out = memory_of(m.out, m.out_bytes, 0);
    move_prepare(&m, 1, &h);
    for (int i = 0; i < 4; i++) {
        assert_ok(mli_mov_start(&h, NULL, NULL, NULL));
        assert_status(mli_mov_wait(&h), i < 3 ? MLI_STATUS_DMA_ERROR : MLI_STATUS_OK);
        assert_int_equal(i == 3, move_is_right(&m));
        if (i == 0)
            assert_ok(mli_mov_attach_memory(&in));
        if (i == 1) /* not for writing */
            assert_ok(mli_mov_attach_memory(&out));
        if (i == 2) {
            mli_mov_detach_memory(&out);
            out.flags = MLI_MOV_MEMORY_WRITE;
            assert_ok(mli_mov_attach_memory(&out));
        }
    }
    mli_mov_detach_memory(&in);
    mli_mov_detach_memory(&out);
    mli_mov_detach_memory(&out); /* is not attached any more */
    mli_mov_detach_memory(NULL);
    assert_ok(mli_mov_start(&h, NULL, NULL, NULL));
    assert_status(mli_mov_wait(&h), MLI_STATUS_DMA_ERROR);
    assert_ok(mli_mov_release_handle(&h));
    move_finish(&m);
}

static void test_refused_memory(void **state)
{
    static mli_mov_memory all[MOCK_MAPPINGS + 1];
    mli_mov_memory bad = memory_of(NULL, 1, 0);

    (void)state;
    assert_status(mli_mov_attach_memory(NULL), MLI_STATUS_ARGUMENT_ERROR);
    assert_status(mli_mov_attach_memory(&bad), MLI_STATUS_ARGUMENT_ERROR);
    bad = memory_of(memory, 0, 0);
    assert_status(mli_mov_attach_memory(&bad), MLI_STATUS_ARGUMENT_ERROR);
    bad = memory_of(memory, 1, 4);
    assert_status(mli_mov_attach_memory(&bad), MLI_STATUS_ARGUMENT_ERROR);
    assert_ok(mli_mov_set_engine("fault:mock,iommu=1"));
    for (int i = 0; i <= MOCK_MAPPINGS; i++) {
        all[i] = memory_of(memory + i, 1, 0);
        assert_status(mli_mov_attach_memory(&all[i]),
                      i < MOCK_MAPPINGS ? MLI_STATUS_OK : MLI_STATUS_NOT_ENGH_MEM);
    }
    for (int i = 0; i <= MOCK_MAPPINGS; i++)
        mli_mov_detach_memory(&all[i]);
    assert_ok(mli_mov_set_engine("inline")); /* has nothing to attach to */
    assert_ok(mli_mov_attach_memory(&all[0]));
    mli_mov_detach_memory(&all[0]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(test_cache_without_maintenance, teardown),
        cmocka_unit_test_teardown(test_cache_with_maintenance, teardown),
        cmocka_unit_test_teardown(test_cache_and_pieces_of_the_processor, teardown),
        cmocka_unit_test_teardown(test_bus_addresses, teardown),
        cmocka_unit_test_teardown(test_refused_platforms, teardown),
        cmocka_unit_test_teardown(test_attached_memory, teardown),
        cmocka_unit_test_teardown(test_refused_memory, teardown),
    };

    ports_add();
    return cmocka_run_group_tests(tests, NULL, NULL);
}

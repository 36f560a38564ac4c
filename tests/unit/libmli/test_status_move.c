/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Tests every status of a refused move, by mli_mov_tensor_sync(), mli_mov_prepare(),
 * mli_mov_check() and mli_mov_layout(): the documented status, a message that names the field, and
 * no change.
 */
#include <string.h>

#include "tests/unit/libmli/faults.h"
#include "tests/unit/libmli/faults_cfg.h"
#include "tests/unit/libmli/faults_quant.h"
#include "tests/unit/libmli/faults_tensor.h"

#define FAULTS(X) FAULTS_TENSOR(X) FAULTS_CFG(X) FAULTS_QUANT(X)

FAULTS(FAULT_FUNCTION)
FAULTS(FAULT_ENTRY)

static void assert_refused(const struct fault *f, mli_status got, const struct tile *t,
                           const struct tile *before)
{
    assert_status(got, f->status);
    assert_error_names(f->names, f->status);
    assert_memory_equal(t, before, sizeof(*t));
}

static void refused_by_sync(void **state)
{
    const struct fault *f = *state;
    struct tile t, before;

    fault_make(f, &t);
    memcpy(&before, &t, sizeof(t));
    assert_refused(f, tile_sync(&t), &t, &before);
}

static void refused_by_check(void **state)
{
    const struct fault *f = *state;
    struct tile t, before;

    fault_make(f, &t);
    memcpy(&before, &t, sizeof(t));
    assert_refused(f, mli_mov_check(t.psrc, t.pcfg, t.pdst), &t, &before);
}

static mli_mov_handle_t claimed;

static int claim(void **state)
{
    (void)state;
    return mli_mov_acquire_handle(1, &claimed) != MLI_STATUS_OK;
}

static int unclaim(void **state)
{
    (void)state;
    return mli_mov_release_handle(&claimed) != MLI_STATUS_OK;
}

/*
 * A refused prepare does not change the handle either: the handle still has no transfer, or has its
 * old transfer.
 */
static void refused_by_prepare(void **state)
{
    const struct fault *f = *state;
    struct tile t, before, legal;
    mli_mov_handle_t h_before;

    fault_make(f, &t);
    memcpy(&before, &t, sizeof(t));
    unit_snapshot(&h_before, &claimed, sizeof(claimed));
    assert_refused(f, tile_prepare(&t, &claimed), &t, &before);
    assert_memory_equal(&claimed, &h_before, sizeof(claimed));
    assert_status(mli_mov_start(&claimed, NULL, NULL, NULL), MLI_STATUS_ARGUMENT_ERROR);

    tile_init(&legal, MLI_EL_FX_16);
    assert_ok(tile_prepare(&legal, &claimed));
    unit_snapshot(&h_before, &claimed, sizeof(claimed));
    assert_refused(f, tile_prepare(&t, &claimed), &t, &before);
    assert_memory_equal(&claimed, &h_before, sizeof(claimed));
    assert_ok(mli_mov_start(&claimed, NULL, NULL, NULL));
    assert_ok(mli_mov_wait(&claimed));
    assert_memory_equal(legal.out, legal.in, tile_bytes(&legal));
    assert_memory_equal(&t, &before, sizeof(t));
}

static void judged_by_layout(void **state)
{
    const struct fault *f = *state;
    struct tile t, before;
    mli_status got;

    fault_make(f, &t);
    memcpy(&before, &t, sizeof(t));
    got = mli_mov_layout(t.psrc, t.pcfg, t.pdst);
    if (f->layout == LAYOUT_SAME)
        assert_refused(f, got, &t, &before);
    else if (f->layout == LAYOUT_OK)
        assert_ok(got);
    assert_memory_equal(t.out, before.out, sizeof(t.out));
    assert_memory_equal(&t.src, &before.src, sizeof(t.src));
}

static int one_channel(void **state)
{
    (void)state;
    return mli_mov_set_num_dma_ch(0, 1) != MLI_STATUS_OK;
}

static int no_channel(void **state)
{
    (void)state;
    return mli_mov_set_num_dma_ch(0, 0) != MLI_STATUS_OK;
}

#define SYNC_TEST(name, base, status, layout, names, code)                                         \
    {"sync: " #name, refused_by_sync, NULL, NULL, &fault_##name},
#define CHECK_TEST(name, base, status, layout, names, code)                                        \
    {"check: " #name, refused_by_check, NULL, NULL, &fault_##name},
#define PREPARE_TEST(name, base, status, layout, names, code)                                      \
    {"prepare: " #name, refused_by_prepare, claim, unclaim, &fault_##name},
#define LAYOUT_TEST(name, base, status, layout, names, code)                                       \
    {"layout: " #name, judged_by_layout, NULL, NULL, &fault_##name},

int main(void)
{
    const struct CMUnitTest tests[] = {FAULTS(SYNC_TEST) FAULTS(CHECK_TEST) FAULTS(PREPARE_TEST)
                                           FAULTS(LAYOUT_TEST)};

    return cmocka_run_group_tests(tests, one_channel, no_channel);
}

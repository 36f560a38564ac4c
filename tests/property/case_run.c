/* SPDX-License-Identifier: BSD-3-Clause */
/* Makes the call of a case that c->via names; case_check.c checks the results. */
#include <stdatomic.h>
#include <string.h>

#include "tests/property/random_case.h"
#include "tests/support/pause.h"

typedef mli_status kernel_fn(const mli_tensor *, const mli_permute_cfg *, mli_tensor *);

static atomic_int callbacks;
static atomic_int last_cookie;

static void on_done(int32_t cookie)
{
    atomic_store(&last_cookie, cookie);
    atomic_fetch_add(&callbacks, 1);
}

static const mli_tensor *given_src(const struct test_case *c)
{
    return c->null_src ? NULL : &c->src;
}

static const mli_mov_cfg_t *given_cfg(const struct test_case *c)
{
    return c->null_cfg ? NULL : &c->cfg;
}

static mli_tensor *given_dst(struct test_case *c)
{
    return c->null_dst ? NULL : &c->dst;
}

/* Computes the expected bytes of the destination. */
static void expect_moved(struct test_case *c)
{
    const mli_tensor *src = &c->src;
    struct oracle_params to = {
        (int16_t *)(void *)watched_image(&c->lab->dst_q[0]),
        (int16_t *)(void *)watched_image(&c->lab->dst_q[1]),
        (int8_t *)watched_image(&c->lab->dst_q[2]),
    };

    oracle_move(&c->expected, src, &c->cfg, (const uint8_t *)src->data.mem.pi8,
                watched_image(&c->lab->dst));
    if (c->expected.copies_params)
        oracle_move_params(&c->expected, src, &c->cfg, &to);
}

static void expect_status(struct test_case *c, const char *call, mli_status got, mli_status want)
{
    if (got != want)
        case_fail(c, "%s: %s, expected %s (last error: %s)", call, mli_status_name(got),
                  mli_status_name(want), mli_last_error());
}

/*
 * Checks that mli_mov_layout() returns the layout of the move, whatever the pointers and capacities
 * are.
 */
static void check_layout(struct test_case *c, const mli_tensor *dst_before)
{
    mli_tensor src = c->src, dst;
    const struct oracle *o = &c->expected;
    mli_status got;

    if (o->layout_status == MLI_STATUS_LARGE_ENUM)
        return;
    memcpy(&dst, dst_before, sizeof(dst));
    src.data.mem.pi8 = NULL;
    dst.data.mem.pi8 = NULL;
    src.data.capacity = 0;
    c->stage = "layout";
    got = mli_mov_layout(c->null_src ? NULL : &src, given_cfg(c), c->null_dst ? NULL : &dst);
    expect_status(c, "mli_mov_layout", got, o->layout_status);
    if (got != MLI_STATUS_OK || o->status != MLI_STATUS_OK || c->failed)
        return;
    if (dst.data.capacity != o->dst_bytes || dst.data.mem.pi8 != NULL ||
        memcmp(&dst.el_params, &dst_before->el_params, sizeof(dst.el_params)) != 0)
        case_fail(c, "layout: data or el_params wrong, capacity %u, needed %u",
                  (unsigned)dst.data.capacity, (unsigned)o->dst_bytes);
    if (dst.rank != c->dst.rank || dst.el_type != c->dst.el_type ||
        memcmp(dst.shape, c->dst.shape, dst.rank * sizeof(dst.shape[0])) != 0 ||
        memcmp(dst.mem_stride, c->dst.mem_stride, dst.rank * sizeof(dst.shape[0])) != 0)
        case_fail(c, "layout is not the move's");
}

static void run_sync(struct test_case *c)
{
    c->stage = "sync";
    if (c->expected.status == MLI_STATUS_OK)
        expect_moved(c);
    expect_status(c, "mli_mov_tensor_sync",
                  mli_mov_tensor_sync(given_src(c), given_cfg(c), given_dst(c)),
                  c->expected.status);
}

/*
 * Prepares with copies of the arguments that are destroyed afterwards: the library must not read
 * them later.
 */
static mli_status prepare_and_forget(struct test_case *c, mli_mov_handle_t *h)
{
    mli_tensor src, dst;
    mli_mov_cfg_t cfg;
    mli_status status;

    memcpy(&src, &c->src, sizeof(src));
    memcpy(&dst, &c->dst, sizeof(dst));
    memcpy(&cfg, &c->cfg, sizeof(cfg));
    c->stage = "prepare";
    status = mli_mov_prepare(h, c->null_src ? NULL : &src, c->null_cfg ? NULL : &cfg,
                             c->null_dst ? NULL : &dst);
    memcpy(&c->dst, &dst, sizeof(dst));
    memset(&src, 0xEE, sizeof(src));
    memset(&dst, 0xEE, sizeof(dst));
    memset(&cfg, 0xEE, sizeof(cfg));
    __asm__ volatile("" : : "r"(&src), "r"(&dst), "r"(&cfg) : "memory");
    return status;
}

static void start_and_wait(struct test_case *c, mli_mov_handle_t *h)
{
    c->stage = "start";
    expect_status(c, "mli_mov_start", mli_mov_start(h, NULL, NULL, NULL), MLI_STATUS_OK);
    c->stage = "wait";
    expect_status(c, "mli_mov_wait", mli_mov_wait(h), MLI_STATUS_OK);
    if (!mli_mov_isdone(h))
        case_fail(c, "mli_mov_isdone is false after mli_mov_wait");
}

/* If another thread completes the transfer, the callback may come shortly after wait(). */
static void check_callback(struct test_case *c, int32_t cookie)
{
    for (int ms = 0; ms < 2000 && atomic_load(&callbacks) == 0; ms++)
        pause_ms();
    if (atomic_load(&callbacks) != 1 || atomic_load(&last_cookie) != cookie)
        case_fail(c, "callback: %d calls, cookie %d, expected 1 and %d", atomic_load(&callbacks),
                  atomic_load(&last_cookie), (int)cookie);
}

static void run_prepared(struct test_case *c, mli_mov_handle_t *h)
{
    int32_t cookie = (int32_t)draw_next(&c->draw);
    struct watched *dst = &c->lab->dst;

    if (watched_difference(dst) != WATCHED_SAME)
        case_fail(c, "mli_mov_prepare wrote to the destination's data");
    expect_moved(c);
    atomic_store(&callbacks, 0);
    if (c->via == VIA_CALLBACK)
        expect_status(c, "mli_mov_registercallback", mli_mov_registercallback(h, on_done, cookie),
                      MLI_STATUS_OK);
    start_and_wait(c, h);
    if (c->via == VIA_CALLBACK)
        check_callback(c, cookie);
    if (c->via != VIA_TWICE)
        return;
    case_check_memory(c);
    watched_fill(dst, &c->draw); /* a second start must move the data again */
    expect_moved(c);
    start_and_wait(c, h);
}

static void run_async(struct test_case *c)
{
    mli_mov_handle_t h;
    mli_status got;

    c->stage = "acquire";
    expect_status(c, "mli_mov_acquire_handle", mli_mov_acquire_handle(c->channels, &h),
                  MLI_STATUS_OK);
    if (c->failed)
        return;
    got = prepare_and_forget(c, &h);
    expect_status(c, "mli_mov_prepare", got, c->expected.status);
    if (got == MLI_STATUS_OK && !c->failed)
        run_prepared(c, &h);
    c->stage = "release";
    expect_status(c, "mli_mov_release_handle", mli_mov_release_handle(&h), MLI_STATUS_OK);
    if (c->via == VIA_CALLBACK && got == MLI_STATUS_OK && atomic_load(&callbacks) != 1)
        case_fail(c, "callback: %d calls after release", atomic_load(&callbacks));
}

static kernel_fn *kernel_for(mli_element_type type)
{
    switch (type) {
    case MLI_EL_SA_8:
        return mli_krn_permute_sa8;
    case MLI_EL_FX_8:
        return mli_krn_permute_fx8;
    case MLI_EL_FX_16:
        return mli_krn_permute_fx16;
    default:
        return mli_krn_permute_sa32;
    }
}

static void run_permute(struct test_case *c)
{
    c->stage = "permute";
    if (c->expected.status == MLI_STATUS_OK)
        expect_moved(c);
    expect_status(
        c, "mli_krn_permute",
        kernel_for(c->kernel)(given_src(c), c->null_cfg ? NULL : &c->permute_cfg, given_dst(c)),
        c->expected.status);
}

bool case_run(struct test_case *c)
{
    struct test_case before;

    memcpy(&before, c, sizeof(before));
    if (c->via == VIA_PERMUTE)
        run_permute(c);
    else if (c->via == VIA_SYNC)
        run_sync(c);
    else
        run_async(c);
    c->stage = "compare";
    if (!c->failed && (memcmp(&c->src, &before.src, sizeof(c->src)) != 0 ||
                       memcmp(&c->cfg, &before.cfg, sizeof(c->cfg)) != 0 ||
                       memcmp(&c->permute_cfg, &before.permute_cfg, sizeof(c->permute_cfg)) != 0))
        case_fail(c, "src or cfg was changed");
    if (!c->failed)
        case_check_done(c, &before.dst);
    if (!c->failed && c->via != VIA_PERMUTE)
        check_layout(c, &before.dst);
    return !c->failed;
}

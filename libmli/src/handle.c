/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Functions mli_mov_*: the life of a handle, from acquire to release, and of its transfers. plan.h
 * describes the way of a move through the library.
 */
#include "libmli/src/dma/pool.h"
#include "libmli/src/error.h"
#include "libmli/src/transfer.h"
#include "mli_mov_api.h"

_Static_assert(sizeof(struct mli_plan) <= sizeof(((mli_mov_handle_t *)0)->plan),
               "a handle holds a whole plan");

static mli_status refuse_null(void)
{
    return refuse(MLI_STATUS_ARGUMENT_ERROR, "h", ": null given; a handle is required");
}

/* Makes *h the handle of a claim, if `claimed` says that pool_claim() succeeded. */
static mli_status set_handle(mli_mov_handle_t *h, mli_status claimed, const struct claim *claim)
{
    if (claimed != MLI_STATUS_OK)
        return claimed;
    h->first = claim->first;
    h->count = claim->count;
    h->generation = claim->generation;
    h->prepared = 0;
    return MLI_STATUS_OK;
}

mli_status mli_mov_acquire_handle(int num_ch, mli_mov_handle_t *h)
{
    struct claim claim;

    return h ? set_handle(h, pool_claim(num_ch, &claim), &claim) : refuse_null();
}

mli_status mli_mov_acquire_handle_at(int first, int num_ch, mli_mov_handle_t *h)
{
    struct claim claim;

    return h ? set_handle(h, pool_claim_at(first, num_ch, &claim), &claim) : refuse_null();
}

/* Finds the slot of a handle, or refuses the handle. */
static mli_status find_slot(const mli_mov_handle_t *h, struct claim *claim, struct slot **slot)
{
    *slot = NULL;
    if (!h)
        return refuse_null();
    *claim = (struct claim){h->first, h->count, h->generation};
    *slot = run_slot_of(claim);
    if (!*slot)
        return refuse(MLI_STATUS_ARGUMENT_ERROR, "h",
                      ": the handle was released or never acquired");
    return MLI_STATUS_OK;
}

static mli_status refuse_running(void)
{
    return refuse(MLI_STATUS_ARGUMENT_ERROR, "h", ": its transfer is running");
}

/* Finds the slot of a handle without a running transfer, or refuses the handle. */
static mli_status find_resting_slot(const mli_mov_handle_t *h, struct claim *claim,
                                    struct slot **slot)
{
    const mli_status status = find_slot(h, claim, slot);

    if (status == MLI_STATUS_OK && run_state(*slot) == SLOT_RUNNING)
        return refuse_running();
    return status;
}

mli_status mli_mov_release_handle(mli_mov_handle_t *h)
{
    struct claim claim;
    struct slot *slot;
    const mli_status status = find_resting_slot(h, &claim, &slot);

    if (status != MLI_STATUS_OK)
        return status;
    if (!run_in_callback() && !run_settle(&claim, slot))
        return refuse_running();
    if (!pool_release(&claim))
        return refuse(MLI_STATUS_ARGUMENT_ERROR, "h", ": the handle is being released already");
    return MLI_STATUS_OK;
}

mli_status mli_mov_prepare(mli_mov_handle_t *h, const mli_tensor *src, const mli_mov_cfg_t *cfg,
                           mli_tensor *dst)
{
    struct transfer transfer;
    struct claim claim;
    struct slot *slot;
    struct mli_plan plan;
    mli_status status = find_resting_slot(h, &claim, &slot);

    if (status == MLI_STATUS_OK)
        status = transfer_check(&transfer, src, cfg, dst, false);
    if (status != MLI_STATUS_OK)
        return status;
    transfer_plan(&transfer, src, dst, &plan);
    plan_copy_bytes(h->plan, &plan);
    h->prepared = h->generation;
    run_forget(slot);
    transfer_set_layout(&transfer.geometry, src->el_type, dst);
    quant_apply(&transfer.quant, dst);
    return MLI_STATUS_OK;
}

mli_status mli_mov_registercallback(mli_mov_handle_t *h, void (*cb)(int32_t), int32_t cookie)
{
    struct claim claim;
    struct slot *slot;
    const mli_status status = find_resting_slot(h, &claim, &slot);

    if (status != MLI_STATUS_OK)
        return status;
    slot->callback = cb;
    slot->cookie = cookie;
    return MLI_STATUS_OK;
}

mli_status mli_mov_set_hints(mli_mov_handle_t *h, uint32_t hints)
{
    struct claim claim;
    struct slot *slot;
    const mli_status status = find_resting_slot(h, &claim, &slot);

    if (status != MLI_STATUS_OK)
        return status;
    if (hints & ~(MLI_MOV_FRESH_DST | MLI_MOV_SLOW_MEMORY))
        return refuse(MLI_STATUS_ARGUMENT_ERROR, "hints",
                      ": % given; must be a sum of MLI_MOV_FRESH_DST (1) and MLI_MOV_SLOW_MEMORY "
                      "(2)",
                      hints);
    slot->hints = hints;
    return MLI_STATUS_OK;
}

mli_status mli_mov_start(mli_mov_handle_t *h, const mli_tensor *src, const mli_mov_cfg_t *cfg,
                         mli_tensor *dst)
{
    struct claim claim;
    struct slot *slot;
    const mli_status status = find_resting_slot(h, &claim, &slot);

    (void)src;
    (void)cfg;
    (void)dst;
    if (status != MLI_STATUS_OK)
        return status;
    if (h->prepared != h->generation)
        return refuse(MLI_STATUS_ARGUMENT_ERROR, "h", ": nothing was prepared");
    run_start(&claim, h->plan);
    return MLI_STATUS_OK;
}

/* Finds the slot of a handle with a started transfer, or refuses the handle. */
static mli_status find_started_slot(const mli_mov_handle_t *h, struct claim *claim,
                                    struct slot **slot)
{
    const mli_status status = find_slot(h, claim, slot);

    if (status == MLI_STATUS_OK && run_state(*slot) == SLOT_IDLE)
        return refuse(MLI_STATUS_ARGUMENT_ERROR, "h", ": nothing was started");
    return status;
}

/* A program may poll at any time: a handle without a started transfer is not an error. */
bool mli_mov_isdone(mli_mov_handle_t *h)
{
    struct claim claim;
    struct slot *slot;

    if (!h) {
        (void)refuse_null();
        return false;
    }
    claim = (struct claim){h->first, h->count, h->generation};
    slot = run_slot_of(&claim);
    return slot && run_poll(&claim, slot) == SLOT_DONE;
}

static mli_status refuse_in_callback(void)
{
    return refuse(MLI_STATUS_ARGUMENT_ERROR, "h",
                  ": a completion callback must not wait; poll mli_mov_isdone() instead");
}

mli_status mli_mov_wait(mli_mov_handle_t *h)
{
    struct claim claim;
    struct slot *slot;
    mli_status status = find_slot(h, &claim, &slot);

    if (status == MLI_STATUS_OK && run_in_callback())
        return refuse_in_callback();
    if (status == MLI_STATUS_OK)
        status = find_started_slot(h, &claim, &slot);
    if (status != MLI_STATUS_OK)
        return status;
    status = run_wait(&claim, slot);
    run_wait_for_callbacks(&claim, slot);
    return status;
}

mli_status mli_mov_synchronise(mli_mov_handle_t *h)
{
    struct claim claim;
    struct slot *slot;
    const mli_status status = find_slot(h, &claim, &slot);

    if (status != MLI_STATUS_OK)
        return status;
    if (run_in_callback())
        return refuse_in_callback();
    run_synchronise(&claim, slot);
    return MLI_STATUS_OK;
}

mli_status mli_mov_cancel(mli_mov_handle_t *h)
{
    struct claim claim;
    struct slot *slot;
    const mli_status status = find_started_slot(h, &claim, &slot);

    if (status == MLI_STATUS_OK)
        run_cancel(&claim, slot);
    return status;
}

mli_status mli_mov_get_status(const mli_mov_handle_t *h, mli_mov_status_t *out)
{
    mli_mov_status_t now = {.stage = MLI_MOV_CLAIMED, .code = MLI_STATUS_OK};
    struct mli_plan plan;
    struct claim claim;
    struct slot *slot;
    const mli_status status = find_slot(h, &claim, &slot);

    if (status != MLI_STATUS_OK)
        return status;
    if (!out)
        return refuse(MLI_STATUS_ARGUMENT_ERROR, "status", ": null given");
    if (h->prepared == h->generation) {
        now.stage = MLI_MOV_PREPARED;
        plan_copy_bytes(&plan, h->plan);
        now.bytes_total = plan.bytes;
    }
    (void)run_poll(&claim, slot);
    run_status(slot, &now);
    *out = now;
    return MLI_STATUS_OK;
}

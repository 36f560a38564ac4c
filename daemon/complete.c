/* SPDX-License-Identifier: BSD-3-Clause */
#include "complete.h"

#include <stdio.h>

#include "dispatch.h"
#include "mli_helpers_api.h"
#include "mli_kernels_api.h"
#include "seam.h"
#include "sigbus.h"
#include "state.h"
#include "task.h"

static mli_status permute(struct task *task)
{
    const mli_permute_cfg cfg = operands_permutation(&task->job);
    const mli_tensor *src = &task->operands.src;
    mli_tensor *dst = &task->operands.dst;

    switch (src->el_type) {
    case MLI_EL_SA_8:
        return mli_krn_permute_sa8(src, &cfg, dst);
    case MLI_EL_SA_32:
        return mli_krn_permute_sa32(src, &cfg, dst);
    case MLI_EL_FX_8:
        return mli_krn_permute_fx8(src, &cfg, dst);
    case MLI_EL_FX_16:
        return mli_krn_permute_fx16(src, &cfg, dst);
    default:
        return MLI_STATUS_NOT_SUPPORTED; /* admission lets nothing else through */
    }
}

static mli_status move(struct task *task)
{
    mli_status status = mli_mov_start(&task->handle, NULL, NULL, NULL);

    return status == MLI_STATUS_OK ? mli_mov_wait(&task->handle) : status;
}

static void transfer(struct task *task)
{
    struct task_end *end = &task->end;

    end->status = task->job.op == JOB_OP_PERMUTE ? permute(task) : move(task);
    if (end->status != MLI_STATUS_OK)
        snprintf(end->error, sizeof end->error, "%s", mli_last_error());
}

/* On the worker's thread. */
static void work(uv_work_t *request)
{
    struct task *task = request->data;
    struct sigbus_guard src = {-1}, dst = {-1};

    task->end.started = uv_hrtime();
    if (seam.before_transfer)
        seam.before_transfer(seam.before_transfer_context);
    if (sigbus_guard_init(&src, task->src.pages, task->src.pages_size) < 0 ||
        sigbus_guard_init(&dst, task->dst.pages, task->dst.pages_size) < 0)
        task->end.unguarded = true;
    else
        transfer(task);
    task->end.src_hit = sigbus_guard_finish(&src);
    task->end.dst_hit = sigbus_guard_finish(&dst);
    task->end.done = uv_hrtime();
    /* Here and not on the loop: taking down large mappings takes its time. */
    mapping_finish(&task->src);
    mapping_finish(&task->dst);
}

/* On the loop's thread; libuv orders it behind work(). */
static void after_work(uv_work_t *request, int status)
{
    (void)status; /* nobody cancels */
    dispatch_done(request->data);
}

void complete_start(struct task *task)
{
    task->work.data = task;
    uv_queue_work(task->service->loop, &task->work, work, after_work); /* cannot fail */
}

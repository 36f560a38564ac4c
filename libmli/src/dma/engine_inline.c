/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdbool.h>
#include <stddef.h>

#include "../error.h"
#include "../exec/exec.h"
#include "engine.h"
#include "mli_mov_api.h"

/*
 * Transfers waiting for this thread. A completion callback may start the next transfer, which may
 * call the next callback: run from a queue, such a chain takes no stack. A channel run has one
 * transfer at a time, so there are never more than channels.
 */
static MLI_THREAD_LOCAL struct {
    bool draining;
    uint32_t head, count;
    struct {
        uint32_t first;
        const struct plan *plan;
    } entry[MLI_MOV_MAX_CHANNELS];
} waiting;

static void submit(uint32_t first, uint32_t count, const struct plan *plan)
{
    const uint32_t tail = (waiting.head + waiting.count++) % MLI_MOV_MAX_CHANNELS;

    (void)count; /* one thread is as fast as several that it would have to be */
    waiting.entry[tail].first = first;
    waiting.entry[tail].plan = plan;
    if (waiting.draining)
        return;
    waiting.draining = true;
    while (waiting.count > 0) {
        const uint32_t at = waiting.head;

        waiting.head = (waiting.head + 1) % MLI_MOV_MAX_CHANNELS;
        waiting.count--;
        exec_run(waiting.entry[at].plan);
        engine_done(waiting.entry[at].first, MLI_STATUS_OK);
    }
    waiting.draining = false;
}

const struct engine engine_inline = {
    .name = "inline",
    .channels = MLI_MOV_MAX_CHANNELS,
    .submit = submit,
};

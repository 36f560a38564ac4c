/* SPDX-License-Identifier: BSD-3-Clause */
#include "client/src/client_result.h"

#include <stdlib.h>
#include <string.h>

#include "proto/wire/job_info.h"
#include "proto/wire/job_result.h"

void result_take_layout(struct tensor_desc *desc, mli_tensor *tensor, void **owned)
{
    memset(tensor, 0, sizeof(*tensor));
    tensor_desc_to_mli(desc, tensor);
    *owned = desc->quant.scale; /* one block holds all three arrays */
    *desc = (struct tensor_desc){0};
}

int result_read(const struct json *value, mli_client_result *result, mli_client_error *error)
{
    struct job_result read = {0};

    if (job_result_read(value, &read))
        return error_set(error, MLI_CLIENT_UNREADABLE, "the daemon's result cannot be read: %s",
                         value->fault->text);
    *result = (mli_client_result){.job = read.job,
                                  .has_dst = read.has_dst,
                                  .bytes = read.bytes,
                                  .channels = read.channels,
                                  .ns_queued = read.ns_queued,
                                  .ns_moving = read.ns_moving};
    memcpy(result->engine, read.engine, sizeof(result->engine));
    if (read.has_dst)
        result_take_layout(&read.dst, &result->dst, &result->owned);
    job_result_finish(&read);
    return 0;
}

void mli_client_result_free(mli_client_result *result)
{
    if (!result)
        return;
    free(result->owned);
    result->owned = NULL;
}

#define SAME_STATE(name, word)                                                                     \
    _Static_assert((int)MLI_CLIENT_##name == (int)JOB_STATE_##name, "one order of states");
MLI_CLIENT_STATE_TABLE(SAME_STATE)
#undef SAME_STATE

void info_convert(mli_client_job_info *to, const struct job_info *from)
{
    *to = (mli_client_job_info){.job = from->job,
                                .state = (enum mli_client_state)from->state,
                                .client = from->client,
                                .uid = from->uid,
                                .priority = from->priority,
                                .channels = from->channels,
                                .first_channel = from->first_channel,
                                .bytes = from->bytes,
                                .bytes_done = from->bytes_done,
                                .detached = from->detached,
                                .ns_queued = from->ns_queued,
                                .ns_moving = from->ns_moving};
    _Static_assert(sizeof(to->name) == sizeof(from->name), "names fit");
    memcpy(to->name, from->name, sizeof(to->name));
    if (from->error)
        error_from_fault(&to->error, from->error, from->job);
}

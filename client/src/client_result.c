/* SPDX-License-Identifier: BSD-3-Clause */
#include "client/src/client_result.h"

#include <stdlib.h>
#include <string.h>

#include "proto/wire/job_result.h"

void result_take_layout(struct tensor_desc *desc, mli_tensor *tensor, void **owned)
{
    memset(tensor, 0, sizeof(*tensor));
    tensor_desc_to_mli(desc, tensor);
    *owned = desc->quant.scale; /* the block of all three arrays */
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

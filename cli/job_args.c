/* SPDX-License-Identifier: BSD-3-Clause */
#include "job_args.h"

#include <stdlib.h>
#include <string.h>

void job_arg_write(struct jsonw *w, const char *key, const char *argument)
{
    size_t digits = strspn(argument, "0123456789");
    if (digits > 0 && digits < 16 && argument[digits] == '\0')
        jsonw_uint(w, key, strtoull(argument, NULL, 10));
    else
        jsonw_string(w, key, argument);
}

int job_arg_call(struct client *client, const char *method, const char *argument,
                 uint32_t timeout_ms, struct rpc_reply *reply, struct fault *fault)
{
    struct jsonw w;
    jsonw_init(&w);
    jsonw_object_begin(&w, NULL);
    job_arg_write(&w, "job", argument);
    if (timeout_ms > 0)
        jsonw_uint(&w, "timeout_ms", timeout_ms);
    jsonw_object_end(&w);
    const struct client_request request = {.method = method, .params = &w, .timeout_ms = -1};
    int status = client_call(client, &request, reply, fault);
    jsonw_finish(&w);
    return status;
}

/* SPDX-License-Identifier: BSD-3-Clause */
#include "cli/job/job_args.h"

#include <stdlib.h>
#include <string.h>

#include "cli/term/print.h"

enum { DIGITS_MAX = 15 }; /* what JSON carries for sure */

int job_args_check(const struct options *options)
{
    for (size_t i = 0; i < options->argument_count; i++) {
        const char *argument = options->arguments[i];
        size_t digits = strspn(argument, "0123456789");
        if (digits > 0 && digits <= DIGITS_MAX && argument[digits] == '\0' &&
            strtoull(argument, NULL, 10) > 0)
            continue;
        print_error("%s: a job's number is needed; mlictl jobs lists them", argument);
        return -1;
    }
    return 0;
}

void job_arg_write(struct jsonw *w, const char *key, const char *argument)
{
    jsonw_uint(w, key, strtoull(argument, NULL, 10));
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
    if (status && fault->code == FAULT_NOT_FOUND)
        fault_set(fault, FAULT_NOT_FOUND, "/job",
                  "there is no job %s, or not any more; mlictl jobs lists them", argument);
    return status;
}

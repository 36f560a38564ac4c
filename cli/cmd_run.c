/* SPDX-License-Identifier: BSD-3-Clause */
/* mlictl run: jobs in a service of its own, inside this process. */
#include <string.h>

#include "batch.h"
#include "client.h"
#include "command.h"
#include "config.h"
#include "execute.h"
#include "mli_mov_api.h"
#include "report.h"
#include "service.h"

enum { LOG_ERRORS = 3 }; /* config.h: as syslog counts */

static const struct option options_table[] = {
    {"channels", 'c', "N", "DMA channels to emulate (as many as the jobs ask for, at least 4)"},
    BATCH_OPTIONS,
    OPTIONS_COMMON,
};

static int start(struct service_thread **service, struct client *client, uint32_t channels,
                 struct fault *fault)
{
    struct config config;
    config_defaults(&config);
    config.channels = channels;
    config.log_level = LOG_ERRORS; /* what concerns a job is in its reply */
    int socket;
    int error = service_thread_start(&config, service, &socket);
    if (error)
        return fault_set(fault, FAULT_INTERNAL, NULL, "the service cannot start: %s",
                         strerror(-error));
    return client_adopt(client, socket, fault);
}

static enum exit_code run(const struct options *options)
{
    struct batch batch;
    struct client client = {.socket = -1};
    struct service_thread *service = NULL;
    struct fault fault;
    enum exit_code code = batch_init(&batch, options);
    if (code != EXIT_CODE_DONE)
        goto out;
    uint64_t channels = batch_channels(&batch) > 4 ? batch_channels(&batch) : 4;
    if (options_uint(options, "channels", 1, MLI_MOV_MAX_CHANNELS, &channels)) {
        code = EXIT_CODE_INVALID;
        goto out;
    }
    if (start(&service, &client, (uint32_t)channels, &fault)) {
        code = print_failure(&batch.style, NULL, &fault);
        goto out;
    }
    code = batch_run(&batch, &(struct batch_work){execute_job, report_outcome, &client});
out:
    client_finish(&client);
    service_thread_stop(service);
    batch_finish(&batch);
    return code;
}

const struct command cmd_run = {
    .name = "run",
    .arguments = "JOB.json...",
    .summary = "run jobs without a daemon",
    .details = "The same as submit, but the service runs inside this process and ends with it.\n",
    .options = options_table,
    .run = run,
};

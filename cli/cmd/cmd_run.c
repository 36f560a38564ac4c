/* SPDX-License-Identifier: BSD-3-Clause */
/* mlictl run: jobs in a service of its own, inside this process. */
#include <string.h>

#include "client.h"
#include "command.h"
#include "config.h"
#include "execute.h"
#include "mli_mov_api.h"
#include "report.h"
#include "sequence.h"
#include "service.h"

enum { LOG_ERRORS = 3 }; /* config.h: as syslog counts */

static const struct option options_table[] = {
    {"engine", 'e', "SPEC", "what moves the bytes, as in threads:tiny=0 (the library's default)"},
    {"channels", 'c', "N", "DMA channels to emulate (as many as the jobs ask for, at least 4)"},
    SEQUENCE_OPTIONS,
    OPTIONS_COMMON,
};

/* The engine, where one was named; nothing says as well as the library what is wrong with it. */
static int choose_engine(struct config *config, const struct options *options, struct fault *fault)
{
    const char *engine = options_get(options, "engine");
    if (!engine)
        return 0;
    if (!*engine || strlen(engine) >= sizeof(config->engine))
        return fault_set(fault, FAULT_INVALID_PARAMS, NULL,
                         "--engine: 1 to %zu characters are needed", sizeof(config->engine) - 1);
    strcpy(config->engine, engine);
    const int status = service_check(config, fault);
    fault->has_pointer = false; /* there is no file of this configuration */
    return status;
}

static int start(struct service_thread **service, struct client *client, struct config *config,
                 struct fault *fault)
{
    config->log_level = LOG_ERRORS; /* what concerns a job is in its reply */
    int socket;
    int error = service_thread_start(config, service, &socket);
    if (error)
        return fault_set(fault, FAULT_INTERNAL, NULL, "the service cannot start: %s",
                         strerror(-error));
    return client_adopt(client, socket, fault);
}

static enum exit_code run(const struct options *options)
{
    struct sequence sequence;
    struct client client = {0};
    struct service_thread *service = NULL;
    struct fault fault;
    enum exit_code code = sequence_init(&sequence, options);
    if (code != EXIT_CODE_DONE)
        goto out;
    uint64_t channels = sequence_channels(&sequence) > 4 ? sequence_channels(&sequence) : 4;
    if (options_uint(options, "channels", 1, MLI_MOV_MAX_CHANNELS, &channels)) {
        code = EXIT_CODE_INVALID;
        goto out;
    }
    struct config config;
    config_defaults(&config);
    config.channels = (uint32_t)channels;
    if (choose_engine(&config, options, &fault) || start(&service, &client, &config, &fault)) {
        code = print_failure(&sequence.style, NULL, &fault);
        goto out;
    }
    code = sequence_run(&sequence, &(struct sequence_work){execute_job, report_outcome, &client});
out:
    client_finish(&client);
    service_thread_stop(service);
    sequence_finish(&sequence);
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

/* SPDX-License-Identifier: BSD-3-Clause */
#include "cli/link/embedded.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/engine_arg.h"
#include "cli/link/memory_limit.h"
#include "cli/term/exit_code.h"
#include "daemon/config/config.h"
#include "daemon/service.h"
#include "mli_mov_api.h"
#include "proto/file/job_spec.h"

enum { LOG_ERRORS = 3 }; /* the level "error" in the numbers of syslog (config.h) */

/* Largest exact number in JSON, for the greeting. */
#define LIMIT_BYTES_MAX ((UINT64_C(1) << 53) - 1)

int embedded_job_bytes(const struct options *options, uint64_t *bytes, struct fault *fault)
{
    const char *text = options_get(options, "limit-bytes");
    const uint64_t memory = memory_limit();

    *bytes = memory < LIMIT_BYTES_MAX ? memory : LIMIT_BYTES_MAX;
    if (!text || number_read(text, UNIT_BYTES, 1, LIMIT_BYTES_MAX, bytes))
        return 0;
    return fault_set(fault, FAULT_INVALID_PARAMS, NULL,
                     "--limit-bytes %s: a size from 1 to %" PRIu64
                     " B is needed, for example 65536 or 256KiB",
                     text, LIMIT_BYTES_MAX);
}

const char *embedded_limit_source(const struct options *options)
{
    return options_get(options, "limit-bytes")
               ? "--limit-bytes"
               : "the memory of this machine; --limit-bytes sets another limit";
}

static int name_engine(struct config *config, const char *engine, struct fault *fault)
{
    if (!*engine || strlen(engine) >= sizeof(config->engine))
        return fault_set(fault, FAULT_INVALID_PARAMS, NULL,
                         "--engine: 1 to %zu characters are required", sizeof(config->engine) - 1);
    if (engine_arg_check(engine, fault))
        return -1;
    strcpy(config->engine, engine);
    return 0;
}

/* Lets the library check the engine, because its error messages are the best. */
static int check_engine(const struct config *config, struct fault *fault)
{
    const int status = service_check(config, fault);

    fault->has_pointer = false; /* the configuration is not a file */
    return status;
}

/* Sets the engine. `all`: lowers the number of channels to that of the engine. */
static int choose_engine(struct config *config, const char *engine, bool all, struct fault *fault)
{
    if (name_engine(config, engine, fault))
        return -1;
    while (check_engine(config, fault)) {
        if (!all || config->channels == 1)
            return -1;
        config->channels--;
    }
    return 0;
}

/* Sets the target profile, if given. */
static int choose_profile(struct config *config, const char *profile, struct fault *fault)
{
    if (!profile)
        return 0;
    if (strlen(profile) >= sizeof(config->profile))
        return fault_set(fault, FAULT_INVALID_PARAMS, NULL,
                         "--profile: %zu bytes given; at most %zu are allowed", strlen(profile),
                         sizeof(config->profile) - 1);
    strcpy(config->profile, profile);
    const int status = service_check_profile(config, fault);
    fault->has_pointer = false; /* the configuration is not a file */
    return status;
}

static int cannot_start(int error, struct fault *fault)
{
    return fault_set(fault, FAULT_INTERNAL, NULL, "the service cannot start: %s", strerror(-error));
}

static int adopt(struct daemon_link *link, int socket, const struct options *options,
                 struct fault *fault)
{
    if (daemon_link_adopt(link, socket, fault))
        return -1;
    link->limit_source = embedded_limit_source(options);
    return 0;
}

/* Ends the program, from any thread: without stdio, whose locks another thread may hold. */
static void end_without_memory(void)
{
    static const char text[] = "mlictl: out of memory\n";

    if (write(STDERR_FILENO, text, sizeof text - 1) < 0)
        _exit(EXIT_CODE_FAILED);
    _exit(EXIT_CODE_FAILED);
}

int embedded_start(const struct options *options, uint32_t channels,
                   struct service_thread **service, struct daemon_link *link, struct fault *fault)
{
    const char *engine = options_get(options, "engine");
    struct config config;
    int socket;

    *link = (struct daemon_link){0};
    *service = NULL;
    config_defaults(&config);
    config.channels = channels ? channels : MLI_MOV_MAX_CHANNELS;
    config.buffers_per_client = JOB_FILE_BUFFERS_MAX + 2; /* plus the two buffers of a staged job */
    config.log_level = LOG_ERRORS; /* no log lines for faults of jobs: replies report them */
    if (embedded_job_bytes(options, &config.job_bytes, fault) ||
        choose_profile(&config, options_get(options, "profile"), fault) ||
        (engine && choose_engine(&config, engine, channels == 0, fault)))
        return -1;
    config.buffer_bytes_per_client = config.job_bytes;
    int error = service_thread_on_no_memory(end_without_memory);
    if (error == 0)
        error = service_thread_start(&config, service, &socket);
    return error ? cannot_start(error, fault) : adopt(link, socket, options, fault);
}

int embedded_connect(struct service_thread *service, const struct options *options,
                     struct daemon_link *link, struct fault *fault)
{
    int socket;

    *link = (struct daemon_link){0};
    int error = service_thread_connect(service, &socket);
    if (error)
        return fault_set(fault, FAULT_INTERNAL, NULL, "no connection to the service: %s",
                         strerror(-error));
    return adopt(link, socket, options, fault);
}

/* SPDX-License-Identifier: BSD-3-Clause */
#include "cli/batch/setup.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/batch/connector.h"
#include "mli_helpers_api.h"
#include "mli_mov_api.h"
#include "proto/wire/build_id.h"
#include "proto/wire/xxh64.h"

/* Options that choose the service, and options that change no result of a case that passed: they
 * choose cases, or the form of reports, or concern failed cases. Any other option may change a
 * result. */
static const char *const of_service[] = {"engine", "channels", "socket", "host", NULL};
static const char *const of_no_result[] = {
    "jobs", "filter", "shard", "list",  "retries", "fail-fast", "resume", "rerun", "update-golden",
    "keep", "tap",    "junit", "flaky", "verbose", "json",      "quiet",  "help",  NULL};

static bool is_one_of(const char *name, const char *const *names)
{
    while (*names && strcmp(*names, name) != 0)
        names++;
    return *names != NULL;
}

/* Adds the terminating zero too, so that texts do not run together. */
static void add_text(struct xxh64 *x, const char *text)
{
    xxh64_add(x, text ? text : "", text ? strlen(text) + 1 : 1);
}

static void add_number(struct xxh64 *x, uint32_t number)
{
    char text[16];
    snprintf(text, sizeof(text), "%" PRIu32, number);
    add_text(x, text);
}

static uint64_t sum_options(const struct options *options)
{
    struct xxh64 x;
    xxh64_init(&x);
    for (size_t i = 0; options->table[i].name; i++) {
        const char *name = options->table[i].name;
        if (!options->values[i] || is_one_of(name, of_service) || is_one_of(name, of_no_result))
            continue;
        add_text(&x, name);
        add_text(&x, options->values[i]);
    }
    return xxh64_value(&x);
}

static uint64_t sum_program(void)
{
    struct xxh64 x;
    xxh64_init(&x);
    add_text(&x, mli_version());
    add_text(&x, build_id());
    return xxh64_value(&x);
}

/* Variables that choose the kernels in this process. */
static void add_environment(struct xxh64 *x)
{
    static const char *const names[] = {"MLI_CPU_MASK", "MLI_STREAM_MIN"};
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        add_text(x, getenv(names[i]));
}

static int add_daemon(struct xxh64 *x, struct client *client, struct fault *fault)
{
    struct rpc_reply reply;
    struct daemon_info info;
    if (client_ask(client, "daemon.info", &reply, fault))
        return -1;
    int status = daemon_info_read(&reply.result, &info);
    if (status)
        client_unreadable(&reply, fault);
    rpc_reply_finish(&reply);
    if (status)
        return -1;
    add_text(x, info.version);
    add_text(x, info.build);
    add_text(x, info.engine);
    add_number(x, info.channels);
    add_number(x, info.channel_offset);
    return 0;
}

/* The library's default engine is the same with and without its name. */
static const char *option_of_service(const struct options *options, const char *name, bool embedded)
{
    const char *value = options_get(options, name);
    return !value && embedded && strcmp(name, "engine") == 0 ? mli_mov_engine_at(0) : value;
}

int setup_find(struct setup *setup, const struct options *options, struct client *client,
               struct fault *fault)
{
    struct xxh64 x;
    xxh64_init(&x);
    bool embedded = connector_is_embedded(options);
    for (size_t i = 0; of_service[i]; i++)
        add_text(&x, option_of_service(options, of_service[i], embedded));
    if (embedded)
        add_environment(&x);
    else if (add_daemon(&x, client, fault))
        return -1;
    *setup = (struct setup){
        .program = sum_program(), .service = xxh64_value(&x), .options = sum_options(options)};
    return 0;
}

/* SPDX-License-Identifier: BSD-3-Clause */
#include "cli/batch/connector.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/batch/batch_options.h"
#include "cli/link/embedded.h"
#include "daemon/service.h"
#include "mli_helpers_api.h"
#include "mli_mov_api.h"
#include "proto/json/json.h"
#include "proto/json/jsonw.h"
#include "proto/wire/build_id.h"
#include "proto/wire/xxh64.h"
#include "target/profile/profile_load.h"

bool connector_is_embedded(const struct options *options)
{
    return !options_get(options, "socket") && !options_get(options, "host");
}

int connector_init(struct connector *connector, const struct options *options, uint32_t channels,
                   struct daemon_link *first, struct fault *fault)
{
    *connector = (struct connector){.options = options};
    if (connector_is_embedded(options))
        return embedded_start(options, channels, &connector->service, first, fault);
    if (options_get(options, "limit-bytes"))
        return fault_set(fault, FAULT_INVALID_PARAMS, NULL,
                         "--limit-bytes cannot be combined with --socket or --host: a daemon has "
                         "its own limit");
    return daemon_link_open_any(first, options, fault);
}

int connector_open(const struct connector *connector, struct daemon_link *link, struct fault *fault)
{
    if (connector->service)
        return embedded_connect(connector->service, connector->options, link, fault);
    return daemon_link_open_any(link, connector->options, fault);
}

void connector_finish(struct connector *connector)
{
    service_thread_stop(connector->service);
    connector->service = NULL;
}

/* Options that the command for a kept case repeats. The first OF_SERVICE options choose the
 * service. Of all other options, those that are not BATCH_NEUTRAL may change the result of a case
 * that passes. */
static const char *const repeated[] = {"engine", "channels",    "profile", "socket",
                                       "host",   "limit-bytes", "tuning"};
enum { OF_SERVICE = 5, REPEATED = 7 };

static bool is_of_service(const char *name)
{
    for (size_t i = 0; i < OF_SERVICE; i++) {
        if (strcmp(repeated[i], name) == 0)
            return true;
    }
    return false;
}

/* Adds the terminating zero too: "a", "bc" and "ab", "c" must differ. */
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

        if (!options->values[i] || options->table[i].uses & BATCH_NEUTRAL || is_of_service(name))
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

/* Adds the variables that choose the leaf kernels in this process. */
static void add_environment(struct xxh64 *x)
{
    static const char *const names[] = {"MLI_CPU_MASK", "MLI_STREAM_MIN"};

    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        add_text(x, getenv(names[i]));
}

/* Adds the contents of the file that --profile names to the checksum. */
static int add_profile(struct xxh64 *x, const char *profile, struct fault *fault)
{
    char *text;
    size_t length;

    if (!profile || !profile_is_path(profile))
        return 0;
    if (json_file_read(profile, PROFILE_FILE_MAX, &text, &length, fault)) {
        json_file_name(fault, profile);
        return -1;
    }
    xxh64_add(x, text, length);
    free(text);
    return 0;
}

static int add_daemon(struct xxh64 *x, struct daemon_link *link, struct fault *fault)
{
    struct daemon_info info;

    if (daemon_link_info(link, &info, fault))
        return -1;
    add_text(x, info.version);
    add_text(x, info.build);
    add_text(x, info.engine);
    add_text(x, info.profile);
    add_number(x, info.channels);
    add_number(x, info.channel_offset);
    return 0;
}

/* Returns the value of an option; without --engine, the name of the default engine. */
static const char *option_of_service(const struct options *options, const char *name, bool embedded)
{
    const char *value = options_get(options, name);

    return !value && embedded && strcmp(name, "engine") == 0 ? mli_mov_engine_at(0) : value;
}

int connector_setup(struct run_setup *setup, const struct options *options,
                    struct daemon_link *link, struct fault *fault)
{
    struct xxh64 x;

    xxh64_init(&x);
    bool embedded = connector_is_embedded(options);
    for (size_t i = 0; i < OF_SERVICE; i++)
        add_text(&x, option_of_service(options, repeated[i], embedded));
    if (embedded)
        add_environment(&x);
    if (embedded ? add_profile(&x, options_get(options, "profile"), fault)
                 : add_daemon(&x, link, fault))
        return -1;
    *setup = (struct run_setup){
        .program = sum_program(), .service = xxh64_value(&x), .options = sum_options(options)};
    return 0;
}

/* Quotes a word for a shell if necessary. */
static void quote(struct textw *w, const char *word)
{
    static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
                                "_-./:=@%+,";

    if (*word && *word != '-' && word[strspn(word, plain)] == '\0') {
        textw_printf(w, "%s", word);
        return;
    }
    /* With "./" in front, a leading dash does not begin an option. */
    textw_printf(w, "%s'", *word == '-' ? "./" : "");
    for (size_t length; *word; word += length) {
        length = strcspn(word, "'");
        textw_printf(w, "%.*s%s", (int)length, word, word[length] ? "'\\''" : "");
        length += word[length] != '\0';
    }
    textw_printf(w, "'");
}

char *connector_rerun_command(const struct options *options, const char *job_file)
{
    struct textw command;

    textw_init(&command);
    textw_printf(&command, "mlictl %s ", connector_is_embedded(options) ? "run" : "submit");
    for (size_t i = 0; i < REPEATED; i++) {
        const char *value = options_get(options, repeated[i]);

        if (!value)
            continue;
        textw_printf(&command, "--%s ", repeated[i]);
        quote(&command, value);
        textw_printf(&command, " ");
    }
    quote(&command, job_file);
    char *text = command.failed ? NULL : strdup(command.data);
    textw_finish(&command);
    return text;
}

/* SPDX-License-Identifier: BSD-3-Clause */
#include "daemon/ops/mlid_options.h"

#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "daemon/service.h"
#include "mli_helpers_api.h"
#include "mli_mov_api.h"
#include "proto/json/nearest.h"

static const char help[] =
    "usage: mlid [OPTION]...\n"
    "Serves tensor moves and permutes to clients on a unix socket.\n"
    "\n"
    "  --config FILE      Read the configuration from FILE (default: " MLID_CONFIG ",\n"
    "                     if it exists).\n"
    "  --socket PATH      Listen at PATH (default: $XDG_RUNTIME_DIR/mlid.sock, or\n"
    "                     /run/mlid.sock).\n"
    "  --channels N       Use N DMA channels, 1 to 16 (default: those of\n"
    "                     the --profile, otherwise 4).\n"
    "  --engine SPEC      Move bytes with NAME[:KEY=NUMBER,...] (default: threads).\n"
    "  --profile NAME     Emulate the board of a target profile: a name or path\n"
    "                     (default: none).\n"
    "  --tuning FILE      Use the kernels' sizes that mlictl calibrate --kernels wrote to\n"
    "                     FILE (default: those for the caches of this machine).\n"
    "  --log-level LEVEL  Log error, warning, info or debug (default: info).\n"
    "  --log-format NAME  Log as text or json (default: text).\n"
    "  --trace FILE       Write a timeline of the channels to FILE, for Perfetto\n"
    "                     (default: none).\n"
    "  --remove-directory Remove the directory of the socket at the end, if it is empty.\n"
    "  --allow-core       Allow core dumps and debuggers.\n"
    "  --check            Check the configuration and exit.\n"
    "  --version          Print the version and exit.\n"
    "  --help             Print this help and exit.\n"
    "\n"
    "The defaults apply if the configuration file does not set a value.\n"
    "SIGTERM or SIGINT shuts mlid down: it finishes running jobs and refuses queued jobs.\n"
    "A second signal makes mlid exit at once. SIGHUP reloads the configuration.\n"
    "Exit status: 0 clean, 1 failure while starting or running, 2 usage or configuration.\n";

static const struct option table[] = {
    {"config", required_argument, NULL, 'c'},
    {"socket", required_argument, NULL, 's'},
    {"engine", required_argument, NULL, 'e'},
    {"channels", required_argument, NULL, 'n'},
    {"profile", required_argument, NULL, 'p'},
    {"tuning", required_argument, NULL, 'u'},
    {"log-level", required_argument, NULL, 'l'},
    {"log-format", required_argument, NULL, 'f'},
    {"trace", required_argument, NULL, 't'},
    {"remove-directory", no_argument, NULL, 'd'},
    {"allow-core", no_argument, NULL, 'a'},
    {"check", no_argument, NULL, 'k'},
    {"version", no_argument, NULL, 'v'},
    {"help", no_argument, NULL, 'h'},
    {0},
};

enum { OPTIONS = sizeof table / sizeof *table - 1, OPTION_NAME_MAX = 32 };

/* Suggests the right option, after getopt_long() has printed what is wrong. */
static void suggest(const char *word)
{
    const char *names[OPTIONS + 1] = {NULL}, *near;
    char name[OPTION_NAME_MAX];

    if (strncmp(word, "--", 2) != 0)
        return;
    snprintf(name, sizeof name, "%.*s", (int)strcspn(word + 2, "="), word + 2);
    for (size_t i = 0; i < OPTIONS; i++)
        names[i] = table[i].name;
    near = nearest_word(name, names);
    if (!near)
        fprintf(stderr, "mlid: --help lists all options\n");
    else if (strcmp(near, name) != 0)
        fprintf(stderr, "mlid: did you mean --%s?\n", near);
}

/* Returns the member for the value of an option. */
static const char **text_of(struct mlid_options *options, int letter)
{
    switch (letter) {
    case 'c':
        return &options->config;
    case 's':
        return &options->socket;
    case 'n':
        return &options->channels;
    case 'e':
        return &options->engine;
    case 'p':
        return &options->profile;
    case 'u':
        return &options->tuning;
    case 'l':
        return &options->log_level;
    case 'f':
        return &options->log_format;
    default:
        return &options->trace;
    }
}

int mlid_options_printed(void)
{
    if (fflush(stdout) == 0 && !ferror(stdout))
        return EXIT_CLEAN;
    fprintf(stderr, "mlid: standard output: %s\n", strerror(errno));
    return EXIT_RUNTIME;
}

int mlid_options_parse(struct mlid_options *options, int argc, char **argv)
{
    for (int letter; (letter = getopt_long(argc, argv, "", table, NULL)) != -1;) {
        switch (letter) {
        case 'a':
            options->allow_core = true;
            break;
        case 'd':
            options->remove_directory = true;
            break;
        case 'k':
            options->check = true;
            break;
        case 'v':
            printf("mlid %s\n", mli_version());
            return mlid_options_printed();
        case 'h':
            fputs(help, stdout);
            return mlid_options_printed();
        case '?':
            suggest(argv[optind - 1]);
            return EXIT_USAGE;
        default:
            *text_of(options, letter) = optarg;
        }
    }
    if (optind == argc)
        return -1;
    fprintf(stderr, "mlid: unexpected argument: %s\n", argv[optind]);
    return EXIT_USAGE;
}

static int override_channels(struct config *config, const char *text, struct fault *fault)
{
    char *end;
    unsigned long number = strtoul(text, &end, 10);

    if (text[0] < '0' || text[0] > '9' || *end != '\0' || number < 1 ||
        number > MLI_MOV_MAX_CHANNELS)
        return fault_set(fault, FAULT_INVALID_PARAMS, NULL,
                         "--channels: \"%s\" given; must be 1 to %d", text, MLI_MOV_MAX_CHANNELS);
    config->channels = (uint32_t)number;
    config->channels_given = true;
    return 0;
}

/* Uses the channels of the board, as many as there are behind channel_offset, if none are given. */
static void default_channels(struct config *config)
{
    const uint32_t left = MLI_MOV_MAX_CHANNELS - config->channel_offset;
    const uint32_t channels = config->channels_given ? 0 : service_profile_channels(config);

    if (channels > 0)
        config->channels = channels < left ? channels : left;
}

static int override_text(char *out, size_t size, const char *option, const char *text,
                         struct fault *fault)
{
    const size_t length = strlen(text);

    if (length >= size)
        return fault_set(fault, FAULT_INVALID_PARAMS, NULL,
                         "%s: %zu bytes given; at most %zu are allowed", option, length, size - 1);
    memset(out, 0, size);
    snprintf(out, size, "%s", text);
    return 0;
}

static int override_log(struct config *config, const struct mlid_options *options,
                        struct fault *fault)
{
    if (options->log_level && config_set_log_level(config, options->log_level) < 0)
        return fault_set(fault, FAULT_INVALID_PARAMS, NULL,
                         "--log-level: \"%s\" given; error, warning, info or debug required",
                         options->log_level);
    if (options->log_format && config_set_log_format(config, options->log_format) < 0)
        return fault_set(fault, FAULT_INVALID_PARAMS, NULL,
                         "--log-format: \"%s\" given; text or json required", options->log_format);
    return 0;
}

static int override(struct config *config, const struct mlid_options *options, struct fault *fault)
{
    if (options->socket && options->socket[0] == '\0')
        return fault_set(fault, FAULT_INVALID_PARAMS, NULL, "--socket: a path is required");
    if (options->socket && override_text(config->socket, sizeof config->socket, "--socket",
                                         options->socket, fault) < 0)
        return -1;
    if (options->engine && override_text(config->engine, sizeof config->engine, "--engine",
                                         options->engine, fault) < 0)
        return -1;
    if (options->profile && override_text(config->profile, sizeof config->profile, "--profile",
                                          options->profile, fault) < 0)
        return -1;
    if (options->tuning && override_text(config->tuning, sizeof config->tuning, "--tuning",
                                         options->tuning, fault) < 0)
        return -1;
    if (options->trace &&
        override_text(config->trace, sizeof config->trace, "--trace", options->trace, fault) < 0)
        return -1;
    if (options->channels && override_channels(config, options->channels, fault) < 0)
        return -1;
    if (override_log(config, options, fault) < 0)
        return -1;
    default_channels(config);
    return config_check(config, fault);
}

int mlid_options_configure(const struct mlid_options *options, struct config *config,
                           struct fault *fault)
{
    const char *file = options->config;

    config_defaults(config);
    if (!file && access(MLID_CONFIG, F_OK) == 0)
        file = MLID_CONFIG;
    if (file && config_load(config, file, fault) < 0)
        return -1;
    if (override(config, options, fault) < 0)
        return -1;
    config_default_socket(config);
    return 0;
}

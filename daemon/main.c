/* SPDX-License-Identifier: BSD-3-Clause */
/* mlid: the process around the service. */
#include <fcntl.h>
#include <getopt.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>
#include <uv.h>

#include "bounds.h"
#include "config.h"
#include "log.h"
#include "mli_helpers_api.h"
#include "mli_mov_api.h"
#include "ports.h"
#include "service.h"

enum { EXIT_CLEAN = 0, EXIT_RUNTIME = 1, EXIT_USAGE = 2 };

enum { DESCRIPTORS_TO_SPARE = 4 * PROTO_FDS_MAX + 32 };

static const char help[] =
    "usage: mlid [OPTION]...\n"
    "Serves tensor moves and permutes to clients on a unix socket.\n"
    "\n"
    "  --config FILE      read the configuration from FILE (default: " MLID_CONFIG ",\n"
    "                     if it is there)\n"
    "  --socket PATH      listen at PATH (default: $XDG_RUNTIME_DIR/mlid.sock, or\n"
    "                     /run/mlid.sock)\n"
    "  --channels N       DMA channels to serve, 1 to 16\n"
    "  --engine SPEC      what moves the bytes: NAME[:KEY=NUMBER,...], as \"threads\"\n"
    "  --log-level LEVEL  error, warning, info or debug\n"
    "  --check            check the configuration and exit\n"
    "  --version          print the version and exit\n"
    "  --help             print this and exit\n"
    "\n"
    "SIGTERM and SIGINT shut down: running jobs are finished, queued ones are refused.\n"
    "A second one exits at once.\n"
    "Exit status: 0 clean, 1 failure while starting or running, 2 usage or configuration.\n";

struct options {
    const char *config, *socket, *channels, *engine, *log_level;
    bool check;
};

/* Returns -1 to go on, or the status to exit with. */
static int parse_options(struct options *options, int argc, char **argv)
{
    static const struct option table[] = {
        {"config", required_argument, NULL, 'c'},
        {"socket", required_argument, NULL, 's'},
        {"engine", required_argument, NULL, 'e'},
        {"channels", required_argument, NULL, 'n'},
        {"log-level", required_argument, NULL, 'l'},
        {"check", no_argument, NULL, 'k'},
        {"version", no_argument, NULL, 'v'},
        {"help", no_argument, NULL, 'h'},
        {0},
    };

    for (int letter; (letter = getopt_long(argc, argv, "", table, NULL)) != -1;) {
        switch (letter) {
        case 'c':
            options->config = optarg;
            break;
        case 's':
            options->socket = optarg;
            break;
        case 'n':
            options->channels = optarg;
            break;
        case 'e':
            options->engine = optarg;
            break;
        case 'l':
            options->log_level = optarg;
            break;
        case 'k':
            options->check = true;
            break;
        case 'v':
            printf("mlid %s\n", mli_version());
            return EXIT_CLEAN;
        case 'h':
            fputs(help, stdout);
            return EXIT_CLEAN;
        default: /* getopt_long() has said what is wrong */
            return EXIT_USAGE;
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
                         "--channels: \"%s\" given, 1 to %d allowed", text, MLI_MOV_MAX_CHANNELS);
    config->channels = (uint32_t)number;
    return 0;
}

static int override_engine(struct config *config, const char *text, struct fault *fault)
{
    if (strlen(text) >= sizeof config->engine)
        return fault_set(fault, FAULT_INVALID_PARAMS, NULL,
                         "--engine: at most %zu bytes are wanted, %zu given",
                         sizeof config->engine - 1, strlen(text));
    snprintf(config->engine, sizeof config->engine, "%s", text);
    return 0;
}

static int override(struct config *config, const struct options *options, struct fault *fault)
{
    if (options->socket) {
        if (options->socket[0] == '\0' || strlen(options->socket) >= sizeof config->socket)
            return fault_set(fault, FAULT_INVALID_PARAMS, NULL,
                             "--socket: a path of 1 to %zu bytes is wanted, %zu given",
                             sizeof config->socket - 1, strlen(options->socket));
        snprintf(config->socket, sizeof config->socket, "%s", options->socket);
    }
    if (options->log_level && config_set_log_level(config, options->log_level) < 0)
        return fault_set(fault, FAULT_INVALID_PARAMS, NULL,
                         "--log-level: \"%s\" given, error, warning, info or debug wanted",
                         options->log_level);
    if (options->channels && override_channels(config, options->channels, fault) < 0)
        return -1;
    if (options->engine && override_engine(config, options->engine, fault) < 0)
        return -1;
    return config_check(config, fault);
}

static int configure(struct config *config, const struct options *options, struct fault *fault)
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
    return service_check(config, fault);
}

/* One descriptor for each client, those in flight on top, and some for ourselves. */
static void raise_descriptor_limit(const struct config *config)
{
    const rlim_t wanted = (rlim_t)config->clients + DESCRIPTORS_TO_SPARE;
    struct rlimit limit;
    struct log_line line;

    if (getrlimit(RLIMIT_NOFILE, &limit) < 0 || limit.rlim_cur >= wanted)
        return;
    limit.rlim_cur = wanted < limit.rlim_max ? wanted : limit.rlim_max;
    setrlimit(RLIMIT_NOFILE, &limit);
    if (limit.rlim_cur < wanted && log_begin(&line, LOG_WARNING, "few descriptors")) {
        log_uint(&line, "allowed", limit.rlim_cur);
        log_uint(&line, "wanted", wanted);
        log_end(&line);
    }
}

/* A socket that becomes descriptor 2 because nothing else is would be written the log to. */
static void fill_standard_streams(void)
{
    int fd;

    do
        fd = open("/dev/null", O_RDWR);
    while (fd >= 0 && fd <= STDERR_FILENO);
    if (fd >= 0)
        close(fd);
}

struct process {
    uv_loop_t loop;
    uv_signal_t term, interrupt;
    struct service *service;
    bool stopping;
};

static void on_signal(uv_signal_t *signal, int number)
{
    struct process *process = signal->data;

    (void)number;
    if (process->stopping)
        _exit(EXIT_RUNTIME);
    process->stopping = true;
    service_shutdown(process->service);
}

/* Unreferenced: they alone do not keep the loop alive. */
static int watch_signal(struct process *process, uv_signal_t *signal, int number)
{
    int error = uv_signal_init(&process->loop, signal);

    if (error < 0)
        return error;
    signal->data = process;
    uv_unref((uv_handle_t *)signal);
    return uv_signal_start(signal, on_signal, number);
}

static int complain(const char *what, const char *path, int error)
{
    struct log_line line;

    if (log_begin(&line, LOG_ERR, what)) {
        log_text(&line, "socket", path);
        log_errno(&line, "error", -error);
        log_end(&line);
    }
    return EXIT_RUNTIME;
}

/* Until it has shut down. Returns the status to exit with. */
static int serve(struct process *process, const struct config *config)
{
    struct log_line line;
    int error = service_listen(process->service);

    if (error < 0)
        return complain("cannot listen", config->socket, error);
    if (log_begin(&line, LOG_INFO, "listening")) {
        log_text(&line, "socket", config->socket);
        log_uint(&line, "channels", config->channels);
        log_text(&line, "engine", mli_mov_engine_name());
        log_text(&line, "version", mli_version());
        log_end(&line);
    }
    if (uv_run(&process->loop, UV_RUN_DEFAULT) == 0)
        return EXIT_CLEAN;
    /* Jobs that outlast drain_ms: the process ends, and they with it. */
    _exit(EXIT_RUNTIME);
}

/* The end is near and clean: closing the handles would bring back what signals do by default. */
static void hold_signals(void)
{
    sigset_t set;

    sigemptyset(&set);
    sigaddset(&set, SIGTERM);
    sigaddset(&set, SIGINT);
    sigprocmask(SIG_BLOCK, &set, NULL);
}

static int run(const struct config *config)
{
    static struct process process;
    int status, error = uv_loop_init(&process.loop);

    if (error == 0)
        error = watch_signal(&process, &process.term, SIGTERM);
    if (error == 0)
        error = watch_signal(&process, &process.interrupt, SIGINT);
    if (error == 0)
        error = service_create(&process.loop, config, &process.service);
    if (error < 0)
        return complain("cannot start", config->socket, error);
    status = serve(&process, config);
    hold_signals();
    service_destroy(process.service);
    uv_close((uv_handle_t *)&process.term, NULL);
    uv_close((uv_handle_t *)&process.interrupt, NULL);
    uv_run(&process.loop, UV_RUN_DEFAULT);
    uv_loop_close(&process.loop);
    return status;
}

int main(int argc, char **argv)
{
    struct options options = {0};
    struct config config;
    struct fault fault;
    int status;

    ports_add();
    fill_standard_streams();
    status = parse_options(&options, argc, argv);
    if (status >= 0)
        return status;
    if (configure(&config, &options, &fault) < 0) {
        fprintf(stderr, "mlid: %s\n", fault.text);
        return EXIT_USAGE;
    }
    if (options.check) {
        printf("the configuration is valid\n");
        return EXIT_CLEAN;
    }
    log_set_level(config.log_level);
    signal(SIGPIPE, SIG_IGN);
    raise_descriptor_limit(&config);
    return run(&config);
}

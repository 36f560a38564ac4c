/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The process mlid around the service: command line, loop, signals, sockets, rights, service
 * manager.
 *
 * To add an option, add it to the table and the help, to override(), and to man/mlid.8.scd.
 */
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <inttypes.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>
#include <uv.h>

#include "daemon/base/log.h"
#include "daemon/config/config.h"
#include "daemon/config/identity.h"
#include "daemon/job/trace.h"
#include "daemon/ops/descriptors.h"
#include "daemon/ops/manager.h"
#include "daemon/ops/metrics.h"
#include "daemon/service.h"
#include "libmli/port/ports.h"
#include "mli_helpers_api.h"
#include "mli_mov_api.h"
#include "proto/json/json.h"
#include "target/tuning/tuning_file.h"

enum { EXIT_CLEAN = 0, EXIT_RUNTIME = 1, EXIT_USAGE = 2 };

/* The command line, and the configuration that results from it. */

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
    "  --version, -V      Print the version and exit.\n"
    "  --help, -h         Print this help and exit.\n"
    "\n"
    "The defaults apply if the configuration file does not set a value.\n"
    "SIGTERM or SIGINT shuts mlid down: it finishes running jobs and refuses queued jobs.\n"
    "A second signal makes mlid exit at once. SIGHUP reloads the configuration.\n"
    "Exit status: 0 clean, 1 failure while starting or running, 2 usage or configuration.\n";

enum {
    OPTION_CONFIG,
    OPTION_SOCKET,
    OPTION_CHANNELS,
    OPTION_ENGINE,
    OPTION_PROFILE,
    OPTION_TUNING,
    OPTION_LOG_LEVEL,
    OPTION_LOG_FORMAT,
    OPTION_TRACE,
    OPTIONS_WITH_TEXT
};

/* An option that takes a text has its index in this table as its getopt_long() value. */
static const struct option table[] = {
    [OPTION_CONFIG] = {"config", required_argument, NULL, OPTION_CONFIG},
    [OPTION_SOCKET] = {"socket", required_argument, NULL, OPTION_SOCKET},
    [OPTION_CHANNELS] = {"channels", required_argument, NULL, OPTION_CHANNELS},
    [OPTION_ENGINE] = {"engine", required_argument, NULL, OPTION_ENGINE},
    [OPTION_PROFILE] = {"profile", required_argument, NULL, OPTION_PROFILE},
    [OPTION_TUNING] = {"tuning", required_argument, NULL, OPTION_TUNING},
    [OPTION_LOG_LEVEL] = {"log-level", required_argument, NULL, OPTION_LOG_LEVEL},
    [OPTION_LOG_FORMAT] = {"log-format", required_argument, NULL, OPTION_LOG_FORMAT},
    [OPTION_TRACE] = {"trace", required_argument, NULL, OPTION_TRACE},
    {"remove-directory", no_argument, NULL, 'd'},
    {"allow-core", no_argument, NULL, 'a'},
    {"check", no_argument, NULL, 'k'},
    {"version", no_argument, NULL, 'V'},
    {"help", no_argument, NULL, 'h'},
    {0},
};

enum { OPTIONS = sizeof table / sizeof *table - 1, OPTION_NAME_MAX = 32 };

struct options {
    const char *text[OPTIONS_WITH_TEXT]; /* null: not given */
    bool remove_directory, allow_core, check;
};

/* Suggests the right option, after getopt_long() has printed what is wrong. */
static void suggest(const char *word)
{
    const char *names[OPTIONS + 1] = {NULL}, *near;
    char name[OPTION_NAME_MAX];

    snprintf(name, sizeof name, "%.*s", (int)strcspn(word, "="), word);
    for (size_t i = 0; i < OPTIONS; i++)
        names[i] = table[i].name;
    near = strncmp(word, "--", 2) == 0 ? nearest_word(name + 2, names) : NULL;
    if (!near)
        fprintf(stderr, "mlid: --help lists all options\n");
    else if (strcmp(near, name + 2) != 0)
        fprintf(stderr, "mlid: did you mean --%s?\n", near);
}

/* Flushes standard output. Returns EXIT_CLEAN, or EXIT_RUNTIME after printing an error. */
static int end_output(void)
{
    if (fflush(stdout) == 0 && !ferror(stdout))
        return EXIT_CLEAN;
    fprintf(stderr, "mlid: standard output: %s\n", strerror(errno));
    return EXIT_RUNTIME;
}

/* Reads the command line. Returns -1 if mlid shall start, or the exit status. */
static int parse_options(struct options *options, int argc, char **argv)
{
    for (int letter; (letter = getopt_long(argc, argv, "hV", table, NULL)) != -1;) {
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
        case 'V':
            printf("mlid %s\n", mli_version());
            return end_output();
        case 'h':
            fputs(help, stdout);
            return end_output();
        case '?':
            suggest(argv[optind - 1]);
            return EXIT_USAGE;
        default:
            options->text[letter] = optarg;
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

/* If no number of channels is given, uses the number of the board's channels, but at most the
 * channels from channel_offset on. */
static void default_channels(struct config *config)
{
    const uint32_t left = MLI_MOV_MAX_CHANNELS - config->channel_offset;
    const uint32_t channels = config->channels_given ? 0 : service_profile_channels(config);

    if (channels > 0)
        config->channels = channels < left ? channels : left;
}

/* Puts the text of an option, if given, into a member of the configuration. */
static int override_text(char *out, size_t size, const struct options *options, int option,
                         struct fault *fault)
{
    const char *text = options->text[option];
    const size_t length = text ? strlen(text) : 0;

    if (!text)
        return 0;
    if (length >= size)
        return fault_set(fault, FAULT_INVALID_PARAMS, NULL,
                         "--%s: %zu bytes given; at most %zu are allowed", table[option].name,
                         length, size - 1);
    memset(out, 0, size);
    snprintf(out, size, "%s", text);
    return 0;
}

static int override_log(struct config *config, const struct options *options, struct fault *fault)
{
    const char *level = options->text[OPTION_LOG_LEVEL], *format = options->text[OPTION_LOG_FORMAT];

    if (level && config_set_log_level(config, level) < 0)
        return fault_set(fault, FAULT_INVALID_PARAMS, NULL,
                         "--log-level: \"%s\" given; error, warning, info or debug required",
                         level);
    if (format && config_set_log_format(config, format) < 0)
        return fault_set(fault, FAULT_INVALID_PARAMS, NULL,
                         "--log-format: \"%s\" given; text or json required", format);
    return 0;
}

static int override(struct config *config, const struct options *options, struct fault *fault)
{
    const char *socket = options->text[OPTION_SOCKET], *channels = options->text[OPTION_CHANNELS];

    if (socket && socket[0] == '\0')
        return fault_set(fault, FAULT_INVALID_PARAMS, NULL, "--socket: a path is required");
#define TEXT(member, option)                                                                       \
    override_text(config->member, sizeof config->member, options, option, fault)
    if (TEXT(socket, OPTION_SOCKET) < 0 || TEXT(engine, OPTION_ENGINE) < 0 ||
        TEXT(profile, OPTION_PROFILE) < 0 || TEXT(tuning, OPTION_TUNING) < 0 ||
        TEXT(trace, OPTION_TRACE) < 0)
        return -1;
#undef TEXT
    if ((channels && override_channels(config, channels, fault) < 0) ||
        override_log(config, options, fault) < 0)
        return -1;
    default_channels(config);
    return config_check(config, fault);
}

/*
 * Fills *config from the defaults, then the file, then the options. Call it again after a change of
 * the file. Returns 0, or -1 with *fault filled.
 */
static int configure(struct config *config, const struct options *options, struct fault *fault)
{
    const char *file = options->text[OPTION_CONFIG];

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

/* The process. */

enum { USEC_PER_MS = 1000 };

struct process {
    uv_loop_t loop;
    uv_signal_t term, interrupt, hangup;
    uv_timer_t alive; /* sends WATCHDOG=1 if the service manager requires it */
    const struct options *options;
    struct activation activation;
    struct notify notify;
    struct config config;
    struct service *service;
    struct metrics *metrics;
    struct trace *trace;
    bool stopping;
};

static int complain(const char *what, const char *key, const char *value, int error)
{
    struct log_line line;

    if (log_begin(&line, LOG_ERR, what)) {
        log_text(&line, key, value);
        log_errno(&line, "error", -error);
        log_end(&line);
    }
    return error;
}

static int cannot_listen(const char *key, const char *value, int error)
{
    struct log_line line;

    if (log_begin(&line, LOG_ERR, "cannot listen")) {
        log_text(&line, key, value);
        log_text(&line, "error", bind_error_text(error));
        if ((error == -EACCES || error == -EOWNERDEAD) && strcmp(value, "/run/mlid.sock") == 0 &&
            geteuid() != 0)
            log_text(&line, "hint",
                     "XDG_RUNTIME_DIR has no absolute path; start mlid with --socket PATH");
        if (error == -ENOENT)
            log_text(&line, "hint",
                     "the directory of the socket does not exist: create it, or start mlid with "
                     "--socket PATH");
        log_end(&line);
    }
    return error;
}

/* Listens at "metrics.listen", unless that is empty. */
static int open_metrics(struct process *process, const struct config *config, struct metrics **out)
{
    struct bound bound;
    uid_t uid;
    gid_t gid;
    int error;

    *out = NULL;
    if (config->metrics[0] == '\0')
        return 0;
    error = identity_of_sockets(config, &uid, &gid);
    if (error == 0)
        error = metrics_bind(&bound, config->metrics, config->socket_mode, uid, gid);
    if (error == 0)
        error = metrics_create(&process->loop, process->service, &bound, out);
    if (error < 0)
        cannot_listen("metrics", config->metrics, error);
    return error;
}

static int adopt_metrics(struct process *process)
{
    struct bound bound;

    bind_adopt(&bound, process->activation.metrics);
    return metrics_create(&process->loop, process->service, &bound, &process->metrics);
}

/* Reloading the configuration. */

/* Opens the new address before the old one is closed. */
static void change_metrics(struct process *process, struct config *fresh)
{
    struct metrics *metrics;

    if (process->activation.metrics >= 0 || strcmp(process->config.metrics, fresh->metrics) == 0)
        return;
    if (open_metrics(process, fresh, &metrics) < 0) {
        memcpy(fresh->metrics, process->config.metrics, sizeof fresh->metrics);
        return;
    }
    metrics_destroy(process->metrics);
    process->metrics = metrics;
}

static void reload(struct process *process)
{
    struct config fresh;
    struct fault fault;
    unsigned kept;

    if (configure(&fresh, process->options, &fault) < 0) {
        log_one_text(LOG_ERR, "not reloaded", "why", fault.text);
        return;
    }
    kept = reload_keep(&process->config, &fresh);
    change_metrics(process, &fresh);
    if (descriptors_reserve(&process->loop, descriptors_allow(&fresh)) < 0)
        complain("too few descriptors", "why", "libuv has no memory for more", -ENOMEM);
    service_reconfigure(process->service, &fresh);
    process->config = fresh;
    log_one_uint(LOG_INFO, "reloaded", "kept", kept);
}

static void ready(const struct process *process)
{
    notify_send(&process->notify, "READY=1\nSTATUS=%" PRIu32 " channels of %s",
                process->config.channels, mli_mov_engine_name());
}

static void on_hangup(uv_signal_t *signal, int number)
{
    struct process *process = signal->data;

    (void)number;
    if (process->stopping)
        return;
    notify_reloading(&process->notify);
    reload(process);
    ready(process);
}

/* Ending */

static void remove_directory(const struct process *process)
{
    if (process->options->remove_directory)
        bind_remove_directory(process->config.socket);
}

static void end_now(struct process *process)
{
    trace_destroy(process->trace);
    remove_directory(process);
    _exit(EXIT_RUNTIME);
}

static void on_term(uv_signal_t *signal, int number)
{
    struct process *process = signal->data;

    (void)number;
    if (process->stopping)
        end_now(process);
    process->stopping = true;
    notify_send(&process->notify, "STOPPING=1\nSTATUS=finishing jobs");
    service_shutdown(process->service);
}

/* Handles a signal. The handle is unreferenced: it does not keep the loop alive. */
static int watch_signal(struct process *process, uv_signal_t *signal, int number, uv_signal_cb call)
{
    int error = uv_signal_init(&process->loop, signal);

    if (error < 0)
        return error;
    signal->data = process;
    uv_unref((uv_handle_t *)signal);
    return uv_signal_start(signal, call, number);
}

/* Blocks signals before the handles are closed, because that restores the default actions. */
static void hold_signals(void)
{
    sigset_t set;

    sigemptyset(&set);
    sigaddset(&set, SIGTERM);
    sigaddset(&set, SIGINT);
    sigaddset(&set, SIGHUP);
    sigprocmask(SIG_BLOCK, &set, NULL);
}

/* Starting the process. */

static void on_alive(uv_timer_t *timer)
{
    const struct process *process = timer->data;

    notify_send(&process->notify, "WATCHDOG=1");
}

static void start_alive(struct process *process)
{
    const uint64_t ms = process->notify.watchdog_usec / 2 / USEC_PER_MS;

    uv_timer_init(&process->loop, &process->alive);
    process->alive.data = process;
    uv_unref((uv_handle_t *)&process->alive);
    if (process->notify.watchdog_usec > 0)
        uv_timer_start(&process->alive, on_alive, ms, ms > 0 ? ms : 1);
}

static int bind_all(struct process *process)
{
    const struct activation *given = &process->activation;
    int error;

    if (given->service >= 0)
        error = service_listen_on(process->service, given->service);
    else
        error = service_listen(process->service);
    if (error < 0)
        return cannot_listen("socket", process->config.socket, error);
    if (given->metrics >= 0)
        error = adopt_metrics(process);
    else
        error = open_metrics(process, &process->config, &process->metrics);
    return error;
}

/*
 * Restricts the process for good: programs that it runs get no more rights than it has, and files
 * get no rights for other users. Unless core dumps are allowed, the process writes none (they would
 * contain clients' data), and other processes of its user cannot trace it. Call it after the user
 * has changed. Returns 0 or -errno.
 */
static int harden(bool allow_core)
{
    const struct rlimit none = {0, 0};

    umask(077);
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0)
        return -errno;
    if (!allow_core && setrlimit(RLIMIT_CORE, &none) < 0)
        return -errno;
    /* Set the dumpable flag too: core dumps that the kernel pipes to a program ignore RLIMIT_CORE,
     * and setuid(2) has changed the flag. */
    return prctl(PR_SET_DUMPABLE, allow_core ? 1 : 0, 0, 0, 0) < 0 ? -errno : 0;
}

/* Drops the privileges that were needed only to bind the sockets. */
static int give_up_rights(const struct process *process)
{
    const char *user = process->config.user;
    struct identity identity;
    int error = 0;

    if (user[0] != '\0') {
        error = identity_of_user(user, &identity);
        if (error == 0)
            error = identity_become(&identity);
        if (error < 0)
            return complain("cannot become another user", "user", user, error);
    }
    error = harden(process->options->allow_core);
    return error < 0 ? complain("cannot start", "socket", process->config.socket, error) : 0;
}

static int open_trace(struct process *process)
{
    const char *path = process->config.trace;
    int error;

    if (path[0] == '\0')
        return 0;
    error = trace_create(&process->loop, path, &process->trace);
    if (error < 0)
        return complain("cannot write the trace", "trace", path, error);
    service_set_trace(process->service, process->trace);
    return 0;
}

static void log_listening(const struct process *process)
{
    const struct config *config = &process->config;
    const bool given = process->activation.service >= 0;
    struct log_line line;

    if (!log_begin(&line, LOG_INFO, "listening"))
        return;
    log_text(&line, "socket", given ? "of the service manager" : config->socket);
    if (process->metrics && process->activation.metrics < 0)
        log_text(&line, "metrics", config->metrics);
    log_uint(&line, "channels", config->channels);
    log_text(&line, "engine", mli_mov_engine_name());
    if (config->profile[0] != '\0')
        log_text(&line, "profile", config->profile);
    log_text(&line, "version", mli_version());
    log_end(&line);
}

/* Runs until the service has shut down. Returns the exit status. */
static int serve(struct process *process)
{
    if (bind_all(process) < 0 || give_up_rights(process) < 0 || open_trace(process) < 0)
        return EXIT_RUNTIME;
    log_listening(process);
    ready(process);
    /* If jobs outlast drain_ms, end the process without waiting for their transfers. */
    if (uv_run(&process->loop, UV_RUN_DEFAULT) != 0)
        end_now(process);
    return service_has_cut_jobs(process->service) ? EXIT_RUNTIME : EXIT_CLEAN;
}

/* Ends mlid when libuv is out of memory, before libuv calls abort(). Needed only at the start. */
static void end_without_memory(void)
{
    complain("cannot start", "why", "libuv has no memory", -ENOMEM);
    _exit(EXIT_RUNTIME);
}

static int start(struct process *process)
{
    const unsigned descriptors = descriptors_allow(&process->config);
    int error = service_thread_on_no_memory(end_without_memory);

    if (error == 0)
        error = service_check_descriptors();
    if (error == 0)
        error = uv_loop_init(&process->loop);
    if (error == 0)
        error = descriptors_reserve(&process->loop, descriptors);
    if (error == 0)
        error = watch_signal(process, &process->term, SIGTERM, on_term);
    if (error == 0)
        error = watch_signal(process, &process->interrupt, SIGINT, on_term);
    if (error == 0)
        error = watch_signal(process, &process->hangup, SIGHUP, on_hangup);
    if (error == 0)
        error = service_create(&process->loop, &process->config, &process->service);
    return error;
}

/* Runs until the service has shut down. Returns the exit status. */
static int run(struct process *process)
{
    int status, error = start(process);

    if (error < 0) {
        complain("cannot start", "socket", process->config.socket, error);
        return EXIT_RUNTIME;
    }
    start_alive(process);
    status = serve(process);
    hold_signals();
    metrics_destroy(process->metrics);
    service_set_trace(process->service, NULL);
    trace_destroy(process->trace);
    service_destroy(process->service);
    uv_close((uv_handle_t *)&process->term, NULL);
    uv_close((uv_handle_t *)&process->interrupt, NULL);
    uv_close((uv_handle_t *)&process->hangup, NULL);
    uv_close((uv_handle_t *)&process->alive, NULL);
    uv_run(&process->loop, UV_RUN_DEFAULT);
    uv_loop_close(&process->loop);
    remove_directory(process);
    return status;
}

/* The command. */

/* Opens descriptors 0 to 2 if they are closed: else a socket could get the number of stderr. */
static void fill_standard_streams(void)
{
    int fd;

    do
        fd = open("/dev/null", O_RDWR | O_CLOEXEC);
    while (fd >= 0 && fd <= STDERR_FILENO);
    if (fd >= 0)
        close(fd);
}

/* Whether the tuning file is used, and the reason if not. */
struct tuned {
    enum tuning_use use;
    char note[TUNING_NOTE_MAX]; /* reason why the file is ignored, or empty */
};

static int check(struct config *config, struct tuned *tuned, struct fault *fault)
{
    for (int i = 0; mli_cpu_ignored(i); i++)
        fprintf(stderr, "mlid: %s is ignored: it must be a number\n", mli_cpu_ignored(i));
    if (identity_check(config, fault) < 0 || service_check(config, fault) < 0)
        return -1;
    return tuning_load(config->tuning[0] ? config->tuning : NULL, &tuned->use, tuned->note, fault);
}

/* Logs whether the tuning file is used; a file that was made on another machine is ignored. */
static void log_tuning(const struct tuned *tuned, const char *path)
{

    if (tuned->use == TUNING_FILE)
        log_one_text(LOG_INFO, "tuning in use", "file", path);
    if (tuned->use == TUNING_IGNORED)
        log_one_text(LOG_WARNING, "tuning ignored", "reason", tuned->note);
}

static int refuse(const struct fault *fault)
{
    fprintf(stderr, "mlid: %s\n", fault->text);
    return EXIT_USAGE;
}

int main(int argc, char **argv)
{
    static struct options options;
    static struct process process = {.options = &options};
    static struct tuned tuned;
    struct config *config = &process.config;
    struct fault fault;
    int status;

    ports_add();
    fill_standard_streams();
    status = parse_options(&options, argc, argv);
    if (status >= 0)
        return status;
    if (configure(config, &options, &fault) < 0 || check(config, &tuned, &fault) < 0)
        return refuse(&fault);
    if (options.check) {
        if (*tuned.note)
            fprintf(stderr, "mlid: %s\n", tuned.note);
        printf("the configuration is valid\n");
        return end_output();
    }
    notify_init(&process.notify);
    if (activation_take(&process.activation, &fault) < 0)
        return refuse(&fault);
    log_set_journal(log_is_journal());
    log_set_level(config->log_level);
    log_set_format(config->log_format);
    log_tuning(&tuned, config->tuning);
    signal(SIGPIPE, SIG_IGN);
    signal(SIGXFSZ,
           SIG_IGN); /* ignore the signal, so that write(2) of the trace fails with EFBIG */
    return run(&process);
}

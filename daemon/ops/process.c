/* SPDX-License-Identifier: BSD-3-Clause */
#include "daemon/ops/process.h"

#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>
#include <uv.h>

#include "daemon/base/log.h"
#include "daemon/config/identity.h"
#include "daemon/config/reload.h"
#include "daemon/job/trace.h"
#include "daemon/ops/descriptors.h"
#include "daemon/ops/metrics.h"
#include "daemon/service.h"
#include "mli_helpers_api.h"
#include "mli_mov_api.h"

enum { USEC_PER_MS = 1000 };

struct process {
    uv_loop_t loop;
    uv_signal_t term, interrupt, hangup;
    uv_timer_t alive; /* sends WATCHDOG=1 if the service manager asks for it */
    const struct mlid_options *options;
    const struct activation *activation;
    const struct notify *notify;
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

    bind_adopt(&bound, process->activation->metrics);
    return metrics_create(&process->loop, process->service, &bound, &process->metrics);
}

/* Reloading the configuration. */

/* Opens the new address before the old one is closed. */
static void change_metrics(struct process *process, struct config *fresh)
{
    struct metrics *metrics;

    if (process->activation->metrics >= 0 || strcmp(process->config.metrics, fresh->metrics) == 0)
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
    struct log_line line;
    unsigned kept;

    if (mlid_options_configure(process->options, &fresh, &fault) < 0) {
        if (log_begin(&line, LOG_ERR, "not reloaded")) {
            log_text(&line, "why", fault.text);
            log_end(&line);
        }
        return;
    }
    kept = reload_keep(&process->config, &fresh);
    change_metrics(process, &fresh);
    if (descriptors_reserve(&process->loop, descriptors_allow(&fresh)) < 0)
        complain("too few descriptors", "why", "libuv has no memory for more", -ENOMEM);
    service_reconfigure(process->service, &fresh);
    process->config = fresh;
    if (log_begin(&line, LOG_INFO, "reloaded")) {
        log_uint(&line, "kept", kept);
        log_end(&line);
    }
}

static void ready(const struct process *process)
{
    notify_send(process->notify, "READY=1\nSTATUS=%" PRIu32 " channels of %s",
                process->config.channels, mli_mov_engine_name());
}

static void on_hangup(uv_signal_t *signal, int number)
{
    struct process *process = signal->data;

    (void)number;
    if (process->stopping)
        return;
    notify_reloading(process->notify);
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
    notify_send(process->notify, "STOPPING=1\nSTATUS=finishing jobs");
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

/* Blocks signals before the handles are closed, which restores the default actions. */
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

    notify_send(process->notify, "WATCHDOG=1");
}

static void start_alive(struct process *process)
{
    const uint64_t ms = process->notify->watchdog_usec / 2 / USEC_PER_MS;

    uv_timer_init(&process->loop, &process->alive);
    process->alive.data = process;
    uv_unref((uv_handle_t *)&process->alive);
    if (process->notify->watchdog_usec > 0)
        uv_timer_start(&process->alive, on_alive, ms, ms > 0 ? ms : 1);
}

static int bind_all(struct process *process)
{
    const struct activation *given = process->activation;
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
 * get no rights for other users. Unless core dumps are allowed, the process leaves none, because
 * they would have clients' data, and other processes of its user cannot trace it. Call it after the
 * user has changed. Returns 0 or -errno.
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

/* Gives up the rights that only binding the sockets needed. */
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
    const bool given = process->activation->service >= 0;
    struct log_line line;

    if (!log_begin(&line, LOG_INFO, "listening"))
        return;
    log_text(&line, "socket", given ? "of the service manager" : config->socket);
    if (process->metrics && process->activation->metrics < 0)
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

/* Called when libuv has no memory: it would call abort(). After the start, libuv needs none. */
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

int process_run(const struct mlid_options *options, const struct config *config,
                const struct activation *activation, const struct notify *notify)
{
    static struct process process;
    int status, error;

    process.options = options;
    process.config = *config;
    process.activation = activation;
    process.notify = notify;
    error = start(&process);
    if (error < 0) {
        complain("cannot start", "socket", config->socket, error);
        return EXIT_RUNTIME;
    }
    start_alive(&process);
    status = serve(&process);
    hold_signals();
    metrics_destroy(process.metrics);
    service_set_trace(process.service, NULL);
    trace_destroy(process.trace);
    service_destroy(process.service);
    uv_close((uv_handle_t *)&process.term, NULL);
    uv_close((uv_handle_t *)&process.interrupt, NULL);
    uv_close((uv_handle_t *)&process.hangup, NULL);
    uv_close((uv_handle_t *)&process.alive, NULL);
    uv_run(&process.loop, UV_RUN_DEFAULT);
    uv_loop_close(&process.loop);
    remove_directory(&process);
    return status;
}

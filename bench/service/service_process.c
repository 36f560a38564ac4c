/* SPDX-License-Identifier: BSD-3-Clause */
#include "bench/service/service_process.h"

#include <err.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "bench/service/echo.h"

enum {
    SERVERS_MAX = 4,
    CONNECT_TRIES = 500,
    PATH_SIZE = sizeof((struct sockaddr_un *)0)->sun_path
};

/* The running servers. A failed (err() calls exit()) or interrupted bench terminates them. */
static struct {
    struct server at[SERVERS_MAX];
    int count;
    pid_t owner; /* the process that started the servers, which its child processes must not stop */
} running;

void server_pin(int cpu)
{
    cpu_set_t set;

    CPU_ZERO(&set);
    CPU_SET(cpu, &set);
    /* Exits on a machine with one processor, which client and server would share. */
    sched_setaffinity(0, sizeof set, &set);
}

static void socket_path(const struct server *server, char *path, size_t size)
{
    snprintf(path, size, "%s/socket", server->directory);
}

static void config_path(const struct server *server, char *path, size_t size)
{
    snprintf(path, size, "%s/mlid.json", server->directory);
}

static void terminate(const struct server *server)
{
    char path[PATH_SIZE];

    kill(server->pid, SIGTERM);
    waitpid(server->pid, NULL, 0);
    socket_path(server, path, sizeof path);
    unlink(path);
    config_path(server, path, sizeof path);
    unlink(path);
    rmdir(server->directory);
}

static void terminate_all(void)
{
    while (getpid() == running.owner && running.count > 0)
        terminate(&running.at[--running.count]);
}

static void on_signal(int number)
{
    terminate_all();
    _exit(128 + number);
}

static void terminate_all_at_end(void)
{
    static const int signals[] = {SIGINT, SIGTERM, SIGHUP};

    running.owner = getpid();
    if (atexit(terminate_all) != 0)
        errx(1, "out of memory");
    for (size_t i = 0; i < sizeof signals / sizeof *signals; i++)
        signal(signals[i], on_signal);
}

static void remember(const struct server *server)
{
    if (running.owner == 0)
        terminate_all_at_end();
    if (running.count == SERVERS_MAX)
        errx(1, "more than %d servers", SERVERS_MAX);
    running.at[running.count++] = *server;
}

static pid_t fork_server(struct server *server)
{
    strcpy(server->directory, "/tmp/bench-service-XXXXXX");
    if (!mkdtemp(server->directory))
        err(1, "mkdtemp");
    fflush(NULL);
    server->pid = fork();
    if (server->pid < 0) {
        rmdir(server->directory);
        err(1, "fork");
    }
    if (server->pid == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        server_pin(SERVER_CPU);
    } else {
        remember(server);
    }
    return server->pid;
}

static void write_config(const char *path, const char *limits)
{
    FILE *file = fopen(path, "w");

    if (!file || fprintf(file, "{\"limits\":%s}\n", limits) < 0 || fclose(file) != 0)
        err(1, "%s", path);
}

void server_start_mlid(struct server *server, const char *limits)
{
    char path[PATH_SIZE], config[PATH_SIZE];

    if (fork_server(server) > 0)
        return;
    socket_path(server, path, sizeof path);
    config_path(server, config, sizeof config);
    write_config(config, limits);
    setenv("GLIBC_TUNABLES", "glibc.malloc.tcache_count=64", 0); /* as in mlid.service */
    execl(MLID, MLID, "--log-level", "error", "--socket", path, "--config", config, (char *)NULL);
    err(1, "%s", MLID);
}

void server_start_echo(struct server *server, size_t request, size_t reply)
{
    char path[PATH_SIZE];

    if (fork_server(server) > 0)
        return;
    socket_path(server, path, sizeof path);
    echo_run(path, request, reply);
    _exit(1);
}

int server_connect(const struct server *server)
{
    const struct timespec pause = {.tv_nsec = 10 * 1000 * 1000};
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    const int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

    if (fd < 0)
        err(1, "socket");
    socket_path(server, address.sun_path, sizeof address.sun_path);
    for (int i = 0; i < CONNECT_TRIES; i++) {
        if (connect(fd, (const struct sockaddr *)&address, sizeof address) == 0)
            return fd;
        nanosleep(&pause, NULL);
    }
    err(1, "%s", address.sun_path);
}

void server_stop(struct server *server)
{
    for (int i = 0; i < running.count; i++) {
        if (running.at[i].pid == server->pid)
            running.at[i] = running.at[--running.count];
    }
    terminate(server);
}

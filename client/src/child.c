/* SPDX-License-Identifier: BSD-3-Clause */
#include "client/src/client_state.h"

#include <errno.h>
#include <signal.h>
#include <spawn.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

extern char **environ;

enum { PATIENCE_MS = 2000, PAUSE_NS = 2000000 };

/* Starts a process with `end` as standard input and output, and default signal handling. */
static int spawn(char *const argv[], int end, pid_t *child)
{
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    sigset_t none, usual;

    sigemptyset(&none);
    sigemptyset(&usual);
    sigaddset(&usual, SIGPIPE);
    sigaddset(&usual, SIGXFSZ);
    int error = posix_spawn_file_actions_init(&actions);
    if (error)
        return error;
    error = posix_spawnattr_init(&attributes);
    if (error) {
        posix_spawn_file_actions_destroy(&actions);
        return error;
    }
    error = posix_spawn_file_actions_adddup2(&actions, end, STDIN_FILENO);
    if (error == 0)
        error = posix_spawn_file_actions_adddup2(&actions, end, STDOUT_FILENO);
    posix_spawnattr_setsigmask(&attributes, &none);
    posix_spawnattr_setsigdefault(&attributes, &usual);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
    if (error == 0)
        error = posix_spawnp(child, argv[0], &actions, &attributes, argv, environ);
    posix_spawnattr_destroy(&attributes);
    posix_spawn_file_actions_destroy(&actions);
    return error;
}

int child_start(char *const argv[], pid_t *child, int *socket, mli_client_error *error)
{
    int ends[2];

    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends))
        return error_set(error, MLI_CLIENT_SYSTEM, "socketpair: %s", strerror(errno));
    int failure = spawn(argv, ends[1], child);
    close(ends[1]);
    if (failure) {
        close(ends[0]);
        return error_set(error, MLI_CLIENT_NO_SERVICE, "%s cannot be started: %s", argv[0],
                         strerror(failure));
    }
    *socket = ends[0];
    return 0;
}

int child_wait(pid_t child)
{
    int64_t deadline = clock_deadline(PATIENCE_MS);
    int status = 0;

    for (;;) {
        pid_t ended = waitpid(child, &status, WNOHANG);
        if (ended == child)
            return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
        if (ended < 0 && errno != EINTR)
            return 0; /* the program has waited for all its children itself */
        if (clock_ms() >= deadline)
            return -1;
        nanosleep(&(struct timespec){.tv_nsec = PAUSE_NS}, NULL);
    }
}

void child_end(pid_t child)
{
    static const int signals[] = {SIGTERM, SIGKILL};

    for (size_t i = 0; i < 2 && child_wait(child) < 0; i++)
        kill(child, signals[i]);
    while (waitpid(child, NULL, 0) < 0 && errno == EINTR) {
    }
}

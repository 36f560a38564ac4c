/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * mli-agent: the agent of a board as a program on this machine, with the engines of this machine.
 * Tests of mlictl use it in place of a board.
 *
 *     mli-agent --listen PATH | --pty | --stdio [--engine SPEC] [--channels N] [--memory BYTES]
 *               [--board NAME]
 *
 * SIGUSR1 resets the "board": buffers, transfers and the boot number are gone.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pty.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <termios.h>
#include <time.h>
#include <unistd.h>

#include "boards/firmware/agent/agent.h"
#include "libmli/port/ports.h"
#include "mli_helpers_api.h"

enum { CHUNK = 4096, IDLE_MS = 1, MEMORY_BYTES = 16 << 20, ALIGNMENT = 64 };

/* The line: bytes that were read and not yet taken. */
struct line {
    int in, out, listener;
    uint8_t bytes[CHUNK], unsent[CHUNK];
    size_t begin, end, unsent_size;
};

static volatile sig_atomic_t reset_wanted;

static void on_reset(int number)
{
    (void)number;
    reset_wanted = 1;
}

static void flush(struct line *line)
{
    size_t sent = 0;

    while (line->out >= 0 && sent < line->unsent_size) {
        ssize_t count = write(line->out, line->unsent + sent, line->unsent_size - sent);

        if (count > 0)
            sent += (size_t)count;
        else if (count < 0 && errno != EINTR)
            break; /* no process reads the pty: drop the bytes, as a serial line does */
    }
    line->unsent_size = 0;
}

static void put(void *context, const uint8_t *bytes, size_t size)
{
    struct line *line = context;

    for (size_t i = 0; i < size; i++) {
        if (line->unsent_size == sizeof(line->unsent))
            flush(line);
        line->unsent[line->unsent_size++] = bytes[i];
    }
}

static void drop_connection(struct line *line)
{
    if (line->listener < 0)
        exit(0);
    close(line->in);
    line->in = line->out = -1;
}

static void fill(struct line *line)
{
    const int listening = line->listener >= 0 && line->in < 0;
    struct pollfd polled = {.fd = listening ? line->listener : line->in, .events = POLLIN};

    flush(line);
    if (poll(&polled, 1, IDLE_MS) <= 0)
        return;
    if (listening) {
        line->in = line->out = accept(line->listener, NULL, NULL);
        return;
    }
    ssize_t count = read(line->in, line->bytes, sizeof(line->bytes));
    if (count > 0) {
        line->begin = 0;
        line->end = (size_t)count;
    } else if (line->listener < 0 && count < 0 && errno == EIO) {
        usleep(1000 * IDLE_MS); /* no process has opened the pty */
    } else if (count == 0 || (errno != EINTR && errno != EAGAIN)) {
        drop_connection(line);
    }
}

static int get(void *context)
{
    struct line *line = context;

    return line->begin < line->end ? line->bytes[line->begin++] : -1;
}

static uint64_t now_ns(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

static int fail(const char *what)
{
    fprintf(stderr, "mli-agent: %s: %s\n", what, strerror(errno));
    return 1;
}

/* Listens at the path. The socket gets this name last, so that clients which find the name can
 * connect. */
static int listen_at(const char *path)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    const size_t size = sizeof(address.sun_path);
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

    if ((size_t)snprintf(address.sun_path, size, "%s.new", path) >= size) {
        errno = ENAMETOOLONG;
        return -1;
    }
    unlink(address.sun_path);
    if (fd < 0 || bind(fd, (const struct sockaddr *)&address, sizeof(address)) || listen(fd, 1) ||
        rename(address.sun_path, path))
        return -1;
    return fd;
}

/* Opens a pseudo terminal in raw mode and prints its name. */
static int open_pty(void)
{
    struct termios raw;
    char name[128];
    int board, peer;

    memset(&raw, 0, sizeof(raw));
    cfmakeraw(&raw);
    if (openpty(&board, &peer, name, &raw, NULL))
        return -1;
    printf("%s\n", name);
    fflush(stdout);
    return board; /* `peer` stays open, so that reads do not fail between two connections */
}

struct arguments {
    const char *listen, *engine, *board;
    size_t memory;
    unsigned channels;
    bool pty;
};

/* Parses an option with a value. Returns whether the option is known. */
static bool take_value(struct arguments *arguments, const char *name, const char *value)
{
    if (strcmp(name, "--listen") == 0)
        arguments->listen = value;
    else if (strcmp(name, "--engine") == 0)
        arguments->engine = value;
    else if (strcmp(name, "--board") == 0)
        arguments->board = value;
    else if (strcmp(name, "--channels") == 0)
        arguments->channels = (unsigned)strtoul(value, NULL, 10);
    else if (strcmp(name, "--memory") == 0)
        arguments->memory = strtoull(value, NULL, 10);
    else
        return false;
    return true;
}

static bool parse(struct arguments *arguments, int argc, char **argv)
{
    bool line = false;

    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--pty") == 0)
            line = arguments->pty = true;
        else if (strcmp(argv[i], "--stdio") == 0)
            line = true;
        else if (i + 1 < argc && take_value(arguments, argv[i], argv[i + 1]))
            i++;
        else
            return false;
    }
    return (line || arguments->listen) && arguments->memory > 0;
}

static int open_line(struct line *line, const struct arguments *arguments)
{
    *line = (struct line){.in = STDIN_FILENO, .out = STDOUT_FILENO, .listener = -1};
    if (arguments->listen) {
        line->listener = listen_at(arguments->listen);
        line->in = line->out = -1;
        return line->listener < 0 ? -1 : 0;
    }
    if (arguments->pty)
        line->in = line->out = open_pty();
    return line->in < 0 ? -1 : 0;
}

int main(int argc, char **argv)
{
    struct arguments arguments = {
        .engine = "inline", .board = "host", .memory = MEMORY_BYTES, .channels = 4};
    static struct agent agent;
    static struct line line;

    if (!parse(&arguments, argc, argv)) {
        fprintf(stderr, "usage: mli-agent --listen PATH | --pty | --stdio [--engine SPEC] "
                        "[--channels N] [--memory BYTES] [--board NAME]\n");
        return 2;
    }
    signal(SIGPIPE, SIG_IGN);
    sigaction(SIGUSR1, &(struct sigaction){.sa_handler = on_reset}, NULL);
    ports_add();
    if (open_line(&line, &arguments))
        return fail(arguments.listen ? arguments.listen : "pty");
    const size_t size = (arguments.memory + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
    const struct agent_port port = {.board = arguments.board,
                                    .engine = arguments.engine,
                                    .channels = arguments.channels,
                                    .memory = aligned_alloc(ALIGNMENT, size),
                                    .memory_bytes = arguments.memory,
                                    .get = get,
                                    .put = put,
                                    .now_ns = now_ns,
                                    .context = &line};
    if (!port.memory)
        return fail("memory");
    if (!agent_init(&agent, &port)) {
        fprintf(stderr, "mli-agent: --engine %s: %s\n", arguments.engine, mli_last_error());
        return 1;
    }
    for (;;) {
        if (reset_wanted) {
            reset_wanted = 0;
            agent_finish(&agent);
            agent_init(&agent, &port);
        }
        if (!agent_poll(&agent))
            fill(&line);
    }
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* mlictl proxy: the remote end of `mlictl -H`. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "cli/command.h"
#include "cli/link/daemon_link.h"
#include "cli/proxy/proxy.h"
#include "cli/term/cancel.h"

static const struct option options_table[] = {
    {"socket", 's', "PATH",
     "Connect to the daemon at this socket (default: $MLID_SOCKET, else mlid's own).",
     .takes = &value_file},
    OPTIONS_COMMON,
};

/* Sends the reason for a failed connection to the client, as a message of the protocol. */
static enum exit_code explain(const mli_client_error *error)
{
    struct jsonw w;
    struct fault fault;
    const struct rpc_id nobody = {.kind = RPC_ID_NULL};

    fault_set(&fault, FAULT_STREAM_ERROR, NULL, "%s", error->message);
    jsonw_init(&w);
    rpc_write_error(&w, &nobody, &fault);
    if (jsonw_text(&w))
        fwrite(w.data, 1, w.length, stdout);
    jsonw_finish(&w);
    return EXIT_CODE_LOST;
}

/* Other processes may share the open file: its mode is restored at the end. */
static int set_mode(int fd, int *before)
{
    *before = fcntl(fd, F_GETFL);
    return *before < 0 ? -1 : fcntl(fd, F_SETFL, *before | O_NONBLOCK);
}

static enum exit_code code_of(enum proxy_end end)
{
    switch (end) {
    case PROXY_CLIENT_GONE:
        return cancel_requested() ? EXIT_CODE_STOPPED : EXIT_CODE_DONE;
    case PROXY_DAEMON_GONE:
        return EXIT_CODE_LOST;
    default:
        return EXIT_CODE_FAILED;
    }
}

static enum exit_code run(const struct options *options)
{
    struct proxy proxy;
    mli_client_error error;
    int daemon, input_mode, output_mode = -1;
    enum exit_code code = EXIT_CODE_FAILED;

    if (options->argument_count > 0)
        return command_misused(&cmd_proxy);
    if (isatty(STDIN_FILENO)) {
        print_error("proxy talks to a program: mlictl -H ssh://... starts it");
        return EXIT_CODE_INVALID;
    }
    if (mli_client_open_socket(options_get(options, "socket"), cancel_fd(), &daemon, &error))
        return explain(&error);
    if (proxy_init(&proxy, STDIN_FILENO, STDOUT_FILENO, daemon))
        print_error("out of memory");
    else if (set_mode(STDIN_FILENO, &input_mode) || set_mode(STDOUT_FILENO, &output_mode))
        print_error("standard input or output: %s", strerror(errno));
    else
        code = code_of(proxy_run(&proxy));
    proxy_finish(&proxy);
    if (output_mode >= 0) {
        fcntl(STDOUT_FILENO, F_SETFL, output_mode & ~O_NONBLOCK);
        fcntl(STDIN_FILENO, F_SETFL, input_mode);
    }
    return code;
}

static const struct example examples[] = {
    {"run by mlictl -H ssh://board", "ssh board mlictl proxy"},
    {0},
};

const struct command cmd_proxy = {
    .name = "proxy",
    .arguments = "",
    .summary = "connect mlictl -H to a daemon",
    .details = "Uses the inline form of the protocol on standard input and output.\n",
    .options = options_table,
    .examples = examples,
    .run = run,
};

/* SPDX-License-Identifier: BSD-3-Clause */
#include "cli/link/daemon_link.h"

#include <errno.h>
#include <grp.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/link/host.h"
#include "cli/term/cancel.h"
#include "proto/wire/methods.h"

enum { ID_TEXT_MAX = 16 };

static bool has_directory(const char *path)
{
    struct stat status;
    char directory[MLI_CLIENT_PATH_MAX];
    const char *slash = strrchr(path, '/');

    if (!slash)
        return true;
    snprintf(directory, sizeof(directory), "%.*s", (int)(slash - path) + 1, path);
    return stat(directory, &status) == 0 && S_ISDIR(status.st_mode);
}

/* Explains that no daemon listens, and how to start one; --socket is omitted for the default. */
static int explain_absent(const char *asked, const char *where, struct fault *fault)
{
    const char *from_environment = getenv("MLID_SOCKET");
    bool by_default = !asked && !(from_environment && *from_environment);

    if (by_default && strcmp(where, "/run/mlid.sock") == 0 && geteuid() != 0)
        return fault_set(fault, FAULT_STREAM_ERROR, NULL,
                         "no daemon listens at %s (the default, as XDG_RUNTIME_DIR %s); start one "
                         "with `mlid --socket PATH &` and give --socket PATH or set MLID_SOCKET",
                         where, getenv("XDG_RUNTIME_DIR") ? "is not a usable path" : "is not set");
    if (!has_directory(where))
        return fault_set(fault, FAULT_STREAM_ERROR, NULL,
                         "no daemon listens at %s, and its directory does not exist%s", where,
                         by_default ? "; set XDG_RUNTIME_DIR to a directory that exists, or give "
                                      "--socket PATH"
                                    : "");
    return fault_set(fault, FAULT_STREAM_ERROR, NULL,
                     "no daemon listens at %s; start one with `mlid%s%s &`", where,
                     by_default ? "" : " --socket ", by_default ? "" : where);
}

/* Explains a refused connection: names the owner of the socket. */
static int explain_closed(const char *where, struct fault *fault)
{
    struct stat there;
    char user[ID_TEXT_MAX], group[ID_TEXT_MAX];

    if (stat(where, &there))
        return fault_set(fault, FAULT_STREAM_ERROR, NULL,
                         "no permission to connect to %s: this user cannot enter its directory",
                         where);
    const struct passwd *owner = getpwuid(there.st_uid);
    const struct group *members = getgrgid(there.st_gid);
    snprintf(user, sizeof(user), "%u", (unsigned)there.st_uid);
    snprintf(group, sizeof(group), "%u", (unsigned)there.st_gid);
    if (there.st_mode & S_IWGRP)
        return fault_set(fault, FAULT_STREAM_ERROR, NULL,
                         "no permission to connect to %s: it is for the user %s and for members of "
                         "the group %s",
                         where, owner ? owner->pw_name : user, members ? members->gr_name : group);
    return fault_set(fault, FAULT_STREAM_ERROR, NULL,
                     "no permission to connect to %s: it is for the user %s alone; \"socket_mode\" "
                     "and \"socket_group\" of mlid.json let others in",
                     where, owner ? owner->pw_name : user);
}

/*
 * Adds to the fault why no connection to a daemon of this machine could be made, and what the user
 * can do, if more is known than the library says. `path`: --socket, or null; `code`: the error
 * code of the library. Returns -1.
 */
static int explain_refused(const char *path, int code, struct fault *fault)
{
    char where[MLI_CLIENT_PATH_MAX];
    mli_client_error error;
    struct stat there;

    if (mli_client_socket_path(path, where, &error))
        return -1;
    if (code == MLI_CLIENT_NO_SERVICE && stat(where, &there) == 0 && !S_ISSOCK(there.st_mode))
        return fault_set(fault, FAULT_STREAM_ERROR, NULL,
                         "%s is not a socket; give the socket of mlid", where);
    if (code == MLI_CLIENT_NO_SERVICE)
        return explain_absent(path, where, fault);
    if (code == MLI_CLIENT_LOST && access(where, W_OK) && errno == EACCES)
        return explain_closed(where, fault);
    return -1;
}

static const char lost[] = "the connection to the daemon is lost";

enum { SHELL_NOT_FOUND = 127, SSH_FAILED = 255 };

static void disconnect(struct daemon_link *link)
{
    mli_client_close(link->library);
    link->library = NULL;
}

/* Adds to a LIMIT fault of the service in this process where its limit was set. */
static int explain_own_limit(const struct daemon_link *link, struct fault *fault)
{
    static const char job_bytes[] = "limits.job_bytes: ",
                      buffer_bytes[] = "limits.buffer_bytes_per_client: ";
    const struct fault bare = *fault;

    if (!link->limit_source || (strncmp(bare.text, job_bytes, sizeof(job_bytes) - 1) != 0 &&
                                strncmp(bare.text, buffer_bytes, sizeof(buffer_bytes) - 1) != 0))
        return -1;
    return fault_set(fault, bare.code, bare.has_pointer ? bare.pointer : NULL, "%s (%s)", bare.text,
                     link->limit_source);
}

/* Rewrites a fault of the service inside this process: its text must not speak of a daemon. */
static int explain_own(const struct daemon_link *link, struct fault *fault)
{
    if (!*link->where && fault->code == FAULT_LIMIT)
        return explain_own_limit(link, fault);
    if (*link->where || fault->code != FAULT_STREAM_ERROR)
        return -1;
    if (fault->has_pointer && strcmp(fault->pointer, "/fds") == 0)
        return fault_set(fault, FAULT_LIMIT, NULL,
                         "too few file descriptors are left for the job; see ulimit -n");
    fault->code = FAULT_INTERNAL;
    return -1;
}

/* Returns the fault code of an error of the client library. */
static enum fault_code code_of(int code)
{
    switch ((enum mli_client_code)code) {
    case MLI_CLIENT_LOST:
    case MLI_CLIENT_NO_SERVICE:
    case MLI_CLIENT_BUSY:
    case MLI_CLIENT_UNREADABLE:
        return FAULT_STREAM_ERROR;
    case MLI_CLIENT_WAITED:
        return FAULT_TIMED_OUT;
    case MLI_CLIENT_INTERRUPTED:
        return FAULT_CANCELLED;
    case MLI_CLIENT_MISUSE:
        return FAULT_INVALID_PARAMS;
    case MLI_CLIENT_IMPOSSIBLE:
        return FAULT_INVALID_REQUEST;
    case MLI_CLIENT_OK:
    case MLI_CLIENT_NO_MEMORY:
    case MLI_CLIENT_SYSTEM:
        return FAULT_INTERNAL;
    }
    return (enum fault_code)code;
}

/* Explains the exit code of ssh, which prints its own messages on stderr. */
static void explain_remote(struct daemon_link *link, struct fault *fault)
{
    const char *command = mli_client_path(link->library);
    int status = mli_client_command_status(link->library);

    switch (status) {
    case -1:
        break;
    case SHELL_NOT_FOUND:
        fault_set(fault, FAULT_STREAM_ERROR, NULL, "%.256s: mlictl is not installed there",
                  link->where);
        break;
    case SSH_FAILED:
        fault_set(fault, FAULT_STREAM_ERROR, NULL,
                  "%.256s: ssh cannot connect, or lost the connection", link->where);
        break;
    default:
        /* Keep an earlier fault: it is more specific than the end of the proxy. */
        if (strncmp(fault->text, lost, sizeof(lost) - 1) != 0)
            break;
        fault_set(fault, FAULT_STREAM_ERROR, NULL, "%.256s: %s%.128s ended with %d%s", link->where,
                  link->greeted ? "the connection is lost: " : "", command, status,
                  link->greeted ? "" : " before a daemon answered");
        break;
    }
}

int daemon_link_info(struct daemon_link *link, struct daemon_info *info, struct fault *fault)
{
    static const struct daemon_link_request request = {.method = "daemon.info",
                                                       .timeout_ms = DAEMON_LINK_ASK_MS};
    struct rpc_reply reply;

    if (daemon_link_call(link, &request, &reply, fault))
        return -1;
    int status = daemon_info_read(&reply.result, info);
    if (status)
        daemon_link_unreadable(&reply, fault);
    rpc_reply_finish(&reply);
    return status;
}

int daemon_link_fault(struct daemon_link *link, const mli_client_error *error, struct fault *fault)
{
    fault_set(fault, code_of(error->code), error->has_pointer ? error->pointer : NULL, "%s",
              error->message);
    fault->status = error->status;
    if (error->code == MLI_CLIENT_INTERRUPTED)
        cancel_fault(fault);
    if (error->code == MLI_CLIENT_LOST && link->remote && link->library)
        explain_remote(link, fault);
    bool useless = error->code == MLI_CLIENT_WAITED || error->code == MLI_CLIENT_INTERRUPTED ||
                   error->code == MLI_CLIENT_UNREADABLE;
    if (link->library && (useless || !mli_client_connected(link->library)))
        disconnect(link);
    return explain_own(link, fault);
}

static int open_local(struct daemon_link *link, const char *path, struct fault *fault)
{
    mli_client_error error;
    int code = mli_client_connect_interruptible(path, cancel_fd(), &link->library, &error);

    if (code == 0) {
        snprintf(link->where, sizeof(link->where), "%s", mli_client_path(link->library));
        return 0;
    }
    snprintf(link->where, sizeof(link->where), "?"); /* the socket of the daemon is not known */
    link->absent = code == MLI_CLIENT_NO_SERVICE;
    daemon_link_fault(link, &error, fault);
    return explain_refused(path, code, fault);
}

static int open_remote(struct daemon_link *link, const char *url, const char *socket,
                       struct fault *fault)
{
    struct host host;
    mli_client_error error;
    mli_client_greeting greeting;

    if (host_parse(&host, url, socket, fault))
        return -1;
    link->remote = true;
    snprintf(link->where, sizeof(link->where), "%s", url);
    int code = mli_client_spawn(host.argv, &link->library, &error);
    if (code)
        return daemon_link_fault(link, &error, fault);
    mli_client_set_interrupt(link->library, cancel_fd());
    /* A user may type a password: wait for the greeting before timeouts of calls begin. */
    if (mli_client_greet(link->library, &greeting, &error))
        return daemon_link_fault(link, &error, fault);
    link->greeted = true;
    return 0;
}

static const char *url_of(const struct options *options)
{
    const char *url = options_get(options, "host");

    if (!url)
        url = getenv("MLID_HOST");
    return url && *url ? url : NULL;
}

int daemon_link_open(struct daemon_link *link, const struct options *options, struct fault *fault)
{
    const char *socket = options_get(options, "socket"), *url = url_of(options);

    *link = (struct daemon_link){0};
    if (is_board_url(url))
        return board_calls->refuse(url, BOARD_IS_NO_DAEMON, fault);
    return url ? open_remote(link, url, socket, fault) : open_local(link, socket, fault);
}

static int open_board(struct daemon_link *link, const char *url, const char *socket,
                      struct fault *fault)
{
    *link = (struct daemon_link){0};
    snprintf(link->where, sizeof(link->where), "%s", url);
    if (socket)
        return board_calls->refuse(url, BOARD_HAS_NO_SOCKET, fault);
    link->board = board_calls->open(url, fault);
    if (!link->board)
        return -1;
    snprintf(link->where, sizeof(link->where), "%s", board_calls->where(link->board));
    return 0;
}

int daemon_link_open_any(struct daemon_link *link, const struct options *options,
                         struct fault *fault)
{
    const char *url = url_of(options);

    return is_board_url(url) ? open_board(link, url, options_get(options, "socket"), fault)
                             : daemon_link_open(link, options, fault);
}

int daemon_link_adopt(struct daemon_link *link, int socket, struct fault *fault)
{
    mli_client_error error;

    *link = (struct daemon_link){0};
    if (mli_client_adopt(socket, 0, &link->library, &error))
        return daemon_link_fault(link, &error, fault);
    mli_client_set_interrupt(link->library, cancel_fd());
    return 0;
}

void daemon_link_finish(struct daemon_link *link)
{
    if (link->board)
        board_calls->close(link->board);
    link->board = NULL;
    disconnect(link);
}

bool daemon_link_connected(const struct daemon_link *link)
{
    return link->board ? !board_calls->is_lost(link->board) : link->library != NULL;
}

/* Parses a reply line. Returns 0, or -1 with the fault; then *reply need not be finished. */
static int parse_reply(const char *line, size_t length, struct rpc_reply *reply,
                       struct fault *fault)
{
    if (rpc_reply_parse(line, length, reply) == 0)
        return 0;
    daemon_link_unreadable(reply, fault);
    rpc_reply_finish(reply);
    return -1;
}

static int call_board(struct daemon_link *link, const char *method, struct rpc_reply *reply,
                      struct fault *fault)
{
    struct jsonw w;

    jsonw_init(&w);
    int status = board_calls->answer(link->board, method, &w, fault);
    const char *line = status == 0 ? jsonw_text(&w) : NULL;
    if (status == 0)
        status =
            line ? parse_reply(line, strcspn(line, "\n"), reply, fault) : fault_no_memory(fault);
    jsonw_finish(&w);
    return status;
}

int daemon_link_call(struct daemon_link *link, const struct daemon_link_request *request,
                     struct rpc_reply *reply, struct fault *fault)
{
    mli_client_error error;
    char *line;
    size_t length;

    if (link->board)
        return call_board(link, request->method, reply, fault);
    if (!daemon_link_connected(link)) {
        fault_set(fault, FAULT_STREAM_ERROR, NULL,
                  "the connection to the daemon is lost: it is closed already");
        return explain_own(link, fault);
    }
    const char *params = request->params ? jsonw_text(request->params) : NULL;
    if (request->params && !params)
        return fault_no_memory(fault);
    if (mli_client_call(link->library, request->method, params, request->attachments,
                        request->count, request->timeout_ms, &line, &length, &error))
        return daemon_link_fault(link, &error, fault);
    int status = parse_reply(line, length, reply, fault);
    free(line);
    return status;
}

int daemon_link_unreadable(const struct rpc_reply *reply, struct fault *fault)
{
    return fault_set(fault, FAULT_STREAM_ERROR, NULL, "the daemon's answer cannot be read: %s",
                     reply->fault.text);
}

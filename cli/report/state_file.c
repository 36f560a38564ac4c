/* SPDX-License-Identifier: BSD-3-Clause */
/* The writer of state files; state.c reads them. */
#include "cli/report/state_file.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/exit_code.h"
#include "cli/report/fingerprint.h"
#include "cli/term/cancel.h"
#include "cli/term/print.h"

static int complain(const struct state_file *state_file, int error, const char *what,
                    struct fault *fault)
{
    char shown[PRINT_PATH_MAX];

    return fault_set(fault, exit_code_is_shortage(error) ? FAULT_IO_ERROR : FAULT_INVALID_PARAMS,
                     NULL, "%s: %s: %s", print_path(shown, state_file->path), what,
                     strerror(error));
}

static int refuse(const struct state_file *state_file, const char *why, struct fault *fault)
{
    char shown[PRINT_PATH_MAX];

    return fault_set(fault, FAULT_INVALID_PARAMS, NULL, "%s: %s",
                     print_path(shown, state_file->path), why);
}

/* Continues without a lock if the file system has no locks. */
static int lock(struct state_file *state_file, struct fault *fault)
{
    if (flock(state_file->fd, LOCK_EX | LOCK_NB) && errno == EWOULDBLOCK)
        return refuse(state_file,
                      "another run is using the file; give each run its own --resume STATE", fault);
    return 0;
}

static int open_file(struct state_file *state_file, struct fault *fault)
{
    struct stat status;

    if (stat(state_file->path, &status) == 0 && !S_ISREG(status.st_mode) &&
        !S_ISDIR(status.st_mode))
        return refuse(state_file, "not a regular file", fault);
    state_file->fd =
        open(state_file->path, O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC | O_NONBLOCK, 0666);
    if (state_file->fd < 0)
        return complain(state_file, errno, "cannot be opened", fault);
    if (fstat(state_file->fd, &status))
        return complain(state_file, errno, "cannot read its status", fault);
    return S_ISREG(status.st_mode) ? 0 : refuse(state_file, "not a regular file", fault);
}

/* Copies the fault of a line, with the path of the file before its text. */
static int blame_line(const struct state_file *state_file, const struct fault *line,
                      struct fault *fault)
{
    char shown[PRINT_PATH_MAX], place[PRINT_PLACE_MAX];

    print_path(shown, state_file->path);
    print_place(place, line->pointer, line->text);
    if (!line->line)
        return fault_set(fault, line->code, NULL, "%s: %s", shown, line->text);
    return fault_set(
        fault, line->code, NULL,
        "%s:%u: %s%s; the file is not a state file, or was edited: give another --resume STATE",
        shown, line->line, place, line->text);
}

/* Removes the incomplete last line of a killed run. */
static int cut(struct state_file *state_file, struct fault *fault)
{
    state_file->size = state_file->state.whole;
    return ftruncate(state_file->fd, state_file->size)
               ? complain(state_file, errno, "cannot be truncated after its last complete line",
                          fault)
               : 0;
}

int state_file_open(struct state_file *state_file, const char *path, struct fault *fault)
{
    static const char foreign[] =
        "its incomplete last line is not from a state file and is not removed: give another "
        "--resume STATE";
    struct fault line;

    *state_file = (struct state_file){.path = path, .fd = -1};
    if (open_file(state_file, fault) || lock(state_file, fault))
        return -1;
    if (state_read(&state_file->state, state_file->fd, &line))
        return blame_line(state_file, &line, fault);
    if (state_file->state.foreign)
        return refuse(state_file, foreign, fault);
    return cut(state_file, fault);
}

/*
 * Removes an incomplete line. If that fails, the file is closed, so that no line follows the
 * incomplete one, and the next run removes it.
 */
static void take_back(struct state_file *state_file)
{
    if (ftruncate(state_file->fd, state_file->size) == 0)
        return;
    close(state_file->fd);
    state_file->fd = -1;
}

static int append(struct state_file *state_file, const char *text, size_t length,
                  struct fault *fault)
{
    for (size_t done = 0; done < length;) {
        ssize_t put = write(state_file->fd, text + done, length - done);

        if (put < 0 && errno == EINTR)
            continue;
        if (put <= 0) {
            int error = put < 0 ? errno : EIO;

            take_back(state_file);
            return complain(state_file, error, "cannot be written", fault);
        }
        done += (size_t)put;
    }
    state_file->size += (off_t)length;
    return 0;
}

/* Ends the line that `w` holds, writes it and finishes `w`. */
static int append_line(struct state_file *state_file, struct jsonw *w, struct fault *fault)
{
    sigset_t old;

    jsonw_object_end(w);
    jsonw_newline(w);
    const char *text = jsonw_text(w);
    /* A second ^C ends the process, but not within a line. */
    cancel_hold(&old);
    int status = text ? append(state_file, text, w->length, fault)
                      : fault_set(fault, FAULT_INTERNAL, NULL, "out of memory");
    cancel_admit(&old);
    jsonw_finish(w);
    return status;
}

static void begin_line(struct jsonw *w)
{
    jsonw_init(w);
    jsonw_object_begin(w, NULL);
}

/* Returns whether this run continues the one before it: it has the same cases and reuses all
 * current results. */
static bool continues(const struct state *state, const struct batch_outline *outline)
{
    uint64_t current = 0;

    if (!state->begun || !batch_outline_same(outline, &state->outline))
        return false;
    for (size_t i = 0; i < state->count; i++) {
        if (state->records[i].current)
            current = digest_add(current, state->records[i].result.name);
    }
    return current == outline->resumed_set;
}

int state_file_begin(struct state_file *state_file, const struct batch_outline *outline,
                     struct fault *fault)
{
    struct batch_outline line = *outline;
    struct jsonw w;

    state_file->anew = !continues(&state_file->state, outline);
    line.anew = state_file->anew && state_file->state.begun;
    begin_line(&w);
    batch_outline_write(&w, &line);
    jsonw_uint(&w, "format", OUTLINE_FORMAT);
    return append_line(state_file, &w, fault);
}

int state_file_keep(struct state_file *state_file, const struct case_result *result,
                    struct fault *fault)
{
    return state_file->anew ? state_file_add(state_file, result, fault) : 0;
}

int state_file_add(struct state_file *state_file, const struct case_result *result,
                   struct fault *fault)
{
    struct jsonw w;

    begin_line(&w);
    case_result_write(&w, result, true);
    return append_line(state_file, &w, fault);
}

int state_file_end(struct state_file *state_file, const struct batch_summary *summary,
                   struct fault *fault)
{
    struct jsonw w;

    begin_line(&w);
    batch_summary_write(&w, summary);
    return append_line(state_file, &w, fault);
}

void state_file_close(struct state_file *state_file)
{
    state_finish(&state_file->state);
    if (state_file->fd >= 0)
        close(state_file->fd);
    *state_file = (struct state_file){.fd = -1};
}

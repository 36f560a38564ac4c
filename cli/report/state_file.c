/* SPDX-License-Identifier: BSD-3-Clause */
/* The writer of state files; state.c reads them. */
#include "cli/report/state_file.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/file/calls.h"
#include "cli/file/output.h"
#include "cli/report/fingerprint.h"
#include "cli/term/cancel.h"
#include "cli/term/clock_ns.h"
#include "cli/term/exit_code.h"
#include "cli/term/print.h"

/* UNSYNCED_MAX: at most as many bytes are lost together, less than the reader takes as one line. */
enum { NS_PER_S = 1000000000, UNSYNCED_MAX = 256 << 10 };

static int complain(const struct state_file *state_file, int error, const char *what,
                    struct fault *fault)
{
    char shown[PRINT_PATH_MAX];

    return fault_set(fault, exit_code_fault(error, FAULT_INVALID_PARAMS), NULL, "%s: %s: %s",
                     print_path(shown, state_file->path), what, strerror(error));
}

static int refuse(const struct state_file *state_file, const char *why, struct fault *fault)
{
    char shown[PRINT_PATH_MAX];

    return fault_set(fault, FAULT_INVALID_PARAMS, NULL, "%s: %s",
                     print_path(shown, state_file->path), why);
}

/* Takes the lock. Continues without one if the file system has no locks. */
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
    state_file->fd = open_at(AT_FDCWD, state_file->path,
                             O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC | O_NONBLOCK, 0666);
    if (state_file->fd < 0)
        return complain(state_file, errno, "cannot be opened", fault);
    if (fstat(state_file->fd, &status))
        return complain(state_file, errno, "cannot read its status", fault);
    return S_ISREG(status.st_mode) ? 0 : refuse(state_file, "not a regular file", fault);
}

/* Opens the file and takes its lock. Opens it again if another run has just replaced it in start().
 */
static int open_locked(struct state_file *state_file, struct fault *fault)
{
    struct stat status;

    for (;;) {
        if (open_file(state_file, fault) || lock(state_file, fault))
            return -1;
        if (fstat(state_file->fd, &status) || status.st_nlink > 0)
            return 0;
        close(state_file->fd);
        state_file->fd = -1;
    }
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
    if (line->code == FAULT_INTERNAL) /* out of memory */
        return fault_set(fault, line->code, NULL, "%s:%u: %s", shown, line->line, line->text);
    return fault_set(
        fault, line->code, NULL,
        "%s:%u: %s%s; the file is not a state file, or was edited: give another --resume STATE",
        shown, line->line, place, line->text);
}

/* Removes the incomplete last line of a killed run. */
static int cut(struct state_file *state_file, struct fault *fault)
{
    state_file->size = state_file->state.whole;
    return set_size(state_file->fd, state_file->size)
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
    if (open_locked(state_file, fault))
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
    if (set_size(state_file->fd, state_file->size) == 0)
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

/* Syncs the lines to storage. A slow storage gets at most a twentieth of the time. */
static int sync_lines(struct state_file *state_file, struct fault *fault)
{
    const uint64_t begin = clock_ns();
    const int error = storage_sync(state_file->fd);

    if (error)
        return complain(state_file, error, "cannot be synced to storage", fault);
    const uint64_t end = clock_ns(), pause = 20 * (end - begin);
    state_file->synced = state_file->size;
    state_file->next_sync = end + (pause < NS_PER_S ? NS_PER_S : pause);
    return 0;
}

/*
 * Replaces the empty file by a new file with the first line, which is synced before it gets the
 * name: a power cut leaves the empty file or the whole line. Returns whether the file was replaced.
 */
static bool start(struct state_file *state_file, const char *text, size_t length)
{
    struct output output;
    struct fault ignored;
    bool done = output_init(&output, state_file->path, NULL, &ignored) == 0 &&
                output_write(&output, text, length, 0, &ignored) == 0 &&
                (flock(output.fd, LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK) &&
                fcntl(output.fd, F_SETFL, O_APPEND) == 0 &&
                output_commit_synced(&output, false, &ignored) == 0;

    if (done) {
        close(state_file->fd);
        state_file->fd = output_take(&output);
        state_file->size = (off_t)length;
    }
    output_finish(&output);
    return done;
}

/* Writes a whole line, the first one with start() if the directory permits it. */
static int put(struct state_file *state_file, const char *text, size_t length, struct fault *fault)
{
    if (state_file->size == 0 && start(state_file, text, length))
        return 0;
    return append(state_file, text, length, fault);
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
    int status = text ? put(state_file, text, w->length, fault) : fault_no_memory(fault);
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
    batch_outline_write(&w, "begin", &line);
    jsonw_uint(&w, "format", line.open ? OUTLINE_FORMAT_OPEN : OUTLINE_FORMAT_FINGERPRINTS);
    return append_line(state_file, &w, fault) ? -1 : sync_lines(state_file, fault);
}

int state_file_outline(struct state_file *state_file, const struct batch_outline *outline,
                       struct fault *fault)
{
    struct jsonw w;

    begin_line(&w);
    batch_outline_write(&w, "outline", outline);
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
    if (append_line(state_file, &w, fault))
        return -1;
    return state_file->size - state_file->synced < UNSYNCED_MAX ? 0 : sync_lines(state_file, fault);
}

int state_file_tick(struct state_file *state_file, struct fault *fault)
{
    return state_file->size == state_file->synced || clock_ns() < state_file->next_sync
               ? 0
               : sync_lines(state_file, fault);
}

int state_file_end(struct state_file *state_file, const struct batch_summary *summary,
                   struct fault *fault)
{
    struct jsonw w;

    begin_line(&w);
    batch_summary_write(&w, summary);
    return append_line(state_file, &w, fault) ? -1 : sync_lines(state_file, fault);
}

void state_file_close(struct state_file *state_file)
{
    state_finish(&state_file->state);
    if (state_file->fd >= 0)
        close(state_file->fd);
    *state_file = (struct state_file){.fd = -1};
}

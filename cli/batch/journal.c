/* SPDX-License-Identifier: BSD-3-Clause */
#include "cli/batch/journal.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/batch/digest.h"
#include "cli/exit_code.h"
#include "cli/term/cancel.h"
#include "cli/term/print.h"

static int complain(const struct journal *journal, int error, const char *what, struct fault *fault)
{
    char shown[PRINT_PATH_MAX];
    return fault_set(fault, exit_code_is_shortage(error) ? FAULT_IO_ERROR : FAULT_INVALID_PARAMS,
                     NULL, "%s: %s: %s", print_path(shown, journal->path), what, strerror(error));
}

static int refuse(const struct journal *journal, const char *why, struct fault *fault)
{
    char shown[PRINT_PATH_MAX];
    return fault_set(fault, FAULT_INVALID_PARAMS, NULL, "%s: %s", print_path(shown, journal->path),
                     why);
}

/* File systems without locks do without. */
static int lock(struct journal *journal, struct fault *fault)
{
    if (flock(journal->fd, LOCK_EX | LOCK_NB) && errno == EWOULDBLOCK)
        return refuse(journal, "another run writes to it; give each its own --resume", fault);
    return 0;
}

static int open_file(struct journal *journal, struct fault *fault)
{
    struct stat status;
    if (stat(journal->path, &status) == 0 && !S_ISREG(status.st_mode) && !S_ISDIR(status.st_mode))
        return refuse(journal, "it is no regular file", fault);
    journal->fd = open(journal->path, O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC | O_NONBLOCK, 0666);
    if (journal->fd < 0)
        return complain(journal, errno, "cannot be opened", fault);
    if (fstat(journal->fd, &status))
        return complain(journal, errno, "cannot be looked up", fault);
    return S_ISREG(status.st_mode) ? 0 : refuse(journal, "it is no regular file", fault);
}

/* The fault of a line, with the file in front of it. */
static int blame_line(const struct journal *journal, const struct fault *line, struct fault *fault)
{
    char shown[PRINT_PATH_MAX];
    print_path(shown, journal->path);
    if (!line->line)
        return fault_set(fault, line->code, NULL, "%s: %s", shown, line->text);
    return fault_set(fault, line->code, NULL,
                     "%s:%u: %s%s%s; it is no state file, or was changed: take another one", shown,
                     line->line, line->pointer, *line->pointer ? ": " : "", line->text);
}

/* What a killed run left half written would stand before our first line. */
static int cut(struct journal *journal, struct fault *fault)
{
    journal->size = journal->state.whole;
    return ftruncate(journal->fd, journal->size)
               ? complain(journal, errno, "cannot be cut after its last whole line", fault)
               : 0;
}

int journal_open(struct journal *journal, const char *path, struct fault *fault)
{
    static const char foreign[] =
        "its last line has no end and is none of a state file, and is not taken away: take another "
        "file";
    struct fault line;
    *journal = (struct journal){.path = path, .fd = -1};
    if (open_file(journal, fault) || lock(journal, fault))
        return -1;
    if (state_read(&journal->state, journal->fd, &line))
        return blame_line(journal, &line, fault);
    if (journal->state.foreign)
        return refuse(journal, foreign, fault);
    return cut(journal, fault);
}

/* A line that is not whole; where that fails too, no line comes behind it, and the next run cuts
 * it.
 */
static void take_back(struct journal *journal)
{
    if (ftruncate(journal->fd, journal->size) == 0)
        return;
    close(journal->fd);
    journal->fd = -1;
}

static int append(struct journal *journal, const char *text, size_t length, struct fault *fault)
{
    for (size_t done = 0; done < length;) {
        ssize_t put = write(journal->fd, text + done, length - done);
        if (put < 0 && errno == EINTR)
            continue;
        if (put <= 0) {
            int error = put < 0 ? errno : EIO;
            take_back(journal);
            return complain(journal, error, "cannot be written", fault);
        }
        done += (size_t)put;
    }
    journal->size += (off_t)length;
    return 0;
}

/* Ends the line that `w` holds, writes it and finishes `w`. */
static int append_line(struct journal *journal, struct jsonw *w, struct fault *fault)
{
    sigset_t old;
    jsonw_object_end(w);
    jsonw_newline(w);
    const char *text = jsonw_text(w);
    /* The second ^C does not end us within a line. */
    cancel_hold(&old);
    int status = text ? append(journal, text, w->length, fault)
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

/* Whether this run goes on where the one before it was: no case is other, and none is done again.
 */
static bool goes_on(const struct state *state, const struct batch_outline *outline)
{
    uint64_t current = 0;
    if (!state->begun || !batch_outline_same(outline, &state->outline))
        return false;
    for (size_t i = 0; i < state->count; i++) {
        if (state->records[i].current)
            current = digest_add(current, state->records[i].result.name);
    }
    return current == outline->kept;
}

int journal_begin(struct journal *journal, const struct batch_outline *outline, struct fault *fault)
{
    struct batch_outline line = *outline;
    struct jsonw w;
    journal->anew = !goes_on(&journal->state, outline);
    line.anew = journal->anew && journal->state.begun;
    begin_line(&w);
    batch_outline_write(&w, &line);
    jsonw_uint(&w, "format", OUTLINE_FORMAT);
    return append_line(journal, &w, fault);
}

int journal_keep(struct journal *journal, const struct case_result *result, struct fault *fault)
{
    return journal->anew ? journal_add(journal, result, fault) : 0;
}

int journal_add(struct journal *journal, const struct case_result *result, struct fault *fault)
{
    struct jsonw w;
    begin_line(&w);
    case_result_write(&w, result, true);
    return append_line(journal, &w, fault);
}

int journal_end(struct journal *journal, const struct batch_summary *summary, struct fault *fault)
{
    struct jsonw w;
    begin_line(&w);
    batch_summary_write(&w, summary);
    return append_line(journal, &w, fault);
}

void journal_close(struct journal *journal)
{
    state_finish(&journal->state);
    if (journal->fd >= 0)
        close(journal->fd);
    *journal = (struct journal){.fd = -1};
}

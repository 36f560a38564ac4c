/* SPDX-License-Identifier: BSD-3-Clause */
/* State files: the reader, and the writer of a run. */
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
#include "cli/file/regular.h"
#include "cli/report/fingerprint.h"
#include "cli/report/state_file.h"
#include "cli/term/cancel.h"
#include "cli/term/clock_ns.h"
#include "cli/term/exit_code.h"
#include "cli/term/print.h"
#include "proto/grow.h"
#include "proto/wire/frame.h"
#include "proto/wire/rpc.h"

/* The reader of state files. */

/* The state of reading a file. */
struct reader {
    struct state *state;
    size_t line;     /* current line, from 1 */
    size_t capacity; /* number of records that fit in the array */
    size_t epoch;    /* index of the first current record */
    struct fault *fault;
};

static struct state_record *add_record(struct reader *reader)
{
    struct state *state = reader->state;

    if (list_grow(&state->records, state->count, &reader->capacity, sizeof(*state->records)))
        return NULL;
    struct state_record *record = &state->records[state->count++];
    *record = (struct state_record){.line = reader->line};
    return record;
}

static int take_begin(struct reader *reader, const struct json *value)
{
    struct state *state = reader->state;
    struct batch_outline outline = {0};

    if (batch_outline_read(value, &outline))
        return -1;
    if (!state->begun || outline.anew || !batch_outline_same(&outline, &state->outline)) {
        reader->epoch = state->count;
        state->ns = 0;
    }
    state->begun = true;
    state->outline = outline;
    return 0;
}

/* Reads the outline that an open run writes after its last case. The results before it stay valid.
 */
static int take_outline(struct reader *reader, const struct json *value)
{
    struct state *state = reader->state;
    struct batch_outline outline;

    if (!state->outline.open)
        return json_complain(value, "an \"outline\" line must follow an open run");
    if (batch_outline_read(value, &outline))
        return -1;
    if (outline.open || outline.anew)
        return json_complain(value, "an \"outline\" line cannot be open or anew");
    outline.older = state->outline.older;
    state->outline = outline;
    return 0;
}

static int take_case(struct reader *reader, const struct json *value)
{
    struct case_result result;

    if (!reader->state->begun)
        return json_complain(value, "a \"case\" line must follow a \"begin\" line");
    if (case_result_read(value, &result))
        return -1;
    struct state_record *record = add_record(reader);
    if (!record) {
        case_result_finish(&result);
        return fault_no_memory(reader->fault);
    }
    record->result = result;
    if (reader->state->outline.older) /* fingerprints of older formats cannot be compared */
        fingerprint_finish(&record->result.fingerprint);
    return 0;
}

static int take_end(struct reader *reader, const struct json *value)
{
    struct batch_summary summary;

    if (batch_summary_read(value, &summary))
        return -1;
    if (__builtin_add_overflow(reader->state->ns, summary.ns, &reader->state->ns))
        reader->state->ns = UINT64_MAX;
    return 0;
}

static int take_line(struct reader *reader, const char *line, size_t length)
{
    static const char *const words[] = {"begin", "case", "end", "outline", NULL};
    static int (*const takers[])(struct reader *, const struct json *) = {take_begin, take_case,
                                                                          take_end, take_outline};
    struct json root;
    size_t index = 0;
    if (json_parse(line, length, &rpc_reply_limits, &root, reader->fault))
        return -1;
    struct json event = json_member(&root, "event");
    int status = json_is_object(&root) ? json_choice(&event, words, &index)
                                       : json_complain(&root, "an object is required");
    if (status == 0)
        status = takers[index](reader, &root);
    json_free(&root);
    return status;
}

static const char line_head[] = "{\"event\":\"";

/* Returns the number of bytes before the first zero byte. */
static size_t bytes_before_zero(const char *bytes, size_t length)
{
    const char *zero = memchr(bytes, 0, length);

    return zero ? (size_t)(zero - bytes) : length;
}

/* Returns whether the bytes begin with `head`, or are the first bytes of `head`. */
static bool has_head(const char *bytes, size_t length, const char *head)
{
    const size_t most = strlen(head);

    return memcmp(bytes, head, length < most ? length : most) == 0;
}

/*
 * Returns whether a power cut has destroyed this line, or several lines that now look as one. Bytes
 * that were not synced read as zeros, which JSON never has. The first line of a file is never lost.
 */
static bool is_damaged(const struct state *state, const char *line, size_t length)
{
    const size_t before = bytes_before_zero(line, length);

    return state->begun && before < length && has_head(line, before, line_head);
}

/* Reads the complete lines of the frame. Skips damaged lines: their cases run again. */
static int take_lines(struct reader *reader, struct frame *frame)
{
    const char *line;
    size_t length;

    while (frame_next(frame, &line, &length)) {
        reader->line++;
        if (!is_damaged(reader->state, line, length) && take_line(reader, line, length)) {
            if (!reader->fault->line)
                reader->fault->column = 1;
            reader->fault->line = (unsigned)reader->line;
            return -1;
        }
    }
    return 0;
}

static int read_lines(struct reader *reader, struct frame *frame, int fd)
{
    for (;;) {
        size_t size;
        char *room = frame_room(frame, &size);

        if (!room) {
            fault_set(reader->fault, FAULT_LIMIT, NULL, "the line is too long");
            reader->fault->line = (unsigned)reader->line + 1;
            reader->fault->column = 1;
            return -1;
        }
        ssize_t got = read(fd, room, size);
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            return fault_set(reader->fault, FAULT_IO_ERROR, NULL, "cannot be read: %s",
                             strerror(errno));
        if (got == 0)
            return 0;
        frame_commit(frame, (size_t)got);
        reader->state->whole += got;
        if (take_lines(reader, frame))
            return -1;
    }
}

/* Returns whether the last line, which is incomplete, is the beginning of a line of a state file,
 * or has the zeros that a power cut leaves. */
static bool is_cut_line(const struct state *state, const char *bytes, size_t length)
{
    if (state->begun)
        return has_head(bytes, bytes_before_zero(bytes, length), line_head);
    return has_head(bytes, length, "{\"event\":\"begin\",");
}

/* Sorts by name; of equal names the newest comes first. */
static int compare_records(const void *a, const void *b)
{
    const struct state_record *x = a, *y = b;
    int order = strcmp(x->result.name, y->result.name);

    return order ? order : (x->line < y->line) - (x->line > y->line);
}

static void keep_newest(struct state *state)
{
    size_t kept = 0;

    if (state->count > 1)
        qsort(state->records, state->count, sizeof(*state->records), compare_records);
    for (size_t i = 0; i < state->count; i++) {
        struct state_record *record = &state->records[i];

        if (kept > 0 && strcmp(state->records[kept - 1].result.name, record->result.name) == 0)
            case_result_finish(&record->result);
        else
            state->records[kept++] = *record;
    }
    state->count = kept;
}

int state_read(struct state *state, int fd, struct fault *fault)
{
    struct reader reader = {.state = state, .fault = fault};
    struct frame frame;

    *state = (struct state){0};
    *fault = (struct fault){0};
    if (frame_init(&frame, PROTO_REPLY_MAX))
        return fault_no_memory(fault);
    int status = read_lines(&reader, &frame, fd);
    state->whole -= (off_t)(frame.end - frame.begin);
    state->foreign = !is_cut_line(state, frame.buffer + frame.begin, frame.end - frame.begin);
    frame_finish(&frame);
    for (size_t i = reader.epoch; i < state->count; i++)
        state->records[i].current = true;
    keep_newest(state);
    return status;
}

int state_load(struct state *state, const char *path, struct fault *fault)
{
    struct stat status;

    *state = (struct state){0};
    int fd = regular_open(path, O_RDONLY, &status);
    if (fd == REGULAR_OTHER)
        return fault_set(fault, FAULT_INVALID_PARAMS, NULL, "not a regular file");
    if (fd < 0)
        return fault_set(fault, FAULT_INVALID_PARAMS, NULL, "cannot be opened: %s",
                         strerror(errno));
    int result = state_read(state, fd, fault);
    close(fd);
    return result;
}

void state_finish(struct state *state)
{
    for (size_t i = 0; i < state->count; i++)
        case_result_finish(&state->records[i].result);
    free(state->records);
    *state = (struct state){0};
}

static int compare_name(const void *name, const void *record)
{
    return strcmp(name, ((const struct state_record *)record)->result.name);
}

struct state_record *state_find(const struct state *state, const char *name)
{
    if (state->count == 0)
        return NULL;
    return bsearch(name, state->records, state->count, sizeof(*state->records), compare_name);
}

/* UNSYNCED_MAX: a power cut loses at most this number of bytes. The reader sees them as one line of
 * zeros, and therefore accepts longer lines. */
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
        return fault_set(fault, line->code, NULL, "%s:%u:%u: %s", shown, line->line, line->column,
                         line->text);
    return fault_set(
        fault, line->code, NULL,
        "%s:%u:%u: %s%s; the file is not a state file, or was edited: give another --resume STATE",
        shown, line->line, line->column, place, line->text);
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

/* Writes a whole line. The first line of a file is written by start(), which makes the file as a
 * whole, if the directory permits it. */
static int put(struct state_file *state_file, const char *text, size_t length, struct fault *fault)
{
    if (state_file->size == 0 && start(state_file, text, length))
        return 0;
    if (write_bytes(state_file->fd, text, length, state_file->size)) {
        const int error = errno;
        take_back(state_file);
        return complain(state_file, error, "cannot be written", fault);
    }
    state_file->size += (off_t)length;
    return 0;
}

/* Syncs the lines to storage. On a slow storage, syncing takes at most a twentieth of the time. */
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

/* Ends the line that `w` holds, writes it and finishes `w`. */
static int append_line(struct state_file *state_file, struct jsonw *w, struct fault *fault)
{
    sigset_t old;

    jsonw_object_end(w);
    jsonw_newline(w);
    const char *text = jsonw_text(w);
    /* Block signals: a second ^C ends the process, but must not cut a line. */
    cancel_hold(&old);
    int status = text ? put(state_file, text, w->length, fault) : fault_no_memory(fault);
    cancel_admit(&old);
    jsonw_finish(w);
    return status;
}

/* Returns whether this run continues the previous run: it has the same cases and reuses all
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
    jsonw_init_object(&w);
    batch_outline_write(&w, "begin", &line);
    jsonw_uint(&w, "format", OUTLINE_FORMAT);
    return append_line(state_file, &w, fault) ? -1 : sync_lines(state_file, fault);
}

int state_file_outline(struct state_file *state_file, const struct batch_outline *outline,
                       struct fault *fault)
{
    struct jsonw w;

    jsonw_init_object(&w);
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

    jsonw_init_object(&w);
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

    jsonw_init_object(&w);
    batch_summary_write(&w, summary);
    return append_line(state_file, &w, fault) ? -1 : sync_lines(state_file, fault);
}

void state_file_close(struct state_file *state_file)
{
    state_finish(&state_file->state);
    close_open(state_file->fd);
    *state_file = (struct state_file){.fd = -1};
}

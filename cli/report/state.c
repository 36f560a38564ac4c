/* SPDX-License-Identifier: BSD-3-Clause */
/* The reader of state files. */
#include "cli/report/state_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/file/regular.h"
#include "cli/report/fingerprint.h"
#include "proto/wire/frame.h"
#include "proto/wire/rpc.h"

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

    if (state->count == reader->capacity) {
        size_t capacity = reader->capacity ? 2 * reader->capacity : 256;
        struct state_record *records = reallocarray(state->records, capacity, sizeof(*records));

        if (!records)
            return NULL;
        state->records = records;
        reader->capacity = capacity;
    }
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

/* Takes the outline of an open run. The results of the run stay current. */
static int take_outline(struct reader *reader, const struct json *value)
{
    struct state *state = reader->state;
    struct batch_outline outline;

    if (!state->outline.open)
        return json_complain(value, "an \"outline\" line, but no open run before it");
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
        return json_complain(value, "a \"case\" line before the first \"begin\" line");
    if (case_result_read(value, &result))
        return -1;
    struct state_record *record = add_record(reader);
    if (!record) {
        case_result_finish(&result);
        return fault_no_memory(reader->fault);
    }
    record->result = result;
    if (reader->state->outline.older) /* older formats have other fingerprints */
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

/* Returns whether the bytes are the beginning of a line with `head`, or begin with it. */
static bool has_head(const char *bytes, size_t length, const char *head)
{
    const size_t most = strlen(head);

    return memcmp(bytes, head, length < most ? length : most) == 0;
}

/*
 * Returns whether the line, or several lines, lost bytes in a power cut: bytes that were not synced
 * read as zeros, and JSON has none. The first line of a file is never lost.
 */
static bool is_damaged(const struct state *state, const char *line, size_t length)
{
    const size_t before = bytes_before_zero(line, length);

    return state->begun && before < length && has_head(line, before, line_head);
}

/* Takes the complete lines of the frame. Skips damaged lines: their cases run again. */
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

        if (!room)
            return fault_set(reader->fault, FAULT_LIMIT, NULL,
                             "line %zu is too long: the file is not a state file",
                             reader->line + 1);
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

/* Returns whether an incomplete last line is the beginning of a line of a state file, or was lost
 * in a power cut. */
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

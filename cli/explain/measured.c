/* SPDX-License-Identifier: BSD-3-Clause */
#include "cli/explain/measured.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "cli/file/text.h"
#include "mli_mov_api.h"
#include "proto/json/json_file.h"

enum { TRACE_BYTES_MAX = 256 << 20, TRACE_VALUES_MAX = 32 << 20, TEXT_BYTES_MAX = 512 };

static const struct json_limits limits = {TRACE_BYTES_MAX, 8, TRACE_VALUES_MAX};

/* The text of a trace, as the project's strict JSON reader accepts it. */
struct strict_text {
    char *bytes;
    size_t length;
};

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/* Returns the length of the number at the beginning of a text; *fraction: it has a point. */
static size_t number_length(const char *text, size_t left, bool *fraction)
{
    size_t length = 0;

    *fraction = false;
    while (length < left && (is_digit(text[length]) || text[length] == '.')) {
        *fraction |= text[length] == '.';
        length++;
    }
    return length;
}

/* Returns the length of the string at the beginning of a text, with its quotes. */
static size_t string_length(const char *text, size_t left)
{
    size_t length = 1;

    while (length < left && text[length] != '"')
        length += text[length] == '\\' && length + 1 < left ? 2 : 1;
    return length < left ? length + 1 : left;
}

/* Returns the length of a text without white space and commas at its end. */
static size_t trimmed(const struct text *text)
{
    size_t length = text->length;

    while (length > 0 && strchr(" \t\r\n,", text->bytes[length - 1]))
        length--;
    return length;
}

/*
 * Makes strings of the numbers with a fraction, which the strict reader refuses, and closes the
 * array: a recording that was interrupted has no closing bracket.
 */
static int make_strict(const struct text *text, struct strict_text *out, struct fault *fault)
{
    const char *from = text->bytes;
    size_t left = trimmed(text);
    const bool open = left > 0 && from[0] == '[' && from[left - 1] == '}';
    char *to = malloc(2 * text->length + 2);

    if (!to)
        return fault_no_memory(fault);
    out->bytes = to;
    while (left > 0) {
        bool quoted = *from == '"', fraction = false;
        size_t length = quoted ? string_length(from, left) : number_length(from, left, &fraction);

        length = length > 0 ? length : 1;
        if (fraction)
            *to++ = '"';
        memcpy(to, from, length);
        to += length;
        if (fraction)
            *to++ = '"';
        from += length;
        left -= length;
    }
    if (open)
        *to++ = ']';
    out->length = (size_t)(to - out->bytes);
    return 0;
}

/* Reads microseconds with up to three digits after the point, as nanoseconds. */
static int read_time(const struct json *event, const char *key, uint64_t *ns)
{
    const struct json value = json_member(event, key);
    const char *text;
    int64_t whole;
    uint64_t unit = 100;

    *ns = 0;
    if (json_is_int(&value)) {
        if (json_int(&value, 0, INT64_C(1) << 52, &whole) < 0)
            return -1;
        *ns = (uint64_t)whole * 1000;
        return 0;
    }
    if (json_string(&value, 24, &text) < 0)
        return -1;
    for (; is_digit(*text) && *ns < UINT64_C(1) << 52; text++)
        *ns = *ns * 10 + (uint64_t)(*text - '0');
    *ns *= 1000;
    if (*text == '.')
        for (text++; is_digit(*text); text++, unit /= 10)
            *ns += unit * (uint64_t)(*text - '0');
    return *text == '\0' ? 0 : json_complain(&value, "a time in microseconds is required");
}

static bool has_word(const struct json *event, const char *key, const char *word)
{
    const struct json value = json_member(event, key);
    const char *text;

    return json_is_string(&value) && json_text(&value, TEXT_BYTES_MAX, &text) == 0 &&
           strcmp(text, word) == 0;
}

/* Refuses the trace of a model. */
static int check_process(const struct json *event)
{
    const struct json args = json_member(event, "args");
    struct json name;
    const char *text;

    if (!has_word(event, "name", "process_name") || !json_is_object(&args))
        return 0;
    name = json_member(&args, "name");
    if (!json_is_string(&name) || json_text(&name, TEXT_BYTES_MAX, &text) < 0 ||
        strncmp(text, "model of ", 9) != 0)
        return 0;
    return json_complain(&name, "this is the trace of a model; record one with mlictl trace");
}

/* Adds a transfer. Events of other kinds are left out. */
static int add_event(struct measured *measured, const struct json *event)
{
    struct timeline_slot slot = {.lanes = 1, .kind = TIMELINE_OTHER};
    const struct json tid = json_member(event, "tid"), name = json_member(event, "name");
    const struct json args = json_member(event, "args");
    struct json bytes = {0};
    uint64_t duration;
    int64_t lane, written = 0;

    if (!json_is_object(event))
        return json_complain(event, "an object is required: an event of a trace");
    if (has_word(event, "ph", "M"))
        return check_process(event);
    if (!has_word(event, "ph", "X") || !has_word(event, "cat", "transfer"))
        return 0;
    if (json_is_object(&args))
        bytes = json_member(&args, "bytes_done");
    if (json_int(&tid, 0, MLI_MOV_MAX_CHANNELS - 1, &lane) < 0 ||
        json_text(&name, TEXT_BYTES_MAX, &slot.name) < 0 ||
        read_time(event, "ts", &slot.start_ns) < 0 || read_time(event, "dur", &duration) < 0 ||
        (json_present(&bytes) && json_int(&bytes, 0, INT64_MAX, &written) < 0))
        return -1;
    slot.lane = (uint32_t)lane;
    slot.end_ns = slot.start_ns + duration;
    measured->bytes[measured->slot_count] = (uint64_t)written;
    measured->slots[measured->slot_count++] = slot;
    if (slot.lane >= measured->channels)
        measured->channels = slot.lane + 1;
    return 0;
}

static int compare_names(const void *a, const void *b)
{
    const struct timeline_slot *x = *(const struct timeline_slot *const *)a;
    const struct timeline_slot *y = *(const struct timeline_slot *const *)b;
    const int order = strcmp(x->name, y->name);

    if (order != 0 || x->start_ns == y->start_ns)
        return order;
    return x->start_ns < y->start_ns ? -1 : 1;
}

/* Counts times from the first transfer, and sorts the slots by name. */
static void arrange(struct measured *measured)
{
    uint64_t first = UINT64_MAX;

    for (size_t i = 0; i < measured->slot_count; i++)
        if (measured->slots[i].start_ns < first)
            first = measured->slots[i].start_ns;
    for (size_t i = 0; i < measured->slot_count; i++) {
        struct timeline_slot *slot = &measured->slots[i];

        slot->start_ns -= first;
        slot->end_ns -= first;
        measured->end_ns = slot->end_ns > measured->end_ns ? slot->end_ns : measured->end_ns;
        measured->by_name[i] = slot;
    }
    qsort(measured->by_name, measured->slot_count, sizeof *measured->by_name, compare_names);
}

static int read_events(struct measured *measured, struct fault *fault)
{
    struct json events = measured->root, item = {0};
    size_t count;

    if (json_is_object(&measured->root)) /* the JSON object form of a trace */
        events = json_member(&measured->root, "traceEvents");
    if (json_array(&events, &count) < 0)
        return -1;
    measured->slots = calloc(count + 1, sizeof *measured->slots);
    measured->bytes = calloc(count + 1, sizeof *measured->bytes);
    measured->by_name = calloc(count + 1, sizeof *measured->by_name);
    if (!measured->slots || !measured->bytes || !measured->by_name)
        return fault_no_memory(fault);
    while (json_next(&events, &item))
        if (add_event(measured, &item) < 0)
            return -1;
    if (measured->slot_count == 0)
        return fault_set(fault, FAULT_INVALID_PARAMS, NULL,
                         "the trace has no transfer; record one with mlictl trace while the jobs "
                         "run");
    arrange(measured);
    return 0;
}

int measured_load(struct measured *measured, const char *path, struct fault *fault)
{
    struct text text = {0};
    struct strict_text strict = {0};
    int status;

    *measured = (struct measured){.path = path};
    status = text_load(&text, path, TRACE_BYTES_MAX / 2, true, fault);
    if (status == 0)
        status = make_strict(&text, &strict, fault);
    if (status == 0)
        status = json_file_parse(strict.bytes, strict.length, &limits, &measured->root, fault);
    if (status == 0)
        status = read_events(measured, fault);
    free(strict.bytes);
    text_finish(&text);
    return status;
}

void measured_finish(struct measured *measured)
{
    if (measured->root.node)
        json_free(&measured->root);
    free(measured->slots);
    free(measured->bytes);
    free((void *)measured->by_name);
    *measured = (struct measured){0};
}

static int compare_key(const void *key, const void *element)
{
    return strcmp(key, (*(const struct timeline_slot *const *)element)->name);
}

/* Returns the place of the first transfer with this name in by_name, or null. */
static const struct timeline_slot **first_of(const struct measured *measured, const char *name)
{
    const struct timeline_slot **found =
        measured->slot_count == 0 ? NULL
                                  : bsearch(name, measured->by_name, measured->slot_count,
                                            sizeof *measured->by_name, compare_key);

    while (found && found > measured->by_name && strcmp(found[-1]->name, name) == 0)
        found--;
    return found;
}

const struct timeline_slot *measured_find(const struct measured *measured, const char *name)
{
    const struct timeline_slot **found = first_of(measured, name);

    return found ? *found : NULL;
}

void measured_match(struct measured *measured, const struct timeline_slot *jobs, size_t count)
{
    const struct timeline_slot **end = measured->by_name + measured->slot_count;

    measured->matched = 0;
    for (size_t i = 0; i < count; i++) {
        const struct timeline_slot **at = first_of(measured, jobs[i].name);

        for (; at && at < end && strcmp((*at)->name, jobs[i].name) == 0; at++)
            measured->slots[*at - measured->slots].kind = jobs[i].kind;
    }
    for (size_t i = 0; i < measured->slot_count; i++)
        measured->matched += measured->slots[i].kind != TIMELINE_OTHER;
}

struct timeline_panel measured_panel(const struct measured *measured)
{
    return (struct timeline_panel){.title = "measured",
                                   .lane_word = "channel",
                                   .lane_count = measured->channels,
                                   .slots = measured->slots,
                                   .slot_count = measured->slot_count};
}

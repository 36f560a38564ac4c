/* SPDX-License-Identifier: BSD-3-Clause */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/explain/timeline.h"
#include "cli/file/output.h"
#include "cli/file/text.h"
#include "cli/term/print.h"
#include "mli_mov_api.h"
#include "proto/grow.h"
#include "proto/json/json.h"
#include "proto/json/utf8.h"
#include "proto/wire/chrome_trace.h"

enum { TRACE_BYTES_MAX = 256 << 20, TRACE_VALUES_MAX = 16 << 20, TEXT_BYTES_MAX = 512 };

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

/*
 * Returns the length of the number at the beginning of a text. Sets *fraction if it has a decimal
 * point.
 */
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

/* Returns the length of the string at the beginning of a text, quotes included. */
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

/* Turns numbers with a fraction into strings, because the strict reader refuses such numbers, and
 * closes the array, because an interrupted recording has no closing bracket. */
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
    return json_complain(&name, "this is the trace of a model; record a trace with mlictl trace");
}

/* Adds a transfer. Ignores events of other kinds. */
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
    slot.bytes = (uint64_t)written;
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

/* Makes times count from the start of the first transfer, and sorts the slots by name. */
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
    measured->by_name = calloc(count + 1, sizeof *measured->by_name);
    if (!measured->slots || !measured->by_name)
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
    free((void *)measured->by_name);
    *measured = (struct measured){0};
}

static int compare_key(const void *key, const void *element)
{
    return strcmp(key, (*(const struct timeline_slot *const *)element)->name);
}

/* Returns the entry of by_name for the first transfer with this name, or null. */
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

/* Returns the first transfer with this name, or null. */
static const struct timeline_slot *measured_find(const struct measured *measured, const char *name)
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

/* Returns the panel of a chart. */
static struct timeline_panel measured_panel(const struct measured *measured)
{
    return (struct timeline_panel){.title = "measured",
                                   .lane_count = measured->channels,
                                   .slots = measured->slots,
                                   .slot_count = measured->slot_count};
}

void timeline_init(struct timeline *timeline, const struct target_profile *profile)
{
    *timeline = (struct timeline){.profile = profile};
    schedule_init(&timeline->schedule, profile->dma.channels);
    schedule_init(&timeline->core, 1);
}

void timeline_finish(struct timeline *timeline)
{
    for (size_t i = 0; i < timeline->slot_count; i++)
        free((void *)(uintptr_t)timeline->slots[i].after);
    free(timeline->slots);
    free(timeline->uses);
    free(timeline->files);
    free(timeline->slot_of);
    free(timeline->ends);
    free(timeline->lives);
    schedule_finish(&timeline->schedule);
    schedule_finish(&timeline->core);
}

/* Grows an array to `count` elements. Returns 0, or -1 if out of memory. */
static int grow(void *array, size_t count, size_t size)
{
    void **place = array;
    void *larger = reallocarray(*place, count, size);

    if (!larger)
        return -1;
    *place = larger;
    return 0;
}

static void push_use(struct timeline *timeline, struct timeline_use use)
{
    if (list_grow(&timeline->uses, timeline->use_count, &timeline->use_capacity, sizeof use))
        timeline->failed = true;
    else
        timeline->uses[timeline->use_count++] = use;
}

static void end_life(struct timeline *timeline, struct buffer_life *life)
{
    if (life->end_ns > 0)
        push_use(timeline,
                 (struct timeline_use){life->memory, life->start_ns, life->end_ns, life->bytes});
    *life = (struct buffer_life){0};
}

void timeline_end(struct timeline *timeline)
{
    const struct timeline_total *last =
        timeline->file_count > 0 ? &timeline->files[timeline->file_count - 1] : NULL;

    for (size_t i = 0; last && i < last->file->list.buffer_count; i++)
        end_life(timeline, &timeline->lives[i]);
}

/* Begins the jobs of the next file. Returns 0, or -1 if out of memory. */
static int change_file(struct timeline *timeline, const struct job_file *file)
{
    const size_t count = timeline->file_count;

    if (count > 0 && timeline->files[count - 1].file == file)
        return 0;
    timeline_end(timeline);
    if (grow(&timeline->files, count + 1, sizeof *timeline->files) < 0 ||
        grow(&timeline->slot_of, file->list.count, sizeof *timeline->slot_of) < 0 ||
        grow(&timeline->ends, file->list.count, sizeof *timeline->ends) < 0 ||
        grow(&timeline->lives, file->list.buffer_count + 1, sizeof *timeline->lives) < 0)
        return -1;
    memset(timeline->lives, 0, (file->list.buffer_count + 1) * sizeof *timeline->lives);
    timeline->files[timeline->file_count++] =
        (struct timeline_total){.file = file, .start = timeline->all.end};
    for (size_t i = 0; i < file->list.count; i++)
        timeline->slot_of[i] = SIZE_MAX;
    return 0;
}

/* Returns the time at which all predecessors of a job have ended. */
static profile_cost ready_at(const struct timeline *timeline, const struct job_file *file,
                             size_t index)
{
    profile_cost ready = timeline->files[timeline->file_count - 1].start;

    for (size_t i = 0; i < file->list.jobs[index].after_count; i++) {
        const size_t before = file->list.jobs[index].before[i];

        if (timeline->slot_of[before] < SIZE_MAX && timeline->ends[before] > ready)
            ready = timeline->ends[before];
    }
    return ready;
}

/* Returns the kind of a job, from its operation and the memories of its tensors. */
static enum timeline_kind kind_of(const struct job_spec *job, const struct explained_board *board)
{
    const bool from = board->src.memory->vector, to = board->dst.memory->vector;

    if (job->common.op == JOB_OP_PERMUTE)
        return TIMELINE_PERMUTE;
    return from == to ? TIMELINE_MOVE : to ? TIMELINE_LOAD : TIMELINE_STORE;
}

/* Returns the name of a job, or its index in the file. */
static const char *name_of(const struct job_file *file, const struct job_spec *job)
{
    const char *slash = strrchr(file->path, '/');

    if (job->common.name)
        return job->common.name;
    if (job->pointer[0] != '\0')
        return job->pointer + 1;
    return slash ? slash + 1 : file->path;
}

/* Sets the predecessors of a slot. Returns 0, or -1 if out of memory. */
static int set_after(const struct timeline *timeline, const struct job_file *file, size_t index,
                     struct timeline_slot *slot)
{
    const size_t count = file->list.jobs[index].after_count;
    size_t *after = calloc(count + 1, sizeof *after);

    if (!after)
        return -1;
    for (size_t i = 0; i < count; i++) {
        const size_t before = timeline->slot_of[file->list.jobs[index].before[i]];

        if (before < SIZE_MAX)
            after[slot->after_count++] = before;
    }
    slot->after = after;
    return 0;
}

/* Adds an access to a buffer. A write after a read begins a new use. */
static void use_buffer(struct timeline *timeline, struct buffer_life *life,
                       const struct timeline_use *use, bool writes)
{
    if (writes && life->read && use->start_ns >= life->end_ns)
        end_life(timeline, life);
    if (life->end_ns == 0)
        *life = (struct buffer_life){.start_ns = use->start_ns, .memory = use->memory};
    life->start_ns = use->start_ns < life->start_ns ? use->start_ns : life->start_ns;
    life->end_ns = use->end_ns > life->end_ns ? use->end_ns : life->end_ns;
    life->bytes = use->bytes;
    life->read |= !writes;
}

/* Adds the use of a place on the board by a slot. `spec`: the tensor at the place, or null for the
 * buffers of a staged job. */
static void add_use(struct timeline *timeline, const struct job_file *file,
                    const struct tensor_spec *spec, const struct board_place *place,
                    const struct timeline_slot *slot, bool writes)
{
    struct timeline_use use = {.memory = (uint32_t)(place->memory - timeline->profile->memories),
                               .start_ns = slot->start_ns,
                               .end_ns = slot->end_ns,
                               .bytes = place->bytes};

    if (spec && spec->buffer) {
        use.bytes = file->list.buffers[spec->buffer_index].bytes;
        use_buffer(timeline, &timeline->lives[spec->buffer_index], &use, writes);
    } else {
        push_use(timeline, use);
    }
}

static void add_to_total(struct timeline_total *total, const struct explained_board *board,
                         profile_cost end)
{
    total->jobs++;
    total->bytes += board->cost.written.bytes;
    total->descriptors += board->count.descriptors;
    total->sum = cost_plus(total->sum, board->cost.total);
    total->memcpy = cost_plus(total->memcpy, board->cost.memcpy_total);
    total->end = end > total->end ? end : total->end;
}

void timeline_add(struct timeline *timeline, const struct job_file *file, size_t index,
                  const struct explained_board *board)
{
    const struct job_spec *job = &file->list.jobs[index];
    struct timeline_slot slot = {.kind = kind_of(job, board),
                                 .name = name_of(file, job),
                                 .bytes = board->cost.written.bytes};
    const bool core = board->kernel || (board->count.descriptors == 0 && board->count.core > 0);
    struct schedule_slot place;

    if (list_grow(&timeline->slots, timeline->slot_count, &timeline->slot_capacity, sizeof slot) ||
        change_file(timeline, file) < 0 || set_after(timeline, file, index, &slot) < 0) {
        timeline->failed = true;
        return;
    }
    place = schedule_place(core ? &timeline->core : &timeline->schedule,
                           ready_at(timeline, file, index), core ? 1 : board->channels,
                           &(struct schedule_job){board->cost.total, board->cost.bus});
    timeline->failed |= timeline->schedule.failed || timeline->core.failed;
    timeline->has_core |= core;
    slot.start_ns = cost_ns(timeline->profile, place.start);
    slot.end_ns = cost_ns(timeline->profile, place.end);
    slot.lane = core ? timeline->schedule.channels : place.first_channel;
    slot.lanes = core ? 1 : board->channels;
    add_use(timeline, file, &job->src, &board->src, &slot, false);
    add_use(timeline, file, &job->dst, &board->dst, &slot, true);
    if (board->stage.memory)
        add_use(timeline, file, NULL, &board->stage, &slot, true);
    timeline->ends[index] = place.end;
    timeline->slot_of[index] = timeline->slot_count;
    timeline->slots[timeline->slot_count++] = slot;
    add_to_total(&timeline->files[timeline->file_count - 1], board, place.end);
    add_to_total(&timeline->all, board, place.end);
}

void timeline_predict(struct timeline *timeline, const struct job_board_context *context,
                      const struct resolved *resolved)
{
    const struct job_file *file = context->file;
    struct explained_board board;
    struct fault fault;

    if (job_board_init(&board, context, resolved, &fault) == 0)
        timeline_add(timeline, file, (size_t)(resolved->job - file->list.jobs), &board);
}

/* Fills the panel that shows the model's prediction; the caller adds its memories. */
static struct timeline_panel model_panel(const struct timeline *timeline, const char *title)
{
    return (struct timeline_panel){.title = title,
                                   .lane_count = timeline->schedule.channels + timeline->has_core,
                                   .has_core = timeline->has_core,
                                   .slots = timeline->slots,
                                   .slot_count = timeline->slot_count,
                                   .uses = timeline->uses,
                                   .use_count = timeline->use_count};
}

/* Writes the names of the job files: the first one, and the number of others. */
static void files_text(const struct timeline *timeline, char *out, size_t size)
{
    char path[PRINT_PATH_MAX];

    *out = '\0';
    if (timeline->file_count == 0)
        return;
    print_path(path, timeline->files[0].file->path);
    if (timeline->file_count == 1)
        snprintf(out, size, "%s: ", path);
    else
        snprintf(out, size, "%s and %zu more file%s: ", path, timeline->file_count - 1,
                 print_s(timeline->file_count - 1));
}

int timeline_draw(const struct timeline *timeline, const char *path, struct fault *fault)
{
    const struct target_profile *profile = timeline->profile;
    struct timeline_memory memories[PROFILE_MEMORIES_MAX];
    char model[PROFILE_NAME_MAX + 16], title[PRINT_PATH_MAX + PROFILE_NAME_MAX + 96], line[256];
    char files[PRINT_PATH_MAX + 48], sum[PRINT_TEXT_MAX];
    struct timeline_chart chart = {.title = title, .subtitle = line, .panels = 1};

    if (timeline->failed)
        return fault_no_memory(fault);
    for (uint32_t i = 0; i < profile->memory_count; i++)
        memories[i] =
            (struct timeline_memory){profile->memories[i].name, profile->memories[i].size};
    snprintf(model, sizeof model, "model of %s", profile->name);
    files_text(timeline, files, sizeof files);
    snprintf(title, sizeof title, "%s%zu job%s on %s", files, timeline->all.jobs,
             print_s(timeline->all.jobs), profile->name);
    snprintf(line, sizeof line, "%s; one job after the other: %s", profile->title,
             print_time(sum, cost_ns(profile, timeline->all.sum)));
    chart.panel[0] = model_panel(timeline, model);
    chart.panel[0].memories = memories;
    chart.panel[0].memory_count = profile->memory_count;
    if (timeline->measured)
        chart.panel[chart.panels++] = measured_panel(timeline->measured);
    return timeline_chart_save(&chart, path, fault);
}

/* The time of cycle 0 in a trace, in ns; not 0, because no event of a trace may have time 0. */
#define ORIGIN_NS UINT64_C(1)

/* Writes a slot as a transfer that has ended. */
static void write_slot(struct chrome_trace *trace, struct textw *w,
                       const struct timeline_slot *slot, uint64_t number)
{
    struct event event = {.kind = EVENT_DONE,
                          .time_ns = ORIGIN_NS + slot->end_ns,
                          .job = {.job = number,
                                  .state = JOB_STATE_DONE,
                                  .client = 1,
                                  .channels = slot->lanes,
                                  .first_channel = (int32_t)slot->lane,
                                  .ns_moving = slot->end_ns - slot->start_ns,
                                  .bytes = slot->bytes,
                                  .bytes_done = slot->bytes}};

    if (slot->name)
        snprintf(event.job.name, sizeof event.job.name, "%s", slot->name);
    chrome_trace_event(trace, &event, w);
}

void timeline_trace(struct textw *w, const struct timeline *timeline)
{
    const struct measured *measured = timeline->measured;
    struct chrome_trace trace;
    char name[PROFILE_NAME_MAX + 16];

    chrome_trace_init(&trace);
    trace.origin_ns = ORIGIN_NS;
    snprintf(name, sizeof name, "model of %s", timeline->profile->name);
    chrome_trace_begin(&trace, name, w);
    for (size_t i = 0; i < timeline->slot_count; i++)
        write_slot(&trace, w, &timeline->slots[i], i + 1);
    if (measured) {
        chrome_trace_continue(&trace, "measured", w);
        for (size_t i = 0; i < measured->slot_count; i++)
            write_slot(&trace, w, &measured->slots[i], i + 1);
    }
    chrome_trace_end(&trace, w);
}

int timeline_trace_save(const struct timeline *timeline, const char *path, struct fault *fault)
{
    struct textw w;

    textw_init(&w);
    timeline_trace(&w, timeline);
    w.failed |= timeline->failed;
    return output_save_text(&w, path, CHROME_TRACE_BEGIN, "a trace of mli", fault);
}

#define INDENT "  "

static void put_total(struct grid *grid, const struct target_profile *profile,
                      const struct timeline_total *total)
{
    char time[PRINT_TEXT_MAX], sum[PRINT_TEXT_MAX], core[PRINT_TEXT_MAX], bytes[PRINT_TEXT_MAX];
    char path[PRINT_PATH_MAX] = "in all";

    if (total->file)
        print_path(path, total->file->path);
    utf8_disarm(path); /* a tab would begin another cell */
    grid_add(grid, "%s\t%zu\t%s\t%" PRIu64 "\t%s\t%s\t%s", path, total->jobs,
             print_bytes(bytes, total->bytes), total->descriptors,
             print_time(time, cost_ns(profile, total->end - total->start)),
             print_time(sum, cost_ns(profile, total->sum)),
             print_time(core, cost_ns(profile, total->memcpy)));
}

/* Writes a line for one file, or a table of several files. */
static void put_totals(struct textw *w, const struct timeline *timeline)
{
    const struct timeline_total *all = &timeline->all;
    char bytes[PRINT_TEXT_MAX], core[PRINT_TEXT_MAX];

    struct grid grid;

    if (timeline->file_count == 1) {
        textw_printf(w, INDENT "%s written with %" PRIu64 " descriptor%s; memcpy by the core %s\n",
                     print_bytes(bytes, all->bytes), all->descriptors, print_s(all->descriptors),
                     print_time(core, cost_ns(timeline->profile, all->memcpy)));
        return;
    }
    grid_init(&grid, "lrrrrrr");
    grid_add(&grid, "file\tjobs\twritten\tdescriptors\tmodel\tsum\tmemcpy by the core");
    for (size_t i = 0; i < timeline->file_count; i++)
        put_total(&grid, timeline->profile, &timeline->files[i]);
    put_total(&grid, timeline->profile, &timeline->all);
    grid_write(&grid, INDENT, w);
}

static void put_memories(struct textw *w, const struct timeline *timeline)
{
    const struct timeline_panel panel = {.uses = timeline->uses, .use_count = timeline->use_count};
    const struct target_profile *profile = timeline->profile;
    char used[PRINT_TEXT_MAX], size[PRINT_TEXT_MAX];

    for (uint32_t i = 0; i < profile->memory_count; i++) {
        const struct profile_memory *memory = &profile->memories[i];
        uint64_t peak = 0;

        if (!timeline_peak(&panel, i, &peak))
            w->failed = true;
        if (peak > 0)
            textw_printf(w, INDENT "%s: at most %s of %s in use\n", memory->name,
                         print_bytes(used, peak), print_bytes(size, memory->size));
        if (peak > memory->size)
            textw_printf(
                w,
                INDENT "remark room: jobs that run at the same time need %s of %s, %s more "
                       "than it has; let some wait with \"after\"\n",
                print_bytes(used, peak), memory->name, print_bytes(size, peak - memory->size));
    }
}

static void put_measured(struct textw *w, const struct measured *measured)
{
    char time[PRINT_TEXT_MAX], path[PRINT_PATH_MAX];

    textw_printf(w, INDENT "measured: %zu transfer%s in %s, %zu of them of these jobs (%s)\n",
                 measured->slot_count, print_s(measured->slot_count),
                 print_time(time, measured->end_ns), measured->matched,
                 print_path(path, measured->path));
}

void timeline_text(struct textw *w, const struct timeline *timeline)
{
    const struct schedule *schedule = &timeline->schedule;
    char cycles[PROFILE_COST_TEXT_MAX], time[PRINT_TEXT_MAX], sum[PRINT_TEXT_MAX];

    textw_printf(
        w, "\n%zu job%s on %s: %s cycles, %s with %" PRIu32 " channel%s; one after the other %s\n",
        timeline->all.jobs, print_s(timeline->all.jobs), timeline->profile->name,
        profile_cost_words(cycles, timeline->all.end),
        print_time(time, cost_ns(timeline->profile, timeline->all.end)), schedule->channels,
        print_s(schedule->channels),
        print_time(sum, cost_ns(timeline->profile, timeline->all.sum)));
    if (timeline->all.jobs > 1)
        put_totals(w, timeline);
    if (timeline->all.jobs > 1)
        put_memories(w, timeline);
    if (timeline->measured)
        put_measured(w, timeline->measured);
}

static void write_total(struct jsonw *w, const struct target_profile *profile,
                        const struct timeline_total *total)
{
    jsonw_object_begin(w, NULL);
    jsonw_string(w, "file", total->file->path);
    jsonw_uint(w, "jobs", total->jobs);
    jsonw_uint(w, "bytes", total->bytes);
    jsonw_uint(w, "descriptors", total->descriptors);
    jsonw_uint(w, "ns", cost_ns(profile, total->end - total->start));
    jsonw_uint(w, "sum_ns", cost_ns(profile, total->sum));
    jsonw_uint(w, "memcpy_ns", cost_ns(profile, total->memcpy));
    jsonw_object_end(w);
}

static void write_memories(struct jsonw *w, const struct timeline *timeline)
{
    const struct timeline_panel panel = {.uses = timeline->uses, .use_count = timeline->use_count};
    const struct target_profile *profile = timeline->profile;
    bool fits = true;

    jsonw_array_begin(w, "memories");
    for (uint32_t i = 0; i < profile->memory_count; i++) {
        uint64_t peak = 0;

        if (!timeline_peak(&panel, i, &peak))
            w->failed = true;
        if (peak == 0)
            continue;
        jsonw_object_begin(w, NULL);
        jsonw_string(w, "name", profile->memories[i].name);
        jsonw_uint(w, "bytes_max", peak);
        jsonw_uint(w, "size", profile->memories[i].size);
        jsonw_bool(w, "fits", peak <= profile->memories[i].size);
        fits &= peak <= profile->memories[i].size;
        jsonw_object_end(w);
    }
    jsonw_array_end(w);
    jsonw_bool(w, "fits", fits);
}

static void write_slots(struct jsonw *w, const struct timeline *timeline)
{
    jsonw_array_begin(w, "slots");
    for (size_t i = 0; i < timeline->slot_count; i++) {
        const struct timeline_slot *slot = &timeline->slots[i];
        const struct timeline_slot *measured =
            timeline->measured ? measured_find(timeline->measured, slot->name) : NULL;

        jsonw_object_begin(w, NULL);
        jsonw_string(w, "job", slot->name);
        if (slot->lane < timeline->schedule.channels) {
            jsonw_uint(w, "channel", slot->lane);
            jsonw_uint(w, "channels", slot->lanes);
        } else {
            jsonw_bool(w, "core", true);
        }
        jsonw_uint(w, "start_ns", slot->start_ns);
        jsonw_uint(w, "end_ns", slot->end_ns);
        if (measured)
            jsonw_uint(w, "measured_ns", measured->end_ns - measured->start_ns);
        jsonw_object_end(w);
    }
    jsonw_array_end(w);
}

static void write_measured(struct jsonw *w, const struct measured *measured)
{
    jsonw_object_begin(w, "measured");
    jsonw_string(w, "file", measured->path);
    jsonw_uint(w, "transfers", measured->slot_count);
    jsonw_uint(w, "matched", measured->matched);
    jsonw_uint(w, "channels", measured->channels);
    jsonw_uint(w, "ns", measured->end_ns);
    jsonw_object_end(w);
}

void timeline_json(struct jsonw *w, const struct timeline *timeline)
{
    const struct schedule *schedule = &timeline->schedule;
    char cycles[PROFILE_COST_TEXT_MAX];

    jsonw_object_begin(w, NULL);
    jsonw_object_begin(w, "timeline");
    jsonw_string(w, "profile", timeline->profile->name);
    jsonw_uint(w, "jobs", timeline->all.jobs);
    jsonw_uint(w, "bytes", timeline->all.bytes);
    jsonw_uint(w, "descriptors", timeline->all.descriptors);
    jsonw_string(w, "cycles", profile_cost_text(cycles, timeline->all.end));
    jsonw_bool(w, "saturated", timeline->all.end == PROFILE_COST_MAX);
    jsonw_uint(w, "ns", cost_ns(timeline->profile, timeline->all.end));
    jsonw_uint(w, "sum_ns", cost_ns(timeline->profile, timeline->all.sum));
    jsonw_uint(w, "memcpy_ns", cost_ns(timeline->profile, timeline->all.memcpy));
    jsonw_array_begin(w, "busy_ns");
    for (uint32_t i = 0; i < schedule->channels; i++)
        jsonw_uint(w, NULL, cost_ns(timeline->profile, schedule->busy[i]));
    jsonw_array_end(w);
    jsonw_array_begin(w, "files");
    for (size_t i = 0; i < timeline->file_count; i++)
        write_total(w, timeline->profile, &timeline->files[i]);
    jsonw_array_end(w);
    write_memories(w, timeline);
    write_slots(w, timeline);
    if (timeline->measured)
        write_measured(w, timeline->measured);
    jsonw_object_end(w);
    jsonw_object_end(w);
}

/* SPDX-License-Identifier: BSD-3-Clause */
#include "cli/explain/timeline.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/term/print.h"

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
    free(timeline->bytes);
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

/* Makes room for another slot. Returns 0, or -1 if out of memory. */
static int make_room(struct timeline *timeline)
{
    const size_t capacity = timeline->slot_capacity ? 2 * timeline->slot_capacity : 64;

    if (timeline->slot_count < timeline->slot_capacity)
        return 0;
    if (grow(&timeline->slots, capacity, sizeof *timeline->slots) < 0 ||
        grow(&timeline->bytes, capacity, sizeof *timeline->bytes) < 0 ||
        grow(&timeline->uses, 3 * capacity, sizeof *timeline->uses) < 0)
        return -1;
    timeline->slot_capacity = capacity;
    return 0;
}

static void end_life(struct timeline *timeline, struct buffer_life *life)
{
    if (life->end_ns > 0)
        timeline->uses[timeline->use_count++] =
            (struct timeline_use){life->memory, life->start_ns, life->end_ns, life->bytes};
    *life = (struct buffer_life){0};
}

void timeline_end(struct timeline *timeline)
{
    const struct timeline_total *last =
        timeline->file_count > 0 ? &timeline->files[timeline->file_count - 1] : NULL;

    for (size_t i = 0; last && i < last->file->list.buffer_count; i++)
        end_life(timeline, &timeline->lives[i]);
}

/* Begins the jobs of another file. Returns 0, or -1 if out of memory. */
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

/* Returns when the predecessors of a job have ended. */
static profile_cost ready_at(const struct timeline *timeline, const struct job_file *file,
                             size_t index)
{
    profile_cost ready = timeline->files[timeline->file_count - 1].start;

    for (size_t i = 0; i < file->list.jobs[index].after_count; i++) {
        const size_t before = file->after[index][i];

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

/* Returns the name of a job, or its place in the file. */
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
        const size_t before = timeline->slot_of[file->after[index][i]];

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

/* Adds the use of a place. `spec`: the tensor there, or null for the buffers of a staged job. */
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
        timeline->uses[timeline->use_count++] = use;
    }
}

static profile_cost plus(profile_cost a, profile_cost b)
{
    return a > UINT64_MAX - b ? UINT64_MAX : a + b;
}

static void add_to_total(struct timeline_total *total, const struct explained_board *board,
                         profile_cost end)
{
    total->jobs++;
    total->bytes += board->cost.written.bytes;
    total->descriptors += board->count.descriptors;
    total->sum = plus(total->sum, board->cost.total);
    total->memcpy = plus(total->memcpy, board->cost.memcpy_total);
    total->end = end > total->end ? end : total->end;
}

void timeline_add(struct timeline *timeline, const struct job_file *file, size_t index,
                  const struct explained_board *board)
{
    const struct job_spec *job = &file->list.jobs[index];
    struct timeline_slot slot = {.kind = kind_of(job, board), .name = name_of(file, job)};
    const bool core = board->kernel || (board->count.descriptors == 0 && board->count.core > 0);
    struct schedule_slot place;

    if (make_room(timeline) < 0 || change_file(timeline, file) < 0 ||
        set_after(timeline, file, index, &slot) < 0) {
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
    timeline->bytes[timeline->slot_count] = board->cost.written.bytes;
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

/* Fills the panel of the model, without its memories. */
static struct timeline_panel model_panel(const struct timeline *timeline, const char *title,
                                         const char *const *lanes)
{
    return (struct timeline_panel){.title = title,
                                   .lane_word = "channel",
                                   .lanes = lanes,
                                   .lane_count = timeline->schedule.channels + timeline->has_core,
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
    char files[PRINT_PATH_MAX + 48], names[MLI_MOV_MAX_CHANNELS + 1][TIMELINE_LANE_NAME_MAX];
    const char *lanes[MLI_MOV_MAX_CHANNELS + 1];
    char sum[PRINT_TEXT_MAX];
    struct timeline_chart chart = {.title = title, .subtitle = line, .panels = 1};

    if (timeline->failed)
        return fault_no_memory(fault);
    for (uint32_t i = 0; i < profile->memory_count; i++)
        memories[i] =
            (struct timeline_memory){profile->memories[i].name, profile->memories[i].size};
    snprintf(model, sizeof model, "model of %s", profile->name);
    files_text(timeline, files, sizeof files);
    timeline_lane_names(names, lanes, timeline->schedule.channels);
    snprintf(title, sizeof title, "%s%zu job%s on %s", files, timeline->all.jobs,
             print_s(timeline->all.jobs), profile->name);
    snprintf(line, sizeof line, "%s; one job after the other: %s", profile->title,
             print_time(sum, cost_ns(profile, timeline->all.sum)));
    chart.panel[0] = model_panel(timeline, model, lanes);
    chart.panel[0].memories = memories;
    chart.panel[0].memory_count = profile->memory_count;
    if (timeline->measured)
        chart.panel[chart.panels++] = measured_panel(timeline->measured);
    return timeline_chart_save(&chart, path, fault);
}

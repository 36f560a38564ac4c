/* SPDX-License-Identifier: BSD-3-Clause */
#include <inttypes.h>

#include "cli/explain/timeline.h"
#include "cli/term/grid.h"
#include "cli/term/print.h"

#define INDENT "  "

static void put_total(struct grid *grid, const struct target_profile *profile,
                      const struct timeline_total *total)
{
    char time[PRINT_TEXT_MAX], sum[PRINT_TEXT_MAX], core[PRINT_TEXT_MAX], bytes[PRINT_TEXT_MAX];
    char path[PRINT_PATH_MAX];

    grid_cell(grid, "%s", total->file ? print_path(path, total->file->path) : "in all");
    grid_cell(grid, "%zu", total->jobs);
    grid_cell(grid, "%s", print_bytes(bytes, total->bytes));
    grid_cell(grid, "%" PRIu64, total->descriptors);
    grid_cell(grid, "%s", print_time(time, cost_ns(profile, total->end - total->start)));
    grid_cell(grid, "%s", print_time(sum, cost_ns(profile, total->sum)));
    grid_cell(grid, "%s", print_time(core, cost_ns(profile, total->memcpy)));
}

/* Writes a line for one file, or a table of several files. */
static void put_totals(struct textw *w, const struct timeline *timeline)
{
    const struct timeline_total *all = &timeline->all;
    char bytes[PRINT_TEXT_MAX], core[PRINT_TEXT_MAX];

    static const char *const heads[] = {"file",  "jobs", "written",           "descriptors",
                                        "model", "sum",  "memcpy by the core"};
    struct grid grid;

    if (timeline->file_count == 1) {
        textw_printf(w, INDENT "%s written with %" PRIu64 " descriptor%s; memcpy by the core %s\n",
                     print_bytes(bytes, all->bytes), all->descriptors, print_s(all->descriptors),
                     print_time(core, cost_ns(timeline->profile, all->memcpy)));
        return;
    }
    grid_init(&grid, "lrrrrrr");
    for (size_t i = 0; i < sizeof heads / sizeof *heads; i++)
        grid_cell(&grid, "%s", heads[i]);
    for (size_t i = 0; i < timeline->file_count; i++)
        put_total(&grid, timeline->profile, &timeline->files[i]);
    put_total(&grid, timeline->profile, &timeline->all);
    grid_write(&grid, INDENT, w);
    grid_finish(&grid);
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

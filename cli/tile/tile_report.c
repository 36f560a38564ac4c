/* SPDX-License-Identifier: BSD-3-Clause */
#include "cli/tile/tile_result.h"

#include <inttypes.h>
#include <stdio.h>

#include "cli/term/print.h"
#include "proto/wire/tensor_desc.h"
#include "target/tile/tile_transfer.h"

static const char *shape_of(const struct tile_layer *layer, uint32_t operand,
                            char out[PRINT_TEXT_MAX])
{
    uint32_t shape[MLI_MAX_RANK];
    const uint32_t rank = tile_operand_shape(layer, operand, shape);

    return print_shape(out, rank, shape);
}

/* Writes `before` and a pair: " stride 2x2"; nothing for a pair of 1 and 1. */
static void pair_text(char *out, size_t size, const char *before, const uint32_t pair[2])
{
    if (pair[0] == 1 && pair[1] == 1)
        *out = '\0';
    else
        snprintf(out, size, "%s %" PRIu32 "x%" PRIu32, before, pair[0], pair[1]);
}

void tile_report_layer(struct textw *w, const struct tile_result *result)
{
    const struct tile_layer *layer = result->plan.layer;
    const struct tile_window *window = &result->request->window;
    char in[PRINT_TEXT_MAX], out[PRINT_TEXT_MAX], stride[40], dilation[40];

    shape_of(layer, 0, in);
    shape_of(layer, layer->operands - 1, out);
    if (layer->kind != TILE_WINDOW) {
        textw_printf(w, "%s %s -> %s %s",
                     layer->kind == TILE_MOVE ? "move"
                     : layer->operands == 3   ? "elementwise, two inputs"
                                              : "elementwise",
                     in, out, element_type_name(result->request->type));
        return;
    }
    pair_text(stride, sizeof stride, ", stride", window->stride);
    pair_text(dilation, sizeof dilation, ", dilation", window->dilation);
    textw_printf(w, "%" PRIu32 "x%" PRIu32 " %s%s%s", window->kernel[0], window->kernel[1],
                 !window->weights    ? "pooling"
                 : window->depthwise ? "depthwise window"
                                     : "window",
                 stride, dilation);
    if (window->pad_pre[0] + window->pad_post[0] + window->pad_pre[1] + window->pad_post[1] > 0)
        textw_printf(w, ", padding %" PRIu32 ",%" PRIu32 ",%" PRIu32 ",%" PRIu32,
                     window->pad_pre[0], window->pad_post[0], window->pad_pre[1],
                     window->pad_post[1]);
    textw_printf(w, ": %s -> %s %s", in, out, element_type_name(result->request->type));
}

static void tiles_text(struct textw *w, const struct tile_result *result)
{
    const struct tile_plan *plan = &result->plan;
    const struct tile_request *r = result->request;
    char used[PRINT_TEXT_MAX], budget[PRINT_TEXT_MAX], name[TILE_NAME_MAX];
    struct grid grid;

    textw_printf(w, "%" PRIu64 " tile%s; buffers take %s of %s%s%s\n\n", plan->steps,
                 print_s(plan->steps), print_bytes(used, plan->used),
                 print_bytes(budget, plan->memory.bytes), r->has_board ? " of " : "",
                 r->has_board ? r->inside->name : "");
    grid_init(&grid, "lrrr");
    grid_add(&grid, "loop\textent\ttiles\tlargest");
    for (uint32_t i = 0; i < plan->layer->axes; i++) {
        const uint32_t axis = plan->order[i];
        const struct tile_cut *cut = &plan->cut[axis];

        grid_add(&grid, "%s\t%" PRIu64 "\t%" PRIu64 "\t%" PRIu64,
                 tile_axis_name(plan->layer, axis, name), cut->extent, cut->count, cut->size);
    }
    grid_write(&grid, "", w);
    textw_printf(w, "\n");
}

static void buffers_text(struct textw *w, const struct tile_result *result)
{
    const struct tile_plan *plan = &result->plan;
    struct grid grid;

    grid_init(&grid, "lrr");
    grid_add(&grid, "buffer\t%s\tbytes", result->request->has_board ? "address" : "offset");
    for (uint32_t i = 0; i < plan->layer->operands; i++) {
        for (uint32_t b = 0; b < plan->buffers[i].count; b++) {
            char name[TILE_NAME_MAX];

            grid_add(&grid, "%s\t0x%" PRIx64 "\t%" PRIu64, tile_buffer_name(plan, i, b, name),
                     plan->memory.base + plan->buffers[i].offset[b], plan->buffers[i].bytes);
        }
    }
    grid_write(&grid, "", w);
    textw_printf(w, "\n");
}

static double ratio(uint64_t bytes, uint64_t least)
{
    return least > 0 ? (double)bytes / (double)least : 1;
}

static void traffic_text(struct textw *w, const struct tile_result *result)
{
    const struct tile_plan *plan = &result->plan;
    struct grid grid;

    grid_init(&grid, "lrrrr");
    grid_add(&grid, "moved\ttransfers\tbytes\tleast\tratio");
    for (uint32_t i = 0; i < plan->layer->operands; i++)
        grid_add(&grid, "%s\t%" PRIu64 "\t%" PRIu64 "\t%" PRIu64 "\t%.3f",
                 tile_operand_name(plan->layer, i), tile_result_transfers(result, i),
                 plan->traffic[i], plan->least[i], ratio(plan->traffic[i], plan->least[i]));
    grid_add(&grid, "in all\t \t%" PRIu64 "\t%" PRIu64 "\t%.3f", plan->total, plan->least_total,
             ratio(plan->total, plan->least_total));
    grid_write(&grid, "", w);
    if (!result->request->has_board && plan->total > plan->least_found)
        textw_printf(w, "the plan with the least traffic, %" PRIu64 " B, is slower (--slack 0)\n",
                     plan->least_found);
}

/* The part of the board that limits the time of a plan. */
enum limit { LIMIT_CHANNELS, LIMIT_BUS, LIMIT_KERNELS, LIMIT_WAITS };
static const struct {
    const char *word, *sentence;
} limits[] = {[LIMIT_CHANNELS] = {"channels", "the channels limit the time"},
              [LIMIT_BUS] = {"bus", "the bus, which the channels share, limits the time"},
              [LIMIT_KERNELS] = {"kernels", "the kernels limit the time"},
              [LIMIT_WAITS] = {"waits", "loads, kernels and stores wait for one another"}};

/* Returns the part of the board that is busy for the longest time. If times are equal, prefers the
 * channels. */
static enum limit limit_of(const struct cost_times *times)
{
    const profile_cost busy[] = {times->busy, times->bus, times->kernels};
    enum limit longest = LIMIT_CHANNELS;

    for (enum limit i = LIMIT_BUS; i < LIMIT_WAITS; i++)
        longest = busy[i] > busy[longest] ? i : longest;
    return busy[longest] < times->end / 4 * 3 ? LIMIT_WAITS : longest;
}

static uint64_t ns_of(const struct tile_result *result, profile_cost cost)
{
    return cost_ns(&result->request->profile, cost);
}

/* Writes the best plan by the other objective. */
static void other_text(struct textw *w, const struct tile_result *result)
{
    const struct tile_timed *other = &result->other;
    const bool traffic = result->request->objective == TILE_LEAST_TIME;
    char time[PRINT_TEXT_MAX];

    if (tile_result_has_other(result))
        textw_printf(w, "%s: %" PRIu64 " tile%s, %s%s, %" PRIu64 " B (%s)\n",
                     traffic ? "least traffic" : "shortest time", other->plan.steps,
                     print_s(other->plan.steps), other->scheduled ? "" : "about ",
                     print_time(time, ns_of(result, other->time)), other->plan.total,
                     traffic ? "--least traffic --slack 0" : "--least time");
}

/* Says that the tensors do not fit into the board's memory. */
static void room_text(struct textw *w, const struct tile_result *result)
{
    const struct tile_request *r = result->request;
    const uint64_t needed = tile_board_operands(&r->layer, &r->board);
    const uint64_t room = tile_board_room(&r->board, &result->plan.memory);

    if (needed > room)
        textw_printf(w,
                     "the tensors need %" PRIu64 " B, but %s has %" PRIu64
                     " B for them: the plan assumes a larger %s\n",
                     needed, r->board.outside->name, room, r->board.outside->name);
}

static void time_text(struct textw *w, const struct tile_result *result)
{
    const struct cost_times *times = &result->times;
    const struct tile_request *r = result->request;
    const bool one = r->board.channels == 1;
    const enum limit limit = limit_of(times);
    char end[PRINT_TEXT_MAX], loads[PRINT_TEXT_MAX], stores[PRINT_TEXT_MAX];
    char busy[PRINT_TEXT_MAX], kernels[PRINT_TEXT_MAX], cycles[PROFILE_COST_TEXT_MAX];

    if (!r->has_board)
        return;
    textw_printf(w, "\n%s with %" PRIu32 " channel%s: %s cycles, %s predicted\n", r->profile.name,
                 r->board.channels, print_s(r->board.channels),
                 profile_cost_words(cycles, times->end),
                 print_time(end, ns_of(result, times->end)));
    textw_printf(w, "loads take %s, stores %s: %s %s; kernels take %s%s: %s\n",
                 print_time(loads, ns_of(result, times->loads)),
                 print_time(stores, ns_of(result, times->stores)),
                 one ? "the channel is busy for" : "a channel is busy for",
                 print_time(busy, ns_of(result, times->busy)),
                 print_time(kernels, ns_of(result, times->kernels)),
                 r->board.compute == 0 ? " (--compute is not given)" : "",
                 one && limit == LIMIT_CHANNELS ? "the channel limits the time"
                                                : limits[limit].sentence);
    other_text(w, result);
    room_text(w, result);
}

void tile_report_text(struct textw *w, const struct tile_result *result)
{
    const struct tile_request *r = result->request;

    tile_report_layer(w, result);
    textw_printf(w, "\n");
    tiles_text(w, result);
    buffers_text(w, result);
    traffic_text(w, result);
    time_text(w, result);
    textw_printf(w,
                 "\nproved: no buffer is overwritten while in use (%zu loads, kernels and "
                 "stores)\n",
                 result->firmware.count);
    if (!result->plan.exhaustive)
        textw_printf(w, "the layer is large: not all sizes were compared\n");
    if (r->output)
        textw_printf(w, "%s: %zu jobs%s%s\n", r->output,
                     result->file.count + (r->out && !r->directory),
                     r->stitch ? "; stitch the results with " : "", r->stitch ? r->stitch : "");
}

static void layer_json(struct jsonw *w, const struct tile_result *result)
{
    static const char *const kinds[] = {"move", "window", "elementwise"};
    const struct tile_layer *layer = result->plan.layer;
    const struct tile_window *window = &result->request->window;

    jsonw_object_begin(w, "layer");
    jsonw_string(w, "kind", kinds[layer->kind]);
    jsonw_string(w, "type", element_type_name(result->request->type));
    for (uint32_t i = 0; i < layer->operands; i++) {
        uint32_t shape[MLI_MAX_RANK];
        const uint32_t rank = tile_operand_shape(layer, i, shape);

        print_json_shape(w, tile_operand_name(layer, i), rank, shape);
    }
    if (layer->kind == TILE_WINDOW) {
        const uint32_t pad[] = {window->pad_pre[0], window->pad_post[0], window->pad_pre[1],
                                window->pad_post[1]};

        print_json_shape(w, "kernel", 2, window->kernel);
        print_json_shape(w, "stride", 2, window->stride);
        print_json_shape(w, "dilation", 2, window->dilation);
        print_json_shape(w, "padding", 4, pad);
        jsonw_bool(w, "depthwise", window->depthwise);
    }
    jsonw_object_end(w);
}

static void loops_json(struct jsonw *w, const struct tile_plan *plan)
{
    jsonw_array_begin(w, "loops");
    for (uint32_t i = 0; i < plan->layer->axes; i++) {
        const struct tile_cut *cut = &plan->cut[plan->order[i]];
        char name[TILE_NAME_MAX];

        jsonw_object_begin(w, NULL);
        jsonw_string(w, "axis", tile_axis_name(plan->layer, plan->order[i], name));
        jsonw_uint(w, "extent", cut->extent);
        jsonw_uint(w, "tiles", cut->count);
        jsonw_uint(w, "largest", cut->size);
        jsonw_object_end(w);
    }
    jsonw_array_end(w);
}

static void buffers_json(struct jsonw *w, const struct tile_plan *plan)
{
    jsonw_array_begin(w, "buffers");
    for (uint32_t i = 0; i < plan->layer->operands; i++) {
        for (uint32_t b = 0; b < plan->buffers[i].count; b++) {
            char name[TILE_NAME_MAX], address[32];

            snprintf(address, sizeof address, "0x%" PRIx64,
                     plan->memory.base + plan->buffers[i].offset[b]);
            jsonw_object_begin(w, NULL);
            jsonw_string(w, "name", tile_buffer_name(plan, i, b, name));
            jsonw_string(w, "operand", tile_operand_name(plan->layer, i));
            jsonw_string(w, "address", address);
            jsonw_uint(w, "bytes", plan->buffers[i].bytes);
            jsonw_object_end(w);
        }
    }
    jsonw_array_end(w);
}

static void traffic_json(struct jsonw *w, const struct tile_result *result)
{
    const struct tile_plan *plan = &result->plan;

    jsonw_object_begin(w, "traffic");
    for (uint32_t i = 0; i < plan->layer->operands; i++) {
        jsonw_object_begin(w, tile_operand_name(plan->layer, i));
        jsonw_uint(w, "transfers", tile_result_transfers(result, i));
        jsonw_uint(w, "bytes", plan->traffic[i]);
        jsonw_uint(w, "least", plan->least[i]);
        jsonw_object_end(w);
    }
    jsonw_uint(w, "bytes", plan->total);
    jsonw_uint(w, "least", plan->least_total);
    jsonw_uint(w, "best", plan->least_found);
    jsonw_object_end(w);
}

static void time_json(struct jsonw *w, const struct tile_result *result)
{
    const struct tile_request *r = result->request;
    const struct cost_times *times = &result->times;
    char cycles[PROFILE_COST_TEXT_MAX];

    if (!r->has_board)
        return;
    jsonw_object_begin(w, "time");
    jsonw_string(w, "profile", result->request->profile.name);
    jsonw_string(w, "memory", result->request->inside->name);
    jsonw_uint(w, "channels", result->request->board.channels);
    jsonw_string(w, "cycles", profile_cost_text(cycles, times->end));
    jsonw_uint(w, "ns", ns_of(result, times->end));
    jsonw_uint(w, "loads_ns", ns_of(result, times->loads));
    jsonw_uint(w, "stores_ns", ns_of(result, times->stores));
    jsonw_uint(w, "kernels_ns", ns_of(result, times->kernels));
    jsonw_uint(w, "channel_ns", ns_of(result, times->busy));
    jsonw_uint(w, "bus_ns", ns_of(result, times->bus));
    jsonw_string(w, "dominant", limits[limit_of(times)].word);
    jsonw_object_begin(w, "tensors");
    jsonw_string(w, "memory", r->board.outside->name);
    jsonw_uint(w, "bytes", tile_board_operands(&r->layer, &r->board));
    jsonw_uint(w, "room", tile_board_room(&r->board, &result->plan.memory));
    jsonw_object_end(w);
    jsonw_object_end(w);
    if (!tile_result_has_other(result))
        return;
    jsonw_object_begin(w, result->request->objective == TILE_LEAST_TIME ? "least_traffic"
                                                                        : "least_time");
    jsonw_uint(w, "steps", result->other.plan.steps);
    jsonw_uint(w, "bytes", result->other.plan.total);
    jsonw_uint(w, "ns", ns_of(result, result->other.time));
    jsonw_bool(w, "scheduled", result->other.scheduled);
    jsonw_object_end(w);
}

/* Writes the region of an operand that a step uses: its first coordinate, and its shape. */
static void region_json(struct jsonw *w, const struct tile_plan *plan, uint32_t operand,
                        uint64_t step, uint32_t number)
{
    const bool output = plan->layer->operand[operand].role == TILE_OUTPUT;
    const struct tile_job job = {.kind = output ? TILE_JOB_STORE : TILE_JOB_LOAD,
                                 .operand = operand,
                                 .step = (uint32_t)step};
    struct tile_transfer transfer;

    tile_transfer_init(&transfer, plan, &job);
    jsonw_object_begin(w, tile_file_word(plan->layer, operand));
    jsonw_uint(w, "number", number);
    print_json_shape(w, "at", transfer.rank,
                     output ? transfer.cfg.dst_offset : transfer.cfg.offset);
    print_json_shape(w, "shape", transfer.rank, output ? transfer.src_shape : transfer.dst_shape);
    jsonw_object_end(w);
}

/* Writes the tiles of each step, in the order of the loops. */
static void tiles_json(struct jsonw *w, const struct tile_plan *plan)
{
    uint32_t number[TILE_OPERANDS] = {0};

    jsonw_array_begin(w, "tiles");
    for (uint64_t step = 0; step < plan->steps; step++) {
        jsonw_object_begin(w, NULL);
        for (uint32_t i = 0; i < plan->layer->operands; i++) {
            number[i] += step > 0 && tile_plan_changes(plan, i, step);
            region_json(w, plan, i, step, number[i]);
        }
        jsonw_object_end(w);
    }
    jsonw_array_end(w);
}

void tile_report_json(struct jsonw *w, const struct tile_result *result)
{
    const struct tile_plan *plan = &result->plan;

    jsonw_object_begin(w, NULL);
    layer_json(w, result);
    jsonw_uint(w, "steps", plan->steps);
    loops_json(w, plan);
    jsonw_uint(w, "budget", plan->memory.bytes);
    jsonw_uint(w, "used", plan->used);
    buffers_json(w, plan);
    traffic_json(w, result);
    time_json(w, result);
    jsonw_bool(w, "exhaustive", plan->exhaustive);
    jsonw_uint(w, "plan_us", result->plan_ns / 1000);
    tiles_json(w, plan);
    jsonw_object_end(w);
}

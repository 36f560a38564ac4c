/* SPDX-License-Identifier: BSD-3-Clause */
#include <inttypes.h>
#include <stdio.h>

#include "cli/explain/explain.h"
#include "cli/job/explained.h"
#include "cli/job/explained_board.h"
#include "cli/term/print.h"

static void write_address(struct jsonw *w, const char *key, uint64_t address)
{
    char text[24];

    snprintf(text, sizeof text, "0x%" PRIx64, address);
    jsonw_string(w, key, text);
}

static void write_place(struct jsonw *w, const char *key, const struct board_place *place)
{
    jsonw_object_begin(w, key);
    jsonw_string(w, "memory", place->memory->name);
    write_address(w, "address", place->address);
    jsonw_uint(w, "bytes", place->bytes);
    jsonw_object_end(w);
}

/* Cycles as text: the project's own JSON reader refuses numbers with a fraction. */
static void write_cycles(struct jsonw *w, const char *key, profile_cost cost)
{
    char text[PROFILE_COST_TEXT_MAX];

    jsonw_string(w, key, profile_cost_text(text, cost));
}

static void write_traffic(struct jsonw *w, const char *key, const struct traffic *traffic)
{
    jsonw_object_begin(w, key);
    jsonw_uint(w, "bytes", traffic->bytes);
    jsonw_uint(w, "rows", traffic->rows);
    jsonw_uint(w, "beats", traffic->beats);
    jsonw_uint(w, "bursts", traffic->bursts);
    jsonw_uint(w, "conflicts", traffic->conflicts);
    jsonw_object_end(w);
}

static void write_cost(struct jsonw *w, const struct explained_board *board)
{
    const struct move_cost *cost = &board->cost;

    jsonw_object_begin(w, "cost");
    write_cycles(w, "cycles", cost->total);
    jsonw_bool(w, "saturated", cost->total == PROFILE_COST_MAX);
    jsonw_uint(w, "ns", cost_ns(board->profile, cost->total));
    jsonw_string(w, "dominant", cost_part_words[cost->dominant].key);
    jsonw_string(w, "limit", cost->bus_bound ? "bus" : "channel");
    write_cycles(w, "bus_cycles", cost->bus);
    if (board->profile->measured.present)
        jsonw_string(w, "class", move_class_keys[cost->class]);
    jsonw_object_begin(w, "parts");
    for (enum cost_part part = 0; part < COST_PARTS; part++)
        write_cycles(w, cost_part_words[part].key, cost->part[part]);
    jsonw_object_end(w);
    write_traffic(w, "read", &cost->read);
    write_traffic(w, "written", &cost->written);
    write_cycles(w, "memcpy_cycles", cost->memcpy_total);
    jsonw_uint(w, "memcpy_ns", cost_ns(board->profile, cost->memcpy_total));
    jsonw_object_end(w);
}

/* Writes the run and the loops of a box. A copy may read address 0, so that its src is null, too.
 */
static void write_loops(struct jsonw *w, const struct mli_copy_box *box, bool copies)
{
    jsonw_uint(w, "run", box->run);
    jsonw_array_begin(w, "loops");
    for (size_t i = 0; i < box->loops; i++) {
        jsonw_object_begin(w, NULL);
        jsonw_uint(w, "count", box->loop[i].count);
        if (copies)
            jsonw_uint(w, "src_step", box->loop[i].src_step);
        jsonw_uint(w, "dst_step", box->loop[i].dst_step);
        jsonw_object_end(w);
    }
    jsonw_array_end(w);
}

static void write_piece(struct jsonw *w, const struct mli_descriptor *piece)
{
    if (!controller_fills(piece))
        write_address(w, "src", (uintptr_t)piece->box.src);
    write_address(w, "dst", (uintptr_t)piece->box.dst);
    write_loops(w, &piece->box, !controller_fills(piece));
}

static void write_bytes(struct jsonw *w, const struct controller_descriptor *descriptor)
{
    char text[2 * CONTROLLER_BYTES_MAX + 1];

    for (size_t i = 0; i < descriptor->size; i++)
        snprintf(text + 2 * i, 3, "%02x", descriptor->bytes[i]);
    text[2 * descriptor->size] = '\0';
    jsonw_string(w, "bytes", text);
}

static void write_board_descriptor(struct jsonw *w, const struct controller_descriptor *descriptor)
{
    jsonw_object_begin(w, "descriptor");
    write_address(w, "address", descriptor->address);
    jsonw_array_begin(w, "fields");
    for (size_t i = 0; i < descriptor->field_count; i++) {
        const struct controller_field *field = &descriptor->field[i];

        jsonw_object_begin(w, NULL);
        jsonw_string(w, "name", field->name);
        if (field->hex)
            write_address(w, "value", field->value);
        else
            jsonw_uint(w, "value", field->value);
        jsonw_object_end(w);
    }
    jsonw_array_end(w);
    write_bytes(w, descriptor);
    jsonw_object_end(w);
}

static void write_entry(struct jsonw *w, const struct list_entry *entry, bool encoded)
{
    jsonw_object_begin(w, NULL);
    jsonw_string(w, "mover", entry->mover == MOVER_CORE ? "core" : "controller");
    if (entry->mover == MOVER_CORE)
        jsonw_string(w, "why", entry->why);
    write_piece(w, &entry->piece);
    if (encoded && entry->mover == MOVER_CONTROLLER)
        write_board_descriptor(w, &entry->descriptor);
    jsonw_object_end(w);
}

/* Writes the first descriptors of one channel. */
static void write_list(struct jsonw *w, const struct explained_board *board, uint32_t channel)
{
    struct descriptor_list list;
    struct list_entry entry;
    uint64_t number = 0;

    list_init(&list, board->profile, &board->part[channel], board->list_address[channel],
              board->zeros);
    jsonw_array_begin(w, NULL);
    while (number++ < board->shown && list_next(&list, &entry))
        write_entry(w, &entry, list.controller != NULL);
    jsonw_array_end(w);
}

static void board_json(struct jsonw *w, const struct explained_board *board)
{
    jsonw_object_begin(w, "board");
    jsonw_string(w, "profile", board->profile->name);
    write_place(w, "src", &board->src);
    write_place(w, "dst", &board->dst);
    jsonw_uint(w, "channels", board->channels);
    jsonw_bool(w, "kernel", board->kernel);
    if (board->kernel) {
        jsonw_uint(w, "vectors", board->work.vectors);
        jsonw_uint(w, "gathered", board->work.gathered);
    }
    jsonw_uint(w, "descriptors", board->count.descriptors);
    jsonw_uint(w, "least", board->count.least);
    jsonw_uint(w, "core_pieces", board->count.core);
    jsonw_uint(w, "core_bytes", board->count.core_bytes);
    write_cost(w, board);
    jsonw_array_begin(w, "lists");
    for (uint32_t i = 0; i < board->channels && !board->kernel; i++)
        write_list(w, board, i);
    jsonw_array_end(w);
    board_remarks_json(w, "remarks", &board->remarks);
    jsonw_object_end(w);
}

static void write_numbers(struct jsonw *w, const char *key, uint32_t count, const uint64_t *numbers)
{
    jsonw_array_begin(w, key);
    for (uint32_t i = 0; i < count; i++)
        jsonw_uint(w, NULL, numbers[i]);
    jsonw_array_end(w);
}

static void write_axis(struct jsonw *w, const mli_explained_axis *axis)
{
    jsonw_object_begin(w, NULL);
    jsonw_uint(w, "extent", axis->extent);
    jsonw_uint(w, "pad_pre", axis->pad_pre);
    jsonw_uint(w, "pad_post", axis->pad_post);
    jsonw_uint(w, "padded", axis->padded);
    jsonw_uint(w, "offset", axis->offset);
    jsonw_uint(w, "size", axis->size);
    jsonw_uint(w, "step", axis->step);
    jsonw_uint(w, "count", axis->count);
    jsonw_uint(w, "lo", axis->lo);
    jsonw_uint(w, "hi", axis->hi);
    jsonw_uint(w, "first", axis->first);
    jsonw_uint(w, "dst_dim", axis->dst_dim);
    jsonw_uint(w, "dst_offset", axis->dst_offset);
    jsonw_uint(w, "src_stride", axis->src_stride);
    jsonw_uint(w, "dst_stride", axis->dst_stride);
    jsonw_object_end(w);
}

static void write_axes(struct jsonw *w, const mli_explanation *move)
{
    jsonw_array_begin(w, "axes");
    for (uint32_t d = 0; d < move->rank; d++)
        write_axis(w, &move->axis[d]);
    jsonw_array_end(w);
}

static void write_steps(struct jsonw *w, const mli_explanation *move)
{
    jsonw_object_begin(w, "steps");
    for (int step = 0; step < STEP_COUNT; step++) {
        uint64_t shape[MLI_MAX_RANK];
        explained_step_shape(move, (enum step)step, shape);
        write_numbers(w, explained_step_member((enum step)step), move->rank, shape);
    }
    jsonw_object_end(w);
}

/* The elements of a tensor that the move reads or writes. */
struct touched {
    uint64_t bytes;
    const mli_byte_range *range;
    bool any; /* false: no elements, so `first` and `last` are not set */
    uint64_t first[MLI_MAX_RANK], last[MLI_MAX_RANK];
};

static void write_side(struct jsonw *w, const char *key, const struct explained_side *side,
                       const struct touched *touched, uint32_t rank)
{
    jsonw_object_begin(w, key);
    jsonw_string(w, side->buffer ? "buffer" : "file", explained_place(side));
    print_json_shape(w, "shape", side->rank, side->shape);
    jsonw_array_begin(w, "strides");
    for (uint32_t d = 0; d < side->rank; d++)
        jsonw_int(w, NULL, side->strides[d]);
    jsonw_array_end(w);
    jsonw_uint(w, "offset", side->offset);
    jsonw_uint(w, "bytes", side->bytes);
    if (touched->any) {
        write_numbers(w, "first", rank, touched->first);
        write_numbers(w, "last", rank, touched->last);
    }
    write_numbers(w, "range", 2, (const uint64_t[]){touched->range->begin, touched->range->end});
    jsonw_uint(w, "touched", touched->bytes);
    if (side->quant_axis >= 0)
        jsonw_int(w, "axis", side->quant_axis);
    jsonw_object_end(w);
}

static void write_sides(struct jsonw *w, const struct explained *e)
{
    const mli_explanation *move = &e->move;
    struct touched read = {.bytes = move->samples_read * move->elem, .range = &move->read};
    struct touched written = {
        .bytes = move->samples * move->elem, .range = &move->written, .any = true};
    read.any = explained_read_box(move, read.first, read.last);
    explained_written_box(move, written.first, written.last);
    write_side(w, "src", &e->src, &read, move->rank);
    write_side(w, "dst", &e->dst, &written, move->rank);
}

/* Writes descriptor `index` of the plan. */
static void write_descriptor(struct jsonw *w, const struct explained *e, size_t index)
{
    const struct mli_copy_box box = explained_box(&e->move.plan, index);
    char kernel[MLI_KERNEL_TEXT_MAX];
    uint64_t bytes = box.run;
    jsonw_object_begin(w, NULL);
    jsonw_string(w, "kind", index == 0 ? "copy" : "zeros");
    write_loops(w, &box, index == 0);
    for (size_t i = 0; i < box.loops; i++)
        bytes *= box.loop[i].count;
    if (index == 0)
        jsonw_uint(w, "src", explained_src_at(e, box.src));
    jsonw_uint(w, "dst", explained_dst_at(e, box.dst));
    jsonw_uint(w, "bytes", bytes);
    jsonw_string(w, "kernel", mli_plan_kernel(&e->move.plan, index, kernel));
    jsonw_object_end(w);
}

static void write_plan(struct jsonw *w, const struct explained *e)
{
    const struct mli_plan *plan = &e->move.plan;
    jsonw_object_begin(w, "plan");
    jsonw_uint(w, "bytes", plan->bytes);
    jsonw_array_begin(w, "descriptors");
    for (size_t i = plan->box.run == 0; i <= plan->slabs; i++)
        write_descriptor(w, e, i);
    jsonw_array_end(w);
    jsonw_object_end(w);
}

static void write_channels(struct jsonw *w, const struct explained *e)
{
    jsonw_string(w, "engine", e->engine);
    jsonw_array_begin(w, "channels");
    for (uint32_t i = 0; i < e->parts; i++) {
        jsonw_object_begin(w, NULL);
        jsonw_uint(w, "bytes", e->part[i].bytes);
        jsonw_uint(w, "rows", e->part[i].rows);
        jsonw_uint(w, "descriptors", e->part[i].descriptors);
        jsonw_object_end(w);
    }
    jsonw_array_end(w);
}

void explained_json(struct jsonw *w, const struct explained *e)
{
    jsonw_object_begin(w, NULL);
    jsonw_string(w, "file", e->file);
    jsonw_string(w, "pointer", e->pointer);
    if (e->name)
        jsonw_string(w, "name", e->name);
    jsonw_string(w, "op", e->op);
    if (e->stage)
        jsonw_string(w, "stage", e->stage);
    jsonw_string(w, "type", e->type);
    if (e->whole) {
        jsonw_string(w, "dtype", dtype_of_header(e->whole)->name);
        jsonw_uint(w, "parts", npy_parts(e->whole));
        jsonw_object_begin(w, "folded");
        print_json_shape(w, "src", e->whole->rank, e->whole->shape);
        print_json_shape(w, "dst", e->whole_dst->rank, e->whole_dst->shape);
        jsonw_object_end(w);
    }
    jsonw_uint(w, "elem", e->move.elem);
    write_axes(w, &e->move);
    write_steps(w, &e->move);
    write_sides(w, e);
    write_plan(w, e);
    write_channels(w, e);
    if (e->timed)
        jsonw_uint(w, "memcpy_ns", e->memcpy_ns);
    if (e->board)
        board_json(w, e->board);
    jsonw_object_end(w);
}

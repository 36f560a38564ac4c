/* SPDX-License-Identifier: BSD-3-Clause */
#include <inttypes.h>
#include <stdio.h>

#include "cli/explain/explain.h"
#include "cli/explain/picture.h"
#include "cli/job/explained.h"
#include "cli/job/explained_board.h"
#include "cli/term/print.h"

#define INDENT "  "

static void put_place(struct grid *grid, const char *side, const struct board_place *place)
{
    grid_add(grid, "%s\t%s\t0x%" PRIx64 "\t%" PRIu64 " B", side, place->memory->name,
             place->address, place->bytes);
}

static void put_places(struct textw *w, const struct explained_board *board)
{
    struct grid grid;

    grid_init(&grid, "lllr");
    put_place(&grid, "src", &board->src);
    put_place(&grid, "dst", &board->dst);
    grid_write(&grid, INDENT, w);
}

/* Writes a cost as "1234 cycles (1.23 us)". */
static void put_cost(struct grid *grid, const struct target_profile *profile, const char *what,
                     profile_cost cost)
{
    char cycles[PROFILE_COST_TEXT_MAX], time[PRINT_TEXT_MAX];

    grid_add(grid, "%s\t%s\t%s", what, profile_cost_words(cycles, cost),
             print_time(time, cost_ns(profile, cost)));
}

static void put_costs(struct textw *w, const struct explained_board *board)
{
    const struct move_cost *cost = &board->cost;
    struct grid grid;

    grid_init(&grid, "lrr");
    grid_add(&grid, "model\tcycles\ttime");
    for (enum cost_part part = 0; part < COST_PARTS; part++)
        if (cost->part[part] > 0)
            put_cost(&grid, board->profile, cost_part_words[part].words, cost->part[part]);
    put_cost(&grid, board->profile, "in all", cost->total);
    put_cost(&grid, board->profile, "memcpy by the core", cost->memcpy_total);
    grid_write(&grid, INDENT, w);
    if (board->kernel)
        textw_printf(w, INDENT "the operands are in vector memory: the core permutes them\n");
    else if (board->profile->measured.present)
        textw_printf(w, INDENT "%s takes most time; the move is of class %s, by measured costs\n",
                     cost_part_words[cost->dominant].words, move_class_keys[cost->class]);
    else
        textw_printf(w, INDENT "%s takes most time; reading and writing overlap\n",
                     cost_part_words[cost->dominant].words);
    if (cost->bus_bound)
        textw_printf(w,
                     INDENT "the bus is the limit: reading and writing count all %" PRIu32
                            " channels,\n" INDENT
                            "and overlap with the other parts of the channels\n",
                     cost->channels);
    else if (cost->channels > 1)
        textw_printf(w, INDENT "the table shows the slowest of %" PRIu32 " channels\n",
                     cost->channels);
}

static void put_counts(struct textw *w, const struct explained_board *board)
{
    textw_printf(w,
                 INDENT "%" PRIu64 " descriptor%s on %" PRIu32 " channel%s, at least %" PRIu64
                        " are needed\n",
                 board->count.descriptors, print_s(board->count.descriptors), board->channels,
                 print_s(board->channels), board->count.least);
}

static void put_piece(struct textw *w, const struct mli_descriptor *piece)
{
    const struct mli_copy_box *box = &piece->box;

    for (size_t i = 0; i < box->loops; i++)
        textw_printf(w, "%zu x +%zu -> +%zu, ", box->loop[i].count, box->loop[i].src_step,
                     box->loop[i].dst_step);
    textw_printf(w, "%zu B", box->run);
    if (controller_fills(piece))
        textw_printf(w, " of zeros");
    else
        textw_printf(w, " from 0x%" PRIxPTR, (uintptr_t)box->src);
    textw_printf(w, " to 0x%" PRIxPTR "\n", (uintptr_t)box->dst);
}

static void put_fields(struct textw *w, const struct controller_descriptor *descriptor)
{
    for (size_t i = 0; i < descriptor->field_count; i++) {
        const struct controller_field *field = &descriptor->field[i];

        textw_printf(w, field->hex ? "%s%s 0x%" PRIx64 : "%s%s %" PRIu64,
                     i % 4 == 0 ? (i ? "\n        " : "        ") : ", ", field->name,
                     field->value);
    }
    if (descriptor->field_count > 0)
        textw_printf(w, "\n");
}

static void put_entry(struct textw *w, const struct descriptor_list *list,
                      const struct list_entry *entry, uint64_t number)
{
    textw_printf(w, INDENT "%4" PRIu64 " ", number);
    if (entry->mover == MOVER_CORE)
        textw_printf(w, "core (%s): ", entry->why);
    put_piece(w, &entry->piece);
    if (list->controller && entry->mover == MOVER_CONTROLLER)
        put_fields(w, &entry->descriptor);
}

/* Writes the first descriptors of one channel. */
static void put_list(struct textw *w, const struct explained_board *board, uint32_t channel)
{
    struct descriptor_list list;
    struct list_entry entry;
    uint64_t number = 0;

    list_init(&list, board->profile, &board->part[channel], board->list_address[channel],
              board->zeros);
    if (list.controller)
        textw_printf(w, INDENT "channel %" PRIu32 ", %s\n", channel, list.controller->title);
    else
        textw_printf(w, INDENT "channel %" PRIu32 "\n", channel);
    while (list_next(&list, &entry)) {
        if (number < board->shown)
            put_entry(w, &list, &entry, number);
        number++;
        if (number > board->shown) {
            textw_printf(w, INDENT "   ... (--descriptors N prints more)\n");
            return;
        }
    }
}

static void put_remarks(struct textw *w, const struct board_remarks *remarks)
{
    for (uint32_t i = 0; i < remarks->count; i++)
        textw_printf(w, INDENT "remark %s: %s\n", board_remark_word(remarks->list[i].kind),
                     remarks->list[i].text);
}

static void board_text(struct textw *w, const struct explained_board *board)
{
    textw_printf(w, "\n" INDENT "on %s: %s\n", board->profile->name, board->profile->title);
    put_places(w, board);
    textw_printf(w, "\n");
    put_costs(w, board);
    textw_printf(w, "\n");
    if (board->kernel)
        textw_printf(w,
                     INDENT "a kernel of the core: %" PRIu64 " vector%s, %" PRIu64
                            " gathered element%s; no descriptors\n",
                     board->work.vectors, print_s(board->work.vectors), board->work.gathered,
                     print_s(board->work.gathered));
    else
        put_counts(w, board);
    for (uint32_t i = 0; i < board->channels && board->shown > 0 && !board->kernel; i++)
        put_list(w, board, i);
    put_remarks(w, &board->remarks);
}

enum { LOOPS_TEXT_MAX = 320 };

/* Writes the grid as a paragraph and finishes the grid. */
static void end_paragraph(struct textw *w, struct grid *grid)
{
    grid_write(grid, INDENT, w);
    textw_printf(w, "\n");
}

static void put_quant(struct grid *grid, const struct explained_side *side)
{
    if (side->quant_axis < 0)
        grid_add(grid, "%s", "");
    else
        grid_add(grid, "parameters along dimension %" PRId32, side->quant_axis);
}

static void put_steps(struct textw *w, const struct explained *e)
{
    struct grid grid;
    char text[PICTURE_WORDS_MAX], shape[PRINT_TEXT_MAX];
    grid_init(&grid, "lll");
    grid_add(&grid, "source\t%s", print_shape(shape, e->src.rank, e->src.shape));
    put_quant(&grid, &e->src);
    for (int step = 0; step < STEP_COUNT; step++) {
        uint64_t extents[MLI_MAX_RANK];
        bool changes = explained_step_shape(&e->move, (enum step)step, extents);
        grid_add(&grid, "%s\t%s\t", explained_step_word((enum step)step),
                 changes ? picture_shape(text, e->move.rank, extents) : "-");
    }
    grid_add(&grid, "%s\t%s", e->update ? "into" : "output",
             e->dst.rank ? print_shape(shape, e->dst.rank, e->dst.shape) : "raw bytes");
    put_quant(&grid, &e->dst);
    end_paragraph(w, &grid);
}

static void put_axis(struct grid *grid, const mli_explained_axis *axis, uint32_t d)
{
    grid_add(grid, "%" PRIu32 "\t%" PRIu32, d, axis->extent);
    if (axis->padded != axis->extent)
        grid_add(grid, "%" PRIu32 "+%" PRIu32, axis->pad_pre, axis->pad_post);
    else
        grid_add(grid, "-");
    grid_add(grid, "[%" PRIu64 ", %" PRIu64 ") of %" PRIu64 "\t%" PRIu64 "\t%" PRIu64, axis->offset,
             axis->offset + axis->size, axis->padded, axis->step, axis->count);
    if (axis->lo < axis->hi)
        grid_add(grid, "[%" PRIu64 ", %" PRIu64 ")\t%" PRIu64, axis->lo, axis->hi, axis->first);
    else
        grid_add(grid, "none\t-");
    grid_add(grid, "%" PRIu64 "\t%" PRIu32 "\t%" PRIu32 "\t%" PRIu64, axis->src_stride,
             axis->dst_dim, axis->dst_offset, axis->dst_stride);
}

static void put_axes(struct textw *w, const struct explained *e)
{
    struct grid grid;
    grid_init(&grid, "rrllrrlrrrrr");
    grid_add(&grid, "dim\textent\tpadding\twindow\tstep\tcount\tcopied\tfrom\tstride\t-> dim\tat\t"
                    "stride");
    for (uint32_t d = 0; d < e->move.rank; d++)
        put_axis(&grid, &e->move.axis[d], d);
    end_paragraph(w, &grid);
}

/* Writes a line: "reads 48 elements  (0, 0, 0) to (2, 3, 3)  bytes [0, 398) of 486: fits". */
static void put_touched(struct grid *grid, const char *verb, uint64_t count,
                        const mli_byte_range *range, const struct explained_side *side)
{
    grid_add(grid, "%s\t%" PRIu64 "\telement%s", verb, count, print_s(count));
    grid_add(grid, "bytes [%" PRIu64 ", %" PRIu64 ") of %" PRIu64 ":\t%s", range->begin, range->end,
             side->bytes, range->end <= side->bytes ? "fits" : "does not fit");
}

static void put_corners(struct grid *grid, uint32_t rank, const uint64_t *first,
                        const uint64_t *last)
{
    char from[PICTURE_WORDS_MAX], to[PICTURE_WORDS_MAX];
    grid_add(grid, "%s to %s", picture_shape(from, rank, first), picture_shape(to, rank, last));
}

static void put_extents(struct textw *w, const struct explained *e)
{
    const mli_explanation *move = &e->move;
    uint64_t first[MLI_MAX_RANK], last[MLI_MAX_RANK];
    struct grid grid;
    grid_init(&grid, "lrllll");
    put_touched(&grid, "reads", move->samples_read, &move->read, &e->src);
    if (explained_read_box(move, first, last))
        put_corners(&grid, move->rank, first, last);
    else
        grid_add(&grid, "all is padding");
    put_touched(&grid, "writes", move->samples, &move->written, &e->dst);
    explained_written_box(move, first, last);
    put_corners(&grid, move->rank, first, last);
    end_paragraph(w, &grid);
}

/*
 * Writes descriptor `index` of the plan, with loops as "3 x +162 -> +50, 4 x +18 -> +10": count,
 * step in the source and step in the output.
 */
static void put_descriptor(struct grid *grid, const struct explained *e, size_t index)
{
    const struct mli_copy_box box = explained_box(&e->move.plan, index);
    char loops[LOOPS_TEXT_MAX] = "-", from[24] = "", kernel[MLI_KERNEL_TEXT_MAX];
    int length = 0;

    for (size_t i = 0; i < box.loops; i++) {
        const struct mli_copy_loop *loop = &box.loop[i];

        length += snprintf(loops + length, LOOPS_TEXT_MAX - (size_t)length, "%s%zu x",
                           i ? ", " : "", loop->count);
        if (index == 0)
            length +=
                snprintf(loops + length, LOOPS_TEXT_MAX - (size_t)length, " +%zu", loop->src_step);
        length +=
            snprintf(loops + length, LOOPS_TEXT_MAX - (size_t)length, " -> +%zu", loop->dst_step);
    }
    if (index == 0)
        snprintf(from, sizeof from, "%" PRIu64, explained_src_at(e, box.src));
    grid_add(grid, "%s\t%s\t%zu B\t%s\t%" PRIu64 "\t%s", index ? "zeros" : "copy", loops, box.run,
             from, explained_dst_at(e, box.dst), mli_plan_kernel(&e->move.plan, index, kernel));
}

static void put_plan(struct textw *w, const struct explained *e)
{
    struct grid grid;
    grid_init(&grid, "llrrrl");
    grid_add(&grid, "plan\tloops\trun\tfrom byte\tto byte\tkernel");
    for (size_t i = e->move.plan.box.run == 0; i <= e->move.plan.slabs; i++)
        put_descriptor(&grid, e, i);
    end_paragraph(w, &grid);
}

/* Explains why the move uses fewer channels than the job requests. */
static void put_reason(struct textw *w, const struct explained *e)
{
    char bytes[PRINT_TEXT_MAX];
    if (e->move.plan.bytes <= e->caps.tiny)
        textw_printf(w,
                     INDENT "%s: up to %s, the thread that starts a transfer also moves the data\n",
                     e->engine, print_bytes(bytes, e->caps.tiny));
    else if (e->parts < e->channels)
        textw_printf(w,
                     INDENT "%s: %" PRIu32 " channels are requested, but only %" PRIu32
                            " %s worth using\n",
                     e->engine, e->channels, e->parts, e->parts == 1 ? "is" : "are");
}

static void put_channels(struct textw *w, const struct explained *e)
{
    struct grid grid;
    grid_init(&grid, "rrrr");
    grid_add(&grid, "channel\tbytes\trows\tdescriptors");
    for (uint32_t i = 0; i < e->parts; i++)
        grid_add(&grid, "%" PRIu32 "\t%" PRIu64 "\t%" PRIu64 "\t%" PRIu64, i, e->part[i].bytes,
                 e->part[i].rows, e->part[i].descriptors);
    grid_write(&grid, INDENT, w);
    put_reason(w, e);
    textw_printf(w, "\n");
}

static void put_total(struct textw *w, const struct explained *e)
{
    const mli_explanation *move = &e->move;
    char read[PRINT_TEXT_MAX], written[PRINT_TEXT_MAX], time[PRINT_TEXT_MAX];
    textw_printf(w, INDENT "%s read, %s written",
                 print_bytes(read, move->samples_read * move->elem),
                 print_bytes(written, move->plan.bytes));
    if (e->timed)
        textw_printf(w, "; memcpy of %s takes %s here", print_bytes(written, move->plan.bytes),
                     print_time(time, e->memcpy_ns));
    textw_printf(w, "\n");
}

/* Writes the path of a tensor's file, relative to the working directory, or the name of its buffer.
 */
static void put_tensor(struct textw *w, const struct explained_side *side)
{
    textw_printf(w, "%s", explained_kind(side));
    escaped_write(w, side->buffer ? side->buffer : side->path, escaped_plain);
}

/* Writes a title such as "tile_0_0: mov map_chw.npy -> tile_0_0.npy, fx16". */
static void put_title(struct textw *w, const struct explained *e)
{
    escaped_write(w, e->name ? e->name : e->file, escaped_plain);
    if (!e->name && *e->pointer)
        textw_printf(w, "#%s", e->pointer);
    textw_printf(w, ": %s ", e->op);
    put_tensor(w, &e->src);
    textw_printf(w, " %s ", e->update ? "into" : "->");
    put_tensor(w, &e->dst);
    textw_printf(w, ", %s\n", e->type);
    if (e->whole && npy_parts(e->whole) > 1)
        textw_printf(w,
                     INDENT "elements of %s: each moves as %" PRIu32 " parts of 4 bytes, along an "
                            "inner dimension\n",
                     dtype_of_header(e->whole)->name, npy_parts(e->whole));
    if (e->whole && e->whole->rank > MLI_MAX_RANK) {
        char src[PRINT_TEXT_MAX], dst[PRINT_TEXT_MAX];

        textw_printf(
            w, INDENT "shape %s -> %s: dimensions that stay together are folded, to %" PRIu32 "\n",
            print_shape(src, e->whole->rank, e->whole->shape),
            print_shape(dst, e->whole_dst->rank, e->whole_dst->shape), e->src.rank);
    }
}

void explained_text(struct textw *w, const struct explained *explained)
{
    put_title(w, explained);
    put_steps(w, explained);
    put_axes(w, explained);
    put_extents(w, explained);
    put_plan(w, explained);
    put_channels(w, explained);
    put_total(w, explained);
    if (explained->stage)
        textw_printf(w, INDENT "staged through %s: load, permute, store\n", explained->stage);
    if (explained->board)
        board_text(w, explained->board);
}

/* SPDX-License-Identifier: BSD-3-Clause */
#include <inttypes.h>

#include "cli/explain/explained_board.h"
#include "cli/term/grid.h"
#include "cli/term/print.h"

#define INDENT "  "

static void put_place(struct grid *grid, const char *side, const struct board_place *place)
{
    grid_cell(grid, "%s", side);
    grid_cell(grid, "%s", place->memory->name);
    grid_cell(grid, "0x%" PRIx64, place->address);
    grid_cell(grid, "%" PRIu64 " B", place->bytes);
}

static void put_places(struct textw *w, const struct explained_board *board)
{
    struct grid grid;

    grid_init(&grid, "lllr");
    put_place(&grid, "src", &board->src);
    put_place(&grid, "dst", &board->dst);
    grid_write(&grid, INDENT, w);
    grid_finish(&grid);
}

/* Writes a cost as "1234 cycles (1.23 us)". */
static void put_cost(struct grid *grid, const struct target_profile *profile, const char *what,
                     profile_cost cost)
{
    char cycles[PROFILE_COST_TEXT_MAX], time[PRINT_TEXT_MAX];

    grid_cell(grid, "%s", what);
    grid_cell(grid, "%s", profile_cost_words(cycles, cost));
    grid_cell(grid, "%s", print_time(time, cost_ns(profile, cost)));
}

static void put_costs(struct textw *w, const struct explained_board *board)
{
    const struct move_cost *cost = &board->cost;
    struct grid grid;

    grid_init(&grid, "lrr");
    grid_cell(&grid, "model");
    grid_cell(&grid, "cycles");
    grid_cell(&grid, "time");
    for (enum cost_part part = 0; part < COST_PARTS; part++)
        if (cost->part[part] > 0)
            put_cost(&grid, board->profile, cost_part_words(part), cost->part[part]);
    put_cost(&grid, board->profile, "in all", cost->total);
    put_cost(&grid, board->profile, "memcpy by the core", cost->memcpy_total);
    grid_write(&grid, INDENT, w);
    grid_finish(&grid);
    if (board->kernel)
        textw_printf(w, INDENT "the operands are in vector memory: the core permutes them\n");
    else if (board->profile->measured.present)
        textw_printf(w, INDENT "%s takes most; the move is of class %s, by measured costs\n",
                     cost_part_words(cost->dominant), move_class_keys[cost->class]);
    else
        textw_printf(w, INDENT "%s takes most; reading and writing overlap\n",
                     cost_part_words(cost->dominant));
    if (cost->bus_bound)
        textw_printf(w,
                     INDENT "the bus is the limit: reading and writing are those of all %" PRIu32
                            " channels;\n" INDENT
                            "the other parts of the channels take place in the same time\n",
                     cost->channels);
    else if (cost->channels > 1)
        textw_printf(w, INDENT "the parts are those of the slowest of %" PRIu32 " channels\n",
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

static void put_box(struct textw *w, const struct mli_copy_box *box)
{
    for (size_t i = 0; i < box->loops; i++)
        textw_printf(w, "%zu x +%zu -> +%zu, ", box->loop[i].count, box->loop[i].src_step,
                     box->loop[i].dst_step);
    textw_printf(w, "%zu B", box->run);
    if (box->src)
        textw_printf(w, " from 0x%" PRIxPTR, (uintptr_t)box->src);
    else
        textw_printf(w, " of zeros");
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
    put_box(w, &entry->piece.box);
    if (list->controller && entry->mover == MOVER_CONTROLLER)
        put_fields(w, &entry->descriptor);
}

/* Writes the first entries of the list of one channel. */
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

void explained_board_text(struct textw *w, const struct explained_board *board)
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

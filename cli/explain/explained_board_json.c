/* SPDX-License-Identifier: BSD-3-Clause */
#include <inttypes.h>
#include <stdio.h>

#include "cli/explain/explained_board.h"

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

/* Cycles as text: they may have a fraction, which the project's own reader refuses as a number. */
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
    jsonw_string(w, "dominant", cost_part_key(cost->dominant));
    jsonw_string(w, "limit", cost->bus_bound ? "bus" : "channel");
    write_cycles(w, "bus_cycles", cost->bus);
    if (board->profile->measured.present)
        jsonw_string(w, "class", move_class_keys[cost->class]);
    jsonw_object_begin(w, "parts");
    for (enum cost_part part = 0; part < COST_PARTS; part++)
        write_cycles(w, cost_part_key(part), cost->part[part]);
    jsonw_object_end(w);
    write_traffic(w, "read", &cost->read);
    write_traffic(w, "written", &cost->written);
    write_cycles(w, "memcpy_cycles", cost->memcpy_total);
    jsonw_uint(w, "memcpy_ns", cost_ns(board->profile, cost->memcpy_total));
    jsonw_object_end(w);
}

static void write_box(struct jsonw *w, const struct mli_copy_box *box)
{
    if (box->src)
        write_address(w, "src", (uintptr_t)box->src);
    write_address(w, "dst", (uintptr_t)box->dst);
    jsonw_uint(w, "run", box->run);
    jsonw_array_begin(w, "loops");
    for (size_t i = 0; i < box->loops; i++) {
        jsonw_object_begin(w, NULL);
        jsonw_uint(w, "count", box->loop[i].count);
        if (box->src)
            jsonw_uint(w, "src_step", box->loop[i].src_step);
        jsonw_uint(w, "dst_step", box->loop[i].dst_step);
        jsonw_object_end(w);
    }
    jsonw_array_end(w);
}

static void write_bytes(struct jsonw *w, const struct controller_descriptor *descriptor)
{
    char text[2 * CONTROLLER_BYTES_MAX + 1];

    for (size_t i = 0; i < descriptor->size; i++)
        snprintf(text + 2 * i, 3, "%02x", descriptor->bytes[i]);
    text[2 * descriptor->size] = '\0';
    jsonw_string(w, "bytes", text);
}

static void write_descriptor(struct jsonw *w, const struct controller_descriptor *descriptor)
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
    write_box(w, &entry->piece.box);
    if (encoded && entry->mover == MOVER_CONTROLLER)
        write_descriptor(w, &entry->descriptor);
    jsonw_object_end(w);
}

/* Writes the first entries of the list of one channel. */
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

void explained_board_json(struct jsonw *w, const struct explained_board *board)
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

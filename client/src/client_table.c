/* SPDX-License-Identifier: BSD-3-Clause */
#include "client/src/client_state.h"

#include <stdlib.h>
#include <unistd.h>

enum { INDEX_BITS = 20, FIRST_CAPACITY = 64 };
#define NO_SLOT UINT32_MAX

_Static_assert(TABLE_MAX + 1 == 1 << INDEX_BITS, "a ticket has room for every number");

void table_init(struct table *table)
{
    *table = (struct table){.first_free = NO_SLOT};
}

/* Frees the contents of a slot. */
static void empty(struct slot *slot)
{
    mli_client_result_free(&slot->result);
    error_free(slot->error);
    if (slot->reply) {
        rpc_reply_finish(slot->reply);
        free(slot->reply);
    }
    free(slot->line);
    if (slot->fd >= 0)
        close(slot->fd);
    for (uint32_t i = 0; i < slot->back_count; i++) {
        if (slot->backs[i].fd >= 0)
            close(slot->backs[i].fd);
    }
    free(slot->backs);
}

void table_finish(struct table *table)
{
    for (uint32_t i = 0; i < table->used; i++) {
        if (table->slots[i].state != SLOT_FREE)
            empty(&table->slots[i]);
    }
    free(table->slots);
    table_init(table);
}

static bool grow(struct table *table)
{
    uint32_t capacity = table->capacity ? 2 * table->capacity : FIRST_CAPACITY;

    if (capacity > TABLE_MAX)
        capacity = TABLE_MAX;
    if (table->used == capacity)
        return false;
    struct slot *slots = realloc(table->slots, capacity * sizeof(*slots));
    if (!slots)
        return false;
    table->slots = slots;
    table->capacity = capacity;
    return true;
}

mli_client_ticket table_ticket(const struct table *table, const struct slot *slot)
{
    return (uint64_t)(slot->generation - 1) << INDEX_BITS | (uint64_t)(slot - table->slots + 1);
}

struct slot *table_take(struct table *table, mli_client_ticket *ticket)
{
    uint32_t index = table->first_free;
    uint32_t generation = 0;

    if (index != NO_SLOT) {
        table->first_free = table->slots[index].next_free;
        generation = table->slots[index].generation;
    } else {
        if (table->used == table->capacity && !grow(table))
            return NULL;
        index = table->used++;
    }
    struct slot *slot = &table->slots[index];
    *slot = (struct slot){.state = SLOT_WAITING, .fd = -1, .next_free = NO_SLOT};
    slot->generation = generation == UINT32_MAX ? 1 : generation + 1;
    table->waiting++;
    *ticket = table_ticket(table, slot);
    return slot;
}

struct slot *table_find(const struct table *table, mli_client_ticket ticket)
{
    uint32_t number = (uint32_t)(ticket & TABLE_MAX);

    if (number == 0 || number > table->used)
        return NULL;
    struct slot *slot = &table->slots[number - 1];
    return table_ticket(table, slot) == ticket && slot->state != SLOT_FREE ? slot : NULL;
}

void slot_end(struct table *table, struct slot *slot, enum slot_state state)
{
    slot->state = state;
    table->waiting--;
}

void table_release(struct table *table, struct slot *slot)
{
    if (slot->state == SLOT_WAITING)
        table->waiting--;
    empty(slot);
    *slot = (struct slot){.generation = slot->generation, .next_free = table->first_free};
    table->first_free = (uint32_t)(slot - table->slots);
}

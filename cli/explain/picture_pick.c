/* SPDX-License-Identifier: BSD-3-Clause */
#include "cli/explain/picture_pick.h"

#include <string.h>

static size_t larger(size_t a, size_t b)
{
    return a > b ? a : b;
}

void pick_init(struct pick *pick, uint64_t extent, size_t room, size_t edges)
{
    size_t most = room < PICK_MAX ? room : PICK_MAX;
    *pick = (struct pick){.extent = extent, .room = larger(most, edges), .room_for_all = most};
    for (uint64_t at = 0; extent <= most && at < extent; at++)
        pick->at[pick->count++] = at;
}

/* What the coordinates and the breaks between them take. */
static size_t room_taken(const struct pick *pick)
{
    size_t taken = pick->count;
    if (pick->count == 0)
        return 0;
    taken += pick->at[0] > 0;
    taken += pick->at[pick->count - 1] + 1 < pick->extent;
    for (size_t i = 1; i < pick->count; i++)
        taken += pick->at[i] - pick->at[i - 1] > 1;
    return taken;
}

void pick_settle(struct pick *pick)
{
    pick->room = larger(pick->room_for_all, room_taken(pick));
}

static void insert(struct pick *pick, size_t i, uint64_t at)
{
    memmove(pick->at + i + 1, pick->at + i, (pick->count - i) * sizeof(pick->at[0]));
    pick->at[i] = at;
    pick->count++;
}

static void erase(struct pick *pick, size_t i)
{
    pick->count--;
    memmove(pick->at + i, pick->at + i + 1, (pick->count - i) * sizeof(pick->at[0]));
}

void pick_add(struct pick *pick, uint64_t at)
{
    size_t i = 0;
    while (i < pick->count && pick->at[i] < at)
        i++;
    if (at >= pick->extent || pick->count == PICK_MAX || (i < pick->count && pick->at[i] == at))
        return;
    insert(pick, i, at);
    if (room_taken(pick) > pick->room)
        erase(pick, i);
}

void pick_around(struct pick *pick, const uint64_t *edges, size_t count, uint64_t reach)
{
    for (uint64_t r = 0; r < reach; r++) {
        for (size_t i = 0; i < count; i++) {
            pick_add(pick, edges[i] + r);
            if (edges[i] > r)
                pick_add(pick, edges[i] - 1 - r);
        }
    }
}

void pick_close(struct pick *pick)
{
    for (size_t i = 0; i <= pick->count; i++) {
        uint64_t from = i > 0 ? pick->at[i - 1] + 1 : 0;
        uint64_t to = i < pick->count ? pick->at[i] : pick->extent;
        if (to - from == 1 && pick->count < PICK_MAX)
            insert(pick, i, from);
    }
}

/* SPDX-License-Identifier: BSD-3-Clause */
#include "daemon/base/numbered.h"

#include <stdlib.h>
#include <string.h>

#include "daemon/base/seam.h"

void numbered_finish(struct numbered *numbered)
{
    free(numbered->entries);
    *numbered = (struct numbered){0};
}

static int grow(struct numbered *numbered)
{
    const uint32_t capacity = numbered->capacity ? numbered->capacity * 2 : 8;
    struct numbered_entry *entries =
        capacity > numbered->capacity ? seam.realloc(numbered->entries, capacity * sizeof *entries)
                                      : NULL;

    if (!entries)
        return -1;
    numbered->entries = entries;
    numbered->capacity = capacity;
    return 0;
}

uint32_t numbered_add(struct numbered *numbered, void *thing)
{
    if (numbered->last == UINT32_MAX)
        return 0;
    if (numbered->count == numbered->capacity && grow(numbered) < 0)
        return 0;
    numbered->last++;
    numbered->entries[numbered->count++] =
        (struct numbered_entry){.number = numbered->last, .thing = thing};
    return numbered->last;
}

/* Returns the index of a number, or `count` if it is not in the table. */
static uint32_t place_of(const struct numbered *numbered, uint32_t number)
{
    uint32_t begin = 0, end = numbered->count;

    while (begin < end) {
        const uint32_t middle = begin + (end - begin) / 2;

        if (numbered->entries[middle].number == number)
            return middle;
        if (numbered->entries[middle].number < number)
            begin = middle + 1;
        else
            end = middle;
    }
    return numbered->count;
}

void *numbered_find(const struct numbered *numbered, uint32_t number)
{
    const uint32_t place = place_of(numbered, number);

    return place < numbered->count ? numbered->entries[place].thing : NULL;
}

void *numbered_remove(struct numbered *numbered, uint32_t number)
{
    const uint32_t place = place_of(numbered, number);
    void *thing;

    if (place == numbered->count)
        return NULL;
    thing = numbered->entries[place].thing;
    numbered->count--;
    memmove(numbered->entries + place, numbered->entries + place + 1,
            (numbered->count - place) * sizeof *numbered->entries);
    return thing;
}

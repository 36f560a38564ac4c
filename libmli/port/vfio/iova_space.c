/* SPDX-License-Identifier: BSD-3-Clause */
#include "libmli/port/vfio/iova_space.h"

#include <stdlib.h>

void iova_space_init(struct iova_space *space, size_t page, uint32_t bits)
{
    *space = (struct iova_space){
        .page = page,
        .last = bits < 64 ? (UINT64_C(1) << bits) - 1 : UINT64_MAX,
    };
}

void iova_space_finish(struct iova_space *space)
{
    while (space->ranges)
        iova_space_remove(space, space->ranges);
}

void iova_space_allow(struct iova_space *space, uint64_t first, uint64_t last)
{
    const uint64_t mask = space->page - 1;

    if (first < space->page)
        first = space->page;
    if (last > space->last)
        last = space->last;
    first = (first + mask) & ~mask;
    if (first > last || last - first < mask || space->count == IOVA_WINDOWS_MAX)
        return;
    space->windows[space->count].first = first;
    space->windows[space->count].last = last;
    space->count++;
}

/*
 * Finds room for `size` bytes: in each window, the first gap between ranges that is large enough.
 * Sets *link to the place of the new range in the list. Returns 0 if there is no room.
 */
static uint64_t find_room(struct iova_space *space, size_t size, struct iova_range ***link)
{
    struct iova_range **at = &space->ranges;

    for (uint32_t i = 0; i < space->count; i++) {
        uint64_t first = space->windows[i].first;
        const uint64_t last = space->windows[i].last;

        for (; *at && (*at)->iova < first; at = &(*at)->next)
            ;
        for (; *at && (*at)->iova <= last; at = &(*at)->next) {
            if ((*at)->iova - first >= size)
                break;
            first = (*at)->iova + (*at)->size;
        }
        if (first <= last && last - first >= size - 1 && (!*at || (*at)->iova - first >= size)) {
            *link = at;
            return first;
        }
    }
    return 0;
}

struct iova_range *iova_space_add(struct iova_space *space, uintptr_t address, size_t size,
                                  bool write)
{
    const uintptr_t mask = space->page - 1, first = address & ~mask;
    struct iova_range *range, **link;
    uint64_t iova;

    if (size == 0 || size > UINTPTR_MAX - mask || address > UINTPTR_MAX - mask - size)
        return NULL;
    size = (size_t)(((address + size + mask) & ~mask) - first);
    iova = find_room(space, size, &link);
    range = iova ? malloc(sizeof(*range)) : NULL;
    if (!range)
        return NULL;
    *range = (struct iova_range){*link, first, size, iova, write, 0};
    *link = range;
    return range;
}

void iova_space_remove(struct iova_space *space, struct iova_range *range)
{
    struct iova_range **link = &space->ranges;

    while (*link != range)
        link = &(*link)->next;
    *link = range->next;
    free(range);
}

struct iova_range *iova_space_find(const struct iova_space *space, uintptr_t address, size_t size,
                                   bool write)
{
    struct iova_range *range = space->ranges;

    while (range && (address < range->address || address - range->address > range->size ||
                     size > range->size - (address - range->address) || (write && !range->write)))
        range = range->next;
    return range;
}

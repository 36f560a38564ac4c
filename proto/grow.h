/* SPDX-License-Identifier: BSD-3-Clause */
/* Arrays to which elements are appended one at a time. */
#pragma once

#include <stddef.h>
#include <stdlib.h>

/* Returns the array with room for another element; if out of memory, the array unchanged. */
static inline void *list_grown(void *array, size_t count, size_t *capacity, size_t size)
{
    const size_t more = *capacity ? 2 * *capacity : 16;
    void *grown;

    if (count < *capacity)
        return array;
    grown = reallocarray(array, more, size);
    if (!grown)
        return array;
    *capacity = more;
    return grown;
}

/**
 * Makes room for one more element of `size` bytes after `count` elements. `list` is the address of
 * the pointer to the array, which has room for *capacity elements. Returns 0, or -1 if out of
 * memory: then the array stays as it is. A macro, so that analyzers see the type of the array.
 */
#define list_grow(list, count, capacity, size)                                                     \
    (*(list) = list_grown(*(list), (count), (capacity), (size)), (count) < *(capacity) ? 0 : -1)

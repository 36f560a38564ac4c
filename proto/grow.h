/* SPDX-License-Identifier: BSD-3-Clause */
/* Arrays that grow by one element after the other. */
#ifndef PROTO_GROW_H
#define PROTO_GROW_H

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

/**
 * Makes room for one more element of `size` bytes after `count` elements. `list` is the address of
 * the pointer to the array, which has room for *capacity elements. Returns 0, or -1 if out of
 * memory: then the array stays as it is.
 */
static inline int list_grow(void *list, size_t count, size_t *capacity, size_t size)
{
    const size_t more = *capacity ? 2 * *capacity : 16;
    void *array;

    if (count < *capacity)
        return 0;
    memcpy(&array, list, sizeof(array));
    array = reallocarray(array, more, size);
    if (!array)
        return -1;
    memcpy(list, &array, sizeof(array));
    *capacity = more;
    return 0;
}

#endif /* PROTO_GROW_H */

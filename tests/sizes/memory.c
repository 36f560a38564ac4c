/* SPDX-License-Identifier: BSD-3-Clause */
/* The functions that compilers call implicitly. Here, so that the sizes include no C library. */
#include <stddef.h>

void *memcpy(void *restrict to, const void *restrict from, size_t size);
void *memset(void *to, int value, size_t size);

void *memcpy(void *restrict to, const void *restrict from, size_t size)
{
    for (size_t i = 0; i < size; i++)
        ((char *)to)[i] = ((const char *)from)[i];
    return to;
}

void *memset(void *to, int value, size_t size)
{
    for (size_t i = 0; i < size; i++)
        ((char *)to)[i] = (char)value;
    return to;
}

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Wrappers of allocations. Allocations in strdup(), asprintf(), getline(), fopen() and others come
 * here too, because glibc calls the program's malloc().
 */
#include <errno.h>
#include <malloc.h>
#include <stdlib.h>

#include "tests/torture/preload.h"

WRAP(void *, malloc, (size_t size), (size), NULL, alloc_)
WRAP(void *, realloc, (void *block, size_t size), (block, size), NULL, alloc_)
WRAP(void *, reallocarray, (void *block, size_t count, size_t size), (block, count, size), NULL,
     alloc_)
WRAP(void *, aligned_alloc, (size_t alignment, size_t size), (alignment, size), NULL, alloc_)
WRAP(void *, memalign, (size_t alignment, size_t size), (alignment, size), NULL, alloc_)
WRAP(int, posix_memalign, (void **block, size_t alignment, size_t size), (block, alignment, size),
     error, alloc_)

/* dlsym() may call calloc() before it has found the C library's calloc(). */
void *calloc(size_t count, size_t size)
{
    static __typeof__(&calloc) next;
    static char early[4096];
    static size_t used;
    static int searching;

    if (!next && searching) {
        void *block = early + used;
        used += (count * size + 15) & ~(size_t)15;
        return used <= sizeof(early) ? block : NULL;
    }
    if (!next) {
        searching = 1;
        *(void **)&next = next_function("calloc");
    }
    if (choose("calloc", alloc_) == 0)
        return next(count, size);
    errno = ENOMEM;
    return NULL;
}

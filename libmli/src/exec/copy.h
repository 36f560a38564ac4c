/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Copies of long rows: by memcpy, but not where memcpy is slow.
 *
 * On AMD Zen 3, `rep movsb`, which memcpy of glibc uses from about 2 KiB on, takes up to 25 times
 * as long if the destination begins 1 to 31 bytes after the source within a page (on Zen 4 too:
 * glibc's bug 30994). Such arrays are common: malloc() often puts 16 bytes between two arrays of
 * whole pages.
 */
#ifndef MLI_EXEC_COPY_H
#define MLI_EXEC_COPY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "libmli/src/bytes.h"

enum {
    COPY_PAGE = 4096,
    COPY_NEAR = 31, /* bytes after the source, at most, of a destination that makes memcpy slow */
    COPY_PART = 64, /* bytes that a compiler copies without `rep movs` and without a call */
    COPY_SLOW_MIN = 1024, /* shorter rows are never slow */
};

/** Returns whether memcpy may be slow for long rows at these addresses. */
static inline bool copy_is_slow(const uint8_t *to, const uint8_t *from)
{
#if defined(__x86_64__) || defined(__i386__)
    return ((uintptr_t)to - (uintptr_t)from - 1) % COPY_PAGE < COPY_NEAR;
#else
    (void)to;
    (void)from;
    return false;
#endif
}

/** Copies a row of any length. */
static inline void copy_run(uint8_t *to, const uint8_t *from, size_t bytes)
{
    if (bytes >= COPY_SLOW_MIN && copy_is_slow(to, from)) {
        for (; bytes > COPY_PART; bytes -= COPY_PART, to += COPY_PART, from += COPY_PART)
            copy_bytes(to, from, COPY_PART);
    }
    copy_bytes(to, from, bytes);
}

#endif /* MLI_EXEC_COPY_H */

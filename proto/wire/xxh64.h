/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * XXH64 (seed 0), a checksum of 64 bits about as fast as reading memory. It detects accidental
 * changes, not deliberate collisions. Defined by the xxHash specification,
 * https://github.com/Cyan4973/xxHash/blob/dev/doc/xxhash_spec.md; `xxhsum -H1` prints it.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

enum { XXH64_LANES = 4, XXH64_STRIPE = 32 };

struct xxh64 {
    uint64_t lanes[XXH64_LANES];
    uint64_t total;                   /* number of bytes added */
    unsigned char rest[XXH64_STRIPE]; /* the last total % XXH64_STRIPE bytes added */
};

void xxh64_init(struct xxh64 *x);
void xxh64_add(struct xxh64 *x, const void *bytes, size_t size);
/** Returns the checksum of all bytes added; more bytes may be added afterwards. */
uint64_t xxh64_value(const struct xxh64 *x);

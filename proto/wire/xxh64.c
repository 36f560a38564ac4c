/* SPDX-License-Identifier: BSD-3-Clause */
#include "proto/wire/xxh64.h"

#include <endian.h>
#include <string.h>

#define PRIME_1 UINT64_C(0x9E3779B185EBCA87)
#define PRIME_2 UINT64_C(0xC2B2AE3D27D4EB4F)
#define PRIME_3 UINT64_C(0x165667B19E3779F9)
#define PRIME_4 UINT64_C(0x85EBCA77C2B2AE63)
#define PRIME_5 UINT64_C(0x27D4EB2F165667C5)

static uint64_t rotate(uint64_t value, unsigned bits)
{
    return value << bits | value >> (64 - bits);
}

static uint64_t read_64(const unsigned char *at)
{
    uint64_t word;

    memcpy(&word, at, sizeof(word));
    return le64toh(word);
}

static uint64_t read_32(const unsigned char *at)
{
    uint32_t word;

    memcpy(&word, at, sizeof(word));
    return le32toh(word);
}

static uint64_t mix(uint64_t lane, uint64_t word)
{
    return rotate(lane + word * PRIME_2, 31) * PRIME_1;
}

void xxh64_init(struct xxh64 *x)
{
    *x = (struct xxh64){.lanes = {PRIME_1 + PRIME_2, PRIME_2, 0, -PRIME_1}};
}

/* Adds `count` stripes, each of XXH64_STRIPE bytes. */
static void add_stripes(struct xxh64 *x, const unsigned char *at, size_t count)
{
    uint64_t a = x->lanes[0], b = x->lanes[1], c = x->lanes[2], d = x->lanes[3];

    for (; count > 0; count--, at += XXH64_STRIPE) {
        a = mix(a, read_64(at));
        b = mix(b, read_64(at + 8));
        c = mix(c, read_64(at + 16));
        d = mix(d, read_64(at + 24));
    }
    x->lanes[0] = a;
    x->lanes[1] = b;
    x->lanes[2] = c;
    x->lanes[3] = d;
}

void xxh64_add(struct xxh64 *x, const void *bytes, size_t size)
{
    const unsigned char *at = bytes;
    size_t held = (size_t)(x->total % XXH64_STRIPE);

    x->total += size;
    if (held > 0) {
        size_t part = XXH64_STRIPE - held < size ? XXH64_STRIPE - held : size;
        memcpy(x->rest + held, at, part);
        at += part;
        size -= part;
        if (held + part < XXH64_STRIPE)
            return;
        add_stripes(x, x->rest, 1);
    }
    add_stripes(x, at, size / XXH64_STRIPE);
    if (size % XXH64_STRIPE > 0)
        memcpy(x->rest, at + size - size % XXH64_STRIPE, size % XXH64_STRIPE);
}

static uint64_t join_lanes(const struct xxh64 *x)
{
    uint64_t value = rotate(x->lanes[0], 1) + rotate(x->lanes[1], 7) + rotate(x->lanes[2], 12) +
                     rotate(x->lanes[3], 18);

    for (int i = 0; i < XXH64_LANES; i++)
        value = (value ^ mix(0, x->lanes[i])) * PRIME_1 + PRIME_4;
    return value;
}

uint64_t xxh64_value(const struct xxh64 *x)
{
    const unsigned char *at = x->rest;
    size_t left = (size_t)(x->total % XXH64_STRIPE);
    uint64_t value = (x->total < XXH64_STRIPE ? PRIME_5 : join_lanes(x)) + x->total;

    for (; left >= 8; left -= 8, at += 8)
        value = rotate(value ^ mix(0, read_64(at)), 27) * PRIME_1 + PRIME_4;
    if (left >= 4) {
        value = rotate(value ^ read_32(at) * PRIME_1, 23) * PRIME_2 + PRIME_3;
        left -= 4;
        at += 4;
    }
    for (; left > 0; left--, at++)
        value = rotate(value ^ *at * PRIME_5, 11) * PRIME_1;
    value = (value ^ value >> 33) * PRIME_2;
    value = (value ^ value >> 29) * PRIME_3;
    return value ^ value >> 32;
}

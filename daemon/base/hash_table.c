/* SPDX-License-Identifier: BSD-3-Clause */
#include "daemon/base/hash_table.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <time.h>

#include "daemon/base/seam.h"

void hash_table_init(struct hash_table *table)
{
    struct timespec now = {0};

    memset(table, 0, sizeof *table);
    table->buckets = HASH_SEGMENT;
    if (getrandom(table->key, sizeof table->key, GRND_NONBLOCK) == (ssize_t)sizeof table->key)
        return;
    /* Early in the boot getrandom() may fail: use a less random key, still unknown to clients. */
    clock_gettime(CLOCK_MONOTONIC, &now);
    table->key[0] = (uint64_t)now.tv_nsec << 32 ^ (uint64_t)now.tv_sec;
    table->key[1] = (uint64_t)(uintptr_t)table;
}

static uint32_t segments_of(const struct hash_table *table)
{
    return (table->buckets + HASH_SEGMENT - 1) / HASH_SEGMENT;
}

void hash_table_finish(struct hash_table *table)
{
    for (uint32_t i = 1; i < segments_of(table); i++)
        free(table->segments[i - 1]);
    free(table->segments);
    table->segments = NULL;
    table->room = table->count = 0;
    table->buckets = HASH_SEGMENT;
    memset(table->first, 0, sizeof table->first);
}

/* SipHash-1-3 (Aumasson and Bernstein 2012). */
struct sip {
    uint64_t v[4];
};

static uint64_t rotate(uint64_t value, unsigned by)
{
    return value << by | value >> (64 - by);
}

static void sip_round(struct sip *sip)
{
    uint64_t *v = sip->v;

    v[0] += v[1];
    v[2] += v[3];
    v[1] = rotate(v[1], 13) ^ v[0];
    v[3] = rotate(v[3], 16) ^ v[2];
    v[0] = rotate(v[0], 32);
    v[2] += v[1];
    v[0] += v[3];
    v[1] = rotate(v[1], 17) ^ v[2];
    v[3] = rotate(v[3], 21) ^ v[0];
    v[2] = rotate(v[2], 32);
}

static void sip_word(struct sip *sip, uint64_t word)
{
    sip->v[3] ^= word;
    sip_round(sip);
    sip->v[0] ^= word;
}

uint64_t hash_table_hash(const struct hash_table *table, uint64_t salt, const void *bytes,
                         size_t length)
{
    const unsigned char *at = bytes;
    const uint64_t k0 = table->key[0], k1 = table->key[1];
    struct sip sip = {{k0 ^ UINT64_C(0x736f6d6570736575), k1 ^ UINT64_C(0x646f72616e646f6d),
                       k0 ^ UINT64_C(0x6c7967656e657261), k1 ^ UINT64_C(0x7465646279746573)}};
    uint64_t word;

    sip_word(&sip, salt);
    for (size_t left = length; left >= sizeof word; left -= sizeof word, at += sizeof word) {
        memcpy(&word, at, sizeof word);
        sip_word(&sip, word);
    }
    word = 0;
    if (length % sizeof word)
        memcpy(&word, at, length % sizeof word);
    sip_word(&sip, word ^ (uint64_t)length << 56);
    sip.v[2] ^= 0xff;
    for (int i = 0; i < 3; i++)
        sip_round(&sip);
    return sip.v[0] ^ sip.v[1] ^ sip.v[2] ^ sip.v[3];
}

static struct hash_node **bucket(struct hash_table *table, uint32_t index)
{
    if (index < HASH_SEGMENT)
        return &table->first[index];
    return &table->segments[index / HASH_SEGMENT - 1][index % HASH_SEGMENT];
}

/* Returns the largest power of two that does not exceed `value`. */
static uint32_t power_below(uint32_t value)
{
    return UINT32_C(1) << (31 - (uint32_t)__builtin_clz(value));
}

static uint32_t index_of(const struct hash_table *table, uint64_t hash)
{
    const uint32_t power = power_below(table->buckets);
    const uint32_t index = (uint32_t)hash & (2 * power - 1);

    return index < table->buckets ? index : index & (power - 1);
}

/* Makes sure that the segment of bucket number `buckets` exists. Returns false if out of memory. */
static bool make_segment(struct hash_table *table)
{
    const uint32_t count = segments_of(table) - 1;
    struct hash_node ***segments = table->segments;

    if (table->buckets % HASH_SEGMENT != 0)
        return true;
    if (count == table->room) {
        const uint32_t room = table->room ? 2 * table->room : 16;

        segments = seam.realloc(segments, room * sizeof *segments);
        if (!segments)
            return false;
        table->segments = segments;
        table->room = room;
    }
    segments[count] = seam.calloc(HASH_SEGMENT, sizeof **segments);
    return segments[count] != NULL;
}

static void insert(struct hash_node **at, struct hash_node *node)
{
    node->next = *at;
    node->at = at;
    if (node->next)
        node->next->at = &node->next;
    *at = node;
}

static void unlink_node(struct hash_node *node)
{
    *node->at = node->next;
    if (node->next)
        node->next->at = node->at;
    node->next = NULL;
    node->at = NULL;
}

/* Adds one bucket, and moves the nodes whose hashes now select this bucket. */
static void grow(struct hash_table *table)
{
    const uint32_t index = table->buckets, power = power_below(index);
    struct hash_node *next;

    if (index > UINT32_MAX / 4 || !make_segment(table))
        return;
    table->buckets++;
    for (struct hash_node *node = *bucket(table, index - power); node; node = next) {
        next = node->next;
        if (index_of(table, node->hash) != index)
            continue;
        unlink_node(node);
        insert(bucket(table, index), node);
    }
}

void hash_table_add(struct hash_table *table, struct hash_node *node, uint64_t hash)
{
    if (++table->count > table->buckets)
        grow(table);
    node->hash = hash;
    insert(bucket(table, index_of(table, hash)), node);
}

void hash_table_remove(struct hash_table *table, struct hash_node *node)
{
    if (!node->at)
        return;
    unlink_node(node);
    table->count--;
}

void hash_table_replace(struct hash_node *from, struct hash_node *to)
{
    struct hash_node **at = from->at;

    to->hash = from->hash;
    unlink_node(from);
    insert(at, to);
}

struct hash_node *hash_table_chain(const struct hash_table *table, uint64_t hash)
{
    const uint32_t index = index_of(table, hash);

    if (index < HASH_SEGMENT)
        return table->first[index];
    return table->segments[index / HASH_SEGMENT - 1][index % HASH_SEGMENT];
}

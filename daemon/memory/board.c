/* SPDX-License-Identifier: BSD-3-Clause */
#include "daemon/memory/board.h"

#include <inttypes.h>
#include <stdio.h>

#include "daemon/base/uid.h"
#include "target/profile/profile_rules.h"

enum {
    HOLDERS_NAMED = 3, /* largest holders that a message names */
    HUNDRED = 100      /* percent */
};

void board_init(struct board *board, const struct target_profile *profile)
{
    board->profile = *profile;
    for (uint32_t i = 0; i < PROFILE_MEMORIES_MAX; i++) {
        struct board_memory *memory = &board->memories[i];

        *memory = (struct board_memory){.described = &board->profile.memories[i]};
        link_init(&memory->pieces);
    }
}

struct board_memory *board_memory_of(struct board *board, const struct profile_memory *described)
{
    return &board->memories[described - board->profile.memories];
}

static struct board_piece *piece_of(struct link *link)
{
    return LINK_OWNER(link, struct board_piece, link);
}

/* A free range, as offsets from the base of the memory. `before`: the piece that follows it. */
struct gap {
    uint64_t begin, size;
    struct link *before;
};

/* Sets the range between two pieces, from the first aligned address on. Returns its size. */
static uint64_t measure(struct gap *gap, const struct board_memory *memory, uint64_t begin,
                        struct link *before, uint32_t alignment)
{
    const uint64_t base = memory->described->base;
    const uint64_t end =
        before == &memory->pieces ? memory->described->size : piece_of(before)->address - base;
    const uint64_t excess = (base + begin) & (alignment - 1);
    const uint64_t skipped = excess > 0 ? alignment - excess : 0;

    *gap = (struct gap){.before = before};
    if (end - begin <= skipped)
        return 0;
    gap->begin = begin + skipped;
    gap->size = end - gap->begin;
    return gap->size;
}

/*
 * Finds the smallest free range of at least `bytes`. Returns its size, or 0 if no range is large
 * enough. *largest receives the size of the largest free range.
 */
static uint64_t find_gap(const struct board_memory *memory, uint64_t bytes, struct gap *best,
                         uint64_t *largest)
{
    const uint32_t alignment = profile_range_alignment(memory->described);
    struct link *before = memory->pieces.next;
    uint64_t begin = 0;

    *largest = 0;
    best->size = 0;
    for (;; before = before->next) {
        struct gap gap;
        const uint64_t size = measure(&gap, memory, begin, before, alignment);

        if (size > *largest)
            *largest = size;
        if (size >= bytes && (best->size == 0 || size < best->size))
            *best = gap;
        if (before == &memory->pieces)
            return best->size;
        begin = piece_of(before)->address - memory->described->base + piece_of(before)->size;
    }
}

/* The holders of a memory, for a message. */
struct census {
    const struct board_piece
        *largest[HOLDERS_NAMED]; /* the largest visible pieces; null: no more */
    uint64_t more, more_bytes;   /* count and bytes of the smaller visible pieces */
    uint64_t hidden_bytes;       /* bytes of other users */
};

static void count_visible(struct census *census, const struct board_piece *piece)
{
    for (uint32_t i = 0; i < HOLDERS_NAMED; i++) {
        const struct board_piece *other = census->largest[i];

        if (other && other->size >= piece->size)
            continue;
        census->largest[i] = piece;
        if (!other)
            return;
        piece = other;
    }
    census->more++;
    census->more_bytes += piece->size;
}

static void take_census(struct census *census, const struct board_memory *memory, uid_t reader)
{
    const bool sees_all = uid_is_master(reader);

    *census = (struct census){0};
    for (struct link *l = memory->pieces.next; l != &memory->pieces; l = l->next) {
        const struct board_piece *piece = piece_of(l);

        if (sees_all || piece->holder.uid == reader)
            count_visible(census, piece);
        else
            census->hidden_bytes += piece->size;
    }
}

static const char *const kind_words[] = {"buffer", "job", "prepared job"};

/* Writes "; buffer 3 of client 2 (uid 1000) holds 131072 B; ...". Cuts a text that is too long. */
static void name_holders(char *out, size_t size, const struct census *census)
{
    size_t length = 0;

    out[0] = '\0';
    if (census->hidden_bytes > 0)
        length =
            (size_t)snprintf(out, size, "; other users hold %" PRIu64 " B", census->hidden_bytes);
    for (uint32_t i = 0; i < HOLDERS_NAMED && census->largest[i] && length < size; i++) {
        const struct board_piece *piece = census->largest[i];
        const struct board_holder *holder = &piece->holder;

        length += (size_t)snprintf(out + length, size - length,
                                   "; %s %" PRIu64 " of client %" PRIu64 " (uid %" PRIu32
                                   ") holds %" PRIu64 " B",
                                   kind_words[holder->kind], holder->number, holder->client,
                                   (uint32_t)holder->uid, piece->size);
    }
    if (census->more > 0 && length < size)
        snprintf(out + length, size - length, "; %" PRIu64 " more hold %" PRIu64 " B", census->more,
                 census->more_bytes);
}

static int complain_room(const struct board_memory *memory, const struct board_want *want,
                         uint64_t largest, struct fault *fault)
{
    const struct profile_memory *described = memory->described;
    char holders[FAULT_TEXT_MAX];
    struct census census;

    take_census(&census, memory, want->use->holder.uid);
    name_holders(holders, sizeof holders, &census);
    return fault_set(fault, FAULT_NO_ROOM, want->pointer,
                     "%s: %" PRIu64 " B wanted, but %s has %" PRIu64 " of %" PRIu64
                     " B free, the largest piece %" PRIu64 " B%s",
                     want->name, want->bytes, described->name, described->size - memory->used,
                     described->size, largest, holders);
}

static int complain_occupied(const struct board_want *want, const struct board_piece *piece,
                             struct fault *fault)
{
    const struct board_holder *holder = &piece->holder;
    const uid_t reader = want->use->holder.uid;
    char who[128] = "another user";

    if (uid_is_master(reader) || holder->uid == reader)
        snprintf(who, sizeof who, "%s %" PRIu64 " of client %" PRIu64 " (uid %" PRIu32 ")",
                 kind_words[holder->kind], holder->number, holder->client, (uint32_t)holder->uid);
    return fault_set(fault, FAULT_NO_ROOM, "/address",
                     "address: %" PRIu64 " B wanted at 0x%" PRIx64 ", but %s holds 0x%" PRIx64
                     " to 0x%" PRIx64 " of %s",
                     want->bytes, want->address, who, piece->address,
                     piece->address + piece->size - 1, piece->memory->described->name);
}

/* Finds the place of a piece with an exact address in the list of pieces. */
static int find_exact(const struct board_memory *memory, const struct board_want *want,
                      struct gap *gap, struct fault *fault)
{
    struct link *l = memory->pieces.next;

    if (profile_check_range(memory->described, want->address, want->bytes, fault) < 0) {
        const struct fault bare = *fault;

        return fault_set(fault, bare.code, "/address", "address: %s", bare.text);
    }
    while (l != &memory->pieces && piece_of(l)->address + piece_of(l)->size <= want->address)
        l = l->next;
    if (l != &memory->pieces && piece_of(l)->address < want->address + want->bytes)
        return complain_occupied(want, piece_of(l), fault);
    *gap = (struct gap){.begin = want->address - memory->described->base, .before = l};
    return 0;
}

/* Returns the bytes that a user holds in a memory. */
static uint64_t held_by(const struct board_memory *memory, uid_t uid)
{
    uint64_t bytes = 0;

    for (struct link *l = memory->pieces.next; l != &memory->pieces; l = l->next)
        if (piece_of(l)->holder.uid == uid)
            bytes += piece_of(l)->size;
    return bytes;
}

static int check_quota(const struct board_memory *memory, const struct board_want *want,
                       struct fault *fault)
{
    const uint32_t percent = want->use->percent;
    uint64_t allowed, held;

    if (percent >= HUNDRED)
        return 0;
    /* In two parts: the size times 100 may exceed 64 bits. */
    allowed = memory->described->size / HUNDRED * percent +
              memory->described->size % HUNDRED * percent / HUNDRED;
    held = held_by(memory, want->use->holder.uid);
    if (held <= allowed && want->bytes <= allowed - held)
        return 0;
    return fault_set(fault, FAULT_LIMIT, want->pointer,
                     "quotas.memory_percent: %" PRIu64 " B more of %s requested, this user has "
                     "%" PRIu64 " B, at most %" PRIu64 " B (%" PRIu32 " %%) are allowed",
                     want->bytes, memory->described->name, held, allowed, percent);
}

uint64_t board_largest(const struct board_memory *memory)
{
    struct gap gap;
    uint64_t largest;

    find_gap(memory, UINT64_MAX, &gap, &largest);
    return largest;
}

int board_place(struct board_memory *memory, struct board_piece *piece,
                const struct board_want *want, struct fault *fault)
{
    struct gap gap = {0};
    uint64_t largest;

    if (check_quota(memory, want, fault) < 0)
        return -1;
    if (want->exact) {
        if (find_exact(memory, want, &gap, fault) < 0)
            return -1;
    } else if (find_gap(memory, want->bytes, &gap, &largest) == 0) {
        return complain_room(memory, want, largest, fault);
    }
    *piece = (struct board_piece){
        .memory = memory,
        .address = memory->described->base + gap.begin,
        .size = want->bytes,
        .holder = want->use->holder,
    };
    link_append(gap.before, &piece->link); /* in front of the piece that follows the range */
    memory->used += want->bytes;
    memory->count++;
    return 0;
}

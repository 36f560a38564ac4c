/* SPDX-License-Identifier: BSD-3-Clause */
#include "daemon/memory/board.h"

#include <inttypes.h>
#include <stdio.h>

#include "daemon/base/uid.h"
#include "daemon/memory/board_holders.h"
#include "target/profile/profile_rules.h"

enum { HUNDRED = 100 }; /* percent */

static int order(uint64_t a, uint64_t b)
{
    return (a > b) - (a < b);
}

static int compare_sizes(const struct treap_node *left, const struct treap_node *right)
{
    const struct board_gap *a = TREAP_OWNER(left, struct board_gap, by_size);
    const struct board_gap *b = TREAP_OWNER(right, struct board_gap, by_size);

    return a->usable != b->usable ? order(a->usable, b->usable) : order(a->from, b->from);
}

static int compare_addresses(const struct treap_node *left, const struct treap_node *right)
{
    return order(TREAP_OWNER(left, struct board_gap, by_address)->from,
                 TREAP_OWNER(right, struct board_gap, by_address)->from);
}

static const struct treap_kind by_size = {.compare = compare_sizes};
static const struct treap_kind by_address = {.compare = compare_addresses};

/* Sets the bytes of a gap, which must not be in the tree by size, and adds it there. */
static void add_gap(struct board_memory *memory, struct board_gap *gap, uint64_t from, uint64_t end)
{
    const uint64_t alignment = profile_range_alignment(memory->described);
    const uint64_t excess = (memory->described->base + from) & (alignment - 1);
    const uint64_t skipped = excess > 0 ? alignment - excess : 0;

    gap->from = from;
    gap->end = end;
    gap->usable = end - from > skipped ? end - from - skipped : 0;
    treap_insert(&memory->gaps_by_size, &gap->by_size);
}

void board_init(struct board *board, const struct target_profile *profile)
{
    board->profile = *profile;
    for (uint32_t i = 0; i < PROFILE_MEMORIES_MAX; i++) {
        struct board_memory *memory = &board->memories[i];

        *memory = (struct board_memory){.described = &board->profile.memories[i]};
        link_init(&memory->pieces);
        treap_init(&memory->gaps_by_size, &by_size);
        treap_init(&memory->gaps_by_address, &by_address);
        treap_init(&memory->pieces_by_user, &board_by_user);
        memory->gap.before = &memory->pieces;
        add_gap(memory, &memory->gap, 0, memory->described->size);
        treap_insert(&memory->gaps_by_address, &memory->gap.by_address);
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

/* Returns the gap behind the piece of a link, or the one before the first piece. */
static struct board_gap *gap_behind(struct board_memory *memory, struct link *link)
{
    return link == &memory->pieces ? &memory->gap : &piece_of(link)->gap;
}

/* Finds the smallest gap of at least `bytes` usable bytes, the first of equal ones. Returns 0 or
 * -1.
 */
static int find_gap(struct board_memory *memory, uint64_t bytes, struct board_gap **gap)
{
    const struct board_gap key = {.usable = bytes};
    const struct treap_node *node = treap_from(&memory->gaps_by_size, &key.by_size);

    if (!node)
        return -1;
    *gap = gap_behind(memory, TREAP_OWNER(node, struct board_gap, by_size)->before);
    return 0;
}

/* Returns the last gap that begins at or before an offset. */
static struct board_gap *find_gap_at(struct board_memory *memory, uint64_t offset)
{
    const struct board_gap key = {.from = offset};
    const struct treap_node *node = treap_until(&memory->gaps_by_address, &key.by_address);

    return gap_behind(memory, TREAP_OWNER(node, struct board_gap, by_address)->before);
}

/* Returns the bytes that a request wants of one memory. */
static uint64_t total(const struct board_want *want)
{
    return want->bytes > UINT64_MAX - want->besides ? UINT64_MAX : want->bytes + want->besides;
}

static int complain_room(const struct board_memory *memory, const struct board_want *want,
                         struct fault *fault)
{
    const struct profile_memory *described = memory->described;
    char holders[FAULT_TEXT_MAX], besides[64] = "";

    if (want->besides > 0)
        snprintf(besides, sizeof besides, " besides the %" PRIu64 " B of src.memory",
                 want->besides);
    board_holders_text(holders, sizeof holders, memory, want->use->holder.uid);
    return fault_set(fault, FAULT_NO_ROOM, want->pointer,
                     "%s: %" PRIu64 " B wanted%s, but %s has %" PRIu64 " of %" PRIu64
                     " B free, the largest piece %" PRIu64 " B%s",
                     want->name, want->bytes, besides, described->name,
                     described->size - memory->used, described->size, board_largest(memory),
                     holders);
}

/* Names the holder of an occupied range and its addresses if the user may see them. */
static int complain_occupied(const struct board_want *want, const struct board_piece *piece,
                             struct fault *fault)
{
    const uid_t reader = want->use->holder.uid;
    const char *name = piece->memory->described->name;
    char who[BOARD_HOLDER_TEXT_MAX];

    if (!uid_is_master(reader) && piece->holder.uid != reader)
        return fault_set(fault, FAULT_NO_ROOM, "/address",
                         "address: %" PRIu64 " B wanted at 0x%" PRIx64 ", but another user holds a "
                         "part of them; give another address of %s, or none",
                         want->bytes, want->address, name);
    board_holder_text(who, &piece->holder);
    return fault_set(fault, FAULT_NO_ROOM, "/address",
                     "address: %" PRIu64 " B wanted at 0x%" PRIx64 ", but %s holds 0x%" PRIx64
                     " to 0x%" PRIx64 " of %s",
                     want->bytes, want->address, who, piece->address,
                     piece->address + piece->size - 1, name);
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
    held = board_sums_of_user(memory, want->use->holder.uid).bytes;
    if (held <= allowed && total(want) <= allowed - held)
        return 0;
    return fault_set(fault, FAULT_LIMIT, want->pointer,
                     "quotas.memory_percent: %" PRIu64 " B more of %s requested, this user has "
                     "%" PRIu64 " B, at most %" PRIu64 " B (%" PRIu32 " %%) are allowed",
                     total(want), memory->described->name, held, allowed, percent);
}

int board_refuse(const struct board_memory *memory, const struct board_want *want,
                 struct fault *fault)
{
    return check_quota(memory, want, fault) < 0 ? -1 : complain_room(memory, want, fault);
}

/* Finds the gap with the exact address of a piece. Returns 0, or -1 with *fault filled. */
static int find_exact(struct board_memory *memory, const struct board_want *want,
                      struct board_gap **gap, struct fault *fault)
{
    const uint64_t offset = want->address - memory->described->base;

    if (profile_check_range(memory->described, want->address, want->bytes, fault) < 0) {
        const struct fault bare = *fault;

        fault_set(fault, bare.code, "/address", "address: %s", bare.text);
        return -1;
    }
    *gap = find_gap_at(memory, offset);
    if ((*gap)->end >= offset + want->bytes)
        return 0;
    /* The memory has the whole range, so the gap ends because of a piece. */
    return complain_occupied(want, piece_of((*gap)->before->next), fault);
}

uint64_t board_largest(const struct board_memory *memory)
{
    return TREAP_OWNER(treap_last(&memory->gaps_by_size), struct board_gap, by_size)->usable;
}

/* Places a piece in a gap, at an offset from the base of the memory. */
static void occupy(struct board_memory *memory, struct board_gap *gap, struct board_piece *piece,
                   uint64_t offset, const struct board_want *want)
{
    const uint64_t end = gap->end;

    *piece = (struct board_piece){
        .memory = memory,
        .address = memory->described->base + offset,
        .size = want->bytes,
        .holder = want->use->holder,
        .gap.before = &piece->link,
    };
    link_append(gap->before->next, &piece->link); /* behind the piece before the gap */
    treap_remove(&memory->gaps_by_size, &gap->by_size);
    add_gap(memory, gap, gap->from, offset);
    add_gap(memory, &piece->gap, offset + want->bytes, end);
    treap_insert(&memory->gaps_by_address, &piece->gap.by_address);
    treap_insert(&memory->pieces_by_user, &piece->by_user);
    memory->used += want->bytes;
    memory->count++;
}

int board_place(struct board_memory *memory, struct board_piece *piece,
                const struct board_want *want, struct fault *fault)
{
    struct board_gap *gap = NULL;

    if (check_quota(memory, want, fault) < 0)
        return -1;
    if (want->exact) {
        if (find_exact(memory, want, &gap, fault) < 0)
            return -1;
        occupy(memory, gap, piece, want->address - memory->described->base, want);
        return 0;
    }
    if (find_gap(memory, want->bytes, &gap) < 0)
        return complain_room(memory, want, fault);
    occupy(memory, gap, piece, gap->end - gap->usable, want);
    return 0;
}

void board_remove(struct board_piece *piece)
{
    struct board_memory *memory = piece->memory;
    struct board_gap *before;

    if (!memory)
        return;
    before = gap_behind(memory, piece->link.prev);
    treap_remove(&memory->gaps_by_size, &before->by_size);
    treap_remove(&memory->gaps_by_size, &piece->gap.by_size);
    treap_remove(&memory->gaps_by_address, &piece->gap.by_address);
    treap_remove(&memory->pieces_by_user, &piece->by_user);
    add_gap(memory, before, before->from, piece->gap.end);
    link_remove(&piece->link);
    memory->used -= piece->size;
    memory->count--;
    piece->memory = NULL;
}

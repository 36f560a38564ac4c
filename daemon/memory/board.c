/* SPDX-License-Identifier: BSD-3-Clause */
#include "daemon/memory/board.h"

#include <inttypes.h>
#include <stdio.h>

#include "daemon/base/uid.h"
#include "target/profile/profile_rules.h"

enum { BOARD_HOLDER_TEXT_MAX = 96 };

enum {
    HOLDERS_NAMED = 3,             /* maximum number of holders that a message names */
    PIECES_MAX = 2 * HOLDERS_NAMED /* so many of the largest pieces have at least 3 holders, because
                                      a holder has at most two pieces */
};

/* A holder that a message names, because it holds one of the largest pieces of the memory. */
struct named {
    const struct board_holder *holder;
    uint64_t bytes, count;
};

static const struct board_piece *piece_at(const struct treap_node *node)
{
    return TREAP_OWNER(node, struct board_piece, by_user);
}

static uid_t user_of(const struct treap_node *node)
{
    return piece_at(node)->holder.uid;
}

static int compare(const struct treap_node *left, const struct treap_node *right)
{
    const struct board_piece *a = piece_at(left), *b = piece_at(right);

    if (a->holder.uid != b->holder.uid)
        return a->holder.uid < b->holder.uid ? -1 : 1;
    return (a->address > b->address) - (a->address < b->address);
}

/* Adds the sums of a subtree, which may be empty. */
static void add_subtree(struct board_sums *sums, const struct treap_node *root)
{
    const struct board_sums *more;

    if (!root)
        return;
    more = &piece_at(root)->sums;
    sums->bytes += more->bytes;
    sums->count += more->count;
    sums->largest = more->largest > sums->largest ? more->largest : sums->largest;
}

static void sum(struct treap_node *node)
{
    struct board_piece *piece =
        (struct board_piece *)(void *)((char *)node - offsetof(struct board_piece, by_user));

    piece->sums = (struct board_sums){piece->size, 1, piece->size};
    add_subtree(&piece->sums, node->left);
    add_subtree(&piece->sums, node->right);
}

/* Orders the tree board_memory.pieces_by_user, and computes the sums in its nodes. */
static const struct treap_kind board_by_user = {.compare = compare, .sum = sum};

static void add_piece(struct board_sums *sums, const struct treap_node *node)
{
    sums->bytes += piece_at(node)->size;
    sums->count++;
}

struct board_sums board_sums_of_user(const struct board_memory *memory, uid_t uid)
{
    const struct treap_node *top = memory->pieces_by_user.root;
    struct board_sums sums = {0};

    while (top && user_of(top) != uid)
        top = user_of(top) < uid ? top->right : top->left;
    if (!top)
        return sums;
    add_piece(&sums, top);
    /* `top` belongs to the user. In its left subtree, every node to the right of a node of this
     * user belongs to this user; in its right subtree, every node to the left of one. */
    for (const struct treap_node *node = top->left; node;) {
        if (user_of(node) != uid) {
            node = node->right;
            continue;
        }
        add_piece(&sums, node);
        add_subtree(&sums, node->right);
        node = node->left;
    }
    for (const struct treap_node *node = top->right; node;) {
        if (user_of(node) != uid) {
            node = node->left;
            continue;
        }
        add_piece(&sums, node);
        add_subtree(&sums, node->left);
        node = node->right;
    }
    return sums;
}

/* What a message to one reader says about the holders of a memory: `reader` may not see all. */
struct census {
    uid_t reader;
    bool sees_all;
    const struct board_piece *largest[PIECES_MAX]; /* pieces that the reader may see, then null */
    struct named named[HOLDERS_NAMED]; /* holders to name, the holder of the largest piece first */
    uint32_t named_count;
    struct board_sums more; /* sums over the visible pieces that are not named: pieces of other
                               holders, or smaller pieces */
    uint64_t hidden_bytes;  /* bytes of other users */
};

/* Inserts a piece into the list of the largest pieces, behind pieces of equal size. Call it in the
 * order of users and addresses. */
static void consider(struct census *census, const struct board_piece *piece)
{
    uint32_t at = PIECES_MAX;

    while (at > 0 && (!census->largest[at - 1] || census->largest[at - 1]->size < piece->size))
        at--;
    if (at == PIECES_MAX)
        return;
    for (uint32_t i = PIECES_MAX - 1; i > at; i--)
        census->largest[i] = census->largest[i - 1];
    census->largest[at] = piece;
}

/* Finds the largest visible pieces of a subtree. Skips subtrees that have only smaller pieces. */
static void find_largest(struct census *census, const struct treap_node *node)
{
    const struct board_piece *least = census->largest[PIECES_MAX - 1];

    if (!node || (least && piece_at(node)->sums.largest <= least->size))
        return;
    if (census->sees_all || user_of(node) >= census->reader)
        find_largest(census, node->left);
    if (census->sees_all || user_of(node) == census->reader)
        consider(census, piece_at(node));
    if (census->sees_all || user_of(node) <= census->reader)
        find_largest(census, node->right);
}

static bool is_same_holder(const struct board_holder *a, const struct board_holder *b)
{
    return a->kind == b->kind && a->number == b->number && a->client == b->client &&
           a->uid == b->uid;
}

/* Counts a piece for its holder, and names the holder if fewer than three are named already. */
static void name_holder(struct census *census, const struct board_piece *piece)
{
    uint32_t i = 0;

    while (i < census->named_count && !is_same_holder(census->named[i].holder, &piece->holder))
        i++;
    if (i == HOLDERS_NAMED)
        return;
    if (i == census->named_count)
        census->named[census->named_count++].holder = &piece->holder;
    census->named[i].bytes += piece->size;
    census->named[i].count++;
    census->more.bytes -= piece->size;
    census->more.count--;
}

static void take_census(struct census *census, const struct board_memory *memory, uid_t reader)
{
    *census = (struct census){.reader = reader, .sees_all = uid_is_master(reader)};
    if (census->sees_all)
        census->more = (struct board_sums){.bytes = memory->used, .count = memory->count};
    else
        census->more = board_sums_of_user(memory, reader);
    census->hidden_bytes = memory->used - census->more.bytes;
    find_largest(census, memory->pieces_by_user.root);
    for (uint32_t i = 0; i < PIECES_MAX && census->largest[i]; i++)
        name_holder(census, census->largest[i]);
}

/* Writes "buffer 3 of client 2 (uid 1000)". */
static void board_holder_text(char out[BOARD_HOLDER_TEXT_MAX], const struct board_holder *holder)
{
    static const char *const words[] = {"buffer", "job", "prepared job"};

    snprintf(out, BOARD_HOLDER_TEXT_MAX, "%s %" PRIu64 " of client %" PRIu64 " (uid %" PRIu32 ")",
             words[holder->kind], holder->number, holder->client, (uint32_t)holder->uid);
}

/*
 * Writes "; buffer 3 of client 2 (uid 1000) holds 131072 B; job 7 of client 2 (uid 1000) holds 64 B
 * in 2 ranges; ...": up to three holders of the largest pieces that `reader` may see, and the sums
 * of all other pieces. Cuts a text that is too long.
 */
static void board_holders_text(char *out, size_t size, const struct board_memory *memory,
                               uid_t reader)
{
    struct census census;
    size_t length = 0;

    take_census(&census, memory, reader);
    out[0] = '\0';
    if (census.hidden_bytes > 0)
        length =
            (size_t)snprintf(out, size, "; other users hold %" PRIu64 " B", census.hidden_bytes);
    for (uint32_t i = 0; i < census.named_count && length < size; i++) {
        const struct named *named = &census.named[i];
        char holder[BOARD_HOLDER_TEXT_MAX], ranges[32] = "";

        board_holder_text(holder, named->holder);
        if (named->count > 1)
            snprintf(ranges, sizeof ranges, " in %" PRIu64 " ranges", named->count);
        length += (size_t)snprintf(out + length, size - length, "; %s holds %" PRIu64 " B%s",
                                   holder, named->bytes, ranges);
    }
    if (census.more.count > 0 && length < size)
        snprintf(out + length, size - length, "; %" PRIu64 " more hold %" PRIu64 " B",
                 census.more.count, census.more.bytes);
}

enum { HUNDRED = 100 }; /* percent */

static int order(uint64_t a, uint64_t b)
{
    return (a > b) - (a < b);
}

static int compare_sizes(const struct treap_node *left, const struct treap_node *right);
static const struct treap_kind by_size = {.compare = compare_sizes};

static int compare_sizes(const struct treap_node *left, const struct treap_node *right)
{
    const struct board_gap *a = TREAP_OWNER(left, struct board_gap, by_size);
    const struct board_gap *b = TREAP_OWNER(right, struct board_gap, by_size);

    return a->usable != b->usable ? order(a->usable, b->usable) : order(a->from, b->from);
}

static int compare_addresses(const struct treap_node *left, const struct treap_node *right);
static const struct treap_kind by_address = {.compare = compare_addresses};

static int compare_addresses(const struct treap_node *left, const struct treap_node *right)
{
    return order(TREAP_OWNER(left, struct board_gap, by_address)->from,
                 TREAP_OWNER(right, struct board_gap, by_address)->from);
}

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

/* Returns the gap behind a piece; `link` is the piece's. For &memory->pieces returns the gap before
 * the first piece. */
static struct board_gap *gap_behind(struct board_memory *memory, struct link *link)
{
    return link == &memory->pieces ? &memory->gap : &piece_of(link)->gap;
}

/* Finds the smallest gap of at least `bytes` usable bytes; of equal gaps, the one at the lowest
 * address. Returns 0 or -1. */
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

/* Returns the number of bytes that a request needs in one memory. */
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

/* Names the holder and the addresses of an occupied range, if the user may see the holder. */
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
    /* Computes the share in two parts: the size times 100 may exceed 64 bits. */
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

/* Finds the gap that contains the wanted address range of a piece. Returns 0, or -1 with *fault
 * filled. */
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
    /* The wanted range ends inside the memory and after the gap: a piece must follow the gap. */
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
    link_append(gap->before->next, &piece->link); /* insert the new piece where the gap begins */
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

/* SPDX-License-Identifier: BSD-3-Clause */
#include "daemon/memory/board_holders.h"

#include <inttypes.h>
#include <stdio.h>

#include "daemon/base/uid.h"

enum {
    HOLDERS_NAMED = 3,             /* holders that a message names */
    PIECES_MAX = 2 * HOLDERS_NAMED /* largest pieces among which they are: a job has up to two */
};

/* A holder of one or more of the largest pieces. */
struct named {
    const struct board_holder *holder;
    uint64_t bytes, count;
};

static const struct board_piece *piece_of(const struct treap_node *node)
{
    return TREAP_OWNER(node, struct board_piece, by_user);
}

static uid_t user_of(const struct treap_node *node)
{
    return piece_of(node)->holder.uid;
}

static int compare(const struct treap_node *left, const struct treap_node *right)
{
    const struct board_piece *a = piece_of(left), *b = piece_of(right);

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
    more = &piece_of(root)->sums;
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

const struct treap_kind board_by_user = {.compare = compare, .sum = sum};

static void add_piece(struct board_sums *sums, const struct treap_node *node)
{
    sums->bytes += piece_of(node)->size;
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
    /* Left of `top`, the subtrees on the right of the user's nodes are the user's; and mirrored. */
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

/* The holders of a memory as one reader sees them. */
struct census {
    uid_t reader;
    bool sees_all;
    const struct board_piece *largest[PIECES_MAX]; /* the largest visible pieces; null: no more */
    struct named named[HOLDERS_NAMED]; /* their holders, the holder of the largest piece first */
    uint32_t named_count;
    struct board_sums more; /* visible pieces of other holders, or not among the largest */
    uint64_t hidden_bytes;  /* bytes of other users */
};

/* Adds a piece to the largest ones, behind those of equal size. Pieces come in the order of their
 * users and addresses. */
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

/* Finds the largest visible pieces of a subtree. Skips subtrees without a larger piece. */
static void find_largest(struct census *census, const struct treap_node *node)
{
    const struct board_piece *least = census->largest[PIECES_MAX - 1];

    if (!node || (least && piece_of(node)->sums.largest <= least->size))
        return;
    if (census->sees_all || user_of(node) >= census->reader)
        find_largest(census, node->left);
    if (census->sees_all || user_of(node) == census->reader)
        consider(census, piece_of(node));
    if (census->sees_all || user_of(node) <= census->reader)
        find_largest(census, node->right);
}

static bool is_same_holder(const struct board_holder *a, const struct board_holder *b)
{
    return a->kind == b->kind && a->number == b->number && a->client == b->client &&
           a->uid == b->uid;
}

/* Adds one of the largest pieces to its holder, unless three other holders are named. */
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

void board_holder_text(char out[BOARD_HOLDER_TEXT_MAX], const struct board_holder *holder)
{
    static const char *const words[] = {"buffer", "job", "prepared job"};

    snprintf(out, BOARD_HOLDER_TEXT_MAX, "%s %" PRIu64 " of client %" PRIu64 " (uid %" PRIu32 ")",
             words[holder->kind], holder->number, holder->client, (uint32_t)holder->uid);
}

void board_holders_text(char *out, size_t size, const struct board_memory *memory, uid_t reader)
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

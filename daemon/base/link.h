/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A ring of links. The head is a link too; the head of an empty ring points to itself. A link that
 * is in no other ring is a ring of its own, so removing a link twice does no harm.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

struct link {
    struct link *prev, *next;
};

/** Returns the structure of `type` whose member `member` is the link. */
#define LINK_OWNER(link, type, member) ((type *)(void *)((char *)(link)-offsetof(type, member)))

static inline void link_init(struct link *link)
{
    link->prev = link->next = link;
}

static inline bool link_empty(const struct link *head)
{
    return head->next == head;
}

static inline void link_append(struct link *head, struct link *link)
{
    link->prev = head->prev;
    link->next = head;
    head->prev->next = link;
    head->prev = link;
}

static inline void link_remove(struct link *link)
{
    link->prev->next = link->next;
    link->next->prev = link->prev;
    link_init(link);
}

/** Replaces `from` in its ring by `to`, which is in no ring. */
static inline void link_replace(struct link *from, struct link *to)
{
    link_append(from, to);
    link_remove(from);
}

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A ring of links: the head is a link too, and an empty ring is a head that points at itself. A
 * link on its own is a ring of one, so removing it twice does no harm.
 */
#ifndef DAEMON_LINK_H
#define DAEMON_LINK_H

#include <stdbool.h>
#include <stddef.h>

struct link {
    struct link *prev, *next;
};

/** The structure of `type` whose member `member` the link is. */
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

/** Puts `to`, which is in no ring, in the place of `from`, which is in one and leaves it. */
static inline void link_replace(struct link *from, struct link *to)
{
    link_append(from, to);
    link_remove(from);
}

#endif /* DAEMON_LINK_H */

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Divides limits.clients connections among the users:
 *
 *     +------------------------------------------------+----------+
 *     | open to every user, up to his quota or share   | reserved |
 *     +------------------------------------------------+----------+
 *                                       root and mlid's own user only,
 *                                       when the open slots are refused
 */
#ifndef DAEMON_SLOTS_H
#define DAEMON_SLOTS_H

#include <stdint.h>
#include <sys/types.h>

struct fault;
struct net;

enum slot { SLOT_OPEN, SLOT_RESERVED };

/* Connections by the kind of slot that they hold. */
struct slots {
    uint32_t open, reserved;
};

/** Chooses a slot for a new connection of a user. Returns 0, or -1 with *fault filled (LIMIT). */
int slots_choose(const struct net *net, uid_t uid, enum slot *slot, struct fault *fault);

/** Count a connection that was accepted or closed, by the kind of its slot. */
void slots_take(struct slots *slots, enum slot slot);
void slots_give_back(struct slots *slots, enum slot slot);

static inline uint32_t slots_used(const struct slots *slots)
{
    return slots->open + slots->reserved;
}

#endif /* DAEMON_SLOTS_H */

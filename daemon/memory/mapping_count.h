/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Counts the mappings of each user and decides who may have one more, as slots.h does for
 * connections: most are open to every user up to a share (quota.h), an eighth is reserved for root
 * and the user that the process runs as, when the open ones are refused.
 *
 * A process has one count. Any thread may call everything.
 */
#ifndef DAEMON_MAPPING_COUNT_H
#define DAEMON_MAPPING_COUNT_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct fault;

/* What a mapping holds; null: nothing. */
struct mapping_owner;

struct mapping_claim {
    struct mapping_owner *owner;
    bool reserved; /* one of the reserved mappings */
};

/**
 * Takes one of `max` mappings for a user. Returns 0, or -1 with the code and text of *fault filled
 * (LIMIT, or INTERNAL where memory is short), which are about the member `pointer`.
 */
int mapping_count_take(struct mapping_claim *claim, uid_t uid, uint32_t max, const char *pointer,
                       struct fault *fault);

/** Gives it back. An empty claim is fine; it is empty afterwards. */
void mapping_count_give_back(struct mapping_claim *claim);

#endif /* DAEMON_MAPPING_COUNT_H */

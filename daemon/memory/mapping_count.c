/* SPDX-License-Identifier: BSD-3-Clause */
#include "daemon/memory/mapping_count.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdlib.h>

#include "daemon/base/link.h"
#include "daemon/base/seam.h"
#include "daemon/job/user.h"
#include "daemon/ops/quota.h"
#include "proto/json/fault.h"

enum { RESERVED_PART = 8 };

/* A user with mappings. */
struct mapping_owner {
    struct link link; /* in counts.owners */
    uid_t uid;
    uint32_t mappings;
};

static struct {
    pthread_mutex_t mutex; /* guards the rest */
    struct link owners;
    uint32_t open, reserved; /* mappings, by their kind */
} counts = {
    .mutex = PTHREAD_MUTEX_INITIALIZER,
    .owners = {&counts.owners, &counts.owners},
};

static struct mapping_owner *find(uid_t uid)
{
    for (struct link *l = counts.owners.next; l != &counts.owners; l = l->next) {
        struct mapping_owner *owner = LINK_OWNER(l, struct mapping_owner, link);

        if (owner->uid == uid)
            return owner;
    }
    return NULL;
}

static struct mapping_owner *find_or_add(uid_t uid)
{
    struct mapping_owner *owner = find(uid);

    if (owner)
        return owner;
    owner = seam.calloc(1, sizeof *owner);
    if (!owner)
        return NULL;
    owner->uid = uid;
    link_append(&counts.owners, &owner->link);
    return owner;
}

static int refuse(uid_t uid, uint32_t own, uint32_t max, const char *pointer, struct fault *fault)
{
    return fault_set(fault, FAULT_LIMIT, pointer,
                     "limits.mappings: the service has %" PRIu32 " of %" PRIu32
                     " mappings, %" PRIu32 " of them for user %u, and keeps the rest for others; "
                     "release buffers or prepared jobs, or try again when jobs have ended",
                     counts.open + counts.reserved, max, own, (unsigned)uid);
}

/* With the mutex held. */
static int take(struct mapping_claim *claim, uid_t uid, uint32_t max, const char *pointer,
                struct fault *fault)
{
    const uint32_t kept = max / RESERVED_PART;
    struct mapping_owner *owner = find(uid);
    const uint32_t own = owner ? owner->mappings : 0;
    const bool open = quota_allows(QUOTA_SHARE, own, counts.open, max - kept);

    if (!open && (!uid_is_master(uid) || counts.reserved >= kept))
        return refuse(uid, own, max, pointer, fault);
    owner = find_or_add(uid);
    if (!owner)
        return fault_set(fault, FAULT_INTERNAL, pointer, "no memory to count a mapping");
    owner->mappings++;
    *(open ? &counts.open : &counts.reserved) += 1;
    *claim = (struct mapping_claim){.owner = owner, .reserved = !open};
    return 0;
}

int mapping_count_take(struct mapping_claim *claim, uid_t uid, uint32_t max, const char *pointer,
                       struct fault *fault)
{
    int result;

    pthread_mutex_lock(&counts.mutex);
    result = take(claim, uid, max, pointer, fault);
    pthread_mutex_unlock(&counts.mutex);
    return result;
}

void mapping_count_give_back(struct mapping_claim *claim)
{
    struct mapping_owner *owner = claim->owner;

    if (!owner)
        return;
    pthread_mutex_lock(&counts.mutex);
    *(claim->reserved ? &counts.reserved : &counts.open) -= 1;
    if (--owner->mappings == 0) {
        link_remove(&owner->link);
        free(owner);
    }
    pthread_mutex_unlock(&counts.mutex);
    *claim = (struct mapping_claim){0};
}

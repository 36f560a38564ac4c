/* SPDX-License-Identifier: BSD-3-Clause */
#include "daemon/net/slots.h"

#include <inttypes.h>

#include "daemon/base/uid.h"
#include "daemon/job/jobs.h"
#include "daemon/net/net.h"
#include "proto/json/fault.h"

enum { RESERVED_PART = 4 }; /* at most a quarter of limits.clients is reserved */

static uint32_t reserved_max(const struct config *config)
{
    const uint32_t most = config->clients / RESERVED_PART;

    return config->clients_reserved < most ? config->clients_reserved : most;
}

static int refuse(const struct net *net, uid_t uid, uint32_t quota, uint32_t own,
                  struct fault *fault)
{
    const uint32_t max = net->config->clients;

    if (net->slots.open >= max - reserved_max(net->config))
        return fault_set(fault, FAULT_LIMIT, NULL,
                         "limits.clients: the service has %" PRIu32 " of %" PRIu32
                         " connections; the rest is reserved for root and the service's user: "
                         "try again when another client has left",
                         slots_used(&net->slots), max);
    if (quota != QUOTA_SHARE)
        return fault_set(fault, FAULT_LIMIT, NULL,
                         "quotas: user %u has %" PRIu32 " connections; at most %" PRIu32
                         " are allowed; close one first",
                         (unsigned)uid, own, quota);
    return fault_set(fault, FAULT_LIMIT, NULL,
                     "limits.clients: user %u has %" PRIu32 " of %" PRIu32
                     " connections; the rest is kept for other users: close one first, or have "
                     "quotas allow this user more clients",
                     (unsigned)uid, own, max);
}

int slots_choose(const struct net *net, uid_t uid, enum slot *slot, struct fault *fault)
{
    const struct config *config = net->config;
    const uint32_t reserved = reserved_max(config), quota = config_quota(config, uid)->clients;
    const struct user *user = user_find(&net->jobs->users, uid);
    const uint32_t own = user ? user->clients : 0;

    if (quota_allows(quota, own, net->slots.open, config->clients - reserved)) {
        *slot = SLOT_OPEN;
        return 0;
    }
    if (uid_is_master(uid) && net->slots.reserved < reserved &&
        slots_used(&net->slots) < config->clients) {
        *slot = SLOT_RESERVED;
        return 0;
    }
    return refuse(net, uid, quota, own, fault);
}

void slots_take(struct slots *slots, enum slot slot)
{
    *(slot == SLOT_OPEN ? &slots->open : &slots->reserved) += 1;
}

void slots_give_back(struct slots *slots, enum slot slot)
{
    *(slot == SLOT_OPEN ? &slots->open : &slots->reserved) -= 1;
}

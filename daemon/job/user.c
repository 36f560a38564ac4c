/* SPDX-License-Identifier: BSD-3-Clause */
#include "daemon/job/user.h"

#include <stdlib.h>

#include "daemon/base/seam.h"
#include "daemon/base/uid.h"

void users_init(struct users *users)
{
    *users = (struct users){.idle_count = 0};
    hash_table_init(&users->by_uid);
    link_init(&users->busy);
    link_init(&users->idle);
}

struct user *user_find(const struct users *users, uid_t uid)
{
    struct hash_node *node =
        hash_table_chain(&users->by_uid, hash_table_hash(&users->by_uid, uid, NULL, 0));

    for (; node; node = node->next) {
        struct user *user = LINK_OWNER(node, struct user, by_uid);

        if (user->uid == uid)
            return user;
    }
    return NULL;
}

static struct user *add(struct users *users, uid_t uid)
{
    struct user *user = seam.calloc(1, sizeof *user);

    if (!user)
        return NULL;
    share_init(&user->share);
    user->uid = uid;
    user->master = uid_is_master(uid);
    user->users = users;
    user->account.parent = &users->account;
    link_init(&user->entries);
    shelf_init(&user->shelf);
    link_init(&user->subscribers);
    link_init(&user->connections);
    link_append(&users->busy, &user->link);
    hash_table_add(&users->by_uid, &user->by_uid, hash_table_hash(&users->by_uid, uid, NULL, 0));
    return user;
}

struct user *user_hold(struct users *users, uid_t uid)
{
    struct user *user = user_find(users, uid);

    if (!user)
        user = add(users, uid);
    else if (user->holders == 0) {
        link_remove(&user->link);
        link_append(&users->busy, &user->link);
        users->idle_count--;
    }
    if (user)
        user->holders++;
    return user;
}

static void forget(struct user *user)
{
    hash_table_remove(&user->users->by_uid, &user->by_uid);
    link_remove(&user->link);
    free(user);
}

/* Frees the user that has been idle for longest, if there are too many. */
void user_drop(struct user *user)
{
    struct users *users = user->users;

    if (--user->holders > 0)
        return;
    link_remove(&user->link);
    link_append(&users->idle, &user->link);
    if (++users->idle_count <= USERS_KEPT)
        return;
    users->idle_count--;
    forget(LINK_OWNER(users->idle.next, struct user, link));
}

void users_finish(struct users *users)
{
    for (struct link *l = users->idle.next, *next; l != &users->idle; l = next) {
        next = l->next;
        forget(LINK_OWNER(l, struct user, link));
    }
    hash_table_finish(&users->by_uid);
    users->idle_count = 0;
}

/* Flows */

struct flow *flow_create(struct users *users, uint64_t number, const struct credentials *peer)
{
    struct flow *flow = seam.calloc(1, sizeof *flow);

    if (!flow)
        return NULL;
    flow->user = user_hold(users, peer->uid);
    if (!flow->user) {
        free(flow);
        return NULL;
    }
    flow->number = number;
    flow->pid = peer->pid;
    flow->account.parent = &flow->user->account;
    flow->holders = 1;
    link_init(&flow->tasks);
    link_init(&flow->watches);
    link_init(&flow->subscribers);
    link_init(&flow->dropped_link);
    lanes_init(&flow->lanes, &flow->user->share);
    return flow;
}

void flow_hold(struct flow *flow)
{
    flow->holders++;
}

void flow_drop(struct flow *flow)
{
    if (--flow->holders > 0)
        return;
    user_drop(flow->user);
    free(flow);
}

void flow_log(const struct flow *flow, struct log_line *line)
{
    log_uint(line, "client", flow->number);
    log_uint(line, "pid", (uint64_t)flow->pid);
    log_uint(line, "uid", flow->user->uid);
}

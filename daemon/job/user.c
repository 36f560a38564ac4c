/* SPDX-License-Identifier: BSD-3-Clause */
#include "user.h"

#include <stdlib.h>

#include "seam.h"

struct user *user_hold(struct link *users, uid_t uid)
{
    struct user *user;

    for (struct link *l = users->next; l != users; l = l->next) {
        user = LINK_OWNER(l, struct user, link);
        if (user->uid == uid) {
            user->holders++;
            return user;
        }
    }
    user = seam.calloc(1, sizeof *user);
    if (!user)
        return NULL;
    user->uid = uid;
    user->users = users;
    user->holders = 1;
    link_append(users, &user->link);
    return user;
}

static void forget(struct user *user)
{
    link_remove(&user->link);
    free(user);
}

/* The one that has been without holders for longest, where they are too many. */
static void trim(struct link *users)
{
    struct user *first = NULL;
    uint32_t idle = 0;

    for (struct link *l = users->next; l != users; l = l->next) {
        struct user *user = LINK_OWNER(l, struct user, link);

        if (user->holders > 0)
            continue;
        idle++;
        if (!first)
            first = user;
    }
    if (idle > USERS_KEPT)
        forget(first);
}

void user_drop(struct user *user)
{
    if (--user->holders > 0)
        return;
    link_remove(&user->link);
    link_append(user->users, &user->link);
    trim(user->users);
}

void users_finish(struct link *users)
{
    for (struct link *l = users->next, *next; l != users; l = next) {
        next = l->next;
        forget(LINK_OWNER(l, struct user, link));
    }
}

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
    user->holders = 1;
    link_append(users, &user->link);
    return user;
}

void user_drop(struct user *user)
{
    if (--user->holders > 0)
        return;
    link_remove(&user->link);
    free(user);
}

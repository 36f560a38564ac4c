/* SPDX-License-Identifier: BSD-3-Clause */
#include "daemon/base/chores.h"

void chores_init(struct chores *chores, uv_loop_t *loop)
{
    link_init(&chores->queue);
    uv_idle_init(loop, &chores->idle); /* cannot fail */
    chores->idle.data = chores;
}

void chores_close(struct chores *chores)
{
    uv_close((uv_handle_t *)&chores->idle, NULL);
}

void chore_init(struct chore *chore, void (*run)(struct chore *chore))
{
    link_init(&chore->link);
    chore->run = run;
}

/* Runs each queued chore once. Chores that are added during the call wait for the next round. */
static void on_idle(uv_idle_t *idle)
{
    struct chores *chores = idle->data;
    const uint64_t begin = uv_hrtime();
    struct link now = {&now, &now};

    if (!link_empty(&chores->queue))
        link_replace(&chores->queue, &now);
    while (!link_empty(&now) && uv_hrtime() - begin < CHORE_TURN_NS) {
        struct chore *chore = LINK_OWNER(now.next, struct chore, link);

        link_remove(&chore->link);
        chore->run(chore);
    }
    while (!link_empty(&now)) { /* no time is left: the next round runs these chores first */
        struct link *last = now.prev;

        link_remove(last);
        link_append(chores->queue.next, last);
    }
    if (link_empty(&chores->queue))
        uv_idle_stop(idle);
}

void chore_add(struct chores *chores, struct chore *chore)
{
    link_append(&chores->queue, &chore->link);
    if (!uv_is_active((uv_handle_t *)&chores->idle))
        uv_idle_start(&chores->idle, on_idle);
}

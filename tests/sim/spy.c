/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdlib.h>

#include "proto/json/fault.h"
#include "tests/sim/actors.h"
#include "tests/sim/answers.h"
#include "tests/sim/world.h"

enum { QUESTIONS_MAX = 40, JOBS_SEEN = 64 };

static const struct excuse none;

/* A user must not see the jobs of another user, but may see jobs of the same user. */
static void ask_for_job(const struct actor *actor, mli_client *client)
{
    const mli_client_ref ref = {.number = 1 + world_below(4000)};
    mli_client_error error = {0};
    mli_client_job_info info;
    int code = mli_client_status(client, ref, &info, &error);

    tally.spied++;
    if (code == 0 && info.uid != actor->process.uid)
        world_fail("user %u sees job %llu of user %u", actor->process.uid,
                   (unsigned long long)info.job, info.uid);
    if (code != 0 && code != FAULT_NOT_FOUND)
        answer_check("status", code, &error, &none);
}

static void list_jobs(const struct actor *actor, mli_client *client)
{
    mli_client_query query = {0};
    mli_client_job_info *jobs = NULL;
    size_t count = 0;
    mli_client_error error = {0};
    int code = mli_client_list(client, &query, &jobs, &count, NULL, &error);

    answer_check("list", code, &error, &none);
    if (code != 0)
        return;
    for (size_t i = 0; i < count; i++) {
        if (jobs[i].uid != actor->process.uid)
            world_fail("user %u lists job %llu of user %u", actor->process.uid,
                       (unsigned long long)jobs[i].job, jobs[i].uid);
    }
    free(jobs);
}

/* A user must not be able to administer the service. */
static void overreach(mli_client *client)
{
    mli_client_error error = {0};
    int code = mli_client_drain(client, false, NULL, &error);

    if (code != FAULT_FORBIDDEN && code != MLI_CLIENT_LOST)
        answer_check("drain", code == 0 ? 1 : code, &error, &none);
}

void spy_run(struct actor *actor, mli_client *client)
{
    for (uint32_t i = world_between(1, QUESTIONS_MAX); i > 0 && !actors_are_stopping(); i--) {
        if (!mli_client_connected(client))
            return;
        switch (world_below(4)) {
        case 0:
            list_jobs(actor, client);
            break;
        case 1:
            overreach(client);
            break;
        default:
            ask_for_job(actor, client);
        }
        actor_think(actor);
    }
}

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * job.wait: answers when all given jobs have ended. With `all` these are the unfinished jobs of the
 * connection: job.wait then watches the connection's flow, not each job, and writes its reply in
 * slices of the loop's time, so that no call takes longer with more jobs.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <uv.h>

#include "daemon/base/seam.h"
#include "daemon/job/history.h"
#include "daemon/net/net.h"
#include "proto/wire/methods.h"

enum { BRIEF_MAX = 64 }; /* maximum bytes that one job takes in a reply with several jobs */

/* The common members of both kinds of wait. */
struct wait {
    struct pending pending; /* first */
    struct jobs *jobs;
    uint32_t timeout_ms;
    uv_timer_t timer; /* timer; started only if the request has a timeout */
};

static void on_closed(uv_handle_t *timer)
{
    free(timer->data);
}

/* Frees the wait, and the structure that begins with it. */
static void wait_free(struct wait *wait)
{
    if (wait->timer.data)
        uv_close((uv_handle_t *)&wait->timer, on_closed);
    else
        free(wait);
}

static void start_timer(struct wait *wait, uv_timer_cb on_timer)
{
    uv_loop_t *loop = wait->jobs->loop;

    if (wait->timeout_ms == 0)
        return;
    uv_timer_init(loop, &wait->timer); /* cannot fail */
    wait->timer.data = wait;
    uv_update_time(loop); /* the timer counts from the loop's time, which may be old */
    uv_timer_start(&wait->timer, on_timer, wait->timeout_ms, 0);
}

/* Removes and frees the wait, which was answered. */
static void finish(struct wait *wait)
{
    pending_remove(&wait->pending);
    wait->pending.drop(&wait->pending);
}

static void time_out(struct wait *wait, uint32_t left, uint32_t count)
{
    struct fault fault;

    fault_set(&fault, FAULT_TIMED_OUT, "/timeout_ms",
              "timeout_ms: %" PRIu32 " of %" PRIu32 " jobs have not ended after %" PRIu32 " ms",
              left, count, wait->timeout_ms);
    answer_fault(&wait->pending.answer, &fault);
    finish(wait);
}

/* Marks the job's record as delivered. */
static void note_delivered(const struct wait *wait, uint64_t job)
{
    struct entry *entry = registry_find(&wait->jobs->registry, job);

    if (entry && entry->ended)
        history_delivered((struct record *)(void *)entry /* first member of struct record */);
}

static void write_brief(const struct wait *wait, struct jsonw *w, const struct job_brief *brief)
{
    note_delivered(wait, brief->job);
    jsonw_object_begin(w, NULL);
    job_brief_write_members(w, brief);
    jsonw_object_end(w);
}

static const struct ended *refuse_for_memory(struct call *call)
{
    fault_set(&call->request->fault, FAULT_INTERNAL, NULL, "no memory to wait");
    return call_refuse(call);
}

/* Waiting for jobs by number or name. */

/* One job to wait for. */
struct item {
    struct watch watch; /* first */
    struct named_wait *wait;
    struct job_brief brief; /* data of the job; the state is set when the job has ended */
};

struct named_wait {
    struct wait wait; /* first */
    bool several;  /* true: the reply is a list of jobs; false: the reply is that of job.submit */
    uint32_t left; /* number of jobs that have not ended */
    uint64_t expected;      /* upper bound of the bytes of the reply */
    const struct item *bad; /* the first job that failed or was cancelled; null: none */
    struct fault fault;     /* fault of the job `bad` */
    uint32_t count;
    struct item items[];
};

/* Stops waiting, and frees the wait. */
static void drop_named(struct pending *pending)
{
    struct named_wait *named = (struct named_wait *)(void *)pending;

    for (uint32_t i = 0; i < named->count; i++)
        link_remove(&named->items[i].watch.link);
    wait_free(&named->wait);
}

static const struct ended *answer_list(struct answer *answer, const struct named_wait *named)
{
    struct jsonw *w;

    if (named->bad) {
        note_delivered(&named->wait, named->bad->brief.job);
        return answer_job_fault(answer, &named->fault, named->bad->brief.job);
    }
    w = answer_begin(answer, 0);
    if (w)
        jsonw_array_begin(w, "jobs");
    for (uint32_t i = 0; w && i < named->count; i++)
        write_brief(&named->wait, w, &named->items[i].brief);
    if (w)
        jsonw_array_end(w);
    return answer_end(answer, w);
}

static const struct ended *answer_one(struct answer *answer, const struct named_wait *named,
                                      const struct job_result *result, const struct fault *fault)
{
    note_delivered(&named->wait, named->items[0].brief.job);
    return fault ? answer_fault(answer, fault) : answer_result(answer, result);
}

/* Stores the end of a job. `fault` is null if the job is done. */
static void note(struct named_wait *named, struct item *item, enum job_state state,
                 const struct fault *fault)
{
    item->brief.state = state;
    if (!fault || (named->bad && named->bad < item))
        return;
    named->bad = item;
    named->fault = *fault;
}

static void on_item_ended(struct watch *watch, const struct ending *ending)
{
    struct item *item = (struct item *)(void *)watch /* first member of struct item */;
    struct named_wait *named = item->wait;
    struct answer *answer = &named->wait.pending.answer;

    note(named, item, ending->state, ending->fault);
    if (--named->left > 0)
        return;
    if (named->several)
        answer_list(answer, named);
    else
        answer_one(answer, named, ending->result, ending->fault);
    finish(&named->wait);
}

static void on_named_timer(uv_timer_t *timer)
{
    struct named_wait *named = timer->data;
    struct wait *wait = &named->wait;
    const struct entry *entry = registry_find(&wait->jobs->registry, named->items[0].brief.job);
    struct fault fault;

    if (named->several || !entry) {
        time_out(wait, named->left, named->count);
        return;
    }
    fault_set(&fault, FAULT_TIMED_OUT, "/timeout_ms",
              "timeout_ms: job %" PRIu64 " is still %s after %" PRIu32 " ms", entry->number,
              job_state_name(entry_state(entry)), wait->timeout_ms);
    answer_fault(&wait->pending.answer, &fault);
    finish(wait);
}

/* Returns why a job failed or was cancelled, or NULL if it is done. */
static const struct fault *fault_of(const struct record *record, struct fault *storage)
{
    if (record->state == JOB_STATE_DONE || record->fault)
        return record->fault;
    if (record->state == JOB_STATE_CANCELLED)
        fault_set(storage, FAULT_CANCELLED, NULL, "the job was cancelled");
    else
        fault_set(storage, FAULT_INTERNAL, NULL,
                  "the job failed, and there was no memory to keep the reason");
    return storage;
}

static void add(struct named_wait *named, const struct entry *entry)
{
    struct item *item = &named->items[named->count++];
    struct fault fault;

    link_init(&item->watch.link);
    item->watch.ended = on_item_ended;
    item->wait = named;
    item->brief.job = entry->number;
    if (entry->ended) {
        const struct record *record = entry_record(entry);

        note(named, item, record->state, fault_of(record, &fault));
    } else {
        link_append(&entry_task(entry)->watches, &item->watch.link);
        named->expected += named->several ? BRIEF_MAX : submission_reply_max(entry_task(entry));
        named->left++;
    }
}

/* Adds the jobs that the request names. Returns 0, or -1 with *fault filled. */
static int add_named(struct named_wait *named, const struct client *client,
                     const struct job_wait *params, struct fault *fault)
{
    for (uint32_t i = 0; i < params->jobs.count; i++) {
        const struct ref_place place = {
            .member = named->several ? "jobs" : "job",
            .index = named->several ? (int)i : -1,
        };
        const struct entry *entry =
            refs_find(&client->session, &params->jobs.refs[i], &place, fault);

        if (!entry)
            return -1;
        add(named, entry);
    }
    return 0;
}

/* Answers at once: all jobs have ended. */
static const struct ended *answer_now(struct call *call, const struct named_wait *named)
{
    const struct registry *registry = &named->wait.jobs->registry;

    if (named->several)
        return answer_list(&call->answer, named);
    return answer_one(&call->answer, named,
                      &entry_record(registry_find(registry, named->items[0].brief.job))->result,
                      named->bad ? &named->fault : NULL);
}

static const struct ended *wait_for_named(struct call *call, const struct job_wait *params)
{
    struct named_wait *named =
        seam.calloc(1, sizeof *named + params->jobs.count * sizeof *named->items);
    struct pending *pending;
    const struct ended *ended;

    if (!named)
        return refuse_for_memory(call);
    pending = &named->wait.pending;
    named->wait.jobs = call->client->net->jobs;
    named->wait.timeout_ms = params->timeout_ms;
    named->several = params->what != JOB_WAIT_ONE;
    if (add_named(named, call->client, params, &call->request->fault) < 0 ||
        (named->left > 0 && pending_check(call) < 0)) {
        ended = call_refuse(call);
    } else if (named->left == 0) {
        ended = answer_now(call, named);
    } else {
        start_timer(&named->wait, on_named_timer);
        return pending_add(pending, call, named->expected, drop_named);
    }
    drop_named(pending);
    return ended;
}

/* Waiting for all jobs of the connection. */

struct wait_all {
    struct wait wait;   /* first */
    struct watch watch; /* is told the end of each job of the connection */
    uint64_t last;      /* number of the latest job to wait for */
    uint64_t bad;       /* number of the first job that failed or was cancelled; 0: no such job */
    struct fault fault; /* fault of the job `bad` */
    struct chore chore; /* writes the reply */
    struct jsonw w;     /* text of the reply */
    uint32_t written;   /* number of jobs that the reply has */
    uint32_t count;     /* number of jobs to wait for */
    uint32_t ended;     /* number of these jobs that have ended */
    uint64_t numbers[]; /* numbers of the jobs that have ended, in order */
};

/* Stops waiting, and frees the wait. */
static void drop_all(struct pending *pending)
{
    struct wait_all *all = (struct wait_all *)(void *)pending;

    link_remove(&all->watch.link);
    chore_remove(&all->chore);
    jsonw_finish(&all->w);
    wait_free(&all->wait);
}

static void on_chore(struct chore *chore)
{
    struct wait_all *all = LINK_OWNER(chore, struct wait_all, chore);
    const uint64_t begin = uv_hrtime();

    while (all->written < all->count) {
        write_brief(
            &all->wait, &all->w,
            &(struct job_brief){.job = all->numbers[all->written++], .state = JOB_STATE_DONE});
        if (uv_hrtime() - begin < CHORE_SLICE_NS)
            continue;
        chore_add(all->wait.jobs->chores, chore);
        return;
    }
    jsonw_array_end(&all->w);
    rpc_result_end(&all->w);
    answer_text(&all->wait.pending.answer, &all->w);
    finish(&all->wait);
}

/* All jobs have ended: answers now if a job failed, else in later rounds of the loop. */
static void answer_all(struct wait_all *all)
{
    struct answer *answer = &all->wait.pending.answer;

    link_remove(&all->watch.link);
    if (all->wait.timer.data)
        uv_timer_stop(&all->wait.timer);
    if (all->bad) {
        note_delivered(&all->wait, all->bad);
        answer_job_fault(answer, &all->fault, all->bad);
        finish(&all->wait);
        return;
    }
    rpc_result_begin(&all->w, &answer->id, 0);
    jsonw_array_begin(&all->w, "jobs");
    chore_add(all->wait.jobs->chores, &all->chore);
}

/* Inserts the number of a job. Most jobs end in the order of their numbers. */
static void insert(struct wait_all *all, uint64_t job)
{
    uint32_t at = all->ended, later;

    while (at > 0 && all->numbers[at - 1] > job)
        at--;
    later = all->ended++ - at;
    memmove(&all->numbers[at + 1], &all->numbers[at], later * sizeof *all->numbers);
    all->numbers[at] = job;
}

static void on_any_ended(struct watch *watch, const struct ending *ending)
{
    struct wait_all *all = LINK_OWNER(watch, struct wait_all, watch);
    const uint64_t job = ending->task->entry.number;

    if (job > all->last)
        return;
    insert(all, job);
    if (ending->fault && (all->bad == 0 || job < all->bad)) {
        all->bad = job;
        all->fault = *ending->fault;
    }
    if (all->ended == all->count)
        answer_all(all);
}

static void on_all_timer(uv_timer_t *timer)
{
    struct wait_all *all = timer->data;

    time_out(&all->wait, all->count - all->ended, all->count);
}

static const struct ended *answer_empty(struct call *call)
{
    struct jsonw *w = answer_begin(&call->answer, 0);

    if (w) {
        jsonw_array_begin(w, "jobs");
        jsonw_array_end(w);
    }
    return answer_end(&call->answer, w);
}

static const struct ended *wait_for_all(struct call *call, uint32_t timeout_ms)
{
    struct flow *flow = call->client->session.flow;
    struct wait_all *all;

    if (flow->unfinished == 0)
        return answer_empty(call);
    if (pending_check(call) < 0)
        return call_refuse(call);
    all = seam.calloc(1, sizeof *all + flow->unfinished * sizeof *all->numbers);
    if (!all)
        return refuse_for_memory(call);
    all->wait.jobs = call->client->net->jobs;
    all->wait.timeout_ms = timeout_ms;
    all->last = all->wait.jobs->last_job;
    all->count = flow->unfinished;
    all->watch.ended = on_any_ended;
    link_init(&all->watch.link);
    link_append(&flow->watches, &all->watch.link);
    chore_init(&all->chore, on_chore);
    jsonw_init(&all->w);
    start_timer(&all->wait, on_all_timer);
    return pending_add(&all->wait.pending, call, (uint64_t)all->count * BRIEF_MAX, drop_all);
}

const struct ended *job_wait_call(struct call *call)
{
    const struct ended *ended;
    struct job_wait params;

    if (job_wait_read(&call->request->params, &params) < 0)
        return call_refuse(call);
    if (params.what == JOB_WAIT_ALL)
        ended = wait_for_all(call, params.timeout_ms);
    else
        ended = wait_for_named(call, &params);
    job_wait_finish(&params);
    return ended;
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests finding the job that a request names, and the descriptions of tasks and records. */
#include "daemon/job/jobs.h"

#include <string.h>
#include <uv.h>

#include "daemon/job/history.h"
#include "tests/support/unit.h"

enum { ALICE = 1000, BOB = 1001, ROOT = 0, CLIENT = 7, BYTES = 24 };

static struct users users;
static struct user *alice, *bob, *root;
static struct flow *flow;
static struct work *work;
static struct task task; /* a task that belongs to alice */
static struct jobs jobs;
static struct session session;

static int setup(void **state)
{
    const struct credentials peer = {.uid = ALICE};

    (void)state;
    users_init(&users);
    alice = user_hold(&users, ALICE);
    bob = user_hold(&users, BOB);
    root = user_hold(&users, ROOT);
    flow = flow_create(&users, CLIENT, &peer);
    work = work_create();
    work->job.common.channels = 3;
    work->operands.bytes = BYTES;
    task = (struct task){.entry = {.number = 42, .client = CLIENT, .name = "tile", .user = alice},
                         .flow = flow,
                         .work = work,
                         .state = JOB_STATE_QUEUED,
                         .priority = -1,
                         .detached = true,
                         .first_channel = -1,
                         .admitted = 1000};
    registry_init(&jobs.registry);
    registry_add(&jobs.registry, &task.entry);
    session = (struct session){.jobs = &jobs, .flow = flow};
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    registry_remove(&jobs.registry, &task.entry);
    registry_finish(&jobs.registry);
    work_drop(work);
    flow_drop(flow);
    user_drop(root);
    user_drop(bob);
    user_drop(alice);
    users_finish(&users);
    return 0;
}

static struct record *make_record(void)
{
    struct record *record = record_create(&task.entry, NULL);

    assert_non_null(record);
    record->state = JOB_STATE_CANCELLED;
    record->bytes = 77;
    return record;
}

static void test_an_entry_is_in_a_task_or_in_a_record(void **state)
{
    struct record *record = make_record();

    (void)state;
    assert_ptr_equal(entry_task(&task.entry), &task);
    assert_null(entry_record(&task.entry));
    assert_int_equal(entry_state(&task.entry), JOB_STATE_QUEUED);
    assert_null(entry_task(&record->entry));
    assert_ptr_equal(entry_record(&record->entry), record);
    assert_int_equal(entry_state(&record->entry), JOB_STATE_CANCELLED);
    record_free(record);
}

static void test_users_see_their_own_jobs_and_root_sees_all(void **state)
{
    (void)state;
    assert_true(refs_visible(alice, &task.entry));
    assert_true(refs_visible(root, &task.entry));
    assert_false(refs_visible(bob, &task.entry));
    task.entry.user = root;
    assert_false(refs_visible(alice, &task.entry));
    task.entry.user = alice;
}

static void test_words_of_a_place(void **state)
{
    struct ref_words words;

    (void)state;
    ref_place_words(&(struct ref_place){"job", -1}, &words);
    assert_string_equal(words.pointer, "/job");
    assert_string_equal(words.name, "job");
    ref_place_words(&(struct ref_place){"after", 0}, &words);
    assert_string_equal(words.pointer, "/after/0");
    assert_string_equal(words.name, "after[0]");
    ref_place_words(&(struct ref_place){"after", 12}, &words);
    assert_string_equal(words.pointer, "/after/12");
    assert_string_equal(words.name, "after[12]");
}

static void expect_not_found(const struct job_ref *ref, int index, const char *pointer,
                             const char *text)
{
    const struct ref_place place = {index < 0 ? "job" : "jobs", index};
    struct fault fault = {0};

    assert_null(refs_find(&session, ref, &place, &fault));
    assert_int_equal(fault.code, FAULT_NOT_FOUND);
    assert_string_equal(fault.pointer, pointer);
    assert_string_equal(fault.text, text);
}

static void test_jobs_are_found_by_number_and_by_name(void **state)
{
    const struct ref_place place = {"job", -1};
    struct fault fault = {0};

    (void)state;
    assert_ptr_equal(refs_find(&session, &(struct job_ref){.number = 42}, &place, &fault),
                     &task.entry);
    assert_ptr_equal(
        refs_find(&session, &(struct job_ref){.name = (char[]){"tile"}}, &place, &fault),
        &task.entry);
    expect_not_found(&(struct job_ref){.number = 41}, -1, "/job",
                     "job: there is no job 41; it may have been forgotten");
    expect_not_found(&(struct job_ref){.name = (char[]){"tail"}}, 3, "/jobs/3",
                     "jobs[3]: this connection has no job \"tail\"; it may have been forgotten");
}

/* The error does not reveal that another user has a job with this number. */
static void test_jobs_of_others_are_not_found(void **state)
{
    (void)state;
    task.entry.user = bob;
    expect_not_found(&(struct job_ref){.number = 42}, -1, "/job",
                     "job: there is no job 42; it may have been forgotten");
    task.entry.user = alice;
}

static void test_description_of_a_waiting_task(void **state)
{
    struct job_info info;

    (void)state;
    task_info(&task, NULL, 1500, true, &info);
    assert_int_equal(info.job, 42);
    assert_string_equal(info.name, "tile");
    assert_int_equal(info.state, JOB_STATE_QUEUED);
    assert_int_equal(info.client, CLIENT);
    assert_int_equal(info.uid, ALICE);
    assert_int_equal(info.priority, -1);
    assert_int_equal(info.channels, 3);
    assert_int_equal(info.first_channel, -1);
    assert_int_equal(info.bytes, BYTES);
    assert_int_equal(info.bytes_done, 0);
    assert_true(info.detached);
    assert_int_equal(info.ns_queued, 500);
    assert_int_equal(info.ns_moving, 0);
    assert_null(info.error);
    task.entry.name = NULL;
    task_info(&task, NULL, 1500, true, &info);
    assert_string_equal(info.name, "");
    task.entry.name = "tile";
}

static void test_description_of_an_ended_task(void **state)
{
    struct fault fault;
    const struct ending ending = {
        .task = &task, .state = JOB_STATE_FAILED, .fault = &fault, .bytes_done = 9};
    struct job_info info;

    (void)state;
    fault_set(&fault, FAULT_LIMIT, NULL, "too late");
    task.end.started = 1200;
    task_info(&task, &ending, 1500, true, &info);
    assert_int_equal(info.state, JOB_STATE_FAILED);
    assert_ptr_equal(info.error, &fault);
    assert_int_equal(info.bytes_done, 9);
    assert_int_equal(info.ns_queued, 200);
    assert_int_equal(info.ns_moving, 300);
    task.end.started = 0;
}

/* Moves BYTES bytes with the handle of the task. */
static void move(int8_t *from, int8_t *to)
{
    mli_tensor src = {.data = {.capacity = BYTES, .mem.pi8 = from},
                      .rank = 1,
                      .el_type = MLI_EL_FX_8,
                      .shape = {BYTES}};
    mli_tensor dst = {.data = {.capacity = BYTES, .mem.pi8 = to}};
    mli_mov_cfg_t cfg;

    assert_ok(mli_mov_cfg_for_copy(&cfg));
    assert_ok(mli_mov_prepare(&task.handle, &src, &cfg, &dst));
    assert_ok(mli_mov_start(&task.handle, NULL, NULL, NULL));
    assert_ok(mli_mov_wait(&task.handle));
}

static void test_progress_is_asked_for_on_request(void **state)
{
    int8_t from[BYTES] = {1}, to[BYTES] = {0};
    struct job_info info;

    (void)state;
    assert_ok(mli_mov_set_num_dma_ch(0, 1));
    assert_ok(mli_mov_acquire_handle(1, &task.handle));
    move(from, to);
    task.state = JOB_STATE_RUNNING;
    task_info(&task, NULL, 1500, false, &info);
    assert_int_equal(info.bytes_done, 0);
    task_info(&task, NULL, 1500, true, &info);
    assert_int_equal(info.bytes_done, BYTES);
    entry_info(&task.entry, &info);
    assert_int_equal(info.bytes_done, BYTES);
    assert_ok(mli_mov_release_handle(&task.handle));
    assert_ok(mli_mov_set_num_dma_ch(0, 0));
}

static void test_entry_info_describes_tasks_and_records(void **state)
{
    struct record *record = make_record();
    struct job_info info;

    (void)state;
    task.admitted = uv_hrtime();
    entry_info(&task.entry, &info);
    assert_int_equal(info.state, JOB_STATE_QUEUED);
    assert_int_equal(info.bytes, BYTES);
    assert_true(info.ns_queued < UINT64_C(60) * 1000 * 1000 * 1000);
    entry_info(&record->entry, &info);
    assert_int_equal(info.state, JOB_STATE_CANCELLED);
    assert_int_equal(info.bytes, 77);
    assert_string_equal(info.name, "tile");
    record_free(record);
}

#define TEST(test) cmocka_unit_test_setup_teardown(test, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_an_entry_is_in_a_task_or_in_a_record),
        TEST(test_users_see_their_own_jobs_and_root_sees_all),
        TEST(test_words_of_a_place),
        TEST(test_jobs_are_found_by_number_and_by_name),
        TEST(test_jobs_of_others_are_not_found),
        TEST(test_description_of_a_waiting_task),
        TEST(test_description_of_an_ended_task),
        TEST(test_progress_is_asked_for_on_request),
        TEST(test_entry_info_describes_tasks_and_records),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

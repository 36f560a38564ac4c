/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests the library and the real service in one process. */
#define _GNU_SOURCE
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "daemon/config/config.h"
#include "daemon/service.h"
#include "mli_client.h"
#include "tests/support/proto_unit.h"

struct fixture {
    struct service_thread *service;
    mli_client *client;
    mli_client_error error;
};

#define assert_done(call)                                                                          \
    do {                                                                                           \
        if ((call) != 0)                                                                           \
            fail_msg("%s: %s: %s", #call, f->error.name, f->error.message);                        \
    } while (0)

static int setup(void **state)
{
    struct fixture *f = calloc(1, sizeof(*f));
    struct config config;
    int socket;

    config_defaults(&config);
    config.log_level = 3;
    assert_int_equal(service_thread_start(&config, &f->service, &socket), 0);
    assert_done(mli_client_adopt(socket, 0, &f->client, &f->error));
    *state = f;
    return 0;
}

static int teardown(void **state)
{
    struct fixture *f = *state;

    mli_client_close(f->client);
    service_thread_stop(f->service);
    free(f);
    return 0;
}

/* Describes a 2 x 3 transpose in a buffer: from byte 0 to byte 64. */
static void describe(mli_client_job *job, const mli_client_buffer *buffer)
{
    mli_client_job_init(job);
    job->src = (mli_tensor){.rank = 2, .shape = {2, 3}, .el_type = MLI_EL_FX_8};
    job->src_memory.buffer = job->dst_memory.buffer = buffer->id;
    job->dst_memory.offset = 64;
    job->cfg.perm_dim[0] = 1;
    job->cfg.perm_dim[1] = 0;
}

static void test_greeting(void **state)
{
    struct fixture *f = *state;
    mli_client_greeting greeting;
    mli_client_info info;
    mli_client_stats stats;

    assert_done(mli_client_greet(f->client, &greeting, &f->error));
    assert_int_equal(greeting.protocol, 1);
    assert_int_equal(greeting.prepared, 256);
    assert_done(mli_client_ping(f->client, &f->error));
    assert_done(mli_client_get_info(f->client, &info, &f->error));
    assert_int_equal(info.pid, getpid());
    assert_int_equal(info.phase, MLI_CLIENT_SERVING);
    assert_done(mli_client_get_stats(f->client, &stats, &f->error));
    assert_int_equal(stats.channel_count, info.channels);
}

static void count(mli_client *client, mli_client_ticket ticket, const mli_client_result *result,
                  const mli_client_error *error, void *user)
{
    (void)client;
    (void)ticket;
    if (error)
        fail_msg("%s", error->message);
    assert_int_equal(result->bytes, 6);
    ++*(int *)user;
}

static void test_many_starts(void **state)
{
    enum { COUNT = 20000, CROWD = 200 };
    struct fixture *f = *state;
    mli_client_buffer buffer;
    mli_client_prepared prepared;
    mli_client_job job;
    mli_client_ticket ticket;
    int done = 0;
    assert_done(mli_client_buffer_alloc(f->client, 4096, &buffer, &f->error));
    memcpy(buffer.address, "abcdef", 6);
    describe(&job, &buffer);
    assert_done(mli_client_prepare(f->client, &job, &prepared, &f->error));
    assert_int_equal(prepared.bytes, 6);
    assert_int_equal(prepared.dst.shape[0], 3);
    for (int i = 0; i < COUNT; i++) {
        mli_client_start_args args = {.prepared = prepared.id};
        args.dst.has_offset = true;
        args.dst.offset = 64 + 8 * ((uint64_t)i % CROWD);
        while (i - done >= CROWD)
            assert_done(mli_client_wait_pending(f->client, -1, &f->error));
        assert_done(mli_client_start(f->client, &args, count, &done, &ticket, &f->error));
    }
    assert_done(mli_client_wait_pending(f->client, -1, &f->error));
    assert_int_equal(done, COUNT);
    for (int i = 0; i < CROWD; i++)
        assert_memory_equal((char *)buffer.address + 64 + 8 * i, "adbecf\0", 8);
    /* The error of a refused job has a JSON pointer to the wrong member. */
    mli_client_start_args args = {.prepared = prepared.id, .dst = {.buffer = 99}};
    assert_done(mli_client_start(f->client, &args, NULL, NULL, &ticket, &f->error));
    assert_int_equal(mli_client_wait(f->client, ticket, -1, NULL, &f->error), -32012);
    assert_string_equal(f->error.name, "NOT_FOUND");
    assert_done(mli_client_prepared_release(f->client, &prepared, &f->error));
    assert_done(mli_client_buffer_release(f->client, &buffer, &f->error));
}

static void test_descriptors(void **state)
{
    struct fixture *f = *state;
    mli_client_ticket tickets[100];
    mli_client_result result;
    mli_client_job job;
    int fds[100];

    for (int i = 0; i < 100; i++) {
        fds[i] = memfd_create("test", MFD_CLOEXEC);
        int file = dup(fds[i]);
        char bytes[16] = {(char)i, 1, 2, 3, 4, 5};
        assert_int_equal(write(file, bytes, 16), 16);
        mli_client_job_init(&job);
        job.src = (mli_tensor){.rank = 1, .shape = {6}, .el_type = MLI_EL_FX_8};
        job.src_memory.fd = job.dst_memory.fd = file; /* one descriptor for both tensors */
        job.dst_memory.offset = 8;
        assert_done(mli_client_submit_async(f->client, &job, NULL, NULL, &tickets[i], &f->error));
        close(file);
    }
    for (int i = 99; i >= 0; i--) {
        char bytes[16];
        assert_done(mli_client_wait(f->client, tickets[i], -1, &result, &f->error));
        assert_true(result.has_dst);
        mli_client_result_free(&result);
        assert_int_equal(pread(fds[i], bytes, 16, 0), 16);
        assert_memory_equal(bytes, bytes + 8, 6);
        assert_int_equal(bytes[8], i);
        close(fds[i]);
    }
}

static void test_looking_after_jobs(void **state)
{
    struct fixture *f = *state;
    mli_client_buffer buffer;
    mli_client_job job;
    mli_client_job_info info, *list;
    mli_client_result result;
    enum mli_client_state ended;
    enum mli_client_phase phase;
    size_t length;
    uint64_t number;
    bool more;

    assert_done(mli_client_buffer_alloc(f->client, 4096, &buffer, &f->error));
    describe(&job, &buffer);
    job.name = "first";
    assert_done(mli_client_submit_detached(f->client, &job, &number, &f->error));
    const mli_client_ref first = {.name = "first"}, same = {.number = number}, none = {.number = 9};
    job.name = NULL;
    job.after = &first;
    job.after_count = 1;
    assert_done(mli_client_submit(f->client, &job, NULL, &f->error));
    assert_done(mli_client_wait_job(f->client, same, 0, &result, &f->error));
    assert_int_equal(result.job, number);
    mli_client_result_free(&result);
    assert_done(mli_client_wait_jobs(f->client, &same, 1, 0, &f->error));
    assert_done(mli_client_wait_jobs(f->client, NULL, 0, 0, &f->error));
    assert_done(mli_client_status(f->client, first, &info, &f->error));
    assert_int_equal(info.job, number);
    assert_int_equal(info.state, MLI_CLIENT_DONE);
    assert_string_equal(info.name, "first");
    assert_true(info.detached);
    assert_done(mli_client_cancel(f->client, same, &ended, &f->error));
    assert_int_equal(ended, MLI_CLIENT_DONE);
    assert_int_equal(mli_client_status(f->client, none, &info, &f->error), -32012);
    const mli_client_query query = {.states = 1 << MLI_CLIENT_DONE, .limit = 1};
    assert_done(mli_client_list(f->client, &query, &list, &length, &more, &f->error));
    assert_int_equal(length, 1);
    assert_true(more);
    assert_int_equal(list[0].job, number + 1);
    free(list);
    assert_done(mli_client_drain(f->client, true, &phase, &f->error));
    assert_int_equal(phase, MLI_CLIENT_DRAINED);
    assert_int_equal(mli_client_submit(f->client, &job, NULL, &f->error), -32006);
    assert_done(mli_client_resume(f->client, &phase, &f->error));
    assert_int_equal(phase, MLI_CLIENT_SERVING);
    assert_done(mli_client_buffer_release(f->client, &buffer, &f->error));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_greeting, setup, teardown),
        cmocka_unit_test_setup_teardown(test_many_starts, setup, teardown),
        cmocka_unit_test_setup_teardown(test_descriptors, setup, teardown),
        cmocka_unit_test_setup_teardown(test_looking_after_jobs, setup, teardown),
    };

    return cmocka_run_group_tests_name("client service", tests, NULL, NULL);
}

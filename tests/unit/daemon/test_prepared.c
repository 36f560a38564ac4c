/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests prepared jobs: job.prepare, job.start and job.release. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "daemon/base/reaper.h"
#include "daemon/base/seam.h"
#include "tests/unit/daemon/gate.h"
#include "tests/unit/daemon/memory_calls.h"

static struct fixture fixture;
static struct peer *const peer = &fixture.peer;
static struct gate gate;
static struct seam real;
static int fds_before;

static int setup(void **state)
{
    (void)state;
    real = seam;
    fds_before = count_fds();
    fixture_config(&fixture.config);
    return 0;
}

static void start(void)
{
    fixture_start(&fixture);
}

static int teardown(void **state)
{
    (void)state;
    peer_expect_alive(peer);
    fixture_stop(&fixture);
    seam = real;
    assert_int_equal(count_fds(), fds_before);
    return 0;
}

static int teardown_gate(void **state)
{
    const int result = teardown(state);

    gate_remove(&gate);
    return result;
}

static void start_job(int id, const char *params)
{
    send_call(peer, id, "job.start", params);
}

static const struct fault *refused_start(const char *params, enum fault_code code)
{
    start_job(9, params);
    return peer_error(peer, 9, code);
}

static const struct fault *refused_prepare(const char *params, enum fault_code code)
{
    send_call(peer, 9, "job.prepare", params);
    return peer_error(peer, 9, code);
}

/* Describes a transpose of 2x2 bytes in buffer 1, which has 12 bytes. */
static const char transpose[] = "'op':'mov','src':{'buffer':1,'type':'fx8','shape':[2,2]},"
                                "'cfg':{'perm_dim':[1,0]},'dst':{'buffer':1,'offset':8}";

static int prepare_transpose(void)
{
    struct job_prepared prepared;
    int fd = memfd_sealable(12);

    assert_int_equal(pwrite(fd, "0123456789ab", 12, 0), 12);
    register_buffer(peer, fd, "");
    prepare_job(peer, NULL, 0, transpose, &prepared);
    assert_int_equal(prepared.prepared, 1);
    assert_int_equal(prepared.bytes, 4);
    assert_int_equal(prepared.dst.type, MLI_EL_FX_8);
    assert_int_equal(prepared.dst.rank, 2);
    assert_int_equal(prepared.dst.strides[0], 2);
    job_prepared_finish(&prepared);
    return fd;
}

static void test_starts(void **state)
{
    struct job_result result;
    struct buffer_info info;
    int fd;

    (void)state;
    start();
    fd = prepare_transpose();
    start_job(1, "'prepared':1");
    peer_result(peer, 1, &result);
    assert_false(result.has_dst);
    assert_int_equal(result.bytes, 4);
    assert_file(fd, "012345670213", 12);
    start_job(2, "'prepared':1,'src':{'offset':4}");
    peer_ok(peer, 2);
    assert_file(fd, "012345674657", 12);
    start_job(3, "'prepared':1,'src':{'buffer':1,'offset':1},'dst':{'buffer':1,'offset':5}");
    peer_ok(peer, 3);
    assert_file(fd, "012341324657", 12);
    info = list_buffers(peer, 1, 0);
    assert_int_equal(info.prepared, 1);
    assert_int_equal(info.jobs, 0);
    release_prepared(peer, 1);
    assert_int_equal(list_buffers(peer, 1, 0).prepared, 0);
    close(fd);
}

static void test_refused_starts(void **state)
{
    const struct fault *fault;
    int fd, other = memfd_with(NULL, 100);

    (void)state;
    start();
    fd = prepare_transpose();
    register_buffer(peer, other, ",'access':'read'");
    fault = refused_start("'prepared':1,'dst':{'offset':10}", FAULT_BAD_DESCRIPTOR);
    assert_string_equal(fault->text, "dst: 4 B are needed from offset 10, the buffer has 12 B");
    assert_string_equal(fault->pointer, "/dst/offset");
    fault = refused_start("'prepared':1,'src':{'offset':9007199254740991}", FAULT_BAD_DESCRIPTOR);
    assert_string_equal(fault->pointer, "/src/offset");
    fault = refused_start("'prepared':1,'dst':{'offset':3}", FAULT_REFUSED);
    assert_int_equal(fault->status, MLI_STATUS_INCOMPATEBLE_TENSORS);
    fault = refused_start("'prepared':1,'dst':{'buffer':2}", FAULT_BAD_DESCRIPTOR);
    assert_string_equal(fault->pointer, "/dst/buffer");
    fault = refused_start("'prepared':1,'src':{'buffer':3}", FAULT_NOT_FOUND);
    assert_string_equal(fault->pointer, "/src/buffer");
    fault = refused_start("'prepared':2", FAULT_NOT_FOUND);
    assert_string_equal(fault->text, "prepared: this connection has no prepared job 2");
    assert_string_equal(fault->pointer, "/prepared");
    refused_start("", FAULT_INVALID_PARAMS);
    refused_start("'prepared':1,'cfg':{}", FAULT_INVALID_PARAMS);
    refused_start("'prepared':1,'after':['nobody']", FAULT_NOT_FOUND);
    peer_send(peer, &other, 1,
              "{'jsonrpc':'2.0','id':3,'method':'job.start','fds':1,'params':{'prepared':1}}");
    peer_error(peer, 3, FAULT_INVALID_REQUEST);
    assert_file(fd, "0123456789ab", 12);
    start_job(1, "'prepared':1,'src':{'buffer':2,'offset':96}");
    peer_ok(peer, 1);
    close(fd);
    close(other);
}

static void test_refused_preparations(void **state)
{
    const struct fault *fault;
    char params[512];
    int fd;

    (void)state;
    fixture.config.prepared_per_client = 2;
    start();
    fd = prepare_transpose();
    fault = refused_prepare("'op':'mov','src':{'buffer':1,'type':'fx8','shape':[2,2]},"
                            "'dst':{'buffer':1,'offset':8,'strides':[1,1]}",
                            FAULT_REFUSED);
    assert_int_equal(fault->status, MLI_STATUS_INCOMPATEBLE_TENSORS);
    refused_prepare("'op':'mov','src':{'buffer':1,'type':'fx8','shape':[5]},"
                    "'dst':{'buffer':1,'offset':8}",
                    FAULT_BAD_DESCRIPTOR);
    refused_prepare("'op':'mov','src':{'buffer':1,'type':'fx8','shape':[5]},"
                    "'dst':{'buffer':1,'offset':4}",
                    FAULT_REFUSED);
    refused_prepare("'op':'mov','src':{'buffer':2,'type':'fx8','shape':[5]},'dst':{'buffer':1}",
                    FAULT_NOT_FOUND);
    for (int i = 0; i < 3; i++) {
        const char *const members[] = {"'detach':true", "'after':[]", "'timeout_ms':5"};

        snprintf(params, sizeof params, "%s,%s", transpose, members[i]);
        refused_prepare(params, FAULT_INVALID_PARAMS);
    }
    snprintf(params, sizeof params, "%s,'channels':16", transpose);
    refused_prepare(params, FAULT_LIMIT);
    send_call(peer, 1, "job.prepare", transpose);
    peer_ok(peer, 1);
    fault = refused_prepare(transpose, FAULT_LIMIT);
    assert_non_null(strstr(fault->text, "limits.prepared_per_client"));
    release_prepared(peer, 1);
    send_call(peer, 2, "job.release", "'prepared':1");
    peer_error(peer, 2, FAULT_NOT_FOUND);
    refused_start("'prepared':1", FAULT_NOT_FOUND);
    start_job(3, "'prepared':2");
    peer_ok(peer, 3);
    close(fd);
}

/* A short request may describe many parameters, so the service also limits their bytes. */
static void test_many_parameters(void **state)
{
    static const char params[] =
        "'op':'mov','src':{'buffer':1,'type':'sa8','shape':[1],'axis':0,'scale':[7]},"
        "'cfg':{'dst_offset':[54000]},'dst':{'buffer':2}";
    int src = memfd_with("a", 1), dst = memfd_with(NULL, 54001), count = 0;

    (void)state;
    start();
    register_buffer(peer, src, "");
    register_buffer(peer, dst, "");
    for (;; count++) {
        struct rpc_reply reply;

        send_call(peer, count, "job.prepare", params);
        peer_reply(peer, &reply);
        if (!reply.ok) {
            assert_int_equal(reply.error.code, FAULT_LIMIT);
            rpc_reply_finish(&reply);
            break;
        }
        rpc_reply_finish(&reply);
    }
    assert_int_equal(count, 4 * 1024 * 1024 / (54002 * 5));
    release_prepared(peer, 1); /* makes room for one more prepared job */
    send_call(peer, 1000, "job.prepare", params);
    peer_ok(peer, 1000);
    close(src);
    close(dst);
}

/* job.prepare reports per-axis parameters, and every start sets them. */
static void test_per_axis(void **state)
{
    struct job_prepared prepared;
    int src = memfd_with("abcdef", 6), dst = memfd_with(NULL, 6);

    (void)state;
    start();
    prepare_job(peer, (int[]){src, dst}, 2,
                "'op':'permute','src':{'fd':0,'type':'sa8','shape':[2,3],'axis':1,"
                "'scale':[5,6,7],'zero_point':2},'cfg':{'perm_dim':[1,0]},'dst':{'fd':1}",
                &prepared);
    assert_int_equal(prepared.dst.quant.axis, 0);
    assert_int_equal(prepared.dst.quant.count, 3);
    assert_int_equal(prepared.dst.quant.scale[2], 7);
    assert_int_equal(prepared.dst.quant.zero_point[1], 2);
    job_prepared_finish(&prepared);
    for (int i = 0; i < 3; i++) {
        start_job(i, "'prepared':1");
        peer_ok(peer, i);
        assert_file(dst, "adbecf", 6);
    }
    close(src);
    close(dst);
}

/*
 * The files stay mapped until the last start has ended, even if the client has closed its
 * descriptors.
 */
static void test_descriptors(void **state)
{
    const struct fault *fault;
    struct job_prepared prepared;
    int src = memfd_with("..abcd", 6), dst = memfd_with("........", 8);

    (void)state;
    start();
    prepare_job(peer, (int[]){src, dst}, 2,
                "'op':'mov','src':{'fd':0,'offset':2,'type':'fx8','shape':[4]},"
                "'dst':{'fd':1,'offset':1}",
                &prepared);
    job_prepared_finish(&prepared);
    start_job(1, "'prepared':1");
    peer_ok(peer, 1);
    assert_file(dst, ".abcd...", 8);
    assert_int_equal(pwrite(src, "wxyz", 4, 2), 4);
    start_job(2, "'prepared':1");
    peer_ok(peer, 2);
    assert_file(dst, ".wxyz...", 8);
    register_buffer(peer, dst, "");
    fault = refused_start("'prepared':1,'dst':{'buffer':1}", FAULT_INVALID_PARAMS);
    assert_string_equal(fault->pointer, "/dst");
    refused_start("'prepared':1,'src':{'offset':0}", FAULT_INVALID_PARAMS);
    peer_send(peer, (int[]){src, dst}, 2,
              "{'jsonrpc':'2.0','id':3,'method':'job.prepare','fds':2,'params':{'op':'mov',"
              "'src':{'fd':0,'type':'fx8','shape':[4]},'dst':{'fd':0}}}");
    peer_error(peer, 3, FAULT_INVALID_PARAMS);
    assert_int_equal(ftruncate(src, 0), 0);
    for (int i = 0; i < 2; i++) {
        fault = refused_start("'prepared':1", FAULT_IO_ERROR);
        assert_string_equal(fault->pointer, "/src");
        assert_int_equal(ftruncate(src, 6), 0);
    }
    close(src);
    close(dst);
}

/* Many starts run while their buffers and prepared jobs are released. */
static void test_release_under_starts(void **state)
{
    int fd, dst = memfd_with(NULL, 32);

    (void)state;
    gate_close(&gate, &fixture.config);
    start();
    fd = prepare_transpose();
    register_buffer(peer, dst, "");
    for (int i = 0; i < 8; i++) {
        char params[80];

        snprintf(params, sizeof params,
                 "'prepared':1,'src':{'offset':%d},'dst':{'buffer':2,"
                 "'offset':%d}",
                 i, 4 * i);
        start_job(i, params);
    }
    for (int i = 0; i < 4; i++)
        gate_wait(&gate);
    assert_int_equal(list_buffers(peer, 2, 0).jobs, 8);
    release_buffer(peer, 1);
    release_buffer(peer, 2);
    release_prepared(peer, 1);
    for (int i = 0; i < 8; i++)
        gate_release(&gate);
    for (int i = 0; i < 8; i++)
        peer_ok(peer, -1);
    assert_file(dst, "0213132424353546465757686879798a", 32);
    close(fd);
    close(dst);
}

/* The client leaves and the service stops while a started job runs: nothing leaks. */
static void test_client_leaves_during_starts(void **state)
{
    struct job_prepared prepared;
    int src = memfd_with("abcd", 4), dst = memfd_with("....", 4);

    (void)state;
    gate_close(&gate, &fixture.config);
    start();
    prepare_job(peer, (int[]){src, dst}, 2,
                "'op':'mov','src':{'fd':0,'type':'fx8','shape':[4]},'dst':{'fd':1}", &prepared);
    job_prepared_finish(&prepared);
    start_job(1, "'prepared':1");
    gate_wait(&gate);
    peer_finish(peer);
    gate_release(&gate);
    service_thread_stop(fixture.thread);
    gate_remove(&gate);
    close(src);
    close(dst);
    assert_int_equal(count_fds(), fds_before);
}

static void test_options(void **state)
{
    struct rpc_reply reply;
    int fd;

    (void)state;
    gate_close(&gate, &fixture.config);
    fixture.config.channels = 1;
    start();
    fd = prepare_transpose();
    start_job(1, "'prepared':1");
    gate_wait(&gate);
    start_job(2, "'prepared':1,'timeout_ms':20");
    peer_error(peer, 2, FAULT_TIMED_OUT);
    start_job(3, "'prepared':1,'priority':-1");
    start_job(4, "'prepared':1,'priority':1");
    start_job(5, "'prepared':1,'after':[1],'detach':true");
    peer_reply(peer, &reply);
    assert_true(reply.ok);
    assert_int_equal(reply.id.number, 5);
    rpc_reply_finish(&reply);
    for (int i = 0; i < 4; i++)
        gate_release(&gate);
    peer_ok(peer, 1);
    peer_ok(peer, 4);
    peer_ok(peer, 3);
    close(fd);
}

static int calls;

static void *counting_mmap(void *address, size_t size, int protection, int flags, int fd,
                           off_t offset)
{
    calls++;
    return mmap(address, size, protection, flags, fd, offset);
}

static int counting_munmap(void *address, size_t size)
{
    calls++;
    return munmap(address, size);
}

static int counting_fstat(int fd, struct stat *st)
{
    calls++;
    return fstat(fd, st);
}

static int allocations;

static void *counting_calloc(size_t count, size_t size)
{
    allocations++;
    return calloc(count, size);
}

static void *counting_realloc(void *block, size_t size)
{
    allocations++;
    return realloc(block, size);
}

/* A start maps nothing, and allocates only a task and its record. */
static void test_starts_map_nothing(void **state)
{
    int fd;

    (void)state;
    start();
    fd = prepare_transpose();
    seam.mmap = counting_mmap;
    seam.munmap = counting_munmap;
    seam.fstat = counting_fstat;
    seam.calloc = counting_calloc;
    seam.realloc = counting_realloc;
    calls = allocations = 0;
    for (int i = 0; i < 50; i++) {
        start_job(i, i % 2 ? "'prepared':1" : "'prepared':1,'src':{'offset':3}");
        peer_ok(peer, i);
    }
    assert_int_equal(calls, 0);
    assert_in_range(allocations, 50, 105); /* each start allocates a task and its record */
    release_buffer(peer, 1);
    release_prepared(peer, 1);
    reaper_wait();
    assert_int_equal(calls, 1);
    close(fd);
}

#define TEST(function)      cmocka_unit_test_setup_teardown(function, setup, teardown)
#define TEST_GATE(function) cmocka_unit_test_setup_teardown(function, setup, teardown_gate)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_starts),
        TEST(test_refused_starts),
        TEST(test_refused_preparations),
        TEST(test_many_parameters),
        TEST(test_per_axis),
        TEST(test_descriptors),
        TEST_GATE(test_release_under_starts),
        cmocka_unit_test_setup(test_client_leaves_during_starts, setup),
        TEST_GATE(test_options),
        TEST(test_starts_map_nothing),
    };

    return cmocka_run_group_tests(tests, fixture_warm_up, NULL);
}

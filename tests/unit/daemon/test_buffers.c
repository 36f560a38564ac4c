/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests buffers: registered, allocated, and used by jobs. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "tests/unit/daemon/gate.h"
#include "tests/unit/daemon/memory_calls.h"
#include "tests/unit/daemon/service_thread.h"

enum { PAGE = 4096 };

static struct fixture fixture;
static struct peer *const peer = &fixture.peer;
static struct gate gate;
static int fds_before;

static int setup(void **state)
{
    (void)state;
    fds_before = count_fds();
    fixture_config(&fixture.config);
    return 0;
}

static void start(void)
{
    fixture_start(&fixture);
}

static void start_with_gate(void)
{
    gate_close(&gate, &fixture.config);
    fixture_start(&fixture);
}

static int teardown(void **state)
{
    (void)state;
    peer_expect_alive(peer);
    fixture_stop(&fixture);
    assert_int_equal(count_fds(), fds_before);
    return 0;
}

#define SRC(buffer, offset, n)                                                                     \
    "'src':{'buffer':" #buffer ",'offset':" #offset ",'type':'fx8','shape':[" #n "]}"
#define DST(buffer, offset) "'dst':{'buffer':" #buffer ",'offset':" #offset "}"

static void submit(int id, const char *job)
{
    char params[512];

    snprintf(params, sizeof params, "'op':'mov',%s", job);
    send_call(peer, id, "job.submit", params);
}

static void test_jobs_in_buffers(void **state)
{
    int a = memfd_sealable(12), b = memfd_with("............", 12), c = memfd_with("abcd", 4);
    struct buffer_info info;

    (void)state;
    start();
    assert_int_equal(pwrite(a, "0123456789ab", 12, 0), 12);
    info = register_buffer(peer, a, "");
    assert_int_equal(info.buffer, 1);
    assert_int_equal(info.size, 12);
    assert_int_equal(info.access, BUFFER_ACCESS_WRITE);
    assert_true(info.sealed);
    info = register_buffer(peer, b, ",'size':8");
    assert_int_equal(info.buffer, 2);
    assert_int_equal(info.size, 8);
    assert_false(info.sealed);
    submit(1, SRC(1, 2, 4) "," DST(2, 3));
    peer_ok(peer, 1);
    assert_file(b, "...2345.....", 12);
    submit(2, SRC(1, 0, 4) "," DST(1, 8));
    peer_ok(peer, 2);
    assert_file(a, "012345670123", 12);
    /* One tensor is in a descriptor, the other in a buffer. */
    peer_send(peer, &c, 1,
              "{'jsonrpc':'2.0','id':3,'method':'job.submit','fds':1,'params':{'op':'mov',"
              "'src':{'fd':0,'type':'fx8','shape':[4]}," DST(2, 0) "}}");
    peer_ok(peer, 3);
    assert_file(b, "abcd345.....", 12);
    peer_send(peer, &c, 1,
              "{'jsonrpc':'2.0','id':4,'method':'job.submit','fds':1,'params':{'op':'mov'," SRC(
                  1, 0, 4) ",'dst':{'fd':0}}}");
    peer_ok(peer, 4);
    assert_file(c, "0123", 4);
    close(a);
    close(b);
    close(c);
}

static const struct fault *refused_job(const char *job, enum fault_code code)
{
    submit(9, job);
    return peer_error(peer, 9, code);
}

static void test_ranges(void **state)
{
    int a = memfd_with(NULL, 12);
    const struct fault *fault;

    (void)state;
    start();
    register_buffer(peer, a, "");
    fault = refused_job(SRC(1, 0, 4) "," DST(1, 10), FAULT_BAD_DESCRIPTOR);
    assert_string_equal(fault->text, "dst: 4 B are needed from offset 10, the buffer has 12 B");
    assert_string_equal(fault->pointer, "/dst/offset");
    fault = refused_job(SRC(1, 13, 1) "," DST(1, 0), FAULT_BAD_DESCRIPTOR);
    assert_string_equal(fault->pointer, "/src/offset");
    refused_job(SRC(1, 9007199254740991, 4294967295) "," DST(1, 0), FAULT_BAD_DESCRIPTOR);
    fault = refused_job(SRC(1, 0, 4) "," DST(1, 3), FAULT_REFUSED);
    assert_int_equal(fault->status, MLI_STATUS_INCOMPATEBLE_TENSORS);
    fault = refused_job(SRC(7, 0, 4) "," DST(1, 0), FAULT_NOT_FOUND);
    assert_string_equal(fault->pointer, "/src/buffer");
    fault = refused_job(SRC(1, 0, 4) "," DST(2, 0), FAULT_NOT_FOUND);
    assert_string_equal(fault->text, "dst.buffer: this connection has no buffer 2");
    submit(1, SRC(1, 11, 1) "," DST(1, 0));
    peer_ok(peer, 1);
    close(a);
}

/* Uses the same file as a buffer, as another buffer and as a descriptor. */
static void test_overlap_by_file(void **state)
{
    int a = memfd_with("0123456789", 10);

    (void)state;
    start();
    register_buffer(peer, a, "");
    register_buffer(peer, a, ",'access':'read'");
    refused_job(SRC(2, 0, 4) "," DST(1, 2), FAULT_REFUSED);
    peer_send(peer, &a, 1,
              "{'jsonrpc':'2.0','id':3,'method':'job.submit','fds':1,'params':{'op':'mov',"
              "'src':{'fd':0,'offset':3,'type':'fx8','shape':[4]}," DST(1, 6) "}}");
    peer_error(peer, 3, FAULT_REFUSED);
    assert_file(a, "0123456789", 10);
    submit(4, SRC(2, 0, 4) "," DST(1, 4));
    peer_ok(peer, 4);
    assert_file(a, "0123012389", 10);
    close(a);
}

static void test_refused_registrations(void **state)
{
    int file = memfd_with(NULL, 10), empty = memfd_with(NULL, 0), pipes[2];
    int read_only = open("/proc/self/exe", O_RDONLY);
    const struct fault *fault;

    (void)state;
    assert_int_equal(pipe(pipes), 0);
    start();
    refused_buffer(peer, pipes[0], "", FAULT_BAD_DESCRIPTOR);
    refused_buffer(peer, empty, "", FAULT_BAD_DESCRIPTOR);
    refused_buffer(peer, file, ",'size':11", FAULT_BAD_DESCRIPTOR);
    refused_buffer(peer, file, ",'size':0", FAULT_INVALID_PARAMS);
    refused_buffer(peer, file, ",'access':'both'", FAULT_INVALID_PARAMS);
    fault = refused_buffer(peer, read_only, ",'access':'write'", FAULT_BAD_DESCRIPTOR);
    assert_string_equal(fault->pointer, "/fd");
    send_call(peer, 5, "buffer.register", "'fd':0");
    peer_error(peer, 5, FAULT_INVALID_PARAMS);
    peer_send(peer, (int[]){file, file}, 2,
              "{'jsonrpc':'2.0','id':6,'method':'buffer.register','fds':2,'params':{'fd':0}}");
    peer_error(peer, 6, FAULT_INVALID_PARAMS);
    list_buffers(peer, 0, 0);
    close(file);
    close(empty);
    close(read_only);
    close(pipes[0]);
    close(pipes[1]);
}

static void test_access(void **state)
{
    int file = memfd_with("abcd", 4), sealed = memfd_sealable(4);
    int read_only = open("/proc/self/exe", O_RDONLY);
    const struct fault *fault;

    (void)state;
    start();
    assert_int_equal(fcntl(sealed, F_ADD_SEALS, F_SEAL_WRITE), 0);
    assert_int_equal(register_buffer(peer, file, "").access, BUFFER_ACCESS_WRITE);
    assert_int_equal(register_buffer(peer, file, ",'access':'read'").access, BUFFER_ACCESS_READ);
    assert_int_equal(register_buffer(peer, read_only, "").access, BUFFER_ACCESS_READ);
    assert_int_equal(register_buffer(peer, sealed, "").access, BUFFER_ACCESS_READ);
    refused_buffer(peer, sealed, ",'access':'write'", FAULT_BAD_DESCRIPTOR);
    fault = refused_job(SRC(4, 0, 4) "," DST(2, 0), FAULT_BAD_DESCRIPTOR);
    assert_string_equal(fault->pointer, "/dst/buffer");
    submit(1, SRC(4, 0, 4) "," DST(1, 0));
    peer_ok(peer, 1);
    assert_file(file, "\0\0\0\0", 4);
    close(file);
    close(sealed);
    close(read_only);
}

static void test_alloc(void **state)
{
    struct buffer_info info;
    struct rpc_reply reply;
    char *bytes;
    int fd;

    (void)state;
    start();
    send_call(peer, 1, "buffer.alloc", "'size':5000");
    peer_reply(peer, &reply);
    assert_true(reply.ok);
    assert_int_equal(reply.fds, 1);
    assert_int_equal(buffer_info_read(&reply.result, &info), 0);
    rpc_reply_finish(&reply);
    assert_int_equal(info.size, 5000);
    assert_true(info.sealed);
    fd = peer_fd(peer);
    assert_int_equal(ftruncate(fd, 4999), -1);
    assert_int_equal(ftruncate(fd, 5001), -1);
    assert_int_equal(fcntl(fd, F_ADD_SEALS, F_SEAL_FUTURE_WRITE), -1);
    bytes = mmap(NULL, 5000, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    assert_ptr_not_equal(bytes, MAP_FAILED);
    memcpy(bytes, "abcd", 4);
    submit(2, SRC(1, 0, 4) "," DST(1, 4996));
    peer_ok(peer, 2);
    assert_memory_equal(bytes + 4996, "abcd", 4);
    munmap(bytes, 5000);
    close(fd);

    info = list_buffers(peer, 1, 0);
    assert_true(info.allocated);
    send_call(peer, 3, "buffer.alloc", "'size':0");
    peer_error(peer, 3, FAULT_INVALID_PARAMS);
    send_call(peer, 4, "buffer.alloc", "");
    peer_error(peer, 4, FAULT_INVALID_PARAMS);
    send_call(peer, 5, "buffer.alloc", "'size':9007199254740991");
    peer_error(peer, 5, FAULT_LIMIT);
    release_buffer(peer, 1);
    list_buffers(peer, 0, 0);
}

/* Sizes beyond the largest file are refused even if the limits allow them. */
static void test_alloc_beyond_the_system(void **state)
{
    (void)state;
    fixture.config.buffer_bytes_per_client = UINT64_MAX;
    start();
    send_call(peer, 5, "buffer.alloc", "'size':9007199254740991");
    peer_error(peer, 5, FAULT_INTERNAL);
    list_buffers(peer, 0, 0);
}

static void test_numbers_and_list(void **state)
{
    int a = memfd_with(NULL, 4), b = memfd_with(NULL, 5);
    const struct fault *fault;

    (void)state;
    start();
    register_buffer(peer, a, "");
    register_buffer(peer, b, "");
    release_buffer(peer, 1);
    send_call(peer, 1, "buffer.release", "'buffer':1");
    fault = peer_error(peer, 1, FAULT_NOT_FOUND);
    assert_string_equal(fault->text, "buffer: this connection has no buffer 1");
    assert_string_equal(fault->pointer, "/buffer");
    assert_int_equal(register_buffer(peer, a, "").buffer, 3);
    assert_int_equal(list_buffers(peer, 2, 0).buffer, 2);
    assert_int_equal(list_buffers(peer, 2, 1).buffer, 3);
    send_call(peer, 2, "buffer.list", "'all':true");
    peer_error(peer, 2, FAULT_INVALID_PARAMS);
    peer_send(peer, &a, 1, "{'jsonrpc':'2.0','id':3,'method':'buffer.list','fds':1}");
    peer_error(peer, 3, FAULT_INVALID_REQUEST);
    close(a);
    close(b);
}

static void test_limits(void **state)
{
    int a = memfd_with(NULL, 1000);
    const struct fault *fault;

    (void)state;
    fixture.config.buffers_per_client = 3;
    fixture.config.buffer_bytes_per_client = 2500;
    start();
    register_buffer(peer, a, "");
    register_buffer(peer, a, "");
    fault = refused_buffer(peer, a, "", FAULT_LIMIT);
    assert_non_null(strstr(fault->text, "limits.buffer_bytes_per_client"));
    register_buffer(peer, a, ",'size':500");
    fault = refused_buffer(peer, a, ",'size':1", FAULT_LIMIT);
    assert_non_null(strstr(fault->text, "limits.buffers_per_client"));
    send_call(peer, 1, "buffer.alloc", "'size':1");
    peer_error(peer, 1, FAULT_LIMIT);
    release_buffer(peer, 2);
    send_call(peer, 1, "buffer.alloc", "'size':1001");
    peer_error(peer, 1, FAULT_LIMIT);
    send_call(peer, 1, "buffer.alloc", "'size':1000");
    peer_ok(peer, 1);
    close(peer_fd(peer));
    close(a);
}

/* A buffer is released while two jobs use it: the jobs go on. */
static void test_release_while_running(void **state)
{
    int a = memfd_sealable(8);
    struct buffer_info info;

    (void)state;
    start_with_gate();
    assert_int_equal(pwrite(a, "abcdefgh", 8, 0), 8);
    register_buffer(peer, a, "");
    submit(1, SRC(1, 0, 2) "," DST(1, 4));
    submit(2, SRC(1, 2, 2) "," DST(1, 6));
    gate_wait(&gate);
    gate_wait(&gate);
    info = list_buffers(peer, 1, 0);
    assert_int_equal(info.jobs, 2);
    release_buffer(peer, 1);
    list_buffers(peer, 0, 0);
    refused_job(SRC(1, 0, 2) "," DST(1, 4), FAULT_NOT_FOUND);
    gate_release(&gate);
    gate_release(&gate);
    peer_ok(peer, -1);
    peer_ok(peer, -1);
    assert_file(a, "abcdabcd", 8);
    close(a);
}

static int teardown_gate(void **state)
{
    const int result = teardown(state);

    gate_remove(&gate);
    return result;
}

/*
 * A buffer's file shrinks while two jobs use the buffer: both jobs fail, also the one that reads
 * zeros instead of the lost pages. All later jobs fail too, although the file grows again.
 */
static void test_shrunk_under_two_jobs(void **state)
{
    int a = memfd_with(NULL, 4 * PAGE), b = memfd_with(NULL, 5 * PAGE);
    const struct fault *fault;

    (void)state;
    start_with_gate();
    register_buffer(peer, a, "");
    register_buffer(peer, b, "");
    submit(1, SRC(1, 4096, 12288) "," DST(2, 0));
    submit(2, SRC(2, 16384, 4096) "," DST(1, 8192));
    gate_wait(&gate);
    gate_wait(&gate);
    assert_int_equal(ftruncate(a, PAGE), 0);
    gate_release(&gate);
    peer_error(peer, -1, FAULT_IO_ERROR);
    gate_release(&gate);
    peer_error(peer, -1, FAULT_IO_ERROR);
    assert_int_equal(ftruncate(a, 4 * PAGE), 0);
    submit(3, SRC(1, 0, 1) "," DST(2, 0));
    fault = peer_error(peer, 3, FAULT_IO_ERROR);
    assert_string_equal(fault->pointer, "/src");
    submit(4, SRC(2, 0, 1) "," DST(1, 0));
    fault = peer_error(peer, 4, FAULT_IO_ERROR);
    assert_string_equal(fault->pointer, "/dst");
    /* The other buffer still works, and so does the file if it is registered again. */
    register_buffer(peer, a, "");
    submit(5, SRC(2, 0, 16384) "," DST(3, 0));
    gate_wait(&gate);
    gate_release(&gate);
    peer_ok(peer, 5);
    close(a);
    close(b);
}

static void test_sealed_under_a_job(void **state)
{
    int a = memfd_sealable(2 * PAGE);

    (void)state;
    start_with_gate();
    register_buffer(peer, a, "");
    submit(1, SRC(1, 0, 4096) "," DST(1, 4096));
    gate_wait(&gate);
    assert_int_equal(ftruncate(a, 0), -1);
    assert_int_equal(errno, EPERM);
    gate_release(&gate);
    peer_ok(peer, 1);
    close(a);
}

static struct server server;

/* The user is charged until the last job in a buffer has ended, even if its connection is gone. */
static void test_client_gone_while_running(void **state)
{
    int a = memfd_with(NULL, 3 * PAGE);
    struct peer first, second;
    bool room = false;

    (void)state;
    server_config(&server);
    gate_close(&gate, &server.config);
    server.config.quotas.standard.buffer_bytes = 5 * PAGE;
    server_start(&server);
    server_connect(&server, &first);
    server_connect(&server, &second);
    register_buffer(&first, a, "");
    send_call(&first, 1, "job.submit", "'op':'mov'," SRC(1, 0, 4096) "," DST(1, 4096));
    gate_wait(&gate);
    peer_finish(&first);
    refused_buffer(&second, a, "", FAULT_LIMIT);
    peer_expect_alive(&second);
    assert_non_null(strstr(refused_buffer(&second, a, "", FAULT_LIMIT)->text, "quotas"));
    gate_release(&gate);
    for (int i = 0; i < 3000 && !room; i++) {
        struct rpc_reply reply;

        peer_send(&second, &a, 1,
                  "{'jsonrpc':'2.0','id':7,'method':'buffer.register','fds':1,"
                  "'params':{'fd':0}}");
        peer_reply(&second, &reply);
        room = reply.ok;
        rpc_reply_finish(&reply);
        if (!room)
            usleep(10 * 1000);
    }
    assert_true(room);
    peer_finish(&second);
    close(a);
    server_stop(&server);
    gate_remove(&gate);
}

#define TEST(function)      cmocka_unit_test_setup_teardown(function, setup, teardown)
#define TEST_GATE(function) cmocka_unit_test_setup_teardown(function, setup, teardown_gate)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_jobs_in_buffers),
        TEST(test_ranges),
        TEST(test_overlap_by_file),
        TEST(test_refused_registrations),
        TEST(test_access),
        TEST(test_alloc),
        TEST(test_alloc_beyond_the_system),
        TEST(test_numbers_and_list),
        TEST(test_limits),
        TEST_GATE(test_release_while_running),
        TEST_GATE(test_shrunk_under_two_jobs),
        TEST_GATE(test_sealed_under_a_job),
        cmocka_unit_test(test_client_gone_while_running),
    };

    return cmocka_run_group_tests(tests, fixture_warm_up, NULL);
}

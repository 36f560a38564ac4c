/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests the memories of a board in the service: buffers and jobs in them, and the board's rules. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "mli_mov_api.h"
#include "tests/unit/daemon/memory_calls.h"
#include "tests/unit/daemon/scene.h"

#define VCCM_BASE UINT64_C(0x90000000)
#define HALF      "131072"

#define IN(memory) "'memory':'" memory "'"
#define MOVE(m, n)                                                                                 \
    "'op':'mov','src':{'fd':0,'type':'fx8','shape':[4]," IN(m) "},'dst':{'fd':1," IN(n) "}"
#define PERMUTE(s, d)                                                                              \
    "'op':'permute','src':{'fd':0,'type':'fx8','shape':[2,2]" s "},'cfg':{'perm_dim':[1,0]},"      \
    "'dst':{'fd':1" d "}"

static int setup(void **state)
{
    const int result = scene_setup(state);

    snprintf(server.config.profile, sizeof server.config.profile, "vpx5-nsim");
    return result;
}

/* Allocates a buffer in a memory. The buffer's descriptor is closed. */
static struct buffer_info alloc_in(struct peer *who, const char *size, const char *memory)
{
    struct buffer_info info;
    struct rpc_reply reply;
    char params[128];

    snprintf(params, sizeof params, "'size':%s,'memory':'%s'", size, memory);
    send_call(who, 1, "buffer.alloc", params);
    peer_reply(who, &reply);
    if (!reply.ok)
        fail_msg("%s", reply.error.text);
    assert_int_equal(buffer_info_read(&reply.result, &info), 0);
    rpc_reply_finish(&reply);
    close(peer_fd(who));
    return info;
}

static const struct fault *refused_alloc(struct peer *who, const char *params, enum fault_code code)
{
    send_call(who, 2, "buffer.alloc", params);
    return peer_error(who, 2, code);
}

static const struct fault *refused_job(const char *job, enum fault_code code)
{
    peer_submit(&peer, 9, src, dst, job);
    return peer_error(&peer, 9, code);
}

/* Checks that the vector memory is free: a buffer of the whole memory fits. */
static void expect_free(struct peer *who)
{
    const struct buffer_info info = alloc_in(who, "262144", "vccm");

    assert_true(info.address == VCCM_BASE);
    release_buffer(who, info.buffer);
}

/* Fills the vector memory, except for `left` bytes. */
static void fill_but(int left)
{
    char size[16];

    snprintf(size, sizeof size, "%d", 262144 - left);
    alloc_in(&peer, size, "vccm");
}

static void test_buffers_until_full(void **state)
{
    struct buffer_info info;
    const struct fault *fault;
    char text[400];

    (void)state;
    scene_start();
    assert_string_equal(peer_info(&peer).profile, "vpx5-nsim");
    info = alloc_in(&peer, HALF, "vccm");
    assert_true(info.address == VCCM_BASE);
    assert_string_equal(info.memory, "vccm");
    assert_true(alloc_in(&peer, "65537", "vccm").address == VCCM_BASE + 131072);
    assert_true(alloc_in(&other, "65532", "vccm").address == VCCM_BASE + 131072 + 65540);
    fault = refused_alloc(&peer, "'size':1,'memory':'vccm'", FAULT_NO_ROOM);
    assert_string_equal(fault->pointer, "/memory");
    snprintf(text, sizeof text,
             "memory: 1 B wanted, but vccm has 3 of 262144 B free, the largest piece 0 B; "
             "buffer 1 of client 1 (uid %u) holds 131072 B; buffer 2 of client 1 (uid %u) holds "
             "65537 B; buffer 1 of client 2 (uid %u) holds 65532 B",
             geteuid(), geteuid(), geteuid());
    assert_string_equal(fault->text, text);
    /* Another memory has room for a buffer; a buffer without a memory needs no room. */
    assert_true(alloc_in(&peer, "10", "dccm").address == 0x80000000);
    send_call(&peer, 3, "buffer.alloc", "'size':10");
    peer_ok(&peer, 3);
    close(peer_fd(&peer));
    info = list_buffers(&peer, 4, 1);
    assert_string_equal(info.memory, "vccm");
    assert_true(info.address == VCCM_BASE + 131072);
    assert_string_equal(list_buffers(&peer, 4, 3).memory, "");
    /* The range of a released buffer is free again. */
    release_buffer(&peer, 1);
    refused_alloc(&peer, "'size':131073,'memory':'vccm'", FAULT_NO_ROOM);
    assert_true(alloc_in(&other, HALF, "vccm").address == VCCM_BASE);
    release_buffer(&peer, 2);
    release_buffer(&other, 1);
    release_buffer(&other, 2);
    expect_free(&peer);
}

static void test_buffers_of_a_client_that_leaves(void **state)
{
    (void)state;
    scene_start();
    alloc_in(&peer, "262144", "vccm");
    refused_alloc(&other, "'size':1,'memory':'vccm'", FAULT_NO_ROOM);
    peer_finish(&peer);
    for (int i = 0; i < 1000; i++) {
        struct rpc_reply reply;
        bool ok;

        send_call(&other, 5, "buffer.alloc", "'size':262144,'memory':'vccm'");
        peer_reply(&other, &reply);
        ok = reply.ok;
        rpc_reply_finish(&reply);
        if (ok) {
            close(peer_fd(&other));
            release_buffer(&other, 1);
            server_connect(&server, &peer);
            return;
        }
        usleep(10 * 1000);
    }
    fail_msg("the buffer of a client that has left stays in its memory");
}

static void test_refused_buffers(void **state)
{
    const struct fault *fault;

    (void)state;
    scene_start();
    fault = refused_alloc(&peer, "'size':1,'memory':'vcm'", FAULT_INVALID_PARAMS);
    assert_string_equal(fault->pointer, "/memory");
    assert_non_null(strstr(fault->text, "did you mean \"vccm\"?"));
    refused_alloc(&peer, "'size':1,'memory':''", FAULT_INVALID_PARAMS);
    refused_alloc(&peer, "'size':1,'memory':3", FAULT_INVALID_PARAMS);
    refused_alloc(&peer, "'size':1,'memory':'a name that has more than 31 bytes'",
                  FAULT_INVALID_PARAMS);
    fault = refused_alloc(&peer, "'size':262145,'memory':'vccm'", FAULT_NO_ROOM);
    assert_string_equal(fault->text, "memory: 262145 B wanted, but vccm has 262144 of 262144 B "
                                     "free, the largest piece 262144 B");
    list_buffers(&peer, 0, 0);
    expect_free(&peer);
}

static void test_no_profile(void **state)
{
    const struct fault *fault;

    (void)state;
    server.config.profile[0] = '\0';
    scene_start();
    assert_string_equal(peer_info(&peer).profile, "");
    fault = refused_alloc(&peer, "'size':1,'memory':'vccm'", FAULT_INVALID_PARAMS);
    assert_non_null(strstr(fault->text, "no target profile"));
    fault = refused_job(MOVE("vccm", "vccm"), FAULT_INVALID_PARAMS);
    assert_string_equal(fault->pointer, "/src/memory");
    peer_submit(&peer, 3, src, dst, PERMUTE("", ""));
    peer_ok(&peer, 3);
}

/* A job leaves no range behind when its client has the reply, even if the job was refused. */
static void test_ended_jobs_leave(void **state)
{
    struct job_result result;
    const struct fault *fault;
    char text[400];

    (void)state;
    scene_start();
    for (int i = 0; i < 3; i++) {
        peer_submit(&peer, i, src, dst, MOVE("vccm", "vccm"));
        peer_result(&peer, i, &result);
        job_result_finish(&result);
        expect_free(&peer);
    }
    assert_file(dst, "abcd", 4);
    /* Refused after the source was placed: unknown memory, no room, unknown predecessor. */
    refused_job(MOVE("vccm", "vcm"), FAULT_INVALID_PARAMS);
    expect_free(&peer);
    refused_job("'after':[77]," MOVE("vccm", "vccm"), FAULT_NOT_FOUND);
    expect_free(&peer);
    fill_but(4);
    fault = refused_job(MOVE("vccm", "vccm"), FAULT_NO_ROOM);
    assert_string_equal(fault->pointer, "/dst/memory");
    /* The message does not count the range of the refused job's source as used. */
    snprintf(text, sizeof text,
             "dst.memory: 4 B wanted besides the 4 B of src.memory, but vccm has 4 of 262144 B "
             "free, the largest piece 4 B; buffer 6 of client 1 (uid %u) holds 262140 B",
             geteuid());
    assert_string_equal(fault->text, text);
    peer_submit(&peer, 3, src, dst, MOVE("vccm", "dccm"));
    peer_ok(&peer, 3);
}

static void test_held_and_queued_jobs(void **state)
{
    const struct fault *fault;
    char text[400];

    (void)state;
    scene_start_gated();
    peer_submit(&other, 1, src, dst, MOVE("vccm", "vccm"));
    gate_wait(&gate);
    peer_submit(&other, 2, src, dst, "'name':'queued'," MOVE("dccm", "vccm"));
    peer_expect_alive(&other);
    fault = refused_alloc(&peer, "'size':262144,'memory':'vccm'", FAULT_NO_ROOM);
    snprintf(text, sizeof text,
             "memory: 262144 B wanted, but vccm has 262132 of 262144 B free, the largest piece "
             "262132 B; job 1 of client 2 (uid %u) holds 8 B in 2 ranges; job 2 of client 2 (uid "
             "%u) holds 4 B",
             geteuid(), geteuid());
    assert_string_equal(fault->text, text);
    /*
     * The cancelled job releases its range at once, the running job only when its transfer has
     * ended.
     */
    scene_call(&peer, 3, "job.cancel", "'job':2");
    peer_ok(&peer, 3);
    peer_error(&other, 2, FAULT_CANCELLED);
    fault = refused_alloc(&peer, "'size':262144,'memory':'vccm'", FAULT_NO_ROOM);
    assert_non_null(strstr(fault->text, "262136 of"));
    gate_release(&gate);
    peer_ok(&other, 1);
    expect_free(&peer);
}

static void test_timed_out_job(void **state)
{
    (void)state;
    scene_start_gated();
    peer_submit(&peer, 1, src, dst, "'timeout_ms':20," MOVE("vccm", "vccm"));
    gate_wait(&gate);
    peer_error(&peer, 1, FAULT_TIMED_OUT);
    /* The transfer still runs. */
    refused_alloc(&peer, "'size':262144,'memory':'vccm'", FAULT_NO_ROOM);
    gate_open(&gate);
    for (int i = 0; i < 1000; i++) {
        const uint32_t running = peer_info(&peer).jobs_running;

        if (running == 0)
            break;
        usleep(10 * 1000);
    }
    expect_free(&peer);
}

static void test_client_leaves_while_running(void **state)
{
    (void)state;
    scene_start_gated();
    peer_submit(&other, 1, src, dst, MOVE("vccm", "vccm"));
    gate_wait(&gate);
    peer_submit(&other, 2, src, dst, MOVE("vccm", "dccm"));
    peer_expect_alive(&other);
    peer_finish(&other);
    gate_open(&gate);
    for (int i = 0; i < 1000; i++) {
        const struct daemon_info info = peer_info(&peer);

        if (info.jobs_running == 0 && info.jobs_queued == 0)
            break;
        usleep(10 * 1000);
    }
    expect_free(&peer);
    server_connect(&server, &other);
}

/* A buffer that was released stays in its memory until the last job in it has ended. */
static void test_buffer_released_while_placed(void **state)
{
    (void)state;
    scene_start_gated();
    alloc_in(&peer, "262144", "vccm");
    scene_call(&peer, 1, "job.submit",
               "'op':'mov','src':{'buffer':1,'type':'fx8','shape':[4]},"
               "'dst':{'buffer':1,'offset':8}");
    gate_wait(&gate);
    release_buffer(&peer, 1);
    refused_alloc(&peer, "'size':4,'memory':'vccm'", FAULT_NO_ROOM);
    gate_release(&gate);
    peer_ok(&peer, 1);
    expect_free(&peer);
}

/*
 * All starts of a prepared job share its range, which stays allocated until the last start has
 * ended.
 */
static void test_prepared(void **state)
{
    struct job_prepared prepared;

    (void)state;
    scene_start_gated();
    prepare_job(&peer, (int[]){src, dst}, 2, MOVE("vccm", "vccm"), &prepared);
    job_prepared_finish(&prepared);
    assert_non_null(
        strstr(refused_alloc(&other, "'size':262144,'memory':'vccm'", FAULT_NO_ROOM)->text,
               "prepared job 1 of client 1"));
    scene_call(&peer, 1, "job.start", "'prepared':1");
    gate_wait(&gate);
    assert_non_null(strstr(
        refused_alloc(&other, "'size':262144,'memory':'vccm'", FAULT_NO_ROOM)->text, "262136 of"));
    release_prepared(&peer, 1);
    refused_alloc(&other, "'size':262144,'memory':'vccm'", FAULT_NO_ROOM);
    gate_release(&gate);
    peer_ok(&peer, 1);
    expect_free(&peer);
}

/* A start may not move a permute into a buffer outside the vector memory. */
static void test_start_in_another_buffer(void **state)
{
    struct job_prepared prepared;
    const struct fault *fault;

    (void)state;
    scene_start();
    alloc_in(&peer, "64", "vccm");
    alloc_in(&peer, "64", "dccm");
    prepare_job(&peer, NULL, 0,
                "'op':'permute','src':{'buffer':1,'type':'fx16','shape':[2,2]},"
                "'cfg':{'perm_dim':[1,0]},'dst':{'buffer':1,'offset':32}",
                &prepared);
    job_prepared_finish(&prepared);
    scene_call(&peer, 1, "job.start", "'prepared':1");
    peer_ok(&peer, 1);
    scene_call(&peer, 2, "job.start", "'prepared':1,'dst':{'buffer':2}");
    fault = peer_error(&peer, 2, FAULT_REFUSED);
    assert_string_equal(fault->pointer, "/dst/buffer");
    assert_non_null(strstr(fault->text, "(rule vector-memory)"));
    scene_call(&peer, 3, "job.start", "'prepared':1,'dst':{'offset':33}");
    fault = peer_error(&peer, 3, FAULT_REFUSED);
    assert_string_equal(fault->pointer, "/dst/offset");
    assert_string_equal(fault->text,
                        "dst.offset: 33 given, so the first element is at 0x90000021; elements of "
                        "2 B need a multiple of 2 (rule element-alignment)");
}

static void test_rules(void **state)
{
    const struct fault *fault;

    (void)state;
    scene_start();
    fault = refused_job(PERMUTE("", ",'memory':'vccm'"), FAULT_REFUSED);
    assert_string_equal(fault->pointer, "/src/memory");
    assert_int_equal(fault->status, MLI_STATUS_MEM_BANK_MISMATCH);
    assert_non_null(strstr(fault->text, "give \"memory\": \"vccm\" (rule vector-memory)"));
    fault = refused_job(PERMUTE(",'memory':'vccm'", ",'memory':'dccm'"), FAULT_REFUSED);
    assert_string_equal(fault->pointer, "/dst/memory");
    fault = refused_job("'op':'mov','src':{'fd':0,'offset':1,'type':'fx16','shape':[1]},"
                        "'dst':{'fd':1}",
                        FAULT_REFUSED);
    assert_string_equal(fault->pointer, "/src/offset");
    assert_int_equal(fault->status, MLI_STATUS_MISALIGNMENT_ERROR);
    assert_non_null(strstr(fault->text, "(rule element-alignment)"));
    /* For a job that names no memory, the rules of the profile do not apply. */
    peer_submit(&peer, 1, src, dst, COPY);
    peer_ok(&peer, 1);
    peer_submit(&peer, 2, src, dst, PERMUTE(",'memory':'vccm'", ",'memory':'vccm'"));
    peer_ok(&peer, 2);
    assert_file(dst, "acbd", 4);
    expect_free(&peer);
}

static void test_capacity(void **state)
{
    const int large = memfd_with(NULL, 262145);
    const struct fault *fault;

    (void)state;
    scene_start();
    peer_submit(&peer, 1, large, dst,
                "'op':'mov','src':{'fd':0,'type':'fx8','shape':[262145],'memory':'vccm'},"
                "'cfg':{'offset':[262141]},'dst':{'fd':1}");
    fault = peer_error(&peer, 1, FAULT_REFUSED);
    assert_string_equal(fault->pointer, "/src/memory");
    assert_int_equal(fault->status, MLI_STATUS_NOT_ENGH_MEM);
    assert_string_equal(fault->text,
                        "src.memory: the tensor has 262145 B, memory vccm has 262144 B "
                        "in all (rule capacity)");
    close(large);
    expect_free(&peer);
}

static void test_quota(void **state)
{
    const struct fault *fault;

    (void)state;
    server.config.quotas.standard.memory_percent = 50;
    scene_start();
    alloc_in(&peer, HALF, "vccm");
    fault = refused_alloc(&other, "'size':1,'memory':'vccm'", FAULT_LIMIT);
    assert_non_null(strstr(fault->text, "quotas.memory_percent: "));
    fault = refused_job(MOVE("vccm", "vccm"), FAULT_LIMIT);
    assert_string_equal(fault->pointer, "/src/memory");
    alloc_in(&other, HALF, "dccm");
}

/* The destination does not fit in its memory; the source is in no memory, or in another one. */
static void test_destination_without_room(void **state)
{
    struct buffer_info all;

    (void)state;
    scene_start();
    all = alloc_in(&peer, "262144", "vccm");
    assert_string_equal(refused_job("'op':'mov','src':{'fd':0,'type':'fx8','shape':[4]},"
                                    "'dst':{'fd':1,'memory':'vccm'}",
                                    FAULT_NO_ROOM)
                            ->pointer,
                        "/dst/memory");
    assert_string_equal(refused_job(MOVE("dccm", "vccm"), FAULT_NO_ROOM)->pointer, "/dst/memory");
    assert_string_equal(refused_job(MOVE("xccm", "vccm"), FAULT_INVALID_PARAMS)->pointer,
                        "/src/memory");
    assert_string_equal(refused_job(MOVE("dccm", "xccm"), FAULT_INVALID_PARAMS)->pointer,
                        "/dst/memory");
    release_buffer(&peer, all.buffer);
    expect_free(&peer);
}

/* Moves fx16 from an odd address, which a strict profile refuses. */
static mli_status move_from_odd_address(void)
{
    static int16_t bytes[4], result[1];
    mli_tensor from = {.data = {.capacity = 2, .mem.pi8 = (int8_t *)bytes + 1},
                       .shape = {1},
                       .rank = 1,
                       .el_type = MLI_EL_FX_16};
    mli_tensor to = {.data = {.capacity = 2, .mem.pi16 = result}};
    mli_mov_cfg_t cfg;

    mli_mov_cfg_for_copy(&cfg);
    return mli_mov_tensor_sync(&from, &cfg, &to);
}

/* A profile that cannot be loaded fails the start; libmli's default profile comes back. */
static void test_life(void **state)
{
    struct service_thread *thread;
    struct config config;
    struct fault fault;
    int fd;

    (void)state;
    fixture_config(&config);
    snprintf(config.profile, sizeof config.profile, "vpx");
    assert_int_equal(service_check(&config, &fault), -1);
    assert_string_equal(fault.pointer, "/profile");
    assert_non_null(strstr(fault.text, "profile \"vpx\" is not known"));
    assert_int_equal(service_thread_start(&config, &thread, &fd), -EINVAL);
    snprintf(config.profile, sizeof config.profile, "/nowhere/board.json");
    assert_int_equal(service_check_profile(&config, &fault), -1);
    assert_non_null(strstr(fault.text, "/nowhere/board.json: No such file"));
    snprintf(config.profile, sizeof config.profile, "vpx5-nsim");
    assert_int_equal(service_check(&config, &fault), 0);
    assert_int_equal(service_thread_start(&config, &thread, &fd), 0);
    assert_status(move_from_odd_address(), MLI_STATUS_MISALIGNMENT_ERROR);
    close(fd);
    service_thread_stop(thread);
    assert_ok(move_from_odd_address());
}

#undef SCENE
#define SCENE(test) cmocka_unit_test_setup_teardown(test, setup, scene_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        SCENE(test_buffers_until_full),
        SCENE(test_buffers_of_a_client_that_leaves),
        SCENE(test_refused_buffers),
        SCENE(test_no_profile),
        SCENE(test_ended_jobs_leave),
        SCENE(test_held_and_queued_jobs),
        SCENE(test_timed_out_job),
        SCENE(test_client_leaves_while_running),
        SCENE(test_buffer_released_while_placed),
        SCENE(test_prepared),
        SCENE(test_start_in_another_buffer),
        SCENE(test_rules),
        SCENE(test_capacity),
        SCENE(test_quota),
        SCENE(test_destination_without_room),
        cmocka_unit_test(test_life),
    };

    return cmocka_run_group_tests(tests, fixture_warm_up, NULL);
}

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Jobs that succeed, jobs that are refused with nothing written, and the numbers of daemon.info
 * before and after them.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "daemon/base/reaper.h"
#include "tests/unit/daemon/test_peer.h"

static struct fixture fixture;
static struct peer *const peer = &fixture.peer;

static int setup(void **state)
{
    (void)state;
    fixture_config(&fixture.config);
    fixture_start(&fixture);
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    peer_expect_alive(peer);
    fixture_stop(&fixture);
    return 0;
}

/* Fills memory with the bytes 0, 1, 2, ... */
static int counting_file(size_t size)
{
    unsigned char bytes[4096];

    assert_true(size <= sizeof bytes);
    for (size_t i = 0; i < size; i++)
        bytes[i] = (unsigned char)i;
    return memfd_with(bytes, size);
}

static void test_ping_and_info(void **state)
{
    struct daemon_info info;

    (void)state;
    peer_expect_alive(peer);
    peer_send(peer, NULL, 0, "{'jsonrpc':'2.0','id':'a','method':'daemon.ping','params':{}}");
    peer_ok(peer, -1);
    info = peer_info(peer);
    assert_string_equal(info.version, mli_version());
    assert_string_equal(info.engine, mli_mov_engine_name());
    assert_int_equal(info.pid, getpid());
    assert_int_equal(info.channels, 4);
    assert_int_equal(info.channels_busy, 0);
    assert_int_equal(info.clients, 1);
    assert_int_equal(info.clients_max, 64);
    assert_int_equal(info.jobs_per_client_max, 256);
    assert_int_equal(info.jobs_done, 0);
}

static void test_copy(void **state)
{
    int src = counting_file(12), dst = memfd_with(NULL, 12);
    const unsigned char want[] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11};
    struct job_result result;

    (void)state;
    peer_submit(peer, 7, src, dst,
                "'op':'mov','name':'tile0','src':{'fd':0,'type':'fx16','shape':[2,3],"
                "'frac_bits':5},'dst':{'fd':1}");
    peer_result(peer, 7, &result);
    assert_int_equal(result.bytes, 12);
    assert_int_equal(result.channels, 1);
    assert_string_equal(result.engine, mli_mov_engine_name());
    assert_int_equal(result.dst.type, MLI_EL_FX_16);
    assert_int_equal(result.dst.rank, 2);
    assert_int_equal(result.dst.shape[0], 2);
    assert_int_equal(result.dst.shape[1], 3);
    assert_int_equal(result.dst.strides[0], 3);
    assert_int_equal(result.dst.strides[1], 1);
    assert_int_equal(result.dst.quant.frac_bits, 5);
    assert_file(dst, want, sizeof want);
    job_result_finish(&result);
    assert_int_equal(peer_info(peer).jobs_done, 1);
    assert_int_equal(peer_info(peer).bytes_moved, 12);
    close(src);
    close(dst);
}

/* Both tensors are at odd offsets of larger files, and the result is inside a larger tensor. */
static void test_offsets_in_files(void **state)
{
    int src = counting_file(100), dst = memfd_with("....................", 20);
    const char want[] = "...\x34.....\x38..........";
    struct job_result result;

    (void)state;
    peer_submit(peer, 1, src, dst,
                "'op':'mov','src':{'fd':0,'offset':51,'type':'fx8','shape':[2,4]},"
                "'cfg':{'offset':[0,1],'size':[2,1],'dst_offset':[0,2]},"
                "'dst':{'fd':1,'offset':1,'shape':[2,6]}");
    peer_result(peer, 1, &result);
    assert_file(dst, want, 20);
    assert_int_equal(result.bytes, 2);
    assert_int_equal(result.dst.shape[0], 2);
    assert_int_equal(result.dst.shape[1], 3);
    assert_int_equal(result.dst.strides[0], 6);
    job_result_finish(&result);
    close(src);
    close(dst);
}

/*
 * Checks the strides of a (2, 2) result for some members of cfg and dst. A stride that is 0 or
 * absent is computed from the next inner stride and, if dst has a shape, from the extents of dst.
 */
static void check_strides(const char *members, int32_t outer, int32_t inner)
{
    int src = counting_file(4), dst = memfd_with(NULL, 64);
    unsigned char got[64];
    struct job_result result;
    char job[256];

    snprintf(job, sizeof job, "'op':'mov','src':{'fd':0,'type':'fx8','shape':[2,2]},%s", members);
    peer_submit(peer, 1, src, dst, job);
    peer_result(peer, 1, &result);
    assert_int_equal(result.dst.strides[0], outer);
    assert_int_equal(result.dst.strides[1], inner);
    assert_int_equal(pread(dst, got, sizeof got, 0), sizeof got);
    assert_int_equal(got[inner], 1);
    assert_int_equal(got[outer], 2);
    assert_int_equal(got[outer + inner], 3);
    job_result_finish(&result);
    close(src);
    close(dst);
}

static void test_missing_strides(void **state)
{
    (void)state;
    check_strides("'dst':{'fd':1}", 2, 1);
    check_strides("'dst':{'fd':1,'strides':[0,3]}", 6, 3);
    check_strides("'dst':{'fd':1},'cfg':{'dst_mem_stride':[0,3]}", 6, 3);
    check_strides("'dst':{'fd':1,'strides':[0,9]},'cfg':{'dst_mem_stride':[0,3]}", 6, 3);
    check_strides("'dst':{'fd':1,'strides':[9,0]},'cfg':{'dst_mem_stride':[0,3]}", 9, 3);
    check_strides("'dst':{'fd':1,'shape':[2,5]}", 5, 1);
    check_strides("'dst':{'fd':1,'shape':[2,5],'strides':[0,2]}", 10, 2);
    check_strides("'dst':{'fd':1,'shape':[2,5]},'cfg':{'dst_mem_stride':[0,2]}", 10, 2);
    check_strides("'dst':{'fd':1,'shape':[2,5],'strides':[7,2]},'cfg':{'dst_mem_stride':[0,3]}", 7,
                  3);
    /* A dst shape equal to the result's has no effect. */
    check_strides("'dst':{'fd':1,'shape':[2,2]},'cfg':{'dst_mem_stride':[0,3]}", 6, 3);
}

static void test_missing_strides_that_do_not_fit(void **state)
{
    static const char *const members[] = {
        "'dst':{'fd':1,'shape':[2,4],'strides':[0,1073741824]}",
        "'dst':{'fd':1,'shape':[2,4]},'cfg':{'dst_mem_stride':[0,1073741824]}",
        "'dst':{'fd':1,'shape':[2,2147483648]}",
        "'dst':{'fd':1,'strides':[0,1073741824]}",
    };
    int src = counting_file(4), dst = memfd_with(NULL, 64);
    char job[256];

    (void)state;
    for (size_t i = 0; i < COUNT_OF(members); i++) {
        snprintf(job, sizeof job, "'op':'mov','src':{'fd':0,'type':'fx8','shape':[2,2]},%s",
                 members[i]);
        peer_submit(peer, 1, src, dst, job);
        peer_error(peer, 1, FAULT_REFUSED);
    }
    close(src);
    close(dst);
}

/* The move reads only padding, so the source's bytes have no effect. */
static void test_only_padding(void **state)
{
    int src = memfd_with("x", 1), dst = memfd_with("xxx", 3);

    (void)state;
    peer_submit(peer, 1, src, dst,
                "'op':'mov','src':{'fd':0,'type':'fx8','shape':[1000]},"
                "'cfg':{'padding_pre':[2],'size':[2]},'dst':{'fd':1}");
    peer_ok(peer, 1);
    assert_file(dst, "\0\0x", 3);
    close(src);
    close(dst);
}

/* A tile is read from a file that contains nothing but the tile. */
static void test_tile_of_short_file(void **state)
{
    int src = counting_file(10), dst = memfd_with(NULL, 4);

    (void)state;
    peer_submit(peer, 1, src, dst,
                "'op':'mov','src':{'fd':0,'type':'fx8','shape':[100,4]},"
                "'cfg':{'offset':[1,0],'size':[1,4]},'dst':{'fd':1}");
    peer_ok(peer, 1);
    assert_file(dst, "\4\5\6\7", 4);
    close(src);
    close(dst);
}

static void test_permute(void **state)
{
    const char *const types[] = {"fx8", "fx16", "sa8", "sa32"};
    const size_t sizes[] = {1, 2, 1, 4};
    const unsigned order[] = {0, 3, 1, 4, 2, 5};

    (void)state;
    for (size_t t = 0; t < COUNT_OF(types); t++) {
        int src = counting_file(6 * sizes[t]), dst = memfd_with(NULL, 6 * sizes[t]);
        unsigned char want[24];
        struct job_result result;
        char job[256];

        for (size_t i = 0; i < 6 * sizes[t]; i++)
            want[i] = (unsigned char)(order[i / sizes[t]] * sizes[t] + i % sizes[t]);
        snprintf(job, sizeof job,
                 "'op':'permute','channels':2,'src':{'fd':0,'type':'%s','shape':[2,3]},"
                 "'cfg':{'perm_dim':[1,0]},'dst':{'fd':1}",
                 types[t]);
        peer_submit(peer, 3, src, dst, job);
        peer_result(peer, 3, &result);
        assert_file(dst, want, 6 * sizes[t]);
        assert_int_equal(result.dst.shape[0], 3);
        assert_int_equal(result.channels, 2);
        assert_int_equal(result.bytes, 6 * sizes[t]);
        job_result_finish(&result);
        close(src);
        close(dst);
    }
}

static void test_permute_of_floats(void **state)
{
    int src = counting_file(8), dst = memfd_with("unwritten", 9);
    const struct fault *fault;

    (void)state;
    peer_submit(peer, 3, src, dst,
                "'op':'permute','src':{'fd':0,'type':'fp16','shape':[2,2]},"
                "'cfg':{'perm_dim':[1,0]},'dst':{'fd':1}");
    fault = peer_error(peer, 3, FAULT_REFUSED);
    assert_int_equal(fault->status, MLI_STATUS_NOT_SUPPORTED);
    assert_string_equal(fault->pointer, "/src/type");
    assert_file(dst, "unwritten", 9);
    close(src);
    close(dst);
}

static void test_quantisation_per_tensor(void **state)
{
    int src = counting_file(2), dst = memfd_with(NULL, 2);
    struct job_result result;

    (void)state;
    peer_submit(peer, 1, src, dst,
                "'op':'mov','src':{'fd':0,'type':'sa8','shape':[2],'scale':77,'zero_point':-3,"
                "'scale_frac_bits':10},'dst':{'fd':1}");
    peer_result(peer, 1, &result);
    assert_int_equal(result.dst.quant.count, 1);
    assert_int_equal(result.dst.quant.axis, -1);
    assert_int_equal(result.dst.quant.scale[0], 77);
    assert_int_equal(result.dst.quant.zero_point[0], -3);
    assert_int_equal(result.dst.quant.scale_frac_bits[0], 10);
    job_result_finish(&result);
    close(src);
    close(dst);
}

/* The per-axis parameters stay with their axis through crop, permutation and padding. */
static void test_quantisation_per_axis(void **state)
{
    int src = counting_file(6), dst = memfd_with(NULL, 6);
    struct job_result result;

    (void)state;
    peer_submit(peer, 1, src, dst,
                "'op':'mov','src':{'fd':0,'type':'sa8','shape':[2,3],'axis':1,"
                "'scale':[11,12,13],'zero_point':[-1,-2,-3],'scale_frac_bits':4},"
                "'cfg':{'offset':[0,1],'padding_post':[0,1],'perm_dim':[1,0]},'dst':{'fd':1}");
    peer_result(peer, 1, &result);
    assert_int_equal(result.dst.quant.axis, 0);
    assert_int_equal(result.dst.quant.count, 3);
    assert_memory_equal(result.dst.quant.scale, ((int16_t[]){12, 13, 1}), 6);
    assert_memory_equal(result.dst.quant.zero_point, ((int16_t[]){-2, -3, 0}), 6);
    assert_memory_equal(result.dst.quant.scale_frac_bits, ((int8_t[]){4, 4, 0}), 3);
    assert_file(dst, "\1\4\2\5\0\0", 6);
    job_result_finish(&result);
    close(src);
    close(dst);
}

/* Entries that the move does not write keep the destination's parameters. */
static void test_quantisation_of_an_update(void **state)
{
    int src = counting_file(2), dst = memfd_with("wxyz", 4);
    struct job_result result;

    (void)state;
    peer_submit(peer, 1, src, dst,
                "'op':'mov','src':{'fd':0,'type':'sa8','shape':[2],'axis':0,'scale':[11,12]},"
                "'cfg':{'dst_offset':[1]},"
                "'dst':{'fd':1,'shape':[4],'axis':0,'scale':[5,6,7,8],'zero_point':9}");
    peer_result(peer, 1, &result);
    assert_int_equal(result.dst.quant.count, 3);
    assert_memory_equal(result.dst.quant.scale, ((int16_t[]){5, 11, 12}), 6);
    assert_memory_equal(result.dst.quant.zero_point, ((int16_t[]){9, 0, 0}), 6);
    assert_file(dst, "w\0\1z", 4);
    job_result_finish(&result);

    peer_submit(peer, 2, src, dst,
                "'op':'mov','src':{'fd':0,'type':'sa8','shape':[2,1],'axis':0,'scale':[11,12]},"
                "'dst':{'fd':1,'shape':[2,1],'axis':1,'scale':[5]}");
    assert_string_equal(peer_error(peer, 2, FAULT_INVALID_PARAMS)->pointer, "/dst/axis");

    peer_submit(peer, 3, src, dst,
                "'op':'mov','src':{'fd':0,'type':'sa8','shape':[2],'axis':0,'scale':[11,12]},"
                "'cfg':{'dst_offset':[2]},'dst':{'fd':1,'axis':0,'scale':[5]}");
    assert_string_equal(
        peer_error(peer, 3, FAULT_INVALID_PARAMS)->text,
        "dst: 1 parameters given along axis 0; the 2 before cfg.dst_offset are needed");

    peer_submit(peer, 4, src, dst,
                "'op':'mov','src':{'fd':0,'type':'sa8','shape':[2]},'dst':{'fd':1,'scale':5}");
    assert_string_equal(peer_error(peer, 4, FAULT_INVALID_PARAMS)->pointer, "/dst");
    assert_file(dst, "w\0\1z", 4);
    close(src);
    close(dst);
}

/* A job with too many parameters for a reply line is refused. */
static void test_reply_too_long(void **state)
{
    int src = counting_file(1), dst = memfd_with(NULL, 100 * 1000);

    (void)state;
    peer_submit(peer, 1, src, dst,
                "'op':'mov','src':{'fd':0,'type':'sa8','shape':[1],'axis':0,'scale':[1]},"
                "'cfg':{'dst_offset':[60000]},'dst':{'fd':1}");
    assert_string_equal(peer_error(peer, 1, FAULT_LIMIT)->pointer, "/cfg/dst_offset");
    /* The maximum number of parameters fits on one line. */
    peer_submit(peer, 2, src, dst,
                "'op':'mov','src':{'fd':0,'type':'sa8','shape':[1],'axis':0,'scale':[1]},"
                "'cfg':{'dst_offset':[54971]},'dst':{'fd':1,'axis':0,'shape':[54972],"
                "'scale':-32768,'zero_point':-32768,'scale_frac_bits':-128}");
    peer_error(peer, 2, FAULT_INVALID_PARAMS); /* "axis" requires an array */
    peer_submit(peer, 3, src, dst,
                "'op':'mov','src':{'fd':0,'type':'sa8','shape':[1],'axis':0,'scale':[1]},"
                "'cfg':{'dst_offset':[54970]},'dst':{'fd':1,"
                "'scale':-32768,'zero_point':-32768,'scale_frac_bits':-128}");
    peer_ok(peer, 3);
    close(src);
    close(dst);
}

static void test_pipelined(void **state)
{
    enum { JOBS = 200 };
    int src = counting_file(64), dst[JOBS];
    bool seen[JOBS] = {false};
    unsigned char bytes[64];

    (void)state;
    for (int i = 0; i < JOBS; i++) {
        dst[i] = memfd_with(NULL, 64);
        peer_submit(peer, i, src, dst[i],
                    "'op':'mov','src':{'fd':0,'type':'fx8','shape':[64]},'dst':{'fd':1}");
    }
    for (int i = 0; i < JOBS; i++) {
        int id = peer_ok(peer, -1);

        assert_in_range(id, 0, JOBS - 1);
        assert_false(seen[id]);
        seen[id] = true;
    }
    for (int i = 0; i < 64; i++)
        bytes[i] = (unsigned char)i;
    for (int i = 0; i < JOBS; i++) {
        assert_file(dst[i], bytes, 64);
        close(dst[i]);
    }
    close(src);
}

/* The error of a refused job has libmli's message; the job writes nothing. */
static void test_refusals_of_the_library(void **state)
{
    int src = counting_file(16), dst = memfd_with("................", 16);
    const struct fault *fault;

    (void)state;
    peer_submit(peer, 1, src, dst,
                "'op':'mov','src':{'fd':0,'type':'fx8','shape':[4,4]},'cfg':{'offset':[0,4]},"
                "'dst':{'fd':1}");
    fault = peer_error(peer, 1, FAULT_REFUSED);
    assert_int_equal(fault->status, MLI_STATUS_BAD_FUNC_CFG);
    assert_string_equal(fault->pointer, "/cfg/offset/1");
    peer_submit(peer, 2, src, dst,
                "'op':'mov','src':{'fd':0,'type':'fx8','shape':[4,4]},"
                "'cfg':{'dst_mem_stride':[2,1]},'dst':{'fd':1}");
    fault = peer_error(peer, 2, FAULT_REFUSED);
    assert_int_equal(fault->status, MLI_STATUS_INCOMPATEBLE_TENSORS);
    peer_submit(peer, 3, src, dst,
                "'op':'permute','src':{'fd':0,'type':'fx8','shape':[4,4]},"
                "'cfg':{'perm_dim':[1,1]},'dst':{'fd':1}");
    fault = peer_error(peer, 3, FAULT_REFUSED);
    assert_int_equal(fault->status, MLI_STATUS_BAD_FUNC_CFG);
    assert_file(dst, "................", 16);
    assert_int_equal(peer_info(peer).jobs_failed, 3);
    assert_int_equal(peer_info(peer).jobs_done, 0);
    close(src);
    close(dst);
}

static void test_result_beyond_the_destination(void **state)
{
    int src = counting_file(16), dst = memfd_with("................", 16);
    const struct fault *fault;

    (void)state;
    peer_submit(peer, 1, src, dst,
                "'op':'mov','src':{'fd':0,'type':'fx8','shape':[1,4]},'cfg':{'dst_offset':[0,5]},"
                "'dst':{'fd':1,'shape':[2,8]}");
    fault = peer_error(peer, 1, FAULT_INVALID_PARAMS);
    assert_string_equal(fault->pointer, "/cfg/dst_offset");
    assert_string_equal(fault->text, "dst.shape[1]: result reaches 9, the destination has 8");
    assert_file(dst, "................", 16);
    close(src);
    close(dst);
}

static void refuses_fds(int src, int dst, const char *pointer, const char *word)
{
    const struct fault *fault;

    peer_submit(peer, 1, src, dst,
                "'op':'mov','src':{'fd':0,'type':'fx8','shape':[16]},'dst':{'fd':1}");
    fault = peer_error(peer, 1, FAULT_BAD_DESCRIPTOR);
    assert_string_equal(fault->pointer, pointer);
    if (!strstr(fault->text, word))
        fail_msg("\"%s\" is not in: %s", word, fault->text);
}

static void test_bad_descriptors(void **state)
{
    int src = counting_file(16), dst = memfd_with("................", 16);
    int pipes[2], directory = open("/", O_RDONLY | O_DIRECTORY);
    char name[] = "/tmp/mlid-jobs-XXXXXX";
    int file = mkstemp(name), ro = open(name, O_RDONLY), wo = open(name, O_WRONLY);

    (void)state;
    unlink(name);
    assert_int_equal(pipe(pipes), 0);
    refuses_fds(pipes[0], dst, "/src/fd", "a pipe");
    refuses_fds(src, pipes[1], "/dst/fd", "a pipe");
    refuses_fds(peer->fd, dst, "/src/fd", "a socket");
    refuses_fds(directory, dst, "/src/fd", "a directory");
    refuses_fds(wo, dst, "/src/fd", "not open for reading");
    refuses_fds(src, ro, "/dst/fd", "reading and writing");
    refuses_fds(src, wo, "/dst/fd", "reading and writing");
    refuses_fds(file, dst, "/src/fd", "16 B are needed from offset 0, the file has 0 B");
    refuses_fds(src, file, "/dst/fd", "16 B are needed from offset 0, the file has 0 B");
    assert_file(dst, "................", 16);
    close(src);
    close(dst);
    close(pipes[0]);
    close(pipes[1]);
    close(directory);
    close(file);
    close(ro);
    close(wo);
}

static void test_one_file_for_both(void **state)
{
    int file = counting_file(16);
    const unsigned char want[] = {0, 1, 2, 3, 4, 5, 6, 7, 0, 1, 2, 3, 4, 5, 6, 7};
    const struct fault *fault;
    int again = dup(file);

    (void)state;
    /* Both tensors are in one file, which comes as one descriptor or as two. */
    peer_send(peer, &file, 1,
              "{'jsonrpc':'2.0','id':1,'method':'job.submit','fds':1,'params':{'op':'mov',"
              "'src':{'fd':0,'type':'fx8','shape':[8]},'dst':{'fd':0,'offset':7}}}");
    fault = peer_error(peer, 1, FAULT_REFUSED);
    assert_int_equal(fault->status, MLI_STATUS_INCOMPATEBLE_TENSORS);
    assert_string_equal(fault->pointer, "/dst");
    peer_submit(peer, 2, file, again,
                "'op':'mov','src':{'fd':0,'type':'fx8','shape':[8]},'dst':{'fd':1,'offset':7}");
    peer_error(peer, 2, FAULT_REFUSED);
    /* Ranges of one file that touch are allowed, even if they touch only because of dst_offset. */
    peer_submit(peer, 3, file, again,
                "'op':'mov','src':{'fd':0,'type':'fx8','shape':[8]},'dst':{'fd':1,'offset':8}");
    peer_ok(peer, 3);
    assert_file(file, want, 16);
    peer_submit(peer, 4, file, again,
                "'op':'mov','src':{'fd':0,'type':'fx8','shape':[8]},"
                "'cfg':{'dst_offset':[8]},'dst':{'fd':1}");
    peer_ok(peer, 4);
    close(file);
    close(again);
}

static void test_unused_descriptors(void **state)
{
    int src = counting_file(4), dst = memfd_with(NULL, 4);

    (void)state;
    peer_send(peer, (int[]){src, dst, src}, 3,
              "{'jsonrpc':'2.0','id':1,'method':'job.submit','fds':3,'params':{'op':'mov',"
              "'src':{'fd':0,'type':'fx8','shape':[4]},'dst':{'fd':1}}}");
    peer_error(peer, 1, FAULT_INVALID_PARAMS);
    peer_send(peer, &src, 1, "{'jsonrpc':'2.0','id':2,'method':'daemon.ping','fds':1}");
    peer_error(peer, 2, FAULT_INVALID_REQUEST);
    peer_send(peer, &src, 1, "{'jsonrpc':'2.0','id':3,'method':'daemon.info','fds':1}");
    peer_error(peer, 3, FAULT_INVALID_REQUEST);
    close(src);
    close(dst);
}

static void test_too_many_channels(void **state)
{
    int src = counting_file(4), dst = memfd_with(NULL, 4);
    const struct fault *fault;

    (void)state;
    peer_submit(peer, 1, src, dst,
                "'op':'mov','channels':5,'src':{'fd':0,'type':'fx8','shape':[4]},'dst':{'fd':1}");
    fault = peer_error(peer, 1, FAULT_LIMIT);
    assert_string_equal(fault->pointer, "/channels");
    peer_submit(peer, 2, src, dst,
                "'op':'mov','channels':4,'src':{'fd':0,'type':'fx8','shape':[4]},'dst':{'fd':1}");
    peer_ok(peer, 2);
    close(src);
    close(dst);
}

static int teardown_dead(void **state)
{
    (void)state;
    fixture_stop(&fixture);
    return 0;
}

static int setup_small_jobs(void **state)
{
    (void)state;
    fixture_config(&fixture.config);
    fixture.config.job_bytes = 100;
    fixture_start(&fixture);
    return 0;
}

static void test_job_bytes(void **state)
{
    int src = counting_file(60), dst = memfd_with(NULL, 60);

    (void)state;
    peer_submit(peer, 1, src, dst,
                "'op':'mov','src':{'fd':0,'type':'fx8','shape':[50]},'dst':{'fd':1}");
    peer_ok(peer, 1);
    peer_submit(peer, 2, src, dst,
                "'op':'mov','src':{'fd':0,'type':'fx8','shape':[51]},'dst':{'fd':1}");
    peer_error(peer, 2, FAULT_LIMIT);
    peer_submit(peer, 3, src, dst,
                "'op':'mov','src':{'fd':0,'type':'fp32','shape':[4294967295],"
                "'strides':[1000000]},'cfg':{'offset':[4294967294]},'dst':{'fd':1}");
    assert_int_equal(peer_error(peer, 3, FAULT_REFUSED)->status, MLI_STATUS_NOT_ENGH_MEM);
    peer_submit(peer, 4, src, dst,
                "'op':'mov','src':{'fd':0,'type':'fx8','shape':[4294967295]},"
                "'cfg':{'offset':[4294967294]},'dst':{'fd':1}");
    peer_error(peer, 4, FAULT_LIMIT);
    close(src);
    close(dst);
}

static void test_all_descriptors_are_closed(void **state)
{
    int src, dst, before;

    (void)state;
    src = counting_file(64);
    dst = memfd_with(NULL, 64);
    peer_expect_alive(peer);
    before = count_fds();
    for (int i = 0; i < 1000; i++) {
        peer_submit(peer, i, src, dst,
                    i % 3 ? "'op':'mov','src':{'fd':0,'type':'fx8','shape':[64]},'dst':{'fd':1}"
                          : "'op':'mov','src':{'fd':0,'type':'fx8','shape':[65]},'dst':{'fd':1}");
        if (i % 3)
            peer_ok(peer, i);
        else
            peer_error(peer, i, FAULT_BAD_DESCRIPTOR);
    }
    reaper_wait();
    assert_int_equal(count_fds(), before);
    close(src);
    close(dst);
}

#define JOB_TEST(function) cmocka_unit_test_setup_teardown(function, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        JOB_TEST(test_ping_and_info),
        JOB_TEST(test_copy),
        JOB_TEST(test_offsets_in_files),
        JOB_TEST(test_missing_strides),
        JOB_TEST(test_missing_strides_that_do_not_fit),
        JOB_TEST(test_only_padding),
        JOB_TEST(test_tile_of_short_file),
        JOB_TEST(test_permute),
        JOB_TEST(test_permute_of_floats),
        JOB_TEST(test_quantisation_per_tensor),
        JOB_TEST(test_quantisation_per_axis),
        JOB_TEST(test_quantisation_of_an_update),
        JOB_TEST(test_reply_too_long),
        JOB_TEST(test_pipelined),
        JOB_TEST(test_refusals_of_the_library),
        JOB_TEST(test_result_beyond_the_destination),
        JOB_TEST(test_bad_descriptors),
        JOB_TEST(test_one_file_for_both),
        JOB_TEST(test_unused_descriptors),
        JOB_TEST(test_too_many_channels),
        cmocka_unit_test_setup_teardown(test_job_bytes, setup_small_jobs, teardown_dead),
        JOB_TEST(test_all_descriptors_are_closed),
    };

    return cmocka_run_group_tests(tests, fixture_warm_up, NULL);
}

/* SPDX-License-Identifier: BSD-3-Clause */
#include <string.h>

#include "proto/wire/job.h"
#include "proto/wire/rpc.h"
#include "tests/support/proto_unit.h"

#define SRC           "\"src\":{\"fd\":0,\"type\":\"sa8\",\"shape\":[2,3]}"
#define DST           "\"dst\":{\"fd\":1}"
#define JOB(more)     "{\"op\":\"mov\"," SRC "," DST "," more "}"
#define WITH_SRC(src) "{\"op\":\"mov\",\"src\":" src "," DST "}"
#define WITH_DST(dst) "{\"op\":\"mov\"," SRC ",\"dst\":" dst "}"

static int read_job(const char *text, uint32_t fds, struct job *job, struct fault *fault)
{
    struct json root;
    int status;

    assert_no_fault(json_parse(text, strlen(text), &rpc_request_limits, &root, fault), fault);
    status = job_wire_read(&root, fds, job);
    json_free(&root);
    return status;
}

static void test_good(void **state)
{
    static const char text[] =
        "{\"op\":\"mov\",\"name\":\"t\",\"channels\":4,\"priority\":1,\"timeout_ms\":9,"
        "\"cfg\":{\"size\":[1,2],\"offset\":[]},"
        "\"src\":{\"fd\":1,\"offset\":128,\"type\":\"fx16\",\"shape\":[2,3],\"strides\":[3,1],"
        "\"frac_bits\":4},"
        "\"dst\":{\"fd\":0,\"offset\":64,\"shape\":[9,9],\"strides\":[9,1],\"frac_bits\":5}}";
    struct fault fault;
    struct job job;

    (void)state;
    assert_no_fault(read_job(text, 2, &job, &fault), &fault);
    assert_int_equal(job.common.op, JOB_OP_MOV);
    assert_string_equal(job.common.name, "t");
    assert_int_equal(job.common.channels, 4);
    assert_int_equal(job.src.where, TENSOR_IN_FD);
    assert_int_equal(job.src.fd, 1);
    assert_int_equal(job.src.offset, 128);
    assert_int_equal(job.src.desc.quant.frac_bits, 4);
    assert_int_equal(job.dst.fd, 0);
    assert_int_equal(job.dst.offset, 64);
    assert_int_equal(job.dst.desc.rank, 2);
    assert_int_equal(job.dst.desc.stride_count, 2);
    assert_false(job.dst.desc.has_type);
    assert_int_equal(job.common.lengths.size, 2);
    job_finish(&job);
    job_finish(&job);
}

static void test_bad(void **state)
{
    static const struct bad cases[] = {
        {"[]", "", "an object is required, not an array"},
        {"{}", "/op", "op: missing, \"mov\" or \"permute\" is required"},
        {"{\"op\":\"move\"}", "/op", "op: \"move\" is unknown; did you mean \"mov\"?"},
        {"{\"op\":\"mov\"}", "/src", "src: missing, an object is required"},
        {"{\"op\":\"mov\"," SRC "}", "/dst", "dst: missing, an object is required"},
        {JOB("\"after\":[1,\"7\"]"), "/after/1",
         "after[1]: a name must not consist of digits only; write a job's number without quotes"},
        {JOB("\"after\":[0]"), "/after/0", "after[0]: 0 given; must be 1 to 9007199254740991"},
        {JOB("\"after\":1"), "/after", "after: an array is required, not a number"},
        {JOB("\"detach\":1"), "/detach", "detach: true or false is required, not a number"},
        {JOB("\"name\":\"12\""), "/name",
         "name: a name must not consist of digits only; write a job's number without quotes"},
        {WITH_SRC("{\"fd\":0,\"buffer\":1}"), "/src/buffer",
         "src.buffer: given beside \"fd\"; only one of the two is allowed"},
        {WITH_SRC("{\"buffer\":0}"), "/src/buffer", "src.buffer: 0 given; must be 1 to 4294967295"},
        {JOB("\"expect\":{}"), "/expect", "expect: unknown member"},
        {JOB("\"slice\":\"1:\""), "/slice", "slice: unknown member"},
        {JOB("\"op\":\"mov\""), "/op", "op: given twice"},
        {JOB("\"channels\":17"), "/channels", "channels: 17 given; must be 1 to 16"},
        {JOB("\"cfg\":{\"offset\":[0,-1]}"), "/cfg/offset/1",
         "cfg.offset[1]: -1 given; must be 0 to 4294967295"},
        {JOB("\"cfg\":{\"offset\":[0,0,0,0,0]}"), "/cfg/offset",
         "cfg.offset: 5 entries given; at most 4 are allowed"},
        {JOB("\"cfg\":{\"offset\":[0]}"), "/cfg/offset",
         "cfg.offset: 1 entries given, but the source has 2 dimensions"},
        {JOB("\"cfg\":{\"perm_dim\":[0,4]}"), "/cfg/perm_dim/1",
         "cfg.perm_dim[1]: 4 given; must be 0 to 3"},
        {WITH_SRC("{}"), "/src/fd", "src.fd: missing; a descriptor or a \"buffer\" is required"},
        {WITH_SRC("{\"fd\":2}"), "/src/fd",
         "src.fd: 2 given, but the message carries 2 descriptors (from 0)"},
        {WITH_SRC("{\"fd\":-1}"), "/src/fd", "src.fd: -1 given; must be 0 to 4294967295"},
        {WITH_SRC("{\"file\":\"/etc/passwd\"}"), "/src/file", "src.file: unknown member"},
        {WITH_SRC("{\"fd\":0}"), "/src/shape", "src.shape: missing, an array is required"},
        {WITH_SRC("{\"fd\":0,\"shape\":[1]}"), "/src/type",
         "src.type: missing, a string is required"},
        {WITH_SRC("{\"fd\":0,\"shape\":[1],\"type\":\"fx8\",\"offset\":-1}"), "/src/offset",
         "src.offset: -1 given; must be 0 to 9007199254740991"},
        {WITH_SRC("{\"fd\":0,\"shape\":[1],\"type\":\"fx8\",\"update\":true}"), "/src/update",
         "src.update: unknown member"},
        {WITH_DST("{}"), "/dst/fd", "dst.fd: missing; a descriptor or a \"buffer\" is required"},
        {WITH_DST("{\"fd\":7}"), "/dst/fd",
         "dst.fd: 7 given, but the message carries 2 descriptors (from 0)"},
        {WITH_DST("{\"fd\":1,\"type\":\"sa8\"}"), "/dst/type", "dst.type: unknown member"},
        {WITH_DST("{\"fd\":1,\"shape\":[1,2,3]}"), "/dst/shape",
         "dst.shape: 3 entries given, but the source has 2 dimensions"},
        {WITH_DST("{\"fd\":1,\"strides\":[1]}"), "/dst/strides",
         "dst.strides: 1 entries given, but the source has 2 dimensions"},
        {WITH_DST("{\"fd\":1,\"frac_bits\":1}"), "/dst/frac_bits",
         "dst.frac_bits: only fx8 and fx16 have this parameter, not sa8"},
        {WITH_DST("{\"fd\":1,\"shape\":[2,4],\"axis\":1,\"scale\":[1,2,3]}"), "/dst/axis",
         "dst.axis: 3 entries given along dimension 1, but shape[1] is 4"},
    };

    (void)state;
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct fault fault = {0};
        struct job job;

        assert_int_equal(read_job(cases[i].input, 2, &job, &fault), -1);
        assert_fault(&fault, FAULT_INVALID_PARAMS, cases[i].pointer, cases[i].text, cases[i].input);
        assert_null(job.common.name); /* the job is empty, and need not be finished */
        assert_null(job.src.desc.quant.scale);
    }
}

static void test_no_descriptors(void **state)
{
    struct fault fault;
    struct job job;

    (void)state;
    assert_int_equal(read_job(JOB("\"channels\":1"), 0, &job, &fault), -1);
    assert_fault(&fault, FAULT_INVALID_PARAMS, "/src/fd",
                 "src.fd: 0 given, but the message carries 0 descriptors (from 0)", "none");
}

static void test_round_trip(void **state)
{
    static const char *const texts[] = {
        "{\"op\":\"mov\"," SRC "," DST "}",
        "{\"op\":\"permute\",\"name\":\"n\",\"cfg\":{\"perm_dim\":[1,0]},\"channels\":2,"
        "\"priority\":-1,\"timeout_ms\":7,"
        "\"src\":{\"fd\":1,\"offset\":9007199254740991,\"type\":\"sa8\",\"shape\":[2,3],"
        "\"strides\":[5,1],\"axis\":1,\"scale\":[1,2,3],\"zero_point\":[0,0,0],"
        "\"scale_frac_bits\":[7,8,9]},"
        "\"dst\":{\"fd\":0,\"offset\":1,\"shape\":[3,2],\"strides\":[2,1],\"scale\":4,"
        "\"zero_point\":0,\"scale_frac_bits\":0}}",
        "{\"op\":\"mov\",\"cfg\":{\"offset\":[1,2],\"size\":[1,1],\"sub_sample_step\":[2,2],"
        "\"perm_dim\":[1,0],\"padding_pre\":[1,1],\"padding_post\":[2,2],\"dst_offset\":[4,4],"
        "\"dst_mem_stride\":[9,0]}," SRC "," DST "}",
    };

    (void)state;
    for (size_t i = 0; i < COUNT_OF(texts); i++) {
        struct fault fault;
        struct jsonw w;
        struct job job;

        jsonw_init(&w);
        assert_no_fault(read_job(texts[i], 2, &job, &fault), &fault);
        job_wire_write(&w, NULL, &job);
        assert_string_equal(jsonw_text(&w), texts[i]);
        jsonw_finish(&w);
        job_finish(&job);
    }
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_good),
        cmocka_unit_test(test_bad),
        cmocka_unit_test(test_no_descriptors),
        cmocka_unit_test(test_round_trip),
    };

    return cmocka_run_group_tests_name("job_wire", tests, NULL, NULL);
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests the buffers of job files: the member "buffers" of the file, and "buffer" of src and dst. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "proto/file/job_file.h"
#include "proto/file/job_spec.h"
#include "tests/support/proto_unit.h"

/* Returns a file with these buffers, and with one job that has these tensors. */
#define FILE_WITH(buffers, src, dst)                                                               \
    "{\"buffers\":[" buffers "],\"jobs\":[{\"op\":\"mov\",\"src\":{" src "},\"dst\":{" dst "}}]}"
#define BUFFERS                                                                                    \
    "{\"name\":\"in0\",\"bytes\":64,\"memory\":\"vccm\",\"address\":\"0x90000000\"},"              \
    "{\"name\":\"out\",\"bytes\":128}"
#define SRC_FILE   "\"file\":\"a.npy\""
#define DST_FILE   "\"file\":\"b.npy\""
#define SRC_BUFFER "\"buffer\":\"in0\",\"type\":\"sa8\",\"shape\":[4,4]"
#define DST_BUFFER "\"buffer\":\"out\""

static int parse(const char *text, struct job_list *list, struct fault *fault)
{
    return job_file_parse(text, strlen(text), list, fault);
}

static void test_good(void **state)
{
    static const char text[] =
        FILE_WITH(BUFFERS, "\"offset\":8,\"strides\":[8,1],\"scale\":3," SRC_BUFFER,
                  "\"offset\":16,\"shape\":[8,8],\"strides\":[16,0]," DST_BUFFER);
    struct job_list list;
    struct fault fault;

    (void)state;
    assert_no_fault(parse(text, &list, &fault), &fault);
    assert_int_equal(list.buffer_count, 2);
    assert_string_equal(list.buffers[0].name, "in0");
    assert_int_equal(list.buffers[0].bytes, 64);
    assert_string_equal(list.buffers[0].memory, "vccm");
    assert_true(list.buffers[0].has_address);
    assert_int_equal(list.buffers[0].address, 0x90000000);
    assert_string_equal(list.buffers[1].memory, "");
    assert_false(list.buffers[1].has_address);
    assert_string_equal(list.jobs[0].src.buffer, "in0");
    assert_int_equal(list.jobs[0].src.buffer_index, 0);
    assert_int_equal(list.jobs[0].src.offset, 8);
    assert_int_equal(list.jobs[0].dst.buffer_index, 1);
    assert_int_equal(list.jobs[0].dst.offset, 16);
    assert_int_equal(list.jobs[0].dst.desc.rank, 2);
    assert_int_equal(list.jobs[0].dst.desc.strides[0], 16);
    job_list_finish(&list);
}

/* Writes a parsed job file and parses it again: the result must be equal. */
static void test_round_trip(void **state)
{
    static const char text[] =
        FILE_WITH(BUFFERS, "\"offset\":8," SRC_BUFFER, "\"shape\":[8,8],\"offset\":4," DST_BUFFER);
    struct job_list first, second;
    struct fault fault;
    struct jsonw w;

    (void)state;
    assert_no_fault(parse(text, &first, &fault), &fault);
    jsonw_init(&w);
    jsonw_object_begin(&w, NULL);
    buffer_specs_write(&w, first.buffers, first.buffer_count);
    jsonw_array_begin(&w, "jobs");
    job_file_write(&w, NULL, &first.jobs[0]);
    jsonw_array_end(&w);
    jsonw_object_end(&w);
    assert_no_fault(job_file_parse(jsonw_text(&w), w.length, &second, &fault), &fault);
    assert_int_equal(second.buffer_count, 2);
    assert_int_equal(second.buffers[0].address, 0x90000000);
    assert_int_equal(second.jobs[0].src.offset, 8);
    assert_string_equal(second.jobs[0].dst.buffer, "out");
    assert_int_equal(second.jobs[0].dst.offset, 4);
    assert_int_equal(second.jobs[0].dst.desc.shape[1], 8);
    jsonw_finish(&w);
    job_list_finish(&first);
    job_list_finish(&second);
}

static void check_bad(const struct bad *cases, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        struct job_list list;
        struct fault fault;

        assert_int_equal(parse(cases[i].input, &list, &fault), -1);
        assert_fault(&fault, FAULT_INVALID_PARAMS, cases[i].pointer, cases[i].text, cases[i].input);
        assert_int_equal(list.buffer_count, 0);
    }
}

static void test_bad_buffers(void **state)
{
#define WITH_BUFFER(buffer) FILE_WITH(buffer, SRC_FILE, DST_FILE)
    static const struct bad cases[] = {
        {WITH_BUFFER("1"), "/buffers/0", "buffers[0]: an object is required, not a number"},
        {WITH_BUFFER("{}"), "/buffers/0/name", "buffers[0].name: missing, jobs name the buffer"},
        {WITH_BUFFER("{\"name\":\"a b\",\"bytes\":1}"), "/buffers/0/name",
         "buffers[0].name: a name may contain only A-Z a-z 0-9 _ . : -"},
        {WITH_BUFFER("{\"name\":\"a\"}"), "/buffers/0/bytes",
         "buffers[0].bytes: missing, a whole number is required"},
        {WITH_BUFFER("{\"name\":\"a\",\"bytes\":0}"), "/buffers/0/bytes",
         "buffers[0].bytes: 0 given; must be 1 to 9007199254740991"},
        {WITH_BUFFER("{\"name\":\"a\",\"bytes\":1,\"size\":1}"), "/buffers/0/size",
         "buffers[0].size: unknown member"},
        {WITH_BUFFER("{\"name\":\"a\",\"bytes\":1,\"address\":16}"), "/buffers/0/address",
         "buffers[0].address: allowed only with \"memory\""},
        {WITH_BUFFER("{\"name\":\"a\",\"bytes\":1,\"memory\":\"m\",\"address\":\"90000000\"}"),
         "/buffers/0/address",
         "buffers[0].address: \"90000000\" given; hexadecimal digits after \"0x\" are required"},
        {WITH_BUFFER("{\"name\":\"a\",\"bytes\":1,\"memory\":\"m\",\"address\":\"0x\"}"),
         "/buffers/0/address",
         "buffers[0].address: \"0x\" given; hexadecimal digits after \"0x\" are required"},
        {WITH_BUFFER("{\"name\":\"a\",\"bytes\":1,\"memory\":\"m\",\"address\":"
                     "\"0x40000000000000\"}"),
         "/buffers/0/address",
         "buffers[0].address: 0x40000000000000 given; at most 0x1fffffffffffff is allowed"},
        {WITH_BUFFER("{\"name\":\"a\",\"bytes\":1,\"memory\":\"m\",\"address\":"
                     "\"0x000000000000001\"}"),
         "/buffers/0/address", "buffers[0].address: 17 bytes given; at most 16 are allowed"},
        {WITH_BUFFER("{\"name\":\"a\",\"bytes\":1,\"memory\":\"m\",\"address\":-1}"),
         "/buffers/0/address", "buffers[0].address: -1 given; must be 0 to 9007199254740991"},
        {WITH_BUFFER("{\"name\":\"a\",\"bytes\":1},{\"name\":\"b\",\"bytes\":1},"
                     "{\"name\":\"a\",\"bytes\":1}"),
         "/buffers/2/name", "name: \"a\" is already the name of the buffer /buffers/0"},
    };

    (void)state;
    check_bad(cases, COUNT_OF(cases));
}

static void test_bad_tensors(void **state)
{
#define WITH_SRC(src) FILE_WITH(BUFFERS, src, DST_FILE)
#define WITH_DST(dst) FILE_WITH(BUFFERS, SRC_FILE, dst)
#define OF_A_FILE     "describes a file; not allowed with \"buffer\""
    static const struct bad cases[] = {
        {WITH_SRC(SRC_FILE "," SRC_BUFFER), "/jobs/0/src/buffer",
         "src.buffer: given beside \"file\"; only one of the two is allowed"},
        {WITH_SRC("\"buffer\":\"in0\",\"type\":\"fx8\""), "/jobs/0/src/shape",
         "src.shape: missing, a buffer has no header that states it"},
        {WITH_SRC("\"buffer\":\"in0\",\"shape\":[1]"), "/jobs/0/src/type",
         "src.type: missing, a buffer has no header that states it"},
        {WITH_SRC("\"format\":\"raw\"," SRC_BUFFER), "/jobs/0/src/format",
         "src.format: " OF_A_FILE},
        {WITH_SRC("\"tensor\":\"w\"," SRC_BUFFER), "/jobs/0/src/tensor", "src.tensor: " OF_A_FILE},
        {WITH_SRC("\"memory\":\"vccm\"," SRC_BUFFER), "/jobs/0/src/memory",
         "src.memory: the tensor is in the memory of its buffer; give \"memory\" in "
         "\"buffers\""},
        {WITH_SRC("\"buffer\":\"in1\",\"type\":\"fx8\",\"shape\":[1]"), "/jobs/0/src/buffer",
         "src.buffer: no buffer of this file is named \"in1\"; did you mean \"in0\"?"},
        {WITH_DST(DST_FILE "," DST_BUFFER), "/jobs/0/dst/buffer",
         "dst.buffer: given beside \"file\"; only one of the two is allowed"},
        {WITH_DST("\"update\":true," DST_BUFFER), "/jobs/0/dst/update", "dst.update: " OF_A_FILE},
        {WITH_DST("\"params\":\"p.json\"," DST_BUFFER), "/jobs/0/dst/params",
         "dst.params: " OF_A_FILE},
        {WITH_DST("\"frac_bits\":1," DST_BUFFER), "/jobs/0/dst/frac_bits",
         "dst.frac_bits: a buffer holds elements only; give the parameters in the src that "
         "reads it"},
        {WITH_DST("\"buffer\":\"elsewhere\""), "/jobs/0/dst/buffer",
         "dst.buffer: no buffer of this file is named \"elsewhere\""},
        {"{\"op\":\"mov\",\"src\":{" SRC_FILE "},\"dst\":{" DST_BUFFER "}}", "/dst/buffer",
         "dst.buffer: \"out\" given, but the file has no \"buffers\" (in the form {\"buffers\": "
         "[...], \"jobs\": [...]})"},
    };

    (void)state;
    check_bad(cases, COUNT_OF(cases));
}

/* A job that writes to a buffer may expect an error, but no file: only results in files can be
 * compared. */
static void test_expectations(void **state)
{
#define JOB_WITH(expect)                                                                           \
    "{\"buffers\":[" BUFFERS "],\"jobs\":[{\"op\":\"mov\",\"src\":{" SRC_FILE                      \
    "},\"dst\":{" DST_BUFFER "},\"expect\":{" expect "}}]}"
#define NOT_SAVED                                                                                  \
    "dst is a buffer, which is not saved; put \"expect\" into the job that writes \"out\" to a "   \
    "file"
    static const struct bad cases[] = {
        {JOB_WITH("\"file\":\"g.npy\""), "/jobs/0/expect/file", "expect.file: " NOT_SAVED},
        {JOB_WITH("\"digest\":"
                  "\"sha256:0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef\""),
         "/jobs/0/expect/digest", "expect.digest: " NOT_SAVED},
    };
    struct job_list list;
    struct fault fault;

    (void)state;
    check_bad(cases, COUNT_OF(cases));
    assert_no_fault(parse(JOB_WITH("\"error\":\"NO_ROOM\""), &list, &fault), &fault);
    job_list_finish(&list);
}

static void test_limits(void **state)
{
    struct job_list list;
    struct fault fault;
    struct jsonw w;

    (void)state;
    for (int more = 0; more < 2; more++) {
        jsonw_init(&w);
        jsonw_object_begin(&w, NULL);
        jsonw_array_begin(&w, "buffers");
        for (int i = 0; i < JOB_FILE_BUFFERS_MAX + more; i++) {
            char name[16];

            snprintf(name, sizeof name, "b%d", i);
            jsonw_object_begin(&w, NULL);
            jsonw_string(&w, "name", name);
            jsonw_uint(&w, "bytes", 1);
            jsonw_object_end(&w);
        }
        jsonw_array_end(&w);
        jsonw_array_begin(&w, "jobs");
        jsonw_array_end(&w);
        jsonw_object_end(&w);
        assert_int_equal(job_file_parse(jsonw_text(&w), w.length, &list, &fault), -1);
        if (more)
            assert_fault(&fault, FAULT_INVALID_PARAMS, "/buffers",
                         "buffers: 4097 entries given; at most 4096 are allowed", "many");
        else
            assert_string_equal(fault.pointer, "/jobs");
        jsonw_finish(&w);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_good),         cmocka_unit_test(test_round_trip),
        cmocka_unit_test(test_bad_buffers),  cmocka_unit_test(test_bad_tensors),
        cmocka_unit_test(test_expectations), cmocka_unit_test(test_limits),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

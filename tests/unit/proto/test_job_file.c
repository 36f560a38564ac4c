/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "proto/file/job_file.h"
#include "proto/file/job_spec.h"
#include "proto/wire/wire_limits.h"
#include "tests/support/proto_unit.h"

/* The smallest job, with further members as in JOB("\"channels\":2"). */
#define SRC           "\"src\":{\"file\":\"a.npy\"}"
#define RAW           "\"src\":{\"file\":\"a.bin\",\"shape\":[2,3],\"type\":\"sa8\"}"
#define DST           "\"dst\":{\"file\":\"b.npy\"}"
#define JOB(more)     "{\"op\":\"mov\"," SRC "," DST "," more "}"
#define RAWJOB(more)  "{\"op\":\"mov\"," RAW "," DST "," more "}"
#define WITH_SRC(src) "{\"op\":\"mov\",\"src\":" src "," DST "}"
#define WITH_DST(dst) "{\"op\":\"mov\"," SRC ",\"dst\":" dst "}"
#define MINIMAL       "{\"op\":\"mov\"," SRC "," DST "}"

static int parse(const char *text, struct job_list *list, struct fault *fault)
{
    return job_file_parse(text, strlen(text), list, fault);
}

static void check_bad(const struct bad *cases, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        struct job_list list;
        struct fault fault = {0};

        assert_int_equal(parse(cases[i].input, &list, &fault), -1);
        assert_fault(&fault, FAULT_INVALID_PARAMS, cases[i].pointer, cases[i].text, cases[i].input);
        assert_int_equal(list.count, 0);
        assert_null(list.jobs);
    }
}

/* "$schema" is allowed only in the root: editors find the schema of a file there. */
static void test_schema(void **state)
{
    static const char *const good[] = {
        JOB("\"$schema\":\"/usr/share/mli/job.schema.json\""),
        "{\"$schema\":\"x\",\"jobs\":[" MINIMAL "]}",
        "{\"defaults\":{},\"jobs\":[" MINIMAL "],\"$schema\":\"x\"}",
    };
    static const struct bad bad[] = {
        {JOB("\"$schema\":1"), "/$schema", "$schema: a string is required, not a number"},
        {JOB("\"$schema\":\"\""), "/$schema", "$schema: must not be empty"},
        {JOB("\"$schem\":\"x\""), "/$schem", "$schem: unknown member; did you mean \"$schema\"?"},
        {"{\"$schema\":null,\"jobs\":[" MINIMAL "]}", "/$schema",
         "$schema: a string is required, not null"},
        {"[" JOB("\"$schema\":\"x\"") "]", "/0/$schema", "$schema: unknown member"},
        {"{\"jobs\":[" JOB("\"$schema\":\"x\"") "]}", "/jobs/0/$schema", "$schema: unknown member"},
        {"{\"defaults\":{\"$schema\":\"x\"},\"jobs\":[" MINIMAL "]}", "/defaults/$schema",
         "$schema: unknown member"},
        {WITH_SRC("{\"file\":\"a.npy\",\"$schema\":\"x\"}"), "/src/$schema",
         "src.$schema: unknown member"},
    };

    (void)state;
    for (size_t i = 0; i < COUNT_OF(good); i++) {
        struct job_list list;
        struct fault fault;

        assert_no_fault(parse(good[i], &list, &fault), &fault);
        assert_int_equal(list.count, 1);
        job_list_finish(&list);
    }
    check_bad(bad, COUNT_OF(bad));
}

static void test_minimal(void **state)
{
    struct job_list list;
    struct fault fault;
    const struct job_spec *job;

    (void)state;
    assert_no_fault(parse(MINIMAL, &list, &fault), &fault);
    assert_int_equal(list.count, 1);
    job = &list.jobs[0];
    assert_int_equal(job->common.op, JOB_OP_MOV);
    assert_string_equal(job->pointer, "");
    assert_null(job->common.name);
    assert_string_equal(job->src.file, "a.npy");
    assert_int_equal(job->src.format, FILE_FORMAT_AUTO);
    assert_int_equal(tensor_spec_format(&job->src), FILE_FORMAT_NPY);
    assert_string_equal(job->dst.file, "b.npy");
    assert_false(job->dst.update);
    assert_null(job->dst.params);
    assert_int_equal(job->common.channels, 1);
    assert_int_equal(job->common.priority, 0);
    assert_int_equal(job->common.timeout_ms, 0);
    assert_int_equal(job->after_count, 0);
    assert_int_equal(job->expect.kind, EXPECT_NOTHING);
    assert_null(job->slice);
    for (int i = 0; i < MLI_MAX_RANK; i++) {
        assert_int_equal(job->common.cfg.sub_sample_step[i], 1);
        assert_int_equal(job->common.cfg.perm_dim[i], i);
        assert_int_equal(job->common.cfg.size[i], 0);
    }
    job_list_finish(&list);
    job_list_finish(&list);
}

static void test_everything(void **state)
{
    static const char text[] =
        "{\"op\":\"permute\",\"src\":{\"file\":\"in.bin\",\"format\":\"raw\",\"offset\":128,"
        "\"type\":\"sa8\",\"shape\":[2,3,4],\"strides\":[12,4,1],\"axis\":2,"
        "\"scale\":[1,2,3,4],\"zero_point\":0,\"scale_frac_bits\":[1,1,1,1]},"
        "\"cfg\":{\"perm_dim\":[2,0,1]},"
        "\"dst\":{\"file\":\"out.raw\",\"strides\":[6,3,1],\"params\":\"out.json\"},"
        "\"channels\":16,\"priority\":-1,\"timeout_ms\":86400000,\"name\":\"tile-0:a_B.c\","
        "\"after\":[],\"expect\":{\"file\":\"golden.x\",\"format\":\"npy\"}}";
    struct job_list list;
    struct fault fault;
    const struct job_spec *job;

    (void)state;
    assert_no_fault(parse(text, &list, &fault), &fault);
    job = &list.jobs[0];
    assert_int_equal(job->common.op, JOB_OP_PERMUTE);
    assert_int_equal(job->src.format, FILE_FORMAT_RAW);
    assert_int_equal(job->src.offset, 128);
    assert_int_equal(job->src.desc.rank, 3);
    assert_int_equal(job->src.desc.quant.count, 4);
    assert_int_equal(job->common.cfg.perm_dim[0], 2);
    assert_int_equal(job->common.lengths.perm_dim, 3);
    assert_int_equal(job->common.lengths.offset, 0);
    assert_int_equal(job->dst.desc.stride_count, 3);
    assert_string_equal(job->dst.params, "out.json");
    assert_int_equal(job->common.channels, 16);
    assert_int_equal(job->common.priority, -1);
    assert_int_equal(job->common.timeout_ms, 86400000);
    assert_string_equal(job->common.name, "tile-0:a_B.c");
    assert_int_equal(job->expect.kind, EXPECT_FILE);
    assert_int_equal(tensor_spec_format(&job->expect.golden), FILE_FORMAT_NPY);
    job_list_finish(&list);
}

static void test_cfg(void **state)
{
    static const char text[] = RAWJOB(
        "\"cfg\":{\"offset\":[4294967295,0],\"size\":[1,2],\"sub_sample_step\":[1,4294967295],"
        "\"perm_dim\":[1,0],\"padding_pre\":[255,1],\"padding_post\":[0,2],"
        "\"dst_offset\":[3,4],\"dst_mem_stride\":[2147483647,0]}");
    struct job_list list;
    struct fault fault;
    const mli_mov_cfg_t *cfg;

    (void)state;
    assert_no_fault(parse(text, &list, &fault), &fault);
    cfg = &list.jobs[0].common.cfg;
    assert_true(cfg->offset[0] == UINT32_MAX);
    assert_int_equal(cfg->offset[2], 0);
    assert_int_equal(cfg->size[1], 2);
    assert_true(cfg->sub_sample_step[1] == UINT32_MAX);
    assert_int_equal(cfg->sub_sample_step[2], 1); /* missing entries get neutral values */
    assert_int_equal(cfg->perm_dim[0], 1);
    assert_int_equal(cfg->perm_dim[2], 2);
    assert_int_equal(cfg->padding_pre[0], 255);
    assert_int_equal(cfg->padding_post[1], 2);
    assert_int_equal(cfg->dst_offset[1], 4);
    assert_int_equal(cfg->dst_mem_stride[0], INT32_MAX);
    assert_int_equal(list.jobs[0].common.lengths.dst_mem_stride, 2);
    job_list_finish(&list);
}

/* Dimensions 4 to 7 are in a second cfg. */
static void test_cfg_of_rank_eight(void **state)
{
    struct job_list list;
    struct job_common *common;
    struct fault fault;

    (void)state;
    assert_no_fault(
        parse(JOB("\"cfg\":{\"size\":[1,2,3,4,5,6,7,8],\"padding_post\":[0,0,0,0,0,0,9],"
                  "\"dst_mem_stride\":[0,0,0,0,7],\"perm_dim\":[7,6,5,4,3,2,1,0]}"),
              &list, &fault),
        &fault);
    common = &list.jobs[0].common;
    for (uint32_t d = 0; d < TENSOR_RANK_MAX; d++) {
        assert_int_equal(job_cfg(common, size, d), d + 1);
        assert_int_equal(job_cfg(common, padding_post, d), d == 6 ? 9 : 0);
        assert_int_equal(job_cfg(common, dst_mem_stride, d), d == 4 ? 7 : 0);
        assert_int_equal(job_cfg(common, sub_sample_step, d), 1);
        assert_int_equal(job_cfg(common, perm_dim, d), 7 - d);
    }
    assert_int_equal(common->cfg.size[3], 4);
    job_list_finish(&list);
}

static void test_cfg_of_rank_four(void **state)
{
    struct job_list list;
    struct fault fault;

    (void)state;
    assert_no_fault(
        parse(JOB("\"cfg\":{\"offset\":[1,2,3,4],\"perm_dim\":[3,2,1,0]}"), &list, &fault), &fault);
    assert_int_equal(list.jobs[0].common.lengths.offset, 4);
    assert_int_equal(list.jobs[0].common.cfg.offset[3], 4);
    assert_int_equal(list.jobs[0].common.cfg.perm_dim[0], 3);
    job_list_finish(&list);
}

static void test_slice(void **state)
{
    static const char text[] = "{\"defaults\":{\"op\":\"mov\",\"slice\":\"1:9\"," SRC "," DST "},"
                               "\"jobs\":[{},{\"slice\":\"...,::2\"},"
                               "{\"cfg\":{\"offset\":[],\"perm_dim\":[1,0]}}]}";
    struct job_list list;
    struct fault fault;

    (void)state;
    assert_no_fault(parse(text, &list, &fault), &fault);
    assert_string_equal(list.jobs[0].slice, "1:9");
    assert_string_equal(list.jobs[1].slice, "...,::2");
    assert_string_equal(list.jobs[2].slice, "1:9");
    assert_int_equal(list.jobs[2].common.lengths.offset, 0);
    job_list_finish(&list);
}

static void test_bad_slice(void **state)
{
    static const struct bad cases[] = {
        {JOB("\"slice\":[1]"), "/slice", "slice: a string is required, not an array"},
        {JOB("\"slice\":\"\""), "/slice", "slice: must not be empty"},
        {JOB("\"slice\":\"3\""), "/slice",
         "slice: entry 1 is the index 3, and a move does not drop dimensions; write 3:4"},
        {JOB("\"slice\":\":,]\""), "/slice",
         "slice: character 3 is ']', where a number, ':' or '...' is expected"},
        {JOB("\"slice\":\"1:\",\"cfg\":{\"offset\":[1]}"), "/slice",
         "slice: replaces cfg.offset; give only one of the two"},
        {JOB("\"slice\":\"1:\",\"cfg\":{\"size\":[1]}"), "/slice",
         "slice: replaces cfg.size; give only one of the two"},
        {JOB("\"cfg\":{\"sub_sample_step\":[1]},\"slice\":\"1:\""), "/slice",
         "slice: replaces cfg.sub_sample_step; give only one of the two"},
        {"{\"op\":\"permute\"," SRC "," DST ",\"slice\":\"1:\"}", "/slice",
         "slice: a permute takes cfg.perm_dim only; use \"op\": \"mov\""},
        {"{\"defaults\":{\"slice\":\"1\"},\"jobs\":[" MINIMAL "]}", "/defaults/slice",
         "slice: entry 1 is the index 1, and a move does not drop dimensions; write 1:2"},
        {"{\"defaults\":{\"slice\":\"1:\"},\"jobs\":[" JOB("\"cfg\":{\"size\":[1]}") "]}",
         "/defaults/slice",
         "slice: replaces cfg.size; give only one of the two (for the job /jobs/0)"},
    };

    (void)state;
    check_bad(cases, COUNT_OF(cases));
}

static void test_not_json(void **state)
{
    static const struct bad cases[] = {
        {"", "", "the text ends where a value is expected"},
        {"{\"op\":\"mov\",", "",
         "the text ends where a member's name in double quotes is expected"},
        {MINIMAL "x", "", "the end of the text is expected, not 'x'"},
        {"\xef\xbb\xbf" MINIMAL, "", "the text must not begin with a byte order mark"},
        {JOB("\"timeout_ms\":1e999"), "/timeout_ms",
         "1e999: a whole number is required, without fraction or exponent"},
        {JOB("\"cfg\":{\"size\":[1.5]}"), "/cfg/size/0",
         "1.5: a whole number is required, without fraction or exponent"},
        {JOB("\"cfg\":{\"size\":[1,9007199254740993]}"), "/cfg/size/1",
         "9007199254740993: whole numbers from -(2^53 - 1) to 2^53 - 1 are accepted"},
        {"[" MINIMAL "," MINIMAL ",{\"op\":\"a\\u0000\"}]", "/2/op",
         "\\u0000 is not accepted in a string"},
    };

    (void)state;
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct job_list list;
        struct fault fault;

        assert_int_equal(parse(cases[i].input, &list, &fault), -1);
        assert_fault(&fault, FAULT_PARSE_ERROR, cases[i].pointer, cases[i].text, cases[i].input);
        assert_int_equal(fault.line, 1);
        assert_true(fault.column > 0);
    }
}

static void test_huge(void **state)
{
    size_t size = (size_t)JOB_FILE_BYTES_MAX + 1;
    char *text = malloc(size);
    struct job_list list;
    struct fault fault;

    (void)state;
    assert_non_null(text);
    memset(text, ' ', size);
    assert_int_equal(job_file_parse(text, size, &list, &fault), -1);
    assert_fault(&fault, FAULT_LIMIT, "",
                 "the text has 67108865 bytes; at most 67108864 are accepted", "huge");
    memset(text, '[', size);
    assert_int_equal(job_file_parse(text, 100000, &list, &fault), -1);
    assert_int_equal(fault.code, FAULT_LIMIT);
    assert_string_equal(fault.text, "arrays and objects are nested more than 32 deep here");
    free(text);
}

static void test_bad_members(void **state)
{
    static const struct bad cases[] = {
        {"1", "", "an object is required, not a number"},
        {"\"mov\"", "", "an object is required, not a string"},
        {"null", "", "an object is required, not null"},
        {"{}", "/op", "op: missing, \"mov\" or \"permute\" is required"},
        {"{\"op\":\"mov\"}", "/src", "src: missing, an object is required"},
        {"{\"op\":\"mov\"," SRC "}", "/dst", "dst: missing, an object is required"},
        {"{\"op\":\"mvo\"," SRC "," DST "}", "/op",
         "op: \"mvo\" is unknown; did you mean \"mov\"?"},
        {"{\"op\":\"copy\"," SRC "," DST "}", "/op",
         "op: \"copy\" is unknown; known: mov, permute"},
        {"{\"op\":1," SRC "," DST "}", "/op", "op: a string is required, not a number"},
        {JOB("\"op\":\"mov\""), "/op", "op: given twice"},
        {JOB("\"\\u006fp\":\"mov\""), "/op", "op: given twice"},
        {JOB("\"chanels\":1"), "/chanels", "chanels: unknown member; did you mean \"channels\"?"},
        {JOB("\"foo\":{\"channels\":1}"), "/foo", "foo: unknown member"},
        {JOB("\"channels\":0"), "/channels", "channels: 0 given; must be 1 to 16"},
        {JOB("\"channels\":17"), "/channels", "channels: 17 given; must be 1 to 16"},
        {JOB("\"channels\":\"1\""), "/channels",
         "channels: a whole number is required, not a string"},
        {JOB("\"channels\":null"), "/channels", "channels: a whole number is required, not null"},
        {JOB("\"priority\":2"), "/priority", "priority: 2 given; must be -1 to 1"},
        {JOB("\"priority\":-2"), "/priority", "priority: -2 given; must be -1 to 1"},
        {JOB("\"timeout_ms\":-1"), "/timeout_ms", "timeout_ms: -1 given; must be 0 to 86400000"},
        {JOB("\"timeout_ms\":86400001"), "/timeout_ms",
         "timeout_ms: 86400001 given; must be 0 to 86400000"},
        {JOB("\"name\":\"\""), "/name", "name: must not be empty"},
        {JOB("\"name\":\"a b\""), "/name", "name: a name may contain only A-Z a-z 0-9 _ . : -"},
        {JOB("\"name\":\"a/b\""), "/name", "name: a name may contain only A-Z a-z 0-9 _ . : -"},
        {JOB("\"name\":\"\\u00e4\""), "/name", "name: a name may contain only A-Z a-z 0-9 _ . : -"},
        {JOB("\"after\":\"load\""), "/after", "after: an array is required, not a string"},
        {JOB("\"after\":[1]"), "/after/0", "after[0]: a string is required, not a number"},
        {JOB("\"after\":[\"no way\"]"), "/after/0",
         "after[0]: a name may contain only A-Z a-z 0-9 _ . : -"},
        {JOB("\"expect\":\"golden.npy\""), "/expect",
         "expect: an object is required, not a string"},
        {JOB("\"expect\":{}"), "/expect", "expect: \"file\", \"digest\" or \"error\" is required"},
        {JOB("\"expect\":{\"file\":\"g\",\"type\":\"fx8\"}"), "/expect/type",
         "expect.type: unknown member"},
    };

    (void)state;
    check_bad(cases, COUNT_OF(cases));
}

static void test_bad_cfg(void **state)
{
    static const struct bad cases[] = {
        {JOB("\"cfg\":[]"), "/cfg", "cfg: an object is required, not an array"},
        {JOB("\"cfg\":null"), "/cfg", "cfg: an object is required, not null"},
        {JOB("\"cfg\":{\"ofset\":[]}"), "/cfg/ofset",
         "cfg.ofset: unknown member; did you mean \"offset\"?"},
        {JOB("\"cfg\":{\"size\":[],\"size\":[]}"), "/cfg/size", "cfg.size: given twice"},
        {JOB("\"cfg\":{\"offset\":1}"), "/cfg/offset",
         "cfg.offset: an array is required, not a number"},
        {JOB("\"cfg\":{\"offset\":[0,0,0,0,0,0,0,0,0]}"), "/cfg/offset",
         "cfg.offset: 9 entries given; at most 8 are allowed"},
        {JOB("\"cfg\":{\"offset\":[0,-1]}"), "/cfg/offset/1",
         "cfg.offset[1]: -1 given; must be 0 to 4294967295"},
        {JOB("\"cfg\":{\"offset\":[4294967296]}"), "/cfg/offset/0",
         "cfg.offset[0]: 4294967296 given; must be 0 to 4294967295"},
        {JOB("\"cfg\":{\"size\":[\"1\"]}"), "/cfg/size/0",
         "cfg.size[0]: a whole number is required, not a string"},
        {JOB("\"cfg\":{\"size\":[[1]]}"), "/cfg/size/0",
         "cfg.size[0]: a whole number is required, not an array"},
        {JOB("\"cfg\":{\"sub_sample_step\":[0]}"), "/cfg/sub_sample_step/0",
         "cfg.sub_sample_step[0]: 0 given; must be 1 to 4294967295"},
        {JOB("\"cfg\":{\"perm_dim\":[0,8]}"), "/cfg/perm_dim/1",
         "cfg.perm_dim[1]: 8 given; must be 0 to 7"},
        {JOB("\"cfg\":{\"padding_pre\":[256]}"), "/cfg/padding_pre/0",
         "cfg.padding_pre[0]: 256 given; must be 0 to 255"},
        {JOB("\"cfg\":{\"padding_post\":[-1]}"), "/cfg/padding_post/0",
         "cfg.padding_post[0]: -1 given; must be 0 to 255"},
        {JOB("\"cfg\":{\"dst_offset\":[-1]}"), "/cfg/dst_offset/0",
         "cfg.dst_offset[0]: -1 given; must be 0 to 4294967295"},
        {JOB("\"cfg\":{\"dst_mem_stride\":[-1]}"), "/cfg/dst_mem_stride/0",
         "cfg.dst_mem_stride[0]: -1 given; must be 0 to 2147483647"},
        {JOB("\"cfg\":{\"dst_mem_stride\":[2147483648]}"), "/cfg/dst_mem_stride/0",
         "cfg.dst_mem_stride[0]: 2147483648 given; must be 0 to 2147483647"},
        {RAWJOB("\"cfg\":{\"size\":[1,2,3]}"), "/cfg/size",
         "cfg.size: 3 entries given, but the source has 2 dimensions"},
        {"{\"op\":\"permute\"," SRC "," DST ",\"cfg\":{\"perm_dim\":[1,0],\"size\":[1,1]}}",
         "/cfg/size", "cfg.size: a permute takes perm_dim only; use \"op\": \"mov\""},
        {"[" MINIMAL "," RAWJOB("\"cfg\":{\"size\":[1]}") "]", "/1/cfg/size",
         "cfg.size: 1 entries given, but the source has 2 dimensions"},
    };

    (void)state;
    check_bad(cases, COUNT_OF(cases));
}

static void test_bad_src(void **state)
{
#define NPY_SAYS     "stated in the header of the .npy file; remove it from the job"
#define ARCHIVE_SAYS "stated in the archive; remove it from the job"
#define NO_ARCHIVE   "names a tensor of an archive or a model; this file holds a single tensor"
    static const struct bad cases[] = {
        {WITH_SRC("1"), "/src", "src: an object is required, not a number"},
        {WITH_SRC("\"a.npy\""), "/src", "src: an object is required, not a string"},
        {WITH_SRC("{}"), "/src/file", "src.file: missing, the tensor's file or buffer is required"},
        {WITH_SRC("{\"file\":\"\"}"), "/src/file", "src.file: must not be empty"},
        {WITH_SRC("{\"file\":7}"), "/src/file", "src.file: a string is required, not a number"},
        {WITH_SRC("{\"flie\":\"a.npy\"}"), "/src/flie",
         "src.flie: unknown member; did you mean \"file\"?"},
        {WITH_SRC("{\"file\":\"a\",\"update\":true}"), "/src/update", "src.update: unknown member"},
        {WITH_SRC("{\"file\":\"a\",\"fd\":0}"), "/src/fd", "src.fd: unknown member"},
        {WITH_SRC("{\"file\":\"a\",\"format\":\"bin\"}"), "/src/format",
         "src.format: \"bin\" is unknown; known: npy, raw, npz, safetensors, onnx, tflite, pb"},
        {WITH_SRC("{\"file\":\"a.npy\",\"shape\":[1]}"), "/src/shape", "src.shape: " NPY_SAYS},
        {WITH_SRC("{\"file\":\"a.npy\",\"strides\":[1]}"), "/src/strides",
         "src.strides: " NPY_SAYS},
        {WITH_SRC("{\"file\":\"a.npy\",\"offset\":0}"), "/src/offset", "src.offset: " NPY_SAYS},
        {WITH_SRC("{\"file\":\"a.bin\",\"format\":\"npy\",\"shape\":[1]}"), "/src/shape",
         "src.shape: " NPY_SAYS},
        {WITH_SRC("{\"file\":\"a.bin\",\"type\":\"fx8\"}"), "/src/shape",
         "src.shape: missing, a raw file has no header that states it"},
        {WITH_SRC("{\"file\":\"a.npy\",\"format\":\"raw\",\"shape\":[1]}"), "/src/type",
         "src.type: missing, a raw file has no header that states it"},
        {WITH_SRC("{\"file\":\"a.bin\",\"shape\":[1],\"type\":\"fx8\",\"offset\":-1}"),
         "/src/offset", "src.offset: -1 given; must be 0 to 9007199254740991"},
        {WITH_SRC("{\"file\":\"a.bin\",\"shape\":[1],\"type\":\"fx8\",\"strides\":[1,1]}"),
         "/src/strides", "src.strides: 2 entries given, but the shape has 1"},
        {WITH_SRC("{\"file\":\"a.bin\",\"shape\":[4],\"type\":\"sa8\",\"axis\":0,"
                  "\"scale\":[1,2,3]}"),
         "/src/axis", "src.axis: 3 entries given along dimension 0, but shape[0] is 4"},
        {WITH_SRC("{\"file\":\"a.npy\",\"type\":\"fx8\",\"scale\":3}"), "/src/scale",
         "src.scale: only sa8 and sa32 have these parameters, not fx8"},
        {WITH_SRC("{\"file\":\"a.npz\",\"tensor\":\"w\",\"shape\":[1]}"), "/src/shape",
         "src.shape: " ARCHIVE_SAYS},
        {WITH_SRC("{\"file\":\"a\",\"format\":\"safetensors\",\"offset\":8}"), "/src/offset",
         "src.offset: " ARCHIVE_SAYS},
        {WITH_SRC("{\"file\":\"a.npz\",\"tensor\":\"\"}"), "/src/tensor",
         "src.tensor: must not be empty"},
        {WITH_SRC("{\"file\":\"a.npz\",\"tensor\":1}"), "/src/tensor",
         "src.tensor: a string is required, not a number"},
        {WITH_SRC("{\"file\":\"a.npy\",\"tensor\":\"w\"}"), "/src/tensor",
         "src.tensor: " NO_ARCHIVE},
        {WITH_SRC("{\"file\":\"a.npz\",\"format\":\"raw\",\"tensor\":\"w\",\"shape\":[1],"
                  "\"type\":\"fx8\"}"),
         "/src/tensor", "src.tensor: " NO_ARCHIVE},
    };

    (void)state;
    check_bad(cases, COUNT_OF(cases));
}

static void test_bad_dst(void **state)
{
#define PACKED "a .npy file is always packed, after its header"
#define OF_WHOLE                                                                                   \
    "describes the tensor of which the job writes a part; allowed only with \"shape\" or "         \
    "\"update\": true"
    static const struct bad cases[] = {
        {WITH_DST("{}"), "/dst/file", "dst.file: missing, the tensor's file or buffer is required"},
        {WITH_DST("{\"file\":\"b\",\"type\":\"fx8\"}"), "/dst/type", "dst.type: unknown member"},
        {WITH_DST("{\"file\":\"b\",\"update\":1}"), "/dst/update",
         "dst.update: true or false is required, not a number"},
        {WITH_DST("{\"file\":\"b\",\"params\":\"\"}"), "/dst/params",
         "dst.params: must not be empty"},
        {WITH_DST("{\"file\":\"b.npz\"}"), "/dst/file",
         "dst.file: a .npz file can be read, not written; write a .npy or a raw file"},
        {WITH_DST("{\"file\":\"b.npz\",\"format\":\"safetensors\",\"update\":true}"), "/dst/format",
         "dst.format: a .safetensors file can be read, not written; write a .npy or a raw file"},
        {WITH_DST("{\"file\":\"b.npy\",\"tensor\":\"w\"}"), "/dst/tensor",
         "dst.tensor: unknown member"},
        {WITH_DST("{\"file\":\"b\",\"shape\":[0]}"), "/dst/shape/0",
         "dst.shape[0]: 0 given; must be 1 to 4294967295"},
        {WITH_DST("{\"file\":\"b\",\"shape\":[1],\"strides\":[1,1]}"), "/dst/strides",
         "dst.strides: 2 entries given, but the shape has 1"},
        {WITH_DST("{\"file\":\"b\",\"offset\":8}"), "/dst/offset", "dst.offset: " OF_WHOLE},
        {WITH_DST("{\"file\":\"b\",\"scale\":8}"), "/dst/scale", "dst.scale: " OF_WHOLE},
        {WITH_DST("{\"file\":\"b\",\"frac_bits\":8,\"update\":false}"), "/dst/frac_bits",
         "dst.frac_bits: " OF_WHOLE},
        {WITH_DST("{\"file\":\"b.npy\",\"strides\":[1]}"), "/dst/strides", "dst.strides: " PACKED},
        {WITH_DST("{\"file\":\"b.npy\",\"shape\":[1],\"strides\":[1]}"), "/dst/strides",
         "dst.strides: " PACKED},
        {WITH_DST("{\"file\":\"b.npy\",\"shape\":[1],\"offset\":8}"), "/dst/offset",
         "dst.offset: " PACKED},
        {WITH_DST("{\"file\":\"b.npy\",\"update\":true,\"strides\":[1]}"), "/dst/strides",
         "dst.strides: " NPY_SAYS},
        {WITH_DST("{\"file\":\"b.npy\",\"update\":true,\"shape\":[1]}"), "/dst/shape",
         "dst.shape: " NPY_SAYS},
        {WITH_DST("{\"file\":\"b.npy\",\"update\":true,\"offset\":1}"), "/dst/offset",
         "dst.offset: " NPY_SAYS},
        {"{\"op\":\"mov\"," RAW ",\"dst\":{\"file\":\"b\",\"strides\":[1]}}", "/dst/strides",
         "dst.strides: 1 entries given, but the source has 2 dimensions"},
        {"{\"op\":\"mov\"," RAW ",\"dst\":{\"file\":\"b\",\"update\":true,\"shape\":[1]}}",
         "/dst/shape", "dst.shape: 1 entries given, but the source has 2 dimensions"},
        {"{\"op\":\"mov\"," RAW ",\"dst\":{\"file\":\"b\",\"update\":true,\"frac_bits\":1}}",
         "/dst/frac_bits", "dst.frac_bits: only fx8 and fx16 have this parameter, not sa8"},
        {"{\"op\":\"mov\"," RAW ",\"dst\":{\"file\":\"b\",\"update\":true,\"axis\":0}}",
         "/dst/axis", "dst.axis: requires an array as scale, zero_point or scale_frac_bits"},
    };

    (void)state;
    check_bad(cases, COUNT_OF(cases));
}

static void test_long_texts(void **state)
{
    char text[2 * JOB_PATH_MAX], path[JOB_PATH_MAX + 2];
    struct job_list list;
    struct fault fault;

    (void)state;
    memset(path, 'p', sizeof path - 1);
    path[sizeof path - 1] = '\0';
    snprintf(text, sizeof text,
             "{\"op\":\"mov\",\"src\":{\"file\":\"%s\",\"format\":\"npy\"}," DST "}", path);
    assert_int_equal(parse(text, &list, &fault), -1);
    assert_fault(&fault, FAULT_INVALID_PARAMS, "/src/file",
                 "src.file: 4096 bytes given; at most 4095 are allowed", "path");
    path[sizeof path - 2] = '\0';
    snprintf(text, sizeof text,
             "{\"op\":\"mov\",\"src\":{\"file\":\"%s\",\"format\":\"npy\"}," DST "}", path);
    assert_no_fault(parse(text, &list, &fault), &fault);
    job_list_finish(&list);
    path[PROTO_NAME_MAX + 1] = '\0';
    snprintf(text, sizeof text, "{\"op\":\"mov\"," SRC "," DST ",\"name\":\"%s\"}", path);
    assert_int_equal(parse(text, &list, &fault), -1);
    assert_fault(&fault, FAULT_INVALID_PARAMS, "/name",
                 "name: 129 bytes given; at most 128 are allowed", "name");
}

static void test_update(void **state)
{
    static const char text[] =
        "[{\"op\":\"mov\"," RAW ",\"dst\":{\"file\":\"b.raw\",\"update\":true,\"shape\":[8,8],"
        "\"strides\":[16,1],\"offset\":64,\"axis\":1,\"scale\":[1,2,3,4,5,6,7,8]},"
        "\"cfg\":{\"dst_offset\":[2,5]}},"
        "{\"op\":\"mov\"," SRC ",\"dst\":{\"file\":\"b.npy\",\"update\":true,\"scale\":3}},"
        "{\"op\":\"mov\"," SRC ",\"dst\":{\"file\":\"c.npy\",\"shape\":[8,2],\"axis\":1,"
        "\"scale\":[1,2]}}]";
    struct job_list list;
    struct fault fault;

    (void)state;
    assert_no_fault(parse(text, &list, &fault), &fault);
    assert_int_equal(list.count, 3);
    assert_true(list.jobs[0].dst.update);
    assert_int_equal(list.jobs[0].dst.offset, 64);
    assert_int_equal(list.jobs[0].dst.desc.rank, 2);
    assert_int_equal(list.jobs[0].dst.desc.quant.count, 8);
    assert_string_equal(list.jobs[0].pointer, "/0");
    assert_string_equal(list.jobs[1].pointer, "/1");
    assert_int_equal(list.jobs[1].dst.desc.quant.scale[0], 3);
    assert_false(tensor_spec_makes(&list.jobs[0].dst) || tensor_spec_makes(&list.jobs[1].dst));
    assert_true(tensor_spec_makes(&list.jobs[2].dst));
    assert_int_equal(list.jobs[2].dst.desc.quant.count, 2);
    job_list_finish(&list);
}

/* Predecessors are placed just before the first job that waits for them. */
static void test_order(void **state)
{
#define AFTER(name, after)                                                                         \
    "{\"op\":\"mov\"," SRC "," DST ",\"name\":\"" name "\",\"after\":[" after "]}"
    static const char text[] = "[" AFTER("a", "\"d\",\"c\"") "," AFTER("b", "") "," AFTER(
        "c", "\"e\"") "," AFTER("d", "") "," AFTER("e", "\"d\"") "," AFTER("f", "\"a\",\"b\"") "]";
    static const size_t order[] = {3, 4, 2, 0, 1, 5};
    struct job_list list;
    struct fault fault;

    (void)state;
    assert_no_fault(parse(text, &list, &fault), &fault);
    assert_int_equal(list.count, COUNT_OF(order));
    assert_memory_equal(list.order, order, sizeof order);
    assert_int_equal(list.jobs[0].before[0], 3);
    assert_int_equal(list.jobs[0].before[1], 2);
    assert_int_equal(list.jobs[5].before[1], 1);
    job_list_finish(&list);
}

static void test_kinds_of_formats(void **state)
{
    (void)state;
    assert_false(file_format_is_archive(FILE_FORMAT_AUTO));
    assert_false(file_format_is_archive(FILE_FORMAT_NPY));
    assert_false(file_format_is_archive(FILE_FORMAT_RAW));
    assert_true(file_format_is_archive(FILE_FORMAT_NPZ));
    assert_true(file_format_is_archive(FILE_FORMAT_TFLITE));
    assert_false(file_format_is_in_place(FILE_FORMAT_RAW));
    assert_false(file_format_is_in_place(FILE_FORMAT_NPZ));
    assert_true(file_format_is_in_place(FILE_FORMAT_SAFETENSORS));
    assert_true(file_format_is_in_place(FILE_FORMAT_ONNX));
}

/* Lists that have only neutral values are not written. */
static void test_lengths(void **state)
{
    struct job_common common;

    (void)state;
    job_common_init(&common);
    job_common_set_lengths(&common, 3);
    assert_int_equal(common.lengths.offset + common.lengths.size + common.lengths.sub_sample_step +
                         common.lengths.perm_dim + common.lengths.padding_pre +
                         common.lengths.padding_post + common.lengths.dst_offset,
                     0);
    common.cfg.offset[2] = common.cfg.size[0] = common.cfg.dst_offset[1] = 1;
    common.cfg.sub_sample_step[1] = 2;
    common.cfg.perm_dim[0] = 1;
    common.cfg.perm_dim[1] = 0;
    common.cfg.padding_pre[2] = common.cfg.padding_post[0] = 1;
    job_common_set_lengths(&common, 3);
    assert_int_equal(common.lengths.offset, 3);
    assert_int_equal(common.lengths.size, 3);
    assert_int_equal(common.lengths.dst_offset, 3);
    assert_int_equal(common.lengths.sub_sample_step, 3);
    assert_int_equal(common.lengths.perm_dim, 3);
    assert_int_equal(common.lengths.padding_pre, 3);
    assert_int_equal(common.lengths.padding_post, 3);
    job_common_finish(&common);
}

static void test_format_by_name(void **state)
{
    static const struct {
        const char *file;
        enum file_format format;
    } cases[] = {
        {"a.npy", FILE_FORMAT_NPY},       {".npy", FILE_FORMAT_NPY},
        {"a.npy.raw", FILE_FORMAT_RAW},   {"a.NPY", FILE_FORMAT_RAW},
        {"npy", FILE_FORMAT_RAW},         {"a", FILE_FORMAT_RAW},
        {"d.npy/a.bin", FILE_FORMAT_RAW}, {"a.npz", FILE_FORMAT_NPZ},
        {"a.npz.gz", FILE_FORMAT_RAW},    {"a.safetensors", FILE_FORMAT_SAFETENSORS},
        {"a.raw", FILE_FORMAT_RAW},       {"a.", FILE_FORMAT_RAW},
        {"d.npz/a", FILE_FORMAT_RAW},     {"a.onnx", FILE_FORMAT_ONNX},
        {"a.tflite", FILE_FORMAT_TFLITE}, {"input_0.pb", FILE_FORMAT_PB},
    };

    (void)state;
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        char file[32];
        struct tensor_spec ref = {.file = file};

        snprintf(file, sizeof file, "%s", cases[i].file);
        assert_int_equal(tensor_spec_format(&ref), cases[i].format);
        ref.format = FILE_FORMAT_NPY;
        assert_int_equal(tensor_spec_format(&ref), FILE_FORMAT_NPY);
    }
}

/* Tests of files with the member "defaults". */

static void test_defaults(void **state)
{
    static const char text[] =
        "{\"defaults\":{\"op\":\"mov\",\"channels\":2,\"src\":{\"type\":\"sa8\",\"scale\":5,"
        "\"file\":\"a.npy\"},\"cfg\":{\"offset\":[1,2],\"size\":[3,4]},"
        "\"dst\":{\"params\":\"p.json\"},\"expect\":{\"file\":\"g.npy\"}},\n"
        "\"jobs\":[{\"dst\":{\"file\":\"1.npy\"}},\n"
        "{\"op\":\"permute\",\"channels\":1,\"src\":{\"file\":\"c.npy\",\"zero_point\":9},"
        "\"dst\":{\"file\":\"2.npy\"},\"cfg\":{\"offset\":[],\"size\":[],\"perm_dim\":[1,0]},"
        "\"expect\":{\"file\":\"h.npy\"}}]}";
    struct job_list list;
    struct fault fault;
    const struct job_spec *job;

    (void)state;
    assert_no_fault(parse(text, &list, &fault), &fault);
    assert_int_equal(list.count, 2);
    job = &list.jobs[0];
    assert_string_equal(job->pointer, "/jobs/0");
    assert_int_equal(job->common.op, JOB_OP_MOV);
    assert_int_equal(job->common.channels, 2);
    assert_string_equal(job->src.file, "a.npy");
    assert_int_equal(job->src.desc.quant.scale[0], 5);
    assert_int_equal(job->common.cfg.offset[1], 2);
    assert_string_equal(job->dst.file, "1.npy");
    assert_string_equal(job->dst.params, "p.json");
    assert_string_equal(job->expect.golden.file, "g.npy");
    job = &list.jobs[1];
    assert_string_equal(job->pointer, "/jobs/1");
    assert_int_equal(job->common.op, JOB_OP_PERMUTE);
    assert_int_equal(job->common.channels, 1);
    assert_string_equal(job->src.file, "c.npy");
    assert_int_equal(job->src.desc.type, MLI_EL_SA_8);
    assert_int_equal(job->src.desc.quant.scale[0], 5); /* the members are merged one by one */
    assert_int_equal(job->src.desc.quant.zero_point[0], 9);
    assert_int_equal(job->common.lengths.offset, 0); /* an empty array is neutral */
    assert_int_equal(job->common.lengths.perm_dim, 2);
    assert_string_equal(job->dst.params, "p.json");
    assert_string_equal(job->expect.golden.file, "h.npy");
    job_list_finish(&list);
}

static void test_bad_files(void **state)
{
    static const struct bad cases[] = {
        {"[]", "", "at least one job is required"},
        {"[1]", "/0", "an object is required, not a number"},
        {"[[]]", "/0", "an object is required, not an array"},
        {"[" MINIMAL ",{\"op\":\"mov\"," SRC "}]", "/1/dst", "dst: missing, an object is required"},
        {"[" MINIMAL "," JOB("\"cfg\":{\"size\":[1,-1]}") "]", "/1/cfg/size/1",
         "cfg.size[1]: -1 given; must be 0 to 4294967295"},
        {"{\"jobs\":[]}", "/jobs", "jobs: at least one job is required"},
        {"{\"jobs\":{}}", "/jobs", "jobs: an array is required, not an object"},
        {"{\"defaults\":{}}", "/jobs", "jobs: missing, an array is required"},
        {"{\"defaults\":{},\"jobs\":[" MINIMAL "],\"name\":\"x\"}", "/name",
         "name: unknown member"},
        {"{\"jobs\":[" MINIMAL "],\"jobs\":[]}", "/jobs", "jobs: given twice"},
        {"{\"defaults\":[],\"jobs\":[" MINIMAL "]}", "/defaults",
         "an object is required, not an array"},
        {"{\"defaults\":{\"name\":\"a\"},\"jobs\":[" MINIMAL "]}", "/defaults/name",
         "name: unknown member"},
        {"{\"defaults\":{\"after\":[]},\"jobs\":[" MINIMAL "]}", "/defaults/after",
         "after: unknown member"},
        /* invalid defaults are refused even if every job overrides them */
        {"{\"defaults\":{\"channels\":99},\"jobs\":[" JOB("\"channels\":1") "]}",
         "/defaults/channels", "channels: 99 given; must be 1 to 16"},
        {"{\"defaults\":{\"src\":{\"typ\":1}},\"jobs\":[" MINIMAL "]}", "/defaults/src/typ",
         "src.typ: unknown member; did you mean \"type\"?"},
        {"{\"defaults\":{\"src\":{\"file\":1}},\"jobs\":[" MINIMAL "]}", "/defaults/src/file",
         "src.file: a string is required, not a number"},
        {"{\"defaults\":{\"dst\":{\"axis\":9}},\"jobs\":[" MINIMAL "]}", "/defaults/dst/axis",
         "dst.axis: 9 given; must be 0 to 3"},
        {"{\"defaults\":{\"cfg\":{\"size\":[1,2,3,4,5,6,7,8,9]}},\"jobs\":[" MINIMAL "]}",
         "/defaults/cfg/size", "cfg.size: 9 entries given; at most 8 are allowed"},
        {"{\"defaults\":{\"expect\":1},\"jobs\":[" MINIMAL "]}", "/defaults/expect",
         "expect: an object is required, not a number"},
        /* defaults that are valid by themselves, but not in a job */
        {"{\"defaults\":{\"src\":{\"shape\":[1]}},\"jobs\":[" MINIMAL "]}", "/defaults/src/shape",
         "src.shape: " NPY_SAYS " (for the job /jobs/0)"},
        {"{\"defaults\":{\"src\":{\"axis\":0}},\"jobs\":[" MINIMAL "]}", "/defaults/src/axis",
         "src.axis: requires an array as scale, zero_point or scale_frac_bits (for the job "
         "/jobs/0)"},
        {"{\"defaults\":{\"expect\":{\"format\":\"npy\"}},\"jobs\":[" MINIMAL "]}",
         "/defaults/expect",
         "expect: \"file\", \"digest\" or \"error\" is required (for the job /jobs/0)"},
        {"{\"defaults\":{\"cfg\":{\"size\":[1]}},\"jobs\":[" RAWJOB("\"channels\":1") "]}",
         "/jobs/0/cfg/size", "cfg.size: 1 entries given, but the source has 2 dimensions"},
    };

    (void)state;
    check_bad(cases, COUNT_OF(cases));
}

static void test_too_many_jobs(void **state)
{
    size_t count = JOB_FILE_JOBS_MAX + 1, size = 2 * count + 1;
    char *text = malloc(size);
    struct job_list list;
    struct fault fault;

    (void)state;
    assert_non_null(text);
    for (size_t i = 0; i < count; i++)
        memcpy(text + 2 * i, ",1", 2);
    text[0] = '[';
    text[size - 1] = ']';
    assert_int_equal(job_file_parse(text, size, &list, &fault), -1);
    assert_fault(&fault, FAULT_INVALID_PARAMS, "", "262145 jobs given; at most 262144 are allowed",
                 "jobs");
    free(text);
}

/* Limits the memory of defaults with many parameters, because every job copies them. */
static void test_too_many_entries(void **state)
{
    enum { ENTRIES = 100000, JOBS = 100 };
    struct job_list list;
    struct fault fault;
    struct jsonw w;

    (void)state;
    jsonw_init(&w);
    jsonw_object_begin(&w, NULL);
    jsonw_object_begin(&w, "defaults");
    jsonw_string(&w, "op", "mov");
    jsonw_object_begin(&w, "src");
    jsonw_string(&w, "file", "a.npy");
    jsonw_int(&w, "axis", 0);
    jsonw_array_begin(&w, "scale");
    for (int i = 0; i < ENTRIES; i++)
        jsonw_int(&w, NULL, 1);
    jsonw_array_end(&w);
    jsonw_object_end(&w);
    jsonw_object_begin(&w, "dst");
    jsonw_string(&w, "file", "b.npy");
    jsonw_object_end(&w);
    jsonw_object_end(&w);
    jsonw_array_begin(&w, "jobs");
    for (int i = 0; i < JOBS; i++) {
        jsonw_object_begin(&w, NULL);
        jsonw_object_end(&w);
    }
    jsonw_array_end(&w);
    jsonw_object_end(&w);
    assert_non_null(jsonw_text(&w));
    assert_int_equal(job_file_parse(w.data, w.length, &list, &fault), -1);
    assert_fault(&fault, FAULT_LIMIT, "/jobs/83",
                 "the jobs up to this one have more than 8388608 quantisation parameters",
                 "entries");
    jsonw_finish(&w);
}

/*
 * Reads a text as a job and writes it; reads the written text and writes that: the two written
 * texts must be equal.
 */
static void test_round_trip(void **state)
{
    static const char *const texts[] = {
        MINIMAL,
        JOB("\"name\":\"n\",\"channels\":3,\"priority\":1,\"timeout_ms\":5"),
        RAWJOB("\"cfg\":{\"offset\":[1,2],\"perm_dim\":[1,0],\"dst_mem_stride\":[7,0]}"),
        "{\"op\":\"permute\",\"src\":{\"file\":\"a\",\"format\":\"npy\",\"type\":\"sa8\",\"axis\":"
        "1,"
        "\"scale\":[1,2]},\"dst\":{\"file\":\"b\",\"update\":true,\"shape\":[3,4],\"offset\":9,"
        "\"strides\":[9,1],\"scale\":4,\"params\":\"p\"},"
        "\"expect\":{\"file\":\"g\",\"format\":\"raw\"}}",
        JOB("\"slice\":\" -3:, ::2 ,\",\"cfg\":{\"padding_pre\":[1,2]}"),
        WITH_DST("{\"file\":\"b\",\"strides\":[9,1,4]}"),
        WITH_SRC("{\"file\":\"a.npy\",\"type\":\"fx8\",\"frac_bits\":3}"),
        WITH_SRC("{\"file\":\"\\u00e4\\\"\\\\.npy\"}"),
        WITH_SRC("{\"file\":\"a.npz\",\"tensor\":\"\\u00e4/w\",\"type\":\"sa8\"}"),
        WITH_SRC("{\"file\":\"a\",\"format\":\"safetensors\"}"),
        JOB("\"expect\":{\"file\":\"g.npz\",\"tensor\":\"w\"}"),
        WITH_DST("{\"file\":\"b.npz\",\"format\":\"raw\"}"),
    };

    (void)state;
    for (size_t i = 0; i < COUNT_OF(texts); i++) {
        struct job_list list;
        struct fault fault;
        struct jsonw first, second;

        jsonw_init(&first);
        jsonw_init(&second);
        assert_no_fault(parse(texts[i], &list, &fault), &fault);
        job_file_write(&first, NULL, &list.jobs[0]);
        job_list_finish(&list);
        assert_no_fault(parse(jsonw_text(&first), &list, &fault), &fault);
        job_file_write(&second, NULL, &list.jobs[0]);
        job_list_finish(&list);
        assert_string_equal(jsonw_text(&first), jsonw_text(&second));
        jsonw_finish(&first);
        jsonw_finish(&second);
    }
}

static void test_write(void **state)
{
    static const char text[] =
        "{\"op\":\"mov\",\"name\":\"a\",\"cfg\":{\"size\":[1,2]},\"channels\":2,\"src\":{\"file\":"
        "\"a.bin\",\"offset\":4,\"type\":\"sa8\",\"shape\":[2,3]},\"dst\":{\"file\":\"b.npy\"},"
        "\"expect\":{\"file\":\"g\"}}";
    struct job_list list;
    struct fault fault;
    struct jsonw w;

    (void)state;
    jsonw_init(&w);
    assert_no_fault(parse(text, &list, &fault), &fault);
    job_file_write(&w, NULL, &list.jobs[0]);
    assert_string_equal(jsonw_text(&w), text);
    job_list_finish(&list);
    jsonw_finish(&w);
}

/* Does not write shape and strides that come from a .npy file. */
static void test_write_completed(void **state)
{
    struct job_list list;
    struct fault fault;
    struct jsonw w;

    (void)state;
    jsonw_init(&w);
    assert_no_fault(parse(MINIMAL, &list, &fault), &fault);
    list.jobs[0].src.desc = (struct tensor_desc){.has_type = true,
                                                 .type = MLI_EL_FX_8,
                                                 .rank = 2,
                                                 .shape = {2, 3},
                                                 .has_strides = true,
                                                 .strides = {3, 1}};
    list.jobs[0].src.offset = 128;
    list.jobs[0].dst.desc.rank = 2; /* the job makes the tensor */
    list.jobs[0].dst.desc.shape[0] = 4;
    list.jobs[0].dst.desc.shape[1] = 5;
    list.jobs[0].dst.desc.has_type = true;
    job_file_write(&w, NULL, &list.jobs[0]);
    assert_string_equal(jsonw_text(&w),
                        "{\"op\":\"mov\",\"src\":{\"file\":\"a.npy\",\"type\":\"fx8\"},"
                        "\"dst\":{\"file\":\"b.npy\",\"shape\":[4,5]}}");
    jsonw_reset(&w);
    list.jobs[0].dst.update = true; /* the .npy file has a header with the shape */
    job_file_write(&w, NULL, &list.jobs[0]);
    assert_string_equal(jsonw_text(&w),
                        "{\"op\":\"mov\",\"src\":{\"file\":\"a.npy\",\"type\":\"fx8\"},"
                        "\"dst\":{\"file\":\"b.npy\",\"update\":true}}");
    jsonw_reset(&w);
    list.jobs[0].dst.update = false;
    list.jobs[0].dst.format = FILE_FORMAT_RAW; /* the strides apply although stride_count is 0 */
    list.jobs[0].dst.desc.has_strides = true;
    list.jobs[0].dst.desc.strides[0] = 9;
    job_file_write(&w, NULL, &list.jobs[0]);
    assert_string_equal(jsonw_text(&w),
                        "{\"op\":\"mov\",\"src\":{\"file\":\"a.npy\",\"type\":\"fx8\"},"
                        "\"dst\":{\"file\":\"b.npy\",\"format\":\"raw\",\"shape\":[4,5],"
                        "\"strides\":[9,0]}}");
    job_list_finish(&list);
    jsonw_finish(&w);
}

static void test_check_rank(void **state)
{
    struct fault fault;
    struct job_spec job;

    (void)state;
    job_spec_init(&job);
    job.common.op = JOB_OP_MOV;
    assert_no_fault(job_check_rank(&job.common, &job.dst.desc, 4, &fault), &fault);
    job.common.lengths.dst_offset = 3;
    assert_no_fault(job_check_rank(&job.common, &job.dst.desc, 3, &fault), &fault);
    assert_no_fault(job_check_rank(&job.common, &job.dst.desc, 0, &fault), &fault);
    assert_int_equal(job_check_rank(&job.common, &job.dst.desc, 4, &fault), -1);
    assert_fault(&fault, FAULT_INVALID_PARAMS, "/cfg/dst_offset",
                 "cfg.dst_offset: 3 entries given, but the source has 4 dimensions", "rank");
    job.common.op = JOB_OP_PERMUTE;
    assert_int_equal(job_check_rank(&job.common, &job.dst.desc, 0, &fault), -1);
    assert_fault(&fault, FAULT_INVALID_PARAMS, "/cfg/dst_offset",
                 "cfg.dst_offset: a permute takes perm_dim only; use \"op\": \"mov\"", "permute");
    job_spec_finish(&job);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_minimal),
        cmocka_unit_test(test_schema),
        cmocka_unit_test(test_everything),
        cmocka_unit_test(test_cfg),
        cmocka_unit_test(test_cfg_of_rank_four),
        cmocka_unit_test(test_cfg_of_rank_eight),
        cmocka_unit_test(test_slice),
        cmocka_unit_test(test_bad_slice),
        cmocka_unit_test(test_not_json),
        cmocka_unit_test(test_huge),
        cmocka_unit_test(test_bad_members),
        cmocka_unit_test(test_bad_cfg),
        cmocka_unit_test(test_bad_src),
        cmocka_unit_test(test_bad_dst),
        cmocka_unit_test(test_long_texts),
        cmocka_unit_test(test_update),
        cmocka_unit_test(test_order),
        cmocka_unit_test(test_format_by_name),
        cmocka_unit_test(test_kinds_of_formats),
        cmocka_unit_test(test_lengths),
        cmocka_unit_test(test_defaults),
        cmocka_unit_test(test_bad_files),
        cmocka_unit_test(test_too_many_jobs),
        cmocka_unit_test(test_too_many_entries),
        cmocka_unit_test(test_round_trip),
        cmocka_unit_test(test_write),
        cmocka_unit_test(test_write_completed),
        cmocka_unit_test(test_check_rank),
    };

    return cmocka_run_group_tests_name("job_file", tests, NULL, NULL);
}

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * proto/file/job.schema.json and job_file_parse() accept the same members, choices and limits. The
 * argument is the file of the schema.
 */
#include <string.h>

#include "proto/file/job_file.h"
#include "proto/file/job_spec.h"
#include "proto/file/slice.h"
#include "proto/wire/wire_limits.h"
#include "tests/support/json_schema.h"
#include "tests/support/proto_unit.h"

#define SIXTEEN "0123456789abcdef"

static const char *schema_path;
static struct json schema;
static struct fault schema_fault;

static int setup(void **state)
{
    (void)state;
    return json_schema_load(schema_path, &schema, &schema_fault);
}

static int teardown(void **state)
{
    (void)state;
    json_free(&schema);
    return 0;
}

/*
 * Returns whether the reader knows the member of `object` ("" means the job). If it does, it
 * refuses the value and not the member. Tests members of objects in "defaults", where each member
 * is checked separately.
 */
static bool is_known(const char *object, const char *key)
{
    struct job_list list;
    struct fault fault;
    struct jsonw w;
    bool known;

    jsonw_init(&w);
    jsonw_object_begin(&w, NULL);
    if (*object) {
        jsonw_object_begin(&w, "defaults");
        jsonw_object_begin(&w, object);
        jsonw_null(&w, key);
        jsonw_object_end(&w);
        jsonw_object_end(&w);
    } else {
        jsonw_null(&w, key);
    }
    jsonw_object_end(&w);
    assert_non_null(jsonw_text(&w));
    assert_int_equal(job_file_parse(w.data, w.length, &list, &fault), -1);
    known = !strstr(fault.text, "unknown member");
    jsonw_finish(&w);
    return known;
}

static struct json definition(const char *name, struct json *defs, struct json *def)
{
    *defs = json_member(&schema, "$defs");
    *def = json_member(defs, name);
    return json_member(def, "properties");
}

/* The reader knows every member of the schema. */
static void test_members(void **state)
{
    static const struct {
        const char *def, *object;
    } objects[] = {
        {"partial_job", ""}, {"src", "src"}, {"dst", "dst"}, {"cfg", "cfg"}, {"expect", "expect"}};

    (void)state;
    for (size_t i = 0; i < COUNT_OF(objects); i++) {
        struct json defs, def, member = {0};
        struct json properties = definition(objects[i].def, &defs, &def);
        size_t count = 0;

        assert_true(json_is_object(&properties));
        for (; json_next(&properties, &member); count++) {
            if (!is_known(objects[i].object, member.key)) {
                print_error("%s.%s is in the schema only\n", objects[i].object, member.key);
                fail();
            }
        }
        assert_true(count > 0);
        assert_false(is_known(objects[i].object, "no_such_member"));
    }
}

/* The schema lists the errors that "expect" may name, in the order of the two tables. */
static void test_errors(void **state)
{
#define STATUS_NAME(name, value, text) "MLI_STATUS_" #name,
#define FAULT_NAME(name, code, text)   #name,
    static const char *const names[] = {MLI_STATUS_TABLE(STATUS_NAME) FAULT_TABLE(FAULT_NAME)};
    struct json defs = json_member(&schema, "$defs"), def = json_member(&defs, "error");
    struct json list = json_member(&def, "enum"), item = {0};
    size_t count;

    (void)state;
    assert_no_fault(json_array(&list, &count), &schema_fault);
    assert_int_equal(count, COUNT_OF(names) - 1); /* all names except for MLI_STATUS_OK */
    while (json_next(&list, &item)) {
        const char *name;

        assert_no_fault(json_text(&item, PROTO_NAME_MAX, &name), &schema_fault);
        assert_string_equal(name, names[item.index + 1]);
    }
}

/* The schema has every member that job_file_write() writes. */
static void test_written_members(void **state)
{
    static const char text[] =
        "[{\"op\":\"mov\",\"name\":\"b\",\"after\":[\"a\"],\"channels\":2,\"priority\":1,"
        "\"timeout_ms\":1,\"src\":{\"file\":\"a\",\"format\":\"raw\",\"offset\":1,\"type\":"
        "\"sa8\",\"shape\":[1],\"strides\":[1],\"axis\":0,\"scale\":[1]},\"cfg\":{\"offset\":[0],"
        "\"size\":[1],\"sub_sample_step\":[1],\"perm_dim\":[0],\"padding_pre\":[0],"
        "\"padding_post\":[0],\"dst_offset\":[0],\"dst_mem_stride\":[0]},\"dst\":{\"file\":\"b\","
        "\"format\":\"raw\",\"update\":true,\"params\":\"p\",\"offset\":1,\"shape\":[1],"
        "\"strides\":[1],\"axis\":0,\"scale\":[1]},\"expect\":{\"file\":\"g\",\"format\":"
        "\"npy\"}},{\"name\":\"a\",\"op\":\"mov\",\"slice\":\"1:\",\"src\":{\"file\":\"a.npy\","
        "\"frac_bits\":1},\"dst\":{\"file\":\"b.npy\",\"update\":true,\"frac_bits\":1},\"expect\":{"
        "\"error\":\"REFUSED\",\"pointer\":\"/cfg\"}},{\"op\":\"mov\",\"src\":{\"file\":\"a.npy\"},"
        "\"dst\":{\"file\":\"b.npy\"},\"expect\":{\"digest\":\"sha256:" SIXTEEN SIXTEEN SIXTEEN
            SIXTEEN "\"}},"
        "{\"op\":\"mov\",\"src\":{\"file\":\"a.npz\",\"tensor\":\"w\"},\"dst\":{\"file\":\"b\"},"
        "\"expect\":{\"file\":\"g.npz\",\"tensor\":\"w\"}}]";
    static const char *const objects[] = {"src", "dst", "cfg", "expect"};
    struct job_list list;
    struct fault fault;

    (void)state;
    assert_no_fault(job_file_parse(text, strlen(text), &list, &fault), &fault);
    for (size_t j = 0; j < list.count; j++) {
        struct json root, defs, def, properties, member = {0};
        struct jsonw w;

        jsonw_init(&w);
        job_file_write(&w, NULL, &list.jobs[j]);
        jsonw_text(&w);
        assert_no_fault(json_parse(w.data, w.length, &job_file_limits, &root, &fault), &fault);
        properties = definition("partial_job", &defs, &def);
        while (json_next(&root, &member)) {
            struct json known = json_member(&properties, member.key);

            assert_true(json_present(&known));
        }
        for (size_t i = 0; i < COUNT_OF(objects); i++) {
            struct json object = json_member(&root, objects[i]), inner = {0};

            properties = definition(objects[i], &defs, &def);
            while (json_present(&object) && json_next(&object, &inner)) {
                struct json known = json_member(&properties, inner.key);

                assert_true(json_present(&known));
            }
        }
        json_free(&root);
        jsonw_finish(&w);
    }
    job_list_finish(&list);
}

static void test_limits(void **state)
{
    static const struct {
        const char *def, *keyword;
        int64_t limit;
    } limits[] = {
        {"name", "maxLength", PROTO_NAME_MAX},
        {"path", "maxLength", JOB_PATH_MAX},
        {"tensor", "maxLength", JOB_TENSOR_MAX},
        {"jobs", "maxItems", JOB_FILE_JOBS_MAX},
        {"buffers", "maxItems", JOB_FILE_BUFFERS_MAX},
        {"channels", "maximum", MLI_MOV_MAX_CHANNELS},
        {"timeout_ms", "maximum", JOB_TIMEOUT_MAX_MS},
        {"shape", "maxItems", TENSOR_RANK_MAX},
        {"axis", "maximum", MLI_MAX_RANK - 1},
        {"slice", "maxLength", SLICE_TEXT_MAX},
    };

    (void)state;
    for (size_t i = 0; i < COUNT_OF(limits); i++) {
        struct json defs = json_member(&schema, "$defs");
        struct json def = json_member(&defs, limits[i].def);

        json_schema_assert_bound(&def, limits[i].keyword, limits[i].limit);
    }
}

int main(int argc, char **argv)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_members),
        cmocka_unit_test(test_errors),
        cmocka_unit_test(test_written_members),
        cmocka_unit_test(test_limits),
    };

    if (argc != 2)
        return 2;
    schema_path = argv[1];
    return cmocka_run_group_tests_name("schema", tests, setup, teardown);
}

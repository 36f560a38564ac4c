/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Reads the params of every method and writes them again: the text must be the same. Tests that
 * invalid params are refused.
 */
#include <string.h>

#include "proto/wire/events.h"
#include "proto/wire/inline_payload.h"
#include "proto/wire/methods.h"
#include "proto/wire/rpc.h"
#include "tests/support/proto_unit.h"

/* Reads params and writes them again. If `w` is null, only reads them. */
typedef int call(const struct json *params, struct jsonw *w);

#define CALL(name, type, read, write, finish)                                                      \
    static int name(const struct json *params, struct jsonw *w)                                    \
    {                                                                                              \
        type value;                                                                                \
                                                                                                   \
        if (read < 0)                                                                              \
            return -1;                                                                             \
        write;                                                                                     \
        finish;                                                                                    \
        return 0;                                                                                  \
    }
CALL(start, struct job_start, job_start_read(params, &value), job_start_write(w, &value),
     job_start_finish(&value))
CALL(wait_for, struct job_wait, job_wait_read(params, &value), job_wait_write(w, &value),
     job_wait_finish(&value))
CALL(list, struct job_list_query, job_list_query_read(params, &value),
     job_list_query_write(w, &value), job_list_query_finish(&value))
CALL(one_job, struct job_ref, job_ref_params_read(params, &value), job_ref_write(w, "job", &value),
     job_ref_finish(&value))
CALL(release, uint32_t, number_param_read(params, "prepared", &value),
     jsonw_uint(w, "prepared", value), (void)value)
CALL(enlist, struct buffer_register, buffer_register_read(params, 1, &value),
     buffer_register_write(w, &value), (void)value)
CALL(alloc, struct buffer_alloc, buffer_alloc_read(params, &value), buffer_alloc_write(w, &value),
     (void)value)
CALL(subscribe, struct events_subscribe, events_subscribe_read(params, &value),
     events_subscribe_write(w, &value), (void)value)
CALL(drain, bool, daemon_drain_read(params, &value), jsonw_bool(w, "wait", value), (void)value)

static int payload(const struct json *params, struct jsonw *w)
{
    struct json array = json_member(params, "inline");
    struct inline_payload value;

    if (inline_payload_read(&array, &value) < 0)
        return -1;
    jsonw_array_begin(w, "inline");
    for (uint32_t i = 0; i < value.count; i++) {
        jsonw_array_begin(w, NULL);
        jsonw_uint(w, NULL, value.items[i].bytes);
        jsonw_uint(w, NULL, value.items[i].size);
        jsonw_bool(w, NULL, value.items[i].back);
        jsonw_array_end(w);
    }
    jsonw_array_end(w);
    return 0;
}

/* Reads params and writes them to *w. Returns 0, or -1 with the fault filled in. */
static int run(call *function, const char *text, struct jsonw *w, struct fault *fault)
{
    struct json root = {.fault = fault};
    int status;

    jsonw_init(w);
    jsonw_object_begin(w, NULL);
    if (text)
        assert_no_fault(json_parse(text, strlen(text), &rpc_request_limits, &root, fault), fault);
    status = function(&root, w);
    jsonw_object_end(w);
    json_free(&root);
    return status;
}

static void test_good(void **state)
{
    static const struct {
        call *function;
        const char *text, *written; /* expected text; null: the same as `text` */
    } cases[] = {
        {start, "{\"prepared\":1}", NULL},
        {start,
         "{\"prepared\":4294967295,\"src\":{\"buffer\":2,\"offset\":0},\"dst\":{\"offset\":7},"
         "\"priority\":0,\"timeout_ms\":9,\"after\":[1,\"a\"],\"detach\":true}",
         NULL},
        {start, "{\"prepared\":1,\"src\":{},\"after\":[],\"detach\":false}", "{\"prepared\":1}"},
        {wait_for, "{\"job\":9007199254740991}", NULL},
        {wait_for, "{\"job\":\"x1\",\"timeout_ms\":5}", NULL},
        {wait_for, "{\"jobs\":[3,\"a\",3]}", NULL},
        {wait_for, "{\"all\":true}", NULL},
        {list, NULL, "{}"},
        {list, "{\"limit\":100}", "{}"},
        {list,
         "{\"states\":[\"queued\",\"running\"],\"client\":3,\"name\":\"n\",\"before\":9,"
         "\"limit\":1000}",
         NULL},
        {one_job, "{\"job\":1}", NULL},
        {one_job, "{\"job\":\"a.b\"}", NULL},
        {release, "{\"prepared\":1}", NULL},
        {enlist, "{\"fd\":0}", NULL},
        {enlist, "{\"fd\":0,\"size\":1,\"access\":\"read\"}", NULL},
        {alloc, "{\"size\":9007199254740991}", NULL},
        {alloc, "{\"size\":1,\"memory\":\"vccm\",\"address\":9007199254740991}", NULL},
        {subscribe, NULL, "{\"events\":[\"queued\",\"started\",\"done\"]}"},
        {subscribe, "{\"events\":[],\"scope\":\"all\",\"interval_ms\":20}", NULL},
        {subscribe, "{\"events\":[\"done\",\"progress\"]}", "{\"events\":[\"progress\",\"done\"]}"},
        {drain, NULL, "{\"wait\":true}"},
        {drain, "{\"wait\":false}", NULL},
        {payload, "{\"inline\":[{\"bytes\":6},{\"size\":6,\"back\":true},{}]}",
         "{\"inline\":[[6,6,false],[0,6,true],[0,0,false]]}"},
        {payload, "{}", "{\"inline\":[]}"},
    };

    (void)state;
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct fault fault;
        struct jsonw w;

        assert_no_fault(run(cases[i].function, cases[i].text, &w, &fault), &fault);
        assert_string_equal(jsonw_text(&w), cases[i].written ? cases[i].written : cases[i].text);
        jsonw_finish(&w);
    }
}

static void test_bad(void **state)
{
    static const struct {
        call *function;
        struct bad bad;
    } cases[] = {
        {start, {NULL, "/prepared", "prepared: missing, a whole number is required"}},
        {start, {"{\"prepared\":0}", "/prepared", "prepared: 0 given; must be 1 to 4294967295"}},
        {start,
         {"{\"preparde\":1}", "/preparde", "preparde: unknown member; did you mean \"prepared\"?"}},
        {start, {"{\"prepared\":1,\"src\":1}", "/src", "src: an object is required, not a number"}},
        {start, {"{\"prepared\":1,\"dst\":{\"fd\":1}}", "/dst/fd", "dst.fd: unknown member"}},
        {start,
         {"{\"prepared\":1,\"after\":[\"a\",0]}", "/after/1",
          "after[1]: 0 given; must be 1 to 9007199254740991"}},
        {start,
         {"{\"prepared\":1,\"priority\":2}", "/priority", "priority: 2 given; must be -1 to 1"}},
        {wait_for, {"{}", "", "one of \"job\", \"jobs\" and \"all\" is required"}},
        {wait_for,
         {"{\"job\":1,\"all\":true}", "", "one of \"job\", \"jobs\" and \"all\" is required"}},
        {wait_for, {"{\"all\":false}", "/all", "all: only true is allowed"}},
        {wait_for, {"{\"jobs\":[]}", "/jobs", "jobs: 0 entries given; 1 to 1024 are allowed"}},
        {wait_for,
         {"{\"job\":\"7\"}", "/job",
          "job: a name must not consist of digits only; write a job's number without quotes"}},
        {list,
         {"{\"states\":[\"don\"]}", "/states/0",
          "states[0]: \"don\" is unknown; did you mean \"done\"?"}},
        {list, {"{\"limit\":1001}", "/limit", "limit: 1001 given; must be 1 to 1000"}},
        {one_job, {NULL, "/job", "job: a job's number or its name is required"}},
        {enlist,
         {"{\"fd\":1}", "/fd", "fd: 1 given, but the message carries 1 descriptors (from 0)"}},
        {enlist,
         {"{\"fd\":0,\"access\":\"rw\"}", "/access",
          "access: \"rw\" is unknown; known: read, write"}},
        {alloc, {"{\"size\":0}", "/size", "size: 0 given; must be 1 to 9007199254740991"}},
        {alloc,
         {"{\"size\":1,\"address\":16}", "/address", "address: allowed only with \"memory\""}},
        {alloc,
         {"{\"size\":1,\"memory\":\"vccm\",\"address\":-1}", "/address",
          "address: -1 given; must be 0 to 9007199254740991"}},
        {subscribe,
         {"{\"interval_ms\":19}", "/interval_ms", "interval_ms: 19 given; must be 20 to 60000"}},
        {drain, {"{\"wait\":1}", "/wait", "wait: true or false is required, not a number"}},
        {payload,
         {"{\"inline\":[{\"bytes\":2,\"size\":1}]}", "/inline/0/size",
          "inline[0].size: a size of 1 given, but 2 bytes of data follow"}},
        {payload,
         {"{\"inline\":[{\"bytes\":1073741824},{\"size\":1}]}", "/inline",
          "inline: 1073741825 bytes in all; at most 1073741824 are allowed"}},
        {payload,
         {"{\"inline\":[1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1]}", "/inline",
          "inline: 17 entries given; at most 16 are allowed"}},
    };

    (void)state;
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        const struct bad *bad = &cases[i].bad;
        struct fault fault = {0};
        struct jsonw w;

        assert_int_equal(run(cases[i].function, bad->input, &w, &fault), -1);
        assert_fault(&fault, FAULT_INVALID_PARAMS, bad->pointer, bad->text,
                     bad->input ? bad->input : "no params");
        jsonw_finish(&w);
    }
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_good),
        cmocka_unit_test(test_bad),
    };

    return cmocka_run_group_tests_name("calls", tests, NULL, NULL);
}

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Replaces each value of each message by values of the other types: the reader must refuse the
 * message, and the fault must name a member. Clients and services read each other's messages, and
 * must not trust them.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "proto/wire/events.h"
#include "proto/wire/fault_object.h"
#include "proto/wire/inline_payload.h"
#include "proto/wire/job.h"
#include "proto/wire/methods.h"
#include "proto/wire/rpc.h"
#include "tests/support/proto_unit.h"

typedef int reader(const struct json *value);

#define READER(name, type, read, finish)                                                           \
    static int name(const struct json *value)                                                      \
    {                                                                                              \
        static type into;                                                                          \
        const int status = read;                                                                   \
                                                                                                   \
        if (status == 0)                                                                           \
            finish;                                                                                \
        return status;                                                                             \
    }
READER(job, struct job, job_wire_read(value, 2, &into), job_finish(&into))
READER(start, struct job_start, job_start_read(value, &into), job_start_finish(&into))
READER(wait_for, struct job_wait, job_wait_read(value, &into), job_wait_finish(&into))
READER(list, struct job_list_query, job_list_query_read(value, &into), job_list_query_finish(&into))
READER(enlist, struct buffer_register, buffer_register_read(value, 1, &into), (void)into)
READER(alloc, struct buffer_alloc, buffer_alloc_read(value, &into), (void)into)
READER(subscribe, struct events_subscribe, events_subscribe_read(value, &into), (void)into)
READER(drain, bool, daemon_drain_read(value, &into), (void)into)
READER(buffer, struct buffer_info, buffer_info_read(value, &into), (void)into)
READER(brief, struct job_brief, job_brief_read(value, &into), (void)into)
READER(info, struct job_info, job_info_read(value, &into), (void)into)
READER(event, struct event, event_read(value, &into), (void)into)
READER(greeting, struct hello, hello_read(value, &into), (void)into)
READER(result, struct job_result, job_result_read(value, &into), job_result_finish(&into))
READER(prepared, struct job_prepared, job_prepared_read(value, &into), job_prepared_finish(&into))
READER(service, struct daemon_info, daemon_info_read(value, &into), (void)into)
READER(statistics, struct daemon_stats, daemon_stats_read(value, &into), (void)into)

static int payload(const struct json *params)
{
    struct inline_payload into;
    struct json array = json_member(params, "inline");

    return inline_payload_read(&array, &into);
}

static int error(const struct json *value)
{
    struct fault into;
    uint64_t number;

    return fault_object_read(value, &into, &number);
}

#define TENSOR                                                                                     \
    "{'type':'sa8','shape':[2,3],'strides':[3,1],'axis':0,'scale':[1,2],'zero_point':[3,4],"       \
    "'scale_frac_bits':[5,6]}"
#define JOB_INFO                                                                                   \
    "'job':7,'name':'a','state':'failed','client':2,'uid':1000,'priority':-1,'channels':2,"        \
    "'first_channel':1,'bytes':6,'bytes_done':3,'detached':true,'ns_queued':1500,'ns_moving':20,"  \
    "'error':{'code':1,'message':'m','data':{'pointer':'/a','job':7}}"

static const struct {
    reader *read;
    const char *text;
} messages[] = {
    {job,
     "{'op':'mov','src':{'fd':0,'offset':1,'type':'sa8','shape':[2,3],'strides':[3,1],"
     "'axis':0,'scale':[1,2],'zero_point':[3,4],'scale_frac_bits':[5,6]},'dst':{'fd':1,'offset':0,"
     "'strides':[3,1]},'cfg':{'padding_pre':[1,0],'dst_offset':[0,1]},'channels':2,'name':'n',"
     "'priority':0,'timeout_ms':5,'after':[1],'detach':true}"},
    {job, "{'op':'permute','src':{'fd':0,'memory':'vccm','type':'fx8','shape':[2,3],'frac_bits':3},"
          "'dst':{'buffer':1},'cfg':{'perm_dim':[1,0]}}"},
    {start,
     "{'prepared':1,'src':{'buffer':2,'offset':0},'dst':{'offset':7},'priority':0,'timeout_ms':9,"
     "'after':[1],'detach':true}"},
    {wait_for, "{'job':1,'timeout_ms':5}"},
    {wait_for, "{'jobs':[3]}"},
    {wait_for, "{'all':true}"},
    {list, "{'states':['queued'],'client':3,'name':'n','before':9,'limit':1000}"},
    {enlist, "{'fd':0,'size':1,'access':'read'}"},
    {alloc, "{'size':1,'memory':'vccm','address':16}"},
    {subscribe, "{'events':['done'],'scope':'all','interval_ms':20}"},
    {drain, "{'wait':false}"},
    {payload, "{'inline':[{'bytes':6},{'size':6,'back':true}]}"},
    {buffer, "{'buffer':2,'size':9,'access':'read','sealed':true,'memory':'vccm','address':16,"
             "'kind':'allocated','jobs':1,'prepared':2}"},
    {brief, "{'job':5,'state':'cancelled'}"},
    {info, "{" JOB_INFO "}"},
    {event, "{'event':'done','time_ns':99,'dropped':3,'job':{" JOB_INFO "}}"},
    {greeting,
     "{'protocol':1,'version':'0.1.0','client':4,'capabilities':['after'],'limits':{'line':65536,"
     "'fds':16,'jobs':256,'job_bytes':1,'buffers':0,'buffer_bytes':0,'prepared':0}}"},
    {result,
     "{'job':3,'dst':" TENSOR ",'cost':{'bytes':6,'channels':2,'engine':'inline','ns_queued':10,"
     "'ns_moving':20}}"},
    {prepared, "{'prepared':1,'bytes':6,'dst':" TENSOR "}"},
    {error, "{'code':-32001,'message':'m','data':{'pointer':'/"
            "a','status':'MLI_STATUS_BAD_TENSOR','job':7}}"},
};

/* One value of each JSON type. */
static const struct {
    char type;
    const char *text;
} others[] = {{'{', "{\"?\":0}"}, {'[', "[\"?\"]"}, {'"', "\"?\""}, {'t', "true"}, {'1', "-7"}};

static char type_at(const char *at)
{
    return *at == 'f' ? 't' : strchr("-0123456789", *at) ? '1' : *at;
}

/* Returns the end of the value that begins at `at`. */
static const char *value_end(const char *at)
{
    int depth = 0;
    bool quoted = false;

    for (;; at++) {
        if (*at == '"')
            quoted = !quoted;
        else if (!quoted && (*at == '{' || *at == '['))
            depth++;
        else if (!quoted && (*at == '}' || *at == ']') && --depth < 0)
            return at;
        if (!quoted && depth == 0 && (at[1] == '\0' || strchr(",}]", at[1])))
            return at + 1;
    }
}

/*
 * Other types that a member may have: a job can be a number or a name, and a parameter can be one
 * value for all entries.
 */
static bool may_be(const char *key, size_t length, char own, char other)
{
    static const struct {
        const char *key;
        char own, other;
    } allowed[] = {{"after", '1', '"'},
                   {"job", '1', '"'},
                   {"jobs", '1', '"'},
                   {"scale", '[', '1'},
                   {"scale_frac_bits", '[', '1'},
                   {"zero_point", '[', '1'}};

    for (size_t i = 0; i < COUNT_OF(allowed); i++) {
        if (strlen(allowed[i].key) == length && strncmp(key, allowed[i].key, length) == 0 &&
            allowed[i].own == own && allowed[i].other == other)
            return true;
    }
    return false;
}

static int read_text(reader *read, const char *text, struct fault *fault)
{
    struct json root = {.fault = fault};
    int status;

    assert_no_fault(json_parse(text, strlen(text), &rpc_reply_limits, &root, fault), fault);
    status = read(&root);
    json_free(&root);
    return status;
}

/* Replaces the value from `begin` to `end` by values of wrong types, which must be refused. */
static void replace(reader *read, const char *text, const char *begin, const char *end,
                    const char *key, size_t key_length)
{
    char *changed = malloc(strlen(text) + 16);

    assert_non_null(changed);
    for (size_t i = 0; i < COUNT_OF(others); i++) {
        struct fault fault = {0};

        if (others[i].type == type_at(begin) ||
            may_be(key, key_length, type_at(begin), others[i].type))
            continue;
        sprintf(changed, "%.*s%s%s", (int)(begin - text), text, others[i].text, end);
        if (read_text(read, changed, &fault) == 0)
            fail_msg("accepted: %s", changed);
        assert_true(fault.code == FAULT_INVALID_PARAMS && fault.text[0] != '\0');
    }
    free(changed);
}

/* Replaces all values of a message, one after another. Returns their number. */
static int replace_all(reader *read, const char *text)
{
    struct fault fault = {0};
    const char *key = text;
    size_t key_length = 0;
    int count = 0;

    assert_no_fault(read_text(read, text, &fault), &fault);
    if (read != payload) /* payload() does not check the type of the root */
        replace(read, text, text, text + strlen(text), "", 0);
    for (const char *at = text; *at; at++) {
        if (*at == ':')
            key_length = (size_t)(at - 1 - key);
        else if (*at == '"' && strchr("{,", at[-1]))
            key = at + 1;
        if (*at == ':' || (*at == '[' && at[1] != ']')) {
            replace(read, text, at + 1, value_end(at + 1), key, key_length);
            count++;
        }
    }
    return count;
}

static void test_params_and_results(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(messages); i++) {
        char *text = strdup(messages[i].text);

        assert_non_null(text);
        for (char *c = text; *c; c++) {
            if (*c == '\'')
                *c = '"';
        }
        assert_true(replace_all(messages[i].read, text) > 0);
        free(text);
    }
}

static void test_info_of_the_service(void **state)
{
    const struct daemon_info sent = {
        .version = "1", .build = "ab", .engine = "e", .profile = "p", .profile_digest = "cd"};
    struct jsonw w;

    (void)state;
    jsonw_init(&w);
    daemon_info_write(&w, NULL, &sent);
    assert_in_range(replace_all(service, jsonw_text(&w)), 15, 40);
    jsonw_finish(&w);
}

static void test_statistics(void **state)
{
    static const struct daemon_stats sent = {
        .channel_count = 1,
        .user_count = 1,
        .connection_count = 1,
        .memory_count = 1,
        .channels = {{.job = 1, .cpu_pieces = 1, .cpu_bytes = 1}},
        .memories = {{.name = "vccm"}}};
    struct jsonw w;

    (void)state;
    jsonw_init(&w);
    jsonw_object_begin(&w, NULL);
    daemon_stats_write_members(&w, &sent);
    jsonw_object_end(&w);
    assert_in_range(replace_all(statistics, jsonw_text(&w)), 60, 200);
    jsonw_finish(&w);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_params_and_results),
        cmocka_unit_test(test_info_of_the_service),
        cmocka_unit_test(test_statistics),
    };

    return cmocka_run_group_tests_name("wrong members", tests, NULL, NULL);
}

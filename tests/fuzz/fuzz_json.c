/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * json_check() must accept what the second reader accepts, except for numbers and strings that
 * PROTOCOL.md excludes. For accepted texts, json_parse() and the second reader must find the same
 * values, and writing and parsing them again must give the same text.
 */
#include "proto/file/job_file.h"
#include "proto/json/json.h"
#include "proto/wire/rpc.h"
#include "proto/wire/wire_limits.h"
#include "tests/fuzz/fuzz.h"
#include "tests/support/plain_json.h"

struct count {
    size_t values, depth;
};

static void write_value(struct jsonw *w, const struct json *value, struct count *count,
                        size_t depth);

static void write_container(struct jsonw *w, const struct json *value, struct count *count,
                            size_t depth)
{
    struct json member = {0};
    char pointer[FAULT_POINTER_MAX];

    if (depth > count->depth)
        count->depth = depth;
    if (json_is_object(value))
        jsonw_object_begin(w, NULL);
    else
        jsonw_array_begin(w, NULL);
    while (json_next(value, &member)) {
        json_pointer(&member, pointer, sizeof pointer);
        FUZZ_ASSERT(pointer[0] == '/');
        if (json_is_object(value))
            jsonw_key(w, member.key);
        write_value(w, &member, count, depth);
    }
    if (json_is_object(value))
        jsonw_object_end(w);
    else
        jsonw_array_end(w);
}

static void write_value(struct jsonw *w, const struct json *value, struct count *count,
                        size_t depth)
{
    static const int64_t max = (INT64_C(1) << 53) - 1;
    const char *text;
    int64_t number;
    bool truth;

    count->values++;
    if (json_is_object(value) || json_is_array(value)) {
        write_container(w, value, count, depth + 1);
    } else if (json_is_int(value)) {
        FUZZ_ASSERT(json_int(value, -max, max, &number) == 0);
        jsonw_int(w, NULL, number);
    } else if (json_is_string(value)) {
        FUZZ_ASSERT(json_text(value, PROTO_LINE_MAX, &text) == 0);
        jsonw_string(w, NULL, text);
    } else if (json_is_null(value)) {
        jsonw_null(w, NULL);
    } else {
        FUZZ_ASSERT(json_bool(value, &truth) == 0);
        jsonw_bool(w, NULL, truth);
    }
}

/* Parses and writes a text; returns false if it is refused. */
static bool rewrite(const char *text, size_t length, const struct json_limits *limits,
                    struct jsonw *w)
{
    struct count count = {0};
    struct fault fault = {0};
    struct json root;

    if (json_check(text, length, limits, &fault) < 0) {
        fuzz_check_fault(&fault);
        FUZZ_ASSERT(fault.line >= 1 && fault.column >= 1);
        FUZZ_ASSERT(json_parse(text, length, limits, &root, &fault) < 0);
        return false;
    }
    FUZZ_ASSERT(json_parse(text, length, limits, &root, &fault) == 0);
    write_value(w, &root, &count, 0);
    FUZZ_ASSERT(count.values <= limits->values);
    FUZZ_ASSERT(count.depth <= limits->depth);
    json_free(&root);
    return true;
}

static enum plain_kind kind_of(const struct json *value)
{
    bool truth;

    if (json_is_object(value))
        return PLAIN_OBJECT;
    if (json_is_array(value))
        return PLAIN_ARRAY;
    if (json_is_string(value))
        return PLAIN_STRING;
    if (json_is_int(value))
        return PLAIN_NUMBER;
    if (json_is_null(value))
        return PLAIN_NULL;
    FUZZ_ASSERT(json_bool(value, &truth) == 0);
    return truth ? PLAIN_TRUE : PLAIN_FALSE;
}

static void compare(const struct json *value, const struct plain *other)
{
    static const int64_t max = (INT64_C(1) << 53) - 1;
    const struct plain *member = other->child;
    struct json own = {0};
    const char *text;
    int64_t number;

    FUZZ_ASSERT(kind_of(value) == other->kind);
    FUZZ_ASSERT(!value->key == !other->key && (!other->key || !strcmp(value->key, other->key)));
    if (json_is_int(value))
        FUZZ_ASSERT(json_int(value, -max, max, &number) == 0 && (double)number == other->number);
    if (json_is_string(value))
        FUZZ_ASSERT(json_text(value, PROTO_LINE_MAX, &text) == 0 && !strcmp(text, other->string));
    for (; json_next(value, &own); member = member->next) {
        FUZZ_ASSERT(member);
        compare(&own, member);
    }
    FUZZ_ASSERT(!member);
}

/*
 * Compares with the second reader. `root` has the values that json_parse() has found; null:
 * compares only whether the text is accepted.
 */
static void compare_readers(const struct json *root, const char *text, size_t length)
{
    bool beyond;
    struct plain *other = plain_read(text, length, &beyond);

    FUZZ_ASSERT((root != NULL) == (other && !beyond));
    if (root)
        compare(root, other);
    plain_free(other);
}

/* Calls json_object() for all objects: it must accept each object, or fill in the fault. */
static void check_objects(const struct json *value)
{
    static const char *const allowed[] = {"a", "b", "cfg", "offset", "", NULL};
    struct json member = {0};

    if (json_is_object(value) && json_object(value, allowed) < 0)
        fuzz_check_fault(value->fault);
    if (!json_is_object(value) && !json_is_array(value))
        return;
    while (json_next(value, &member))
        check_objects(&member);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct jsonw first, second;
    struct fault fault;
    struct json root;

    jsonw_init(&first);
    jsonw_init(&second);
    if (json_check((const char *)data, size, &rpc_request_limits, &fault) < 0 &&
        fault.code == FAULT_PARSE_ERROR)
        compare_readers(NULL, (const char *)data, size);
    if (rewrite((const char *)data, size, &rpc_request_limits, &first)) {
        FUZZ_ASSERT(jsonw_text(&first));
        /* Escapes may make the text longer than the limit of a line. */
        FUZZ_ASSERT(rewrite(first.data, first.length, &job_file_limits, &second));
        fuzz_check_same(&first, &second);
        FUZZ_ASSERT(json_parse((const char *)data, size, &rpc_request_limits, &root, &fault) == 0);
        check_objects(&root);
        compare_readers(&root, (const char *)data, size);
        json_free(&root);
    }
    jsonw_finish(&first);
    jsonw_finish(&second);
    return 0;
}

/* SPDX-License-Identifier: BSD-3-Clause */
#include "proto/file/expectation.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "mli_helpers_api.h"
#include "proto/json/members.h"
#include "proto/wire/wire_limits.h"

static const char *const keys[] = {"file", "format", "tensor", "digest", "error", "pointer", NULL};

#define STATUS_NAME(name, value, text) "MLI_STATUS_" #name,
#define FAULT_NAME(name, code, text)   #name,
static const char *const error_names[] = {MLI_STATUS_TABLE(STATUS_NAME) FAULT_TABLE(FAULT_NAME)
                                              NULL};

void expectation_finish(struct expectation *expect)
{
    tensor_spec_finish(&expect->golden);
    free(expect->pointer);
    *expect = (struct expectation){0};
}

static int read_digest(struct expectation *expect, const struct json *object)
{
    struct json value = json_member(object, "digest");
    const char *text;

    if (!json_present(&value))
        return 0;
    if (json_string(&value, PROTO_NAME_MAX, &text) < 0)
        return -1;
    if (!sha256_from_text(text, expect->digest))
        return json_complain(&value, "\"sha256:\" and %d hexadecimal digits are required",
                             2 * SHA256_SIZE);
    return 0;
}

static const char *find_error(const char *name)
{
    for (size_t i = 0; error_names[i]; i++) {
        if (strcmp(error_names[i], name) == 0)
            return error_names[i];
    }
    return NULL;
}

static int read_error(struct expectation *expect, const struct json *object)
{
    struct json value = json_member(object, "error");
    char status[PROTO_NAME_MAX + sizeof "MLI_STATUS_"];
    const char *given;

    if (!json_present(&value))
        return 0;
    if (json_string(&value, PROTO_NAME_MAX, &given) < 0)
        return -1;
    expect->error = find_error(given);
    if (expect->error && strcmp(given, mli_status_name(MLI_STATUS_OK)) == 0)
        return json_complain(&value, "%s is not an error", given);
    if (expect->error)
        return 0;
    snprintf(status, sizeof status, "MLI_STATUS_%s", given);
    if (find_error(status))
        return json_complain(&value, "\"%s\" is unknown; did you mean \"%s\"?", given, status);
    return json_complain_choice(&value, given, error_names + 1); /* skips MLI_STATUS_OK */
}

/* Reads the pointer of a fault, relative to the job. */
static int read_pointer(struct expectation *expect, const struct json *object)
{
    struct json value = json_member(object, "pointer");
    const char *text;

    if (!json_present(&value))
        return 0;
    if (json_string(&value, FAULT_POINTER_MAX - 1, &text) < 0)
        return -1;
    if (text[0] != '/')
        return json_complain(&value,
                             "a JSON pointer relative to the job is required, as \"/cfg/size\"");
    return json_string_copy(&value, FAULT_POINTER_MAX - 1, &expect->pointer);
}

static int read_members(struct expectation *expect, const struct json *object)
{
    if (json_object(object, keys) < 0 || tensor_spec_read_place(&expect->golden, object) < 0 ||
        read_digest(expect, object) < 0 || read_error(expect, object) < 0)
        return -1;
    return read_pointer(expect, object);
}

int expectation_check_members(const struct json *object)
{
    struct expectation scratch = {0};
    int status = json_present(object) ? read_members(&scratch, object) : 0;

    expectation_finish(&scratch);
    return status;
}

/* Requires exactly one of the three kinds of expectation, and only members of this kind. */
static int find_kind(struct expectation *expect, const struct json *object)
{
    static const char *const kind_keys[] = {
        [EXPECT_FILE] = "file", [EXPECT_DIGEST] = "digest", [EXPECT_ERROR] = "error"};
    struct json format = json_member(object, "format"), tensor = json_member(object, "tensor");
    struct json pointer = json_member(object, "pointer");

    for (size_t kind = EXPECT_FILE; kind <= EXPECT_ERROR; kind++) {
        struct json member = json_member(object, kind_keys[kind]);

        if (!json_present(&member))
            continue;
        if (expect->kind != EXPECT_NOTHING)
            return json_complain(&member, "given beside \"%s\"; only one of the two is allowed",
                                 kind_keys[expect->kind]);
        expect->kind = (enum expectation_kind)kind;
    }
    if (expect->kind == EXPECT_NOTHING)
        return json_complain(object, "\"file\", \"digest\" or \"error\" is required");
    if (expect->kind != EXPECT_FILE && (json_present(&format) || json_present(&tensor)))
        return json_complain(json_present(&format) ? &format : &tensor,
                             "describes a golden file; allowed only with \"file\"");
    if (expect->kind != EXPECT_ERROR && json_present(&pointer))
        return json_complain(&pointer, "is the place of an error; allowed only with \"error\"");
    return 0;
}

int expectation_read(struct expectation *expect, const struct json *object)
{
    if (!json_present(object))
        return 0;
    if (read_members(expect, object) < 0 || find_kind(expect, object) < 0)
        return -1;
    if (expect->kind != EXPECT_FILE)
        return 0;
    return tensor_spec_check_archive(&expect->golden, object);
}

void expectation_write_members(struct jsonw *w, const struct expectation *expect)
{
    char digest[SHA256_TEXT_SIZE];

    if (expect->kind == EXPECT_FILE)
        tensor_spec_write_place(w, &expect->golden);
    else if (expect->kind == EXPECT_DIGEST)
        jsonw_string(w, "digest", sha256_to_text(expect->digest, digest));
    else if (expect->kind == EXPECT_ERROR)
        jsonw_string(w, "error", expect->error);
    if (expect->pointer)
        jsonw_string(w, "pointer", expect->pointer);
}

void expectation_write(struct jsonw *w, const char *key, const struct expectation *expect)
{
    if (expect->kind == EXPECT_NOTHING)
        return;
    jsonw_object_begin(w, key);
    expectation_write_members(w, expect);
    jsonw_object_end(w);
}

const char *expectation_error_name(const struct fault *fault)
{
    return fault->code == FAULT_REFUSED ? mli_status_name(fault->status) : fault_name(fault->code);
}

bool expectation_names(const struct expectation *expect, const struct fault *fault)
{
    return strcmp(expect->error, fault_name(fault->code)) == 0 ||
           strcmp(expect->error, expectation_error_name(fault)) == 0;
}

bool expectation_points_at(const struct expectation *expect, const struct fault *fault)
{
    if (!expect->pointer)
        return true;
    return fault->has_pointer && strcmp(expect->pointer, fault->pointer) == 0;
}

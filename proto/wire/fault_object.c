/* SPDX-License-Identifier: BSD-3-Clause */
#include "proto/wire/fault_object.h"

#include "mli_helpers_api.h"
#include "proto/wire/wire_limits.h"

void fault_object_write(struct jsonw *w, const char *key, const struct fault *fault, uint64_t job)
{
    jsonw_object_begin(w, key);
    jsonw_int(w, "code", fault->code);
    jsonw_string(w, "message", fault->text);
    jsonw_object_begin(w, "data");
    jsonw_string(w, "name", fault_name(fault->code));
    if (fault->code == FAULT_REFUSED)
        jsonw_string(w, "status", mli_status_name(fault->status));
    if (fault->has_pointer)
        jsonw_string(w, "pointer", fault->pointer);
    if (job != 0)
        jsonw_uint(w, "job", job);
    jsonw_object_end(w);
    jsonw_object_end(w);
}

static const char *const status_names[] = {
#define STATUS_NAME(name, value, text) "MLI_STATUS_" #name,
    MLI_STATUS_TABLE(STATUS_NAME)
#undef STATUS_NAME
        NULL};

static const mli_status statuses[] = {
#define STATUS_VALUE(name, value, text) MLI_STATUS_##name,
    MLI_STATUS_TABLE(STATUS_VALUE)
#undef STATUS_VALUE
};

static int read_status(const struct json *data, mli_status *status)
{
    struct json value = json_member(data, "status");
    size_t index;

    if (!json_present(&value))
        return 0;
    if (json_choice(&value, status_names, &index) < 0)
        return -1;
    *status = statuses[index];
    return 0;
}

int fault_object_read(const struct json *error, struct fault *fault, uint64_t *job)
{
    struct json code = json_member(error, "code"), message = json_member(error, "message");
    struct json data = json_member(error, "data"), place = json_member(&data, "pointer");
    const char *text, *pointer = NULL;
    mli_status status = MLI_STATUS_OK;
    int64_t number, of = 0;

    if (json_object(error, NULL) < 0 || json_int(&code, INT32_MIN, INT32_MAX, &number) < 0 ||
        json_text(&message, PROTO_REPLY_MAX, &text) < 0)
        return -1;
    if (json_present(&data) && (json_object(&data, NULL) < 0 || read_status(&data, &status) < 0 ||
                                optional_int(&data, "job", 1, MEMBER_MAX, &of) < 0))
        return -1;
    if (json_present(&place) && json_text(&place, PROTO_REPLY_MAX, &pointer) < 0)
        return -1;
    fault_set(fault, (enum fault_code)number, pointer, "%s", text);
    fault->status = status;
    *job = (uint64_t)of;
    return 0;
}

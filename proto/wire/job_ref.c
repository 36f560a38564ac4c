/* SPDX-License-Identifier: BSD-3-Clause */
#include "proto/wire/job_ref.h"

#include <stdlib.h>
#include <string.h>

#include "proto/json/members.h"
#include "proto/wire/wire_limits.h"

int job_name_read(const struct json *value, char **name)
{
    static const char legal[] =
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.:-";
    const char *text;

    if (json_string(value, PROTO_NAME_MAX, &text) < 0)
        return -1;
    if (text[strspn(text, legal)] != '\0')
        return json_complain(value, "a name may contain only A-Z a-z 0-9 _ . : -");
    return json_string_copy(value, PROTO_NAME_MAX, name);
}

bool job_name_is_wire(const char *name)
{
    return name[strspn(name, "0123456789")] != '\0';
}

int job_name_complain_digits(const struct json *value)
{
    return json_complain(
        value, "a name must not consist of digits only; write a job's number without quotes");
}

int job_name_read_wire(const struct json *value, char **name)
{
    if (job_name_read(value, name) < 0)
        return -1;
    if (*name && job_name_is_wire(*name))
        return 0;
    free(*name);
    *name = NULL;
    return job_name_complain_digits(value);
}

int job_ref_read(const struct json *value, struct job_ref *ref)
{
    int64_t number;

    *ref = (struct job_ref){0};
    if (json_is_string(value))
        return job_name_read_wire(value, &ref->name);
    if (!json_is_int(value))
        return json_complain(value, "a job's number or its name is required");
    if (json_int(value, 1, MEMBER_MAX, &number) < 0)
        return -1;
    ref->number = (uint64_t)number;
    return 0;
}

void job_ref_finish(struct job_ref *ref)
{
    free(ref->name);
    *ref = (struct job_ref){0};
}

void job_ref_write(struct jsonw *w, const char *key, const struct job_ref *ref)
{
    if (ref->name)
        jsonw_string(w, key, ref->name);
    else
        jsonw_uint(w, key, ref->number);
}

int job_refs_read(const struct json *value, size_t max, struct job_refs *refs)
{
    struct json item = {0};
    size_t count;

    *refs = (struct job_refs){0};
    if (!json_present(value))
        return 0;
    if (array_within(value, max, &count) < 0)
        return -1;
    if (count == 0)
        return 0;
    refs->refs = calloc(count, sizeof *refs->refs);
    if (!refs->refs)
        return fault_set(value->fault, FAULT_INTERNAL, NULL, "no memory for %zu jobs", count);
    while (json_next(value, &item)) {
        if (job_ref_read(&item, &refs->refs[refs->count]) < 0) {
            job_refs_finish(refs);
            return -1;
        }
        refs->count++;
    }
    return 0;
}

void job_refs_finish(struct job_refs *refs)
{
    for (size_t i = 0; i < refs->count; i++)
        job_ref_finish(&refs->refs[i]);
    free(refs->refs);
    *refs = (struct job_refs){0};
}

void job_refs_write(struct jsonw *w, const char *key, const struct job_refs *refs)
{
    jsonw_array_begin(w, key);
    for (size_t i = 0; i < refs->count; i++)
        job_ref_write(w, NULL, &refs->refs[i]);
    jsonw_array_end(w);
}

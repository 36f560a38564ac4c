/* SPDX-License-Identifier: BSD-3-Clause */
#include "proto/wire/hello.h"

#include <string.h>

#include "proto/json/members.h"
#include "proto/wire/wire_limits.h"

static const char *const capability_names[] = {
#define CAPABILITY_NAME(name) #name,
    CAPABILITY_TABLE(CAPABILITY_NAME)
#undef CAPABILITY_NAME
        NULL};

/* To add a limit of a connection, add it here and to struct hello. */
#define LIMITS(X) X(line) X(fds) X(jobs) X(job_bytes) X(buffers) X(buffer_bytes) X(prepared)

void hello_write_line(struct jsonw *w, const struct hello *hello)
{
    struct hello said = *hello;

    said.line = PROTO_LINE_MAX;
    said.fds = PROTO_FDS_MAX;
    jsonw_object_begin(w, NULL);
    jsonw_string(w, "jsonrpc", "2.0");
    jsonw_string(w, "method", "hello");
    jsonw_object_begin(w, "params");
    jsonw_uint(w, "protocol", PROTO_VERSION);
    jsonw_string(w, "version", said.version);
    jsonw_uint(w, "client", said.client);
    words_write(w, "capabilities", capability_names, UINT32_MAX);
    jsonw_object_begin(w, "limits");
#define WRITE(name) jsonw_uint(w, #name, said.name);
    LIMITS(WRITE)
#undef WRITE
    jsonw_object_end(w);
    jsonw_object_end(w);
    jsonw_object_end(w);
    jsonw_newline(w);
}

static int read_capabilities(const struct json *array, uint32_t *capabilities)
{
    struct json item = {0};
    const char *text;
    size_t count;

    if (json_array(array, &count) < 0)
        return -1;
    while (json_next(array, &item)) {
        if (json_text(&item, PROTO_NAME_MAX, &text) < 0)
            return -1;
        for (size_t i = 0; capability_names[i]; i++) {
            if (strcmp(text, capability_names[i]) == 0)
                *capabilities |= UINT32_C(1) << i;
        }
    }
    return 0;
}

int hello_read(const struct json *params, struct hello *hello)
{
    struct json capabilities = json_member(params, "capabilities");
    struct json limits = json_member(params, "limits");

    *hello = (struct hello){0};
    if (json_object(params, NULL) < 0 || member_u32(params, "protocol", &hello->protocol) < 0 ||
        member_text(params, "version", hello->version, sizeof hello->version) < 0 ||
        member_u64(params, "client", &hello->client) < 0 ||
        read_capabilities(&capabilities, &hello->capabilities) < 0 ||
        json_object(&limits, NULL) < 0)
        return -1;
#define READ(name)                                                                                 \
    if (member_u64(&limits, #name, &hello->name) < 0)                                              \
        return -1;
    LIMITS(READ)
#undef READ
    return 0;
}

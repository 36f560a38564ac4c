/* SPDX-License-Identifier: BSD-3-Clause */
#include "proto/json/fault.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "mli_helpers_api.h"
#include "proto/json/utf8.h"

static void set_pointer(struct fault *fault, const char *pointer)
{
    size_t length = strlen(pointer);

    fault->has_pointer = true;
    if (length >= sizeof fault->pointer) {
        length = utf8_cut(pointer, sizeof fault->pointer - 1);
        if (pointer[length - 1] == '~') /* do not cut the pointer within an escape, "~0" or "~1" */
            length--;
    }
    memmove(fault->pointer, pointer, length);
    fault->pointer[length] = '\0';
}

void fault_fill(struct fault *fault, enum fault_code code, const char *pointer, const char *format,
                ...)
{
    char text[FAULT_TEXT_MAX]; /* a copy of the text, because the arguments may point into *fault */
    va_list args;
    int length;

    va_start(args, format);
    length = vsnprintf(text, sizeof text, format, args);
    va_end(args);
    if (length < 0)
        text[0] = '\0';
    else if ((size_t)length >= sizeof text)
        text[utf8_cut(text, sizeof text - 1)] = '\0';
    utf8_disarm(text); /* the message may quote text of users, peers and files */

    fault->code = code;
    fault->status = MLI_STATUS_OK;
    fault->line = fault->column = 0;
    if (pointer) {
        set_pointer(fault, pointer);
    } else {
        fault->has_pointer = false;
        fault->pointer[0] = '\0';
    }
    memcpy(fault->text, text, sizeof text);
}

/* The names of arguments in libmli's messages, and the members of a job that hold them. */
static const struct {
    const char *word, *pointer;
    bool members; /* true: a path after the word, such as ".offset[1]", is a path in the job too */
} arguments[] = {
    {"cfg", "/cfg", true}, {"src", "/src", false}, {"dst", "/dst", false},
    {"in", "/src", false}, {"out", "/dst", false},
};

/* Appends a path such as ".offset[1]" as "/offset/1"; ignores the text after the path. */
static void append_path(struct pointer *pointer, const char *path)
{
    static const char name[] = "abcdefghijklmnopqrstuvwxyz_";
    static const char digits[] = "0123456789";

    while (*path == '.' || *path == '[') {
        size_t length = strspn(path + 1, *path == '.' ? name : digits);

        if (length == 0 || (*path == '[' && path[1 + length] != ']'))
            return;
        pointer_token(pointer);
        pointer_text(pointer, path + 1, length);
        path += 1 + length + (*path == '[');
    }
}

/* Texts of mli_last_error() begin with the name of a member, such as "cfg.offset[1]". Writes the
 * JSON pointer of this member. Returns false if the text begins with something else. */
static bool pointer_of_error(const char *error, char *out, size_t size)
{
    for (size_t i = 0; i < sizeof arguments / sizeof *arguments; i++) {
        size_t length = strlen(arguments[i].word);
        struct pointer pointer;

        if (strncmp(error, arguments[i].word, length) != 0 || !strchr(".[:", error[length]) ||
            error[length] == '\0')
            continue;
        pointer_init(&pointer, out, size);
        pointer_token(&pointer);
        pointer_text(&pointer, arguments[i].pointer + 1, strlen(arguments[i].pointer) - 1);
        if (arguments[i].members)
            append_path(&pointer, error + length);
        return true;
    }
    return false;
}

/* If the error text names a stride, such as "src.mem_stride", returns the text after this name,
 * and sets *tensor to the tensor's name in a job. Otherwise returns null. */
static const char *behind_stride(const char *error, const char **tensor)
{
    static const char member[] = ".mem_stride";

    for (size_t i = 0; i < sizeof arguments / sizeof *arguments; i++) {
        const size_t length = strlen(arguments[i].word);

        if (arguments[i].members || strncmp(error, arguments[i].word, length) != 0 ||
            strncmp(error + length, member, sizeof member - 1) != 0)
            continue;
        *tensor = arguments[i].pointer + 1;
        return error + length + sizeof member - 1;
    }
    return NULL;
}

int fault_set_refused(struct fault *fault, mli_status status, const char *last_error)
{
    char pointer[FAULT_POINTER_MAX];
    const char *text = last_error && *last_error ? last_error : mli_status_text(status);
    bool known = pointer_of_error(text, pointer, sizeof pointer);
    const char *tensor, *behind = behind_stride(text, &tensor);

    if (behind)
        fault_set(fault, FAULT_REFUSED, pointer, "%s.strides%s", tensor, behind);
    else
        fault_set(fault, FAULT_REFUSED, known ? pointer : NULL, "%s", text);
    fault->status = status;
    return -1;
}

void fault_prefix(struct fault *fault, const char *prefix)
{
    char pointer[2 * FAULT_POINTER_MAX];

    if (*prefix == '\0')
        return;
    snprintf(pointer, sizeof pointer, "%s%s", prefix, fault->has_pointer ? fault->pointer : "");
    set_pointer(fault, pointer);
}

const char *fault_name(int code)
{
    switch (code) {
#define FAULT_CASE(name, value, text)                                                              \
    case FAULT_##name:                                                                             \
        return #name;
        FAULT_TABLE(FAULT_CASE)
#undef FAULT_CASE
    default:
        return "UNKNOWN";
    }
}

/* JSON pointers. */

void pointer_init(struct pointer *pointer, char *out, size_t size)
{
    *pointer = (struct pointer){.out = out, .size = size};
    out[0] = '\0';
}

/* Appends all bytes, or nothing if these bytes or bytes of an earlier call did not fit. */
static void append(struct pointer *pointer, const char *bytes, size_t length)
{
    if (pointer->full || length >= pointer->size - pointer->length) {
        pointer->full = true;
        return;
    }
    memcpy(pointer->out + pointer->length, bytes, length);
    pointer->length += length;
    pointer->out[pointer->length] = '\0';
}

void pointer_token(struct pointer *pointer)
{
    append(pointer, "/", 1);
}

void pointer_text(struct pointer *pointer, const char *text, size_t length)
{
    for (size_t i = 0; i < length && !pointer->full;) {
        size_t size = utf8_char(text + i, length - i);

        if (text[i] == '~')
            append(pointer, "~0", 2);
        else if (text[i] == '/')
            append(pointer, "~1", 2);
        else
            append(pointer, text + i, size ? size : 1);
        i += size ? size : 1;
    }
}

void pointer_index(struct pointer *pointer, size_t index)
{
    char text[24];
    int length = snprintf(text, sizeof text, "/%zu", index);

    append(pointer, text, (size_t)length);
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* The texts of statuses, and the last error of each thread. */
#include "libmli/src/error.h"

#include <stddef.h>

#include "mli_helpers_api.h"

#if MLI_DEBUG_MODE >= MLI_DEBUG_ASSERT
#include <stdio.h>
#include <stdlib.h>
#endif

#define STATUS_NAME(name, value, text)                                                             \
    case value:                                                                                    \
        return "MLI_STATUS_" #name;
#define STATUS_TEXT(name, value, text)                                                             \
    case value:                                                                                    \
        return text;

const char *mli_status_name(mli_status status)
{
    switch ((int)status) {
        MLI_STATUS_TABLE(STATUS_NAME)
    default:
        return "MLI_STATUS_?";
    }
}

const char *mli_status_text(mli_status status)
{
    switch ((int)status) {
        MLI_STATUS_TABLE(STATUS_TEXT)
    default:
        return "not a status";
    }
}

const char *mli_version(void)
{
    return MLI_VERSION;
}

#if MLI_DEBUG_MODE == MLI_DEBUG_RELEASE
#define DEBUG_MODE_NAME "DBG_MODE_RELEASE"
#elif MLI_DEBUG_MODE == MLI_DEBUG_RET_CODES
#define DEBUG_MODE_NAME "DBG_MODE_RET_CODES"
#elif MLI_DEBUG_MODE == MLI_DEBUG_ASSERT
#define DEBUG_MODE_NAME "DBG_MODE_ASSERT"
#elif MLI_DEBUG_MODE == MLI_DEBUG_DEBUG
#define DEBUG_MODE_NAME "DBG_MODE_DEBUG"
#else
#define DEBUG_MODE_NAME "DBG_MODE_FULL"
#endif

const char *mli_hlp_compile_options_string(void)
{
    return "MLI_BUILD_REFERENCE = ON\nROUND_MODE = UP\nMLI_DEBUG_MODE = " DEBUG_MODE_NAME "\n";
}

#if MLI_DEBUG_MODE == MLI_DEBUG_RELEASE

static MLI_THREAD_LOCAL mli_status last_status;

void error_note(mli_status status)
{
    last_status = status;
}

const char *mli_last_error(void)
{
    return last_status == MLI_STATUS_OK ? "" : mli_status_text(last_status);
}

#else

enum { TEXT_SIZE = 192 };

static MLI_THREAD_LOCAL char last_text[TEXT_SIZE];

struct text {
    char *at, *end; /* one byte is kept for the terminator */
};

static void put(struct text *text, char c)
{
    if (text->at < text->end)
        *text->at++ = c;
}

static void put_number(struct text *text, int64_t number)
{
    char digits[20];
    size_t n = 0;
    uint64_t rest = number < 0 ? -(uint64_t)number : (uint64_t)number;

    if (number < 0)
        put(text, '-');
    do {
        digits[n++] = (char)('0' + rest % 10);
        rest /= 10;
    } while (rest);
    while (n)
        put(text, digits[--n]);
}

/* Does not use snprintf: the library needs no I/O functions of libc. */
static void format_text(const char *subject, const char *format, const int64_t *numbers)
{
    struct text text = {last_text, last_text + sizeof(last_text) - 1};

    for (; *subject; subject++)
        put(&text, *subject);
    for (; *format; format++) {
        if (*format == '%')
            put_number(&text, *numbers++);
        else
            put(&text, *format);
    }
    *text.at = '\0';
}

void error_decline(mli_status status, const char *subject, const char *format,
                   const int64_t *numbers)
{
    format_text(subject, format, numbers);
#if MLI_DEBUG_MODE >= MLI_DEBUG_DEBUG
    fprintf(stderr, "libmli: %s: %s\n", mli_status_name(status), last_text);
#else
    (void)status;
#endif
}

#if MLI_DEBUG_MODE >= MLI_DEBUG_ASSERT
static MLI_THREAD_LOCAL bool in_question;
#endif

void error_question(bool now)
{
#if MLI_DEBUG_MODE >= MLI_DEBUG_ASSERT
    in_question = now;
#else
    (void)now;
#endif
}

void error_explain(mli_status status, const char *subject, const char *format,
                   const int64_t *numbers)
{
    error_decline(status, subject, format, numbers);
#if MLI_DEBUG_MODE >= MLI_DEBUG_ASSERT
    if (!in_question)
        abort();
#endif
}

const char *mli_last_error(void)
{
    return last_text;
}

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/* The parser of the replies of beanstalkd. */
#include <stdlib.h>
#include <string.h>

#include "cli/queue/beanstalk.h"

enum { DIGITS_MAX = 20 };

#define BEANSTALK_FORM(name, word, form) {word, form},
static const struct {
    const char *word, *form;
} replies[] = {BEANSTALK_REPLY_TABLE(BEANSTALK_FORM)};
#undef BEANSTALK_FORM

const char *beanstalk_word_text(enum beanstalk_word word)
{
    return replies[word].word;
}

/* Reads " NUMBER" at *at. Returns 0, or -1 if no number fits. */
static int read_number(const char **at, const char *end, uint64_t *out)
{
    const char *digit = *at + 1;
    uint64_t number = 0;

    if (*at == end || **at != ' ' || digit == end || end - digit < 1)
        return -1;
    for (; digit < end && *digit >= '0' && *digit <= '9'; digit++) {
        if (__builtin_mul_overflow(number, 10, &number) ||
            __builtin_add_overflow(number, (uint64_t)(*digit - '0'), &number))
            return -1;
    }
    if (digit == *at + 1)
        return -1;
    *at = digit;
    *out = number;
    return 0;
}

/* Reads what follows the word of a reply. *body becomes the size of its body. */
static int read_form(const char *form, const char *at, const char *end,
                     struct beanstalk_reply *reply, uint64_t *body)
{
    for (; *form; form++) {
        if (*form == 'W') {
            at = end;
            continue;
        }
        if (*form == 'i' && at == end)
            return 0;
        if (read_number(&at, end, *form == 'B' ? body : &reply->id))
            return -1;
    }
    return at == end ? 0 : -1;
}

static int read_line(const char *line, size_t length, struct beanstalk_reply *reply, uint64_t *body)
{
    const char *blank = memchr(line, ' ', length), *end = line + length;
    const size_t word = blank ? (size_t)(blank - line) : length;

    for (size_t i = 0; i < sizeof(replies) / sizeof(replies[0]); i++) {
        if (strlen(replies[i].word) != word || memcmp(replies[i].word, line, word) != 0)
            continue;
        reply->word = (enum beanstalk_word)i;
        return read_form(replies[i].form, line + word, end, reply, body);
    }
    return -1;
}

int beanstalk_parse(const char *bytes, size_t length, struct beanstalk_reply *reply, size_t *used)
{
    const char *newline = memchr(bytes, '\n', length);
    uint64_t body = 0;

    *used = 0;
    *reply = (struct beanstalk_reply){.id = 0};
    if (!newline)
        return length < BEANSTALK_LINE_MAX ? 0 : -1;
    const size_t line = (size_t)(newline - bytes);
    if (line == 0 || line >= BEANSTALK_LINE_MAX || bytes[line - 1] != '\r' ||
        read_line(bytes, line - 1, reply, &body))
        return -1;
    *used = line + 1;
    if (!strchr(replies[reply->word].form, 'B'))
        return 1;
    if (body > BEANSTALK_BODY_MAX)
        return -1;
    *used += (size_t)body + 2;
    if (length < *used)
        return 0;
    reply->body = newline + 1;
    reply->length = (size_t)body;
    return memcmp(reply->body + body, "\r\n", 2) == 0 ? 1 : -1;
}

/* Returns the value of "key: value" in the lines of the body, or NULL; *length is its length. */
static const char *find(const struct beanstalk_reply *reply, const char *key, size_t *length)
{
    const size_t wanted = strlen(key);
    const char *line = reply->body, *end = line ? line + reply->length : NULL;

    while (line && line < end) {
        const char *newline = memchr(line, '\n', (size_t)(end - line)),
                   *stop = newline ? newline : end;

        if ((size_t)(stop - line) >= wanted + 2 && memcmp(line, key, wanted) == 0 &&
            memcmp(line + wanted, ": ", 2) == 0) {
            *length = (size_t)(stop - line) - wanted - 2;
            return line + wanted + 2;
        }
        line = newline ? newline + 1 : NULL;
    }
    return NULL;
}

uint64_t beanstalk_stat(const struct beanstalk_reply *reply, const char *key)
{
    size_t length = 0;
    const char *value = find(reply, key, &length);
    uint64_t number = 0;

    for (size_t i = 0; value && i < length && i < DIGITS_MAX; i++) {
        if (value[i] < '0' || value[i] > '9' || __builtin_mul_overflow(number, 10, &number) ||
            __builtin_add_overflow(number, (uint64_t)(value[i] - '0'), &number))
            return 0;
    }
    return number;
}

bool beanstalk_stat_is(const struct beanstalk_reply *reply, const char *key, const char *value)
{
    size_t length = 0;
    const char *found = find(reply, key, &length);

    return found && length == strlen(value) && memcmp(found, value, length) == 0;
}

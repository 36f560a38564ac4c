/* SPDX-License-Identifier: BSD-3-Clause */
#include "cli/make/layout_words.h"

#include <stdio.h>
#include <string.h>

static bool is_letter(char c)
{
    return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z');
}

bool layout_words_given(const char *text)
{
    while (*text && !is_letter(*text))
        text++;
    return *text != '\0';
}

/* A character of the command line, which may be any byte. */
static char shown(char c)
{
    return c >= ' ' && c <= '~' ? c : '?';
}

/* Checks one layout: 1 to MLI_MAX_RANK letters, each once. */
static int check(const char *layout, size_t length, char *why)
{
    for (size_t i = 0; i < length; i++) {
        if (!is_letter(layout[i]))
            return snprintf(why, LAYOUT_WORDS_WHY_MAX,
                            "'%c' is no letter; a layout has a letter for each dimension",
                            shown(layout[i]));
    }
    if (length == 0 || length > MLI_MAX_RANK)
        return snprintf(why, LAYOUT_WORDS_WHY_MAX,
                        "a layout of %zu letters is given, 1 to %d are possible", length,
                        MLI_MAX_RANK);
    for (size_t i = 0; i < length; i++) {
        if (memchr(layout, layout[i], i))
            return snprintf(why, LAYOUT_WORDS_WHY_MAX, "%.*s has the letter %c twice", (int)length,
                            layout, layout[i]);
    }
    return 0;
}

int layout_words_parse(const char *text, struct layout_words *words, char why[LAYOUT_WORDS_WHY_MAX])
{
    const size_t length = strcspn(text, ":");
    const char *from = text, *to = text + length + 1;
    if (text[length] == '\0') {
        snprintf(why, LAYOUT_WORDS_WHY_MAX, "two layouts with a colon are needed, as in NHWC:NCHW");
        return -1;
    }
    if (check(from, length, why) || check(to, strlen(to), why))
        return -1;
    if (strlen(to) != length) {
        snprintf(why, LAYOUT_WORDS_WHY_MAX, "%.*s has %zu letters, %s has %zu", (int)length, from,
                 length, to, strlen(to));
        return -1;
    }
    words->count = (uint32_t)length;
    /* check() has limited the length; compilers cannot see it. */
    for (size_t i = 0; i < length && i < MLI_MAX_RANK; i++) {
        const char *at = memchr(from, to[i], length);
        if (!at) {
            snprintf(why, LAYOUT_WORDS_WHY_MAX, "%s has the letter %c, %.*s has not", to, to[i],
                     (int)length, from);
            return -1;
        }
        words->perm[i] = (uint8_t)(at - from);
    }
    return 0;
}

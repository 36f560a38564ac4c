/* SPDX-License-Identifier: BSD-3-Clause */
#include "cli/words.h"

#include <stdio.h>
#include <string.h>

#include "cli/term/print.h"
#include "proto/json/nearest.h"

const char *words_text(char out[WORDS_TEXT_MAX], const char *const *words)
{
    size_t length = 0;

    out[0] = '\0';
    for (size_t i = 0; words[i] && length < WORDS_TEXT_MAX; i++) {
        const char *between = i == 0 ? "" : words[i + 1] ? ", " : " or ";
        length +=
            (size_t)snprintf(out + length, WORDS_TEXT_MAX - length, "%s%s", between, words[i]);
    }
    return out;
}

int words_find(const char *what, const char *given, const char *const *words)
{
    char list[WORDS_TEXT_MAX];

    for (int i = 0; words[i]; i++) {
        if (strcmp(words[i], given) == 0)
            return i;
    }
    const char *nearest = nearest_word(given, words);
    if (nearest)
        print_error("%s %s is unknown; did you mean %s?", what, given, nearest);
    else
        print_error("%s %s: %s is needed", what, given, words_text(list, words));
    return -1;
}

/* SPDX-License-Identifier: BSD-3-Clause */
#include "proto/json/nearest.h"

#include <stddef.h>
#include <string.h>

enum { WORD_MAX = 128 }; /* bytes; longer words are not compared */

static size_t min(size_t a, size_t b)
{
    return a < b ? a : b;
}

/* Compares ASCII only, because locales must not change what a message says. */
static char lower(char c)
{
    return c >= 'A' && c <= 'Z' ? (char)(c | 0x20) : c;
}

/* Returns the edit distance of two words: insertions, deletions, changes, swaps of neighbours. */
static size_t distance(const char *a, size_t a_length, const char *b, size_t b_length)
{
    size_t rows[3][WORD_MAX + 1];
    size_t *older = rows[0], *old = rows[1], *now = rows[2];

    for (size_t j = 0; j <= b_length; j++)
        old[j] = j;
    for (size_t i = 1; i <= a_length; i++) {
        size_t *spare = older;

        now[0] = i;
        for (size_t j = 1; j <= b_length; j++) {
            size_t change = lower(a[i - 1]) != lower(b[j - 1]);

            now[j] = min(old[j - 1] + change, min(old[j], now[j - 1]) + 1);
            if (i > 1 && j > 1 && lower(a[i - 1]) == lower(b[j - 2]) &&
                lower(a[i - 2]) == lower(b[j - 1]))
                now[j] = min(now[j], older[j - 2] + 1);
        }
        older = old;
        old = now;
        now = spare;
    }
    return old[b_length];
}

/* Returns the only word that begins with `given`, or null. */
static const char *only_longer(const char *given, size_t length, const char *const *words)
{
    const char *word = NULL;

    for (; length > 1 && *words; words++) {
        if (strncmp(*words, given, length) != 0)
            continue;
        if (word)
            return NULL;
        word = *words;
    }
    return word;
}

const char *nearest_word(const char *given, const char *const *words)
{
    const char *const *const all = words;
    size_t length = strlen(given);
    size_t best = length < 5 ? 2 : 3; /* only words at a smaller distance are suggested */
    const char *word = NULL;

    if (length > WORD_MAX)
        return NULL;
    for (; *words; words++) {
        size_t size = strlen(*words), slips;

        if (size > WORD_MAX || size >= length + best || length >= size + best)
            continue;
        slips = distance(given, length, *words, size);
        if (slips < best && slips < length) {
            best = slips;
            word = *words;
        }
    }
    return word ? word : only_longer(given, length, all);
}

/* SPDX-License-Identifier: BSD-3-Clause */
#include "sentence.h"

#include <string.h>

void sentence_what(struct textw *w, const struct case_result *result, escaped_rule rule)
{
    const char *message = result->message ? result->message : case_reason_word(result->reason);
    escaped_write(w, result->file, rule);
    if (result->pointer && *result->pointer) {
        textw_printf(w, ": ");
        escaped_write(w, result->pointer, rule);
    }
    if (*message) {
        textw_printf(w, ": ");
        escaped_write(w, message, rule);
    }
}

/* A word as a shell takes it. */
static void quote(struct textw *w, const char *word)
{
    static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
                                "_-./:=@%+,";
    if (*word && *word != '-' && word[strspn(word, plain)] == '\0') {
        textw_printf(w, "%s", word);
        return;
    }
    /* A word that begins with a dash is no option behind a path's first part. */
    textw_printf(w, "%s'", *word == '-' ? "./" : "");
    for (size_t length; *word; word += length) {
        length = strcspn(word, "'");
        textw_printf(w, "%.*s%s", (int)length, word, word[length] ? "'\\''" : "");
        length += word[length] != '\0';
    }
    textw_printf(w, "'");
}

void sentence_again(struct textw *w, const struct case_result *result, escaped_rule rule)
{
    struct textw command;
    textw_init(&command);
    textw_printf(&command, "mlictl run ");
    quote(&command, result->kept);
    if (command.failed)
        w->failed = true;
    else
        escaped_write(w, command.data, rule);
    textw_finish(&command);
}

void sentence_rate(struct textw *w, size_t cases, uint64_t ns)
{
    double rate = ns ? (double)cases * 1e9 / (double)ns : 0;
    if (rate > 0)
        textw_printf(w, ", %.*f cases/s", rate < 9.95 ? 2 : 0, rate);
}

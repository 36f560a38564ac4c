/* SPDX-License-Identifier: BSD-3-Clause */
#include "cli/batch/again.h"

#include <string.h>

#include "cli/batch/connector.h"
#include "proto/json/textw.h"

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

char *again_command(const struct options *options, const char *job_file)
{
    static const char *const names[] = {"engine", "channels", "socket", "host"};
    struct textw command;
    textw_init(&command);
    textw_printf(&command, "mlictl %s ", connector_is_embedded(options) ? "run" : "submit");
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        const char *value = options_get(options, names[i]);
        if (!value)
            continue;
        textw_printf(&command, "--%s ", names[i]);
        quote(&command, value);
        textw_printf(&command, " ");
    }
    quote(&command, job_file);
    char *text = command.failed ? NULL : strdup(command.data);
    textw_finish(&command);
    return text;
}

/* SPDX-License-Identifier: BSD-3-Clause */
#include "cli/engine_arg.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "cli/options.h"
#include "mli_engine.h"
#include "proto/json/json.h"

enum { NAME_MAX_SHOWN = 64 };

static int check_name(const char *text, size_t length, struct fault *fault)
{
    const char *names[MLI_ENGINES_MAX + 1] = {NULL};
    char name[NAME_MAX_SHOWN], list[WORDS_TEXT_MAX];

    snprintf(name, sizeof(name), "%.*s", (int)length, text);
    for (int i = 0; i < MLI_ENGINES_MAX && (names[i] = mli_mov_engine_at(i)); i++) {
        if (strlen(names[i]) == length && memcmp(names[i], text, length) == 0)
            return 0;
    }
    const char *near = nearest_word(name, names);
    if (near)
        return fault_set(fault, FAULT_INVALID_PARAMS, NULL,
                         "--engine: no engine is called %s; did you mean %s?", name, near);
    return fault_set(fault, FAULT_INVALID_PARAMS, NULL,
                     "--engine: no engine is called %s; it can be %s", name,
                     words_text(list, names));
}

int engine_arg_check(const char *spec, struct fault *fault)
{
    static const char wrapper[] = "fault";
    size_t length = strcspn(spec, ":");

    if (length == 0)
        return 0;
    if (check_name(spec, length, fault))
        return -1;
    bool wraps = length == strlen(wrapper) && strncmp(spec, wrapper, length) == 0;
    if (!wraps || !spec[length])
        return 0;
    const char *inner = spec + length + 1;
    length = strcspn(inner, ",");
    return length > 0 && !memchr(inner, '=', length) ? check_name(inner, length, fault) : 0;
}

/* SPDX-License-Identifier: BSD-3-Clause */
#include "target/profile/profile_load.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "proto/json/json.h"

enum { NAMES_MAX = 256, WORDS_MAX = 32 };

const struct profile_text *profile_built_in_named(const char *name)
{
    for (const struct profile_text *text = profile_built_in; text->name; text++)
        if (strcmp(text->name, name) == 0)
            return text;
    return NULL;
}

bool profile_is_path(const char *name)
{
    const size_t length = strlen(name), suffix = strlen(".json");

    return strchr(name, '/') || (length > suffix && strcmp(name + length - suffix, ".json") == 0);
}

static int load_file(struct target_profile *profile, const char *path, struct fault *fault)
{
    char *text;
    size_t length;
    int result;

    if (json_file_read(path, PROFILE_FILE_MAX, &text, &length, fault) < 0)
        return -1;
    result = profile_read(profile, text, length, fault);
    free(text);
    return result;
}

static int complain_unknown(const char *name, struct fault *fault)
{
    const char *words[WORDS_MAX + 1] = {NULL}, *near;
    char names[NAMES_MAX] = "";
    size_t length = 0, count = 0;

    for (const struct profile_text *text = profile_built_in; text->name; text++) {
        length += (size_t)snprintf(names + length, sizeof names - length, "%s%s",
                                   length > 0 ? ", " : "", text->name);
        if (count < WORDS_MAX)
            words[count++] = text->name;
    }
    near = nearest_word(name, words);
    if (near)
        return fault_set(fault, FAULT_NOT_FOUND, NULL,
                         "profile \"%s\" is not known; did you mean \"%s\"? known profiles: %s",
                         name, near, names);
    return fault_set(fault, FAULT_NOT_FOUND, NULL,
                     "profile \"%s\" is not known; known profiles: %s; the path of a file contains "
                     "'/' or ends with .json",
                     name, names);
}

int profile_load(struct target_profile *profile, const char *name, struct fault *fault)
{
    const struct profile_text *text = profile_built_in_named(name);

    if (profile_is_path(name))
        return load_file(profile, name, fault);
    if (!text)
        return complain_unknown(name, fault);
    return profile_read(profile, text->text, text->length, fault);
}

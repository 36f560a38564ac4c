/* SPDX-License-Identifier: BSD-3-Clause */
#include <string.h>

#include "cli/command.h"
#include "cli/completion/completion.h"
#include "mli_mov_api.h"
#include "target/profile/profile_load.h"

void completion_write_commands(FILE *out)
{
    for (size_t i = 0; command_at(i); i++)
        fprintf(out, "%s ", command_at(i)->name);
    fputs("help", out);
}

static void write_engines(FILE *out)
{
    const char *name;

    for (int i = 0; (name = mli_mov_engine_at(i)); i++)
        fprintf(out, "%s%s", i ? " " : "", name);
}

static void write_profiles(FILE *out)
{
    for (const struct profile_text *p = profile_built_in; p->name; p++)
        fprintf(out, "%s%s", p > profile_built_in ? " " : "", p->name);
}

bool completion_has_words(const struct value *value)
{
    return value->words || value->kind == VALUE_PROFILE;
}

void completion_write_words(FILE *out, const struct value *value)
{
    if (value->kind == VALUE_COMMAND)
        completion_write_commands(out);
    else if (value->kind == VALUE_ENGINE)
        write_engines(out);
    else if (value->kind == VALUE_PROFILE)
        write_profiles(out);
    for (size_t i = 0; value->words && value->words[i]; i++)
        fprintf(out, "%s%s", i ? " " : "", value->words[i]);
}

void completion_write_quoted(FILE *out, const char *text, const char *special, const char *escape,
                             const char *quote)
{
    fputc('\'', out);
    for (; *text; text++) {
        if (*text == '\'')
            fputs(quote, out);
        else
            fprintf(out, "%s%c", strchr(special, *text) ? escape : "", *text);
    }
    fputc('\'', out);
}

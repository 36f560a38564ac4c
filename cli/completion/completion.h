/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Scripts by which shells complete command lines of mlictl, made from the tables of commands and
 * options (command.h, options.h). To add a shell, write its NAME.c, and list it in
 * cmd_completion.c and conf/meson.build.
 */
#ifndef CLI_COMPLETION_H
#define CLI_COMPLETION_H

#include <stdio.h>

#include "cli/options.h"

/** Each writes the script of one shell. */
void completion_bash(FILE *out);
void completion_zsh(FILE *out);
void completion_fish(FILE *out);

/* For the scripts: words with a space between them. */

/** Writes the names of all commands, and "help". */
void completion_write_commands(FILE *out);

/** Writes the words that a value can be: commands, engines of this build, or those of its table. */
void completion_write_words(FILE *out, const struct value *value);

/**
 * Writes a text between single quotes. Each character of `special` gets `escape` before it, and a
 * single quote becomes `quote`.
 */
void completion_write_quoted(FILE *out, const char *text, const char *special, const char *escape,
                             const char *quote);

#endif /* CLI_COMPLETION_H */

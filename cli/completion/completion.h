/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Scripts for shells that complete command lines of mlictl, written from the tables of commands and
 * options (command.h, options.h). To add a shell, write its NAME.c, and list it in
 * cmd_completion.c, cli/meson.build and conf/meson.build.
 */
#ifndef CLI_COMPLETION_H
#define CLI_COMPLETION_H

#include <stdbool.h>
#include <stdio.h>

#include "cli/options.h"

/** Writes the script of a shell. */
void completion_bash(FILE *out);
void completion_zsh(FILE *out);
void completion_fish(FILE *out);

/* Helpers of the scripts. Words are separated by a space. */

/** Writes the names of all commands, and "help". */
void completion_write_commands(FILE *out);

/** Writes the possible words of a value: commands, engines of this build, built-in target profiles,
 * or the words of the option's table. */
void completion_write_words(FILE *out, const struct value *value);

/** Returns whether completion_write_words() writes words for a value that may be a file. */
bool completion_has_words(const struct value *value);

/**
 * Writes a text between single quotes. Each character of `special` gets `escape` before it, and a
 * single quote becomes `quote`.
 */
void completion_write_quoted(FILE *out, const char *text, const char *special, const char *escape,
                             const char *quote);

#endif /* CLI_COMPLETION_H */

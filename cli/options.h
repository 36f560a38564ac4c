/* SPDX-License-Identifier: BSD-3-Clause */
/* The words of a command line: options from a table, then arguments. */
#ifndef CLI_OPTIONS_H
#define CLI_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "print.h"

enum { OPTIONS_MAX = 32, OPTIONS_REPEATS_MAX = 64 };

/* One option of a command. A table of them ends with a null name. */
struct option {
    const char *name;  /* without the dashes */
    char letter;       /* short form, or 0 */
    const char *value; /* what its value is called ("PATH"), or null where it takes none */
    const char *help;
    bool repeats; /* may be given several times: options_next() */
};

/* What was given. */
struct options {
    const struct option *table;
    const char *values[OPTIONS_MAX]; /* by index in the table; "" for one without value; the last */
    struct {
        size_t index; /* in the table */
        const char *value;
    } repeats[OPTIONS_REPEATS_MAX]; /* every value of those that repeat, as given */
    size_t repeat_count;
    char **arguments; /* point into argv */
    size_t argument_count;
};

/**
 * Takes argv apart: "--name value", "--name=value", "-n value", "--" before arguments that begin
 * with a dash; "-" alone is an argument. Returns 0, or -1 after saying on stderr what is wrong.
 */
int options_parse(struct options *options, const struct option *table, int argc, char **argv);

/** The value of an option, "" for a given one without value, null where it was not given. */
const char *options_get(const struct options *options, const char *name);

/**
 * The values of an option that repeats, one after the other: *at is 0 before the first call. Null
 * after the last.
 */
const char *options_next(const struct options *options, const char *name, size_t *at);

/** Whether a table has such an option. */
bool options_has(const struct option *table, const char *name);

/** How many words an option at words[0] takes, its value included; -1: the table has none such. */
int options_word(const struct option *table, char *const *words);

/**
 * The option's value as an integer in [min, max]; *out keeps its value where it was not given.
 * Returns 0, or -1 after saying on stderr what is wrong.
 */
int options_uint(const struct options *options, const char *name, uint64_t min, uint64_t max,
                 uint64_t *out);

/** --json and --quiet. */
struct print_style options_style(const struct options *options);

/** Options of every command; they end its table. */
#define OPTIONS_COMMON                                                                             \
    {"json", 0, NULL, "results as JSON, one object per line"},                                     \
        {"quiet", 'q', NULL, "no line for what went well"}, {"help", 'h', NULL, "this text"},      \
    {                                                                                              \
        NULL                                                                                       \
    }

/** Writes the table as help text to stdout. */
void options_help(const struct option *table);

#endif /* CLI_OPTIONS_H */

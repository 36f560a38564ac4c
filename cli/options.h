/* SPDX-License-Identifier: BSD-3-Clause */
/* The words of a command line: options from a table, then arguments. */
#ifndef CLI_OPTIONS_H
#define CLI_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cli/term/print.h"

enum { OPTIONS_MAX = 32, OPTIONS_REPEATS_MAX = 64 };

/* What the value of an option, or an argument, can be. */
enum value_kind {
    VALUE_FILE,
    VALUE_JOB_FILE,
    VALUE_DIRECTORY,
    VALUE_ENGINE,  /* that libmli has, with options or without */
    VALUE_COMMAND, /* of mlictl */
    VALUE_WORD,    /* one of `words` */
    VALUE_WORDS    /* some of them, with commas between */
};

struct value {
    enum value_kind kind;
    const char *const *words; /* end with null; of a file: what may stand there, too; or null */
};

/* Values of several commands. Those with words are beside what the words stand for. */
extern const struct value value_file, value_job_file, value_directory, value_engine;

/*
 * One option of a command. A table of them ends with a null name. Help and completion are made of
 * the same table.
 */
struct option {
    const char *name;  /* without the dashes */
    char letter;       /* short form, or 0 */
    const char *value; /* what its value is called ("PATH"), or null where it takes none */
    const char *help;
    bool repeats;              /* may be given several times: options_next() */
    const struct value *takes; /* null: a number, a name, anything */
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

/**
 * Which of the words that the table has for the option was given; *index keeps its value where it
 * was not given. Returns 0, or -1 after saying on stderr what can be given.
 */
int options_choice(const struct options *options, const char *name, size_t *index);

/** --json and --quiet. */
struct print_style options_style(const struct options *options);

/** Options of every command; they end its table. */
#define OPTIONS_COMMON                                                                             \
    {"json", 0, NULL, "Print results as JSON, one object per line."},                              \
        {"quiet", 'q', NULL, "Print no line for a success."},                                      \
        {"help", 'h', NULL, "Print this help."},                                                   \
    {                                                                                              \
        NULL                                                                                       \
    }

/** Writes the table as help text to stdout. */
void options_help(const struct option *table);

#endif /* CLI_OPTIONS_H */

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A command line: options from a table, and arguments.
 *
 * The help of an option begins with a verb, ends with a full stop, and ends with the default (with
 * its unit) or "required" in parentheses if the option takes a value
 * (tests/integration/test_help.py checks it):
 *
 *     {"fail-fast", NULL, "Stop at the first case that fails."},
 *     {"timeout", "TIME", "Stop waiting after this time (default: 5s)."},
 *
 * A short option means the same option in all commands: option_letters[] in options.c lists all of
 * them (tests/integration/test_grammar.py compares it with help, manual pages and completions).
 * An option that gets another name or letter keeps the old spelling for one version, as `.old`.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cli/term/print.h"

enum { OPTIONS_MAX = 64, OPTIONS_REPEATS_MAX = 64 };

/* Kinds of option values and arguments. */
enum value_kind {
    VALUE_FILE,
    VALUE_JOB_FILE,
    VALUE_DIRECTORY,
    VALUE_ENGINE,  /* an engine of libmli, with or without options */
    VALUE_COMMAND, /* a command of mlictl */
    VALUE_WORD,    /* one of `words` */
    VALUE_PROFILE, /* a built-in target profile, or a file */
    VALUE_WORDS    /* words of `words`, with commas between */
};

struct value {
    enum value_kind kind;
    const char *const *words; /* words of VALUE_WORD and VALUE_WORDS; for VALUE_FILE: words instead
                                 of a file, or null; the list ends with null */
};

/* Kinds of values that options of several commands have. */
extern const struct value value_file, value_job_file, value_directory, value_engine, value_profile;

/*
 * One option of a command. A table of options ends with a null name. Parsing, help and completion
 * all use this table.
 */
struct option {
    const char *name;  /* name without the dashes */
    const char *value; /* name of its value ("PATH"), or null: it takes no value */
    const char *help;
    bool repeats;              /* may be given several times: options_next() */
    const struct value *takes; /* kind of the value; null: any text, such as a number or a name */
    unsigned uses;             /* bits with a meaning that the command defines (options_only()) */
    const char *absent; /* why this build refuses the option, and does not list it; or null */
    const char *old; /* name or letter in the previous version, accepted with a remark; or null */
};

/** Returns the short form of an option, the same in all commands; 0: it has none. */
char option_letter(const struct option *option);

/** An entry of a table, for macros with entries that several tables share. */
#define OPTION(...)                                                                                \
    {                                                                                              \
        __VA_ARGS__                                                                                \
    }

#define OPTION_EVERY_USE (~0U)

/* A parsed command line. */
struct options {
    const struct option *table;
    const char *values[OPTIONS_MAX]; /* last value of each option, by its index in the table; "" for
                                        an option without a value */
    struct {
        size_t index; /* index of the option in the table */
        const char *value;
    } repeats[OPTIONS_REPEATS_MAX]; /* every value of options that repeat, in order */
    size_t repeat_count;
    char **arguments; /* arguments, which point into argv */
    size_t argument_count;
};

/**
 * Parses argv: "--name value", "--name=value", "-n value", "--" before arguments that begin with a
 * dash; "-" alone is an argument. Returns 0, or -1 after printing what is wrong.
 */
int options_parse(struct options *options, const struct option *table, int argc, char **argv);

/** Returns the value of an option; "" if it takes no value; null if it was not given. */
const char *options_get(const struct options *options, const char *name);

/**
 * Returns the next value of an option that repeats, or null after the last. *at is 0 before the
 * first call.
 */
const char *options_next(const struct options *options, const char *name, size_t *at);

/** Returns whether a table has an option with this name. */
bool options_has(const struct option *table, const char *name);

/**
 * Checks that only options with the bit `use` were given. Returns 0, or -1 after printing the
 * options of `command`, for example "batch merge".
 */
int options_only(const struct options *options, unsigned use, const char *command);

/** Returns the number of words of the option at words[0], with its value; -1: not in the table. */
int options_word(const struct option *table, char *const *words);

/* Units of the numbers of options. */
enum number_unit {
    UNIT_NONE,
    UNIT_BYTES, /* also written as 256KiB or 256K, and with M, G and T */
    UNIT_MS,    /* also written as 500ms, 5s, 2m or 1h */
    UNIT_S      /* also written as 5s, 2m or 1h */
};

/** Reads a whole text as options_number() does. Returns false, and leaves *out, if it is wrong. */
bool number_read(const char *text, enum number_unit unit, uint64_t min, uint64_t max,
                 uint64_t *out);

/** Prints a remark if `text`, which number_read() has read, is a time without a unit. `before`:
 * what stands before it on the command line, "--timeout ". */
void number_remark(const char *before, const char *text, enum number_unit unit);

/**
 * Reads the option's value as an integer in [min, max]; *out keeps its value if the option was not
 * given. A number without a suffix, like min, max and *out, is in `unit`; for a time, prints a
 * remark unless the option is --seconds. Returns 0, or -1 after printing what is wrong.
 */
int options_number(const struct options *options, const char *name, enum number_unit unit,
                   uint64_t min, uint64_t max, uint64_t *out);
/** Like options_number(), for numbers without a unit. */
int options_uint(const struct options *options, const char *name, uint64_t min, uint64_t max,
                 uint64_t *out);
/** Like options_uint(), for 32 bits. */
int options_u32(const struct options *options, const char *name, uint32_t min, uint32_t max,
                uint32_t *out);

/**
 * Finds the option's value among the words of its table entry; *index keeps its value if the option
 * was not given. Returns 0, or -1 after printing the possible words.
 */
int options_choice(const struct options *options, const char *name, size_t *index);

/** Returns the output style that --json and --quiet select. */
struct print_style options_style(const struct options *options);

/** Options of every command, the last entries of its table. */
#define OPTIONS_COMMON                                                                             \
    {"json", NULL, "Print results as JSON, one object per line.", .uses = OPTION_EVERY_USE},       \
        {"quiet", NULL, "Print no line for a success.", .uses = OPTION_EVERY_USE},                 \
        {"help", NULL, "Print this help.", .uses = OPTION_EVERY_USE}, OPTION(NULL)

/**
 * Prints text, the first line at column `column` and the others with an indent of `indent`. Wraps
 * lines at 100 columns. On a narrower terminal, wraps at its width and ignores the newlines in the
 * text.
 */
void options_print_wrapped(const char *text, size_t column, size_t indent);

/** Prints the options with one of the bits `uses` as help; OPTION_EVERY_USE: all options. */
void options_help(const struct option *table, unsigned uses);

/* Lists of words. An option or an argument takes one word of a list. */

enum { WORDS_TEXT_MAX = 256 };

/** Writes "npy, raw or npz", cut to WORDS_TEXT_MAX. Returns `out`. */
const char *words_text(char out[WORDS_TEXT_MAX], const char *const *words);

/**
 * Returns the index of a word in the list, which ends with null; or -1 after printing that the
 * word is unknown, and the nearest word. `what` names the option in the message, for example
 * "--format".
 */
int words_find(const char *what, const char *given, const char *const *words);

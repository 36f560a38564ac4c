/* SPDX-License-Identifier: BSD-3-Clause */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/options.h"
#include "cli/term/print.h"
#include "cli/term/terminal.h"
#include "proto/json/json.h"

const char *words_text(char out[WORDS_TEXT_MAX], const char *const *words)
{
    size_t length = 0;

    out[0] = '\0';
    for (size_t i = 0; words[i] && length < WORDS_TEXT_MAX; i++) {
        const char *between = i == 0 ? "" : words[i + 1] ? ", " : " or ";
        length +=
            (size_t)snprintf(out + length, WORDS_TEXT_MAX - length, "%s%s", between, words[i]);
    }
    return out;
}

int words_find(const char *what, const char *given, const char *const *words)
{
    char list[WORDS_TEXT_MAX];

    for (int i = 0; words[i]; i++) {
        if (strcmp(words[i], given) == 0)
            return i;
    }
    const char *nearest = nearest_word(given, words);
    if (nearest)
        return print_refusal("%s %s is unknown; did you mean %s?", what, given, nearest);
    return print_refusal("%s %s: %s is needed", what, given, words_text(list, words));
}

enum { OPTION_TEXT_MAX = 48, HELP_INDENT = 29, HELP_WIDTH = 100, HELP_LEAST = 20 };

const struct value value_file = {VALUE_FILE, NULL};
const struct value value_job_file = {VALUE_JOB_FILE, NULL};
const struct value value_directory = {VALUE_DIRECTORY, NULL};
const struct value value_engine = {VALUE_ENGINE, NULL};
const struct value value_profile = {VALUE_PROFILE, NULL};

/* The short options of all commands. */
static const struct {
    char letter;
    const char *name;
} option_letters[] = {
    {'1', "once"},    {'H', "host"},   {'V', "version"}, {'a', "all"},    {'c', "channels"},
    {'d', "detach"},  {'e', "engine"}, {'f', "force"},   {'h', "help"},   {'i', "interval"},
    {'j', "jobs"},    {'l', "list"},   {'m', "mode"},    {'n', "limit"},  {'o', "output"},
    {'p', "pattern"}, {'q', "quiet"},  {'s', "socket"},  {'t', "tensor"}, {'v', "verbose"},
};
enum { OPTION_LETTERS = sizeof(option_letters) / sizeof(option_letters[0]) };

/* Options of earlier versions, and what replaces them. */
static const struct {
    const char *name, *instead;
} former[] = {{"ktap", "pipe mlictl batch --json into conf/fleet/ktap.py"},
              {"lava", "pipe mlictl batch --json into conf/fleet/lava.py"}};

static int unknown(const struct option *table, const char *word, size_t length)
{
    char name[64];

    snprintf(name, sizeof(name), "%.*s", (int)length, word);
    const char *names[OPTIONS_MAX + 1];
    size_t count = 0;
    for (const struct option *o = table; o->name; o++)
        names[count++] = o->name;
    names[count] = NULL;
    for (size_t i = 0; i < sizeof(former) / sizeof(former[0]); i++) {
        if (strcmp(name, former[i].name) == 0)
            return print_refusal("--%s is no longer an option: %s", name, former[i].instead);
    }
    const char *nearest = nearest_word(name, names);
    if (nearest)
        return print_refusal("unknown option --%s; did you mean --%s?", name, nearest);
    return print_refusal("unknown option --%s; --help lists the options", name);
}

static const struct option *find_long(const struct option *table, const char *word, size_t length)
{
    for (const struct option *o = table; o->name; o++) {
        if (strlen(o->name) == length && memcmp(o->name, word, length) == 0)
            return o;
    }
    return NULL;
}

char option_letter(const struct option *option)
{
    for (size_t i = 0; i < OPTION_LETTERS; i++) {
        if (strcmp(option->name, option_letters[i].name) == 0)
            return option_letters[i].letter;
    }
    return 0;
}

/* Returns the option that a word with a dash begins with, or null. *length: of its name or letter,
 * which is at `*name`. */
static const struct option *find_word(const struct option *table, const char *word,
                                      const char **name, size_t *length)
{
    const bool is_long = word[1] == '-';

    *name = word + 1 + is_long;
    *length = is_long ? strcspn(*name, "=") : 1;
    if (is_long)
        return find_long(table, *name, *length);
    for (size_t i = 0; i < OPTION_LETTERS; i++) {
        if (option_letters[i].letter == **name)
            return find_long(table, option_letters[i].name, strlen(option_letters[i].name));
    }
    return NULL;
}

/* Returns the option that the word named in the previous version, after a remark; or null. */
static const struct option *find_old(const struct option *table, const char *word, const char *name,
                                     size_t length)
{
    for (const struct option *o = table; o->name; o++) {
        if (!o->old || strlen(o->old) != length || memcmp(o->old, name, length) != 0 ||
            name - word != (length > 1 ? 2 : 1))
            continue;
        print_error("remark: %.*s is now --%s; the next version refuses the old spelling",
                    (int)(name - word + (ptrdiff_t)length), word, o->name);
        return o;
    }
    return NULL;
}

static int note_repeat(struct options *options, const struct option *option, const char *value)
{
    if (options->repeat_count == OPTIONS_REPEATS_MAX)
        return print_refusal("--%s is given more than %d times", option->name, OPTIONS_REPEATS_MAX);
    options->repeats[options->repeat_count].index = (size_t)(option - options->table);
    options->repeats[options->repeat_count++].value = value;
    return 0;
}

/* Refuses an empty path: an unset shell variable must not mean the working directory. */
static int check_path(const struct option *option, const char *value)
{
    const struct value *takes = option->takes;

    if (*value || !option->value || !takes ||
        (takes->kind != VALUE_FILE && takes->kind != VALUE_JOB_FILE &&
         takes->kind != VALUE_PROFILE && takes->kind != VALUE_DIRECTORY))
        return 0;
    return print_refusal("--%s is empty; give it a path: --%s %s", option->name, option->name,
                         option->value);
}

/* Stores one option; `inline_value` is the text after "=", or null. May take the value from the
 * next word. */
static int take(struct options *options, const struct option *option, const char *inline_value,
                char **words, int *used)
{
    const char *value = "";

    if (option->absent)
        return print_refusal("--%s: %s", option->name, option->absent);
    if (!option->value && inline_value)
        return print_refusal("--%s takes no value", option->name);
    if (option->value) {
        value = inline_value ? inline_value : words[1];
        if (!value)
            return print_refusal("--%s needs a value: --%s %s", option->name, option->name,
                                 option->value);
        *used = inline_value ? 1 : 2;
    }
    size_t index = (size_t)(option - options->table);
    if (check_path(option, value))
        return -1;
    if (option->repeats && note_repeat(options, option, value))
        return -1;
    if (options->values[index] && option->value && !option->repeats)
        return print_refusal("--%s is given twice", option->name);
    options->values[index] = value;
    return 0;
}

/* Parses one word that begins with a dash. *used: the number of words taken. */
static int parse_word(struct options *options, char **words, int *used)
{
    const char *word = words[0], *name;
    size_t length;
    const struct option *option = find_word(options->table, word, &name, &length);
    const bool is_long = name - word == 2;

    *used = 1;
    if (!option)
        option = find_old(options->table, word, name, length);
    if (!option && is_long)
        return unknown(options->table, name, length);
    if (!option)
        return print_refusal("unknown option %s; --help lists the options", word);
    if (!is_long && name[1] && !option->value)
        return print_refusal("unknown option %s; give each short option by itself", word);
    return take(options, option, name[length] ? name + length + is_long : NULL, words, used);
}

int options_word(const struct option *table, char *const *words)
{
    const char *word = words[0], *name;
    size_t length;
    const struct option *option =
        word[0] == '-' && word[1] ? find_word(table, word, &name, &length) : NULL;
    if (!option)
        return -1;
    return option->value && !name[length] ? 2 : 1;
}

int options_parse(struct options *options, const struct option *table, int argc, char **argv)
{
    *options = (struct options){.table = table, .arguments = argv};
    bool only_arguments = false;
    for (int i = 0; i < argc;) {
        char *word = argv[i];
        int used = 1;
        if (!only_arguments && strcmp(word, "--") == 0) {
            only_arguments = true;
        } else if (!only_arguments && word[0] == '-' && word[1]) {
            if (parse_word(options, argv + i, &used))
                return -1;
        } else {
            /* Collects arguments at the start of argv, where all words have been parsed already. */
            options->arguments[options->argument_count++] = word;
        }
        i += used;
    }
    return 0;
}

const char *options_get(const struct options *options, const char *name)
{
    const struct option *option = find_long(options->table, name, strlen(name));

    return option ? options->values[option - options->table] : NULL;
}

const char *options_next(const struct options *options, const char *name, size_t *at)
{
    while (*at < options->repeat_count) {
        size_t i = (*at)++;
        if (strcmp(options->table[options->repeats[i].index].name, name) == 0)
            return options->repeats[i].value;
    }
    return NULL;
}

bool options_has(const struct option *table, const char *name)
{
    return find_long(table, name, strlen(name)) != NULL;
}

/* A unit of numbers, and the suffixes with which they can be written. */
struct unit {
    const char *noun, *suffix, *example; /* for the message about a wrong number */
    struct {
        const char *text;
        uint64_t factor;
    } suffixes[11]; /* ends with null */
};

static const struct unit units[] = {
    [UNIT_NONE] = {"an integer", "", "", {{"", 1}}},
    [UNIT_BYTES] = {"a size",
                    " B",
                    ", for example 65536 or 256KiB",
                    {{"", 1},
                     {"B", 1},
                     {"KiB", UINT64_C(1) << 10},
                     {"K", UINT64_C(1) << 10},
                     {"MiB", UINT64_C(1) << 20},
                     {"M", UINT64_C(1) << 20},
                     {"GiB", UINT64_C(1) << 30},
                     {"G", UINT64_C(1) << 30},
                     {"TiB", UINT64_C(1) << 40},
                     {"T", UINT64_C(1) << 40}}},
    [UNIT_MS] = {"a time",
                 " ms",
                 ", for example 500ms or 5s",
                 {{"", 1}, {"ms", 1}, {"s", 1000}, {"m", 60000}, {"h", 3600000}}},
    [UNIT_S] = {"a time",
                " s",
                ", for example 5s or 2m",
                {{"", 1}, {"s", 1}, {"m", 60}, {"h", 3600}}},
};

bool number_read(const char *text, enum number_unit unit, uint64_t min, uint64_t max, uint64_t *out)
{
    const struct unit *u = &units[unit];
    const size_t digits = strspn(text, "0123456789");
    char *end;
    const uint64_t number = strtoull(text, &end, 10);

    for (size_t i = 0; u->suffixes[i].text && digits > 0 && digits <= 19; i++) {
        const uint64_t factor = u->suffixes[i].factor;

        if (strcmp(end, u->suffixes[i].text) != 0 || number > max / factor || number * factor < min)
            continue;
        *out = number * factor;
        return true;
    }
    return false;
}

void number_remark(const char *before, const char *text, enum number_unit unit)
{
    if ((unit == UNIT_MS || unit == UNIT_S) && strspn(text, "0") < strlen(text) &&
        strspn(text, "0123456789") == strlen(text))
        print_error("remark: %s%s is read as %s%s; the next version requires the unit", before,
                    text, text, units[unit].suffix + 1);
}

int options_number(const struct options *options, const char *name, enum number_unit unit,
                   uint64_t min, uint64_t max, uint64_t *out)
{
    const char *text = options_get(options, name);
    const struct unit *u = &units[unit];
    char before[OPTION_TEXT_MAX];

    if (!text)
        return 0;
    if (number_read(text, unit, min, max, out)) {
        snprintf(before, sizeof(before), "--%s ", name);
        if (strcmp(name, "seconds") != 0)
            number_remark(before, text, unit);
        return 0;
    }
    return print_refusal("--%s %s: %s from %" PRIu64 " to %" PRIu64 "%s is needed%s", name, text,
                         u->noun, min, max, u->suffix, u->example);
}

int options_uint(const struct options *options, const char *name, uint64_t min, uint64_t max,
                 uint64_t *out)
{
    return options_number(options, name, UNIT_NONE, min, max, out);
}

int options_u32(const struct options *options, const char *name, uint32_t min, uint32_t max,
                uint32_t *out)
{
    uint64_t number = *out;
    const int status = options_uint(options, name, min, max, &number);

    *out = (uint32_t)number;
    return status;
}

int options_choice(const struct options *options, const char *name, size_t *index)
{
    const struct option *option = find_long(options->table, name, strlen(name));
    const char *text = options->values[option - options->table];
    char what[OPTION_TEXT_MAX];

    if (!text)
        return 0;
    snprintf(what, sizeof(what), "--%s", name);
    const int found = words_find(what, text, option->takes->words);
    if (found < 0)
        return -1;
    *index = (size_t)found;
    return 0;
}

struct print_style options_style(const struct options *options)
{
    return (struct print_style){.json = options_get(options, "json") != NULL,
                                .quiet = options_get(options, "quiet") != NULL};
}

/* Returns the number of columns for help text with this indent. On a narrow terminal lines may be
 * longer than the terminal is wide, because some words must fit in. */
static size_t help_columns(size_t indent)
{
    int rows = 0, columns = HELP_WIDTH;

    if (!terminal_size(STDOUT_FILENO, &rows, &columns) || columns > HELP_WIDTH)
        columns = HELP_WIDTH;
    return (size_t)columns > indent + HELP_LEAST ? (size_t)columns : indent + HELP_LEAST;
}

void options_print_wrapped(const char *text, size_t column, size_t indent)
{
    const size_t width = help_columns(indent);
    size_t begin = column;

    while (*text) {
        const size_t word = strcspn(text, " \n");
        if (column > begin && column + 1 + word > width) {
            printf("\n%*s", (int)indent, "");
            column = begin = indent;
        }
        column += (size_t)printf("%s%.*s", column > begin ? " " : "", (int)word, text);
        text += word + strspn(text + word, " ");
        if (*text == '\n') {
            text++;
            if (*text && width < HELP_WIDTH)
                continue;
            printf("\n%*s", *text ? (int)indent : 0, "");
            column = begin = indent;
        }
    }
}

void options_help(const struct option *table, unsigned uses)
{
    for (const struct option *o = table; o->name; o++) {
        char left[OPTION_TEXT_MAX];
        if (o->absent || !(uses == OPTION_EVERY_USE || o->uses & uses))
            continue;
        const char letter = option_letter(o);
        snprintf(left, sizeof(left), "%s%c%s --%s%s%s", letter ? "-" : " ", letter ? letter : ' ',
                 letter ? "," : " ", o->name, o->value ? " " : "", o->value ? o->value : "");
        const int length = printf("  %-26s ", left);
        options_print_wrapped(o->help, (size_t)length, HELP_INDENT);
        printf("\n");
    }
}

int options_only(const struct options *options, unsigned use, const char *command)
{
    const struct option *refused = NULL;
    struct textw w;
    size_t left = 0;

    for (const struct option *o = options->table; o->name; o++) {
        left += (o->uses & use) != 0;
        if (!refused && options->values[o - options->table] && !(o->uses & use))
            refused = o;
    }
    if (!refused)
        return 0;
    textw_init(&w);
    for (const struct option *o = options->table; o->name; o++) {
        if (o->uses & use)
            textw_printf(&w, "--%s%s", o->name, --left > 1 ? ", " : left == 1 ? " and " : "");
    }
    print_error("--%s cannot be combined with %s; its options are %s", refused->name, command,
                w.failed ? "in its manual" : w.data);
    textw_finish(&w);
    return -1;
}

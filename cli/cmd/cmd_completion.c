/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * mlictl completion: prints the completion script of a shell, written from the tables of commands
 * and options (command.h, options.h). To add a shell, write its completion_NAME(), and list it in
 * `shells` and `writers` below and in conf/meson.build.
 */
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "cli/cmd/command.h"
#include "cli/options.h"
#include "mli_mov_api.h"
#include "target/profile/profile_load.h"

/*
 * Helper functions, the same for all commands. bash splits words at "=" and ":", so "--name=value"
 * arrives as three words. compopt fails outside a completion, for example in a test that calls the
 * function.
 */
static const char helpers_bash[] =
    "# bash completion for mlictl, as `mlictl completion bash` prints it\n"
    "# shellcheck shell=bash\n"
    "\n"
    "# WORDS: offers the words that begin with $current\n"
    "_mlictl_words()\n"
    "{\n"
    "    mapfile -t COMPREPLY < <(compgen -W \"$1\" -- \"$current\")\n"
    "}\n"
    "\n"
    "# WORDS: offers words after the last comma\n"
    "_mlictl_list()\n"
    "{\n"
    "    local before=''\n"
    "    [[ $current == *,* ]] && before=${current%,*},\n"
    "    compopt -o nospace 2>/dev/null\n"
    "    mapfile -t COMPREPLY < <(compgen -P \"$before\" -W \"$1\" -- \"${current##*,}\")\n"
    "}\n"
    "\n"
    "# [ENDING]: offers files with the ending, and directories\n"
    "_mlictl_files()\n"
    "{\n"
    "    compopt -o filenames 2>/dev/null\n"
    "    mapfile -t COMPREPLY < <(\n"
    "        [[ $1 ]] && compgen -d -- \"$current\"\n"
    "        compgen -f -X \"!*$1\" -- \"$current\"\n"
    "    )\n"
    "}\n"
    "\n"
    "# WORDS: offers the words, and files\n"
    "_mlictl_words_or_files()\n"
    "{\n"
    "    local words\n"
    "    _mlictl_words \"$1\"\n"
    "    words=(\"${COMPREPLY[@]}\")\n"
    "    _mlictl_files\n"
    "    COMPREPLY+=(\"${words[@]}\")\n"
    "}\n"
    "\n"
    "# NAMES: offers the target profiles that begin with $current; if none does, profiles in "
    "files\n"
    "_mlictl_profiles()\n"
    "{\n"
    "    _mlictl_words \"$1\"\n"
    "    ((${#COMPREPLY[@]})) || _mlictl_files .json\n"
    "}\n"
    "\n"
    "_mlictl_directories()\n"
    "{\n"
    "    compopt -o filenames 2>/dev/null\n"
    "    mapfile -t COMPREPLY < <(compgen -d -- \"$current\")\n"
    "}\n"
    "\n";

static const char beginning_bash[] =
    "_mlictl()\n"
    "{\n"
    "    local current=${COMP_WORDS[COMP_CWORD]} option=${COMP_WORDS[COMP_CWORD - 1]}\n"
    "    local command='' ended='' i\n"
    "    COMPREPLY=()\n"
    "    if [[ $current == = ]]; then\n"
    "        current=\n"
    "    elif [[ $option == = ]]; then\n"
    "        option=${COMP_WORDS[COMP_CWORD - 2]}\n"
    "    elif [[ $option == : ]]; then\n"
    "        return # inside an address, or the options of an engine\n"
    "    fi\n"
    "    for ((i = 1; i < COMP_CWORD; i++)); do\n"
    "        case ${COMP_WORDS[i]} in\n"
    "        --)\n"
    "            ended=yes\n"
    "            ;;\n"
    "        ";

/* Writes the patterns of an option: "--name", or "-n | --name" if it has a letter and " | " is
 * between patterns. */
static void write_patterns(const struct option *option, const char *between)
{
    if (option_letter(option))
        printf("-%c%s", option_letter(option), between);
    printf("--%s", option->name);
}

/* Writes the options with a value that are allowed before the command: scripts skip the values. */
static void write_skipped(const char *between)
{
    for (const struct option *o = command_leading; o->name; o++) {
        if (!o->value)
            continue;
        fputs(o == command_leading ? "" : between, stdout);
        write_patterns(o, between);
    }
}

static const char middle[] =
    ")\n"
    "            [[ ${COMP_WORDS[i + 1]} == = ]] && ((i++))\n"
    "            ((i++))\n"
    "            while [[ ${COMP_WORDS[i + 1]} == : ]]; do ((i += 2)); done\n"
    "            ;;\n"
    "        -*) ;;\n"
    "        *)\n"
    "            [[ $command ]] || command=${COMP_WORDS[i]}\n"
    "            ;;\n"
    "        esac\n"
    "    done\n"
    "    [[ $ended ]] && option=\n"
    "    case $command in\n";

static void write_engines(void)
{
    const char *name;

    for (int i = 0; (name = mli_mov_engine_at(i)); i++)
        printf("%s%s", i ? " " : "", name);
}

static void write_profiles(void)
{
    for (const struct profile_text *p = profile_built_in; p->name; p++)
        printf("%s%s", p > profile_built_in ? " " : "", p->name);
}

/* Writes the names of all commands, and "help". */
static void write_commands(void)
{
    for (size_t i = 0; command_at(i); i++)
        printf("%s ", command_at(i)->name);
    fputs("help", stdout);
}

/* Writes the possible words of a value: commands, engines of this build, built-in target profiles,
 * or the words of the option's table. */
static void write_words(const struct value *value)
{
    if (value->kind == VALUE_COMMAND)
        write_commands();
    else if (value->kind == VALUE_ENGINE)
        write_engines();
    else if (value->kind == VALUE_PROFILE)
        write_profiles();
    for (size_t i = 0; value->words && value->words[i]; i++)
        printf("%s%s", i ? " " : "", value->words[i]);
}

/* How a shell offers the values: the text before and after the words, if there are words. */
enum offer {
    NO_VALUES,
    FILES,
    WORDS_OR_FILES,
    PROFILES,
    JOB_FILES,
    DIRECTORIES,
    ONE_WORD,
    WORD_LIST,
    OFFERS
};
struct offers {
    const char *before, *after;
};

static const struct offers offers_bash[OFFERS] = {
    [NO_VALUES] = {":", ""},
    [FILES] = {"_mlictl_files", ""},
    [WORDS_OR_FILES] = {"_mlictl_words_or_files \"", "\""},
    [PROFILES] = {"_mlictl_profiles \"", "\""},
    [JOB_FILES] = {"_mlictl_files .json", ""},
    [DIRECTORIES] = {"_mlictl_directories", ""},
    [ONE_WORD] = {"_mlictl_words \"", "\""},
    [WORD_LIST] = {"_mlictl_list \"", "\""},
};

/*
 * For an option without listed values, zsh shows only the name of the value. An action in zsh ends
 * at a colon, so actions with colons are functions. The name of a function has a space before it,
 * because zsh would otherwise pass arguments of its own before the words.
 */
static const struct offers offers_zsh[OFFERS] = {
    [NO_VALUES] = {" ", ""},
    [FILES] = {"_files", ""},
    [WORDS_OR_FILES] = {" _mlictl_words_or_files ", ""},
    [PROFILES] = {" _mlictl_profiles ", ""},
    [JOB_FILES] = {"_files -g \"*.json\"", ""},
    [DIRECTORIES] = {"_files -/", ""},
    [ONE_WORD] = {"(", ")"},
    [WORD_LIST] = {"_sequence compadd - ", ""},
};

static const struct offers offers_fish[OFFERS] = {
    [NO_VALUES] = {"", ""},
    [FILES] = {" -F", ""},
    [WORDS_OR_FILES] = {" -F -a '", "'"},
    [PROFILES] = {" -a '(__mlictl_profiles ", ")'"},
    [JOB_FILES] = {" -a '(__mlictl_paths .json /)'", ""},
    [DIRECTORIES] = {" -a '(__mlictl_paths /)'", ""},
    [ONE_WORD] = {" -a '", "'"},
    [WORD_LIST] = {" -a '(__mlictl_list ", ")'"},
};

static enum offer offer_of(const struct value *value)
{
    if (!value)
        return NO_VALUES;
    switch (value->kind) {
    case VALUE_FILE:
        return value->words ? WORDS_OR_FILES : FILES;
    case VALUE_PROFILE:
        return PROFILES;
    case VALUE_JOB_FILE:
        return JOB_FILES;
    case VALUE_DIRECTORY:
        return DIRECTORIES;
    case VALUE_WORDS:
        return WORD_LIST;
    case VALUE_ENGINE:
    case VALUE_COMMAND:
    case VALUE_WORD:
        break;
    }
    return ONE_WORD;
}

/* Writes the text with which a shell offers the values; null: no values. */
static void write_offer(const struct offers *offers, const struct value *value)
{
    const enum offer offer = offer_of(value);

    fputs(offers[offer].before, stdout);
    if (offer == WORDS_OR_FILES || offer == PROFILES || offer == ONE_WORD || offer == WORD_LIST)
        write_words(value);
    fputs(offers[offer].after, stdout);
}

static void write_options_bash(const struct option *table)
{
    for (const struct option *o = table; o->name; o++) {
        if (!o->absent)
            printf("%s--%s", o == table ? "" : " ", o->name);
    }
}

/* Offers the first argument after the command. */
static void write_arguments_bash(const struct value *arguments, const struct value *first)
{
    if (first) {
        fputs("if [[ $option == \"$command\" ]]; then\n                ", stdout);
        write_offer(offers_bash, first);
        fputs("\n                return\n            fi\n            ", stdout);
    }
    write_offer(offers_bash, arguments);
}

/* Writes the branch of a command: the values of its options, the options, the arguments. */
static void write_case(const struct option *table, const struct value *arguments,
                       const struct value *first)
{
    fputs("        case $option in\n", stdout);
    for (const struct option *o = table; o->name; o++) {
        if (!o->value || o->absent)
            continue;
        fputs("        ", stdout);
        write_patterns(o, " | ");
        fputs(")\n            ", stdout);
        write_offer(offers_bash, o->takes);
        fputs("\n            return\n            ;;\n", stdout);
    }
    fputs("        esac\n"
          "        if [[ $current == -* && ! $ended ]]; then\n"
          "            _mlictl_words \"",
          stdout);
    write_options_bash(table);
    fputs("\"\n        else\n            ", stdout);
    write_arguments_bash(arguments, first);
    fputs("\n        fi\n        ;;\n", stdout);
}

static const char end_bash[] = "    esac\n"
                               "}\n"
                               "complete -F _mlictl mlictl\n";

/* Writes the script of a shell. */
static void completion_bash(void)
{
    static const struct value commands = {VALUE_COMMAND, NULL};
    static const struct option none = {0};

    fputs(helpers_bash, stdout);
    fputs(beginning_bash, stdout);
    write_skipped(" | ");
    fputs(middle, stdout);
    fputs("    \"\")\n", stdout);
    write_case(command_leading, &commands, NULL);
    fputs("    help)\n", stdout);
    write_case(&none, &commands, NULL);
    for (size_t i = 0; command_at(i); i++) {
        printf("    %s)\n", command_at(i)->name);
        write_case(command_at(i)->options, command_at(i)->takes, command_at(i)->first);
    }
    fputs(end_bash, stdout);
}

static const char beginning_zsh[] =
    "#compdef mlictl\n"
    "# zsh completion for mlictl, as `mlictl completion zsh` prints it\n"
    "\n"
    "# WORDS: offers the words, and files\n"
    "_mlictl_words_or_files()\n"
    "{\n"
    "    _alternative \"words:word:($*)\" 'files:file:_files'\n"
    "}\n"
    "\n"
    "# NAMES: offers the target profiles that match; if none does, profiles in files\n"
    "_mlictl_profiles()\n"
    "{\n"
    "    local expl\n"
    "    _wanted profiles expl profile compadd - \"$@\" || _files -g '*.json'\n"
    "}\n";

/*
 * Writes a text that is between single quotes. Each character of `special` gets `escape` before it,
 * and a single quote becomes `quote`.
 */
static void write_escaped(const char *text, const char *special, const char *escape,
                          const char *quote)
{
    for (; *text; text++) {
        if (*text == '\'')
            fputs(quote, stdout);
        else
            printf("%s%c", strchr(special, *text) ? escape : "", *text);
    }
}

/* Writes a text inside a single-quoted specification of _arguments. */
static void write_inner(const char *text)
{
    write_escaped(text, "[]:\\", "\\", "'\\''");
}

static void write_descriptions(void)
{
    fputs("\n_mlictl_commands()\n{\n    local -a commands=(\n", stdout);
    for (size_t i = 0; command_at(i); i++) {
        printf("        '%s:", command_at(i)->name);
        write_inner(command_at(i)->summary);
        fputs("'\n", stdout);
    }
    fputs("        'help:options and examples of a command'\n"
          "    )\n"
          "    _describe -t commands command commands\n"
          "}\n"
          "\n"
          "_mlictl_help()\n"
          "{\n"
          "    _arguments '1:command:_mlictl_commands'\n"
          "}\n",
          stdout);
}

static const char next_line[] = " \\\n        ";

/* '(-e --engine)'{-e+,--engine=}'[help]:SPEC:action' */
static void write_option(const struct option *o)
{
    const char letter = option_letter(o);

    fputs(next_line, stdout);
    if (o->repeats)
        fputs("'*'", stdout);
    else if (letter)
        printf("'(-%c --%s)'", letter, o->name);
    if (letter)
        printf("{-%c%s,--%s%s}'[", letter, o->value ? "+" : "", o->name, o->value ? "=" : "");
    else
        printf("'--%s%s[", o->name, o->value ? "=" : "");
    write_inner(o->help);
    fputs("]", stdout);
    if (o->value) {
        fputs(":", stdout);
        write_inner(o->value);
        fputs(":", stdout);
        write_offer(offers_zsh, o->takes);
    }
    fputs("'", stdout);
}

static void write_argument(const char *which, const struct value *value)
{
    if (!value)
        return;
    printf("%s'%s:argument:", next_line, which);
    write_offer(offers_zsh, value);
    fputs("'", stdout);
}

static void write_function(const struct command *command)
{
    printf("\n_mlictl_%s()\n{\n    _arguments -s -S", command->name);
    for (const struct option *o = command->options; o->name; o++) {
        if (!o->absent)
            write_option(o);
    }
    write_argument("1", command->first);
    write_argument("*", command->takes);
    fputs("\n}\n", stdout);
}

/*
 * While zsh completes the words after the command, $words begins with the command. A script that
 * the user sources calls compdef; a script that zsh found in $fpath is the body of the function
 * _mlictl, and calls the function.
 */
static const char end_zsh[] = "    case $state in\n"
                              "    arguments)\n"
                              "        curcontext=${curcontext%:*:*}:mlictl-$words[1]:\n"
                              "        (( $+functions[_mlictl_$words[1]] )) && "
                              "_mlictl_$words[1] && ret=0\n"
                              "        ;;\n"
                              "    esac\n"
                              "    return ret\n"
                              "}\n"
                              "\n"
                              "if [[ $funcstack[1] == _mlictl ]]; then\n"
                              "    _mlictl \"$@\"\n"
                              "else\n"
                              "    compdef _mlictl mlictl\n"
                              "fi\n";

static void completion_zsh(void)
{
    fputs(beginning_zsh, stdout);
    write_descriptions();
    for (size_t i = 0; command_at(i); i++)
        write_function(command_at(i));
    fputs("\n_mlictl()\n"
          "{\n"
          "    local curcontext=$curcontext state state_descr line ret=1\n"
          "    local -A opt_args\n"
          "    _arguments -s -S -C -A '-*'",
          stdout);
    for (const struct option *o = command_leading; o->name; o++)
        write_option(o);
    fputs(" \\\n        '1:command:_mlictl_commands' \\\n"
          "        '*::argument:->arguments' && ret=0\n",
          stdout);
    fputs(end_zsh, stdout);
}

/* Conditions of the `complete` lines: the command, and the cursor's position. */
static const char helpers_fish[] =
    "# fish completion for mlictl, as `mlictl completion fish` prints it\n"
    "\n"
    "# Prints the command of the line, if it has one.\n"
    "function __mlictl_command\n"
    "    set -l skip no\n"
    "    for word in (commandline -opc)[2..-1]\n"
    "        if test $skip = yes\n"
    "            set skip no\n"
    "            continue\n"
    "        end\n"
    "        switch $word\n"
    "            case ";

static const char helpers_end[] =
    "\n"
    "                set skip yes\n"
    "            case '-*'\n"
    "            case '*'\n"
    "                echo $word\n"
    "                return\n"
    "        end\n"
    "    end\n"
    "end\n"
    "\n"
    "# COMMAND: succeeds if the command line has COMMAND; '': no command\n"
    "function __mlictl_is\n"
    "    test \"$(__mlictl_command)\" = \"$argv[1]\"\n"
    "end\n"
    "\n"
    "# COMMAND: succeeds if the first argument of COMMAND is next\n"
    "function __mlictl_begins\n"
    "    __mlictl_is $argv[1]; and test (commandline -opc)[-1] = $argv[1]\n"
    "end\n"
    "\n"
    "# COMMAND: succeeds if a later argument of COMMAND is next\n"
    "function __mlictl_goes_on\n"
    "    __mlictl_is $argv[1]; and test (commandline -opc)[-1] != $argv[1]\n"
    "end\n"
    "\n"
    "# Prints the current token, without the option before \"=\".\n"
    "function __mlictl_token\n"
    "    commandline -ct | string replace -r '^--[^=]*=' ''\n"
    "end\n"
    "\n"
    "# WORDS: prints the words, each after the entries of the current token up to its last comma\n"
    "function __mlictl_list\n"
    "    set -l before (__mlictl_token | string match -r '.*,')\n"
    "    printf '%s\\n' \"$before\"$argv\n"
    "end\n"
    "\n"
    "# ENDING...: prints the paths with these endings that the current token begins; those of\n"
    "# directories end with a slash\n"
    "function __mlictl_paths\n"
    "    set -l begun (__mlictl_token)\n"
    "    set -l endings (string escape --style=regex -- $argv | string join '|')\n"
    "    complete -C \"command_without_completions $begun\" | string match -r "
    "\"^.*(?:$endings)\\$\"\n"
    "end\n"
    "\n"
    "# NAMES: prints the target profiles if the current token begins one, otherwise profiles in "
    "files\n"
    "function __mlictl_profiles\n"
    "    set -l begun (__mlictl_token | string escape --style=regex)\n"
    "    string match -r -- \"^$begun.*\" $argv; or __mlictl_paths .json /\n"
    "end\n"
    "\n"
    "complete -c mlictl -f\n";

static void write_condition(const char *condition, const char *command)
{
    printf("complete -c mlictl -n '__mlictl_%s \"%s\"'", condition, command);
}

/* Writes a text between single quotes. */
static void write_text(const char *text)
{
    putchar('\'');
    write_escaped(text, "\\", "\\", "\\'");
    putchar('\'');
}

static void write_options_fish(const char *command, const struct option *table)
{
    for (const struct option *o = table; o->name; o++) {
        if (o->absent)
            continue;
        write_condition("is", command);
        if (option_letter(o))
            printf(" -s %c", option_letter(o));
        printf(" -l %s", o->name);
        if (o->value) {
            fputs(o->takes && o->takes->kind == VALUE_FILE ? " -r" : " -x", stdout);
            write_offer(offers_fish, o->takes);
        }
        if (*o->help) {
            fputs(" -d ", stdout);
            write_text(o->help);
        }
        fputs("\n", stdout);
    }
}

static void write_arguments_fish(const char *condition, const char *command,
                                 const struct value *value)
{
    if (!value)
        return;
    write_condition(condition, command);
    write_offer(offers_fish, value);
    fputs("\n", stdout);
}

static void write_command(const struct command *command)
{
    fputs("\n", stdout);
    write_condition("is", "");
    printf(" -a %s -d ", command->name);
    write_text(command->summary);
    fputs("\n", stdout);
    write_options_fish(command->name, command->options);
    write_arguments_fish(command->first ? "goes_on" : "is", command->name, command->takes);
    write_arguments_fish("begins", command->name, command->first);
}

static void completion_fish(void)
{
    static const struct value commands = {VALUE_COMMAND, NULL};

    fputs(helpers_fish, stdout);
    write_skipped(" ");
    fputs(helpers_end, stdout);
    write_options_fish("", command_leading);
    write_condition("is", "");
    fputs(" -a help -d 'options and examples of a command'\n", stdout);
    write_arguments_fish("is", "help", &commands);
    for (size_t i = 0; command_at(i); i++)
        write_command(command_at(i));
}

static void (*const writers[])(void) = {completion_bash, completion_zsh, completion_fish};

static const char *const shells[] = {"bash", "zsh", "fish", NULL};
static const struct value shell_value = {VALUE_WORD, shells};

static const struct option options_table[] = {
    OPTIONS_COMMON,
};

static enum exit_code completion(const struct options *options)
{
    int shell = words_find("shell", options->arguments[0], shells);
    if (shell < 0)
        return EXIT_CODE_INVALID;
    writers[shell]();
    return EXIT_CODE_DONE;
}

const struct command cmd_completion = {
    .name = "completion",
    .arguments = "bash|zsh|fish",
    .count = 1,
    .summary = "print a completion script for a shell",
    .details = "The script completes commands, options, and values if they are known.\n",
    .options = options_table,
    .takes = &shell_value,
    .examples = {{"in this bash or zsh, for a mlictl that is not installed",
                  "source <(mlictl completion bash)"},
                 {"for fish, as a file for its completions directory",
                  "mlictl completion fish > mlictl.fish"}},
    .run = completion,
};

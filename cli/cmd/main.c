/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * mlictl: the command line of libmli and mlid. man/mlictl.1.scd is its reference. The data flow:
 *
 *     argv -> main.c finds the command, options.c parses its options
 *          -> cmd/cmd_NAME.c
 *               jobs (run, submit, validate, batch, explain, mov, permute, make)
 *                 job/job_files.c reads JOB.json -> job/resolve.c opens the tensors and plans the
 *                 output -> run/execute.c sends the job over link/ to a daemon, or to the service
 *                 inside this process (link/embedded.c) -> job/outcome.c compares the output with
 *                 "expect" and prints a line or an object
 *               a daemon (info, ping, jobs, wait, ...)
 *                 cmd/session.c connects, calls and prints
 *               tensor files (gen, show, diff)
 *                 tensor/ and file/
 *          -> exit code (term/exit_code.h)
 *
 * Folders, in layers: a folder includes headers only of the folders in the lines below it.
 *
 *     cmd          main.c, the commands: one file each
 *     batch        many jobs as test cases
 *     import       cases of models
 *     tile         layers in tiles             optimise    chains of moves as fewer moves
 *     make         a job from a command line   report      state file, merge, reports
 *     explain      a job as text or picture    run         jobs sent to a service
 *     boards/link  boards at serial lines (optional: link/boards.h has its functions)
 *     link         connections to a service    calibrate   measured figures of this machine
 *     job          jobs of job files           selftest    random moves on every engine
 *     diagnose     differences of tensors
 *     tensor       tensor files
 *     model        readers of models
 *     file         outputs that appear atomically          queue       cases that machines share
 *     .            options.c, engine_arg.c
 *     term         output for people, ^C, exit codes
 *
 * To add a command, start at command.h. To add an option, add it to the options_table of the
 * command in cmd/cmd_NAME.c (batch: batch/batch_options.h says how), with help in the form of
 * options.h; read it there with options_get(), and
 * describe it in man/mlictl-NAME.1.scd. Help and completion follow from the table.
 */
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "cli/cmd/command.h"
#include "cli/link/boards.h"
#include "cli/link/tuning_choice.h"
#include "cli/term/cancel.h"
#include "cli/term/print.h"
#include "cli/term/terminal.h"
#include "libmli/port/ports.h"
#include "mli_helpers_api.h"

/* The commands, in the order of the help. */
static const struct command *const commands[] = {
    &cmd_submit,   &cmd_run,     &cmd_mov,       &cmd_permute,  &cmd_tile,
    &cmd_import,   &cmd_batch,   &cmd_validate,  &cmd_explain,  &cmd_make,
    &cmd_optimise, &cmd_profile, &cmd_calibrate, &cmd_gen,      &cmd_show,
    &cmd_diff,     &cmd_jobs,    &cmd_status,    &cmd_wait,     &cmd_cancel,
    &cmd_ping,     &cmd_info,    &cmd_stats,     &cmd_top,      &cmd_trace,
    &cmd_drain,    &cmd_resume,  &cmd_proxy,     &cmd_selftest, &cmd_completion,
    NULL};

static void help(void)
{
    printf("mlictl moves and permutes tensors, on a daemon or in its own process.\n\nusage: ");
    options_print_wrapped("mlictl [--json] [-q] [-s PATH | -H ssh://[user@]host[:port]] COMMAND "
                          "[options] [arguments]",
                          7, 7);
    printf("\n       mlictl help [COMMAND [FORM]] | --version\n\n");
    command_print_list();
    printf("\nexit codes:\n");
#define PRINT_EXIT_CODE(name, number, text)                                                        \
    printf("  %d  ", number);                                                                      \
    options_print_wrapped(text, 5, 5);                                                             \
    printf("\n");
    EXIT_CODE_TABLE(PRINT_EXIT_CODE)
#undef PRINT_EXIT_CODE
    options_print_wrapped("With several jobs: the code of the first job that did not succeed.", 0,
                          0);
    printf("\n\n");
    options_print_wrapped(
        "mlictl help COMMAND prints options and examples; mlictl(1) is the reference.", 0, 0);
    printf("\n");
}

static bool is_help(const char *word)
{
    return strcmp(word, "--help") == 0 || strcmp(word, "-h") == 0;
}

static bool is_version(const char *word)
{
    return strcmp(word, "--version") == 0 || strcmp(word, "-V") == 0;
}

/* Returns the number of words of the options before the command, or -1. */
static int count_leading(int argc, char **argv)
{
    int at = 1;

    while (at < argc && argv[at][0] == '-' && !is_help(argv[at]) && !is_version(argv[at])) {
        int used = options_word(command_leading, argv + at);
        if (used < 0)
            return print_refusal(
                "%s: only --json, -q, --socket and -H are allowed before the command", argv[at]);
        at += used;
        if (at > argc)
            return print_refusal("%s needs a value", argv[argc - 1]);
    }
    return at - 1;
}

static bool names_host(const char *word)
{
    return strncmp(word, "-H", 2) == 0 || strcmp(word, "--host") == 0 ||
           strncmp(word, "--host=", 7) == 0;
}

/* Moves the command before its options. */
static void turn(char **argv, int leading)
{
    char *command = argv[leading + 1];

    memmove(argv + 2, argv + 1, (size_t)leading * sizeof(*argv));
    argv[1] = command;
}

static enum exit_code run_command(const char *name, int argc, char **argv, int leading)
{
    const struct command *command = command_find(name);
    struct options options;

    if (!command)
        return EXIT_CODE_INVALID;
    for (int i = 0; i < leading; i++) {
        if (names_host(argv[i]) && !options_has(command->options, "host"))
            return print_invalid("%s uses no daemon: -H cannot be combined with it", command->name);
    }
    if (options_parse(&options, command->options, argc, argv))
        return EXIT_CODE_INVALID;
    if (options_get(&options, "help")) {
        command_help(command, options.argument_count > 0
                                  ? command_form(command, options.arguments[0])
                                  : NULL);
        return EXIT_CODE_DONE;
    }
    if (command->count > 0 ? options.argument_count != command->count
                           : !*command->arguments && options.argument_count > 0)
        return command_misused(command);
    if (options_has(command->options, "tuning")) {
        const enum exit_code code = tuning_choose(&options);

        if (code != EXIT_CODE_DONE)
            return code;
    }
    return command->run(&options);
}

/* `mlictl help [COMMAND [FORM]]`; `words` follow "help". */
static enum exit_code help_words(int count, char **words)
{
    if (count > 2 || (count == 1 && *words[0] == '-' && strcmp(words[0], "--help") != 0))
        return print_invalid("usage: mlictl help [COMMAND [FORM]]");
    if (count == 0 || strcmp(words[0], "help") == 0 || strcmp(words[0], "--help") == 0) {
        help();
        return EXIT_CODE_DONE;
    }
    const struct command *command = command_find(words[0]);
    if (!command)
        return EXIT_CODE_INVALID;
    const struct form *form = count == 2 ? command_form(command, words[1]) : NULL;
    if (count == 2 && !form)
        return print_invalid("%s has no form %s; see mlictl %s --help", words[0], words[1],
                             words[0]);
    command_help(command, form);
    return EXIT_CODE_DONE;
}

/* Returns whether --json is given, even if the command line is wrong. */
static bool wants_json(int argc, char **argv)
{
    for (int i = 1; i < argc && strcmp(argv[i], "--") != 0; i++) {
        if (strcmp(argv[i], "--json") == 0)
            return true;
    }
    return false;
}

static enum exit_code run(int argc, char **argv)
{
    int leading = count_leading(argc, argv);

    if (leading < 0)
        return EXIT_CODE_INVALID;
    if (argc < leading + 2)
        return print_invalid("a command is needed; see mlictl --help");
    turn(argv, leading);
    if (is_help(argv[1]))
        return help_words(0, NULL);
    if (strcmp(argv[1], "help") == 0)
        return help_words(argc - 2, argv + 2);
    if (is_version(argv[1])) {
        printf("mlictl %s\n", mli_version());
        return EXIT_CODE_DONE;
    }
    return run_command(argv[1], argc - 2, argv + 2, leading);
}

/*
 * Opens /dev/null for each closed standard stream: else another file would get its descriptor.
 * Standard input is opened for writing and the outputs for reading, so that using them still
 * fails.
 */
static int fill_standard_streams(void)
{
    for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++) {
        if (fcntl(fd, F_GETFD) >= 0)
            continue;
        if (open("/dev/null", fd == STDIN_FILENO ? O_WRONLY : O_RDONLY) != fd)
            return -1;
    }
    return 0;
}

int main(int argc, char **argv)
{
    ports_add();
#if MLI_BOARDS
    board_calls = &board_link_calls;
#endif
    command_set_list(commands);
    if (fill_standard_streams())
        return EXIT_CODE_FAILED;
    /* While these signals are ignored, write() reports a lost reader or the file size limit. */
    signal(SIGPIPE, SIG_IGN);
    signal(SIGXFSZ, SIG_IGN);
    int error = cancel_init();
    if (error == 0)
        error = streams_init();
    if (error) {
        print_error("cannot set up signals and streams: %s", strerror(-error));
        return EXIT_CODE_FAILED;
    }
    if (wants_json(argc, argv))
        colour_disable();
    enum exit_code code = run(argc, argv);
    if (print_flush() && code == EXIT_CODE_DONE)
        code = cancel_requested() ? EXIT_CODE_STOPPED : EXIT_CODE_FAILED;
    return code;
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* mlictl: the command line to libmli and mlid. docs/mlictl.md is its reference. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "cancel.h"
#include "client.h"
#include "command.h"
#include "mli_helpers_api.h"
#include "nearest.h"
#include "ports.h"
#include "print.h"

/* In the order of the help. */
static const struct command *const commands[] = {
    &cmd_submit, &cmd_run,   &cmd_validate, &cmd_gen,   &cmd_show,    &cmd_diff,  &cmd_jobs,
    &cmd_status, &cmd_wait,  &cmd_cancel,   &cmd_ping,  &cmd_info,    &cmd_stats, &cmd_top,
    &cmd_trace,  &cmd_drain, &cmd_resume,   &cmd_proxy, &cmd_selftest};

enum { COMMAND_COUNT = sizeof(commands) / sizeof(commands[0]) };

static void help(void)
{
    printf("mlictl moves and permutes tensors as jobs say.\n\n"
           "usage: mlictl [-H ssh://[user@]host[:port]] COMMAND [options] [arguments]\n"
           "       mlictl COMMAND --help | --help | --version\n\n");
    for (size_t i = 0; i < COMMAND_COUNT; i++)
        printf("  %-10s%-18s%s\n", commands[i]->name, commands[i]->arguments, commands[i]->summary);
    printf("\nexit codes:\n");
#define PRINT_EXIT_CODE(name, number, text) printf("  %d  %s\n", number, text);
    EXIT_CODE_TABLE(PRINT_EXIT_CODE)
#undef PRINT_EXIT_CODE
    printf("With several jobs it is the first one's that did not succeed.\n");
}

static void help_command(const struct command *command)
{
    printf("mlictl %s: %s\n\nusage: mlictl %s [options]%s%s\n", command->name, command->summary,
           command->name, *command->arguments ? " " : "", command->arguments);
    if (command->details)
        printf("\n%s", command->details);
    printf("\noptions:\n");
    options_help(command->options);
}

enum exit_code command_misused(const struct command *command)
{
    print_error("usage: mlictl %s [options]%s%s; see mlictl %s --help", command->name,
                *command->arguments ? " " : "", command->arguments, command->name);
    return EXIT_CODE_INVALID;
}

static const struct command *find(const char *name)
{
    const char *names[COMMAND_COUNT + 1] = {NULL};
    for (size_t i = 0; i < COMMAND_COUNT; i++) {
        if (strcmp(commands[i]->name, name) == 0)
            return commands[i];
        names[i] = commands[i]->name;
    }
    const char *nearest = nearest_word(name, names);
    if (nearest)
        print_error("unknown command %s; did you mean %s?", name, nearest);
    else
        print_error("unknown command %s; see mlictl --help", name);
    return NULL;
}

/* -H before the command: the words it takes, or -1. */
static int take_host(int argc, char **argv)
{
    const char *word = argc > 1 ? argv[1] : "";
    int words = 0;
    const char *url = NULL;
    if (strncmp(word, "--host=", 7) == 0) {
        words = 1;
        url = word + 7;
    } else if (strcmp(word, "-H") == 0 || strcmp(word, "--host") == 0) {
        words = 2;
        url = argc > 2 ? argv[2] : NULL;
    } else if (strncmp(word, "-H", 2) == 0) {
        words = 1;
        url = word + 2;
    }
    if (words > 0 && (!url || !*url)) {
        print_error("-H needs a value: -H ssh://[user@]host[:port]");
        return -1;
    }
    if (words > 0)
        client_set_host(url);
    return words;
}

static enum exit_code run(int argc, char **argv)
{
    int taken = take_host(argc, argv);
    if (taken < 0)
        return EXIT_CODE_INVALID;
    argc -= taken;
    argv += taken;
    if (argc < 2) {
        print_error("a command is needed; see mlictl --help");
        return EXIT_CODE_INVALID;
    }
    if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0 ||
        strcmp(argv[1], "help") == 0) {
        help();
        return EXIT_CODE_DONE;
    }
    if (strcmp(argv[1], "--version") == 0) {
        printf("mlictl %s\n", mli_version());
        return EXIT_CODE_DONE;
    }
    const struct command *command = find(argv[1]);
    struct options options;
    if (!command || options_parse(&options, command->options, argc - 2, argv + 2))
        return EXIT_CODE_INVALID;
    if (options_get(&options, "help")) {
        help_command(command);
        return EXIT_CODE_DONE;
    }
    if (taken > 0 && !options_known(&options, "host")) {
        print_error("%s asks no daemon: -H is of no use to it", command->name);
        return EXIT_CODE_INVALID;
    }
    return command->run(&options);
}

/*
 * Closed standard streams would give their numbers to other files. What stands in for them is open
 * the wrong way round, so that reading and writing still fail.
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
    if (fill_standard_streams())
        return EXIT_CODE_FAILED;
    /* A daemon or reader that went away, and a file size limit, are errors of the call. */
    signal(SIGPIPE, SIG_IGN);
    signal(SIGXFSZ, SIG_IGN);
    int error = cancel_init();
    if (error) {
        print_error("signals: %s", strerror(-error));
        return EXIT_CODE_FAILED;
    }
    enum exit_code code = run(argc, argv);
    if (print_flush() && code == EXIT_CODE_DONE)
        code = EXIT_CODE_FAILED;
    return code;
}

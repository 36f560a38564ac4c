/* SPDX-License-Identifier: BSD-3-Clause */
/* Runs the command line of mlictl without the parts of main() that change the process. */
#define main mlictl_main
int mlictl_main(int argc, char **argv);
#include "cli/cmd/main.c"
#undef main

#include <stdlib.h>

#include "tests/fuzz/fuzz.h"
#include "tests/fuzz/fuzz_mlictl.h"
#include "tests/fuzz/fuzz_scratch.h"
#include "tests/fuzz/well_formed.h"

static void begin(void)
{
    static bool begun;

    if (begun)
        return;
    begun = true;
    ports_add();
    command_set_list(commands);
    FUZZ_ASSERT(cancel_init() == 0);
    /* libFuzzer and developers end a program with these signals. */
    signal(SIGINT, SIG_DFL);
    signal(SIGTERM, SIG_DFL);
    signal(SIGPIPE, SIG_IGN);
    colour_disable();
}

/* Calls `run` with copies of the words, because `run` may reorder its arguments. */
static int run_words(const char *const *words)
{
    char *argv[MLICTL_WORDS_MAX + 2] = {strdup("mlictl")}, *owned[MLICTL_WORDS_MAX + 2];
    int argc = 1, code;

    for (; words[argc - 1]; argc++) {
        FUZZ_ASSERT(argc <= MLICTL_WORDS_MAX);
        argv[argc] = strdup(words[argc - 1]);
        FUZZ_ASSERT(argv[argc]);
    }
    memcpy(owned, argv, sizeof owned);
    code = run(argc, argv);
    for (int i = 0; i < argc; i++)
        free(owned[i]);
    return code;
}

static void check_call(const struct mlictl_call *call)
{
    const bool known = call->code == EXIT_CODE_DONE || call->code == EXIT_CODE_FAILED ||
                       call->code == EXIT_CODE_INVALID || call->code == EXIT_CODE_LOST ||
                       call->code == EXIT_CODE_STOPPED;

    FUZZ_ASSERT(known);
    FUZZ_ASSERT(call->code == EXIT_CODE_DONE || call->out_length + call->err_length > 0);
    well_formed_messages(call->err, call->err_length);
}

/* With MLI_FUZZ_TRACE=1, prints a command and its messages. */
static void trace(const char *const *words, const struct mlictl_call *call)
{
    if (!getenv("MLI_FUZZ_TRACE"))
        return;
    fprintf(stderr, "mlictl");
    for (; *words; words++)
        fprintf(stderr, " %s", *words);
    fprintf(stderr, ": %d, %zu bytes\n%s", call->code, call->out_length, call->err);
}

struct mlictl_call mlictl_run(const char *const *words)
{
    struct mlictl_call call = {0};
    FILE *const out = stdout, *const err = stderr;
    const int before = open(".", O_PATH | O_DIRECTORY | O_CLOEXEC);

    begin();
    FUZZ_ASSERT(before >= 0 && chdir(scratch_directory()) == 0);
    stdout = open_memstream(&call.out, &call.out_length);
    stderr = open_memstream(&call.err, &call.err_length);
    if (!stdout || !stderr)
        abort();
    call.code = run_words(words);
    fclose(stdout);
    fclose(stderr);
    stdout = out;
    stderr = err;
    FUZZ_ASSERT(fchdir(before) == 0);
    close(before);
    trace(words, &call);
    check_call(&call);
    return call;
}

void mlictl_finish(struct mlictl_call *call)
{
    free(call->out);
    free(call->err);
    *call = (struct mlictl_call){0};
}

void mlictl_check_file(const char *name, void (*check)(const char *text, size_t length))
{
    size_t size;
    char *text = scratch_read(name, &size);

    if (text)
        check(text, size);
    free(text);
    scratch_remove(name);
}

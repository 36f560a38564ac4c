/* SPDX-License-Identifier: BSD-3-Clause */
/* mlictl make: writes a job file from a command line. mlictl mov, permute: run such a job. */
#include <string.h>

#include "cli/cmd/command.h"
#include "cli/link/embedded.h"
#include "cli/link/tuning_choice.h"
#include "cli/make/make_job.h"
#include "cli/options.h"

static const struct option make_table[] = {
    MAKE_MOV_OPTIONS,
    MAKE_JOB_OPTIONS,
    {"output", "JOB.json", "Write the job to this file (default: standard output).",
     .takes = &value_job_file},
    {"force", NULL, "Replace existing files: JOB.json, and OUT with --run."},
    {"run", NULL, "Run the job and do not print it."},
    {"c", NULL, "Print a C function that calls embARC MLI, instead of the job."},
    EMBEDDED_LIMIT_OPTION,
    OPTIONS_COMMON,
};

/* Options of mov and permute in addition to the options of the job. */
#define RUN_OPTIONS                                                                                \
    {"output", "JOB.json", "Write the job to this file as well (default: none).",                  \
     .takes = &value_job_file},                                                                    \
        {"force", NULL, "Replace existing files: OUT and JOB.json."},                              \
        {"engine", "SPEC", "Move the bytes with this engine (default: the library's).",            \
         .takes = &value_engine},                                                                  \
        EMBEDDED_LIMIT_OPTION, TUNING_OPTION, DAEMON_RUN_OPTIONS

static const struct option mov_table[] = {
    MAKE_MOV_OPTIONS,
    MAKE_JOB_OPTIONS,
    RUN_OPTIONS,
    OPTIONS_COMMON,
};

static const struct option permute_table[] = {
    MAKE_JOB_OPTIONS,
    RUN_OPTIONS,
    OPTIONS_COMMON,
};

static const char *const op_words[] = {"mov", "permute", NULL};
static const struct value op_value = {VALUE_WORD, op_words};

static enum exit_code make(const struct options *options)
{
    int op = words_find("make", options->arguments[0], op_words);
    if (op < 0)
        return EXIT_CODE_INVALID;
    bool run = options_get(options, "run") != NULL;
    const char *output = options_get(options, "output");
    if (options_get(options, "force") && !run && (!output || strcmp(output, "-") == 0))
        return print_invalid(
            "--force requires --output or --run: without them make writes no file");
    bool c = options_get(options, "c") != NULL;
    if (c && (run || options_get(options, "json")))
        return print_invalid("--c cannot be combined with --%s: make prints only one of the two",
                             run ? "run" : "json");
    return make_request_carry_out(&(struct make_request){.options = options,
                                                         .c = c,
                                                         .op = op ? JOB_OP_PERMUTE : JOB_OP_MOV,
                                                         .in = options->arguments[1],
                                                         .out = options->arguments[2],
                                                         .label = "make",
                                                         .run = run});
}

static enum exit_code run_one(enum job_op op, const struct options *options)
{
    return make_request_carry_out(&(struct make_request){.options = options,
                                                         .op = op,
                                                         .in = options->arguments[0],
                                                         .out = options->arguments[1],
                                                         .label = options->arguments[0],
                                                         .run = true});
}

static enum exit_code mov(const struct options *options)
{
    return run_one(JOB_OP_MOV, options);
}

static enum exit_code permute(const struct options *options)
{
    return run_one(JOB_OP_PERMUTE, options);
}

const struct command cmd_make = {
    .name = "make",
    .arguments = "mov|permute IN OUT",
    .count = 3,
    .summary = "write a job file from a command line",
    .details =
        "In NumPy the result is np.pad(in, pad)[slice].transpose(perm): padding first, then\n"
        "the slice of the padded tensor, then the permutation.\n",
    .options = make_table,
    .takes = &value_file,
    .first = &op_value,
    .examples =
        {{"a part of a tensor, permuted",
          "mlictl make mov in.npy out.npy --slice '1:,::2,:' --perm 2,0,1"},
         {"the same, written to a file and run",
          "mlictl make mov in.npy out.npy --slice '1:,::2,:' --perm 2,0,1 -o part.json --run"},
         {"the same as C for firmware",
          "mlictl make mov in.npy out.npy --slice '1:,::2,:' --perm 2,0,1 --c > part.c"},
         {"a border of zeros, and the expected result",
          "mlictl make mov in.npy out.npy --pad 1,1,0 --expect golden.npy"}},
    .run = make,
};

const struct command cmd_mov = {
    .name = "mov",
    .arguments = "IN OUT",
    .count = 2,
    .summary = "move one tensor, without a job file",
    .details =
        "In NumPy OUT is np.pad(IN, pad)[slice].transpose(perm). The move runs in this process,\n"
        "or with --socket or -H on a daemon. An existing OUT requires --force or --update.\n",
    .options = mov_table,
    .takes = &value_file,
    .examples = {{"a part of a tensor, permuted",
                  "mlictl mov in.npy out.npy --slice '1:,::2,:' --perm 2,0,1"},
                 {"layouts by letters", "mlictl mov in.npy chw.npy --perm HWC:CHW"},
                 {"on a board, replacing out.npy",
                  "mlictl mov -H ssh://root@board -f in.npy out.npy --pad 1,1,0"}},
    .run = mov,
};

const struct command cmd_permute = {
    .name = "permute",
    .arguments = "IN OUT",
    .count = 2,
    .summary = "permute one tensor, without a job file",
    .details =
        "OUT is IN.transpose(perm), moved by the mli_krn_permute_* kernel for the element type\n"
        "(fx8, fx16, sa8 or sa32). Otherwise permute works like mov.\n",
    .options = permute_table,
    .takes = &value_file,
    .examples = {{"from HWC to CHW", "mlictl permute in.npy chw.npy --perm HWC:CHW"},
                 {"also written as a job file",
                  "mlictl permute -f in.npy chw.npy --perm 2,0,1 -o turn.json"}},
    .run = permute,
};

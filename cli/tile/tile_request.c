/* SPDX-License-Identifier: BSD-3-Clause */
#include "cli/tile/tile_request.h"

#include "cli/make/make_job.h"
#include "cli/tile/tile_request_parts.h"

/* In the order of enum tile_objective. */
static const char *const least_words[] = {"time", "traffic", NULL};
const struct value tile_least_value = {VALUE_WORD, least_words};

const char *tile_request_given(const struct tile_request *r, const char *name)
{
    return options_get(r->options, name);
}

/* Refuses combinations of output files that make no sense. */
static int check_outputs(const struct tile_request *r, enum tile_kind kind)
{
    const bool saves = kind != TILE_WINDOW && !r->directory;

    if (r->output && !r->in)
        print_error("--output requires a file: the jobs load its tiles");
    else if (r->output && saves && !r->out)
        print_error("--output requires OUT, the file that the last job saves");
    else if (r->directory && !r->output)
        print_error("--tiles requires --output: the jobs save the tiles");
    else if (r->stitch && (!r->directory || !r->out))
        print_error("--stitch requires --tiles and OUT: it assembles the results of the tiles");
    else if (r->out && !r->output)
        print_error("OUT requires --output: without it no job writes a tensor");
    else if (tile_request_given(r, "expect") && !r->out)
        print_error("--expect requires OUT, the file that is compared");
    else if (r->out && !saves && !r->stitch)
        print_error("OUT requires --stitch: mlictl moves bytes and computes no %s",
                    kind == TILE_WINDOW ? "convolution" : "result");
    else
        return 0;
    return -1;
}

enum exit_code tile_request_init(struct tile_request *r, const struct options *options)
{
    const struct print_style style = options_style(options);
    struct fault fault;
    enum tile_kind kind;

    *r = (struct tile_request){.options = options};
    job_spec_init(&r->job);
    if (options->argument_count > 0)
        r->in = options->arguments[0];
    if (options->argument_count > 1)
        r->out = options->arguments[1];
    r->second = tile_request_given(r, "with");
    r->weights = tile_request_given(r, "weights");
    r->output = tile_request_given(r, "output");
    r->directory = tile_request_given(r, "tiles");
    r->stitch = tile_request_given(r, "stitch");
    if (tile_request_kind(r, &kind) || check_outputs(r, kind) || tile_request_board(r) ||
        tile_request_memory(r) || tile_request_objective(r, kind) || tile_request_source(r, kind))
        return EXIT_CODE_INVALID;
    if (tile_request_layer(r, kind, &fault) < 0)
        return fault.code == FAULT_NONE ? EXIT_CODE_INVALID : print_failure(&style, NULL, &fault);
    tile_request_finish_board(r);
    /* After tile_request_layer(), which explains the job as if it expected nothing. */
    return make_job_expect(options, &r->job) ? EXIT_CODE_INVALID : EXIT_CODE_DONE;
}

void tile_request_finish(struct tile_request *r)
{
    job_spec_finish(&r->job);
}

uint32_t tile_request_loaded(const struct tile_request *r)
{
    uint32_t loaded = 0;

    for (uint32_t i = 0; i < r->layer.operands; i++) {
        const enum tile_role role = r->layer.operand[i].role;

        if (role == TILE_INPUT || (role == TILE_WEIGHTS && r->weights))
            loaded |= UINT32_C(1) << i;
    }
    return loaded;
}

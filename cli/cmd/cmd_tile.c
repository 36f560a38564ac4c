/* SPDX-License-Identifier: BSD-3-Clause */
/* mlictl tile: plans a layer in tiles that fit into a memory, and writes their job file. */
#include "cli/cmd/command.h"
#include "cli/make/make_job.h"
#include "cli/tile/tile_result.h"

static const struct option options_table[] = {
    {"shape", "LIST",
     "Set the extents of a raw file IN, or plan without IN: 224x224x32 (default: none)."},
    {"type", "TYPE",
     "Read IN as fx8, fx16, sa8, sa32, fp16 or fp32 (default: by its dtype; without IN: sa8).",
     .takes = &make_type_value},
    {"tensor", "NAME", "Read this tensor of an archive or a model IN (default: none)."},
    {"window", "ROWSxCOLS",
     "Use a kernel of this size, as in a convolution or a pooling (default: a move)."},
    {"stride", "ROWSxCOLS", "Set the step of the kernel (default: 1)."},
    {"dilate", "ROWSxCOLS",
     "Set the distance between neighbouring elements of the kernel (default: 1)."},
    {"pad", "ZEROS",
     "Add zeros; window: same, valid, or top,bottom,left,right; move: 0,1,1 or 0,1:2,1 (default: "
     "none)."},
    {"out-channels", "N", "Set the number of output channels (default: those of the input)."},
    {"depthwise", NULL, "Use one input channel for each output channel."},
    {"pool", NULL, "Use one input channel for each output channel, and no weights."},
    {"accumulator", "BYTES",
     "Split the input channels too, with partial sums of this size (default: do not split)."},
    {"weights", "W.npy", "Read the weights from this file (default: load no weights).",
     .takes = &value_file},
    {"elementwise", NULL, "Treat each element by itself, in place."},
    {"with", "IN2.npy", "Read a second input of the same shape from this file (default: none).",
     .takes = &value_file},
    {"slice", "SLICES",
     "Move only a window, as NumPy does: 1:9,::2,: (default: the whole tensor)."},
    {"perm", "LIST",
     "Permute the dimensions of a move: 2,0,1, or HWC:CHW (default: keep their order)."},
    {"budget", "SIZE",
     "Limit the buffers to this size: 65536 or 256KiB (default: all of --memory)."},
    {"profile", "NAME", "Use the memories and costs of this target profile (default: none).",
     .takes = &value_profile},
    {"memory", "NAME",
     "Use this memory of --profile for the buffers (default: its vector memory)."},
    {"buffers", "N", "Give tensors that change between tiles N buffers, 1 to 4 (default: 2)."},
    {"no-hold", NULL, "Give --buffers also to tensors that stay the same in the innermost loop."},
    {"least", "FIGURE",
     "Choose the plan with the least time or traffic (default: time; without --profile: traffic).",
     .takes = &tile_least_value},
    {"slack", "PERCENT",
     "Prefer plans with at most PERCENT more traffic than the least (default: 5 percent)."},
    {"channels", "N", "Use N DMA channels for the predicted time (default: those of --profile)."},
    {"compute", "CYCLES",
     "Add the time of kernels: cycles for each element of the output (default: 0 cycles)."},
    {"call", "CYCLES",
     "Add this time for each call of the kernel (default: core_call of --profile)."},
    {"output", "JOBS.json", "Write the jobs that move the tiles to this file (default: none).",
     .takes = &value_job_file},
    {"tiles", "DIR", "Save the tiles of the inputs as files in DIR (default: none).",
     .takes = &value_directory},
    {"stitch", "JOBS.json",
     "Write the jobs that assemble DIR/out_N.npy to OUT to this file (default: none).",
     .takes = &value_job_file},
    {"expect", "GOLDEN",
     "Compare OUT with a file or with sha256:DIGEST when the jobs run (default: none).",
     .takes = &value_file},
    {"svg", "FILE", "Draw all tiles on the tensor to FILE (default: none).", .takes = &value_file},
    {"timeline", "FILE", "Draw the predicted schedule to FILE (default: none).",
     .takes = &value_file},
    {"trace", "FILE", "Write the predicted schedule for Perfetto to FILE (default: none).",
     .takes = &value_file},
    {"force", NULL, "Replace existing job files."},
    OPTIONS_COMMON,
};

static void print_plan(const struct print_style *style, const struct tile_result *result)
{
    struct textw text;
    struct jsonw json;

    if (style->json) {
        jsonw_init(&json);
        tile_report_json(&json, result);
        print_json(&json);
    } else if (!style->quiet) {
        textw_init(&text);
        tile_report_text(&text, result);
        print_text(&text);
    }
}

/* Writes all files that the options name, or none. */
static enum exit_code save(const struct print_style *style, const struct tile_result *result)
{
    struct tile_outputs outputs;
    struct fault fault;
    enum exit_code code = EXIT_CODE_DONE;

    if (tile_outputs_init(&outputs, result, &fault) < 0 ||
        tile_outputs_commit(&outputs, &fault) < 0)
        code = print_file_failure(style, outputs.at_fault, &fault);
    tile_outputs_finish(&outputs);
    return code;
}

static enum exit_code tile(const struct options *options)
{
    const struct print_style style = options_style(options);
    struct tile_request request;
    struct tile_result result = {0};
    struct fault fault;
    enum exit_code code;

    if (options->argument_count > 2)
        return command_misused(&cmd_tile);
    code = tile_request_init(&request, options);
    if (code == EXIT_CODE_DONE && tile_result_init(&result, &request, &fault) < 0)
        code = print_failure(&style, NULL, &fault);
    if (code == EXIT_CODE_DONE)
        code = save(&style, &result);
    if (code == EXIT_CODE_DONE && !tile_outputs_on_stdout(options))
        print_plan(&style, &result);
    tile_result_finish(&result);
    tile_request_finish(&request);
    return code;
}

const struct command cmd_tile = {
    .name = "tile",
    .arguments = "[IN [OUT]]",
    .summary = "plan a layer in tiles that fit into a memory",
    .details =
        "Finds the tiles with the shortest predicted time (--profile) or the least traffic: of a "
        "move,\nof a layer with a kernel (--window), or of an elementwise layer. Writes jobs "
        "that move the\ntiles through buffers in the memory.\n",
    .options = options_table,
    .takes = &value_file,
    .examples = {{"plan a convolution for 256 KiB, without files",
                  "mlictl tile --shape 224x224x32 --window 3x3 --pad same --budget 256KiB"},
                 {"write the jobs of a permute in tiles",
                  "mlictl tile in.npy out.npy --perm 2,0,1 --budget 1KiB -o tiles.json"},
                 {"the memory and the costs of a board, with a picture",
                  "mlictl tile --shape 56x56x64 --window 3x3 --profile vpx5-nsim --svg tiles.svg"}},
    .run = tile,
};

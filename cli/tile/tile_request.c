/* SPDX-License-Identifier: BSD-3-Clause */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "cli/job/explained.h"
#include "cli/job/resolve.h"
#include "cli/make/make_job.h"
#include "cli/tensor/tensor_file.h"
#include "cli/term/phrase.h"
#include "cli/tile/tile_result.h"
#include "mli_helpers_api.h"
#include "proto/file/slice.h"
#include "target/profile/profile_load.h"
#include "target/tile/tile_transfer.h"

/* Options that only one or two kinds of layers have. */
static const struct {
    const char *option;
    bool move, window, elementwise;
    const char *needs;
} of_kinds[] = {
    {"slice", true, false, false, "a move, without --window and --elementwise"},
    {"perm", true, false, false, "a move, without --window and --elementwise"},
    {"pad", true, true, false, "a move, or --window"},
    {"stride", false, true, false, "--window"},
    {"dilate", false, true, false, "--window"},
    {"out-channels", false, true, false, "--window"},
    {"depthwise", false, true, false, "--window"},
    {"pool", false, true, false, "--window"},
    {"weights", false, true, false, "--window"},
    {"accumulator", false, true, false, "--window"},
    {"with", false, false, true, "--elementwise"},
    {"tiles", false, true, true, "--window or --elementwise: a move has no kernel"},
};

/* Finds the kind of the layer, and refuses options of other kinds. */
static int tile_request_kind(const struct tile_request *r, enum tile_kind *kind)
{
    const bool window = options_get(r->options, "window"),
               elementwise = options_get(r->options, "elementwise");

    *kind = window ? TILE_WINDOW : elementwise ? TILE_ELEMENTWISE : TILE_MOVE;
    if (window && elementwise)
        return print_refusal(
            "--window cannot be combined with --elementwise: a layer is one of the two");
    for (size_t i = 0; i < sizeof of_kinds / sizeof of_kinds[0]; i++) {
        const bool fits = *kind == TILE_WINDOW        ? of_kinds[i].window
                          : *kind == TILE_ELEMENTWISE ? of_kinds[i].elementwise
                                                      : of_kinds[i].move;

        if (!fits && options_get(r->options, of_kinds[i].option))
            return print_refusal("--%s requires %s", of_kinds[i].option, of_kinds[i].needs);
    }
    return 0;
}

/* Reads a number below 2^32. Returns the text after the number, or null. */
static const char *take_number(const char *text, uint32_t *number)
{
    char *end;
    unsigned long long value;

    if (*text < '0' || *text > '9')
        return NULL;
    value = strtoull(text, &end, 10);
    *number = (uint32_t)value;
    return value > UINT32_MAX ? NULL : end;
}

/* Reads rows and columns: "3x5", or "3" for both. */
static int read_pair(const struct tile_request *r, const char *option, uint32_t pair[2])
{
    const char *text = options_get(r->options, option), *rest = text;

    if (!text)
        return 0;
    rest = take_number(rest, &pair[0]);
    pair[1] = pair[0];
    if (rest && *rest == 'x')
        rest = take_number(rest + 1, &pair[1]);
    if (rest && *rest == '\0' && pair[0] >= 1 && pair[1] >= 1 && pair[0] <= TILE_KERNEL_MAX &&
        pair[1] <= TILE_KERNEL_MAX)
        return 0;
    return print_refusal("--%s %s: rows and columns from 1 to %d are needed, as in 3x3 or 3",
                         option, text, TILE_KERNEL_MAX);
}

static int read_window_pad(const struct tile_request *r, struct tile_window *window)
{
    const char *text = options_get(r->options, "pad"), *rest = text;
    uint32_t *const sides[] = {&window->pad_pre[0], &window->pad_post[0], &window->pad_pre[1],
                               &window->pad_post[1]};

    if (!text || strcmp(text, "valid") == 0)
        return 0;
    if (strcmp(text, "same") == 0) {
        tile_window_pad_same(window);
        return 0;
    }
    for (size_t i = 0; i < 4 && rest; i++) {
        rest = take_number(rest, sides[i]);
        if (rest && *rest != (i < 3 ? ',' : '\0'))
            rest = NULL;
        else if (rest && i < 3)
            rest++;
    }
    if (rest)
        return 0;
    return print_refusal(
        "--pad %s: same, valid or the zeros at top, bottom, left and right are needed, as "
        "in 1,1,0,0",
        text);
}

/* Sets the shape of the source for a layer without a file. */
static int read_bare_shape(struct tile_request *r)
{
    const char *text = options_get(r->options, "shape");
    struct npy_header header = {0};
    size_t word = 2; /* sa8 */

    if (!text)
        return print_refusal(
            "the tensor is missing: give a file, or --shape as in --shape 224x224x32");
    if (tensor_args_shape(text, &header) || options_choice(r->options, "type", &word) ||
        !element_type_from_name(make_type_value.words[word], &r->type))
        return -1;
    if (header.rank > MLI_MAX_RANK)
        return print_refusal("--shape %s: at most %d dimensions can be tiled", text, MLI_MAX_RANK);
    r->job.src.desc.has_type = true;
    r->job.src.desc.type = r->type;
    r->job.src.desc.rank = header.rank;
    memcpy(r->job.src.desc.shape, header.shape, sizeof header.shape);
    return 0;
}

/* Computes offset, size and step of --slice for the padded source. */
static int apply_slice(struct tile_request *r, struct fault *fault)
{
    mli_mov_cfg_t *cfg = &r->job.common.cfg;
    const struct tensor_desc *desc = &r->job.src.desc;
    struct slice_window windows[TENSOR_RANK_MAX];
    int64_t extents[TENSOR_RANK_MAX];
    struct slice slice;

    if (!r->job.slice)
        return 0;
    for (uint32_t d = 0; d < desc->rank; d++)
        extents[d] = (int64_t)desc->shape[d] + cfg->padding_pre[d] + cfg->padding_post[d];
    if (slice_parse(r->job.slice, &slice, fault) ||
        slice_apply(&slice, desc->rank, extents, windows, fault))
        return -1;
    for (uint32_t d = 0; d < desc->rank; d++) {
        cfg->offset[d] = windows[d].offset;
        cfg->size[d] = windows[d].size;
        cfg->sub_sample_step[d] = windows[d].step;
    }
    return 0;
}

static int check_rank(const struct tile_request *r, struct fault *fault)
{
    const uint32_t rank = r->job.src.desc.rank;
    const struct cfg_lengths *lengths = &r->job.common.lengths;

    if ((lengths->padding_pre && lengths->padding_pre != rank) ||
        (lengths->perm_dim && lengths->perm_dim != rank))
        return fault_set(fault, FAULT_INVALID_PARAMS, NULL,
                         "--%s has %u entries, but --shape has %" PRIu32,
                         lengths->padding_pre ? "pad" : "perm",
                         lengths->padding_pre ? lengths->padding_pre : lengths->perm_dim, rank);
    return 0;
}

/* Explains the move of a tensor that has no file. Assumes that it begins at a page. */
static int explain_bare(struct tile_request *r, mli_explanation *move, struct fault *fault)
{
    const struct tensor_desc *desc = &r->job.src.desc;
    enum { PAGE = 4096 };
    mli_tensor src = {.rank = desc->rank, .el_type = r->type}, dst = {0};
    mli_status status;

    if (check_rank(r, fault) || apply_slice(r, fault))
        return -1;
    memcpy(src.shape, desc->shape, sizeof src.shape);
    src.el_params.sa.dim = dst.el_params.sa.dim = -1;
    src.data.mem.pi8 = dst.data.mem.pi8 = (int8_t *)PAGE;
    src.data.capacity = dst.data.capacity = UINT32_MAX;
    status = mli_mov_explain_unplaced(&src, &r->job.common.cfg, &dst, move);
    return status == MLI_STATUS_OK ? 0 : fault_set_refused(fault, status, mli_last_error());
}

/* Explains the job of a file, as `mlictl explain` does. */
static int explain_file(struct tile_request *r, mli_explanation *move, struct fault *fault)
{
    static const struct produced nothing = {0};
    struct job_file file = {0};
    struct resolved resolved;
    struct explained explained;
    struct jsonw w;
    int status;

    jsonw_init(&w);
    job_file_write(&w, NULL, &r->job);
    if (!jsonw_text(&w)) {
        jsonw_finish(&w);
        return fault_no_memory(fault);
    }
    status = job_file_load_text(&file, "tile", &(struct text){.bytes = w.data, .length = w.length},
                                fault);
    jsonw_finish(&w);
    if (status < 0)
        return -1;
    status = resolved_plan(&resolved, &file, &file.list.jobs[0], &nothing, fault);
    if (status == 0)
        status = explained_init(&explained, &file, &resolved, 1, fault);
    if (status == 0) {
        *move = explained.move;
        r->type = resolved.wire.src.desc.type;
        r->dtype[0] = dtype_of_header(&resolved.src.header)->name;
        if (npy_folds(&resolved.src.header))
            status =
                fault_set(fault, FAULT_INVALID_PARAMS, "/src",
                          "src: %s in %" PRIu32 " dimensions cannot be tiled; elements of 1, 2 "
                          "or 4 bytes in at most 4 dimensions are needed",
                          r->dtype[0], resolved.src.header.rank);
        r->job.src.desc.has_type = true;
        r->job.src.desc.type = r->type;
    }
    resolved_finish(&resolved);
    job_file_finish(&file);
    return status;
}

/* Reads the source and, for a move, the options that describe the move. */
static int tile_request_source(struct tile_request *r, enum tile_kind kind)
{
    r->job.common.op = JOB_OP_MOV;
    r->job.dst.file = strdup(r->out ? r->out : ".mlictl-tile.npy");
    if (!r->job.dst.file)
        return print_refusal("out of memory");
    if (kind == TILE_MOVE && make_job_cfg(r->options, &r->job))
        return -1;
    return r->in ? make_job_source(r->options, r->in, &r->job) : read_bare_shape(r);
}

static int make_window(struct tile_request *r, const mli_explanation *move, struct fault *fault)
{
    struct tile_window *w = &r->window;
    if (move->rank != 3)
        return fault_set(fault, FAULT_INVALID_PARAMS, NULL,
                         "--window needs a tensor of rank 3 (rows, columns, channels), but the "
                         "tensor has rank %" PRIu32,
                         move->rank);
    *w = (struct tile_window){.stride = {1, 1}, .dilation = {1, 1}, .element = move->elem};
    for (uint32_t d = 0; d < 3; d++)
        w->shape[d] = move->axis[d].extent;
    w->channels = w->shape[2];
    w->depthwise = options_get(r->options, "depthwise") || options_get(r->options, "pool");
    w->weights = !options_get(r->options, "pool");
    if (options_get(r->options, "depthwise") && options_get(r->options, "pool"))
        return fault_set(fault, FAULT_INVALID_PARAMS, NULL,
                         "--depthwise cannot be combined with --pool: give --pool for a layer "
                         "without weights, --depthwise for one with weights");
    if (w->depthwise && options_get(r->options, "out-channels"))
        return fault_set(fault, FAULT_INVALID_PARAMS, NULL,
                         "--out-channels cannot be combined with --depthwise or --pool: the output "
                         "has the channels of the input");
    if (!w->weights && r->weights)
        return fault_set(fault, FAULT_INVALID_PARAMS, NULL,
                         "--weights cannot be combined with --pool: a pooling has no weights");
    if (read_pair(r, "window", w->kernel) || read_pair(r, "stride", w->stride) ||
        read_pair(r, "dilate", w->dilation) || read_window_pad(r, w) ||
        options_u32(r->options, "out-channels", 1, UINT32_MAX, &w->channels) ||
        options_u32(r->options, "accumulator", 1, 16, &w->partial)) {
        *fault = (struct fault){0}; /* printed already */
        return -1;
    }
    if (w->partial > 0 && (w->depthwise || w->partial < w->element))
        return fault_set(fault, FAULT_INVALID_PARAMS, NULL,
                         "--accumulator: a dense --window is needed, and at least the %" PRIu32
                         " B of an element",
                         w->element);
    return tile_layer_window(&r->layer, w, fault);
}

/* Refuses the file of a second input or of weights if its shape or element size does not match. */
static int check_operand(struct tile_request *r, const char *path, const char *option,
                         uint32_t operand, struct fault *fault)
{
    uint32_t shape[MLI_MAX_RANK];
    const uint32_t rank = tile_operand_shape(&r->layer, operand, shape);
    char wanted[PRINT_TEXT_MAX], found[PRINT_TEXT_MAX];
    struct tensor_file file;
    bool fits;

    if (!path)
        return 0;
    if (file_format_of_name(path) != FILE_FORMAT_NPY)
        return fault_set(fault, FAULT_INVALID_PARAMS, NULL, "--%s %s: a .npy file is needed",
                         option, path);
    if (tensor_file_open(&file, path, FILE_FORMAT_NPY, NULL, fault))
        return -1;
    fits = file.header.rank == rank && file.header.item_size == r->layer.element &&
           memcmp(file.header.shape, shape, rank * sizeof *shape) == 0;
    r->dtype[operand] = dtype_of_header(&file.header)->name;
    print_shape(found, file.header.rank, file.header.shape);
    tensor_file_close(&file);
    if (fits)
        return 0;
    return fault_set(fault, FAULT_INVALID_PARAMS, NULL,
                     "--%s: %s has the shape %s; %s with elements of %" PRIu32 " B is needed",
                     option, path, found, print_shape(wanted, rank, shape), r->layer.element);
}

/*
 * Opens the tensors and makes the layer. Returns 0, or -1 with the fault; a fault without a code is
 * printed already.
 */
static int tile_request_layer(struct tile_request *r, enum tile_kind kind, struct fault *fault)
{
    mli_explanation move = {0};
    uint32_t shape[MLI_MAX_RANK] = {0};

    if ((r->in ? explain_file(r, &move, fault) : explain_bare(r, &move, fault)) < 0)
        return -1;
    for (uint32_t d = 0; d < move.rank; d++)
        shape[d] = move.axis[d].extent;
    if (kind == TILE_MOVE)
        return tile_layer_move(&r->layer, &move, fault);
    if (kind == TILE_WINDOW)
        return make_window(r, &move, fault) || check_operand(r, r->weights, "weights", 1, fault)
                   ? -1
                   : 0;
    return tile_layer_elementwise(&r->layer, move.rank, shape, move.elem,
                                  options_get(r->options, "with") ? 2 : 1, fault) ||
                   check_operand(r, r->second, "with", 1, fault)
               ? -1
               : 0;
}

enum {
    ALIGNMENT_DEFAULT = 16, /* alignment of buffers in bytes if no profile is given */
    BURST_DEFAULT = 256,
    SLACK_DEFAULT = 5,    /* percent */
    ELEMENT_ALIGNMENT = 4 /* addresses of mlid's buffers are multiples of this */
};

/* Reads cycles with up to six digits after the point, such as "0.125". Without the option, *cost
 * is unchanged. */
static int read_cycles(const struct tile_request *r, const char *option, const char *each,
                       profile_cost *cost)
{
    const char *text = options_get(r->options, option), *rest = text;
    profile_cost unit = PROFILE_CYCLE;

    if (!text)
        return 0;
    *cost = 0;
    for (; *rest >= '0' && *rest <= '9' && *cost < UINT64_C(1) << 40; rest++)
        *cost = *cost * 10 + (profile_cost)(*rest - '0');
    *cost *= PROFILE_CYCLE;
    if (rest > text && *rest == '.') {
        for (rest++; *rest >= '0' && *rest <= '9' && unit > 1; rest++) {
            unit /= 10;
            *cost += (profile_cost)(*rest - '0') * unit;
        }
    }
    if (rest > text && *rest == '\0')
        return 0;
    return print_refusal("--%s %s: cycles for each %s are needed, as in 4 or 0.125", option, text,
                         each);
}

/* Lists the memories that the DMA controller reaches, for messages. */
static void list_memories(const struct target_profile *profile, char *out, size_t size)
{
    struct phrase phrase = phrase_init(out, size);

    for (uint32_t i = 0; i < profile->memory_count; i++) {
        const struct profile_memory *memory = &profile->memories[i];

        if (memory->reached_by & PROFILE_DMA)
            phrase_add(&phrase, "%s%s (%" PRIu64 " B)", *out ? ", " : "", memory->name,
                       memory->size);
    }
}

/* Finds the memory for the buffers: --memory, else the largest vector memory of the profile. */
static int find_memory(struct tile_request *r)
{
    const char *name = options_get(r->options, "memory");
    char known[256];

    for (uint32_t i = 0; i < r->profile.memory_count; i++) {
        const struct profile_memory *memory = &r->profile.memories[i];

        if (name ? strcmp(memory->name, name) == 0
                 : memory->vector && (!r->inside || memory->size > r->inside->size))
            r->inside = memory;
    }
    if (r->inside && r->inside->reached_by & PROFILE_DMA)
        return 0;
    list_memories(&r->profile, known, sizeof known);
    if (name)
        return print_refusal("--memory %s: profile %s has the memories %s for DMA channels", name,
                             r->profile.name, known);
    return print_refusal(
        "--memory is needed: profile %s has no vector memory; DMA channels reach %s",
        r->profile.name, known);
}

/* Loads the profile, and finds the memory for the buffers. Returns 0, or -1 after printing why. */
static int tile_request_board(struct tile_request *r)
{
    const struct print_style style = options_style(r->options);
    const char *name = options_get(r->options, "profile");
    static const char *const needs_board[] = {"memory", "channels", "timeline", "trace"};
    struct fault fault;

    for (size_t i = 0; !name && i < sizeof needs_board / sizeof needs_board[0]; i++) {
        if (options_get(r->options, needs_board[i]))
            return print_refusal("--%s requires --profile", needs_board[i]);
    }
    if (!name)
        return 0;
    if (profile_load(&r->profile, name, &fault) < 0) {
        (void)print_failure(&style, profile_is_path(name) ? name : NULL, &fault);
        return -1;
    }
    r->has_board = true;
    return find_memory(r);
}

/* Reads the number of DMA channels, which the board limits. */
static int read_channels(const struct tile_request *r, uint32_t *channels)
{
    *channels = r->has_board ? r->profile.dma.channels : 1;
    if (options_u32(r->options, "channels", 1, MLI_MOV_MAX_CHANNELS, channels))
        return -1;
    if (!r->has_board || *channels <= r->profile.dma.channels)
        return 0;
    return print_refusal(
        "--channels %" PRIu32 ": the board of profile %s has %" PRIu32 " DMA channel%s", *channels,
        r->profile.name, r->profile.dma.channels, print_s(r->profile.dma.channels));
}

/* Reads the objective of the plan and the figures that the time depends on. */
static int tile_request_objective(struct tile_request *r, enum tile_kind kind)
{
    uint32_t slack = SLACK_DEFAULT, channels;
    size_t word = r->has_board ? TILE_LEAST_TIME : TILE_LEAST_TRAFFIC;

    if (options_choice(r->options, "least", &word) || read_channels(r, &channels) ||
        options_u32(r->options, "slack", 0, 1000, &slack))
        return -1;
    if (word == TILE_LEAST_TIME && !r->has_board)
        return print_refusal("--least time requires --profile: the board's costs give the time");
    if (r->has_board)
        r->estimate = tile_estimate_of(&r->profile, tile_board_outside(&r->profile, r->inside));
    else
        r->estimate = (struct tile_estimate){.start = 300 * PROFILE_CYCLE,
                                             .row = 4 * PROFILE_CYCLE,
                                             .burst = 8 * PROFILE_CYCLE,
                                             .beat = PROFILE_CYCLE,
                                             .bus_bytes = ALIGNMENT_DEFAULT,
                                             .burst_bytes = BURST_DEFAULT,
                                             .loops = 1};
    if (kind == TILE_MOVE)
        r->estimate.call = 0; /* a move has no kernel */
    if (read_cycles(r, "call", "call of the kernel", &r->estimate.call) ||
        read_cycles(r, "compute", "element of the output", &r->estimate.compute))
        return -1;
    r->objective = (enum tile_objective)word;
    r->estimate.slack = slack;
    r->estimate.channels = channels;
    return 0;
}

/* Reads the size and the number of the buffers, after tile_request_board(). */
static int tile_request_memory(struct tile_request *r)
{
    r->memory = (struct tile_memory){.alignment = ALIGNMENT_DEFAULT,
                                     .buffers = 2,
                                     .hold = options_get(r->options, "no-hold") == NULL};
    if (options_u32(r->options, "buffers", 1, TILE_BUFFERS_MAX, &r->memory.buffers))
        return -1;
    if (r->has_board) {
        r->memory.bytes = r->inside->size;
        r->memory.base = r->inside->base;
        r->memory.alignment = ELEMENT_ALIGNMENT;
        if (r->inside->alignment > r->memory.alignment)
            r->memory.alignment = r->inside->alignment;
        if (r->profile.dma.bus_bytes > r->memory.alignment)
            r->memory.alignment = r->profile.dma.bus_bytes;
    } else if (!options_get(r->options, "budget"))
        return print_refusal(
            "--budget or --profile is needed: the memory for the buffers of the tiles");
    if (options_number(r->options, "budget", UNIT_BYTES, 1, UINT64_C(1) << 53, &r->memory.bytes))
        return -1;
    if (r->has_board && r->memory.bytes > r->inside->size)
        return print_refusal("--budget: %" PRIu64 " B given, but %s of profile %s has %" PRIu64
                             " B",
                             r->memory.bytes, r->inside->name, r->profile.name, r->inside->size);
    return 0;
}

/* Sets r->board, which the schedule of the plan needs. Call it after the other functions. */
static void tile_request_finish_board(struct tile_request *r)
{
    if (!r->has_board)
        return;
    r->board = (struct tile_board){.profile = &r->profile,
                                   .inside = r->inside,
                                   .outside = tile_board_outside(&r->profile, r->inside),
                                   .channels = r->estimate.channels,
                                   .call = r->estimate.call,
                                   .compute = r->estimate.compute};
}

/* The words of --least, in the order of enum tile_objective. */
static const char *const least_words[] = {"time", "traffic", NULL};
const struct value tile_least_value = {VALUE_WORD, least_words};

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
    else if (options_get(r->options, "expect") && !r->out)
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
    r->second = options_get(r->options, "with");
    r->weights = options_get(r->options, "weights");
    r->output = options_get(r->options, "output");
    r->directory = options_get(r->options, "tiles");
    r->stitch = options_get(r->options, "stitch");
    if (tile_request_kind(r, &kind) || check_outputs(r, kind) || tile_request_board(r) ||
        tile_request_memory(r) || tile_request_objective(r, kind) || tile_request_source(r, kind))
        return EXIT_CODE_INVALID;
    if (tile_request_layer(r, kind, &fault) < 0)
        return fault.code == FAULT_NONE ? EXIT_CODE_INVALID : print_failure(&style, NULL, &fault);
    tile_request_finish_board(r);
    /*
     * Read --expect after tile_request_layer(), which explains the job as if it expected nothing.
     */
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

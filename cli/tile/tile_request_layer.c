/* SPDX-License-Identifier: BSD-3-Clause */
#include "cli/tile/tile_request_parts.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/job/explained.h"
#include "cli/job/resolve.h"
#include "cli/make/make_job.h"
#include "cli/tensor/tensor_args.h"
#include "mli_helpers_api.h"
#include "proto/file/slice.h"
#include "target/tile/tile_transfer.h"

/* Invented addresses for the explanation of a move without files. */
#define SRC_ADDRESS ((uintptr_t)1 << (sizeof(uintptr_t) * 8 - 1))
#define DST_ADDRESS (SRC_ADDRESS | SRC_ADDRESS >> 1)

/* Options of one or two kinds of layers. */
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

int tile_request_kind(const struct tile_request *r, enum tile_kind *kind)
{
    const bool window = tile_request_given(r, "window"),
               elementwise = tile_request_given(r, "elementwise");

    *kind = window ? TILE_WINDOW : elementwise ? TILE_ELEMENTWISE : TILE_MOVE;
    if (window && elementwise) {
        print_error("--window cannot be combined with --elementwise: a layer is one of the two");
        return -1;
    }
    for (size_t i = 0; i < sizeof of_kinds / sizeof of_kinds[0]; i++) {
        const bool fits = *kind == TILE_WINDOW        ? of_kinds[i].window
                          : *kind == TILE_ELEMENTWISE ? of_kinds[i].elementwise
                                                      : of_kinds[i].move;

        if (!fits && tile_request_given(r, of_kinds[i].option)) {
            print_error("--%s requires %s", of_kinds[i].option, of_kinds[i].needs);
            return -1;
        }
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
    const char *text = tile_request_given(r, option), *rest = text;

    if (!text)
        return 0;
    rest = take_number(rest, &pair[0]);
    pair[1] = pair[0];
    if (rest && *rest == 'x')
        rest = take_number(rest + 1, &pair[1]);
    if (rest && *rest == '\0' && pair[0] >= 1 && pair[1] >= 1 && pair[0] <= TILE_KERNEL_MAX &&
        pair[1] <= TILE_KERNEL_MAX)
        return 0;
    print_error("--%s %s: rows and columns from 1 to %d are needed, as in 3x3 or 3", option, text,
                TILE_KERNEL_MAX);
    return -1;
}

static int read_window_pad(const struct tile_request *r, struct tile_window *window)
{
    const char *text = tile_request_given(r, "pad"), *rest = text;
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
    print_error("--pad %s: same, valid or the zeros at top, bottom, left and right are needed, as "
                "in 1,1,0,0",
                text);
    return -1;
}

/* Sets the shape of the source for a layer without a file. */
static int read_bare_shape(struct tile_request *r)
{
    const char *text = tile_request_given(r, "shape");
    struct npy_header header = {0};
    size_t word = 2; /* sa8 */

    if (!text) {
        print_error("the tensor is missing: give a file, or --shape as in --shape 224x224x32");
        return -1;
    }
    if (tensor_args_shape(text, &header) || options_choice(r->options, "type", &word) ||
        !element_type_from_name(make_type_value.words[word], &r->type))
        return -1;
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
    struct slice_window windows[MLI_MAX_RANK];
    int64_t extents[MLI_MAX_RANK];
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

/* Explains the move of a tensor that has no file. */
static int explain_bare(struct tile_request *r, mli_explanation *move, struct fault *fault)
{
    const struct tensor_desc *desc = &r->job.src.desc;
    mli_tensor src = {.rank = desc->rank, .el_type = r->type}, dst = {0};
    mli_status status;

    if (check_rank(r, fault) || apply_slice(r, fault))
        return -1;
    memcpy(src.shape, desc->shape, sizeof src.shape);
    src.el_params.sa.dim = dst.el_params.sa.dim = -1;
    src.data.mem.pi8 = (int8_t *)SRC_ADDRESS;
    dst.data.mem.pi8 = (int8_t *)DST_ADDRESS;
    src.data.capacity = dst.data.capacity = UINT32_MAX;
    status = mli_mov_explain(&src, &r->job.common.cfg, &dst, move);
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
        r->job.src.desc.has_type = true;
        r->job.src.desc.type = r->type;
    }
    resolved_finish(&resolved);
    job_file_finish(&file);
    return status;
}

int tile_request_source(struct tile_request *r, enum tile_kind kind)
{
    r->job.common.op = JOB_OP_MOV;
    r->job.dst.file = strdup(r->out ? r->out : ".mlictl-tile.npy");
    if (!r->job.dst.file) {
        print_error("out of memory");
        return -1;
    }
    if (kind == TILE_MOVE && make_job_cfg(r->options, &r->job))
        return -1;
    return r->in ? make_job_source(r->options, r->in, &r->job) : read_bare_shape(r);
}

static int make_window(struct tile_request *r, const mli_explanation *move, struct fault *fault)
{
    struct tile_window *w = &r->window;
    uint64_t channels, partial = 0;

    if (move->rank != 3)
        return fault_set(fault, FAULT_INVALID_PARAMS, NULL,
                         "--window needs a tensor of rank 3 (rows, columns, channels), but the "
                         "tensor has rank %" PRIu32,
                         move->rank);
    *w = (struct tile_window){.stride = {1, 1}, .dilation = {1, 1}, .element = move->elem};
    for (uint32_t d = 0; d < 3; d++)
        w->shape[d] = move->axis[d].extent;
    channels = w->shape[2];
    w->depthwise = tile_request_given(r, "depthwise") || tile_request_given(r, "pool");
    w->weights = !tile_request_given(r, "pool");
    if (tile_request_given(r, "depthwise") && tile_request_given(r, "pool"))
        return fault_set(fault, FAULT_INVALID_PARAMS, NULL,
                         "--depthwise cannot be combined with --pool: give --pool for a layer "
                         "without weights, --depthwise for one with weights");
    if (w->depthwise && tile_request_given(r, "out-channels"))
        return fault_set(fault, FAULT_INVALID_PARAMS, NULL,
                         "--out-channels cannot be combined with --depthwise or --pool: the output "
                         "has the channels of the input");
    if (!w->weights && r->weights)
        return fault_set(fault, FAULT_INVALID_PARAMS, NULL,
                         "--weights cannot be combined with --pool: a pooling has no weights");
    if (read_pair(r, "window", w->kernel) || read_pair(r, "stride", w->stride) ||
        read_pair(r, "dilate", w->dilation) || read_window_pad(r, w) ||
        options_uint(r->options, "out-channels", 1, UINT32_MAX, &channels) ||
        options_uint(r->options, "accumulator", 1, 16, &partial)) {
        *fault = (struct fault){0}; /* printed already */
        return -1;
    }
    w->channels = (uint32_t)channels;
    w->partial = (uint32_t)partial;
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

int tile_request_layer(struct tile_request *r, enum tile_kind kind, struct fault *fault)
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
                                  tile_request_given(r, "with") ? 2 : 1, fault) ||
                   check_operand(r, r->second, "with", 1, fault)
               ? -1
               : 0;
}

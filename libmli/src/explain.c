/* SPDX-License-Identifier: BSD-3-Clause */
/* Explains a move, for mli_explain.h, from the numbers that the move itself uses. */
#include "mli_explain.h"

#include "libmli/src/dma/dma.h"
#include "libmli/src/error.h"
#include "libmli/src/exec/exec.h"
#include "libmli/src/transfer.h"

static mli_byte_range range_of(const struct extent *extent)
{
    return (mli_byte_range){extent->begin, extent->end};
}

static void explain_axis(mli_explained_axis *to, const struct axis *axis, const mli_tensor *src,
                         const mli_mov_cfg_t *cfg, uint32_t d)
{
    const uint64_t padded = (uint64_t)cfg->padding_pre[d] + src->shape[d] + cfg->padding_post[d];

    *to = (mli_explained_axis){
        .extent = src->shape[d],
        .pad_pre = cfg->padding_pre[d],
        .pad_post = cfg->padding_post[d],
        .padded = padded,
        .offset = cfg->offset[d],
        .size = cfg->size[d] ? cfg->size[d] : padded - cfg->offset[d],
        .step = axis->step,
        .count = axis->count,
        .lo = axis->lo,
        .hi = axis->hi,
        .first = axis->lo < axis->hi ? axis->first : 0,
        .dst_dim = axis->dst_dim,
        .dst_offset = axis->dst_offset,
        .src_stride = axis->src_stride,
        .dst_stride = axis->dst_stride,
    };
}

static mli_status explain(const mli_tensor *src, const mli_mov_cfg_t *cfg, const mli_tensor *dst,
                          mli_explanation *out, bool unplaced)
{
    struct transfer transfer;
    const struct geometry *g = &transfer.geometry;
    mli_status status;

    if (!out)
        return refuse(MLI_STATUS_ARGUMENT_ERROR, "out", ": null given; an explanation is required");
    error_question(true);
    status = transfer_check(&transfer, src, cfg, dst, unplaced);
    error_question(false);
    if (status != MLI_STATUS_OK)
        return status;
    *out = (mli_explanation){
        .rank = g->rank,
        .elem = g->elem,
        .samples = g->samples,
        .samples_read = 1,
        .read = range_of(&g->read),
        .written = range_of(&g->written),
    };
    for (uint32_t d = 0; d < g->rank; d++) {
        explain_axis(&out->axis[d], &g->axis[d], src, cfg, d);
        out->dst_shape[d] = g->dst_shape[d];
        out->samples_read *= g->axis[d].hi - g->axis[d].lo;
    }
    transfer_plan(&transfer, src, dst, &out->plan);
    return MLI_STATUS_OK;
}

mli_status mli_mov_explain(const mli_tensor *src, const mli_mov_cfg_t *cfg, const mli_tensor *dst,
                           mli_explanation *out)
{
    return explain(src, cfg, dst, out, false);
}

mli_status mli_mov_explain_unplaced(const mli_tensor *src, const mli_mov_cfg_t *cfg,
                                    const mli_tensor *dst, mli_explanation *out)
{
    return explain(src, cfg, dst, out, true);
}

/* A text that does not fit would be cut off; all texts fit. */
struct text {
    char *at, *end; /* one byte is kept for the terminator */
};

static void put(struct text *text, const char *words)
{
    while (*words && text->at < text->end)
        *text->at++ = *words++;
    *text->at = '\0';
}

static void put_number(struct text *text, size_t number)
{
    char digits[24];
    size_t at = sizeof(digits) - 1;

    digits[at] = '\0';
    do {
        digits[--at] = (char)('0' + number % 10);
        number /= 10;
    } while (number);
    put(text, digits + at);
}

static void put_kernel(struct text *text, const struct exec_way *way, bool once)
{
    static const char *const names[] = {
        [EXEC_ROWS] = "rows of ", [EXEC_GATHER] = "gather of ", [EXEC_TRANSPOSE] = "transpose of "};
    const bool elements = way->kernel == EXEC_GATHER || way->kernel == EXEC_TRANSPOSE;

    put(text, once && way->kernel == EXEC_ROWS ? "a row of " : names[way->kernel]);
    put_number(text, way->bytes);
    put(text, elements ? "-byte elements" : way->bytes == 1 ? " byte" : " bytes");
}

static void put_way(struct text *text, const struct exec_way *way, bool once)
{
    if (way->with_copy) {
        put(text, "zeros, with the copy");
        return;
    }
    if (way->kernel == EXEC_ZEROS)
        put(text, "zeros");
    else
        put_kernel(text, way, once);
    if (way->in_panels)
        put(text, " in panels");
    if (way->bordered)
        put(text, " with zeros beside");
    put(text, ", ");
    put(text, way->level);
    if (way->streamed)
        put(text, ", streamed");
}

const char *mli_plan_kernel(const struct mli_plan *plan, size_t descriptor,
                            char text[MLI_KERNEL_TEXT_MAX])
{
    struct text to = {text, text + MLI_KERNEL_TEXT_MAX - 1};
    struct exec_way way;

    put(&to, "");
    if (descriptor <= plan->slabs && exec_way(plan, plan->bytes, (uint32_t)descriptor, &way))
        put_way(&to, &way, plan->box.loops == 0);
    return text;
}

size_t mli_plan_split(const struct mli_plan *plan, uint32_t channels, size_t tiny,
                      struct mli_plan *parts)
{
    struct mli_plan *out[MLI_MOV_MAX_CHANNELS];

    if (channels < 1 || channels > MLI_MOV_MAX_CHANNELS || plan->bytes == 0)
        return 0;
    for (uint32_t i = 0; i < channels; i++)
        out[i] = &parts[i];
    return split_among(plan, channels, tiny, out);
}

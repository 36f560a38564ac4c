/* SPDX-License-Identifier: BSD-3-Clause */
#include "target/tile/tile_transfer.h"

#include <string.h>

/* A range of each axis. */
struct box {
    uint64_t begin[TILE_AXES], size[TILE_AXES];
};

static struct box box_of(const struct tile_plan *plan, uint64_t step)
{
    uint64_t index[TILE_AXES] = {0};
    struct box box = {0};

    tile_plan_step(plan, step, index);
    for (uint32_t a = 0; a < plan->layer->axes; a++)
        tile_cut_range(&plan->cut[a], index[a], &box.begin[a], &box.size[a]);
    return box;
}

/* Returns the axis of dimension `d` of an operand of a window, or TILE_AXES if `d` is a dimension
 * of the kernel. */
static uint32_t window_axis(const struct tile_layer *layer, uint32_t operand, uint32_t d)
{
    static const uint8_t input[] = {TILE_ROWS, TILE_COLUMNS, TILE_REDUCED};
    static const uint8_t weights[] = {TILE_AXES, TILE_AXES, TILE_REDUCED, TILE_CHANNELS};

    switch (layer->operand[operand].role) {
    case TILE_INPUT:
        return d == 2 && layer->window.depthwise ? TILE_CHANNELS : input[d];
    case TILE_WEIGHTS:
        return d == 2 && layer->window.depthwise ? TILE_AXES : weights[d];
    default:
        return d; /* rows, columns, channels */
    }
}

static uint32_t window_shape(const struct tile_layer *layer, uint32_t operand,
                             uint32_t shape[MLI_MAX_RANK])
{
    const struct tile_operand *op = &layer->operand[operand];
    const uint32_t rank = op->role == TILE_WEIGHTS ? 4 : 3;

    for (uint32_t d = 0; d < rank; d++) {
        const uint32_t axis = window_axis(layer, operand, d);

        if (axis == TILE_AXES)
            shape[d] = d < 2 ? layer->window.kernel[d] : 1;
        else
            shape[d] = (uint32_t)op->span[axis].extent;
    }
    return rank;
}

uint32_t tile_operand_shape(const struct tile_layer *layer, uint32_t operand,
                            uint32_t shape[MLI_MAX_RANK])
{
    const bool output = layer->operand[operand].role == TILE_OUTPUT;

    if (layer->kind == TILE_WINDOW)
        return window_shape(layer, operand, shape);
    for (uint32_t d = 0; d < layer->axes; d++) {
        if (layer->kind == TILE_ELEMENTWISE)
            shape[d] = (uint32_t)layer->extent[d];
        else
            shape[d] = output ? layer->move.dst_shape[d] : layer->move.axis[d].extent;
    }
    return layer->axes;
}

/* Sets the move that fills the buffer of an input or of weights. It takes the kernel's dimensions
 * as a whole, and of the other dimensions the region that the tile needs, in padded coordinates. */
static void load_window(struct tile_transfer *t, const struct tile_layer *layer, uint32_t operand,
                        const struct box *box)
{
    const struct tile_operand *op = &layer->operand[operand];

    t->rank = window_shape(layer, operand, t->src_shape);
    for (uint32_t d = 0; d < t->rank; d++) {
        const uint32_t axis = window_axis(layer, operand, d);

        t->cfg.size[d] = t->src_shape[d];
        if (axis == TILE_AXES)
            continue;
        t->cfg.offset[d] = (uint32_t)(box->begin[axis] * op->span[axis].step);
        t->cfg.size[d] = (uint32_t)tile_span_extent(&op->span[axis], box->size[axis]);
    }
    for (uint32_t d = 0; d < 2 && op->role == TILE_INPUT; d++) {
        t->cfg.padding_pre[d] = (uint8_t)layer->window.pad_pre[d];
        t->cfg.padding_post[d] = (uint8_t)layer->window.pad_post[d];
    }
    memcpy(t->dst_shape, t->cfg.size, sizeof t->dst_shape);
}

static void load_move(struct tile_transfer *t, const struct tile_layer *layer,
                      const struct box *box)
{
    t->rank = layer->axes;
    for (uint32_t d = 0; d < t->rank; d++) {
        const mli_explained_axis *axis = &layer->move.axis[d];
        const uint32_t a = axis->dst_dim;

        t->src_shape[d] = axis->extent;
        t->src_strides[d] = (int32_t)axis->src_stride;
        t->cfg.padding_pre[d] = (uint8_t)axis->pad_pre;
        t->cfg.padding_post[d] = (uint8_t)axis->pad_post;
        t->cfg.offset[d] = (uint32_t)(axis->offset + box->begin[a] * axis->step);
        t->cfg.size[d] = (uint32_t)((box->size[a] - 1) * axis->step + 1);
        t->cfg.sub_sample_step[d] = (uint32_t)axis->step;
        t->cfg.perm_dim[a] = (uint8_t)d;
        t->dst_shape[a] = (uint32_t)box->size[a];
    }
}

static void load_box(struct tile_transfer *t, const struct tile_layer *layer, uint32_t operand,
                     const struct box *box)
{
    t->rank = tile_operand_shape(layer, operand, t->src_shape);
    for (uint32_t d = 0; d < t->rank; d++) {
        t->cfg.offset[d] = (uint32_t)box->begin[d];
        t->cfg.size[d] = t->dst_shape[d] = (uint32_t)box->size[d];
    }
}

static void load(struct tile_transfer *t, const struct tile_layer *layer, uint32_t operand,
                 const struct box *box)
{
    if (layer->kind == TILE_WINDOW)
        load_window(t, layer, operand, box);
    else if (layer->kind == TILE_MOVE)
        load_move(t, layer, box);
    else
        load_box(t, layer, operand, box);
}

/* Sets the move from a packed tile to its region of the output. */
static void store(struct tile_transfer *t, const struct tile_layer *layer, const struct box *box)
{
    t->rank = tile_operand_shape(layer, layer->operands - 1, t->dst_shape);
    for (uint32_t d = 0; d < t->rank; d++) {
        t->src_shape[d] = (uint32_t)box->size[d];
        t->cfg.dst_offset[d] = (uint32_t)box->begin[d];
    }
    for (uint32_t d = 0; d < t->rank && layer->kind == TILE_MOVE; d++) {
        const mli_explained_axis *axis = &layer->move.axis[d];

        t->cfg.dst_offset[axis->dst_dim] += axis->dst_offset;
    }
}

void tile_transfer_init(struct tile_transfer *transfer, const struct tile_plan *plan,
                        const struct tile_job *job)
{
    const struct box box = box_of(plan, job->step);

    *transfer = (struct tile_transfer){0};
    mli_mov_cfg_for_copy(&transfer->cfg);
    if (job->kind == TILE_JOB_STORE) {
        store(transfer, plan->layer, &box);
        return;
    }
    load(transfer, plan->layer, job->operand, &box);
    if (job->kind == TILE_JOB_FILE) {
        /* The source is the packed tile in the buffer. */
        memcpy(transfer->src_shape, transfer->dst_shape, sizeof transfer->src_shape);
        memset(transfer->src_strides, 0, sizeof transfer->src_strides);
        mli_mov_cfg_for_copy(&transfer->cfg);
    }
}

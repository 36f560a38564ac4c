/* SPDX-License-Identifier: BSD-3-Clause */
/* Parameters per axis of a job on a board. */
#include <stdlib.h>

#include "boards/link/board_job.h"

enum {
    PARAMS_BYTES = 5, /* of an index: scale, zero point, fractional bits */
    BITS_PER_BYTE = 8
};

static bool is_per_axis(const struct resolved *r)
{
    const struct quant *given = &r->wire.src.desc.quant;

    return given->count > 0 && given->axis >= 0;
}

/* Takes the parameters that the job gives for indices that the move does not write. */
static int preset(struct quant *own, const struct quant *given, struct fault *fault)
{
    if (given->count == 0)
        return 0;
    if (own->axis < 0)
        return fault_set(fault, FAULT_INVALID_PARAMS, "/dst",
                         "dst: parameters given, but the result takes those of the source, which "
                         "are not per axis: omit the parameters of dst");
    for (uint32_t i = 0; i < own->count; i++) {
        const uint32_t from = given->axis < 0 ? 0 : i;

        if (from >= given->count)
            break;
        own->scale[i] = given->scale[from];
        own->zero_point[i] = given->zero_point[from];
        own->scale_frac_bits[i] = given->scale_frac_bits[from];
    }
    return 0;
}

int board_params_init(struct board_job *job, struct fault *fault)
{
    const struct resolved *r = job->r;

    job->own.axis = -1;
    if (is_per_axis(r)) {
        for (uint32_t i = 0; i < r->result.rank; i++) {
            if (r->wire.common.cfg.perm_dim[i] == r->wire.src.desc.quant.axis)
                job->own.axis = (int32_t)i;
        }
        job->src_count = r->wire.src.desc.quant.count;
        if (quant_alloc(&job->own, r->result.shape[job->own.axis]))
            return fault_no_memory(fault);
    }
    return preset(&job->own, &r->wire.dst.desc.quant, fault);
}

/* Writes parameters as the board has them: three arrays, little-endian. */
static void put_params(uint8_t *out, const struct quant *quant)
{
    for (uint32_t i = 0; i < quant->count; i++) {
        uint8_t *scale = out + 2 * (size_t)i, *zero = scale + 2 * (size_t)quant->count;

        scale[0] = (uint8_t)quant->scale[i];
        scale[1] = (uint8_t)((uint16_t)quant->scale[i] >> BITS_PER_BYTE);
        zero[0] = (uint8_t)quant->zero_point[i];
        zero[1] = (uint8_t)((uint16_t)quant->zero_point[i] >> BITS_PER_BYTE);
        out[4 * (size_t)quant->count + i] = (uint8_t)quant->scale_frac_bits[i];
    }
}

static void get_params(struct quant *quant, const uint8_t *in)
{
    for (uint32_t i = 0; i < quant->count; i++) {
        const uint8_t *scale = in + 2 * (size_t)i, *zero = scale + 2 * (size_t)quant->count;

        quant->scale[i] = (int16_t)(scale[0] | scale[1] << BITS_PER_BYTE);
        quant->zero_point[i] = (int16_t)(zero[0] | zero[1] << BITS_PER_BYTE);
        quant->scale_frac_bits[i] = (int8_t)in[4 * (size_t)quant->count + i];
    }
}

uint32_t board_params_dst_at(const struct board_job *job)
{
    return (job->src_count * PARAMS_BYTES + 1) & ~UINT32_C(1);
}

int board_params_send(struct board_job *job, struct fault *fault)
{
    const uint32_t at = board_params_dst_at(job);
    const size_t size = at + (size_t)job->own.count * PARAMS_BYTES;
    struct board *board = &job->link->board;

    if (job->own.axis < 0)
        return 0;
    uint8_t *bytes = calloc(1, size);
    if (!bytes)
        return fault_no_memory(fault);
    put_params(bytes, &job->r->wire.src.desc.quant);
    put_params(bytes + at, &job->own);
    int status = board_cache_alloc(&job->link->cache, board, size, &job->params, fault);
    if (status == 0)
        status = board_write(board, job->params, 0, bytes, size, fault);
    free(bytes);
    return status;
}

int board_params_fetch(struct board_job *job, struct fault *fault)
{
    const size_t size = (size_t)job->own.count * PARAMS_BYTES;

    if (job->own.axis < 0)
        return 0;
    uint8_t *bytes = malloc(size);
    if (!bytes)
        return fault_no_memory(fault);
    const int status =
        board_read(&job->link->board, job->params, board_params_dst_at(job), bytes, size, fault);
    if (status == 0)
        get_params(&job->own, bytes);
    free(bytes);
    return status;
}

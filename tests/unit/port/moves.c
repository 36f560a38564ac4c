/* SPDX-License-Identifier: BSD-3-Clause */
#include "tests/unit/port/moves.h"

#include <stdlib.h>
#include <string.h>

#include "tests/support/unit.h"

enum { UNTOUCHED = 0xA5 };

static uint8_t byte_at(uint32_t i)
{
    const uint8_t value = (uint8_t)(i * 167 + (i >> 8) * 31 + 1);

    return value == 0 || value == UNTOUCHED ? 1 : value;
}

static void allocate(struct move *m, uint32_t in_bytes, uint32_t out_bytes)
{
    m->in = malloc(in_bytes);
    m->out = malloc(out_bytes);
    assert_non_null(m->in);
    assert_non_null(m->out);
    m->in_bytes = in_bytes;
    m->out_bytes = out_bytes;
    for (uint32_t i = 0; i < in_bytes; i++)
        m->in[i] = byte_at(i);
    memset(m->out, UNTOUCHED, out_bytes);
    m->src.data.mem.pi8 = (int8_t *)m->in;
    m->src.data.capacity = in_bytes;
    m->dst.data.mem.pi8 = (int8_t *)m->out;
    m->dst.data.capacity = out_bytes;
}

static void set_source(struct move *m, uint32_t rank, const uint32_t *shape)
{
    memset(m, 0, sizeof(*m));
    m->src.rank = rank;
    m->src.el_type = MLI_EL_FX_8;
    memcpy(m->src.shape, shape, rank * sizeof(shape[0]));
}

void move_init(struct move *m, uint32_t d0, uint32_t d1, uint32_t d2, uint32_t d3)
{
    const uint32_t shape[] = {d0, d1, d2, d3}, bytes = d0 * d1 * d2 * d3;
    const uint8_t reversed[] = {3, 2, 1, 0};

    set_source(m, 4, shape);
    assert_ok(mli_mov_cfg_for_permute(&m->cfg, reversed));
    allocate(m, bytes, bytes);
}

void move_init_rows(struct move *m, uint32_t rows, uint32_t width)
{
    const int offsets[MLI_MAX_RANK] = {0}, sizes[MLI_MAX_RANK] = {(int)rows, (int)width};
    const int strides[MLI_MAX_RANK] = {0};

    set_source(m, 2, (const uint32_t[]){rows, 2 * width});
    assert_ok(mli_mov_cfg_for_slice(&m->cfg, offsets, sizes, strides));
    allocate(m, 2 * rows * width, rows * width);
}

void move_init_padded(struct move *m, uint32_t rows, uint32_t width)
{
    const int strides[MLI_MAX_RANK] = {0};

    set_source(m, 3, (const uint32_t[]){1, rows, width});
    assert_ok(mli_mov_cfg_for_padding2d_chw(&m->cfg, 1, 1, 1, 1, strides));
    allocate(m, rows * width, (rows + 2) * (width + 2));
}

void move_finish(struct move *m)
{
    free(m->in);
    free(m->out);
}

/* Compares the elements in the order of the destination; padding must be zero. */
bool move_is_right(const struct move *m)
{
    const mli_tensor *src = &m->src;
    uint32_t extent[4] = {1, 1, 1, 1}, at[4], source_dim[4] = {0, 1, 2, 3}, done = 0;
    uint32_t stride[4] = {0};

    for (uint32_t d = src->rank, step = 1; d-- > 0; step *= src->shape[d])
        stride[d] = step;
    for (uint32_t i = 0; i < src->rank; i++) {
        const uint32_t d = m->cfg.perm_dim[i];

        source_dim[i] = d;
        extent[i] = m->cfg.size[d] ? m->cfg.size[d]
                                   : src->shape[d] + m->cfg.padding_pre[d] + m->cfg.padding_post[d];
    }
    for (; done < m->out_bytes; done++) {
        uint32_t rest = done, from = 0;
        bool padding = false;

        for (uint32_t i = 4; i-- > 0; rest /= extent[i])
            at[i] = rest % extent[i];
        for (uint32_t i = 0; i < src->rank; i++) {
            const uint32_t d = source_dim[i], inside = at[i] - m->cfg.padding_pre[d];

            padding = padding || inside >= src->shape[d];
            from += inside * stride[d];
        }
        if (m->out[done] != (padding ? 0 : m->in[from]))
            return false;
    }
    return true;
}

uint32_t move_written(const struct move *m)
{
    uint32_t written = 0;

    for (uint32_t i = 0; i < m->out_bytes; i++)
        written += m->out[i] != UNTOUCHED;
    return written;
}

void move_prepare(struct move *m, int channels, mli_mov_handle_t *h)
{
    assert_ok(mli_mov_acquire_handle(channels, h));
    assert_ok(mli_mov_prepare(h, &m->src, &m->cfg, &m->dst));
}

void moves_engine(const char *spec, int channels)
{
    assert_ok(mli_mov_set_engine(spec));
    assert_ok(mli_mov_set_num_dma_ch(0, channels));
}

void moves_engine_away(void)
{
    assert_ok(mli_mov_set_num_dma_ch(0, 0));
}

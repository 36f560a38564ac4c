/* SPDX-License-Identifier: BSD-3-Clause */
#include "tests/support/describe_move.h"

#define DEFINE_LIST(function, element, format, as)                                                 \
    static void function(FILE *to, const char *name, const element *v, uint32_t n)                 \
    {                                                                                              \
        fprintf(to, " %s (", name);                                                                \
        for (uint32_t i = 0; i < n; i++)                                                           \
            fprintf(to, "%s" format, i ? ", " : "", (as)v[i]);                                     \
        fprintf(to, ")");                                                                          \
    }

DEFINE_LIST(list_u32, uint32_t, "%u", unsigned)
DEFINE_LIST(list_i32, int32_t, "%d", int)
DEFINE_LIST(list_u8, uint8_t, "%u", unsigned)

void describe_u8(FILE *to, const char *name, const uint8_t *v, uint32_t n)
{
    list_u8(to, name, v, n);
}

/* An invalid rank must not make the report read beyond the arrays. */
static uint32_t printable_rank(uint32_t rank)
{
    return rank > MLI_MAX_RANK ? MLI_MAX_RANK : rank;
}

const char *describe_el_type(mli_element_type type)
{
    switch (type) {
    case MLI_EL_FX_4:
        return "fx4";
    case MLI_EL_FX_8:
        return "fx8";
    case MLI_EL_FX_16:
        return "fx16";
    case MLI_EL_SA_8:
        return "sa8";
    case MLI_EL_SA_32:
        return "sa32";
    case MLI_EL_FP_16:
        return "fp16";
    case MLI_EL_FP_32:
        return "fp32";
    default:
        return "?";
    }
}

static void describe_sa(FILE *to, const mli_tensor *t)
{
    const mli_data_container *zp = &t->el_params.sa.zero_point;
    const mli_data_container *scale = &t->el_params.sa.scale;
    const mli_data_container *frac = &t->el_params.sa.scale_frac_bits;

    fprintf(to, "      sa.dim %d zero_point {%u B, %p} scale {%u B, %p} frac {%u B, %p}\n",
            (int)t->el_params.sa.dim, (unsigned)zp->capacity, (void *)zp->mem.pi16,
            (unsigned)scale->capacity, (void *)scale->mem.pi16, (unsigned)frac->capacity,
            (void *)frac->mem.pi8);
}

void describe_tensor(FILE *to, const char *name, const mli_tensor *t)
{
    uint32_t n = printable_rank(t->rank);

    fprintf(to, "  %s: %s (0x%x) rank %u", name, describe_el_type(t->el_type), (unsigned)t->el_type,
            (unsigned)t->rank);
    list_u32(to, "shape", t->shape, n);
    list_i32(to, "mem_stride", t->mem_stride, n);
    fprintf(to, " data {%u B, %p}\n", (unsigned)t->data.capacity, (void *)t->data.mem.pi8);
    describe_sa(to, t);
}

void describe_cfg(FILE *to, const mli_mov_cfg_t *cfg, uint32_t rank)
{
    uint32_t n = printable_rank(rank);

    fprintf(to, "  cfg:");
    describe_u8(to, "padding_pre", cfg->padding_pre, n);
    describe_u8(to, "padding_post", cfg->padding_post, n);
    list_u32(to, "offset", cfg->offset, n);
    list_u32(to, "size", cfg->size, n);
    list_u32(to, "step", cfg->sub_sample_step, n);
    describe_u8(to, "perm_dim", cfg->perm_dim, n);
    list_u32(to, "dst_offset", cfg->dst_offset, n);
    list_i32(to, "dst_mem_stride", cfg->dst_mem_stride, n);
    fprintf(to, "\n");
}

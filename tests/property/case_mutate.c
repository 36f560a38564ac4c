/* SPDX-License-Identifier: BSD-3-Clause */
/* Makes illegal cases: a legal case with one field changed. */
#include "tests/property/random_case.h"

typedef void mutation_fn(struct test_case *c);

/* The kinds of cases that a mutation applies to. */
enum target { FOR_BOTH, FOR_MOVE, FOR_PERMUTE, FOR_AXIS };

/* Returns a random dimension of the source. */
static uint32_t any_dim(struct test_case *c)
{
    return draw_below(&c->draw, c->src.rank);
}

/* Returns a number from `bound` on, often far too large. */
static uint32_t beyond(struct test_case *c, uint32_t bound)
{
    switch (draw_below(&c->draw, 4)) {
    case 0:
        return bound;
    case 1:
        return bound + draw_between(&c->draw, 1, 300);
    case 2:
        return 0x80000000u;
    default:
        return UINT32_MAX - draw_below(&c->draw, 3);
    }
}

static void null_src(struct test_case *c)
{
    c->null_src = true;
}

static void null_dst(struct test_case *c)
{
    c->null_dst = true;
}

static void null_cfg(struct test_case *c)
{
    c->null_cfg = true;
}

static void src_data_null(struct test_case *c)
{
    c->src.data.mem.pi8 = NULL;
}

static void dst_data_null(struct test_case *c)
{
    c->dst.data.mem.pi8 = NULL;
}

static void src_rank(struct test_case *c)
{
    c->src.rank = draw_percent(&c->draw, 50) ? 0 : beyond(c, MLI_MAX_RANK + 1);
}

static void src_shape_zero(struct test_case *c)
{
    c->src.shape[any_dim(c)] = 0;
}

static void src_stride_negative(struct test_case *c)
{
    c->src.mem_stride[any_dim(c)] = draw_percent(&c->draw, 50) ? -1 : INT32_MIN;
}

static void src_type_unknown(struct test_case *c)
{
    static const uint32_t none[] = {0, 0x20, 0x110, 0x208, 0x8000, 0x02000000};

    c->src.el_type = (mli_element_type)none[draw_below(&c->draw, 6)];
}

static void src_type_fx4(struct test_case *c)
{
    c->src.el_type = MLI_EL_FX_4;
}

static void src_capacity_short(struct test_case *c)
{
    uint32_t need = (uint32_t)c->expected.src_bytes;

    if (need > 0)
        c->src.data.capacity = draw_percent(&c->draw, 60) ? need - 1 : draw_below(&c->draw, need);
}

static void dst_capacity_short(struct test_case *c)
{
    uint32_t need = (uint32_t)c->expected.dst_bytes;

    c->dst.data.capacity = draw_percent(&c->draw, 60) ? need - 1 : draw_below(&c->draw, need);
}

static void src_stride_huge(struct test_case *c)
{
    c->src.mem_stride[any_dim(c)] = draw_percent(&c->draw, 50) ? INT32_MAX : 0x40000000;
}

static void cfg_offset_beyond(struct test_case *c)
{
    uint32_t d = any_dim(c);

    c->cfg.offset[d] = beyond(c, c->src.shape[d] + c->cfg.padding_pre[d] + c->cfg.padding_post[d]);
}

static void cfg_size_beyond(struct test_case *c)
{
    uint32_t d = any_dim(c);
    uint32_t padded = c->src.shape[d] + c->cfg.padding_pre[d] + c->cfg.padding_post[d];

    c->cfg.size[d] = beyond(c, padded - c->cfg.offset[d] + 1);
}

static void cfg_step_zero(struct test_case *c)
{
    c->cfg.sub_sample_step[any_dim(c)] = 0;
}

static void perm_dim(struct test_case *c)
{
    uint8_t *perm = c->via == VIA_PERMUTE ? c->permute_cfg.perm_dim : c->cfg.perm_dim;
    uint32_t i = any_dim(c);

    if (draw_percent(&c->draw, 50))
        perm[i] = perm[(i + 1) % c->src.rank]; /* the permutation has one dimension twice; if the
                                                  rank is 1, nothing changes */
    else
        perm[i] = (uint8_t)(draw_percent(&c->draw, 50) ? c->src.rank : 255);
}

static void cfg_stride_negative(struct test_case *c)
{
    c->cfg.dst_mem_stride[any_dim(c)] = draw_percent(&c->draw, 50) ? -1 : INT32_MIN;
}

static void cfg_stride_huge(struct test_case *c)
{
    c->cfg.dst_mem_stride[any_dim(c)] = draw_percent(&c->draw, 50) ? INT32_MAX : 0x40000000;
}

static void dst_stride_negative(struct test_case *c)
{
    uint32_t i = any_dim(c);

    /* the move is refused even if a stride of cfg overrides the negative one */
    if (draw_percent(&c->draw, 50))
        c->cfg.dst_mem_stride[i] = 0;
    c->dst.mem_stride[i] = draw_percent(&c->draw, 50) ? -1 : INT32_MIN;
}

/* Tensors are checked before the cfg is. */
static void dst_stride_and_cfg(struct test_case *c)
{
    dst_stride_negative(c);
    if (draw_percent(&c->draw, 50))
        cfg_offset_beyond(c);
    else
        cfg_stride_negative(c);
}

/* Gives an inner stride so large that the outer stride computed from it exceeds 31 bits. */
static void dst_stride_computed_huge(struct test_case *c)
{
    uint32_t i = any_dim(c);

    for (uint32_t k = 0; k < i; k++)
        c->cfg.dst_mem_stride[k] = c->dst.mem_stride[k] = 0;
    c->cfg.dst_mem_stride[i] = INT32_MAX / 2 + 1;
}

static void dst_offset_huge(struct test_case *c)
{
    c->cfg.dst_offset[any_dim(c)] = beyond(c, 0x10000000);
}

static void overlapping_data(struct test_case *c)
{
    c->dst.data.mem.pi8 = c->src.data.mem.pi8 + draw_below(&c->draw, c->src.data.capacity + 1);
}

/* Gives two dimensions the same stride: elements (0, 1) and (1, 0) are then at the same place. */
static void overlapping_elements(struct test_case *c)
{
    uint32_t i = any_dim(c), k = any_dim(c);

    c->cfg.dst_mem_stride[i] = (int32_t)c->expected.stride[k];
}

static void axis_beyond_rank(struct test_case *c)
{
    c->src.el_params.sa.dim = (int32_t)(c->src.rank + draw_below(&c->draw, 3));
}

/* Returns one of the three containers of a tensor's per-axis parameters. */
static mli_data_container *any_array(struct test_case *c, mli_tensor *t)
{
    switch (draw_below(&c->draw, 3)) {
    case 0:
        return &t->el_params.sa.zero_point;
    case 1:
        return &t->el_params.sa.scale;
    default:
        return &t->el_params.sa.scale_frac_bits;
    }
}

static void src_array_null(struct test_case *c)
{
    any_array(c, &c->src)->mem.pi8 = NULL;
}

static void src_array_short(struct test_case *c)
{
    mli_data_container *a = any_array(c, &c->src);
    uint32_t size = a == &c->src.el_params.sa.scale_frac_bits ? 1 : 2;

    a->capacity = c->src.shape[c->src.el_params.sa.dim] * size - 1;
}

static void dst_array_null(struct test_case *c)
{
    any_array(c, &c->dst)->mem.pi8 = NULL;
}

static void dst_array_short(struct test_case *c)
{
    any_array(c, &c->dst)->capacity = 0;
}

/*
 * Makes one array pointer of the destination equal to that of the source. Then only some arrays
 * are shared, or arrays overlap.
 */
static void dst_array_of_src(struct test_case *c)
{
    any_array(c, &c->dst)->mem.pi8 = any_array(c, &c->src)->mem.pi8;
}

static void dst_arrays_one(struct test_case *c)
{
    c->dst.el_params.sa.zero_point.mem.pi16 = c->dst.el_params.sa.scale.mem.pi16;
}

/* Places a parameter array of the source or the destination in the data that is written. */
static void array_in_dst(struct test_case *c)
{
    mli_tensor *t = draw_percent(&c->draw, 50) ? &c->src : &c->dst;
    const uint32_t at = draw_below(&c->draw, c->dst.data.capacity) & ~1u;

    any_array(c, t)->mem.pi8 = c->dst.data.mem.pi8 + at;
}

static void share_changed_axis(struct test_case *c)
{
    c->dst.el_params.sa.zero_point.mem.pi16 = NULL;
    c->dst.el_params.sa.scale.mem.pi16 = NULL;
    c->dst.el_params.sa.scale_frac_bits.mem.pi8 = NULL;
}

static void out_shape(struct test_case *c)
{
    uint32_t i = any_dim(c);

    if (c->dst.shape[i] > 1)
        c->dst.shape[i] -= 1;
}

static void out_rank(struct test_case *c)
{
    if (c->dst.rank > 1)
        c->dst.rank -= 1;
}

static void out_nothing(struct test_case *c)
{
    if (draw_percent(&c->draw, 50))
        c->dst.shape[any_dim(c)] = 0;
    else
        c->dst.rank = draw_percent(&c->draw, 50) ? 0 : 5;
}

static void out_type(struct test_case *c)
{
    c->dst.el_type = c->src.el_type == MLI_EL_FX_8 ? MLI_EL_SA_8 : MLI_EL_FX_8;
}

static void out_type_fx4(struct test_case *c)
{
    c->dst.el_type = MLI_EL_FX_4;
}

static void out_type_unknown(struct test_case *c)
{
    c->dst.el_type = (mli_element_type)0x30;
}

static void other_kernel(struct test_case *c)
{
    c->kernel = c->src.el_type == MLI_EL_FX_16 ? MLI_EL_SA_8 : MLI_EL_FX_16;
}

#define MUTATIONS(X)                                                                               \
    X(null_src, FOR_BOTH, BAD_TENSOR)                                                              \
    X(null_dst, FOR_BOTH, BAD_TENSOR)                                                              \
    X(null_cfg, FOR_BOTH, BAD_FUNC_CFG)                                                            \
    X(src_data_null, FOR_BOTH, BAD_TENSOR)                                                         \
    X(dst_data_null, FOR_BOTH, BAD_TENSOR)                                                         \
    X(src_rank, FOR_BOTH, BAD_TENSOR)                                                              \
    X(src_shape_zero, FOR_BOTH, BAD_TENSOR)                                                        \
    X(src_stride_negative, FOR_BOTH, BAD_TENSOR)                                                   \
    X(src_type_unknown, FOR_BOTH, BAD_TENSOR)                                                      \
    X(src_type_fx4, FOR_BOTH, NOT_SUPPORTED)                                                       \
    X(src_capacity_short, FOR_BOTH, NOT_ENGH_MEM)                                                  \
    X(dst_capacity_short, FOR_BOTH, NOT_ENGH_MEM)                                                  \
    X(src_stride_huge, FOR_BOTH, NOT_ENGH_MEM)                                                     \
    X(cfg_offset_beyond, FOR_MOVE, BAD_FUNC_CFG)                                                   \
    X(cfg_size_beyond, FOR_MOVE, BAD_FUNC_CFG)                                                     \
    X(cfg_step_zero, FOR_MOVE, BAD_FUNC_CFG)                                                       \
    X(perm_dim, FOR_BOTH, BAD_FUNC_CFG)                                                            \
    X(cfg_stride_negative, FOR_MOVE, BAD_FUNC_CFG)                                                 \
    X(cfg_stride_huge, FOR_MOVE, NOT_ENGH_MEM)                                                     \
    X(dst_stride_negative, FOR_BOTH, BAD_TENSOR)                                                   \
    X(dst_stride_and_cfg, FOR_MOVE, BAD_TENSOR)                                                    \
    X(dst_stride_computed_huge, FOR_MOVE, NOT_ENGH_MEM)                                            \
    X(dst_offset_huge, FOR_MOVE, NOT_ENGH_MEM)                                                     \
    X(overlapping_data, FOR_BOTH, INCOMPATEBLE_TENSORS)                                            \
    X(overlapping_elements, FOR_MOVE, INCOMPATEBLE_TENSORS)                                        \
    X(axis_beyond_rank, FOR_AXIS, SPEC_PARAM_MISMATCH)                                             \
    X(src_array_null, FOR_AXIS, SPEC_PARAM_MISMATCH)                                               \
    X(src_array_short, FOR_AXIS, SPEC_PARAM_MISMATCH)                                              \
    X(dst_array_null, FOR_AXIS, SPEC_PARAM_MISMATCH)                                               \
    X(dst_array_short, FOR_AXIS, SPEC_PARAM_MISMATCH)                                              \
    X(dst_array_of_src, FOR_AXIS, SPEC_PARAM_MISMATCH)                                             \
    X(dst_arrays_one, FOR_AXIS, SPEC_PARAM_MISMATCH)                                               \
    X(array_in_dst, FOR_AXIS, SPEC_PARAM_MISMATCH)                                                 \
    X(share_changed_axis, FOR_AXIS, SPEC_PARAM_MISMATCH)                                           \
    X(out_shape, FOR_PERMUTE, SHAPE_MISMATCH)                                                      \
    X(out_rank, FOR_PERMUTE, SHAPE_MISMATCH)                                                       \
    X(out_nothing, FOR_PERMUTE, BAD_TENSOR)                                                        \
    X(out_type, FOR_PERMUTE, TYPE_MISMATCH)                                                        \
    X(out_type_fx4, FOR_PERMUTE, NOT_SUPPORTED)                                                    \
    X(out_type_unknown, FOR_PERMUTE, BAD_TENSOR)                                                   \
    X(other_kernel, FOR_PERMUTE, TYPE_MISMATCH)

static const struct mutation {
    const char *name;
    mutation_fn *apply;
    enum target target;
    mli_status status; /* the documented status, which the oracle must return */
} mutations[] = {
#define MUTATION(name, target, status) {#name, name, target, MLI_STATUS_##status},
    MUTATIONS(MUTATION)
#undef MUTATION
};

static bool applies(const struct test_case *c, const struct mutation *m)
{
    switch (m->target) {
    case FOR_MOVE:
        return c->via != VIA_PERMUTE;
    case FOR_PERMUTE:
        return c->via == VIA_PERMUTE;
    case FOR_AXIS:
        return case_is_per_axis(c);
    default:
        return true;
    }
}

#define MUTATION_COUNT ((uint32_t)(sizeof(mutations) / sizeof(mutations[0])))

static uint32_t times_used[sizeof(mutations) / sizeof(mutations[0])];

uint32_t case_mutations_unused(FILE *to)
{
    uint32_t unused = 0;

    for (uint32_t i = 0; i < MUTATION_COUNT; i++) {
        if (times_used[i] == 0)
            fprintf(to, "mutation %s was never reached\n", mutations[i].name);
        unused += times_used[i] == 0;
    }
    return unused;
}

void case_mutate(struct test_case *c)
{

    if (c->expected.status != MLI_STATUS_OK)
        return;
    for (int tries = 0; tries < 20; tries++) {
        uint32_t which = draw_below(&c->draw, MUTATION_COUNT);
        const struct mutation *m = &mutations[which];
        struct test_case legal = *c;

        if (!applies(c, m))
            continue;
        m->apply(c);
        case_judge(c);
        if (c->expected.status == m->status) {
            c->mutation = m->name;
            times_used[which]++;
            return;
        }
        /*
         * The changed case is still legal, or has another fault than intended (for example a huge
         * stride of a dimension with a single sample).
         */
        legal.draw = c->draw;
        *c = legal;
    }
}

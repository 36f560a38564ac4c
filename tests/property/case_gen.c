/* SPDX-License-Identifier: BSD-3-Clause */
/* Legal cases: element type, shape, source strides, and where the memory lies. */
#include "tests/property/random_case.h"

#define DATA_BYTES  ((size_t)1 << 20)
#define PARAM_BYTES ((size_t)1 << 16)

int lab_init(struct lab *lab)
{
    int bad = watched_init(&lab->src, DATA_BYTES) | watched_init(&lab->dst, DATA_BYTES);

    for (int k = 0; k < 3; k++) {
        bad |= watched_init(&lab->src_q[k], PARAM_BYTES);
        bad |= watched_init(&lab->dst_q[k], PARAM_BYTES);
    }
    return bad;
}

void lab_finish(struct lab *lab)
{
    watched_finish(&lab->src);
    watched_finish(&lab->dst);
    for (int k = 0; k < 3; k++) {
        watched_finish(&lab->src_q[k]);
        watched_finish(&lab->dst_q[k]);
    }
}

/* Long enough for every blocking and every remainder of a blocked loop. */
static void large_shape(struct rng *r, mli_tensor *t)
{
    switch (rng_below(r, 7)) {
    case 0: /* a matrix */
        t->rank = 2;
        t->shape[0] = rng_between(r, 40, 150);
        t->shape[1] = rng_between(r, 40, 200);
        break;
    case 1: /* planes */
        t->rank = 3;
        t->shape[0] = rng_between(r, 2, 9);
        t->shape[1] = rng_between(r, 20, 70);
        t->shape[2] = rng_between(r, 20, 70);
        break;
    case 2: /* pixels of few channels */
        t->rank = 3;
        t->shape[0] = rng_between(r, 20, 70);
        t->shape[1] = rng_between(r, 20, 70);
        t->shape[2] = rng_between(r, 1, 8);
        break;
    case 3: /* a matrix of several blocks that are streamed */
        t->rank = 2;
        t->shape[0] = rng_between(r, 20, 600);
        t->shape[1] = rng_between(r, 20, 600);
        break;
    case 4: /* pixels of many channels */
        t->rank = 3;
        t->shape[0] = rng_between(r, 10, 50);
        t->shape[1] = rng_between(r, 10, 50);
        t->shape[2] = rng_between(r, 16, 70);
        break;
    case 5: /* rows and columns that are short unless those of two dimensions are taken together */
        t->rank = 4;
        t->shape[0] = rng_between(r, 2, 12);
        t->shape[1] = rng_between(r, 2, 16);
        t->shape[2] = rng_between(r, 10, 90);
        t->shape[3] = rng_between(r, 3, 24);
        break;
    default: /* long rows */
        t->rank = 4;
        for (uint32_t d = 0; d < 3; d++)
            t->shape[d] = rng_between(r, 1, 4);
        t->shape[3] = rng_between(r, 300, 2500);
        break;
    }
}

static void small_shape(struct rng *r, mli_tensor *t)
{
    static const uint32_t longest[MLI_MAX_RANK] = {80, 24, 10, 7};

    t->rank = rng_between(r, 1, MLI_MAX_RANK);
    for (uint32_t d = 0; d < t->rank; d++)
        t->shape[d] = rng_chance(r, 15) ? 1 : rng_between(r, 1, longest[t->rank - 1]);
    if (rng_chance(r, 15)) /* one dimension long enough for vectors */
        t->shape[rng_below(r, t->rank)] = rng_between(r, 16, t->rank < 3 ? 300 : 80);
}

/* Strides for `extent` in which no two elements meet: nested from the innermost dimension on. */
void case_nested_strides(struct test_case *c, const uint64_t *extent, int32_t *stride, bool natural)
{
    struct rng *r = &c->rng;
    uint32_t rank = c->src.rank, order[MLI_MAX_RANK];
    uint64_t next = rng_chance(r, 20) ? rng_between(r, 2, 5) : 1;
    bool gaps = rng_chance(r, 60);

    for (uint32_t i = 0; i < rank; i++)
        order[i] = rank - 1 - i;
    for (uint32_t i = 0; !natural && i < rank; i++) {
        uint32_t k = rng_below(r, rank), was = order[i];

        order[i] = order[k];
        order[k] = was;
    }
    for (uint32_t i = 0; i < rank; i++) {
        stride[order[i]] = (int32_t)next;
        next *= extent[order[i]];
        next += gaps ? rng_below(r, 6) : 0;
    }
}

/* Dimension 0 innermost, without gaps. */
void case_fortran_strides(const struct test_case *c, const uint64_t *extent, int32_t *stride)
{
    uint64_t next = 1;

    for (uint32_t d = 0; d < c->src.rank; next *= extent[d++])
        stride[d] = (int32_t)next;
}

/* Leaves at least one stride of two or more, and at least one to be computed. */
void case_leave_strides_out(struct test_case *c, int32_t *stride)
{
    const uint32_t rank = c->src.rank;
    const uint32_t kept = rank > 1 ? rng_between(&c->rng, 1, (1u << rank) - 2) : 1;

    for (uint32_t d = 0; d < rank; d++)
        stride[d] = kept >> d & 1 ? stride[d] : 0;
}

static void source_strides(struct test_case *c)
{
    struct rng *r = &c->rng;
    mli_tensor *t = &c->src;
    uint64_t extent[MLI_MAX_RANK];
    uint32_t kind = rng_below(r, 100);

    for (uint32_t d = 0; d < t->rank; d++)
        extent[d] = t->shape[d];
    if (kind < 30) { /* packed */
        for (uint32_t d = 0; d < t->rank; d++)
            t->mem_stride[d] = 0;
    } else if (kind < 55) {
        case_nested_strides(c, extent, t->mem_stride, true);
    } else if (kind < 68) {
        case_fortran_strides(c, extent, t->mem_stride);
    } else if (kind < 82) {
        case_nested_strides(c, extent, t->mem_stride, false);
    } else { /* elements shared: legal for a source */
        for (uint32_t d = 0; d < t->rank; d++)
            t->mem_stride[d] = (int32_t)rng_between(r, 1, rng_chance(r, 50) ? 4 : 60);
    }
    if (kind >= 30 && rng_chance(r, 60))
        case_leave_strides_out(c, t->mem_stride);
    for (uint32_t d = 0; d < t->rank; d++) { /* never multiplied by anything but 0 */
        if (t->shape[d] == 1 && rng_chance(r, 25))
            t->mem_stride[d] = (int32_t)rng_between(r, 1, 1000000);
    }
}

void case_gen_tensor(struct test_case *c)
{
    static const mli_element_type types[] = {MLI_EL_SA_8,  MLI_EL_FX_8,  MLI_EL_FX_16,
                                             MLI_EL_SA_32, MLI_EL_FP_16, MLI_EL_FP_32};
    struct rng *r = &c->rng;

    /* What a move must not read holds anything: entries beyond the rank, results of dst. */
    rng_fill(r, &c->src, sizeof(c->src));
    rng_fill(r, &c->dst, sizeof(c->dst));
    c->src.el_type = types[rng_below(r, c->via == VIA_PERMUTE ? 4 : 6)];
    if (rng_chance(r, c->large_percent))
        large_shape(r, &c->src);
    else
        small_shape(r, &c->src);
    source_strides(c);
}

static uint32_t slack(struct rng *r)
{
    return rng_chance(r, 60) ? 0 : rng_between(r, 1, 9);
}

/* Buffers of exactly the bytes needed, or a few more, each beside an inaccessible page. */
static void place_data(struct test_case *c)
{
    struct rng *r = &c->rng;

    c->src.data.capacity = (uint32_t)c->expected.src_bytes + slack(r);
    c->dst.data.capacity = (uint32_t)c->expected.dst_bytes + slack(r);
    watched_place(&c->lab->src, r, c->src.data.capacity, rng_chance(r, 80) ? 0 : rng_below(r, 8));
    watched_place(&c->lab->dst, r, c->dst.data.capacity, rng_chance(r, 80) ? 0 : rng_below(r, 8));
    c->src.data.mem.pi8 = (int8_t *)c->lab->src.data;
    c->dst.data.mem.pi8 = (int8_t *)c->lab->dst.data;
}

/* Whether the lab has room for it; leaves the bytes needed in c->expected. */
static bool fits(struct test_case *c)
{
    c->src.data.mem.pi8 = (int8_t *)c->lab->src.mem.base;
    c->dst.data.mem.pi8 = (int8_t *)c->lab->dst.mem.base;
    c->src.data.capacity = (uint32_t)watched_room(&c->lab->src) - 16;
    c->dst.data.capacity = (uint32_t)watched_room(&c->lab->dst) - 16;
    case_judge(c);
    return c->expected.status != MLI_STATUS_NOT_ENGH_MEM;
}

static void pick_way(struct test_case *c)
{
    c->via = (enum case_via)rng_below(&c->rng, VIA_PERMUTE);
    c->channels = (int)rng_between(&c->rng, 1, CASE_CHANNELS_MAX);
}

static void generate(struct test_case *c)
{
    do {
        case_gen_tensor(c);
        case_gen_cfg(c);
        case_gen_dst_stride(c);
        case_gen_quant(c);
    } while (!fits(c));
    place_data(c);
    case_judge(c);
}

void case_generate(struct test_case *c)
{
    pick_way(c);
    generate(c);
}

void case_generate_permute(struct test_case *c)
{
    c->via = VIA_PERMUTE;
    generate(c);
}

void case_judge(struct test_case *c)
{
    const mli_tensor *src = c->null_src ? NULL : &c->src, *dst = c->null_dst ? NULL : &c->dst;

    if (c->via == VIA_PERMUTE)
        oracle_judge_permute(&c->expected, src, c->null_cfg ? NULL : &c->permute_cfg, dst,
                             c->kernel);
    else
        oracle_judge(&c->expected, src, c->null_cfg ? NULL : &c->cfg, dst);
}

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * mli_hlp_convert_tensor(): values computed by hand, random values compared with exact fractions,
 * and refusals.
 */
#include <float.h>
#include <math.h>
#include <string.h>

#include "tests/support/rng.h"
#include "tests/support/unit.h"

#define ELEMENTS 24 /* elements of shape (2, 3, 4) */

struct pair {
    mli_tensor src, dst;
    _Alignas(16) uint8_t in[256], out[256];
    int16_t zero_point[2][4], scale[2][4]; /* parameters of src and of dst */
    int8_t frac_bits[2][4];
};

static mli_tensor tensor_of(mli_element_type type, void *data, uint32_t capacity)
{
    mli_tensor t = {.data = {.capacity = capacity, .mem.pi8 = data},
                    .shape = {2, 3, 4},
                    .rank = 3,
                    .el_type = type};

    if (type == MLI_EL_SA_8 || type == MLI_EL_SA_32) {
        t.el_params.sa.dim = -1;
        t.el_params.sa.scale.mem.i16 = 1;
    }
    return t;
}

static void pair_init(struct pair *p, mli_element_type from, mli_element_type to)
{
    memset(p, 0, sizeof(*p));
    memset(p->out, 0xA5, sizeof(p->out));
    p->src = tensor_of(from, p->in, sizeof(p->in));
    p->dst = tensor_of(to, p->out, sizeof(p->out));
}

/* Makes the parameters of one side per-axis: all scales 1, all other parameters 0. */
static void give_axis(struct pair *p, int side, int32_t dim)
{
    mli_tensor *t = side ? &p->dst : &p->src;

    for (int i = 0; i < 4; i++)
        p->scale[side][i] = 1;
    t->el_params.sa.dim = dim;
    t->el_params.sa.zero_point = (mli_data_container){8, {.pi16 = p->zero_point[side]}};
    t->el_params.sa.scale = (mli_data_container){8, {.pi16 = p->scale[side]}};
    t->el_params.sa.scale_frac_bits = (mli_data_container){4, {.pi8 = p->frac_bits[side]}};
}

static int64_t get(const void *data, mli_element_type type, size_t i)
{
    int16_t half;
    int32_t word;

    if (type == MLI_EL_FX_8 || type == MLI_EL_SA_8)
        return ((const int8_t *)data)[i];
    if (type == MLI_EL_FX_16) {
        memcpy(&half, (const uint8_t *)data + 2 * i, sizeof(half));
        return half;
    }
    memcpy(&word, (const uint8_t *)data + 4 * i, sizeof(word));
    return word;
}

static void put(void *data, mli_element_type type, size_t i, int64_t value)
{
    const int16_t half = (int16_t)value;
    const int32_t word = (int32_t)value;

    if (type == MLI_EL_FX_8 || type == MLI_EL_SA_8)
        ((int8_t *)data)[i] = (int8_t)value;
    else if (type == MLI_EL_FX_16)
        memcpy((uint8_t *)data + 2 * i, &half, sizeof(half));
    else
        memcpy((uint8_t *)data + 4 * i, &word, sizeof(word));
}

/* Converts one element between two formats. */
static int64_t convert_one(mli_element_type from, int frac, int64_t value, mli_element_type to,
                           int to_frac)
{
    struct pair p;

    pair_init(&p, from, to);
    p.src.el_params.fx.frac_bits = (int8_t)frac;
    p.dst.el_params.fx.frac_bits = (int8_t)to_frac;
    put(p.in, from, 0, value);
    assert_ok(mli_hlp_convert_tensor_safx(&p.src, &p.dst));
    return get(p.out, to, 0);
}

static void test_fixed_point_by_hand(void **state)
{
    (void)state;
    /*
     * Converts 16 bits to 8 bits with 4 fractional bits fewer: halves are rounded up, and values
     * beyond the type saturate.
     */
    assert_int_equal(convert_one(MLI_EL_FX_16, 8, 16 * 5 + 8, MLI_EL_FX_8, 4), 6);
    assert_int_equal(convert_one(MLI_EL_FX_16, 8, 16 * 5 + 7, MLI_EL_FX_8, 4), 5);
    assert_int_equal(convert_one(MLI_EL_FX_16, 8, -16 * 5 - 8, MLI_EL_FX_8, 4), -5);
    assert_int_equal(convert_one(MLI_EL_FX_16, 8, -16 * 5 - 9, MLI_EL_FX_8, 4), -6);
    assert_int_equal(convert_one(MLI_EL_FX_16, 8, 16 * 127 + 8, MLI_EL_FX_8, 4), 127);
    assert_int_equal(convert_one(MLI_EL_FX_16, 8, -16 * 200, MLI_EL_FX_8, 4), -128);
    /* Converts to more fractional bits: the result is exact, or saturates. */
    assert_int_equal(convert_one(MLI_EL_FX_8, 3, -7, MLI_EL_FX_16, 12), -7 * 512);
    assert_int_equal(convert_one(MLI_EL_FX_8, 3, -128, MLI_EL_FX_16, 12), INT16_MIN);
    assert_int_equal(convert_one(MLI_EL_FX_8, -128, 1, MLI_EL_FX_16, 127), INT16_MAX);
    assert_int_equal(convert_one(MLI_EL_FX_8, 127, -128, MLI_EL_FX_16, -128), 0);
    assert_int_equal(convert_one(MLI_EL_FX_16, 16, INT16_MIN, MLI_EL_FX_16, 0), 0);
    assert_int_equal(convert_one(MLI_EL_FX_16, 15, INT16_MIN, MLI_EL_FX_16, 0), -1);
}

static void test_asymmetric_by_hand(void **state)
{
    struct pair p;

    (void)state;
    pair_init(&p, MLI_EL_SA_8, MLI_EL_SA_32);
    p.src.el_params.sa.zero_point.mem.i16 = -3;
    p.src.el_params.sa.scale.mem.i16 = 10;
    p.dst.el_params.sa.zero_point.mem.i16 = 1000;
    p.dst.el_params.sa.scale.mem.i16 = 4;
    put(p.in, MLI_EL_SA_8, 0, 0);  /* (0 + 3) * 10 / 4 = 7.5 */
    put(p.in, MLI_EL_SA_8, 1, -6); /* -7.5 */
    put(p.in, MLI_EL_SA_8, 2, 127);
    assert_ok(mli_hlp_convert_tensor(&p.src, &p.dst));
    assert_int_equal(get(p.out, MLI_EL_SA_32, 0), 1008);
    assert_int_equal(get(p.out, MLI_EL_SA_32, 1), 1000 - 7);
    assert_int_equal(get(p.out, MLI_EL_SA_32, 2), 1325);

    /* The zero point is added after rounding, and saturates. */
    pair_init(&p, MLI_EL_SA_32, MLI_EL_SA_32);
    p.src.el_params.sa.zero_point.mem.i16 = INT16_MIN;
    p.dst.el_params.sa.zero_point.mem.i16 = INT16_MAX;
    put(p.in, MLI_EL_SA_32, 0, INT32_MAX);
    put(p.in, MLI_EL_SA_32, 1, INT32_MIN);
    assert_ok(mli_hlp_convert_tensor(&p.src, &p.dst));
    assert_int_equal(get(p.out, MLI_EL_SA_32, 0), INT32_MAX);
    assert_int_equal(get(p.out, MLI_EL_SA_32, 1), (int64_t)INT32_MIN + 65535);
}

static void test_floats_by_hand(void **state)
{
    static const struct {
        float real;
        int8_t want;
    } table[] = {{0.0f, 5},  {0.125f, 6},  {-0.125f, 4},   {0.12f, 5},      {1.0f, 9},
                 {-1.0f, 1}, {1e30f, 127}, {-1e30f, -128}, {INFINITY, 127}, {-INFINITY, -128},
                 {NAN, 5},   {31.0f, 127}, {30.625f, 127}, {30.25f, 126},   {FLT_MIN, 5}};
    struct pair p;
    float real;

    (void)state;
    pair_init(&p, MLI_EL_FP_32, MLI_EL_SA_8); /* one step of the element is 1/4 */
    p.dst.el_params.sa.zero_point.mem.i16 = 5;
    p.dst.el_params.sa.scale_frac_bits.mem.i8 = 2;
    for (size_t i = 0; i < COUNT_OF(table); i++)
        memcpy(p.in + 4 * i, &table[i].real, 4);
    assert_ok(mli_hlp_convert_tensor(&p.src, &p.dst));
    for (size_t i = 0; i < COUNT_OF(table); i++)
        assert_int_equal((int8_t)p.out[i], table[i].want);

    pair_init(&p, MLI_EL_SA_8, MLI_EL_FP_32);
    p.src.el_params.sa.zero_point.mem.i16 = 5;
    p.src.el_params.sa.scale.mem.i16 = 3;
    p.src.el_params.sa.scale_frac_bits.mem.i8 = 2;
    p.in[0] = 4;
    assert_ok(mli_hlp_convert_tensor(&p.src, &p.dst));
    memcpy(&real, p.out, 4);
    assert_true(real == -0.75f);

    pair_init(&p, MLI_EL_FP_32, MLI_EL_FP_32); /* copied bit by bit, even a signalling NaN */
    memset(p.in, 0xFF, 3);
    p.in[3] = 0x7F;
    p.in[2] = 0xA0;
    assert_ok(mli_hlp_convert_tensor(&p.src, &p.dst));
    assert_memory_equal(p.in, p.out, 4 * ELEMENTS);
}

/* Returns floor(n / d + 1 / 2), exactly. */
static int64_t round_half_up(int64_t n, int64_t d)
{
    const int64_t twice = 2 * n + d, by = 2 * d;

    return twice / by - (twice % by < 0);
}

static int64_t saturate(int64_t value, mli_element_type type)
{
    const int64_t top = type == MLI_EL_SA_32   ? INT32_MAX
                        : type == MLI_EL_FX_16 ? INT16_MAX
                                               : INT8_MAX;

    return value > top ? top : value < -top - 1 ? -top - 1 : value;
}

/* The parameters of a tensor at one index of its axis. */
struct facts {
    int zero, scale, frac;
};

static struct facts draw_facts(struct rng *r, mli_tensor *t, int index)
{
    struct facts f = {0, 1, (int)rng_between(r, 0, 40) - 20};

    if (t->el_type == MLI_EL_FX_8 || t->el_type == MLI_EL_FX_16) {
        if (index == 0)
            t->el_params.fx.frac_bits = (int8_t)f.frac;
        f.frac = t->el_params.fx.frac_bits;
        return f;
    }
    f.zero = (int)rng_between(r, 0, 65535) - 32768;
    f.scale = (int)rng_between(r, 1, 32767);
    if (t->el_params.sa.dim >= 0) {
        t->el_params.sa.zero_point.mem.pi16[index] = (int16_t)f.zero;
        t->el_params.sa.scale.mem.pi16[index] = (int16_t)f.scale;
        t->el_params.sa.scale_frac_bits.mem.pi8[index] = (int8_t)f.frac;
    } else if (index == 0) {
        t->el_params.sa.zero_point.mem.i16 = (int16_t)f.zero;
        t->el_params.sa.scale.mem.i16 = (int16_t)f.scale;
        t->el_params.sa.scale_frac_bits.mem.i8 = (int8_t)f.frac;
    } else {
        f = (struct facts){t->el_params.sa.zero_point.mem.i16, t->el_params.sa.scale.mem.i16,
                           t->el_params.sa.scale_frac_bits.mem.i8};
    }
    return f;
}

/* Numerators from here on saturate every type, with any scale and zero point. */
#define ENOUGH (INT64_C(1) << 60)

static int64_t expected(int64_t value, struct facts from, struct facts to, mli_element_type type)
{
    int64_t n = (value - from.zero) * from.scale, d = to.scale;

    for (int i = from.frac; i < to.frac && n > -ENOUGH && n < ENOUGH; i++)
        n *= 2;
    if (from.frac > to.frac)
        d *= INT64_C(1) << (from.frac - to.frac);
    return saturate(round_half_up(n, d) + to.zero, type);
}

static bool is_sa(mli_element_type type)
{
    return type == MLI_EL_SA_8 || type == MLI_EL_SA_32;
}

/* Random types and parameters, sometimes with an axis; compares the whole output buffer. */
static void test_random_fractions(void **state)
{
    static const mli_element_type types[] = {MLI_EL_FX_8, MLI_EL_FX_16, MLI_EL_SA_8, MLI_EL_SA_32};
    struct rng r = {4711};
    struct facts from[4], to[4];
    uint8_t want[256];
    struct pair p;

    (void)state;
    for (int round = 0; round < 20000; round++) {
        const uint32_t dim = (uint32_t)rng_between(&r, 0, 2),
                       which = (uint32_t)rng_between(&r, 0, 3);

        pair_init(&p, types[rng_between(&r, 0, 3)], types[rng_between(&r, 0, 3)]);
        if (which & 1 && is_sa(p.src.el_type))
            give_axis(&p, 0, (int32_t)dim);
        if (which & 2 && is_sa(p.dst.el_type))
            give_axis(&p, 1, (int32_t)dim);
        for (int i = 0; i < 4; i++) {
            from[i] = draw_facts(&r, &p.src, i);
            to[i] = draw_facts(&r, &p.dst, i);
        }
        memcpy(want, p.out, sizeof(want));
        for (uint32_t i = 0; i < ELEMENTS; i++) {
            const uint32_t at[3] = {i / 12, i / 4 % 3, i % 4};

            put(p.in, p.src.el_type, i, (int64_t)(uint32_t)rng_next(&r));
            put(want, p.dst.el_type, i,
                expected(get(p.in, p.src.el_type, i), from[at[dim]], to[at[dim]], p.dst.el_type));
        }
        assert_ok(mli_hlp_convert_tensor(&p.src, &p.dst));
        assert_memory_equal(p.out, want, sizeof(want));
    }
}

/* A conversion to float and back is the identity if 24 bits hold the element. */
static void test_random_round_trips(void **state)
{
    struct rng r = {42};
    struct pair p;
    uint8_t back[ELEMENTS * 2];

    (void)state;
    for (int round = 0; round < 2000; round++) {
        const int8_t frac = (int8_t)((int)rng_between(&r, 0, 200) - 100);
        mli_tensor again;

        pair_init(&p, MLI_EL_FX_16, MLI_EL_FP_32);
        p.src.el_params.fx.frac_bits = frac;
        for (uint32_t i = 0; i < ELEMENTS; i++)
            put(p.in, MLI_EL_FX_16, i, (int64_t)rng_between(&r, 0, UINT16_MAX));
        assert_ok(mli_hlp_convert_tensor(&p.src, &p.dst));
        for (uint32_t i = 0; i < ELEMENTS; i++) {
            float real;

            memcpy(&real, p.out + 4 * i, 4);
            assert_true(real == ldexpf((float)get(p.in, MLI_EL_FX_16, i), -frac));
        }
        again = tensor_of(MLI_EL_FX_16, back, sizeof(back));
        again.el_params.fx.frac_bits = frac;
        assert_ok(mli_hlp_convert_tensor(&p.dst, &again));
        assert_memory_equal(back, p.in, sizeof(back));
    }
}

/*
 * Compares random reals with a computation in long double, which holds each product exactly. No
 * random value is halfway between two integers.
 */
static void test_random_reals(void **state)
{
    struct rng r = {7};
    struct pair p;

    (void)state;
    for (int round = 0; round < 2000; round++) {
        const int scale = (int)rng_between(&r, 1, 32767);
        const int frac = (int)rng_between(&r, 0, 30);
        float real[ELEMENTS];

        pair_init(&p, MLI_EL_FP_32, MLI_EL_SA_32);
        p.dst.el_params.sa.scale.mem.i16 = (int16_t)scale;
        p.dst.el_params.sa.scale_frac_bits.mem.i8 = (int8_t)frac;
        for (uint32_t i = 0; i < ELEMENTS; i++)
            real[i] = (float)((int)rng_between(&r, 0, 1 << 24) - (1 << 23)) / 4096.0f;
        memcpy(p.in, real, sizeof(real));
        assert_ok(mli_hlp_convert_tensor(&p.src, &p.dst));
        for (uint32_t i = 0; i < ELEMENTS; i++) {
            const long double exact = ldexpl((long double)real[i], frac) / scale;
            const long double bounded = fminl(fmaxl(roundl(exact), INT32_MIN), INT32_MAX);

            assert_true((long double)get(p.out, MLI_EL_SA_32, i) == bounded);
        }
    }
}

/*
 * Converts with strides on both sides, and leaves the gaps unchanged. If dst has no rank, it gets
 * the rank and shape of src.
 */
static void test_strides_and_shape(void **state)
{
    struct pair p;
    uint8_t want[256];

    (void)state;
    pair_init(&p, MLI_EL_FX_8, MLI_EL_FX_16);
    memcpy(p.src.mem_stride, (int32_t[]){50, 2, 11, 0}, 16);
    memcpy(p.dst.mem_stride, (int32_t[]){0, 5, 0, 0}, 16);
    memset(p.dst.shape, 0x77, sizeof(p.dst.shape));
    p.dst.rank = 0;
    memcpy(want, p.out, sizeof(want));
    for (uint32_t i = 0; i < ELEMENTS; i++) {
        p.in[i / 12 * 50 + i / 4 % 3 * 2 + i % 4 * 11] = (uint8_t)(i + 1);
        put(want, MLI_EL_FX_16, i / 12 * 15 + i / 4 % 3 * 5 + i % 4, i + 1);
    }
    memcpy(p.dst.mem_stride, (int32_t[]){15, 5, 0, 0}, 16);
    assert_ok(mli_hlp_convert_tensor(&p.src, &p.dst));
    assert_memory_equal(p.out, want, sizeof(want));
    assert_int_equal(p.dst.rank, 3);
    assert_memory_equal(p.dst.shape, ((uint32_t[]){2, 3, 4, 1}), 16);
    assert_memory_equal(p.dst.mem_stride, ((int32_t[]){15, 5, 0, 0}), 16);
}

static void test_in_place(void **state)
{
    struct pair p, before;

    (void)state;
    pair_init(&p, MLI_EL_FX_16, MLI_EL_FX_16);
    p.src.el_params.fx.frac_bits = 1;
    for (uint32_t i = 0; i < ELEMENTS; i++)
        put(p.in, MLI_EL_FX_16, i, 2 * i);
    p.dst.data = p.src.data;
    /* explicit strides that are equal to the packed ones */
    memcpy(p.dst.mem_stride, (int32_t[]){12, 4, 1, 0}, 16);
    assert_ok(mli_hlp_convert_tensor(&p.src, &p.dst));
    for (uint32_t i = 0; i < ELEMENTS; i++)
        assert_int_equal(get(p.in, MLI_EL_FX_16, i), i);

    memcpy(&before, &p, sizeof(p));
    p.dst.mem_stride[0] = 13;
    assert_status(mli_hlp_convert_tensor(&p.src, &p.dst), MLI_STATUS_INCOMPATEBLE_TENSORS);
    p.dst.mem_stride[0] = 12;
    p.dst.data.mem.pi16++;
    assert_status(mli_hlp_convert_tensor(&p.src, &p.dst), MLI_STATUS_INCOMPATEBLE_TENSORS);
    p.dst.data.mem.pi16--;
    p.dst.el_type = MLI_EL_FX_8;
    assert_status(mli_hlp_convert_tensor(&p.src, &p.dst), MLI_STATUS_INCOMPATEBLE_TENSORS);
    assert_memory_equal(p.in, before.in, sizeof(p.in));
}

/* Pairs of a status and the fault that causes it. */
#define FAULTS(X)                                                                                  \
    X(BAD_TENSOR, p.src.rank = 0)                                                                  \
    X(BAD_TENSOR, p.src.data.mem.pi8 = NULL)                                                       \
    X(BAD_TENSOR, p.src.shape[1] = 0)                                                              \
    X(BAD_TENSOR, p.src.mem_stride[0] = -1)                                                        \
    X(BAD_TENSOR, p.dst.data.mem.pi8 = NULL)                                                       \
    X(BAD_TENSOR, p.dst.mem_stride[2] = -1)                                                        \
    X(BAD_TENSOR, p.dst.el_type = (mli_element_type)0x4711)                                        \
    X(NOT_SUPPORTED, p.src.el_type = MLI_EL_FX_4)                                                  \
    X(NOT_SUPPORTED, p.dst.el_type = MLI_EL_FX_4)                                                  \
    X(NOT_SUPPORTED, p.src.el_type = MLI_EL_FP_16)                                                 \
    X(NOT_SUPPORTED, p.dst.el_type = MLI_EL_FP_16)                                                 \
    X(SHAPE_MISMATCH, p.dst.rank = 2)                                                              \
    X(SHAPE_MISMATCH, p.dst.rank = 5)                                                              \
    X(SHAPE_MISMATCH, p.dst.shape[2] = 5)                                                          \
    X(NOT_ENGH_MEM, p.src.data.capacity = ELEMENTS - 1)                                            \
    X(NOT_ENGH_MEM, p.dst.data.capacity = 4 * ELEMENTS - 1)                                        \
    X(NOT_ENGH_MEM, p.dst.mem_stride[0] = INT32_MAX)                                               \
    X(INCOMPATEBLE_TENSORS, p.dst.mem_stride[0] = 1)                                               \
    X(INCOMPATEBLE_TENSORS, p.dst.data.mem.pi8 = (int8_t *)p.in + 1)                               \
    X(SPEC_PARAM_MISMATCH, p.scale[0][2] = 0)                                                      \
    X(SPEC_PARAM_MISMATCH, p.scale[1][1] = -7)                                                     \
    X(SPEC_PARAM_MISMATCH, p.src.el_params.sa.dim = 3)                                             \
    X(SPEC_PARAM_MISMATCH, p.dst.el_params.sa.dim = 0)                                             \
    X(SPEC_PARAM_MISMATCH, p.src.el_params.sa.scale.capacity = 5)                                  \
    X(SPEC_PARAM_MISMATCH, p.dst.el_params.sa.zero_point.mem.pi16 = NULL)                          \
    X(SPEC_PARAM_MISMATCH, p.dst.el_params.sa.scale_frac_bits.mem.pi8 = (int8_t *)p.out + 9)       \
    X(SPEC_PARAM_MISMATCH, p.src.el_params.sa.zero_point.mem.pi16 = (int16_t *)(void *)p.out)

static void test_refusals(void **state)
{
    struct pair p, before;

    (void)state;
#define REFUSED(status, fault)                                                                     \
    pair_init(&p, MLI_EL_SA_8, MLI_EL_SA_32);                                                      \
    give_axis(&p, 0, 1);                                                                           \
    give_axis(&p, 1, 1);                                                                           \
    assert_ok(mli_hlp_convert_tensor(&p.src, &p.dst));                                             \
    fault;                                                                                         \
    memcpy(&before, &p, sizeof(p));                                                                \
    assert_status(mli_hlp_convert_tensor(&p.src, &p.dst), MLI_STATUS_##status);                    \
    assert_status(mli_hlp_convert_tensor_safx(&p.src, &p.dst), MLI_STATUS_##status);               \
    assert_memory_equal(&p, &before, sizeof(p));
    FAULTS(REFUSED)
#undef REFUSED
    assert_status(mli_hlp_convert_tensor(NULL, &p.dst), MLI_STATUS_BAD_TENSOR);
    pair_init(&p, MLI_EL_FX_8, MLI_EL_FP_32);
    assert_status(mli_hlp_convert_tensor(&p.src, NULL), MLI_STATUS_BAD_TENSOR);
    assert_status(mli_hlp_convert_tensor_safx(&p.src, &p.dst), MLI_STATUS_TYPE_MISMATCH);
    assert_error_names("dst.el_type", MLI_STATUS_TYPE_MISMATCH);
}

/*
 * The result overlaps the last entry of the source's scales; if the array were one entry shorter,
 * they would be apart.
 */
static void test_refuses_the_end_of_an_array_in_the_result(void **state)
{
    struct pair p;

    (void)state;
    pair_init(&p, MLI_EL_SA_8, MLI_EL_SA_8);
    give_axis(&p, 0, 2);
    p.dst.data.mem.pi8 += 16;
    p.dst.data.capacity -= 16;
    p.src.el_params.sa.scale.mem.pi16 = memset(p.out + 10, 1, 8);
    assert_status(mli_hlp_convert_tensor(&p.src, &p.dst), MLI_STATUS_SPEC_PARAM_MISMATCH);
    p.src.el_params.sa.scale.mem.pi16 = memset(p.out + 8, 1, 8);
    assert_ok(mli_hlp_convert_tensor(&p.src, &p.dst));
}

/*
 * Conversions are kernels: a strict profile requires that both operands are aligned and in vector
 * memory.
 */
static void test_strict_profile(void **state)
{
    struct pair p;
    mli_profile profile = {.strict = true, .vector_memory = &p, .vector_memory_size = sizeof(p)};

    (void)state;
    pair_init(&p, MLI_EL_FX_8, MLI_EL_FX_16);
    assert_ok(mli_profile_set(&profile));
    assert_ok(mli_hlp_convert_tensor(&p.src, &p.dst));
    p.dst.data.mem.pi8++;
    p.dst.data.capacity--;
    assert_status(mli_hlp_convert_tensor(&p.src, &p.dst), MLI_STATUS_MISALIGNMENT_ERROR);
    profile.vector_memory = p.out;
    assert_ok(mli_profile_set(&profile));
    p.dst.data.mem.pi8--;
    assert_status(mli_hlp_convert_tensor(&p.src, &p.dst), MLI_STATUS_MEM_BANK_MISMATCH);
    assert_ok(mli_profile_set(NULL));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_fixed_point_by_hand),
        cmocka_unit_test(test_asymmetric_by_hand),
        cmocka_unit_test(test_floats_by_hand),
        cmocka_unit_test(test_random_fractions),
        cmocka_unit_test(test_random_round_trips),
        cmocka_unit_test(test_random_reals),
        cmocka_unit_test(test_strides_and_shape),
        cmocka_unit_test(test_in_place),
        cmocka_unit_test(test_refusals),
        cmocka_unit_test(test_refuses_the_end_of_an_array_in_the_result),
        cmocka_unit_test(test_strict_profile),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

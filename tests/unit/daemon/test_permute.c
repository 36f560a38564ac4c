/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A permute job is a move on a channel. Its result must equal the result of mli_krn_permute_*() for
 * the same tensors in all bytes and parameters.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/unit/daemon/test_peer.h"

enum { ROUNDS = 300, SIDE = 9, ENTRIES = 4 * SIDE * SIDE * SIDE * SIDE };

static struct fixture fixture;
static unsigned long long random_state = 1;

static uint32_t draw(uint32_t below)
{
    random_state = random_state * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(random_state >> 33) % below;
}

static const struct kind {
    const char *name;
    mli_element_type type;
    uint32_t size;
    bool sa;
    mli_status (*permute)(const mli_tensor *in, const mli_permute_cfg *cfg, mli_tensor *out);
} kinds[] = {
    {"fx8", MLI_EL_FX_8, 1, false, mli_krn_permute_fx8},
    {"fx16", MLI_EL_FX_16, 2, false, mli_krn_permute_fx16},
    {"sa8", MLI_EL_SA_8, 1, true, mli_krn_permute_sa8},
    {"sa32", MLI_EL_SA_32, 4, true, mli_krn_permute_sa32},
};

/* A tensor with its memory and parameters. */
struct operand {
    mli_tensor tensor;
    unsigned char data[ENTRIES];
    int16_t scale[SIDE], zero_point[SIDE];
    int8_t frac_bits[SIDE];
};

static void borrow(struct operand *operand, int32_t axis)
{
    mli_tensor *t = &operand->tensor;

    t->data.mem.pi8 = (int8_t *)operand->data;
    t->data.capacity = sizeof operand->data;
    t->el_params.sa.dim = axis;
    if (axis < 0)
        return;
    t->el_params.sa.scale.mem.pi16 = operand->scale;
    t->el_params.sa.scale.capacity = sizeof operand->scale;
    t->el_params.sa.zero_point.mem.pi16 = operand->zero_point;
    t->el_params.sa.zero_point.capacity = sizeof operand->zero_point;
    t->el_params.sa.scale_frac_bits.mem.pi8 = operand->frac_bits;
    t->el_params.sa.scale_frac_bits.capacity = sizeof operand->frac_bits;
}

static void draw_permutation(mli_permute_cfg *cfg, uint32_t rank)
{
    for (uint32_t i = 0; i < rank; i++)
        cfg->perm_dim[i] = (uint8_t)i;
    for (uint32_t i = rank; i-- > 1;) {
        const uint32_t other = draw(i + 1);
        const uint8_t held = cfg->perm_dim[i];

        cfg->perm_dim[i] = cfg->perm_dim[other];
        cfg->perm_dim[other] = held;
    }
}

/* Writes an array: "[1,2,3]". */
#define LIST(out, count, value)                                                                    \
    do {                                                                                           \
        size_t used = (size_t)sprintf(out, "[");                                                   \
        for (uint32_t i = 0; i < (count); i++)                                                     \
            used += (size_t)sprintf((out) + used, "%s%ld", i ? "," : "", (long)(value));           \
        sprintf((out) + used, "]");                                                                \
    } while (0)

static void submit(const struct kind *kind, const struct operand *in, const mli_permute_cfg *cfg,
                   int from, int to)
{
    const mli_tensor *t = &in->tensor;
    const int32_t axis = t->el_params.sa.dim;
    char shape[64], permutation[64], scale[128], zero[128], bits[128], quant[512] = "", job[1024];

    LIST(shape, t->rank, t->shape[i]);
    LIST(permutation, t->rank, cfg->perm_dim[i]);
    if (kind->sa && axis >= 0) {
        LIST(scale, t->shape[axis], in->scale[i]);
        LIST(zero, t->shape[axis], in->zero_point[i]);
        LIST(bits, t->shape[axis], in->frac_bits[i]);
        sprintf(quant, ",'axis':%d,'scale':%s,'zero_point':%s,'scale_frac_bits':%s", axis, scale,
                zero, bits);
    }
    snprintf(job, sizeof job,
             "'op':'permute','channels':%u,'src':{'fd':0,'type':'%s','shape':%s%s},"
             "'cfg':{'perm_dim':%s},'dst':{'fd':1}",
             1 + draw(4), kind->name, shape, quant, permutation);
    peer_submit(&fixture.peer, 1, from, to, job);
}

static void compare(const struct kind *kind, const struct operand *out, uint32_t bytes, int to)
{
    const mli_tensor *t = &out->tensor;
    const int32_t axis = t->el_params.sa.dim;
    struct job_result result;

    peer_result(&fixture.peer, 1, &result);
    assert_int_equal(result.bytes, bytes);
    assert_int_equal(result.dst.type, kind->type);
    assert_int_equal(result.dst.rank, t->rank);
    assert_memory_equal(result.dst.shape, t->shape, t->rank * sizeof t->shape[0]);
    if (kind->sa) {
        assert_int_equal(result.dst.quant.axis, axis);
        if (axis >= 0) {
            assert_int_equal(result.dst.quant.count, t->shape[axis]);
            assert_memory_equal(result.dst.quant.scale, out->scale, 2 * t->shape[axis]);
            assert_memory_equal(result.dst.quant.zero_point, out->zero_point, 2 * t->shape[axis]);
            assert_memory_equal(result.dst.quant.scale_frac_bits, out->frac_bits, t->shape[axis]);
        }
    }
    assert_file(to, out->data, bytes);
    job_result_finish(&result);
}

static void one_round(const struct kind *kind)
{
    static struct operand in, out;
    mli_permute_cfg cfg;
    uint32_t bytes = kind->size;
    int from, to;

    in.tensor = (mli_tensor){.rank = 1 + draw(MLI_MAX_RANK), .el_type = kind->type};
    out.tensor = (mli_tensor){.rank = in.tensor.rank, .el_type = kind->type};
    draw_permutation(&cfg, in.tensor.rank);
    for (uint32_t i = 0; i < in.tensor.rank; i++)
        bytes *= in.tensor.shape[i] = 1 + draw(SIDE);
    for (uint32_t i = 0; i < in.tensor.rank; i++)
        out.tensor.shape[i] = in.tensor.shape[cfg.perm_dim[i]];
    for (uint32_t i = 0; i < bytes; i++)
        in.data[i] = (unsigned char)draw(256);
    for (uint32_t i = 0; i < SIDE; i++) {
        in.scale[i] = (int16_t)draw(30000);
        in.zero_point[i] = (int16_t)((int)draw(200) - 100);
        in.frac_bits[i] = (int8_t)draw(15);
    }
    if (kind->sa) {
        const int32_t axis = draw(2) ? (int32_t)draw(in.tensor.rank) : -1;

        borrow(&in, axis);
        borrow(&out, axis);
    } else {
        borrow(&in, -1);
        borrow(&out, -1);
        in.tensor.el_params.fx.frac_bits = 0;
    }
    assert_ok(kind->permute(&in.tensor, &cfg, &out.tensor));

    from = memfd_with(in.data, bytes);
    to = memfd_with(NULL, bytes);
    submit(kind, &in, &cfg, from, to);
    compare(kind, &out, bytes, to);
    close(from);
    close(to);
}

static void test_same_as_the_kernels(void **state)
{
    static const char *const engines[] = {"threads:tiny=0", "", "fault:threads,reorder_pct=100"};

    (void)state;
    for (size_t e = 0; e < COUNT_OF(engines); e++) {
        fixture_config(&fixture.config);
        strcpy(fixture.config.engine, engines[e]);
        fixture_start(&fixture);
        for (int i = 0; i < ROUNDS; i++)
            one_round(&kinds[draw(COUNT_OF(kinds))]);
        fixture_stop(&fixture);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_same_as_the_kernels)};

    return cmocka_run_group_tests(tests, fixture_warm_up, NULL);
}

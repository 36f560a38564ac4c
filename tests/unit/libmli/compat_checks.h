/* SPDX-License-Identifier: BSD-3-Clause */
/* embARC 2.0's spelling, in the common subset of C and C++: both compile and run these checks. */
#ifndef TEST_COMPAT_CHECKS_H
#define TEST_COMPAT_CHECKS_H

#include <stdio.h>
#include <string.h>

static int compat_failures;

static void compat_expect(int right, const char *what)
{
    if (!right) {
        printf("FAILED: %s\n", what);
        compat_failures++;
    }
}

#define EXPECT(condition) compat_expect((condition) ? 1 : 0, #condition)

/* Eleven parameters; the paddings at the HWC positions. */
static void check_cfg_all(void)
{
    const int offsets[4] = {1, 2, 3, 4}, sizes[4] = {5, 6, 7, 8}, steps[4] = {9, 10, 11, 12};
    const int dst_offsets[4] = {13, 14, 15, 16}, strides[4] = {17, 18, 19, 20};
    const uint8_t perm[4] = {3, 2, 1, 0}, pre[4] = {23, 21, 0, 0}, post[4] = {24, 22, 0, 0};
    mli_mov_cfg_t cfg, before;

    memset(&cfg, 0x5A, sizeof(cfg));
    EXPECT(mli_mov_cfg_all(&cfg, offsets, sizes, steps, dst_offsets, strides, perm, 21, 22, 23,
                           24) == MLI_STATUS_OK);
    EXPECT(memcmp(cfg.offset, offsets, sizeof(offsets)) == 0);
    EXPECT(memcmp(cfg.size, sizes, sizeof(sizes)) == 0);
    EXPECT(memcmp(cfg.sub_sample_step, steps, sizeof(steps)) == 0);
    EXPECT(memcmp(cfg.dst_offset, dst_offsets, sizeof(dst_offsets)) == 0);
    EXPECT(memcmp(cfg.dst_mem_stride, strides, sizeof(strides)) == 0);
    EXPECT(memcmp(cfg.perm_dim, perm, sizeof(perm)) == 0);
    EXPECT(memcmp(cfg.padding_pre, pre, sizeof(pre)) == 0);
    EXPECT(memcmp(cfg.padding_post, post, sizeof(post)) == 0);
    EXPECT(mli_mov_cfg_all(NULL, offsets, sizes, steps, dst_offsets, strides, perm, 1, 1, 1, 1) ==
           MLI_STATUS_BAD_FUNC_CFG);
    memcpy(&before, &cfg, sizeof(cfg));
    EXPECT(mli_mov_cfg_all(&cfg, offsets, NULL, steps, dst_offsets, strides, perm, 1, 1, 1, 1) ==
           MLI_STATUS_ARGUMENT_ERROR);
    EXPECT(memcmp(&before, &cfg, sizeof(cfg)) == 0);
}

/* A tensor of type `type` and shape (2, 3). */
static mli_tensor compat_tensor(mli_element_type type)
{
    static int8_t data[64];
    mli_tensor t;

    memset(&t, 0, sizeof(t));
    t.data.mem.pi8 = data;
    t.data.capacity = sizeof(data);
    t.rank = 2;
    t.shape[0] = 2;
    t.shape[1] = 3;
    t.el_type = type;
    return t;
}

static void check_per_axis(void)
{
    int16_t zero_points[3] = {-5, 6, 7}, scales[3] = {100, 200, -300};
    int8_t shifts[3] = {1, 2, -3};
    mli_tensor t = compat_tensor(MLI_EL_SA_8);

    t.el_params.sa.dim = 1;
    t.el_params.sa.zero_point.mem.pi16 = zero_points;
    t.el_params.sa.zero_point.capacity = sizeof(zero_points);
    t.el_params.sa.scale.mem.pi16 = scales;
    t.el_params.sa.scale.capacity = sizeof(scales);
    t.el_params.sa.scale_frac_bits.mem.pi8 = shifts;
    t.el_params.sa.scale_frac_bits.capacity = sizeof(shifts);
    for (uint32_t i = 0; i < 3; i++) {
        EXPECT(mli_hlp_tensor_scale(&t, i) == scales[i]);
        EXPECT(mli_hlp_tensor_scale_shift(&t, i) == shifts[i]);
        EXPECT(mli_hlp_tensor_zero_offset(&t, i) == zero_points[i]);
    }
    EXPECT(mli_hlp_tensor_scale(&t, 3) == 0);
    EXPECT(mli_hlp_tensor_scale_shift(&t, 3) == 0);
    EXPECT(mli_hlp_tensor_zero_offset(&t, UINT32_MAX) == 0);
}

static void check_without_axis(void)
{
    mli_tensor t = compat_tensor(MLI_EL_SA_32);

    t.el_params.sa.dim = -1;
    t.el_params.sa.scale.mem.i16 = -300;
    t.el_params.sa.scale_frac_bits.mem.i8 = 9;
    t.el_params.sa.zero_point.mem.i16 = 4;
    EXPECT(mli_hlp_tensor_scale(&t, 0) == -300 && mli_hlp_tensor_scale(&t, 17) == -300);
    EXPECT(mli_hlp_tensor_scale_shift(&t, 0) == 9 && mli_hlp_tensor_scale_shift(&t, 17) == 9);
    EXPECT(mli_hlp_tensor_zero_offset(&t, 0) == 4 && mli_hlp_tensor_zero_offset(&t, 17) == 4);
    t = compat_tensor(MLI_EL_FX_16);
    t.el_params.fx.frac_bits = 7;
    EXPECT(mli_hlp_tensor_scale(&t, 0) == 1 && mli_hlp_tensor_scale_shift(&t, 0) == 7);
    EXPECT(mli_hlp_tensor_zero_offset(&t, 0) == 0);
    t = compat_tensor(MLI_EL_FP_32);
    EXPECT(mli_hlp_tensor_scale(&t, 0) == 1 && mli_hlp_tensor_scale_shift(&t, 0) == 0);
    EXPECT(mli_hlp_tensor_scale(NULL, 0) == 0 && mli_hlp_tensor_scale_shift(NULL, 0) == 0);
    EXPECT(mli_hlp_tensor_zero_offset(NULL, 0) == 0);
}

/* embARC's calls give no const; they compile, and so do its names. */
static void check_calls_without_const(void)
{
    static int8_t data[64];
    mli_tensor in = compat_tensor(MLI_EL_FX_8), out = compat_tensor(MLI_EL_FX_8);
    mli_mov_cfg cfg;
    mli_permute_cfg permute;
    mli_subtensor_cfg part;
    int zero[4] = {0, 0, 0, 0};
    uint8_t swap[4] = {1, 0, 2, 3};

    out.data.mem.pi8 = data;
    EXPECT(mli_mov_cfg_for_slice(&cfg, zero, zero, zero) == MLI_STATUS_OK);
    EXPECT(mli_mov_cfg_for_permute(&cfg, swap) == MLI_STATUS_OK);
    EXPECT(mli_mov_tensor_sync(&in, &cfg, &out) == MLI_STATUS_OK);
    EXPECT(out.shape[0] == 3 && out.shape[1] == 2);
    memcpy(permute.perm_dim, swap, sizeof(swap));
    EXPECT(mli_krn_permute_fx8(&in, &permute, &out) == MLI_STATUS_OK);
    memset(&part, 0, sizeof(part));
    part.size[0] = part.size[1] = 1;
    part.sub_tensor_rank = 1;
    EXPECT(mli_hlp_create_subtensor(&in, &part, &out) == MLI_STATUS_OK);
    EXPECT(mli_hlp_set_tensor_mem_strides(&in) == MLI_STATUS_OK);
    EXPECT(mli_hlp_tensor_element_size(&in) == 1 && mli_hlp_count_elem_num(&in, 0) == 6);
}

static int compat_run(void)
{
    check_cfg_all();
    check_per_axis();
    check_without_axis();
    check_calls_without_const();
    return compat_failures != 0;
}

#endif /* TEST_COMPAT_CHECKS_H */

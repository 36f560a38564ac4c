/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * embARC 2.0's form of the functions, in the common subset of C and C++: both compile and run these
 * checks.
 */
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

/* Calls mli_mov_cfg_all() with eleven parameters, which include the paddings of an HWC tensor. */
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

/* Makes a tensor of type `type` and shape (2, 3). */
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

/* embARC's calls pass non-const pointers; these calls and embARC's type names must compile. */
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

/* Checks that the macros of mli_config.h and the enums of dimensions have the values of embARC. */
static void check_names(void)
{
    mli_lut lut;
    mli_mov_state state = MLI_MOV_STATE_DONE;
    MLI_PTR(const int8_t) pointer = NULL;

    EXPECT(V2DSP == 1 && V2DSP_XY == 2 && V2DSP_WIDE == 3 && V2DSP_VECTOR == 4);
    EXPECT(PLATFORM == X86_PLATFORM && X86_PLATFORM == 5);
    EXPECT(strcmp(PLATFORM_STR, "X86") == 0);
    EXPECT(DBG_MODE_RELEASE == 0 && DBG_MODE_RET_CODES == 1 && DBG_MODE_ASSERT == 2);
    EXPECT(DBG_MODE_DEBUG == 3 && DBG_MODE_FULL == 4 && MLI_DEBUG_MODE <= DBG_MODE_FULL);
    EXPECT(KRNL_C_DIM_CHW == 0 && KRNL_D_DIM_CHW == 1 && KRNL_H_DIM_CHW == 2 &&
           KRNL_W_DIM_CHW == 3);
    EXPECT(KRNL_C_DIM_HWC == 0 && KRNL_H_DIM_HWC == 1 && KRNL_W_DIM_HWC == 2 &&
           KRNL_D_DIM_HWC == 3);
    EXPECT(KRNL_H_DIM_HWCN == 0 && KRNL_W_DIM_HWCN == 1 && KRNL_D_DIM_HWCN == 2 &&
           KRNL_C_DIM_HWCN == 3);
    EXPECT(KRNL_DW_H_DIM_HW1N == 0 && KRNL_DW_W_DIM_HW1N == 1 && KRNL_DW_D_DIM_HW1N == 2 &&
           KRNL_DW_N_DIM_HW1N == 3);
    EXPECT(KRNL_RNN_W_IN_ELEMS_DIM == 1 && KRNL_RNN_W_OUT_ELEMS_DIM == 2);
    EXPECT(MLI_MOV_STATE_INVALID == 0 && MLI_MOV_STATE_OPEN == 1 && MLI_MOV_STATE_PREPARED == 2);
    EXPECT(MLI_MOV_STATE_DMA_CONFIGURED == 3 && MLI_MOV_STATE_DMA_RUNNING == 4 && state == 5);
    memset(&lut, 0, sizeof(lut));
    lut.type = MLI_EL_FX_16;
    EXPECT(sizeof(lut) == sizeof(lut.data) + 6 * sizeof(int32_t));
    EXPECT(!pointer && !MLI_PTR_IS_XY && !MLI_OUT_PTR_IS_XY && !MLI_CONV_OUT_PTR_IS_XY);
}

static void check_added_helpers(void)
{
    mli_tensor in = compat_tensor(MLI_EL_FX_8), out = compat_tensor(MLI_EL_FX_8);
    mli_point_to_subtsr_cfg cfg;
    const char *options = mli_hlp_compile_options_string();

    EXPECT(mli_hlp_tensor_data_ptr_cmp(&in, &out));
    memset(&cfg, 0, sizeof(cfg));
    cfg.start_coord[0] = 1;
    cfg.coord_num = 1;
    cfg.first_out_dim_size = 1;
    EXPECT(mli_hlp_point_to_subtensor(&in, &cfg, &out) == MLI_STATUS_OK);
    EXPECT(out.rank == 2 && out.shape[0] == 1 && out.shape[1] == 3 && out.data.capacity == 3);
    EXPECT(!mli_hlp_tensor_data_ptr_cmp(&in, &out));
    out = compat_tensor(MLI_EL_FX_8);
    EXPECT(mli_hlp_convert_tensor(&in, &out) == MLI_STATUS_OK);
    EXPECT(mli_hlp_convert_tensor_safx(&in, &out) == MLI_STATUS_OK);
    EXPECT(strstr(options, "MLI_BUILD_REFERENCE") && strstr(options, "ROUND_MODE") &&
           strstr(options, "MLI_DEBUG_MODE"));
    in.rank = 0;
    EXPECT(mli_hlp_count_elem_num(&in, 0) == 1);
}

/* Guard bits have the values of embARC's host build, until a profile names a chip. */
static void check_guard_bits(void)
{
    mli_profile profile;

    EXPECT(mli_hlp_accu_guard_bits_sa8_sa8() == 16);
    EXPECT(mli_hlp_accu_guard_bits_fx16_fx16() == 32);
    EXPECT(mli_hlp_accu_guard_bits_fx16_fx8() == 8);
    memset(&profile, 0, sizeof(profile));
    profile.guard_bit_option = 1;
    EXPECT(mli_profile_set(&profile) == MLI_STATUS_OK);
    EXPECT(mli_hlp_accu_guard_bits_sa8_sa8() == 4);
    EXPECT(mli_hlp_accu_guard_bits_fx16_fx16() == 4);
    EXPECT(mli_hlp_accu_guard_bits_fx16_fx8() == 12);
    EXPECT(mli_profile_set(NULL) == MLI_STATUS_OK);
    EXPECT(mli_hlp_accu_guard_bits_sa8_sa8() == 16);
}

/* Makes weights of shape (2, 3), with one set of parameters for each of the 3 columns. */
struct per_axis {
    int16_t zero_point[3], scale[3];
    int8_t frac_bits[3];
};

static void give_axis(mli_tensor *t, struct per_axis *axis)
{
    t->el_params.sa.dim = 1;
    t->el_params.sa.zero_point.mem.pi16 = axis->zero_point;
    t->el_params.sa.zero_point.capacity = sizeof(axis->zero_point);
    t->el_params.sa.scale.mem.pi16 = axis->scale;
    t->el_params.sa.scale.capacity = sizeof(axis->scale);
    t->el_params.sa.scale_frac_bits.mem.pi8 = axis->frac_bits;
    t->el_params.sa.scale_frac_bits.capacity = sizeof(axis->frac_bits);
}

/*
 * TensorFlow Lite Micro's ARC kernels slice the weights and keep a local copy of the tensor. Before
 * each move of a slice into local memory they set only the copy's scale pointer to null. The other
 * two pointers of the parameters still have the values of the previous slice, or of the whole
 * tensor.
 */
static void check_slices_of_weights(void)
{
    static int8_t weights[] = {1, 2, 3, 4, 5, 6}, local[6];
    static struct per_axis axis = {{10, 20, 30}, {100, 200, 300}, {1, 2, 3}};
    mli_tensor whole = compat_tensor(MLI_EL_SA_8), slice, copy;
    mli_sub_tensor_cfg part;
    mli_mov_cfg_t cfg;

    whole.data.mem.pi8 = weights;
    whole.data.capacity = sizeof(weights);
    give_axis(&whole, &axis);
    copy = whole;
    copy.data.mem.pi8 = local;
    copy.data.capacity = sizeof(local);
    EXPECT(mli_mov_cfg_for_copy(&cfg) == MLI_STATUS_OK);
    memset(&part, 0, sizeof(part));
    part.size[0] = 2;
    part.size[1] = 1;
    part.sub_tensor_rank = 2;
    for (int i = 0; i < 3; i++) {
        part.offset[1] = (uint32_t)i;
        EXPECT(mli_hlp_create_subtensor(&whole, &part, &slice) == MLI_STATUS_OK);
        copy.el_params.sa.scale.mem.pi16 = NULL;
        memset(copy.mem_stride, 0, sizeof(copy.mem_stride));
        EXPECT(mli_mov_tensor_sync(&slice, &cfg, &copy) == MLI_STATUS_OK);
        EXPECT(local[0] == 1 + i && local[1] == 4 + i);
        EXPECT(copy.shape[0] == 2 && copy.shape[1] == 1 && copy.shape[2] == 1);
        EXPECT(copy.mem_stride[2] == 0 && copy.el_params.sa.dim == 1);
        EXPECT(copy.el_params.sa.scale.mem.pi16 == axis.scale + i);
        EXPECT(copy.el_params.sa.zero_point.mem.pi16 == axis.zero_point + i);
        EXPECT(copy.el_params.sa.scale_frac_bits.mem.pi8 == axis.frac_bits + i);
        EXPECT(mli_hlp_tensor_scale(&copy, 0) == 100 * (i + 1));
    }
}

/*
 * If the destination has the source's scale pointer, it shares the source's arrays. With any other
 * scale pointer, the move copies all arrays of parameters.
 */
static void check_scale_pointer_decides(void)
{
    static int8_t data[6], local[6];
    static struct per_axis axis = {{10, 20, 30}, {100, 200, 300}, {1, 2, 3}}, own;
    mli_tensor in = compat_tensor(MLI_EL_SA_8), out, before;
    mli_mov_handle_t h;
    mli_mov_cfg_t cfg;

    in.data.mem.pi8 = data;
    give_axis(&in, &axis);
    EXPECT(mli_mov_cfg_for_copy(&cfg) == MLI_STATUS_OK);
    out = in;
    out.data.mem.pi8 = local;
    out.el_params.sa.zero_point.mem.pi16 = NULL;
    EXPECT(mli_mov_tensor_sync(&in, &cfg, &out) == MLI_STATUS_OK);
    EXPECT(out.el_params.sa.zero_point.mem.pi16 == axis.zero_point);

    give_axis(&out, &own);
    EXPECT(mli_mov_tensor_sync(&in, &cfg, &out) == MLI_STATUS_OK);
    EXPECT(memcmp(&own, &axis, sizeof(own)) == 0 && out.el_params.sa.scale.mem.pi16 == own.scale);

    out.el_params.sa.zero_point.mem.pi16 = NULL;
    before = out;
    EXPECT(mli_mov_tensor_sync(&in, &cfg, &out) == MLI_STATUS_SPEC_PARAM_MISMATCH);
    EXPECT(memcmp(&before, &out, sizeof(out)) == 0);

    out.el_params.sa.scale.mem.pi16 = NULL;
    EXPECT(mli_mov_acquire_handle(0, &h) == MLI_STATUS_OK);
    EXPECT(mli_mov_prepare(&h, &in, &cfg, &out) == MLI_STATUS_OK);
    EXPECT(out.el_params.sa.scale.mem.pi16 == axis.scale);
    EXPECT(out.el_params.sa.zero_point.mem.pi16 == axis.zero_point);
    out.el_params.sa.scale.mem.pi16 = NULL;
    out.data.capacity = 5;
    before = out;
    EXPECT(mli_mov_prepare(&h, &in, &cfg, &out) == MLI_STATUS_NOT_ENGH_MEM);
    EXPECT(memcmp(&before, &out, sizeof(out)) == 0);
    EXPECT(mli_mov_release_handle(&h) == MLI_STATUS_OK);
}

static int compat_calls;

static void compat_done(int32_t cookie)
{
    compat_calls += cookie;
}

/* mli_mov_isdone() may be called for a handle without channels at any time. */
static void check_handle_without_channels(void)
{
    static int8_t data[6] = {1, 2, 3, 4, 5, 6}, local[6];
    mli_tensor in = compat_tensor(MLI_EL_FX_8), out = in;
    mli_mov_handle_t h;
    mli_mov_cfg_t cfg;

    in.data.mem.pi8 = data;
    out.data.mem.pi8 = local;
    memset(&h, 0, sizeof(h));
    EXPECT(!mli_mov_isdone(&h));
    EXPECT(mli_mov_acquire_handle(0, &h) == MLI_STATUS_OK);
    EXPECT(!mli_mov_isdone(&h));
    EXPECT(mli_mov_cfg_for_copy(&cfg) == MLI_STATUS_OK);
    EXPECT(mli_mov_prepare(&h, &in, &cfg, &out) == MLI_STATUS_OK);
    EXPECT(!mli_mov_isdone(&h) && local[5] == 0);
    EXPECT(mli_mov_registercallback(&h, compat_done, 3) == MLI_STATUS_OK);
    EXPECT(mli_mov_start(&h, &in, &cfg, &out) == MLI_STATUS_OK);
    EXPECT(mli_mov_isdone(&h) && compat_calls == 3);
    EXPECT(mli_mov_wait(&h) == MLI_STATUS_OK && memcmp(local, data, sizeof(data)) == 0);
    EXPECT(mli_mov_release_handle(&h) == MLI_STATUS_OK);
    EXPECT(!mli_mov_isdone(&h));
}

static int compat_run(void)
{
    check_names();
    check_added_helpers();
    check_guard_bits();
    check_slices_of_weights();
    check_scale_pointer_decides();
    check_handle_without_channels();
    check_cfg_all();
    check_per_axis();
    check_without_axis();
    check_calls_without_const();
    return compat_failures != 0;
}

#endif /* TEST_COMPAT_CHECKS_H */

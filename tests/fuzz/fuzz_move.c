/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Moves and permutes against the oracle of tests/property, between inaccessible pages: every field
 * of the tensors and of the configuration comes from the input, including absurd values, per-axis
 * parameters, null pointers, short capacities, and a source inside the destination's memory.
 * A legal move writes exactly the oracle's bytes; what the oracle refuses is refused and changes
 * nothing. Synchronous, on channels, twice, with a callback, and by the permute kernels.
 */
#include "tests/fuzz/fuzz.h"
#include "tests/fuzz/fuzz_reader.h"
#include "tests/property/oracle_overlap.h"
#include "tests/property/random_case.h"

/* Limits of the sizes: the oracle visits every element, and every sample of a dimension. */
enum {
    SAMPLES_MAX = 1 << 12,
    ELEMENTS_MAX = 1 << 13,
    BYTES_MAX = 1 << 15, /* size of a tensor: all bytes are filled and compared */
    POOL_CHANNELS = CASE_CHANNELS_MAX
};

static struct lab lab;

/* Returns an extent, which is mostly small, but may have any value. */
static uint32_t extent(struct fuzz_reader *reader)
{
    return (uint32_t)fuzz_number(reader);
}

static void read_tensor(mli_tensor *tensor, struct fuzz_reader *reader)
{
    static const mli_element_type types[] = {MLI_EL_FX_8,  MLI_EL_FX_16, MLI_EL_SA_8, MLI_EL_SA_32,
                                             MLI_EL_FP_16, MLI_EL_FP_32, MLI_EL_FX_4, 99};
    const uint8_t strides = fuzz_u8(reader);

    tensor->el_type = types[fuzz_below(reader, sizeof types / sizeof types[0])];
    tensor->rank = fuzz_rarely(reader) ? fuzz_u8(reader) : 1 + fuzz_below(reader, MLI_MAX_RANK);
    for (int d = 0; d < MLI_MAX_RANK; d++) {
        tensor->shape[d] = extent(reader);
        tensor->mem_stride[d] = strides & 1 << d ? (int32_t)fuzz_number(reader) : 0;
    }
    tensor->el_params.fx.frac_bits = (int8_t)fuzz_u8(reader);
}

/*
 * Reads the fields of the configuration that the next byte of the input selects; all others are
 * neutral.
 */
static void read_cfg(mli_mov_cfg_t *cfg, struct fuzz_reader *reader)
{
    const uint8_t fields = fuzz_u8(reader);

    mli_mov_cfg_for_copy(cfg);
    for (int d = 0; d < MLI_MAX_RANK; d++) {
        if (fields & 1)
            cfg->offset[d] = extent(reader);
        if (fields & 2)
            cfg->size[d] = extent(reader);
        if (fields & 4)
            cfg->sub_sample_step[d] = extent(reader);
        if (fields & 8)
            cfg->dst_offset[d] = extent(reader);
        if (fields & 16)
            cfg->dst_mem_stride[d] = (int32_t)fuzz_number(reader);
        if (fields & 32)
            cfg->perm_dim[d] = fuzz_rarely(reader) ? fuzz_u8(reader) : fuzz_u8(reader) & 3;
        if (fields & 64)
            cfg->padding_pre[d] = fuzz_u8(reader) & 15;
        if (fields & 128)
            cfg->padding_post[d] = fuzz_u8(reader);
    }
}

/* Returns whether the oracle can visit all samples and all elements in a short time. */
static bool is_small(const mli_tensor *src, const mli_mov_cfg_t *cfg)
{
    uint64_t elements = 1;

    if (src->rank < 1 || src->rank > MLI_MAX_RANK)
        return true; /* refused */
    for (uint32_t d = 0; d < src->rank; d++) {
        const uint64_t padded =
            (uint64_t)src->shape[d] + cfg->padding_pre[d] + cfg->padding_post[d];
        uint64_t samples = padded;

        if (cfg->sub_sample_step[d] == 0 || cfg->offset[d] >= padded)
            return true; /* refused */
        samples = cfg->size[d] ? cfg->size[d] : padded - cfg->offset[d];
        samples = samples / cfg->sub_sample_step[d] + 1;
        if (samples > SAMPLES_MAX)
            return false;
        elements *= samples;
    }
    return elements <= ELEMENTS_MAX;
}

static bool is_sa(const mli_tensor *tensor)
{
    return tensor->el_type == MLI_EL_SA_8 || tensor->el_type == MLI_EL_SA_32;
}

/* Gives the tensors memory of the needed size, or of a smaller size if the input says so. */
static void place(struct test_case *c, struct fuzz_reader *reader)
{
    const uint8_t how = fuzz_u8(reader);
    uint32_t less = how & 1 ? fuzz_u8(reader) : 0, more = how & 2 ? fuzz_u8(reader) : 0;
    const uint64_t room = BYTES_MAX;
    uint64_t src, dst;

    c->src.data.capacity = c->dst.data.capacity = (uint32_t)room;
    case_judge(c);
    src = c->expected.src_bytes < room ? c->expected.src_bytes : room;
    dst = c->expected.dst_bytes < room ? c->expected.dst_bytes : room;
    src = how & 4 && less < src ? src - less : src + more;
    dst = how & 8 && less < dst ? dst - less : dst + more;
    watched_place(&c->lab->src, &c->draw, src, 0);
    watched_place(&c->lab->dst, &c->draw, dst, 0);
    c->src.data.capacity = (uint32_t)src;
    c->dst.data.capacity = (uint32_t)dst;
    c->src.data.mem.pi8 = (int8_t *)c->lab->src.data;
    c->dst.data.mem.pi8 = (int8_t *)c->lab->dst.data;
    c->null_src = (how & 48) == 48;
    c->null_dst = (how & 80) == 80;
    c->null_cfg = (how & 144) == 144;
}

/* Lets the source begin inside the destination's memory. */
static void alias(struct test_case *c, struct fuzz_reader *reader)
{
    const uint32_t at = (uint32_t)fuzz_bytes(reader, 2);

    if (at >= c->dst.data.capacity)
        return;
    c->src.data.mem.pi8 = c->dst.data.mem.pi8 + at;
    c->src.data.capacity = c->dst.data.capacity - at;
}

static void spoil_params(struct test_case *c, struct fuzz_reader *reader)
{
    mli_data_container *arrays[] = {
        &c->src.el_params.sa.zero_point,      &c->src.el_params.sa.scale,
        &c->src.el_params.sa.scale_frac_bits, &c->dst.el_params.sa.zero_point,
        &c->dst.el_params.sa.scale,           &c->dst.el_params.sa.scale_frac_bits};
    mli_data_container *array = arrays[fuzz_below(reader, 6)];
    const uint8_t what = fuzz_u8(reader);

    if (!case_is_per_axis(c)) /* otherwise the parameters are single values, or unused */
        return;
    if (what < 64)
        c->src.el_params.sa.dim = (int32_t)fuzz_number(reader);
    else if (what < 128)
        array->mem.pi16 = NULL;
    else
        array->capacity = array->capacity > what ? array->capacity - what : 0;
}

/* Returns whether perm_dim is a permutation, as case_gen_quant() needs. */
static bool permutes(const struct test_case *c)
{
    uint32_t seen = 0;

    for (uint32_t i = 0; i < c->src.rank && i < MLI_MAX_RANK; i++)
        seen |= c->cfg.perm_dim[i] < MLI_MAX_RANK ? 1u << c->cfg.perm_dim[i] : 0;
    return c->src.rank >= 1 && c->src.rank <= MLI_MAX_RANK && seen == (1u << c->src.rank) - 1;
}

static void read_case(struct test_case *c, struct fuzz_reader *reader)
{
    memset(c, 0, sizeof *c);
    c->stage = "read";
    c->lab = &lab;
    c->via = (enum case_via)fuzz_below(reader, VIA_COUNT);
    c->channels = 1 + (int)fuzz_below(reader, CASE_CHANNELS_MAX);
    c->draw = draw_init(fuzz_bytes(reader, 2), 0);
    c->kernel = (mli_element_type[]){MLI_EL_SA_8, MLI_EL_FX_8, MLI_EL_FX_16,
                                     MLI_EL_SA_32}[fuzz_below(reader, 4)];
    read_tensor(&c->src, reader);
    read_cfg(&c->cfg, reader);
    c->dst = c->src;
    if (c->via != VIA_PERMUTE || fuzz_rarely(reader))
        read_tensor(&c->dst, reader);
    if (c->via == VIA_PERMUTE) {
        memcpy(c->permute_cfg.perm_dim, c->cfg.perm_dim, sizeof c->cfg.perm_dim);
        for (int i = 0; i < MLI_MAX_RANK; i++)
            c->dst.shape[i] = c->src.shape[c->cfg.perm_dim[i] & 3];
        c->cfg = oracle_permute_cfg(c->cfg.perm_dim);
    }
    c->src.data.mem.pi8 = (int8_t *)lab.src.mem.base;
    c->dst.data.mem.pi8 = (int8_t *)lab.dst.mem.base;
}

static mli_status call_permute(const mli_tensor *src, struct test_case *c, mli_tensor *dst)
{
    const mli_permute_cfg *cfg = c->null_cfg ? NULL : &c->permute_cfg;

    switch (c->kernel) {
    case MLI_EL_SA_8:
        return mli_krn_permute_sa8(src, cfg, dst);
    case MLI_EL_FX_8:
        return mli_krn_permute_fx8(src, cfg, dst);
    case MLI_EL_FX_16:
        return mli_krn_permute_fx16(src, cfg, dst);
    default:
        return mli_krn_permute_sa32(src, cfg, dst);
    }
}

static mli_status prepare(const mli_tensor *src, const mli_mov_cfg_t *cfg, mli_tensor *dst)
{
    mli_mov_handle_t handle;
    mli_status status;

    FUZZ_ASSERT(mli_mov_acquire_handle(1, &handle) == MLI_STATUS_OK);
    status = mli_mov_prepare(&handle, src, cfg, dst);
    FUZZ_ASSERT(mli_mov_release_handle(&handle) == MLI_STATUS_OK);
    return status;
}

/* Requires that a call is refused and changes nothing. The status may be that of any fault, because
 * the input may have several. */
static void check_refused(struct test_case *c)
{
    const mli_tensor *src = c->null_src ? NULL : &c->src;
    const mli_mov_cfg_t *cfg = c->null_cfg ? NULL : &c->cfg;
    mli_tensor *dst = c->null_dst ? NULL : &c->dst;
    const mli_tensor before = c->dst;
    mli_status got;

    if (c->via == VIA_PERMUTE)
        got = call_permute(src, c, dst);
    else if (c->via == VIA_SYNC)
        got = mli_mov_tensor_sync(src, cfg, dst);
    else
        got = prepare(src, cfg, dst);
    FUZZ_ASSERT(got != MLI_STATUS_OK && mli_last_error()[0]);
    case_check_done(c, &before);
}

/* Returns whether the case's per-axis arrays fit in the memory of the lab (c->lab). */
static bool params_fit(const struct test_case *c)
{
    for (uint32_t d = 0; d < c->src.rank; d++) {
        if (c->src.shape[d] > SAMPLES_MAX || c->cfg.dst_offset[d] > SAMPLES_MAX ||
            c->cfg.offset[d] >= c->src.shape[d] || c->cfg.sub_sample_step[d] == 0)
            return false;
    }
    return true;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct test_case c;
    static bool begun;
    struct fuzz_reader reader = fuzz_reader_init(data, size);

    if (!begun) {
        FUZZ_ASSERT(lab_init(&lab) == 0);
        FUZZ_ASSERT(mli_mov_set_engine("inline") == MLI_STATUS_OK);
        FUZZ_ASSERT(mli_mov_set_num_dma_ch(0, POOL_CHANNELS) == MLI_STATUS_OK);
    }
    begun = true;
    read_case(&c, &reader);
    if (!is_small(&c.src, &c.cfg))
        return 0;
    if (is_sa(&c.src)) {
        if (!permutes(&c) || !params_fit(&c))
            return 0;
        case_gen_quant(&c);
        if (fuzz_rarely(&reader))
            spoil_params(&c, &reader);
    }
    place(&c, &reader);
    if (fuzz_rarely(&reader))
        alias(&c, &reader);
    case_judge(&c);
    if (c.expected.status == MLI_STATUS_OK)
        (void)case_run(&c);
    else
        check_refused(&c);
    fflush(stdout); /* prints the report of a failure before the assertion aborts */
    FUZZ_ASSERT(!c.failed);
    return 0;
}

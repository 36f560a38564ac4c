/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Places source and destination in one small buffer, interleaved at random: the move must be
 * refused if and only if a byte is both read and written, or written twice. Otherwise the move
 * must give the result that it gives with separate buffers.
 *
 * test_overlap [--seed N] [--count N] [--only INDEX]
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "tests/property/move_oracle.h"
#include "tests/property/property_options.h"
#include "tests/support/describe_move.h"
#include "tests/support/rng.h"

enum { BUFFER = 1024 };

struct interleave {
    _Alignas(16) uint8_t bytes[BUFFER + 20],
        expected[BUFFER + 20]; /* an array may begin at byte BUFFER */
    mli_tensor src, dst;
    mli_mov_cfg_t cfg;
    struct oracle oracle;
};

static void random_strides(struct rng *r, int32_t *stride, uint32_t rank)
{
    bool small = rng_chance(r, 50);

    for (uint32_t d = 0; d < rank; d++)
        stride[d] = rng_chance(r, 15) ? 0 : (int32_t)rng_between(r, 1, small ? 6 : 40);
}

static void random_window(struct rng *r, struct interleave *w, uint32_t d)
{
    uint32_t padded;

    w->cfg.padding_pre[d] = (uint8_t)(rng_chance(r, 85) ? 0 : 1);
    w->cfg.padding_post[d] = (uint8_t)(rng_chance(r, 85) ? 0 : 2);
    padded = w->src.shape[d] + w->cfg.padding_pre[d] + w->cfg.padding_post[d];
    w->cfg.offset[d] = rng_chance(r, 70) ? 0 : rng_below(r, padded);
    w->cfg.sub_sample_step[d] = rng_chance(r, 70) ? 1 : rng_between(r, 2, 3);
    w->cfg.dst_offset[d] = rng_chance(r, 85) ? 0 : 1;
}

/* Points to the three arrays of a tensor, somewhere near its data. */
static void random_arrays(struct rng *r, struct interleave *w, mli_tensor *tensor)
{
    mli_element_params *params = &tensor->el_params;
    const uint32_t data = (uint32_t)(tensor->data.mem.pi8 - (int8_t *)w->bytes);
    mli_data_container *arrays[] = {&params->sa.zero_point, &params->sa.scale,
                                    &params->sa.scale_frac_bits};

    for (size_t i = 0; i < 3; i++) {
        const uint32_t at = (rng_chance(r, 50) ? rng_below(r, BUFFER) : data + rng_below(r, 100));

        arrays[i]->mem.pi8 = (int8_t *)w->bytes + (at < BUFFER ? at & ~1u : 0);
        arrays[i]->capacity = 20;
    }
}

/* Makes the source per-axis: dst shares its arrays, or has its own. */
static void random_params(struct rng *r, struct interleave *w)
{
    w->src.el_type = rng_chance(r, 50) ? MLI_EL_SA_8 : MLI_EL_SA_32;
    random_arrays(r, w, &w->src);
    w->src.el_params.sa.dim = (int32_t)rng_below(r, w->src.rank);
    if (rng_chance(r, 50))
        random_arrays(r, w, &w->dst);
    else if (rng_chance(r, 50))
        w->dst.el_params = w->src.el_params;
}

/* Computes the expected bytes: executes the move on a copy of the bytes from before the move. */
static void expect(struct interleave *w)
{
    const ptrdiff_t to = (const uint8_t *)w->expected - (const uint8_t *)w->bytes;
    const struct oracle_params own = {
        (int16_t *)(void *)((uint8_t *)w->dst.el_params.sa.zero_point.mem.pi16 + to),
        (int16_t *)(void *)((uint8_t *)w->dst.el_params.sa.scale.mem.pi16 + to),
        w->dst.el_params.sa.scale_frac_bits.mem.pi8 + to};

    oracle_move(&w->oracle, &w->src, &w->cfg, (uint8_t *)w->src.data.mem.pi8,
                (uint8_t *)w->dst.data.mem.pi8 + to);
    if (w->oracle.copies_params)
        oracle_move_params(&w->oracle, &w->src, &w->cfg, &own);
}

static void generate(struct rng *r, struct interleave *w)
{
    static const mli_element_type types[] = {MLI_EL_FX_8, MLI_EL_FX_16, MLI_EL_FP_32};
    uint32_t src_at = rng_below(r, BUFFER / 2), dst_at = rng_below(r, BUFFER / 2);

    memset(w, 0, sizeof(*w));
    rng_fill(r, w->bytes, sizeof(w->bytes));
    mli_mov_cfg_for_copy(&w->cfg);
    w->src.el_type = types[rng_below(r, 3)];
    w->src.rank = rng_between(r, 1, 3);
    if (rng_chance(r, 60)) /* the tensors are close together */
        dst_at = src_at + rng_below(r, 24);
    for (uint32_t d = 0; d < w->src.rank; d++) {
        w->src.shape[d] = rng_between(r, 1, 5);
        random_window(r, w, d);
    }
    if (w->src.rank > 1 && rng_chance(r, 30)) {
        w->cfg.perm_dim[0] = 1;
        w->cfg.perm_dim[1] = 0;
    }
    random_strides(r, w->src.mem_stride, w->src.rank);
    random_strides(r, w->dst.mem_stride, w->src.rank);
    if (rng_chance(r, 40)) /* the tensors have equal strides, and are shifted */
        memcpy(w->dst.mem_stride, w->src.mem_stride, sizeof(w->src.mem_stride));
    w->src.data.mem.pi8 = (int8_t *)w->bytes + src_at;
    w->src.data.capacity = BUFFER - src_at;
    w->dst.data.mem.pi8 = (int8_t *)w->bytes + dst_at;
    w->dst.data.capacity = BUFFER - dst_at;
    if (rng_chance(r, 40))
        random_params(r, w);
    memcpy(w->expected, w->bytes, sizeof(w->bytes));
    oracle_judge(&w->oracle, &w->src, &w->cfg, &w->dst);
    if (w->oracle.status == MLI_STATUS_OK)
        expect(w);
}

static bool run_case(const struct options *options, uint64_t index, uint64_t *by_status)
{
    struct rng rng = rng_for_case(options->seed, index);
    static struct interleave w;
    mli_tensor dst_given;
    mli_status got;

    generate(&rng, &w);
    memcpy(&dst_given, &w.dst, sizeof(dst_given));
    got = mli_mov_tensor_sync(&w.src, &w.cfg, &w.dst);
    by_status[w.oracle.status]++;
    if (got == w.oracle.status && memcmp(w.bytes, w.expected, sizeof(w.bytes)) == 0)
        return true;
    printf("case %" PRIu64 ": %s, expected %s (last error: %s)%s\n", index, mli_status_name(got),
           mli_status_name(w.oracle.status), mli_last_error(),
           memcmp(w.bytes, w.expected, sizeof(w.bytes)) ? ", bytes differ" : "");
    describe_tensor(stdout, "src", &w.src);
    describe_cfg(stdout, &w.cfg, w.src.rank);
    dst_given.rank = w.src.rank;
    describe_tensor(stdout, "dst", &dst_given);
    printf("  dst begins %td bytes behind src\n", w.dst.data.mem.pi8 - w.src.data.mem.pi8);
    return false;
}

int main(int argc, char **argv)
{
    struct options options = {.count = 100000};
    uint64_t by_status[16] = {0}, failures = 0, i = 0, end;

    if (!options_parse(&options, argc, argv))
        return 2;
    end = options.count;
    if (options.only_one) {
        i = options.only;
        end = i + 1;
    }
    for (; i < end && failures < 5; i++)
        failures += !run_case(&options, i, by_status);
    printf("legal %" PRIu64 ", overlapping %" PRIu64 ", in parameters %" PRIu64
           ", beyond the buffer %" PRIu64 "\n",
           by_status[MLI_STATUS_OK], by_status[MLI_STATUS_INCOMPATEBLE_TENSORS],
           by_status[MLI_STATUS_SPEC_PARAM_MISMATCH], by_status[MLI_STATUS_NOT_ENGH_MEM]);
    return failures != 0;
}

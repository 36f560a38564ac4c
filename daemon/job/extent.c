/* SPDX-License-Identifier: BSD-3-Clause */
#include "daemon/job/extent.h"

#include "mli_helpers_api.h"

/* *sum += a * b, which sticks at UINT64_MAX. */
static void add_product(uint64_t *sum, uint64_t a, uint64_t b)
{
    uint64_t product;

    if (__builtin_mul_overflow(a, b, &product) || __builtin_add_overflow(*sum, product, sum))
        *sum = UINT64_MAX;
}

/*
 * First and last coordinate read of dimension d; false where the window lies in the padding.
 * Numbers stay below 2^34 here.
 */
static bool window(const mli_tensor *src, const mli_mov_cfg_t *cfg, uint32_t d, uint64_t *first,
                   uint64_t *last)
{
    const uint64_t pre = cfg->padding_pre[d], shape = src->shape[d];
    const uint64_t offset = cfg->offset[d], step = cfg->sub_sample_step[d];
    const uint64_t size = cfg->size[d] ? cfg->size[d] : pre + shape + cfg->padding_post[d] - offset;
    const uint64_t skipped = offset < pre ? (pre - offset + step - 1) / step : 0;
    uint64_t count = (size + step - 1) / step;

    if (offset >= pre + shape || skipped >= count)
        return false;
    /* Samples from `offset` on that come before the padding behind the tensor. */
    if (count > (pre + shape - offset + step - 1) / step)
        count = (pre + shape - offset + step - 1) / step;
    if (skipped >= count)
        return false;
    *first = offset + skipped * step - pre;
    *last = offset + (count - 1) * step - pre;
    return true;
}

struct span extent_read(const mli_tensor *src, const mli_mov_cfg_t *cfg)
{
    const uint64_t element = mli_hlp_tensor_element_size(src);
    struct span span = {0, element};
    uint64_t packed = element;

    for (uint32_t d = src->rank; d-- > 0;) {
        const uint64_t stride =
            src->mem_stride[d] ? (uint64_t)src->mem_stride[d] * element : packed;
        uint64_t first, last;

        if (!window(src, cfg, d, &first, &last))
            return (struct span){0, element};
        add_product(&span.begin, first, stride);
        add_product(&span.end, last, stride);
        if (__builtin_mul_overflow(stride, (uint64_t)src->shape[d], &packed))
            packed = UINT64_MAX;
    }
    return span;
}

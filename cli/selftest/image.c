/* SPDX-License-Identifier: BSD-3-Clause */
#include "cli/selftest/image.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { PAGE = 4096, COUNTERS = 63 };

uint8_t image_byte(enum zone zone, size_t at, uint8_t salt)
{
    /* Fold all bits of the place, so that bytes of different rows differ. */
    const size_t folded = at ^ (at >> 6) ^ (at >> 12) ^ (at >> 18) ^ (at >> 24) ^ salt;
    return (uint8_t)(zone | (1 + (folded & COUNTERS) % COUNTERS));
}

int images_init(struct images *images, uint64_t max_bytes)
{
    const size_t size = (size_t)(max_bytes + FRAME_GUARDS_MAX + PAGE - 1) / PAGE * PAGE;

    *images = (struct images){
        .src = aligned_alloc(PAGE, size),
        .src_image = aligned_alloc(PAGE, size),
        .dst = aligned_alloc(PAGE, size),
        .expected = aligned_alloc(PAGE, size),
    };
    images->attached[0] = (mli_mov_memory){.address = images->src, .size = size, .fd = -1};
    images->attached[1] = (mli_mov_memory){
        .address = images->dst, .size = size, .fd = -1, .flags = MLI_MOV_MEMORY_WRITE};
    if (images->src && images->src_image && images->dst && images->expected &&
        mli_mov_attach_memory(&images->attached[0]) == MLI_STATUS_OK &&
        mli_mov_attach_memory(&images->attached[1]) == MLI_STATUS_OK)
        return 0;
    images_finish(images);
    return -ENOMEM;
}

void images_finish(struct images *images)
{
    for (int i = 0; i < 2; i++)
        mli_mov_detach_memory(&images->attached[i]);
    free(images->src);
    free(images->src_image);
    free(images->dst);
    free(images->expected);
    *images = (struct images){NULL};
}

/* Computes the places of the element in both frames from its coordinate. */
static void element_locate(struct element *element, const struct move_case *c)
{
    int64_t src = 0, dst = 0;

    element->inside = true;
    for (uint32_t i = 0; i < c->move.src.rank; i++) {
        const uint32_t s = c->move.cfg.perm_dim[i];
        const int64_t at = (int64_t)c->move.cfg.offset[s] +
                           (int64_t)element->at[i] * c->move.cfg.sub_sample_step[s] -
                           c->move.cfg.padding_pre[s];
        if (at < 0 || at >= c->move.src.shape[s])
            element->inside = false;
        src += at * c->move.src_stride[s];
        dst += ((int64_t)element->at[i] + c->move.cfg.dst_offset[i]) * c->move.dst_stride[i];
    }
    element->src = element->inside ? c->src_frame.before + (size_t)src * c->move.element_size : 0;
    element->dst = c->dst_frame.before + (size_t)dst * c->move.element_size;
}

void element_first(struct element *element, const struct move_case *c)
{
    *element = (struct element){.at = {0}};
    element_locate(element, c);
}

bool element_next(struct element *element, const struct move_case *c)
{
    uint32_t i = c->move.src.rank;

    while (i-- > 0) {
        if (++element->at[i] < c->move.count[i]) {
            element_locate(element, c);
            return true;
        }
        element->at[i] = 0;
    }
    return false;
}

static void fill(uint8_t *frame, size_t bytes, enum zone zone, uint8_t salt)
{
    for (size_t i = 0; i < bytes; i++)
        frame[i] = image_byte(zone, i, salt);
}

void images_fill(struct images *images, const struct move_case *c)
{
    struct element element;

    fill(images->src_image, c->src_frame.bytes, ZONE_SRC_KEPT, c->salt);
    fill(images->dst, c->dst_frame.bytes, ZONE_DST_KEPT, c->salt);
    memcpy(images->expected, images->dst, c->dst_frame.bytes);
    element_first(&element, c);
    do {
        for (uint32_t b = 0; b < c->move.element_size; b++) {
            uint8_t *from = &images->src_image[element.src + b];
            images->dst[element.dst + b] &= (uint8_t)~ZONE_MASK;
            if (element.inside)
                *from |= ZONE_SRC_COPIED;
            images->expected[element.dst + b] = element.inside ? *from : 0;
        }
    } while (element_next(&element, c));
    memcpy(images->src, images->src_image, c->src_frame.bytes);
}

void images_rearm(const struct images *images, const struct move_case *c)
{
    struct element element;

    element_first(&element, c);
    do {
        for (size_t at = element.dst; at < element.dst + c->move.element_size; at++)
            images->dst[at] = image_byte(ZONE_DST_WRITTEN, at, c->salt);
    } while (element_next(&element, c));
}

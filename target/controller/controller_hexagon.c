/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Descriptors of the user DMA of Hexagon V68: 16 bytes for contiguous bytes, 32 bytes for rows. The
 * engine follows the addresses of next descriptors and sets the bit "done" of each. V68 has no
 * descriptor that fills: zeros are copied from the block of zeros. A 2-D descriptor reads that
 * block as contiguous rows, because V68 refuses a stride below the width.
 */
#include "target/controller/encoder.h"

enum {
    LENGTH_MAX = 0xffffff, /* maximum bytes of a linear descriptor's data */
    FIELD_MAX = 0xffff,    /* maximum of width, height and strides of a 2-D descriptor */
    LINEAR_SIZE = 16,      /* size of a linear descriptor */
    ROWS_SIZE = 32,        /* size of a 2-D descriptor */
    SIZE_SHIFT = 24        /* position of desc_size in the second word */
};

static bool has_rows(const struct mli_copy_box *box)
{
    return box->loops > 0;
}

static const char *refuses(const struct target_profile *profile, const struct mli_descriptor *piece)
{
    const struct mli_copy_box *box = &piece->box;

    if (controller_fills(piece))
        return profile->dma.fills ? "V68 has no descriptor that writes zeros" : NULL;
    if (has_rows(box) && box->loop[0].src_step < box->run)
        return "its rows overlap in the source, but a stride must be as long as a row";
    return NULL;
}

static size_t size(const struct target_profile *profile, const struct mli_descriptor *piece)
{
    (void)profile;
    return has_rows(&piece->box) ? ROWS_SIZE : LINEAR_SIZE;
}

/* Encodes the four words that both forms have. */
static void put_head(const struct controller_place *place, uint64_t src, uint64_t dst,
                     uint32_t desc_size, uint64_t length, struct controller_descriptor *out)
{
    controller_add_hex(out, "next", place->next);
    controller_add(out, "desc_size", desc_size);
    if (desc_size == 0)
        controller_add(out, "length", length);
    controller_add_hex(out, "src", src);
    controller_add_hex(out, "dst", dst);
    controller_put(out, 32, place->next);
    controller_put(out, 32, desc_size << SIZE_SHIFT | length); /* no bypass, no order, not done */
    controller_put(out, 32, src);
    controller_put(out, 32, dst);
}

static void put_rows(uint64_t width, uint64_t height, uint64_t src_stride, uint64_t dst_stride,
                     struct controller_descriptor *out)
{
    controller_add(out, "roi_width", width);
    controller_add(out, "roi_height", height);
    controller_add(out, "src_stride", src_stride);
    controller_add(out, "dst_stride", dst_stride);
    controller_put(out, 32, 0); /* type 0: no transform, no allocation in the cache */
    controller_put(out, 32, height << 16 | width);
    controller_put(out, 32, dst_stride << 16 | src_stride);
    controller_put(out, 32, 0); /* offsets into the first row */
}

static void encode(const struct controller_place *place, const struct mli_descriptor *piece,
                   struct controller_descriptor *out)
{
    const struct mli_copy_box *box = &piece->box;
    const bool fills = controller_fills(piece);
    const uint64_t src = fills ? place->zeros : controller_src(piece);
    const uint64_t dst = controller_dst(piece);

    if (!has_rows(box)) {
        put_head(place, src, dst, 0, box->run, out);
        return;
    }
    put_head(place, src, dst, 1, 0, out);
    put_rows(box->run, box->loop[0].count, fills ? box->run : box->loop[0].src_step,
             box->loop[0].dst_step, out);
}

/* Source: Hexagon User DMA Specification 80-V9418-29, descriptors of V68. */
const struct controller controller_hexagon = {
    .kind = PROFILE_HEXAGON,
    .title = "Qualcomm Hexagon user DMA",
    .descriptor_alignment = ROWS_SIZE,
    .count_max = FIELD_MAX,
    .run_max = FIELD_MAX,
    .step_max = FIELD_MAX,
    .linear_run_max = LENGTH_MAX,
    .distinct_rows = true,
    .refuses = refuses,
    .size = size,
    .encode = encode,
};

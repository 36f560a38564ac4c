/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Buffer descriptors of the DMA of an AIE-ML memory tile. A buffer descriptor is one side of a
 * move: the first one (MM2S) reads memory to a stream, the second one (S2MM) writes the stream to
 * memory. Both have eight words, which a driver writes to registers, so that no descriptor has the
 * address of the next one. All numbers are words of 32 bits; steps are stored as one less.
 *
 *     dimension 0    the run, or all bytes if there are no loops
 *     dimension 1..3 the loops, innermost first; the last loop has no wrap: Buffer_Length ends it
 *
 * Zeros are copied from the block of zeros: the padding of the controller adds zeros to a stream,
 * but does not fill memory.
 */
#include <stdio.h>

#include "target/controller/encoder.h"

enum {
    WORD = 4,            /* bytes */
    DIMENSIONS = 4,      /* a descriptor has a run and three loops around it */
    WRAP_MAX = 1023,     /* maximum of D0_Wrap .. D2_Wrap */
    STEP_MAX = 131071,   /* in words; drivers do not use the largest value of the field */
    LENGTH_MAX = 131071, /* maximum of Buffer_Length */
    SIDE_SIZE = 32       /* bytes of one buffer descriptor */
};

/* One side of a move. Words of 32 bits; a wrap of 0 means that the dimension does not wrap. */
struct side {
    const char *name; /* name of the direction: MM2S or S2MM */
    uint64_t length, base;
    uint64_t step[DIMENSIONS], wrap[DIMENSIONS - 1];
};

/*
 * Returns the bits below a word that a size, step or address of a piece has: 0 if all are
 * multiples of words.
 */
static uint64_t odd_bits(const struct mli_copy_box *box)
{
    uint64_t bits = (uintptr_t)box->src | (uintptr_t)box->dst | box->run;

    for (size_t i = 0; i < box->loops; i++)
        bits |= box->loop[i].src_step | box->loop[i].dst_step;
    return bits % WORD;
}

static const char *refuses(const struct target_profile *profile, const struct mli_descriptor *piece)
{
    const struct mli_copy_box *box = &piece->box;

    if (odd_bits(box) != 0)
        return "its addresses, steps and sizes are not multiples of 4 bytes";
    if (controller_fills(piece))
        return profile->dma.fills ? "a buffer descriptor cannot write zeros" : NULL;
    for (size_t i = 0; i < box->loops; i++)
        if (box->loop[i].src_step == 0)
            return "it reads the same bytes several times, but a step must be at least 4 bytes";
    return NULL;
}

static struct side contiguous(const char *name, uint64_t address,
                              const struct mli_descriptor *piece)
{
    return (struct side){
        .name = name, .length = piece->bytes / WORD, .base = address / WORD, .step = {1, 1, 1, 1}};
}

/* Loop i of a box, counted from the innermost loop, is dimension i + 1. */
static void add_dimensions(struct side *side, const struct mli_copy_box *box, bool source)
{
    for (size_t i = 0; i < box->loops; i++) {
        const struct mli_copy_loop *loop = &box->loop[box->loops - 1 - i];
        const size_t inner = i == 0 ? box->run / WORD : loop[1].count;

        side->wrap[i] = inner;
        side->step[i + 1] = (source ? loop->src_step : loop->dst_step) / WORD;
    }
}

static void add(const struct side *side, const char *field, uint64_t value, bool hex,
                struct controller_descriptor *out)
{
    char name[CONTROLLER_FIELD_NAME_MAX];

    snprintf(name, sizeof name, "%s %s", side->name, field);
    if (hex)
        controller_add_hex(out, name, value);
    else
        controller_add(out, name, value);
}

static void add_fields(const struct side *side, struct controller_descriptor *out)
{
    static const char *const steps[] = {"D0_Stepsize", "D1_Stepsize", "D2_Stepsize", "D3_Stepsize"};
    static const char *const wraps[] = {"D0_Wrap", "D1_Wrap", "D2_Wrap"};

    add(side, "Buffer_Length", side->length, false, out);
    add(side, "Base_Address", side->base, true, out);
    for (size_t i = 0; i < DIMENSIONS; i++) {
        add(side, steps[i], side->step[i] - 1, false, out);
        if (i < DIMENSIONS - 1)
            add(side, wraps[i], side->wrap[i], false, out);
    }
    add(side, "Valid_BD", 1, false, out);
}

/* The fields that stay 0: packets, padding, compression, iteration, locks, the next descriptor. */
static void put_words(const struct side *side, struct controller_descriptor *out)
{
    controller_put(out, 32, side->length);
    controller_put(out, 32, side->base);
    for (size_t i = 0; i < DIMENSIONS - 1; i++)
        controller_put(out, 32, side->wrap[i] << 17 | (side->step[i] - 1));
    controller_put(out, 32, side->step[DIMENSIONS - 1] - 1);
    controller_put(out, 32, 0);
    controller_put(out, 32, UINT32_C(1) << 31); /* Valid_BD */
}

static void encode(const struct controller_place *place, const struct mli_descriptor *piece,
                   struct controller_descriptor *out)
{
    const struct mli_copy_box *box = &piece->box;
    const bool fills = controller_fills(piece);
    struct side reader = contiguous("MM2S", fills ? place->zeros : controller_src(piece), piece);
    struct side writer = contiguous("S2MM", controller_dst(piece), piece);

    if (!fills)
        add_dimensions(&reader, box, true);
    add_dimensions(&writer, box, false);
    add_fields(&reader, out);
    put_words(&reader, out);
    add_fields(&writer, out);
    put_words(&writer, out);
}

/* Source: AIE-ML Register Reference AM025, MEMORY_TILE_MODULE. */
const struct controller controller_aie = {
    .kind = PROFILE_AIE,
    .title = "AMD AIE-ML memory tile DMA",
    .descriptor_alignment = SIDE_SIZE,
    .descriptor_bytes = (size_t)2 * SIDE_SIZE,
    .count_max = WRAP_MAX,
    .run_max = (size_t)WRAP_MAX * WORD,
    .step_max = (size_t)STEP_MAX * WORD,
    .bytes_max = (size_t)LENGTH_MAX * WORD,
    .linear_run_max = (uint64_t)LENGTH_MAX * WORD,
    .distinct_rows = true,
    .refuses = refuses,
    .encode = encode,
};

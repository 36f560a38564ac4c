/* SPDX-License-Identifier: BSD-3-Clause */
/* Encodes single pieces, and compares their bytes with bytes computed by hand. */
#ifndef TEST_TARGET_ENCODING_H
#define TEST_TARGET_ENCODING_H

#include <string.h>

#include "target/controller/encoder.h"
#include "tests/support/unit.h"

/* Returns a copy of contiguous bytes between addresses of the board. */
static inline struct mli_descriptor copy_of(uint64_t src, uint64_t dst, size_t run)
{
    struct mli_descriptor piece = {.bytes = run};

    piece.box.src = (const uint8_t *)(uintptr_t)src;
    piece.box.dst = (uint8_t *)(uintptr_t)dst;
    piece.box.run = run;
    return piece;
}

/* Returns a piece that writes zeros to contiguous bytes. */
static inline struct mli_descriptor fill_of(uint64_t dst, size_t run)
{
    struct mli_descriptor piece = copy_of(0, dst, run);

    piece.index = 1;
    return piece;
}

/* Puts a loop into a piece, between its run and its other loops. */
static inline struct mli_descriptor looped(struct mli_descriptor piece, size_t count,
                                           size_t src_step, size_t dst_step)
{
    piece.box.loop[piece.box.loops++] = (struct mli_copy_loop){count, src_step, dst_step};
    piece.bytes *= count;
    return piece;
}

/* Encodes a piece into *out, which the caller owns because it is large. */
static inline void encode_piece(const struct controller *controller,
                                const struct controller_place *place,
                                const struct mli_descriptor *piece,
                                struct controller_descriptor *out)
{
    out->field_count = 0;
    out->size = 0;
    if (controller->refuses)
        assert_null(controller->refuses(place->profile, piece));
    controller->encode(place, piece, out);
    assert_int_equal(out->size, controller->descriptor_bytes > 0
                                    ? controller->descriptor_bytes
                                    : controller->size(place->profile, piece));
}

/* Returns the value of the first field with that name. Fails the test if no field has it. */
static inline uint64_t field_of(const struct controller_descriptor *out, const char *name)
{
    for (size_t i = 0; i < out->field_count; i++)
        if (strcmp(out->field[i].name, name) == 0)
            return out->field[i].value;
    fail_msg("no field %s", name);
    return 0;
}

#define assert_bytes(out, ...)                                                                     \
    do {                                                                                           \
        const uint8_t want[] = {__VA_ARGS__};                                                      \
                                                                                                   \
        assert_int_equal((out)->size, sizeof want);                                                \
        assert_memory_equal((out)->bytes, want, sizeof want);                                      \
    } while (0)

/* Returns little-endian word `index` of a descriptor. */
static inline uint32_t word_of(const struct controller_descriptor *out, size_t index)
{
    const uint8_t *at = out->bytes + 4 * index;

    assert_true(4 * index + 4 <= out->size);
    return at[0] | (uint32_t)at[1] << 8 | (uint32_t)at[2] << 16 | (uint32_t)at[3] << 24;
}

#endif /* TEST_TARGET_ENCODING_H */

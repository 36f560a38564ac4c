/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Decoders: functions that access a board's memory as a DMA controller does. Each decoder is
 * written from documents about the controller. It reads the descriptors in the board's memory (or
 * the register writes), and uses neither the pieces of the plan nor code of target/controller.
 *
 *   a chain in memory    decoder->chain: from the first address, by the controller's own pointers,
 *                        to the end that the descriptors mark
 *   registers            decoder->one: one transfer at a time, from the values written
 *
 * A decoder is strict: reserved bits, sizes of 0, misaligned addresses and values that documents
 * leave undefined are faults of the board.
 *
 * To add a decoder, start here: write decode_NAME.c, declare the decoder below, add it to decoders
 * in decoder.c, and add a list written by hand to test_decoders.c. test_controllers.c finds the
 * decoder by the controller of a profile.
 */
#ifndef TEST_DECODER_H
#define TEST_DECODER_H

#include "target/controller/controller.h"
#include "tests/target/board_model.h"

struct decoder {
    enum profile_controller kind;
    const char *name;
    /**
     * Executes the chain at address `first`. Sets *executed to the number of its descriptors, or
     * to 0 for a program. Returns false after a fault. The member is null if the controller has
     * registers instead of chains.
     */
    bool (*chain)(struct board *board, uint64_t first, uint64_t *executed);
    /** Executes one transfer that is written to registers. Returns false after a fault. */
    bool (*one)(struct board *board, const struct controller_descriptor *descriptor);
};

extern const struct decoder decode_zdma, decode_bcm2835, decode_pdma, decode_pl330, decode_hexagon,
    decode_aie2;

/* Returns the decoder for the controller of a profile, or null. */
const struct decoder *decoder_of(const struct target_profile *profile);

/* Returns bits high .. low of a word. */
static inline uint64_t bits_of(uint64_t word, unsigned high, unsigned low)
{
    return word >> low & (UINT64_MAX >> (63 - (high - low)));
}

#endif /* TEST_DECODER_H */

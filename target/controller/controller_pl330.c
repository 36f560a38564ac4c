/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Programs of the ARM PL330 (CoreLink DMA-330), as its driver executes them (pl330_program.h). A
 * piece is a part of the program of one channel thread; the parts of a list follow one another in
 * memory. DMAWMB, DMASEV and DMAEND at the end of the last part end the thread; other parts have
 * DMANOP in their place.
 *
 * A field is an instruction with its operand; for instructions without an operand it is the number
 * of times that the instruction is repeated.
 */
#include <string.h>

#include "target/controller/encoder.h"
#include "target/controller/pl330_program.h"

enum {
    BEAT_MAX = 16, /* maximum width of the bus, in bytes */
    EVENT = 0      /* the event that the last part sends; stored at bit 3 of its operand */
};

/* The operand of an instruction, and how it is shown to people. */
enum operand {
    REPEATED,   /* no operand: the field shows the number of repetitions */
    NUMBER,     /* a number */
    ITERATIONS, /* a number that the instruction stores as one less */
    BITS        /* a number in hexadecimal */
};

static const struct instruction {
    const char *name;
    uint8_t code[2];
    uint8_t code_bytes, operand_bytes;
    enum operand operand;
} instructions[] = {
    {"DMAMOV SAR", {DMAMOV, SAR}, 2, 4, BITS},
    {"DMAMOV CCR", {DMAMOV, CCR}, 2, 4, BITS},
    {"DMAMOV DAR", {DMAMOV, DAR}, 2, 4, BITS},
    {"DMALP LC0", {DMALP}, 1, 1, ITERATIONS},
    {"DMALP LC1", {DMALP | 1 << 1}, 1, 1, ITERATIONS},
    {"DMALPEND LC0", {DMALPEND}, 1, 1, NUMBER},
    {"DMALPEND LC1", {DMALPEND | 1 << 2}, 1, 1, NUMBER},
    {"DMALD, DMAST", {DMALD, DMAST}, 2, 0, REPEATED},
    {"DMASTZ", {DMASTZ}, 1, 0, REPEATED},
    {"DMAADDH SAR", {DMAADDH}, 1, 2, NUMBER},
    {"DMAADDH DAR", {DMAADDH | 1 << 1}, 1, 2, NUMBER},
    {"DMAADNH SAR", {DMAADNH}, 1, 2, BITS},
    {"DMAADNH DAR", {DMAADNH | 1 << 1}, 1, 2, BITS},
    {"DMANOP", {DMANOP}, 1, 0, REPEATED},
    {"DMAWMB", {DMAWMB}, 1, 0, REPEATED},
    {"DMASEV", {DMASEV}, 1, 1, NUMBER},
    {"DMAEND", {DMAEND}, 1, 0, REPEATED},
};

/* Returns the instruction that begins at a byte of a program. */
static const struct instruction *instruction_at(const uint8_t *code)
{
    const struct instruction *found = instructions;

    while (memcmp(found->code, code, found->code_bytes) != 0)
        found++;
    return found;
}

/* Appends the instruction at `code`, with its repetitions. Returns the number of its bytes. */
static size_t add_instruction(struct controller_descriptor *out, const uint8_t *code,
                              const uint8_t *end)
{
    const struct instruction *found = instruction_at(code);
    size_t size = found->code_bytes;
    uint64_t value = found->operand == ITERATIONS;

    for (unsigned i = 0; i < found->operand_bytes; i++)
        value += (uint64_t)code[size++] << 8 * i;
    if (found->operand == REPEATED)
        for (value = 1; code + size < end && instruction_at(code + size) == found; value++)
            size += found->code_bytes;
    if (found->operand == BITS)
        controller_add_hex(out, found->name, value);
    else
        controller_add(out, found->name, value);
    return size;
}

static void encode(const struct controller_place *place, const struct mli_descriptor *piece,
                   struct controller_descriptor *out)
{
    const uint32_t bus_bytes = place->profile->dma.bus_bytes;
    const struct pl330_bus bus = {
        .bytes = bus_bytes < BEAT_MAX ? bus_bytes : BEAT_MAX,
        .burst_bytes = place->profile->dma.burst_bytes,
    };
    const struct mli_copy_box *box = &piece->box;
    struct pl330_piece rows = {
        .copies = !controller_fills(piece),
        .src = (uint32_t)controller_src(piece),
        .dst = (uint32_t)controller_dst(piece),
        .run = (uint32_t)box->run,
        .rows = 1,
    };
    uint8_t code[PL330_PART_MAX + PL330_END_BYTES];
    size_t size;

    if (box->loops > 0) {
        rows.rows = (uint32_t)box->loop[0].count;
        rows.src_step = (uint32_t)box->loop[0].src_step;
        rows.dst_step = (uint32_t)box->loop[0].dst_step;
    }
    size = pl330_program_part(&bus, &rows, code).size;
    (void)pl330_program_end(EVENT, code + size);
    if (place->next != 0)
        memset(code + size, DMANOP, PL330_END_BYTES);
    size += PL330_END_BYTES;
    for (size_t at = 0; at < size;)
        at += add_instruction(out, code + at, code + size);
    for (size_t at = 0; at < size; at++)
        controller_put(out, 8, code[at]);
}

static size_t size(const struct target_profile *profile, const struct mli_descriptor *piece)
{
    const struct controller_place place = {.profile = profile};
    struct controller_descriptor out;

    out.field_count = 0;
    out.size = 0;
    encode(&place, piece, &out);
    return out.size;
}

/* Source: PrimeCell DMA Controller (PL330) TRM, ARM DDI 0424. */
const struct controller controller_pl330 = {
    .kind = PROFILE_PL330,
    .title = "ARM PL330 (CoreLink DMA-330)",
    .descriptor_alignment = 1,
    .count_max = PL330_ROWS_MAX,
    .run_max = PL330_RUN_MAX,
    .linear_run_max = PL330_LINEAR_MAX,
    .gap_max = PL330_GAP_MAX,
    .size = size,
    .encode = encode,
};

/* SPDX-License-Identifier: BSD-3-Clause */
#include "tests/target/field_bytes.h"

#include <string.h>

/* A field of `bits` bits that begins at bit `at` of the descriptor. */
struct field_place {
    enum profile_controller kind;
    const char *name;
    uint32_t at, bits;
};

#define WORD(n) (32 * (n))

/* The fields of one buffer descriptor of a memory tile, which begins at bit `at`. */
#define AIE_BD(side, at)                                                                           \
    {PROFILE_AIE, side " Buffer_Length", (at) + WORD(0), 17},                                      \
        {PROFILE_AIE, side " Base_Address", (at) + WORD(1), 19},                                   \
        {PROFILE_AIE, side " D0_Stepsize", (at) + WORD(2), 17},                                    \
        {PROFILE_AIE, side " D0_Wrap", (at) + WORD(2) + 17, 10},                                   \
        {PROFILE_AIE, side " D1_Stepsize", (at) + WORD(3), 17},                                    \
        {PROFILE_AIE, side " D1_Wrap", (at) + WORD(3) + 17, 10},                                   \
        {PROFILE_AIE, side " D2_Stepsize", (at) + WORD(4), 17},                                    \
        {PROFILE_AIE, side " D2_Wrap", (at) + WORD(4) + 17, 10},                                   \
        {PROFILE_AIE, side " D3_Stepsize", (at) + WORD(5), 17},                                    \
    {                                                                                              \
        PROFILE_AIE, side " Valid_BD", (at) + WORD(7) + 31, 1                                      \
    }

/* The fields of one descriptor of a queue, which begins at bit `at`. */
#define ZDMA(side, at)                                                                             \
    {PROFILE_ZDMA, side " ADDR", (at) + WORD(0), 44},                                              \
        {PROFILE_ZDMA, side " SIZE", (at) + WORD(2), 30},                                          \
        {PROFILE_ZDMA, side " COHRNT", (at) + WORD(3), 1},                                         \
        {PROFILE_ZDMA, side " TYPE", (at) + WORD(3) + 1, 1},                                       \
        {PROFILE_ZDMA, side " INTR", (at) + WORD(3) + 2, 1},                                       \
        {PROFILE_ZDMA, side " CMD", (at) + WORD(3) + 3, 2},                                        \
    {                                                                                              \
        PROFILE_ZDMA, side " NEXT", (at) + WORD(4), 44                                             \
    }

static const struct field_place places[] = {
    ZDMA("SRC", 0),
    ZDMA("DST", WORD(8)),
    AIE_BD("MM2S", 0),
    AIE_BD("S2MM", WORD(8)),
    {PROFILE_BCM2835, "TI", WORD(0), 32},
    {PROFILE_BCM2835, "SOURCE_AD", WORD(1), 32},
    {PROFILE_BCM2835, "DEST_AD", WORD(2), 32},
    {PROFILE_BCM2835, "TXFR_LEN", WORD(3), 32},
    {PROFILE_BCM2835, "XLENGTH", WORD(3), 16},
    {PROFILE_BCM2835, "YLENGTH", WORD(3) + 16, 14},
    {PROFILE_BCM2835, "S_STRIDE", WORD(4), 16},
    {PROFILE_BCM2835, "D_STRIDE", WORD(4) + 16, 16},
    {PROFILE_BCM2835, "NEXTCONBK", WORD(5), 32},
    {PROFILE_PDMA, "Control", WORD(0), 32},
    {PROFILE_PDMA, "NextConfig", WORD(1), 32},
    {PROFILE_PDMA, "NextBytes", WORD(2), 64},
    {PROFILE_PDMA, "NextDestination", WORD(4), 64},
    {PROFILE_PDMA, "NextSource", WORD(6), 64},
    {PROFILE_HEXAGON, "next", WORD(0), 32},
    {PROFILE_HEXAGON, "length", WORD(1), 24},
    {PROFILE_HEXAGON, "desc_size", WORD(1) + 24, 2},
    {PROFILE_HEXAGON, "src", WORD(2), 32},
    {PROFILE_HEXAGON, "dst", WORD(3), 32},
    {PROFILE_HEXAGON, "roi_width", WORD(5), 16},
    {PROFILE_HEXAGON, "roi_height", WORD(5) + 16, 16},
    {PROFILE_HEXAGON, "src_stride", WORD(6), 16},
    {PROFILE_HEXAGON, "dst_stride", WORD(6) + 16, 16},
};

static bool put_places(enum profile_controller kind, const struct controller_descriptor *descriptor,
                       uint8_t *bytes)
{
    for (size_t i = 0; i < descriptor->field_count; i++) {
        const struct controller_field *field = &descriptor->field[i];
        const struct field_place *place = places, *end = places + sizeof places / sizeof *places;

        while (place < end && (place->kind != kind || strcmp(place->name, field->name) != 0))
            place++;
        if (place == end || (place->bits < 64 && field->value >> place->bits != 0))
            return false;
        for (uint32_t b = 0; b < place->bits; b++)
            bytes[(place->at + b) / 8] |= (uint8_t)((field->value >> b & 1) << (place->at + b) % 8);
    }
    return true;
}

/* One or more instructions of the PL330: the opcodes, and then a value of `imm` bytes. */
struct instruction {
    const char *name;
    uint8_t opcode[2];
    uint32_t opcodes, imm;
    uint32_t minus; /* number that is subtracted from the value when it is stored */
};

static const struct instruction instructions[] = {
    {"DMAMOV SAR", {0xbc, 0}, 2, 4, 0}, {"DMAMOV CCR", {0xbc, 1}, 2, 4, 0},
    {"DMAMOV DAR", {0xbc, 2}, 2, 4, 0}, {"DMALP LC0", {0x20}, 1, 1, 1},
    {"DMALP LC1", {0x22}, 1, 1, 1},     {"DMALPEND LC0", {0x38}, 1, 1, 0},
    {"DMALPEND LC1", {0x3c}, 1, 1, 0},  {"DMAADDH SAR", {0x54}, 1, 2, 0},
    {"DMAADDH DAR", {0x56}, 1, 2, 0},   {"DMAADNH SAR", {0x5c}, 1, 2, 0},
    {"DMAADNH DAR", {0x5e}, 1, 2, 0},   {"DMALD, DMAST", {0x04, 0x08}, 2, 0, 0},
    {"DMALD", {0x04}, 1, 0, 0},         {"DMAST", {0x08}, 1, 0, 0},
    {"DMASTZ", {0x0c}, 1, 0, 0},        {"DMAWMB", {0x13}, 1, 0, 0},
    {"DMARMB", {0x12}, 1, 0, 0},        {"DMANOP", {0x18}, 1, 0, 0},
    {"DMAEND", {0x00}, 1, 0, 0},        {"DMASEV", {0x34}, 1, 1, 0},
};

/*
 * Appends the instruction of a field with the operand `value`. An instruction without operand is
 * repeated `value` times.
 */
static bool put_instruction(const struct instruction *instruction, uint64_t value, uint8_t *bytes,
                            size_t *size)
{
    const uint64_t times = instruction->imm ? 1 : value;
    const bool event = strcmp(instruction->name, "DMASEV") == 0;

    value = event ? value << 3 : value - instruction->minus;
    if (instruction->imm > 0 && value >> 8 * instruction->imm != 0)
        return false;
    for (uint64_t t = 0; t < times; t++) {
        if (*size + instruction->opcodes + instruction->imm > CONTROLLER_BYTES_MAX)
            return false;
        for (uint32_t i = 0; i < instruction->opcodes; i++)
            bytes[(*size)++] = instruction->opcode[i];
        for (uint32_t i = 0; i < instruction->imm; i++)
            bytes[(*size)++] = (uint8_t)(value >> 8 * i);
    }
    return true;
}

static bool put_program(const struct controller_descriptor *descriptor, uint8_t *bytes)
{
    const size_t count = sizeof instructions / sizeof *instructions;
    size_t size = 0;

    for (size_t i = 0; i < descriptor->field_count; i++) {
        const struct controller_field *field = &descriptor->field[i];
        size_t k = 0;

        while (k < count && strcmp(instructions[k].name, field->name) != 0)
            k++;
        if (k == count || !put_instruction(&instructions[k], field->value, bytes, &size))
            return false;
    }
    return size == descriptor->size;
}

bool field_bytes_differ(enum profile_controller kind,
                        const struct controller_descriptor *descriptor)
{
    uint8_t bytes[CONTROLLER_BYTES_MAX] = {0};
    const bool known = kind == PROFILE_PL330 ? put_program(descriptor, bytes)
                                             : put_places(kind, descriptor, bytes);

    return !known || memcmp(bytes, descriptor->bytes, descriptor->size) != 0;
}

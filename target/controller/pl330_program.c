/* SPDX-License-Identifier: BSD-3-Clause */
#include "target/controller/pl330_program.h"

enum {
    ITERATIONS_MAX = 256,
    ADDITION_MAX = 65535, /* maximum number that one DMAADDH adds */
    BEATS_MAX = 16,       /* maximum beats of a burst */
    PHASES_MAX = 5,
    UNROLLED_MAX = 3, /* maximum bursts without a loop: their code is not longer than a loop */
    UNDEFINED = 0xff  /* a byte with which no instruction begins */
};

/* Bursts of one size: their number, the beats of each burst, and the bytes of each beat. */
struct phase {
    uint32_t beat, beats, count;
};

/* The bursts of a row, in the order of addresses. */
struct row {
    uint32_t phases;
    struct phase phase[PHASES_MAX];
};

/* A program part that is being written. */
struct writer {
    const struct pl330_bus *bus;
    const struct pl330_piece *piece;
    uint8_t *at; /* address of the next byte */
};

static uint32_t lesser(uint32_t a, uint32_t b)
{
    return a < b ? a : b;
}

static void add_phase(struct row *row, uint32_t beat, uint32_t beats, uint32_t count)
{
    if (beats > 0 && count > 0)
        row->phase[row->phases++] = (struct phase){beat, beats, count};
}

/* Returns the logarithm of a power of two. */
static uint32_t log2_of(uint32_t power)
{
    return (uint32_t)__builtin_ctz(power);
}

/*
 * Divides the run at an address into bursts of `size` bytes. Each burst begins at a multiple of its
 * size; shorter bursts come before and after them: bytes up to a multiple of a beat, and beats up
 * to a multiple of the size.
 */
static struct row divide(uint32_t address, uint32_t run, uint32_t size, uint32_t bus)
{
    const uint32_t beat = lesser(size, bus), shift = log2_of(beat);
    const uint32_t bytes = lesser(-address & (beat - 1), run);
    const uint32_t head = lesser(-address & (size - 1), run) - bytes;
    struct row row = {0};

    add_phase(&row, 1, 1, bytes);
    add_phase(&row, beat, head >> shift, 1);
    run -= bytes + (head & -beat);
    add_phase(&row, beat, size >> shift, run >> log2_of(size));
    run &= size - 1;
    add_phase(&row, beat, run >> shift, 1);
    add_phase(&row, 1, 1, run & (beat - 1));
    return row;
}

static uint32_t count_bursts(const struct row *row)
{
    uint32_t bursts = 0;

    for (uint32_t i = 0; i < row->phases; i++)
        bursts += row->phase[i].count;
    return bursts;
}

/* Returns a number that is a multiple of each power of two to which all bursts can be aligned. */
static uint32_t common_bits(const struct pl330_piece *piece)
{
    uint32_t bits = piece->copies ? piece->src ^ piece->dst : 0;

    if (piece->rows > 1)
        bits |= piece->dst_step | (piece->copies ? piece->src_step : 0);
    return bits;
}

/* Returns the division of a row with the fewest bursts. */
static struct row divide_best(const struct pl330_bus *bus, const struct pl330_piece *piece)
{
    const uint32_t longest = lesser(bus->burst_bytes, bus->bytes * BEATS_MAX);
    const uint32_t bits = common_bits(piece);
    struct row best = divide(piece->dst, piece->run, 1, bus->bytes);

    for (uint32_t size = 2; size <= longest && (bits & (size - 1)) == 0; size *= 2) {
        const struct row row = divide(piece->dst, piece->run, size, bus->bytes);

        if (count_bursts(&row) < count_bursts(&best))
            best = row;
    }
    return best;
}

/* Appends a byte of an instruction. */
static void put(struct writer *w, uint32_t byte)
{
    *w->at++ = (uint8_t)byte;
}

/* Appends the low half of a word, the low byte first. */
static void put_half(struct writer *w, uint32_t half)
{
    put(w, half);
    put(w, half >> 8);
}

static void put_move(struct writer *w, uint32_t which, uint32_t value)
{
    put(w, DMAMOV);
    put(w, which);
    put_half(w, value);
    put_half(w, value >> 16);
}

/* Begins a loop with counter 0 or 1. Returns the address of the first instruction in it. */
static const uint8_t *begin_loop(struct writer *w, uint32_t counter, uint32_t iterations)
{
    put(w, DMALP | counter << 1);
    put(w, iterations - 1);
    return w->at;
}

static void end_loop(struct writer *w, uint32_t counter, const uint8_t *first)
{
    const uint32_t back = (uint32_t)(w->at - first);

    put(w, DMALPEND | counter << 2);
    put(w, back);
}

/* Sets the length and size of bursts; the addresses of both sides advance. */
static void put_control(struct writer *w, const struct phase *phase)
{
    const uint32_t size = log2_of(phase->beat), length = phase->beats - 1;

    put_move(w, CCR,
             w->bus->control | 1U | size << 1 | length << 4 | 1U << 14 | size << 15 | length << 18);
}

/* Appends bursts without a loop. */
static void put_bursts(struct writer *w, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        if (w->piece->copies) {
            put(w, DMALD);
            put(w, DMAST);
        } else {
            put(w, DMASTZ);
            if (w->bus->zero_barriers)
                put(w, DMAWMB);
        }
    }
}

/*
 * Appends `count` bursts, most of them in one loop. If `count` exceeds the maximum of the loop's
 * counter, each iteration has several bursts. The remaining bursts follow the loop.
 */
static void put_loop(struct writer *w, uint32_t count)
{
    while (count > UNROLLED_MAX) {
        const uint32_t each = (count + ITERATIONS_MAX - 1) / ITERATIONS_MAX;
        const uint8_t *first = begin_loop(w, 0, count / each);

        put_bursts(w, each);
        end_loop(w, 0, first);
        count %= each;
    }
    put_bursts(w, count);
}

/* Appends bursts that both loop counters repeat if one is not enough. */
static void put_loops(struct writer *w, uint32_t count)
{
    const uint32_t inner =
        ((count - 1) / ((uint32_t)ITERATIONS_MAX * ITERATIONS_MAX) + 1) * ITERATIONS_MAX;
    const uint8_t *first;

    if (count >= 2 * ITERATIONS_MAX) {
        first = begin_loop(w, 1, count / inner);
        put_loop(w, inner);
        end_loop(w, 1, first);
        count %= inner;
    }
    put_loop(w, count);
}

/*
 * Adds the bytes from the end of a row to the next row to an address. DMAADNH adds a negative
 * number: its operand is the low half of this number.
 */
static void put_gap(struct writer *w, bool destination, uint32_t gap)
{
    const uint32_t which = destination ? 1U << 1 : 0;

    if (gap >> 31) {
        put(w, DMAADNH | which);
        put_half(w, gap);
        return;
    }
    while (gap > 0) {
        const uint32_t part = lesser(gap, ADDITION_MAX);

        put(w, DMAADDH | which);
        put_half(w, part);
        gap -= part;
    }
}

static void put_row(struct writer *w, const struct row *row)
{
    for (uint32_t i = 0; i < row->phases; i++) {
        if (row->phases > 1)
            put_control(w, &row->phase[i]);
        if (w->piece->rows > 1)
            put_loop(w, row->phase[i].count);
        else
            put_loops(w, row->phase[i].count);
    }
}

struct pl330_part pl330_program_part(const struct pl330_bus *bus, const struct pl330_piece *piece,
                                     uint8_t *code)
{
    const struct row row = divide_best(bus, piece);
    struct writer w = {.bus = bus, .piece = piece, .at = code};
    const uint8_t *first = code;

    if (piece->copies)
        put_move(&w, SAR, piece->src);
    put_move(&w, DAR, piece->dst);
    if (!piece->copies && bus->zero_barriers)
        put(&w, DMAWMB);
    if (row.phases == 1)
        put_control(&w, &row.phase[0]);
    if (piece->rows > 1)
        first = begin_loop(&w, 1, piece->rows);
    put_row(&w, &row);
    if (piece->rows > 1) {
        if (piece->copies)
            put_gap(&w, false, piece->src_step - piece->run);
        put_gap(&w, true, piece->dst_step - piece->run);
    }
    if (piece->barriers)
        put(&w, DMAWMB);
    if (piece->rows > 1)
        end_loop(&w, 1, first);
    return (struct pl330_part){.size = (uint32_t)(w.at - code), .loop = (uint32_t)(first - code)};
}

uint32_t pl330_program_rows(const struct pl330_piece *piece, const struct pl330_part *part,
                            uint32_t offset, uint32_t counter)
{
    if (part->loop == 0 || offset < part->loop || counter >= piece->rows)
        return 0;
    return piece->rows - 1 - counter;
}

uint32_t pl330_program_end(uint32_t event, uint8_t *code)
{
    struct writer w = {.at = code};

    put(&w, DMAWMB);
    put(&w, DMASEV);
    put(&w, event << 3);
    put(&w, DMAEND);
    return (uint32_t)(w.at - code);
}

uint32_t pl330_program_wait(uint32_t event, uint8_t *code)
{
    struct writer w = {.at = code};

    put(&w, DMAWMB);
    put(&w, DMAWFE);
    put(&w, event << 3);
    return (uint32_t)(w.at - code);
}

uint32_t pl330_program_trap(uint8_t *code)
{
    *code = UNDEFINED;
    return 1;
}

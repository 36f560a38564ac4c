/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Programs of the ARM PL330 (CoreLink DMA-330). A piece is a part of the program of one channel
 * thread; the parts of a list follow one another in memory, and the last part ends the thread.
 *
 *     DMAMOV SAR, DAR          addresses
 *     DMALP LC1                rows
 *         DMAMOV CCR           length and size of the bursts that follow
 *         DMALP LC0            bursts of a row
 *             DMALD, DMAST     one burst from memory to the FIFO, and from there to memory;
 *             (DMASTZ)         or one burst of zeros
 *         DMALPEND LC0
 *         DMAADDH SAR, DAR     from the end of a row to the next row
 *     DMALPEND LC1
 *     DMAWMB, DMASEV, DMAEND   only in the last part; other parts have DMANOP
 *
 * Bursts. Source and destination of a burst are multiples of its size, so that no burst crosses a
 * 4 KiB boundary and the FIFO shifts no bytes. Bursts of several beats have beats as wide as the
 * bus. Bytes before and after the bursts of full size are moved by shorter bursts.
 *
 * A field is an instruction with its operand; for DMALD, DMAST, DMASTZ and DMANOP it is the number
 * of times that the instruction is repeated.
 */
#include "target/controller/encoder.h"

enum {
    ITERATIONS_MAX = 256, /* iterations of a loop */
    ADDITION_MAX = 65535, /* bytes that one DMAADDH adds */
    ADDITIONS_MAX = 4,    /* the encoder's limit for each side */
    BEATS_MAX = 16,       /* beats of a burst */
    BEAT_MAX = 16,        /* bytes of the widest bus */
    /*
     * The encoder's limits: programs are at most CONTROLLER_BYTES_MAX long, also if every burst is
     * one byte. A loop can repeat 64 bursts in a row, or 32 if both loop counters repeat bursts.
     */
    ROW_MAX = 64 * ITERATIONS_MAX,
    LINEAR_MAX = 32 * ITERATIONS_MAX * ITERATIONS_MAX,
    PHASES_MAX = 5,
    UNROLLED_MAX = 3, /* bursts that are repeated without a loop: no longer than with one */
    EVENT = 0         /* number of the event that the last part sends */
};

/* Instructions: the first byte. */
enum {
    DMAEND = 0x00,
    DMALD = 0x04,
    DMAST = 0x08,
    DMASTZ = 0x0c,
    DMAWMB = 0x13,
    DMANOP = 0x18,
    DMALP = 0x20,
    DMASEV = 0x34,
    DMALPEND = 0x38,
    DMAADDH = 0x54,
    DMAADNH = 0x5c,
    DMAMOV = 0xbc
};
/* Registers of DMAMOV. The order of addresses in DMAADDH is SAR, DAR. */
enum { SAR = 0, CCR = 1, DAR = 2 };

/* Bursts of one size: their number, the beats of each burst, and the bytes of each beat. */
struct phase {
    uint32_t beat, beats;
    uint64_t count;
};

/* The bursts of a row, in the order of addresses. */
struct row {
    uint32_t phases;
    struct phase phase[PHASES_MAX];
};

/* A piece on the way to its program. */
struct program {
    struct controller_descriptor *out;
    bool copies; /* false: DMASTZ */
    uint64_t src, dst, run, rows, src_step, dst_step;
};

static uint64_t lesser(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

static void add_phase(struct row *row, uint32_t beat, uint64_t beats, uint64_t count)
{
    if (beats > 0 && count > 0)
        row->phase[row->phases++] = (struct phase){beat, (uint32_t)beats, count};
}

/*
 * Divides a run at an address into bursts of `size` bytes, of which each begins at a multiple of
 * its size, and shorter ones before and after them: bytes up to a multiple of a beat, and beats up
 * to a multiple of the size.
 */
static struct row divide(uint64_t address, uint64_t run, uint32_t size, uint32_t bus)
{
    const uint32_t beat = size < bus ? size : bus;
    const uint64_t bytes = lesser(-address & (beat - 1), run);
    const uint64_t head = lesser(-address & (size - 1), run) - bytes;
    const uint32_t shift = (uint32_t)__builtin_ctz(beat);
    struct row row = {0};

    add_phase(&row, 1, 1, bytes);
    add_phase(&row, beat, head >> shift, 1);
    run -= bytes + (head & -(uint64_t)beat);
    add_phase(&row, beat, size >> shift, run / size);
    run &= size - 1;
    add_phase(&row, beat, run >> shift, 1);
    add_phase(&row, 1, 1, run & (beat - 1));
    return row;
}

static uint64_t count_bursts(const struct row *row)
{
    uint64_t bursts = 0;

    for (uint32_t i = 0; i < row->phases; i++)
        bursts += row->phase[i].count;
    return bursts;
}

/* Returns a number that is a multiple of each power of two to which all bursts can be aligned. */
static uint64_t common_bits(const struct program *p)
{
    uint64_t bits = p->copies ? p->src ^ p->dst : 0;

    if (p->rows > 1)
        bits |= p->dst_step | (p->copies ? p->src_step : 0);
    return bits;
}

/* Returns the division of a row with the fewest bursts. */
static struct row divide_best(const struct program *p, const struct target_profile *profile)
{
    const uint32_t bus = (uint32_t)lesser(profile->dma.bus_bytes, BEAT_MAX);
    const uint32_t longest = (uint32_t)lesser(profile->dma.burst_bytes, bus * BEATS_MAX);
    const uint64_t bits = common_bits(p);
    struct row best = divide(p->dst, p->run, 1, bus);

    for (uint32_t size = 2; size <= longest && (bits & (size - 1)) == 0; size *= 2) {
        struct row row = divide(p->dst, p->run, size, bus);

        if (count_bursts(&row) < count_bursts(&best))
            best = row;
    }
    return best;
}

/* Appends bytes of an instruction. */
static void put(const struct program *p, unsigned opcode)
{
    controller_put(p->out, 8, opcode);
}

static void move(const struct program *p, const char *name, unsigned which, uint64_t value)
{
    controller_add_hex(p->out, name, value);
    put(p, DMAMOV);
    put(p, which);
    controller_put(p->out, 32, value);
}

/* Begins a loop with counter 0 or 1. Returns the place of the first instruction in it. */
static size_t begin_loop(const struct program *p, unsigned counter, uint64_t iterations)
{
    controller_add(p->out, counter == 0 ? "DMALP LC0" : "DMALP LC1", iterations);
    put(p, DMALP | counter << 1);
    put(p, (unsigned)iterations - 1);
    return p->out->size;
}

static void end_loop(const struct program *p, unsigned counter, size_t first)
{
    const size_t back = p->out->size - first;

    controller_add(p->out, counter == 0 ? "DMALPEND LC0" : "DMALPEND LC1", back);
    put(p, DMALPEND | counter << 2);
    put(p, (unsigned)back);
}

/* Sets the length and size of bursts; the addresses of both sides advance. */
static void put_control(const struct program *p, const struct phase *phase)
{
    const uint32_t size = (uint32_t)__builtin_ctz(phase->beat), length = phase->beats - 1;

    move(p, "DMAMOV CCR", CCR, 1U | size << 1 | length << 4 | 1U << 14 | size << 15 | length << 18);
}

/* Appends bursts without a loop. */
static void put_bursts(const struct program *p, uint64_t count)
{
    controller_add(p->out, p->copies ? "DMALD, DMAST" : "DMASTZ", count);
    for (uint64_t i = 0; i < count; i++) {
        if (p->copies) {
            put(p, DMALD);
            put(p, DMAST);
        } else {
            put(p, DMASTZ);
        }
    }
}

/*
 * Appends bursts that one loop counter repeats: several bursts in a loop if there are more than the
 * counter's iterations, and the remainder behind the loop.
 */
static void put_loop(const struct program *p, uint64_t count)
{
    const uint64_t each = (count + ITERATIONS_MAX - 1) / ITERATIONS_MAX;
    size_t first;

    if (count <= UNROLLED_MAX) {
        if (count > 0)
            put_bursts(p, count);
        return;
    }
    first = begin_loop(p, 0, count / each);
    put_bursts(p, each);
    end_loop(p, 0, first);
    put_loop(p, count % each);
}

/* Appends bursts that both loop counters repeat if one is not enough. */
static void put_loops(const struct program *p, uint64_t count)
{
    const uint64_t each = (count - 1) / ((uint64_t)ITERATIONS_MAX * ITERATIONS_MAX) + 1;
    const uint64_t inner = each * ITERATIONS_MAX;
    size_t first;

    if (count < 2 * ITERATIONS_MAX) {
        put_loop(p, count);
        return;
    }
    first = begin_loop(p, 1, count / inner);
    put_loop(p, inner);
    end_loop(p, 1, first);
    put_loop(p, count % inner);
}

/* Adds the bytes from the end of a row to the next row to an address. */
static void put_gap(const struct program *p, bool destination, uint64_t gap)
{
    const unsigned which = destination ? 1U << 1 : 0;

    if (gap >> 63) {
        controller_add_hex(p->out, destination ? "DMAADNH DAR" : "DMAADNH SAR", gap & 0xffff);
        put(p, DMAADNH | which);
        controller_put(p->out, 16, gap & 0xffff);
        return;
    }
    while (gap > 0) {
        const uint64_t part = lesser(gap, ADDITION_MAX);

        controller_add(p->out, destination ? "DMAADDH DAR" : "DMAADDH SAR", part);
        put(p, DMAADDH | which);
        controller_put(p->out, 16, part);
        gap -= part;
    }
}

static void put_row(const struct program *p, const struct row *row)
{
    for (uint32_t i = 0; i < row->phases; i++) {
        if (row->phases > 1)
            put_control(p, &row->phase[i]);
        if (p->rows > 1)
            put_loop(p, row->phase[i].count);
        else
            put_loops(p, row->phase[i].count);
    }
}

static void put_rows(const struct program *p, const struct row *row)
{
    size_t first;

    if (p->copies)
        move(p, "DMAMOV SAR", SAR, p->src);
    move(p, "DMAMOV DAR", DAR, p->dst);
    if (row->phases == 1)
        put_control(p, &row->phase[0]);
    if (p->rows == 1) {
        put_row(p, row);
        return;
    }
    first = begin_loop(p, 1, p->rows);
    put_row(p, row);
    if (p->copies)
        put_gap(p, false, p->src_step - p->run);
    put_gap(p, true, p->dst_step - p->run);
    end_loop(p, 1, first);
}

/* Ends the thread, or fills the same number of bytes if another part of the list follows. */
static void put_end(const struct program *p, bool last)
{
    if (!last) {
        controller_add(p->out, "DMANOP", 4);
        controller_put(p->out, 32, DMANOP * UINT32_C(0x01010101));
        return;
    }
    controller_add(p->out, "DMAWMB", 1);
    put(p, DMAWMB);
    controller_add(p->out, "DMASEV", EVENT);
    put(p, DMASEV);
    put(p, EVENT << 3);
    controller_add(p->out, "DMAEND", 1);
    put(p, DMAEND);
}

static void encode(const struct controller_place *place, const struct mli_descriptor *piece,
                   struct controller_descriptor *out)
{
    const struct mli_copy_box *box = &piece->box;
    struct program p = {
        .out = out,
        .copies = !controller_fills(piece),
        .src = controller_src(piece),
        .dst = controller_dst(piece),
        .run = box->run,
        .rows = 1,
    };
    struct row row;

    if (box->loops > 0) {
        p.rows = box->loop[0].count;
        p.src_step = box->loop[0].src_step;
        p.dst_step = box->loop[0].dst_step;
    }
    row = divide_best(&p, place->profile);
    put_rows(&p, &row);
    put_end(&p, place->next == 0);
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

const struct controller controller_pl330 = {
    .kind = PROFILE_PL330,
    .name = "pl330",
    .title = "ARM PL330 (CoreLink DMA-330)",
    .manual = "PrimeCell DMA Controller (PL330) TRM, ARM DDI 0424",
    .descriptor_alignment = 1,
    .count_max = ITERATIONS_MAX,
    .run_max = ROW_MAX,
    .linear_run_max = LINEAR_MAX,
    .gap_max = (uint64_t)ADDITIONS_MAX * ADDITION_MAX,
    .size = size,
    .encode = encode,
};

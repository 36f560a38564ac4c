/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Tests decoders with descriptors written by hand from the documents. Each list is executed without
 * a change, and once for each of its bits with this bit flipped: the decoder must refuse the list,
 * or memory must differ, unless the bit is in `ignored`.
 */
#include <inttypes.h>
#include <string.h>

#include "tests/support/unit.h"
#include "tests/target/decoder.h"

#define DDR  UINT64_C(0x10000000)
#define SRAM UINT64_C(0x20000000)
#define TILE UINT64_C(0x80000)

enum { WORDS_MAX = 32, ROWS_MAX = 6, IGNORED_MAX = 16 };

/* Rows that a list must move. */
struct hand_rows {
    uint64_t src, dst; /* src 0: zeros */
    uint64_t run, count, src_step, dst_step;
};

/* Bits of a byte of the list that do not change what the list moves. */
struct hand_ignored {
    size_t byte;
    uint8_t mask;
};

/* A list in memory from `address` on, as bytes; or the bytes of registers. */
struct hand_list {
    const struct decoder *decoder;
    uint64_t address;
    uint64_t executed;
    size_t size;
    uint8_t bytes[4 * WORDS_MAX];
    struct hand_rows rows[ROWS_MAX]; /* a run of 0 ends the list */
    struct hand_ignored ignored[IGNORED_MAX];
};

static struct target_profile profile = {
    .name = "hand",
    .memory_count = 3,
    .memories = {{.name = "ddr", .base = DDR, .size = 1 << 20, .reached_by = PROFILE_DMA},
                 {.name = "tile", .base = TILE, .size = 1 << 19, .reached_by = PROFILE_DMA},
                 {.name = "sram", .base = SRAM, .size = 1 << 16, .reached_by = PROFILE_DMA}},
    .dma = {.loops = 1, .bus_bytes = 8, .burst_bytes = 128, .fills = true},
};

static struct board board;

static void list_words(struct hand_list *list, const uint32_t *words, size_t count)
{
    for (size_t i = 0; i < count; i++)
        for (unsigned k = 0; k < 4; k++)
            list->bytes[list->size++] = (uint8_t)(words[i] >> 8 * k);
}

static void want_rows(const struct hand_rows *rows)
{
    for (; rows->run > 0; rows++)
        for (uint64_t r = 0; r < rows->count; r++)
            for (uint64_t i = 0; i < rows->run; i++) {
                uint8_t byte = 0;

                if (rows->src)
                    board_peek(&board, rows->src + r * rows->src_step + i, &byte, 1);
                board_want(&board, rows->dst + r * rows->dst_step + i, &byte, 1);
            }
}

/* Registers of PDMA, with their offsets in the bytes of a list. */
static const struct {
    const char *name;
    size_t at, size;
} pdma_registers[] = {{"Control", 0, 4},
                      {"NextConfig", 4, 4},
                      {"NextBytes", 8, 8},
                      {"NextDestination", 16, 8},
                      {"NextSource", 24, 8}};

static bool write_registers(const struct hand_list *list, const uint8_t *bytes)
{
    static struct controller_descriptor registers;

    registers = (struct controller_descriptor){.size = list->size};
    memcpy(registers.bytes, bytes, list->size);
    for (size_t i = 0; list->decoder == &decode_pdma && i < COUNT_OF(pdma_registers); i++) {
        struct controller_field *field = &registers.field[registers.field_count++];

        strcpy(field->name, pdma_registers[i].name);
        memcpy(&field->value, bytes + pdma_registers[i].at, pdma_registers[i].size);
    }
    return list->decoder->one(&board, &registers);
}

/*
 * Executes `bytes` instead of the bytes of the list. Returns whether this moved the rows of the
 * list.
 */
static bool does(const struct hand_list *list, const uint8_t *bytes, uint64_t salt)
{
    uint64_t executed = 0, first;

    board_reset(&board, salt, 1 << 18);
    if (list->decoder->chain && !board_put(&board, list->address, bytes, list->size))
        return false;
    want_rows(list->rows);
    return (list->decoder->chain ? list->decoder->chain(&board, list->address, &executed)
                                 : write_registers(list, bytes)) &&
           board_difference(&board, &first) == 0 && executed == list->executed;
}

static bool is_ignored(const struct hand_list *list, size_t byte, unsigned bit)
{
    for (size_t i = 0; i < IGNORED_MAX; i++)
        if (list->ignored[i].byte == byte && list->ignored[i].mask >> bit & 1)
            return true;
    return false;
}

static void check_list(const struct hand_list *list)
{
    uint8_t bytes[sizeof list->bytes];

    assert_int_equal(board_init(&board, &profile), 0);
    if (!does(list, list->bytes, 1))
        fail_msg("%s: %s", list->decoder->name, board.fault[0] ? board.fault : "wrong bytes");
    for (size_t i = 0; i < list->size; i++)
        for (unsigned bit = 0; bit < 8; bit++) {
            memcpy(bytes, list->bytes, sizeof bytes);
            bytes[i] ^= (uint8_t)(1u << bit);
            if (!is_ignored(list, i, bit) && does(list, bytes, 2 + 8 * i + bit))
                fail_msg("%s: bit %u of byte %zu was flipped, and nothing changed",
                         list->decoder->name, bit, i);
        }
    board_finish(&board);
}

/* Checks that the decoder refuses a list, and that the fault's message contains this text. */
static void check_refused(const struct hand_list *list, const char *text)
{
    assert_int_equal(board_init(&board, &profile), 0);
    does(list, list->bytes, 1);
    if (!strstr(board.fault, text))
        fail_msg("%s: \"%s\" in place of \"%s\"", list->decoder->name, board.fault, text);
    board_finish(&board);
}

/* Hexagon */

#define ROWS_SIZE (UINT32_C(1) << 24) /* a descriptor of 32 bytes */

static void test_hexagon(void **state)
{
    const uint32_t words[] = {/* 5 rows of 300 bytes */
                              DDR + 0x20, ROWS_SIZE, DDR + 0x8000, SRAM + 0x2000, /**/
                              0, 300 | 5 << 16, 1024 | 320 << 16, 0,
                              /* 3 rows of 77 bytes, wide fields */
                              DDR + 0x40, ROWS_SIZE | 90, DDR + 0x9100, SRAM + 0x4000, /**/
                              9, 77 | UINT32_C(3) << 24, 100 << 8, 0,
                              /* 2 rows of 40 zeros */
                              DDR + 0x60, ROWS_SIZE, 0, SRAM + 0x6000, /**/
                              8, 40 | 2 << 16, UINT32_C(64) << 16, 0,
                              /* 1000 bytes in one piece */
                              0, 1000, DDR + 0x1001, SRAM + 0x103};
    struct hand_list list = {
        .decoder = &decode_hexagon,
        .address = DDR,
        .executed = 4,
        .rows = {{DDR + 0x8000, SRAM + 0x2000, 300, 5, 1024, 320},
                 {DDR + 0x9100, SRAM + 0x4000, 77, 3, 100, 90},
                 {0, SRAM + 0x6000, 40, 2, 0, 64},
                 {DDR + 0x1001, SRAM + 0x103, 1000, 1, 0, 0}},
        /* bytes: order and bypass of each descriptor, then the source address of the fill */
        .ignored = {{7, 0x70},
                    {39, 0x70},
                    {71, 0x70},
                    {103, 0x70}, /**/
                    {72, 0xff},
                    {73, 0xff},
                    {74, 0xff},
                    {75, 0xff}},
    };

    (void)state;
    list_words(&list, words, COUNT_OF(words));
    check_list(&list);
}

/* Each list has one descriptor, with one word that the hardware does not accept. */
static void test_hexagon_refuses(void **state)
{
    static const struct {
        uint32_t word, value;
        const char *text;
    } cases[] = {
        {0, 1, "state bits"},
        {1, 0, "length 0"},
        {1, UINT32_C(2) << 24, "size 2"},
        {1, ROWS_SIZE | 1, "reserved bits of word 1"},
        {1, ROWS_SIZE | UINT32_C(1) << 27, "compression"},
        {1, ROWS_SIZE | UINT32_C(1) << 31, "state bits"},
        {4, 4, "type 4"},
        {4, UINT32_C(5) << 28, "reserved bits of word 4"},
        {5, 300, "0 rows of 300"},
        {6, 1024 | 299 << 16, "at a pitch of 299 in the destination"},
        {6, 0 | 320 << 16, "at a pitch of 0 in the source"},
        {7, 8, "begins within a row"},
    };

    (void)state;
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        uint32_t words[] = {0, ROWS_SIZE,     DDR + 0x8000,     SRAM + 0x2000,
                            0, 300 | 5 << 16, 1024 | 320 << 16, 0};
        struct hand_list list = {.decoder = &decode_hexagon, .address = DDR};

        words[cases[i].word] = cases[i].value;
        list_words(&list, words, COUNT_OF(words));
        check_refused(&list, cases[i].text);
        if (cases[i].word == 0) {
            list.address = DDR + 16;
            list.bytes[0] = 0;
            check_refused(&list, "misaligned");
        }
    }
}

/* PL330 */

/* Channel control: both addresses count up, beats of 1 << log bytes. */
#define CONTROL(log, beats)                                                                        \
    (1u | (log) << 1 | ((beats)-1) << 4 | 1u << 14 | (log) << 15 | ((beats)-1) << 18)

static void code(struct hand_list *list, size_t size, uint8_t opcode, uint32_t a, uint32_t b)
{
    const uint8_t bytes[6] = {opcode,
                              (uint8_t)a,
                              (uint8_t)(size == 3 ? a >> 8 : b),
                              (uint8_t)(b >> 8),
                              (uint8_t)(b >> 16),
                              (uint8_t)(b >> 24)};

    memcpy(list->bytes + list->size, bytes, size);
    list->size += size;
}

static void control(struct hand_list *list, size_t *ignored, uint32_t value)
{
    const size_t at = list->size + 2;

    code(list, 6, 0xbc, 1, value);
    list->ignored[(*ignored)++] = (struct hand_ignored){at + 1, 0x3f}; /* protection, caches */
    list->ignored[(*ignored)++] = (struct hand_ignored){at + 2, 0xc0};
    list->ignored[(*ignored)++] = (struct hand_ignored){at + 3, 0x0f};
}

static void test_pl330(void **state)
{
    struct hand_list list = {
        .decoder = &decode_pl330,
        .address = DDR + 3,
        .rows = {{DDR + 0x8000, SRAM + 0x100, 256, 3, 256 + 4096, 256 + 64},
                 {DDR + 0xa001, SRAM + 0x2003, 5, 1, 0, 0},
                 {0, SRAM + 0x3000, 128, 1, 0, 0},
                 {DDR + 0xb003, SRAM + 0x4003, 29, 1, 0, 0}},
    };
    size_t ignored = 0;

    (void)state;
    control(&list, &ignored, CONTROL(3, 16));
    code(&list, 6, 0xbc, 0, DDR + 0x8000);
    code(&list, 6, 0xbc, 2, SRAM + 0x100);
    code(&list, 2, 0x22, 2, 0);         /* LP 1: 3 rows */
    code(&list, 2, 0x20, 1, 0);         /* LP 0: 2 bursts */
    code(&list, 1, 0x04, 0, 0);         /* LD */
    code(&list, 1, 0x08, 0, 0);         /* ST */
    code(&list, 2, 0x38, 2, 0);         /* LPEND 0 */
    code(&list, 3, 0x54, 4096, 0);      /* ADDH SAR */
    code(&list, 3, 0x56, 64, 0);        /* ADDH DAR */
    code(&list, 2, 0x3c, 2 + 4 + 6, 0); /* LPEND 1 */
    code(&list, 6, 0xbc, 2, SRAM + 0x3000);
    code(&list, 1, 0x0c, 0, 0); /* STZ */
    control(&list, &ignored, CONTROL(3, 4));
    /* source and destination are equally misaligned: 32 - 3 bytes */
    code(&list, 6, 0xbc, 0, DDR + 0xb003);
    code(&list, 6, 0xbc, 2, SRAM + 0x4003);
    code(&list, 1, 0x04, 0, 0);
    code(&list, 1, 0x08, 0, 0);
    control(&list, &ignored, CONTROL(0, 1));
    code(&list, 6, 0xbc, 0, DDR + 0xa001);
    code(&list, 6, 0xbc, 2, SRAM + 0x2003);
    code(&list, 2, 0x20, 4, 0);
    code(&list, 1, 0x04, 0, 0);
    code(&list, 1, 0x08, 0, 0);
    code(&list, 2, 0x38, 2, 0);
    list.ignored[ignored++] = (struct hand_ignored){list.size, 0x01}; /* DMARMB */
    code(&list, 1, 0x13, 0, 0);
    list.ignored[ignored++] =
        (struct hand_ignored){list.size, 0x08}; /* DMALPEND of loop 1: its counter is 0 */
    list.ignored[ignored++] = (struct hand_ignored){list.size + 1, 0xf8}; /* the event */
    code(&list, 2, 0x34, 1 << 3, 0);
    code(&list, 1, 0x00, 0, 0);
    check_list(&list);
}

static void test_pl330_refuses(void **state)
{
    static const struct {
        uint32_t control;
        uint8_t opcode[6];
        const char *text;
    } cases[] = {
        {CONTROL(3, 16), {0x04, 0x00}, "DMAEND while bytes are queued"},
        {CONTROL(3, 16), {0x08, 0x00}, "a store waits for ever"},
        {CONTROL(3, 16), {0x04, 0x04}, "the MFIFO overflows"},
        {CONTROL(4, 1), {0x00}, "beats wider than the bus"},
        {CONTROL(3, 1) | UINT32_C(1) << 28, {0x00}, "byte swap"},
        {CONTROL(3, 1), {0x04, 0xbc, 1}, "DMAMOV while bytes are queued"},
        {CONTROL(3, 1), {0x04, 0x54, 1}, "changes an address while bytes are queued"},
        {CONTROL(3, 1) & ~1u, {0x5c, 0xff, 0xff, 0x04}, "a fixed address that is misaligned"},
        {CONTROL(3, 1) & ~(1u << 14), {0x04, 0x08}, "a fixed destination"},
        {CONTROL(3, 1), {0x56, 1, 0, 0x0c}, "zeros to a fixed or misaligned destination"},
        {CONTROL(3, 16), {0x54, 0x88, 0x0f, 0x04}, "a burst crosses 4 KiB"},
        {CONTROL(3, 1), {0x28, 0}, "a loop without end"},
        {CONTROL(3, 1), {0x3a, 0}, "a loop that depends on a peripheral"},
        {CONTROL(3, 1), {0x34, 1}, "DMASEV with reserved bits"},
        {CONTROL(3, 1), {0x05}, "opcode 0x05"},
        {CONTROL(3, 1), {0xbc, 3}, "DMAMOV to an unknown register"},
    };

    (void)state;
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct hand_list list = {.decoder = &decode_pl330, .address = DDR};

        code(&list, 6, 0xbc, 0, DDR + 0x8000);
        code(&list, 6, 0xbc, 2, SRAM + 0x100);
        code(&list, 6, 0xbc, 1, cases[i].control);
        memcpy(list.bytes + list.size, cases[i].opcode, sizeof cases[i].opcode);
        list.size += sizeof cases[i].opcode + 2;
        check_refused(&list, cases[i].text);
    }
}

/* ZDMA */

/* A source list of 1000 and 500 bytes for a destination list of 600 and 900 bytes. */
static void test_zdma(void **state)
{
    enum { LINKED = 1 << 1, STOP = 2 << 3 };
    const uint32_t words[] = {DDR + 0x8001,  0, 1000, LINKED,        DDR + 0x40, 0, 0, 0, /**/
                              SRAM + 0x103,  0, 600,  LINKED,        DDR + 0x60, 0, 0, 0, /**/
                              DDR + 0x9000,  0, 500,  LINKED | STOP, 0,          0, 0, 0, /**/
                              SRAM + 0x2000, 0, 900,  LINKED,        0,          0, 0, 0};
    struct hand_list list = {
        .decoder = &decode_zdma,
        .address = DDR,
        .executed = 2,
        .rows = {{DDR + 0x8001, SRAM + 0x103, 600, 1, 0, 0},
                 {DDR + 0x8001 + 600, SRAM + 0x2000, 400, 1, 0, 0},
                 {DDR + 0x9000, SRAM + 0x2000 + 400, 500, 1, 0, 0}},
        /* coherence and interrupts; in the last elements, the link bit and the next pointer */
        .ignored = {{12, 0x05},
                    {44, 0x05},
                    {76, 0x07},
                    {108, 0x07}, /**/
                    {80, 0xff},
                    {81, 0xff},
                    {82, 0xff},
                    {83, 0xff},
                    {84, 0xff},
                    {85, 0x0f}, /**/
                    {112, 0xff},
                    {113, 0xff},
                    {114, 0xff},
                    {115, 0xff},
                    {116, 0xff},
                    {117, 0x0f}},
    };

    (void)state;
    list_words(&list, words, COUNT_OF(words));
    check_list(&list);
}

static void test_zdma_refuses(void **state)
{
    static const struct {
        uint32_t word, value;
        const char *text;
    } cases[] = {
        {1, 1 << 12, "source descriptor at 0x10000000: reserved bits"},
        {2, 0, "size 0"},
        {2, UINT32_C(1) << 30, "reserved bits"},
        {2, 100, "bytes of the destination are left"},
        {3, 3 << 3, "command 3"},
        {3, 1 << 3, "command 1"},
        {6, 1, "reserved bits"},
        {11, 2 << 3, "destination descriptor at 0x10000020: command 2"},
        {10, 100, "destination descriptor at 0x10000030: "},
    };

    (void)state;
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        uint32_t words[] = {DDR + 0x8000, 0, 600, 2 | 2 << 3, 0, 0, 0, 0, /**/
                            SRAM + 0x100, 0, 600, 0,          0, 0, 0, UINT32_MAX};
        struct hand_list list = {.decoder = &decode_zdma, .address = DDR};

        words[cases[i].word] = cases[i].value;
        list_words(&list, words, COUNT_OF(words));
        check_refused(&list, cases[i].text);
    }
}

/* BCM2835 */

static void test_bcm2835(void **state)
{
    enum { TWO_D = 1 << 1, DEST_INC = 1 << 4, SRC_INC = 1 << 8 };
    const uint32_t words[] = {/* 5 rows of 300 bytes, pitches 1024 and 336 */
                              SRC_INC | DEST_INC | TWO_D, DDR + 0x8001, SRAM + 0x2003,
                              4 << 16 | 300, /**/
                              (uint32_t)0x24 << 16 | 724, DDR + 0x20, 0, 0,
                              /* a word, repeated in 2 rows of 40 bytes */
                              DEST_INC | TWO_D, DDR + 0x9000, SRAM + 0x4000, 1 << 16 | 40, /**/
                              UINT32_C(24) << 16, DDR + 0x40, 0, 0,
                              /* 70000 bytes in one piece */
                              SRC_INC | DEST_INC, DDR + 0x20001, DDR + 0x40003, 70000, 0, 0, 0, 0};
    struct hand_list list = {
        .decoder = &decode_bcm2835,
        .address = DDR,
        .executed = 3,
        .rows = {{DDR + 0x8001, SRAM + 0x2003, 300, 5, 1024, 336},
                 {DDR + 0x9000, SRAM + 0x4000, 4, 10, 0, 4},
                 {DDR + 0x9000, SRAM + 0x4040, 4, 10, 0, 4},
                 {DDR + 0x20001, DDR + 0x40003, 70000, 1, 0, 0}},
        /* interrupt, responses, widths, bursts and waits */
        .ignored = {{0, 0x29},
                    {1, 0xf2},
                    {2, 0xe0},
                    {3, 0x07}, /**/
                    {32, 0x29},
                    {33, 0xf2},
                    {34, 0xe0},
                    {35, 0x07}, /**/
                    {64, 0x29},
                    {65, 0xf2},
                    {66, 0xe0},
                    {67, 0x07}},
    };

    (void)state;
    list_words(&list, words, COUNT_OF(words));
    check_list(&list);
}

static void test_bcm2835_refuses(void **state)
{
    static const struct {
        uint32_t word, value;
        const char *text;
    } cases[] = {
        {0, 0x112 | 1 << 2, "reserved bits"},
        {0, 0x112 | 1 << 11, "ignores a side"},
        {0, 0x112 | 1 << 16, "uses a peripheral"},
        {0, 0x102, "the destination does not advance"},
        {0, 0x110, "a linear block with strides"},
        {0, 0x012 | 1 << 9, "a fixed source that is wide"},
        {0, 0x012, "not words of 4 bytes"},
        {3, 5 << 16, "length 0"},
        {3, UINT32_C(1) << 30 | 300, "reserved bits"},
        {5, 0x10000011, "misaligned"},
        {7, 1, "reserved bits"},
    };

    (void)state;
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        uint32_t words[] = {0x112, DDR + 0x8001, SRAM + 0x2003, 4 << 16 | 300, 20 << 16 | 724, 0, 0,
                            0};
        struct hand_list list = {.decoder = &decode_bcm2835, .address = DDR};

        words[cases[i].word] = cases[i].value;
        list_words(&list, words, COUNT_OF(words));
        check_refused(&list, cases[i].text);
    }
}

/* PDMA */

static void test_pdma(void **state)
{
    const uint32_t words[] = {3, 0x22000000, 1000, 0, SRAM + 0x104, 0, DDR + 0x8004, 0};
    struct hand_list list = {
        .decoder = &decode_pdma,
        .rows = {{DDR + 0x8004, SRAM + 0x104, 1000, 1, 0, 0}},
        .ignored = {{1, 0xc0}, {4, 0x08}}, /* interrupts, order */
    };

    (void)state;
    list_words(&list, words, COUNT_OF(words));
    check_list(&list);
}

static void test_pdma_refuses(void **state)
{
    static const struct {
        uint32_t word, value;
        const char *text;
    } cases[] = {
        {0, 1, "not claimed and run"},    {0, 7, "Control: reserved bits"},
        {1, 1 << 2, "or repeat"},         {1, 0x33000000, "1 << 3 does not divide"},
        {1, 0x21000000, "writes of"},     {1, 0x77000000, "reads of 1 << 7"},
        {2, 0, "NextBytes: 0"},           {2, 1001, "does not divide"},
        {7, 1, "which are in no memory"},
    };

    (void)state;
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        uint32_t words[] = {3, 0x22000000, 1000, 0, SRAM + 0x104, 0, DDR + 0x8004, 0};
        struct hand_list list = {.decoder = &decode_pdma};

        words[cases[i].word] = cases[i].value;
        list_words(&list, words, COUNT_OF(words));
        check_refused(&list, cases[i].text);
    }
}

/* AIE2 */

#define AIE_VALID (UINT32_C(1) << 31)

/* Reads 3 rows of 5 words at a pitch of 100, and writes 5 rows of 8 words at 50, with zeros. */
static void test_aie2(void **state)
{
    const uint32_t words[] = {40,      UINT32_C(2) << 26 | TILE / 4,
                              5 << 17, UINT32_C(1) << 27 | 3 << 17 | 99, /**/
                              0,       1 << 23 | 1 << 17,
                              0,       AIE_VALID, /**/
                              40,      TILE / 4 + 0x1000,
                              8 << 17, 49,
                              0,       0,
                              0,       AIE_VALID};
    const uint64_t dst = TILE + 0x4000;
    struct hand_list list = {
        .decoder = &decode_aie2,
        .rows = {{0, dst, 32, 1, 0, 0},
                 {0, dst + 200, 8, 3, 0, 200},
                 {TILE, dst + 208, 20, 3, 400, 200},
                 {0, dst + 228, 4, 3, 0, 200},
                 {0, dst + 800, 32, 1, 0, 0}},
        /* the third dimension, which is not reached; zeros after the end of the transfer */
        .ignored = {{16, 0xff},
                    {17, 0xff},
                    {18, 0xff},
                    {19, 0x07},
                    {22, 0x80},
                    {23, 0x0f},
                    {46, 0xf0},
                    {47, 0x07}},
    };

    (void)state;
    list_words(&list, words, COUNT_OF(words));
    check_list(&list);
}

static void test_aie2_refuses(void **state)
{
    static const struct {
        uint32_t word, value;
        const char *text;
    } cases[] = {
        {0, 0, "MM2S: length 0"},
        {0, 41, "MM2S of 41 words, S2MM of 40"},
        {0, UINT32_C(1) << 31 | 40, "must be 0"},
        {1, 1 << 19, "MM2S: the BD has a next one"},
        {2, 0, "dimension 1 is beyond one that does not wrap"},
        {7, 0, "MM2S: the BD is not valid"},
        {9, UINT32_C(2) << 26, "S2MM: zeros in a write"},
        {13, 1, "dimension 3 is beyond"},
    };

    (void)state;
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        uint32_t words[] = {40, TILE / 4,          5 << 17, 99, 0, 0, 0, AIE_VALID, /**/
                            40, TILE / 4 + 0x1000, 8 << 17, 49, 0, 0, 0, AIE_VALID};
        struct hand_list list = {.decoder = &decode_aie2};

        words[cases[i].word] = cases[i].value;
        list_words(&list, words, COUNT_OF(words));
        check_refused(&list, cases[i].text);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_zdma),    cmocka_unit_test(test_zdma_refuses),
        cmocka_unit_test(test_bcm2835), cmocka_unit_test(test_bcm2835_refuses),
        cmocka_unit_test(test_pdma),    cmocka_unit_test(test_pdma_refuses),
        cmocka_unit_test(test_pl330),   cmocka_unit_test(test_pl330_refuses),
        cmocka_unit_test(test_hexagon), cmocka_unit_test(test_hexagon_refuses),
        cmocka_unit_test(test_aie2),    cmocka_unit_test(test_aie2_refuses),
    };

    return cmocka_run_group_tests_name("decoders", tests, NULL, NULL);
}

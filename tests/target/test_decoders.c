/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Decoders with descriptors written by hand from the documents. Each list is executed once as it
 * is, and once for each of its bits with that bit flipped: unless the bit is listed as one that
 * moves nothing, the decoder must refuse the list, or memory must differ.
 */
#include <inttypes.h>
#include <string.h>

#include "tests/support/unit.h"
#include "tests/target/decoder.h"

#define DDR  UINT64_C(0x10000000)
#define SRAM UINT64_C(0x20000000)

enum { WORDS_MAX = 32, ROWS_MAX = 5, IGNORED_MAX = 16 };

/* Rows that a list must move. */
struct hand_rows {
    uint64_t src, dst; /* src 0: zeros */
    uint64_t run, count, src_step, dst_step;
};

/* Bits of a byte that move nothing. */
struct hand_ignored {
    size_t byte;
    uint8_t mask;
};

/* A list in memory from `address` on, as bytes. */
struct hand_list {
    const struct decoder *decoder;
    uint64_t address;
    uint64_t executed;
    size_t size;
    uint8_t bytes[4 * WORDS_MAX];
    struct hand_rows rows[ROWS_MAX]; /* ends with a run of 0 */
    struct hand_ignored ignored[IGNORED_MAX];
};

static struct target_profile profile = {
    .name = "hand",
    .memory_count = 2,
    .memories = {{.name = "ddr", .base = DDR, .size = 1 << 20, .reached_by = PROFILE_DMA},
                 {.name = "sram", .base = SRAM, .size = 1 << 16, .reached_by = PROFILE_DMA}},
    .dma = {.bus_bytes = 8, .burst_bytes = 128, .fills = true},
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

/* Executes the list with these bytes. Returns whether it did what it must. */
static bool does(const struct hand_list *list, const uint8_t *bytes, uint64_t salt)
{
    uint64_t executed = 0, first;

    board_reset(&board, salt, 1 << 16);
    if (!board_put(&board, list->address, bytes, list->size))
        return false;
    want_rows(list->rows);
    return list->decoder->chain(&board, list->address, &executed) &&
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

/* A list that the decoder must refuse with this text in its sentence. */
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
        /* order and bypass of each; the source of a fill */
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

/* One descriptor at a time, each with one word that the hardware does not take. */
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
        .executed = 1,
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
    code(&list, 6, 0xbc, 0, DDR + 0xb003); /* misaligned alike: 32 - 3 bytes */
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
        (struct hand_ignored){list.size, 0x08}; /* LPEND 1 of a counter at 0 */
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
        {CONTROL(3, 1), {0x04, 0xbc, 1}, "changes the bursts while bytes are queued"},
        {CONTROL(3, 1) & ~1u, {0x5c, 0xff, 0xff, 0x04}, "a fixed address that is misaligned"},
        {CONTROL(3, 1) & ~(1u << 14), {0x04, 0x08}, "a fixed destination"},
        {CONTROL(3, 1), {0x56, 1, 0, 0x0c}, "zeros to a fixed or misaligned destination"},
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_hexagon),
        cmocka_unit_test(test_hexagon_refuses),
        cmocka_unit_test(test_pl330),
        cmocka_unit_test(test_pl330_refuses),
    };

    return cmocka_run_group_tests_name("decoders", tests, NULL, NULL);
}

/* SPDX-License-Identifier: BSD-3-Clause */
#include "tests/target/board_model.h"
#include "tests/support/draw_fill.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { FIRST_SLOTS = 1 << 12, CHUNK = 4096 };

bool board_fail(struct board *board, const char *format, ...)
{
    va_list list;

    if (board->fault[0] != '\0')
        return false;
    va_start(list, format);
    vsnprintf(board->fault, sizeof board->fault, format, list);
    va_end(list);
    return false;
}

int board_init(struct board *board, const struct target_profile *profile)
{
    *board = (struct board){.profile = profile, .slots = FIRST_SLOTS};
    board->slot = calloc(board->slots, sizeof *board->slot);
    return board->slot ? 0 : -1;
}

void board_finish(struct board *board)
{
    for (size_t i = 0; i < board->created; i++)
        free(board->page[i]);
    free(board->page);
    free(board->slot);
    *board = (struct board){0};
}

void board_reset(struct board *board, uint64_t salt, uint64_t most)
{
    memset(board->slot, 0, board->slots * sizeof *board->slot);
    memset(board->recent, 0, sizeof board->recent);
    board->used = 0;
    board->accessed = 0;
    board->most = most;
    board->salt = draw_mix(salt);
    board->fault[0] = '\0';
}

/* Returns the slot of the page or, if it has none, the free slot for it. */
static uint32_t *slot_of(const struct board *board, uint64_t number)
{
    size_t at = (size_t)draw_mix(number) & (board->slots - 1);

    while (board->slot[at] != 0 && board->page[board->slot[at] - 1]->number != number)
        at = (at + 1) & (board->slots - 1);
    return &board->slot[at];
}

static void *need(void *memory)
{
    if (!memory) {
        fprintf(stderr, "board: out of memory\n");
        abort();
    }
    return memory;
}

static void grow_slots(struct board *board)
{
    free(board->slot);
    board->slots *= 4;
    board->slot = need(calloc(board->slots, sizeof *board->slot));
    for (size_t i = 0; i < board->used; i++)
        *slot_of(board, board->page[i]->number) = (uint32_t)i + 1;
}

static struct board_page *new_page(struct board *board, uint64_t number)
{
    struct board_page *page;
    struct draw draw = {board->salt ^ draw_mix(number)};

    if (board->used == board->created) {
        if (board->created % CHUNK == 0)
            board->page =
                need(realloc(board->page, (board->created + CHUNK) * sizeof *board->page));
        board->page[board->created++] = need(malloc(sizeof **board->page));
    }
    page = board->page[board->used++];
    page->number = number;
    draw_fill(&draw, page->now, BOARD_PAGE);
    memcpy(page->wanted, page->now, BOARD_PAGE);
    return page;
}

static struct board_page *page_of(struct board *board, uint64_t address)
{
    const uint64_t number = address / BOARD_PAGE;
    struct board_page **recent = &board->recent[number % BOARD_RECENT];
    uint32_t *slot;

    if (*recent && (*recent)->number == number)
        return *recent;
    if (2 * board->used >= board->slots)
        grow_slots(board);
    slot = slot_of(board, number);
    if (*slot == 0) {
        *recent = new_page(board, number);
        *slot = (uint32_t)board->used;
    } else {
        *recent = board->page[*slot - 1];
    }
    return *recent;
}

/* Returns the number of bytes from `address` to the end of its page, at most `size`. */
static size_t in_page(uint64_t address, size_t size)
{
    const size_t left = BOARD_PAGE - (size_t)(address % BOARD_PAGE);

    return size < left ? size : left;
}

static bool reached(struct board *board, uint32_t who, uint64_t address, size_t size,
                    const char *verb)
{
    const struct profile_memory *memory = profile_memory_at(board->profile, address);

    if (!memory || size > memory->size - (address - memory->base))
        return board_fail(board, "%s %zu bytes at 0x%" PRIx64 ", which are in no memory", verb,
                          size, address);
    if (!(memory->reached_by & who))
        return board_fail(board, "%s %zu bytes at 0x%" PRIx64 " in %s, which it does not reach",
                          verb, size, address, memory->name);
    board->accessed += size;
    if (board->accessed > board->most)
        return board_fail(board, "accesses more than %" PRIu64 " bytes: a list without an end",
                          board->most);
    return true;
}

void board_peek(struct board *board, uint64_t address, void *to, size_t size)
{
    uint8_t *at = to;

    for (size_t part; size > 0; address += part, at += part, size -= part) {
        part = in_page(address, size);
        memcpy(at, page_of(board, address)->now + address % BOARD_PAGE, part);
    }
}

void board_want(struct board *board, uint64_t address, const void *from, size_t size)
{
    const uint8_t *at = from;

    for (size_t part; size > 0; address += part, at += part, size -= part) {
        part = in_page(address, size);
        memcpy(page_of(board, address)->wanted + address % BOARD_PAGE, at, part);
    }
}

static void set(struct board *board, uint64_t address, const uint8_t *from, size_t size)
{
    for (size_t part; size > 0; address += part, from += part, size -= part) {
        part = in_page(address, size);
        memcpy(page_of(board, address)->now + address % BOARD_PAGE, from, part);
    }
}

bool board_read(struct board *board, uint32_t who, uint64_t address, void *to, size_t size)
{
    if (!reached(board, who, address, size, "reads"))
        return false;
    board_peek(board, address, to, size);
    return true;
}

bool board_write(struct board *board, uint32_t who, uint64_t address, const void *from, size_t size)
{
    if (!reached(board, who, address, size, "writes"))
        return false;
    set(board, address, from, size);
    return true;
}

bool board_copy(struct board *board, uint64_t src, uint64_t dst, uint64_t size)
{
    uint8_t buffer[BOARD_PAGE];

    for (size_t part; size > 0; src += part, dst += part, size -= part) {
        part = size < sizeof buffer ? (size_t)size : sizeof buffer;
        if (!board_read(board, PROFILE_DMA, src, buffer, part) ||
            !board_write(board, PROFILE_DMA, dst, buffer, part))
            return false;
    }
    return true;
}

bool board_zero(struct board *board, uint64_t dst, uint64_t size)
{
    static const uint8_t zeros[BOARD_PAGE];

    for (size_t part; size > 0; dst += part, size -= part) {
        part = size < sizeof zeros ? (size_t)size : sizeof zeros;
        if (!board_write(board, PROFILE_DMA, dst, zeros, part))
            return false;
    }
    return true;
}

uint64_t board_number(struct board *board, uint64_t address, size_t size)
{
    uint8_t bytes[8] = {0};
    uint64_t number = 0;

    if (!board_read(board, PROFILE_DMA, address, bytes, size))
        return 0;
    for (size_t i = size; i-- > 0;)
        number = number << 8 | bytes[i];
    return number;
}

bool board_put(struct board *board, uint64_t address, const void *from, size_t size)
{
    if (!reached(board, PROFILE_DMA, address, size, "has a descriptor of"))
        return false;
    set(board, address, from, size);
    board_want(board, address, from, size);
    return true;
}

uint64_t board_difference(const struct board *board, uint64_t *first)
{
    uint64_t count = 0;

    *first = UINT64_MAX;
    for (size_t i = 0; i < board->used; i++) {
        const struct board_page *page = board->page[i];

        if (memcmp(page->now, page->wanted, BOARD_PAGE) == 0)
            continue;
        for (size_t k = 0; k < BOARD_PAGE; k++) {
            const uint64_t address = page->number * BOARD_PAGE + k;

            if (page->now[k] == page->wanted[k])
                continue;
            count++;
            *first = address < *first ? address : *first;
        }
    }
    return count;
}

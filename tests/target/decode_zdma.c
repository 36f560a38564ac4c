/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Xilinx ZynqMP ZDMA in scatter-gather mode: a queue of source descriptors and a queue of
 * destination descriptors, each element one contiguous run. Sources: UG1085, chapter 19 (buffer
 * descriptor format), UG1087 (module ZDMA), and the driver zdma of Xilinx/embeddedsw.
 *
 * The elements of the two queues may have different sizes: bytes flow from one queue to the other.
 * The source element with the command "stop" ends the list. Refused, because the documents do not
 * define the result: sizes of 0, commands in destination descriptors, and queues of different
 * lengths in bytes.
 */
#include <inttypes.h>

#include "tests/target/decoder.h"

enum { LINEAR_SIZE = 16, LINKED_SIZE = 32, FETCH_PAGE = 4096 };
enum { CMD_NEXT = 0, CMD_STOP = 2 };

struct element {
    uint64_t address, size, command, next;
};

static bool element_read(struct board *board, const char *side, uint64_t at, struct element *e)
{
    uint32_t word[8] = {0};

    for (size_t i = 0; i < 4; i++)
        word[i] = (uint32_t)board_number(board, at + 4 * i, 4);
    const bool linked = bits_of(word[3], 1, 1);

    if (at % (linked ? LINKED_SIZE : LINEAR_SIZE) != 0)
        return board_fail(board, "%s descriptor at 0x%" PRIx64 ": misaligned", side, at);
    for (size_t i = 4; linked && i < 8; i++)
        word[i] = (uint32_t)board_number(board, at + 4 * i, 4);
    if (bits_of(word[1], 31, 12) || bits_of(word[2], 31, 30) || bits_of(word[3], 31, 5) ||
        bits_of(word[5], 31, 12) || word[6] || word[7])
        return board_fail(board, "%s descriptor at 0x%" PRIx64 ": reserved bits", side, at);
    if (word[2] == 0)
        return board_fail(board, "%s descriptor at 0x%" PRIx64 ": size 0", side, at);
    *e = (struct element){.address = word[0] | (uint64_t)word[1] << 32,
                          .size = word[2],
                          .command = bits_of(word[3], 4, 3),
                          .next = linked ? word[4] | (uint64_t)word[5] << 32 : at + LINEAR_SIZE};
    if (!linked && e->command == CMD_NEXT && e->next % FETCH_PAGE == 0)
        return board_fail(board, "%s descriptor at 0x%" PRIx64 ": a linear run crosses a page",
                          side, at);
    return board->fault[0] == '\0';
}

static bool source_read(struct board *board, uint64_t at, struct element *e)
{
    if (!element_read(board, "source", at, e))
        return false;
    return e->command == CMD_NEXT || e->command == CMD_STOP ||
           board_fail(board, "source descriptor at 0x%" PRIx64 ": command %" PRIu64, at,
                      e->command);
}

static bool destination_read(struct board *board, uint64_t at, struct element *e)
{
    if (!element_read(board, "destination", at, e))
        return false;
    return e->command == 0 ||
           board_fail(board, "destination descriptor at 0x%" PRIx64 ": command %" PRIu64, at,
                      e->command);
}

/*
 * Moves the bytes of a source element to destination elements. *to is the unused rest of the
 * current destination element, both before and after the call.
 */
static bool feed(struct board *board, struct element from, struct element *to)
{
    while (from.size > 0) {
        uint64_t part;

        if (to->size == 0 && !destination_read(board, to->next, to))
            return false;
        part = from.size < to->size ? from.size : to->size;
        if (!board_copy(board, from.address, to->address, part))
            return false;
        from.address += part;
        from.size -= part;
        to->address += part;
        to->size -= part;
    }
    return true;
}

/* The first destination descriptor follows the first source descriptor. */
static bool chain(struct board *board, uint64_t first, uint64_t *executed)
{
    struct element to = {.next = first + LINKED_SIZE}, from = {.next = first};

    *executed = 0;
    do {
        ++*executed;
        if (!source_read(board, from.next, &from) || !feed(board, from, &to))
            return false;
    } while (from.command != CMD_STOP);
    return to.size == 0 ||
           board_fail(board, "%" PRIu64 " bytes of the destination are left", to.size);
}

const struct decoder decode_zdma = {.kind = PROFILE_ZDMA, .name = "zdma", .chain = chain};

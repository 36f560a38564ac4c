/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * An item moves up to 4095 bytes, halfwords or words to or from addresses that are multiples of
 * this size. A piece is a run of up to 4095 words; it takes up to PL080_PIECE_ITEMS items: bytes up
 * to the first aligned address, halfwords or words in between, and the bytes that are left. If
 * source and destination are not aligned alike, all items move bytes or halfwords.
 */
#include "libmli/port/pl080/pl080_list.h"

enum {
    WORD = 4,
    RUN_MAX = PL080_SIZE_MAX * WORD,
    SHORT = 16 /* bytes; a shorter run is one item, because an item takes longer than some bytes */
};

/* The source of zeros: a channel reads this word for each transfer. */
static const uint32_t zero;

void pl080_list_limits(struct mli_channel_caps *caps)
{
    caps->loops = 0;
    caps->run_max = RUN_MAX;
}

static uint32_t bus_of(const struct pl080_list *list, uint32_t i)
{
    return (uint32_t)mli_bus_address(&list->items[i]);
}

/* Sets *bus to the bus address of a run. Returns false if a byte has none of 32 bits. */
static bool address_on_bus(const void *address, size_t run, uint32_t *bus)
{
    const uint64_t first = mli_bus_address(address);

    *bus = (uint32_t)first;
    return first <= UINT32_MAX && run - 1 <= UINT32_MAX - first;
}

/* A run on the bus, of which items have the first bytes. */
struct run {
    uint32_t src, dst, left;
    bool zeros; /* src stays where it is */
};

/* Appends items for the next bytes, in transfers of 1 << log2 bytes. */
static void append(struct pl080_list *list, struct run *run, uint32_t bytes, uint32_t log2)
{
    while (bytes > 0) {
        const uint32_t all = bytes >> log2, size = all < PL080_SIZE_MAX ? all : PL080_SIZE_MAX;

        list->items[list->count++] = (struct pl080_item){
            .src = run->src,
            .dst = run->dst,
            .control = size | PL080_SRC_BURST(PL080_BURST_4) | PL080_DST_BURST(PL080_BURST_4) |
                       PL080_SRC_WIDTH(log2) | PL080_DST_WIDTH(log2) | PL080_DST_INCREMENT |
                       PL080_PROTECTION | (run->zeros ? 0 : PL080_SRC_INCREMENT),
        };
        run->src += run->zeros ? 0 : size << log2;
        run->dst += size << log2;
        run->left -= size << log2;
        bytes -= size << log2;
    }
}

/* Returns log2 of the largest size of a transfer of which the number is a multiple. */
static uint32_t alignment(uint32_t number)
{
    return number % 2 ? 0 : number % WORD ? 1 : 2;
}

/* Appends the items of a piece. Returns false if it has an address that the bus does not have. */
static bool encode(struct pl080_list *list, const struct mli_descriptor *piece)
{
    const struct mli_copy_box *box = &piece->box;
    struct run run = {.left = (uint32_t)box->run, .zeros = !box->src};
    uint32_t log2, head;

    if (!address_on_bus(box->dst, box->run, &run.dst) ||
        !address_on_bus(run.zeros ? (const void *)&zero : box->src,
                        run.zeros ? sizeof(zero) : box->run, &run.src))
        return false;
    if (run.left < SHORT) {
        append(list, &run, run.left, alignment(run.src | run.dst | run.left));
        return true;
    }
    log2 = run.zeros ? 2 : alignment(run.src ^ run.dst);
    head = -run.dst & ((1u << log2) - 1);
    append(list, &run, head, 0);
    append(list, &run, run.left >> log2 << log2, log2);
    append(list, &run, run.left, 0);
    return true;
}

void pl080_list_fill(struct pl080_list *list, struct pl080_rest *rest)
{
    list->count = list->pieces_count = list->reaped = 0;
    while (list->count + PL080_PIECE_ITEMS <= rest->items_max &&
           list->pieces_count < PL080_PIECES_MAX && !rest->for_processor &&
           mli_legalise_next(&rest->legaliser, &rest->piece)) {
        rest->for_processor = rest->piece.flags & MLI_PIECE_CPU || !encode(list, &rest->piece);
        if (rest->for_processor)
            break;
        list->pieces[list->pieces_count] = rest->piece;
        list->ends[list->pieces_count++] = (uint8_t)list->count;
    }
    if (list->count == 0)
        return;
    for (uint32_t i = 1; i < list->count; i++)
        list->items[i - 1].next = bus_of(list, i);
    list->items[list->count - 1].control |= PL080_TC_INTERRUPT;
    mli_cache_clean(&zero, sizeof(zero));
    mli_cache_clean(list->items, list->count * sizeof(list->items[0]));
}

bool pl080_list_is_reaped(const struct pl080_list *list)
{
    return list->reaped == list->pieces_count;
}

uint32_t pl080_list_position(const struct pl080_list *list, uint32_t lli)
{
    const uint32_t next = (lli - bus_of(list, 0)) / (uint32_t)sizeof(list->items[0]);

    if (lli == 0)
        return list->count - 1;
    return next >= 1 && next < list->count ? next - 1 : 0;
}

bool pl080_list_has_complete(const struct pl080_list *list, uint32_t items)
{
    return !pl080_list_is_reaped(list) && list->ends[list->reaped] <= items;
}

uint32_t pl080_list_reap(struct pl080_list *list, uint32_t items, uint32_t budget, size_t *written)
{
    uint32_t reaped = 0;

    for (; reaped < budget && pl080_list_has_complete(list, items); reaped++)
        *written += list->pieces[list->reaped++].bytes;
    return reaped;
}

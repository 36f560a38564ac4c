/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * An item moves up to 4095 bytes, halfwords or words to or from addresses that are multiples of
 * this size. A piece is a run of up to 4095 words; it takes up to PL080_PIECE_ITEMS items: bytes up
 * to the first aligned address, halfwords or words in between, and the bytes that are left. If
 * source and destination are not aligned alike, all items move bytes or halfwords.
 */
#include "libmli/port/pl080/pl080_item.h"

enum {
    WORD = 4,
    RUN_MAX = PL080_SIZE_MAX * WORD,
    SHORT = 16 /* bytes; a shorter run is one item, because an item takes longer than some bytes */
};

/* The source of zeros: a channel reads this word for each transfer. */
static const uint32_t zero;

void pl080_item_limits(struct mli_channel_caps *caps)
{
    caps->loops = 0;
    caps->run_max = RUN_MAX;
}

/* A run on the bus, of which items have the first bytes. */
struct run {
    struct pl080_item *item; /* the next item */
    uint32_t src, dst, left;
    bool zeros; /* src stays where it is */
};

/* Writes items for the next bytes, in transfers of 1 << log2 bytes. */
static void append(struct run *run, uint32_t bytes, uint32_t log2)
{
    while (bytes > 0) {
        const uint32_t all = bytes >> log2, size = all < PL080_SIZE_MAX ? all : PL080_SIZE_MAX;

        *run->item++ = (struct pl080_item){
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

uint32_t pl080_item_encode(struct pl080_item *items, const struct mli_descriptor *piece)
{
    const struct mli_copy_box *box = &piece->box;
    struct run run = {.item = items, .left = (uint32_t)box->run, .zeros = !box->src};
    uint32_t log2, head;

    if (!chain_bus32(box->dst, box->run, &run.dst) ||
        !chain_bus32(run.zeros ? (const void *)&zero : box->src,
                     run.zeros ? sizeof(zero) : box->run, &run.src))
        return 0;
    if (run.left < SHORT) {
        append(&run, run.left, alignment(run.src | run.dst | run.left));
    } else {
        log2 = run.zeros ? 2 : alignment(run.src ^ run.dst);
        head = -run.dst & ((1u << log2) - 1);
        append(&run, head, 0);
        append(&run, run.left >> log2 << log2, log2);
        append(&run, run.left, 0);
    }
    return (uint32_t)(run.item - items);
}

static uint32_t bus_of(const struct pl080_item *item)
{
    return (uint32_t)mli_bus_address(item);
}

void pl080_item_link(struct pl080_item *items, uint32_t count)
{
    for (uint32_t i = 1; i < count; i++)
        items[i - 1].next = bus_of(&items[i]);
    items[count - 1].control |= PL080_TC_INTERRUPT;
    mli_cache_clean(&zero, sizeof(zero));
    mli_cache_clean(items, count * sizeof(items[0]));
}

uint32_t pl080_item_before(const struct pl080_item *items, uint32_t count, uint32_t lli)
{
    const uint32_t next = (lli - bus_of(items)) / (uint32_t)sizeof(items[0]);

    if (lli == 0)
        return count - 1;
    return next >= 1 && next < count ? next - 1 : 0;
}

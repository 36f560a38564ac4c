/* SPDX-License-Identifier: BSD-3-Clause */
#include "libmli/port/bcm2835/bcm2835_list.h"

static uint32_t bus_of(const struct bcm2835_list *list, uint32_t i)
{
    return (uint32_t)mli_bus_address(&list->blocks[i]);
}

void bcm2835_list_fill(struct bcm2835_list *list, struct bcm2835_rest *rest)
{
    list->count = 0;
    list->reaped = 0;
    while (list->count < rest->list_max && !rest->for_processor &&
           mli_legalise_next(&rest->legaliser, &rest->piece)) {
        struct bcm2835_block *block = &list->blocks[list->count];

        rest->for_processor = rest->piece.flags & MLI_PIECE_CPU ||
                              !bcm2835_block_encode(block, rest->kind, &rest->piece);
        if (!rest->for_processor)
            list->pieces[list->count++] = rest->piece;
    }
    for (uint32_t i = 1; i < list->count; i++)
        bcm2835_block_link(&list->blocks[i - 1], bus_of(list, i));
    mli_cache_clean(list->blocks, list->count * sizeof(list->blocks[0]));
}

uint32_t bcm2835_list_address(const struct bcm2835_list *list)
{
    return bus_of(list, 0);
}

bool bcm2835_list_is_reaped(const struct bcm2835_list *list)
{
    return list->reaped == list->count;
}

uint32_t bcm2835_list_position(const struct bcm2835_list *list, uint32_t block)
{
    const uint32_t i = (block - bus_of(list, 0)) / (uint32_t)sizeof(list->blocks[0]);

    return i < list->count && i >= list->reaped ? i : list->reaped;
}

uint32_t bcm2835_list_reap(struct bcm2835_list *list, uint32_t upto, uint32_t budget,
                           size_t *written)
{
    uint32_t reaped = 0;

    for (; list->reaped < upto && reaped < budget; reaped++)
        *written += list->pieces[list->reaped++].bytes;
    return reaped;
}

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A descriptor moves up to 8191 bytes between any addresses, if the bit of the channel in DALGN is
 * set. A longer row is cut into multiples of a burst, so that each part begins as aligned as the
 * row does. Zeros are read again and again from one burst of zeros.
 */
#include "libmli/port/pxa27x/pxa27x_item.h"

enum { BURST = 32, RUN_MAX = PXA27X_LENGTH_MAX / BURST * BURST };

/* The source of zeros. Whatever bytes of it a burst at a fixed address reads, they are zeros. */
static const _Alignas(BURST) uint8_t zeros[BURST];

void pxa27x_item_limits(struct mli_channel_caps *caps)
{
    caps->loops = 0;
    caps->run_max = RUN_MAX;
}

bool pxa27x_item_encode(struct pxa27x_item *item, const struct mli_descriptor *piece,
                        uint32_t command)
{
    const struct mli_copy_box *box = &piece->box;

    item->command = (uint32_t)box->run | command | PXA27X_BURST_32 | PXA27X_DST_INCREMENT |
                    (box->src ? PXA27X_SRC_INCREMENT : 0);
    return chain_bus32(box->dst, box->run, &item->dst) &&
           (box->src ? chain_bus32(box->src, box->run, &item->src)
                     : chain_bus32(zeros, sizeof(zeros), &item->src));
}

uint32_t pxa27x_item_bus(const struct pxa27x_item *item)
{
    return (uint32_t)mli_bus_address(item);
}

void pxa27x_item_link(struct pxa27x_item *items, uint32_t count)
{
    for (uint32_t i = 1; i < count; i++)
        items[i - 1].next = pxa27x_item_bus(&items[i]);
    items[count - 1].next = PXA27X_STOP;
    mli_cache_clean(zeros, sizeof(zeros));
    mli_cache_clean(items, count * sizeof(items[0]));
}

uint32_t pxa27x_item_before(const struct pxa27x_item *items, uint32_t count, uint32_t ddadr)
{
    const uint32_t next = (ddadr - pxa27x_item_bus(items)) / (uint32_t)sizeof(items[0]);

    if (ddadr & PXA27X_STOP)
        return count - 1;
    return next >= 1 && next < count ? next - 1 : 0;
}

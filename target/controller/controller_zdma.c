/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * ZDMA of AMD Zynq UltraScale+ in scatter-gather mode. Each piece is one element of the source
 * queue and one of the destination queue. Both are in the linked form of 32 bytes, the source
 * element first. So the source queue begins at the first descriptor's address, the destination
 * queue 32 bytes behind it. There are no strides: a piece is one run. Zeros are copied from memory,
 * because write-only mode exists in simple mode only. INTR in each destination element lets the
 * controller count the elements whose bytes are in memory; the driver (boards/drivers/zdma.c) masks
 * the interrupt.
 */
#include "target/controller/encoder.h"

enum {
    ELEMENT_SIZE = 32,
    SIZE_MAX_BYTES = 0x3fffffff, /* 30 bits */
    TYPE_LINKED = 1,
    INTR = 1,
    CMD_NEXT = 0,
    CMD_STOP = 2
};

struct element {
    uint64_t address, size, next;
    uint32_t intr, cmd;
};

static void put_element(struct controller_descriptor *out, const struct element *element)
{
    controller_put(out, 64, element->address); /* the upper 12 bits of words 1 and 5 are reserved */
    controller_put(out, 32, element->size);
    controller_put(out, 32, TYPE_LINKED << 1 | element->intr << 2 | element->cmd << 3);
    controller_put(out, 64, element->next);
    controller_put(out, 64, 0);
}

static void encode(const struct controller_place *place, const struct mli_descriptor *piece,
                   struct controller_descriptor *out)
{
    const bool last = place->next == 0;
    const struct element src = {.address =
                                    controller_fills(piece) ? place->zeros : controller_src(piece),
                                .size = piece->box.run,
                                .next = place->next,
                                .cmd = last ? CMD_STOP : CMD_NEXT};
    const struct element dst = {.address = controller_dst(piece),
                                .size = piece->box.run,
                                .next = last ? 0 : place->next + ELEMENT_SIZE,
                                .intr = INTR};

    controller_add_hex(out, "SRC ADDR", src.address);
    controller_add(out, "SRC SIZE", src.size);
    controller_add(out, "SRC TYPE", TYPE_LINKED);
    controller_add(out, "SRC CMD", src.cmd);
    controller_add_hex(out, "SRC NEXT", src.next);
    controller_add_hex(out, "DST ADDR", dst.address);
    controller_add(out, "DST SIZE", dst.size);
    controller_add(out, "DST TYPE", TYPE_LINKED);
    controller_add(out, "DST INTR", dst.intr);
    controller_add_hex(out, "DST NEXT", dst.next);
    put_element(out, &src);
    put_element(out, &dst);
}

/* Source: Zynq UltraScale+ Device TRM (UG1085), chapter 19 DMA Controller. */
const struct controller controller_zdma = {
    .kind = PROFILE_ZDMA,
    .title = "AMD Zynq UltraScale+ ZDMA, scatter-gather mode",
    .descriptor_alignment = 2 * ELEMENT_SIZE,
    .descriptor_bytes = 2 * (size_t)ELEMENT_SIZE,
    .run_max = SIZE_MAX_BYTES,
    .reads_zeros = true,
    .encode = encode,
};

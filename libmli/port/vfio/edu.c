/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * QEMU's device `edu`, which exists to be programmed by learners. Its registers are described in
 * "EDU device" of QEMU's documentation. Its DMA moves bytes between memory and a buffer in the
 * device, so a copy takes two steps. Each step takes 100 ms of the machine's time.
 *
 * The device reports no bus errors: a step to an address that the IOMMU does not map ends like any
 * other step.
 */
#include "libmli/port/vfio/vfio.h"

enum {
    /* offsets of registers, in bytes */
    IDENTIFICATION = 0x00,
    LIVENESS = 0x04, /* reads the inverted value of the last write */
    INTERRUPTS = 0x24,
    ACKNOWLEDGE = 0x64,
    DMA_SOURCE = 0x80,
    DMA_DESTINATION = 0x88,
    DMA_COUNT = 0x90,
    DMA_COMMAND = 0x98,
    REGISTERS_SIZE = 0x100,

    /* low half of the identification: the letters of "edu" that are hexadecimal digits */
    EDU = 0x00ed,

    /* bits of DMA_COMMAND */
    START = 1, /* reads as 1 until the step has ended */
    TO_MEMORY = 2,
    INTERRUPT = 4,

    DMA_ENDED = 0x100, /* bit of INTERRUPTS */

    BUFFER = 0x40000, /* the device's address of its buffer */
    /* The buffer has 4096 bytes, but QEMU 7.2 aborts on a transfer that reaches their end. */
    BUFFER_BYTES = 4080,
    /* Shorter runs are moved by the processor: by this slow device they would take minutes. */
    RUN_MIN = 64
};

static bool reset(volatile void *registers)
{
    const uint32_t probe = 0x12345678;

    if ((vfio_read(registers, IDENTIFICATION) & 0xffff) != EDU)
        return false;
    vfio_write(registers, LIVENESS, probe);
    if (vfio_read(registers, LIVENESS) != ~probe || vfio_read(registers, DMA_COMMAND) & START)
        return false;
    vfio_write(registers, ACKNOWLEDGE, vfio_read(registers, INTERRUPTS));
    return true;
}

/* Step 0 reads memory into the buffer, step 1 writes the buffer to memory. */
static void start(volatile void *registers, struct vfio_copy *copy)
{
    const bool out = copy->step > 0;

    vfio_write(registers, DMA_SOURCE, out ? BUFFER : (uint32_t)copy->src);
    vfio_write(registers, DMA_DESTINATION, out ? (uint32_t)copy->dst : BUFFER);
    vfio_write(registers, DMA_COUNT, copy->bytes);
    vfio_write(registers, DMA_COMMAND, START | INTERRUPT | (out ? TO_MEMORY : 0));
}

static enum vfio_progress handle(volatile void *registers, struct vfio_copy *copy)
{
    const uint32_t pending = vfio_read(registers, INTERRUPTS);

    vfio_write(registers, ACKNOWLEDGE, pending);
    if (!(pending & DMA_ENDED) || vfio_read(registers, DMA_COMMAND) & START)
        return VFIO_RUNNING;
    if (copy->step == 1)
        return VFIO_DONE;
    copy->step = 1;
    start(registers, copy);
    return VFIO_RUNNING;
}

const struct vfio_controller vfio_edu = {
    .name = "edu",
    .vendor = 0x1234,
    .device = 0x11e8,
    .bar = 0,
    .registers_size = REGISTERS_SIZE,
    .address_bits = 28,
    .run_max = BUFFER_BYTES,
    .run_min = RUN_MIN,
    .reset = reset,
    .start = start,
    .handle = handle,
};

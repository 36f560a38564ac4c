/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Firmware: images that run without an operating system, one set for each board.
 *
 *   boards/NAME   start-up code, memory map, console, interrupts; where the DMA controller is
 *   lib           what all boards share: start of the program, semihosting, the console
 *   agent         an image that takes jobs from mlictl over the console
 *
 * The images of tests/firmware compare random moves and permutes with the oracle, and run unit
 * tests of the library.
 *
 * Data flow: the board's start.S sets the stack and calls firmware_start() (lib/common.c), which
 * clears memory, calls board_init() and then main() of the image. main() adds board_engine to
 * libmli and uses libmli as any program does. The engine is a port of libmli (libmli/port), and the
 * board connects its interrupts.
 *
 * To add a board, start here: define the functions below in boards/NAME/, and make
 *   boards/NAME/meson.build   sets board_sources, board_deps, board_args, board_link_args,
 *                             board_link_depends, board_engine (its name), board_all_bytes (options
 *                             with which the controller moves every byte) and, if the runs of
 *                             boards/firmware/meson.build do not suit, board_property
 *   boards/NAME/image.ld      the linker script, see below
 *   boards/NAME/qemu.args     arguments of QEMU, separated by white space, @IMAGE@ for the image
 *   boards/NAME/qemu.known    optional: a sed script that deletes lines of QEMU's log which QEMU
 *                             writes whatever the image does
 *   tests/cross/NAME.ini      the cross file: system = 'none'
 *   scripts/stages/cross.py   a line in TARGETS, for scripts/cross
 *
 * The linker script defines bss_begin and bss_end, which firmware_start() clears; __heap_start and
 * __heap_end for malloc(), with 48 MiB on all boards; tensors_begin and tensors_end of
 * board_memory(); and what start.S of the board uses.
 *
 * start.S has _start in the section .text.start. It runs privileged, with interrupts masked, sets
 * the stack (stack_end) and jumps to firmware_start(). Memory is uncached, or the board sets the
 * functions of the platform. It defines board_interrupts() and board_idle(). An interrupt calls a
 * function of board.c that handles it: not nested, with the stack aligned as the ABI says, and with
 * the registers of the floating-point unit saved, unless the cross file compiles without this unit.
 * The return from an interrupt ends an exclusive access that it has interrupted, if the processor
 * does not do so: with clrex on ARMv7, a strex on ARMv6, an sc on RISC-V. Other exceptions end in
 * firmware_crash(). boards/sifive_u/start.S is the shortest example.
 *
 * `meson setup BUILD --cross-file tests/cross/NAME.ini -Dboard=NAME` then builds all images, and
 * `boards/firmware/qemu NAME IMAGE` runs one. docs/boards.md has the boards.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "mli_engine.h"

/** The name of the board, equal to the name of its folder. */
extern const char board_name[];

/** Prepares console, clock and interrupt controller. Interrupts stay disabled. */
void board_init(void);

/* Console: the serial line */

/** Writes a byte as it is; waits while the line is busy. */
void console_put(uint8_t byte);

/** Returns the next received byte; -1 if no byte was received. */
int console_get(void);

/* Time */

/**
 * Returns nanoseconds since some moment; never goes back. Any context, even with interrupts masked.
 * A counter of 32 bits must be extended; images call the function at least once a minute.
 */
uint64_t board_time_ns(void);

/* Interrupts of the processor that runs the program */

/** Enables or disables all interrupts. Returns whether they were enabled. */
bool board_interrupts(bool enable);

/** Sleeps until the next interrupt; may return early. */
void board_idle(void);

/* DMA */

/**
 * The engine of the board's DMA controller. Its option `interrupt` chooses how work items complete:
 * 1 by interrupts, which board_init() has connected; 0 by polling.
 */
extern const struct mli_engine *const board_engine;

/* What all boards share (lib/common.c, lib/semihosting.c) */

/** The number of interrupts of the DMA controller that were handled; the board counts them. */
extern volatile uint32_t board_dma_interrupts;

/** Writes bytes to the console as they are. */
void board_write(const void *bytes, size_t count);

/** Reads the received bytes, up to `room`. Returns their number, which may be 0. */
size_t board_read(void *to, size_t room);

struct board_memory {
    uint8_t *base; /**< aligned to 64 bytes */
    size_t bytes;
};

/** Returns the memory that the image leaves for tensors. The controller can access it. */
struct board_memory board_memory(void);

/** Ends the program. QEMU ends with this status. */
_Noreturn void board_exit(int status);

/**
 * Clears .bss, calls board_init(), then main() with the board's arguments, and ends the program
 * with its result. The start-up code calls it on the stack of the program.
 */
_Noreturn void firmware_start(void);

/** Reports an exception that no code expects, and ends the program with status 70. */
_Noreturn void firmware_crash(const char *what, uint64_t cause, uint64_t at, uint64_t address);

/** Returns the register at an address. */
static inline volatile uint32_t *word_at(uintptr_t address)
{
    return (volatile uint32_t *)address;
}

/*
 * The interrupt controller of Arm (Generic Interrupt Controller Architecture Specification 2.0, IHI
 * 0048), for the first processor.
 */
struct gic {
    uintptr_t distributor, processor; /**< addresses of the registers */
};

void gic_init(const struct gic *gic);
/** Enables a level-sensitive interrupt. */
void gic_enable(const struct gic *gic, uint32_t irq);
/** Calls `serve` for each interrupt that is pending. */
void gic_serve(const struct gic *gic, void (*serve)(uint32_t irq));

/*
 * Semihosting: a debugger or QEMU (-semihosting) serves requests of the program. Source:
 * "Semihosting for AArch32 and AArch64" (Arm), "RISC-V Semihosting".
 */

/** Ends the program. Returns if no debugger serves the request. */
void semihosting_exit(int status);

/**
 * Copies the arguments of the program, separated by spaces, and a terminator. Returns false for a
 * program without arguments, and if the arguments exceed `room`.
 */
bool semihosting_arguments(char *to, size_t room);

/* SPDX-License-Identifier: BSD-3-Clause */
/* Functions that start-up code and boards call. */
#ifndef FIRMWARE_LIB_FIRMWARE_H
#define FIRMWARE_LIB_FIRMWARE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/**
 * Clears .bss, calls board_init(), then main() with the board's arguments, and ends the program
 * with its result. The start-up code calls it on the stack of the program.
 */
_Noreturn void firmware_start(void);

/** Reports an exception that no code expects, and ends the program with status 70. */
_Noreturn void firmware_crash(const char *what, uint64_t cause, uint64_t at, uint64_t address);

/*
 * Semihosting: a debugger or QEMU (-semihosting) serves requests of the program. Source:
 * "Semihosting for AArch32 and AArch64" (Arm), "RISC-V Semihosting".
 */

/** Implements board_exit(). Returns if no debugger serves the request. */
void semihosting_exit(int status);

/** Implements board_arguments(). */
bool semihosting_arguments(char *to, size_t room);

#endif /* FIRMWARE_LIB_FIRMWARE_H */

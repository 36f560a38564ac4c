/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Choices of the build: what a small target leaves out. docs/library.md ("Small builds") describes
 * them for users; libmli/meson.build sets the macros from options.
 *
 * To add a choice, start here: define the macro's default, read it where the code decides (by a
 * constant `if` rather than by the preprocessor, so that every build compiles both sides), and add
 * an option to meson_options.txt and a row to the table in docs/library.md.
 */
#pragma once

/*
 * Maximum number of DMA channels, 0 to 16. 0 makes small programs: synchronous moves use no
 * channel, so a program that starts no transfer links no code of the pool. A program that does
 * start transfers then has one channel.
 */
#ifndef MLI_CHANNELS
#define MLI_CHANNELS 16
#endif

/* Handles without channels that can exist at a time: 0 to 32. */
#ifndef MLI_CPU_HANDLES
#define MLI_CPU_HANDLES 16
#endif

/* 1: one kernel for all moves (exec/exec.c). */
#ifdef MLI_SMALL_KERNELS
#define BUILD_SMALL_KERNELS 1
#else
#define BUILD_SMALL_KERNELS 0
#endif

/* Unrolls a loop over MLI_MAX_RANK dimensions, unless the compiler optimises for size. */
#ifdef __OPTIMIZE_SIZE__
#define BUILD_UNROLL
#else
#define BUILD_UNROLL _Pragma("GCC unroll 4")
#endif

/* Builds for size: keeps the variables of a function off the stack of its caller. Other builds may
   inline the function, to save the call. */
#ifdef __OPTIMIZE_SIZE__
#define BUILD_APART __attribute__((noinline))
#else
#define BUILD_APART
#endif

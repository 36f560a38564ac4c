/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The library's own engines, and all that are known. To add one of the library's, add it here and
 * to the table in engines.c; others come by mli_mov_add_engine().
 */
#ifndef MLI_DMA_ENGINES_H
#define MLI_DMA_ENGINES_H

#include "mli_engine.h"

/** The thread that starts a transfer moves it: no threads, no operating system. */
extern const struct mli_engine engine_inline;

/** Wraps another engine, and makes things go wrong. */
extern const struct mli_engine engine_fault;

#if defined(__linux__) && __STDC_HOSTED__ && !defined(MLI_NO_THREADS)
#define ENGINE_HAS_THREADS 1
/** A thread for each channel. */
extern const struct mli_engine engine_threads;
#define ENGINE_DEFAULT engine_threads
#else
#define ENGINE_HAS_THREADS 0
#define ENGINE_DEFAULT     engine_inline
#endif

/** For engine_fault: all options as they were at the start, with *engine inside. */
void engine_fault_reset(const struct mli_engine *engine);

/** For engine_fault: the next work is the first. */
void engine_fault_count_anew(void);

#endif /* MLI_DMA_ENGINES_H */

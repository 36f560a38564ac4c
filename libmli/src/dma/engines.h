/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The library's own engines. To add one, start here: write it in engine_NAME.c, which
 * libmli/meson.build lists, declare it below, and add it to the table in engines.c. Then add it to
 * the table in docs/library.md, and to the list that tests/unit/daemon/test_engines.c expects.
 * Other engines are added at run time, by mli_mov_add_engine() (mli_engine.h).
 */
#ifndef MLI_DMA_ENGINES_H
#define MLI_DMA_ENGINES_H

#include "mli_engine.h"

/** The thread that starts a transfer also moves the data. Needs no threads and no OS. */
extern const struct mli_engine engine_inline;

#ifdef MLI_NO_FAULT
#define ENGINE_HAS_FAULT 0
#else
#define ENGINE_HAS_FAULT 1
#endif

/** Wraps another engine, and injects faults: delays, errors, endless work items, flipped bits. */
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

/** Resets all options of engine_fault to their defaults, and makes it wrap *engine. */
void engine_fault_reset(const struct mli_engine *engine);

/** Makes engine_fault count work items from 1 again. */
void engine_fault_restart_count(void);

/**
 * Refuses a call with the engine's reason for its last failure, which follows the word "engine".
 * Returns false, and refuses nothing, if the engine gives no reason.
 */
bool engine_gives_reason(const struct mli_engine *engine, mli_status status);

#endif /* MLI_DMA_ENGINES_H */

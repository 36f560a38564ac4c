/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Refusing a call: a status for the caller, a sentence for mli_last_error().
 *
 *     return refuse(MLI_STATUS_BAD_FUNC_CFG, "cfg", ".offset[%]: % given; must be below %", d, o,
 * p)
 *
 * Each % in the format takes the next number (converted to int64_t). The subject comes before the
 * format, so that one check can name "src" or "dst". The build option debug_mode (here
 * MLI_DEBUG_MODE) adds further actions.
 *
 * refuse() is for misuse: arguments and states that the caller can check before the call. decline()
 * is for conditions of the run time: no free channel, an error of a device, an engine that is not
 * there, a pool that other threads use. Only refuse() aborts. It does not abort in a function that
 * only asks whether a call would be refused, such as mli_mov_check() (error_question()).
 */
#pragma once

#include "mli_types.h"

/* Values of MLI_DEBUG_MODE. */
#define MLI_DEBUG_RELEASE   0 /* returns the status; mli_last_error() is its text */
#define MLI_DEBUG_RET_CODES 1 /* returns the status and writes the sentence */
#define MLI_DEBUG_ASSERT    2 /* as RET_CODES, and misuse calls abort() */
#define MLI_DEBUG_DEBUG     3 /* as ASSERT, and prints the sentence to stderr */
#define MLI_DEBUG_FULL      4 /* as DEBUG; libmli makes embARC's further checks in every mode */

#ifndef MLI_DEBUG_MODE
#define MLI_DEBUG_MODE MLI_DEBUG_RET_CODES
#endif

/*
 * Only systems set up thread-local storage: on bare metal the accesses do not link, or use an
 * uninitialised register. An RTOS with thread-local storage defines this as _Thread_local.
 * On ARC, gcc 12 adds the offset of a variable twice in the local-dynamic model.
 */
#ifdef MLI_THREAD_LOCAL
#elif !__STDC_HOSTED__ || !(defined(__unix__) || defined(__APPLE__))
#define MLI_THREAD_LOCAL
#elif defined(__arc__)
#define MLI_THREAD_LOCAL _Thread_local __attribute__((tls_model("initial-exec")))
#else
#define MLI_THREAD_LOCAL _Thread_local
#endif

/* Refusals are rare: compilers move code of cold functions away from the common path. */
#define ERROR_COLD __attribute__((cold))

/*
 * The value of the macro is `status` itself: readers and analysers see at the call that it is not
 * OK.
 */
#if MLI_DEBUG_MODE == MLI_DEBUG_RELEASE
#define refuse(status, subject, format, ...)                                                       \
    ((void)(subject), (void)(format), (void)sizeof((const int64_t[]){0, ##__VA_ARGS__}),           \
     error_note(status), (status))
#define decline             refuse
#define error_question(now) ((void)(now))
ERROR_COLD void error_note(mli_status status);
#else
#define refuse(status, subject, format, ...)                                                       \
    (error_explain(status, subject, format, (const int64_t[]){0, ##__VA_ARGS__} + 1), (status))
#define decline(status, subject, format, ...)                                                      \
    (error_decline(status, subject, format, (const int64_t[]){0, ##__VA_ARGS__} + 1), (status))
ERROR_COLD void error_explain(mli_status status, const char *subject, const char *format,
                              const int64_t *numbers);
ERROR_COLD void error_decline(mli_status status, const char *subject, const char *format,
                              const int64_t *numbers);

/** Tells that this thread only asks whether a call would be refused (true), or no longer asks. */
void error_question(bool now);
#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/* Captures the standard output and standard error of code under test. */
#ifndef TEST_CAPTURE_H
#define TEST_CAPTURE_H

/** Begins to capture both streams. */
void capture_begin(void);
/** Return the text that was written since capture_begin(); valid until capture_end(). */
const char *capture_output(void);
const char *capture_errors(void);
/** Restores both streams. */
void capture_end(void);

#endif /* TEST_CAPTURE_H */

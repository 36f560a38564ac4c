/* SPDX-License-Identifier: BSD-3-Clause */
/* What a piece of mlictl writes to standard output and error. */
#ifndef TEST_CAPTURE_H
#define TEST_CAPTURE_H

/** From now on both are kept. */
void capture_begin(void);
/** What was written to standard output or error since then; valid until capture_end(). */
const char *capture_output(void);
const char *capture_errors(void);
/** As it was before. */
void capture_end(void);

#endif /* TEST_CAPTURE_H */

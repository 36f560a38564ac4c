/* SPDX-License-Identifier: BSD-3-Clause */
/* Standard output and error that a cancel can interrupt, even if their readers do not read. */
#ifndef CLI_STREAMS_H
#define CLI_STREAMS_H

/**
 * Replaces stdout and stderr by streams that wait for their readers only until a cancel. A reader
 * that does not make room within a second after the cancel gets no more output. Call it after
 * cancel_init(). Returns 0 or -errno.
 */
int streams_init(void);

#endif /* CLI_STREAMS_H */

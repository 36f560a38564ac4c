/* SPDX-License-Identifier: BSD-3-Clause */
/* Standard output and error that a reader who does not read cannot keep us at. */
#ifndef CLI_STREAMS_H
#define CLI_STREAMS_H

/**
 * From now on stdout and stderr wait for their readers only until a cancel comes. Whoever has not
 * made room a second after that gets nothing more. Call it after cancel_init(). Returns 0 or
 * -errno.
 */
int streams_init(void);

#endif /* CLI_STREAMS_H */

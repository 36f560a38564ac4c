/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The table of descriptors that wait to be closed: an entry for each descriptor that the process
 * can have, so that no descriptor needs memory when it must be closed. Memory pages of entries that
 * were never used are not resident.
 */
#ifndef DAEMON_CLOSINGS_H
#define DAEMON_CLOSINGS_H

/**
 * Allocates the table for the descriptors that the hard limit of the process allows, at most
 * 262144, unless there is one. Returns 0 or -errno.
 */
int closings_reserve(void);
/** Frees the table. No descriptor may wait. */
void closings_free(void);

#endif /* DAEMON_CLOSINGS_H */

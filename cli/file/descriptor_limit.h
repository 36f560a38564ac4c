/* SPDX-License-Identifier: BSD-3-Clause */
/* The number of descriptors that this process may open. */
#ifndef CLI_DESCRIPTOR_LIMIT_H
#define CLI_DESCRIPTOR_LIMIT_H

/** Raises the limit to the largest that is allowed. Does nothing if that fails. */
void descriptor_limit_raise(void);

#endif /* CLI_DESCRIPTOR_LIMIT_H */

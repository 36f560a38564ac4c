/* SPDX-License-Identifier: BSD-3-Clause */
/* The engines of devices that this build has beside those of the library. */
#ifndef MLI_PORTS_H
#define MLI_PORTS_H

/** Adds them all. Call it first in main(), once. */
void ports_add(void);

#endif /* MLI_PORTS_H */

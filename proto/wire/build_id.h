/* SPDX-License-Identifier: BSD-3-Clause */
/* Identifies a build, because several builds can have the same version. */
#pragma once

enum { BUILD_ID_SIZE = 17 };

/**
 * Returns 16 hexadecimal digits made from the GNU build IDs of this program and of the libmli
 * libraries it has loaded; for an object without a build ID, from its code and constants. Equal
 * binaries give equal digits on every machine. Computes the digits once. Any thread may call it.
 */
const char *build_id(void);

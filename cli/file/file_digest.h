/* SPDX-License-Identifier: BSD-3-Clause */
/* The SHA-256 of an open file. */
#ifndef CLI_FILE_DIGEST_H
#define CLI_FILE_DIGEST_H

#include <stdint.h>

#include "proto/file/sha256_text.h"
#include "proto/json/fault.h"

/** Of the whole file, wherever its position is; ^C ends it. Returns 0 or -1. */
int file_digest(int fd, uint8_t digest[DIGEST_SIZE], struct fault *fault);

#endif /* CLI_FILE_DIGEST_H */

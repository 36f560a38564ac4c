/* SPDX-License-Identifier: BSD-3-Clause */
/* A file's SHA-256, and how it is written: "sha256:" and 64 hexadecimal digits. */
#ifndef PROTO_DIGEST_H
#define PROTO_DIGEST_H

#include <stdbool.h>
#include <stdint.h>

enum { DIGEST_SIZE = 32, DIGEST_TEXT_SIZE = sizeof "sha256:" + 2 * DIGEST_SIZE };

/** False where the text is no digest. Digits may be in either case. */
bool digest_from_text(const char *text, uint8_t digest[DIGEST_SIZE]);
/** Returns `out`. */
const char *digest_text(const uint8_t digest[DIGEST_SIZE], char out[DIGEST_TEXT_SIZE]);

#endif /* PROTO_DIGEST_H */

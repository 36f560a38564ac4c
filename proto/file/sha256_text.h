/* SPDX-License-Identifier: BSD-3-Clause */
/* A file's SHA-256, and how it is written: "sha256:" and 64 hexadecimal digits. */
#ifndef PROTO_SHA256_TEXT_H
#define PROTO_SHA256_TEXT_H

#include <stdbool.h>
#include <stdint.h>

enum { SHA256_SIZE = 32, SHA256_TEXT_SIZE = sizeof "sha256:" + 2 * SHA256_SIZE };

/** False where the text is no digest. Digits may be in either case. */
bool sha256_from_text(const char *text, uint8_t digest[SHA256_SIZE]);
/** Returns `out`. */
const char *sha256_to_text(const uint8_t digest[SHA256_SIZE], char out[SHA256_TEXT_SIZE]);

#endif /* PROTO_SHA256_TEXT_H */

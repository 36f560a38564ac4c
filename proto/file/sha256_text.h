/* SPDX-License-Identifier: BSD-3-Clause */
/* The SHA-256 of a file as text: "sha256:" and 64 hexadecimal digits. */
#ifndef PROTO_SHA256_TEXT_H
#define PROTO_SHA256_TEXT_H

#include <stdbool.h>
#include <stdint.h>

enum { SHA256_SIZE = 32, SHA256_TEXT_SIZE = sizeof "sha256:" + 2 * SHA256_SIZE };

/** Parses a digest; digits may be upper or lower case. Returns false if the text is invalid. */
bool sha256_from_text(const char *text, uint8_t digest[SHA256_SIZE]);
/** Writes a digest with lower-case digits. Returns `out`. */
const char *sha256_to_text(const uint8_t digest[SHA256_SIZE], char out[SHA256_TEXT_SIZE]);

#endif /* PROTO_SHA256_TEXT_H */

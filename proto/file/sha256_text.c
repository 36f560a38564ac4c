/* SPDX-License-Identifier: BSD-3-Clause */
#include "proto/file/sha256_text.h"

#include <stddef.h>
#include <string.h>

static const char prefix[] = "sha256:";

enum { PREFIX_LENGTH = sizeof prefix - 1 };

/* Does not use isxdigit(), which depends on the locale. */
static int value_of(char digit)
{
    if (digit >= '0' && digit <= '9')
        return digit - '0';
    if (digit >= 'a' && digit <= 'f')
        return digit - 'a' + 10;
    if (digit >= 'A' && digit <= 'F')
        return digit - 'A' + 10;
    return -1;
}

bool sha256_from_text(const char *text, uint8_t digest[SHA256_SIZE])
{
    if (strlen(text) != SHA256_TEXT_SIZE - 1 || memcmp(text, prefix, PREFIX_LENGTH) != 0)
        return false;
    text += PREFIX_LENGTH;
    for (size_t i = 0; i < SHA256_SIZE; i++) {
        int high = value_of(text[2 * i]), low = value_of(text[2 * i + 1]);

        if (high < 0 || low < 0)
            return false;
        digest[i] = (uint8_t)(high << 4 | low);
    }
    return true;
}

const char *sha256_to_text(const uint8_t digest[SHA256_SIZE], char out[SHA256_TEXT_SIZE])
{
    static const char digits[] = "0123456789abcdef";
    char *at = out + PREFIX_LENGTH;

    memcpy(out, prefix, PREFIX_LENGTH);
    for (size_t i = 0; i < SHA256_SIZE; i++) {
        *at++ = digits[digest[i] >> 4];
        *at++ = digits[digest[i] & 15];
    }
    *at = '\0';
    return out;
}

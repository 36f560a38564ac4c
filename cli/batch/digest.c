/* SPDX-License-Identifier: BSD-3-Clause */
#include "cli/batch/digest.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { DIGITS = 16 };

uint64_t digest64(const void *bytes, size_t size)
{
    const unsigned char *byte = bytes;
    uint64_t h = UINT64_C(0xcbf29ce484222325);
    for (size_t i = 0; i < size; i++)
        h = (h ^ byte[i]) * UINT64_C(0x100000001b3);
    h = (h ^ h >> 33) * UINT64_C(0xff51afd7ed558ccd);
    h = (h ^ h >> 33) * UINT64_C(0xc4ceb9fe1a85ec53);
    return h ^ h >> 33;
}

uint64_t digest_add(uint64_t set, const char *name)
{
    return set + digest64(name, strlen(name));
}

void digest_write(struct jsonw *w, const char *key, uint64_t digest)
{
    char text[DIGITS + 1];
    snprintf(text, sizeof(text), "%016" PRIx64, digest);
    jsonw_string(w, key, text);
}

int digest_read(const struct json *value, uint64_t *digest)
{
    const char *text;
    if (json_string(value, DIGITS, &text))
        return -1;
    if (strlen(text) != DIGITS || strspn(text, "0123456789abcdef") != DIGITS)
        return json_complain(value, "16 hexadecimal digits are wanted");
    *digest = strtoull(text, NULL, 16);
    return 0;
}

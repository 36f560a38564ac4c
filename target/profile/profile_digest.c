/* SPDX-License-Identifier: BSD-3-Clause */
#include <inttypes.h>
#include <stdio.h>

#include "target/profile/target_profile.h"

/* FNV-1a with 64 bits. */
#define FNV_BASIS UINT64_C(0xcbf29ce484222325)
#define FNV_PRIME UINT64_C(0x100000001b3)

const char *profile_digest(char out[PROFILE_DIGEST_SIZE], const struct target_profile *profile)
{
    uint64_t hash = FNV_BASIS;
    const char *text;
    struct jsonw w;

    jsonw_init(&w);
    profile_write(&w, NULL, profile);
    text = jsonw_text(&w);
    for (const char *at = text; at && *at; at++)
        hash = (hash ^ (unsigned char)*at) * FNV_PRIME;
    snprintf(out, PROFILE_DIGEST_SIZE, "%016" PRIx64, hash);
    if (!text)
        out[0] = '\0';
    jsonw_finish(&w);
    return out;
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* The fields of zip archives: little-endian integers and signatures of four bytes. */
#ifndef CLI_ZIP_BYTES_H
#define CLI_ZIP_BYTES_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

static inline uint16_t zip_u16(const unsigned char *bytes)
{
    return (uint16_t)(bytes[0] | bytes[1] << 8);
}

static inline uint32_t zip_u32(const unsigned char *bytes)
{
    return zip_u16(bytes) | (uint32_t)zip_u16(bytes + 2) << 16;
}

static inline uint64_t zip_u64(const unsigned char *bytes)
{
    return zip_u32(bytes) | (uint64_t)zip_u32(bytes + 4) << 32;
}

static inline bool zip_begins(const unsigned char *bytes, const char signature[4])
{
    return memcmp(bytes, signature, 4) == 0;
}

#endif /* CLI_ZIP_BYTES_H */

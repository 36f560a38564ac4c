/* SPDX-License-Identifier: BSD-3-Clause */
/* Writes zip archives: valid archives, and archives in which any field may disagree with the data.
 */
#ifndef TEST_FUZZ_ZIP_H
#define TEST_FUZZ_ZIP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct zip_member {
    const char *name;
    const uint8_t *bytes; /* the member's data as it is in the archive, compressed or not */
    uint32_t size;        /* number of bytes of the data */
    uint32_t unpacked;    /* unpacked size, as the archive states it */
    uint32_t crc;         /* CRC-32 of the unpacked bytes */
    uint16_t method;      /* 0: stored, 8: deflated */
    uint16_t flags;
    const uint8_t *extra; /* extra fields in the directory */
    uint16_t extra_size;
    uint16_t comment; /* size of the member's comment, in bytes */
    bool wide;        /* sizes and offset are in a field of zip64 */
};

struct zip_writer {
    uint8_t *bytes; /* the archive; owned */
    size_t size, capacity;
    struct zip_entry *entries; /* number of members that the directory lists */
    size_t count;
    bool wide; /* the end records are those of zip64 */
};

uint32_t zip_crc(const void *bytes, size_t size);
void zip_add(struct zip_writer *zip, const struct zip_member *member);
/**
 * Adds the directory and its end record. The number of entries in the end record is `said` larger
 * than the true number.
 */
void zip_end(struct zip_writer *zip, int said);
void zip_finish(struct zip_writer *zip);

#endif /* TEST_FUZZ_ZIP_H */

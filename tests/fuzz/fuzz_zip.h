/* SPDX-License-Identifier: BSD-3-Clause */
/* Writes zip archives, valid ones and archives with any field that disagrees with the data. */
#ifndef TEST_FUZZ_ZIP_H
#define TEST_FUZZ_ZIP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct zip_member {
    const char *name;
    const uint8_t *bytes; /* as they are stored */
    uint32_t size;        /* of `bytes` */
    uint32_t unpacked;    /* size that the archive states */
    uint32_t crc;         /* of the unpacked bytes */
    uint16_t method;      /* 0: stored, 8: deflated */
    uint16_t flags;
    const uint8_t *extra; /* extra fields in the directory */
    uint16_t extra_size;
    uint16_t comment; /* bytes of a comment */
    bool wide;        /* sizes and offset are in a field of zip64 */
};

struct zip_writer {
    uint8_t *bytes; /* the archive; owned */
    size_t size, capacity;
    struct zip_entry *entries; /* for the directory */
    size_t count;
    bool wide; /* the directory is announced by records of zip64 */
};

uint32_t zip_crc(const void *bytes, size_t size);
void zip_add(struct zip_writer *zip, const struct zip_member *member);
/** Adds the directory. `said` more entries than there are are announced at the end. */
void zip_end(struct zip_writer *zip, int said);
void zip_finish(struct zip_writer *zip);

#endif /* TEST_FUZZ_ZIP_H */

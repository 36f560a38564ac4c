/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Takes numbers and texts from the bytes of an input, so that any bytes describe a structure. After
 * the last byte every number is 0.
 */
#ifndef TEST_FUZZ_READER_H
#define TEST_FUZZ_READER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

struct fuzz_reader {
    const uint8_t *at, *end;
};

static inline struct fuzz_reader fuzz_reader_init(const uint8_t *data, size_t size)
{
    static const uint8_t none[1];

    return size > 0 ? (struct fuzz_reader){data, data + size} : (struct fuzz_reader){none, none};
}

static inline size_t fuzz_left(const struct fuzz_reader *reader)
{
    return (size_t)(reader->end - reader->at);
}

static inline uint8_t fuzz_u8(struct fuzz_reader *reader)
{
    return reader->at < reader->end ? *reader->at++ : 0;
}

static inline uint64_t fuzz_bytes(struct fuzz_reader *reader, unsigned bytes)
{
    uint64_t value = 0;

    for (unsigned i = 0; i < bytes; i++)
        value |= (uint64_t)fuzz_u8(reader) << 8 * i;
    return value;
}

/* Returns a number from 0 to count - 1, made from one byte if that suffices. */
static inline uint32_t fuzz_below(struct fuzz_reader *reader, uint32_t count)
{
    return (uint32_t)fuzz_bytes(reader, count <= 256 ? 1 : 4) % count;
}

/* Returns true for an eighth of all bytes, and never after the last byte. */
static inline bool fuzz_rarely(struct fuzz_reader *reader)
{
    return (fuzz_u8(reader) & 7) == 7;
}

/*
 * Returns a number of any size. Most numbers are small. Numbers near powers of two, where sums and
 * products overflow, need only two bytes of input.
 */
static inline uint64_t fuzz_number(struct fuzz_reader *reader)
{
    const uint8_t kind = fuzz_u8(reader);

    if (kind < 0xc0)
        return kind & 0x1f;
    if (kind < 0xe0)
        return (UINT64_C(1) << (fuzz_u8(reader) & 63)) + (kind & 3) - 2;
    return fuzz_bytes(reader, 1 + (kind & 7));
}

/* Takes a piece of at most `most` bytes; its length is the next byte. */
static inline const uint8_t *fuzz_piece(struct fuzz_reader *reader, size_t most, size_t *size)
{
    const uint8_t *piece;

    *size = fuzz_u8(reader);
    *size = *size < most ? *size : most;
    *size = *size < fuzz_left(reader) ? *size : fuzz_left(reader);
    piece = reader->at;
    reader->at += *size;
    return piece;
}

/* Takes all remaining bytes as one piece. */
static inline const uint8_t *fuzz_rest(struct fuzz_reader *reader, size_t *size)
{
    const uint8_t *piece = reader->at;

    *size = fuzz_left(reader);
    reader->at = reader->end;
    return piece;
}

#endif /* TEST_FUZZ_READER_H */

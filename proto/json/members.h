/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Getters for members of an object and for sets of words. The getters return 0, or -1 with the
 * object's fault filled. Private to proto/.
 */
#ifndef PROTO_MEMBERS_H
#define PROTO_MEMBERS_H

#include <stdint.h>

#include "proto/json/json.h"
#include "proto/json/jsonw.h"

/* The largest number that the protocol allows. */
#define MEMBER_MAX ((INT64_C(1) << 53) - 1)

/** Like json_object(), for the params of a method, which may be absent. */
int params_object(const struct json *params, const char *const *allowed);

/** Require member `key`, a whole number from 0. */
int member_u64(const struct json *object, const char *key, uint64_t *out);
int member_u32(const struct json *object, const char *key, uint32_t *out);
int member_bool(const struct json *object, const char *key, bool *out);
/** Requires a string of less than `size` bytes, which may be empty, and copies it to `out`. */
int member_text(const struct json *object, const char *key, char *out, size_t size);
/** Requires member `key` of any type; the fault's message is "missing, <why>". */
int member_require(const struct json *object, const char *key, const char *why);

/** Read member `key`; leave *out and *number unchanged if it is absent. */
int optional_bool(const struct json *object, const char *key, bool *out);
int optional_int(const struct json *object, const char *key, int64_t min, int64_t max,
                 int64_t *number);
/** Reads a whole number from 0; 0 if the member is absent. */
int optional_u64(const struct json *object, const char *key, uint64_t *out);

/** Requires an array of at most `max` entries; *count becomes its length. */
int array_within(const struct json *array, size_t max, size_t *count);

/**
 * Requires a number of bytes or an address, at most `max`: an integer, or a string such as
 * "0x90000000".
 */
int address_read(const struct json *value, int64_t max, uint64_t *out);

/** Reads an array of words as bits 1 << index in `words` (null-terminated), and writes it. */
int words_read(const struct json *array, const char *const *words, uint32_t *bits);
void words_write(struct jsonw *w, const char *key, const char *const *words, uint32_t bits);

/** Requires a number that fits into a field of `size` bytes: 4 or 8. */
int member_number(const struct json *object, const char *key, size_t size, uint64_t *number);

#endif /* PROTO_MEMBERS_H */

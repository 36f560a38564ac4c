/* SPDX-License-Identifier: BSD-3-Clause */
/* Tables of the numbers that an object may have: key, field, range and default of each. */
#ifndef PROTO_NUMBER_H
#define PROTO_NUMBER_H

#include <stddef.h>
#include <stdint.h>

#include "proto/json/json.h"

struct number {
    const char *key;
    size_t at, size; /* offset and size of a uint32_t or uint64_t member of a structure */
    int64_t min, max, standard;
};

#define NUMBER(type, field, key, min, max, standard)                                               \
    {                                                                                              \
        key, offsetof(type, field), sizeof(((type *)0)->field), (min), (max), (standard)           \
    }

/* The longest table of one object. Tables end with a null key. */
enum { NUMBERS_MAX = 16 };

/** Sets each number to its default. */
void numbers_default(void *structure, const struct number *numbers);
/** Reads the numbers that the object has. Returns 0, or -1 with the object's fault filled. */
int numbers_read(void *structure, const struct number *numbers, const struct json *object);
/** Reads an object that may have only these numbers. Does nothing if the object is absent. */
int numbers_read_object(void *structure, const struct number *numbers, const struct json *object);

#endif /* PROTO_NUMBER_H */

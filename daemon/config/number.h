/* SPDX-License-Identifier: BSD-3-Clause */
/* Numbers of the configuration: a table says where each lies and what it may be. */
#ifndef DAEMON_NUMBER_H
#define DAEMON_NUMBER_H

#include <stddef.h>
#include <stdint.h>

#include "proto/json/json.h"

struct number {
    const char *key;
    size_t at, size; /* a uint32_t or a uint64_t of some structure */
    int64_t min, max, standard;
};

#define NUMBER(type, field, key, min, max, standard)                                               \
    {                                                                                              \
        key, offsetof(type, field), sizeof(((type *)0)->field), (min), (max), (standard)           \
    }

/* Of one object's numbers, and of all its members at most. The tables end with a null key. */
enum { NUMBERS_MAX = 16 };

/** Sets each number to its standard. */
void numbers_default(void *structure, const struct number *numbers);
/** Reads those that are there over the structure. Returns 0 or -1 (fault). */
int numbers_read(void *structure, const struct number *numbers, const struct json *object);
/** Requires an object of nothing but numbers and reads it; one that is absent changes nothing. */
int numbers_read_object(void *structure, const struct number *numbers, const struct json *object);

#endif /* DAEMON_NUMBER_H */

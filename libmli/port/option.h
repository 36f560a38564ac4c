/* SPDX-License-Identifier: BSD-3-Clause */
/* The numbers that an engine accepts as options, for the function `option` of struct mli_engine. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct port_option {
    const char *name;
    _Atomic uint32_t *value; /**< atomic, because any thread may call `caps` at any time */
    uint32_t standard;       /**< the default */
    uint32_t min, max;       /**< the numbers that are allowed, min and max included */
};

/** Returns whether the `length` characters at `key` are the string `name`. */
bool port_option_is(const char *key, size_t length, const char *name);

/**
 * Sets the option that `key` names. A key of length 0 sets all options to their defaults. Returns
 * false, and changes nothing, if no option has this name, or if the number is not allowed.
 */
bool port_option_set(const struct port_option *options, size_t count, const char *key,
                     size_t length, uint64_t number);

/** Returns the value of an option. */
uint32_t port_option_get(_Atomic uint32_t *value);

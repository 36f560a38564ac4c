/* SPDX-License-Identifier: BSD-3-Clause */
#include "libmli/port/option.h"

#include <stdatomic.h>

bool port_option_is(const char *key, size_t length, const char *name)
{
    size_t i = 0;

    while (i < length && name[i] == key[i])
        i++;
    return i == length && name[i] == '\0';
}

bool port_option_set(const struct port_option *options, size_t count, const char *key,
                     size_t length, uint64_t number)
{
    for (const struct port_option *option = options; option < options + count; option++) {
        if (length == 0) {
            atomic_store_explicit(option->value, option->standard, memory_order_relaxed);
        } else if (port_option_is(key, length, option->name)) {
            if (number < option->min || number > option->max)
                return false;
            atomic_store_explicit(option->value, (uint32_t)number, memory_order_relaxed);
            return true;
        }
    }
    return length == 0;
}

uint32_t port_option_get(_Atomic uint32_t *value)
{
    return atomic_load_explicit(value, memory_order_relaxed);
}

/* SPDX-License-Identifier: BSD-3-Clause */
#include <assert.h>
#include <stdio.h>

#include "target/controller/encoder.h"

static void add_field(struct controller_descriptor *out, const char *name, uint64_t value, bool hex)
{
    struct controller_field *field = &out->field[out->field_count];

    assert(out->field_count < CONTROLLER_FIELDS_MAX);
    out->field_count++;
    (void)snprintf(field->name, sizeof field->name, "%s", name);
    field->value = value;
    field->hex = hex;
}

void controller_add(struct controller_descriptor *out, const char *name, uint64_t value)
{
    add_field(out, name, value, false);
}

void controller_add_hex(struct controller_descriptor *out, const char *name, uint64_t value)
{
    add_field(out, name, value, true);
}

void controller_put(struct controller_descriptor *out, unsigned bits, uint64_t value)
{
    assert(bits % 8 == 0 && bits <= 64 && out->size + bits / 8 <= CONTROLLER_BYTES_MAX);
    for (unsigned bit = 0; bit < bits; bit += 8)
        out->bytes[out->size++] = (uint8_t)(value >> bit);
}

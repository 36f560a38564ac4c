/* SPDX-License-Identifier: BSD-3-Clause */
#include "cli/model/flatbuffer.h"

#include <endian.h>
#include <string.h>

static const struct flatbuffer_table no_table;
static const struct flatbuffer_vector no_vector;

void flatbuffer_init(struct flatbuffer *flatbuffer, const uint8_t *bytes, uint64_t size)
{
    /* Tables share vtables, strings and small vectors: some bytes may be read more than once. */
    *flatbuffer =
        (struct flatbuffer){.bytes = bytes, .size = size, .budget = (1 << 20) + 16 * size};
}

static void set_problem(struct flatbuffer *flatbuffer, const char *problem)
{
    if (!flatbuffer->problem)
        flatbuffer->problem = problem;
}

/* Returns whether `length` bytes at `at` are in the file; sets the problem if not. */
static bool inside(struct flatbuffer *flatbuffer, uint64_t at, uint64_t length)
{
    if (flatbuffer->problem)
        return false;
    if (at <= flatbuffer->size && length <= flatbuffer->size - at)
        return true;
    set_problem(flatbuffer, "an offset or a length points beyond the end of the file");
    return false;
}

static bool charge(struct flatbuffer *flatbuffer, uint64_t bytes)
{
    if (bytes > flatbuffer->budget) {
        set_problem(flatbuffer, "its tables refer to the same bytes too often");
        return false;
    }
    flatbuffer->budget -= bytes;
    return true;
}

/* Loads an integer. The caller has checked the range. */
static uint64_t load(const struct flatbuffer *flatbuffer, uint64_t at, uint32_t width)
{
    uint64_t bits = 0;

    memcpy(&bits, flatbuffer->bytes + at, width);
    return le64toh(bits);
}

/* Returns `at` plus the offset that is stored at `at`, or 0 after a problem. */
static uint64_t follow(struct flatbuffer *flatbuffer, uint64_t at)
{
    if (!inside(flatbuffer, at, 4))
        return 0;
    const uint64_t distance = load(flatbuffer, at, 4);
    if (distance == 0) {
        set_problem(flatbuffer, "an offset is 0");
        return 0;
    }
    return inside(flatbuffer, at + distance, 4) ? at + distance : 0;
}

/* Returns the table at `at`, or no_table after a problem. Checks the sizes of the table. */
static struct flatbuffer_table table_at(struct flatbuffer *flatbuffer, uint64_t at)
{
    struct flatbuffer_table table = {.at = at};

    if (at == 0 || !inside(flatbuffer, at, 4))
        return no_table;
    const int64_t vtable = (int64_t)at - (int32_t)load(flatbuffer, at, 4);
    if (vtable < 0 || !inside(flatbuffer, (uint64_t)vtable, 4)) {
        set_problem(flatbuffer, "a table has its vtable outside the file");
        return no_table;
    }
    table.vtable = (uint64_t)vtable;
    table.vtable_size = (uint32_t)load(flatbuffer, table.vtable, 2);
    table.size = (uint32_t)load(flatbuffer, table.vtable + 2, 2);
    if (table.vtable_size < 4 || table.vtable_size % 2 || table.size < 4 ||
        !inside(flatbuffer, table.vtable, table.vtable_size) ||
        !inside(flatbuffer, at, table.size)) {
        set_problem(flatbuffer, "a table or its vtable has a wrong size");
        return no_table;
    }
    return charge(flatbuffer, 8 + table.vtable_size) ? table : no_table;
}

/* Returns the position of field `id`, which has `width` bytes, or 0 if the field is absent. */
static uint64_t field_at(struct flatbuffer *flatbuffer, const struct flatbuffer_table *table,
                         uint32_t id, uint32_t width)
{
    const uint32_t entry = 4 + 2 * id;

    if (flatbuffer->problem || table->at == 0 || entry + 2 > table->vtable_size)
        return 0;
    const uint32_t place = (uint32_t)load(flatbuffer, table->vtable + entry, 2);
    if (place == 0)
        return 0;
    if (place < 4 || place + width > table->size) {
        set_problem(flatbuffer, "a field lies outside its table");
        return 0;
    }
    return table->at + place;
}

struct flatbuffer_table flatbuffer_root(struct flatbuffer *flatbuffer, const char *identifier)
{
    if (flatbuffer->size < 8 || memcmp(flatbuffer->bytes + 4, identifier, 4) != 0) {
        set_problem(flatbuffer, "it does not have the identifier of its format");
        return no_table;
    }
    return table_at(flatbuffer, follow(flatbuffer, 0));
}

uint64_t flatbuffer_uint(struct flatbuffer *flatbuffer, const struct flatbuffer_table *table,
                         uint32_t id, uint32_t width, uint64_t absent)
{
    const uint64_t at = field_at(flatbuffer, table, id, width);

    return at ? load(flatbuffer, at, width) : absent;
}

int32_t flatbuffer_int32(struct flatbuffer *flatbuffer, const struct flatbuffer_table *table,
                         uint32_t id, int32_t absent)
{
    return (int32_t)(uint32_t)flatbuffer_uint(flatbuffer, table, id, 4, (uint32_t)absent);
}

struct flatbuffer_table flatbuffer_table(struct flatbuffer *flatbuffer,
                                         const struct flatbuffer_table *table, uint32_t id)
{
    const uint64_t at = field_at(flatbuffer, table, id, 4);

    return at ? table_at(flatbuffer, follow(flatbuffer, at)) : no_table;
}

static struct flatbuffer_vector vector_of(struct flatbuffer *flatbuffer,
                                          const struct flatbuffer_table *table, uint32_t id,
                                          uint32_t width)
{
    const uint64_t field = field_at(flatbuffer, table, id, 4);
    const uint64_t at = field ? follow(flatbuffer, field) : 0;

    if (at == 0)
        return no_vector;
    struct flatbuffer_vector vector = {at + 4, (uint32_t)load(flatbuffer, at, 4), width};
    return inside(flatbuffer, vector.at, (uint64_t)vector.count * width) ? vector : no_vector;
}

struct flatbuffer_vector flatbuffer_vector(struct flatbuffer *flatbuffer,
                                           const struct flatbuffer_table *table, uint32_t id,
                                           uint32_t width)
{
    const struct flatbuffer_vector vector = vector_of(flatbuffer, table, id, width);

    return charge(flatbuffer, 4 + (uint64_t)vector.count * width) ? vector : no_vector;
}

struct flatbuffer_vector flatbuffer_bytes(struct flatbuffer *flatbuffer,
                                          const struct flatbuffer_table *table, uint32_t id)
{
    return vector_of(flatbuffer, table, id, 1);
}

uint64_t flatbuffer_element(const struct flatbuffer *flatbuffer,
                            const struct flatbuffer_vector *vector, uint32_t i)
{
    return load(flatbuffer, vector->at + (uint64_t)i * vector->width, vector->width);
}

int32_t flatbuffer_element32(const struct flatbuffer *flatbuffer,
                             const struct flatbuffer_vector *vector, uint32_t i)
{
    return (int32_t)(uint32_t)flatbuffer_element(flatbuffer, vector, i);
}

struct flatbuffer_table flatbuffer_element_table(struct flatbuffer *flatbuffer,
                                                 const struct flatbuffer_vector *vector, uint32_t i)
{
    return table_at(flatbuffer, follow(flatbuffer, vector->at + (uint64_t)i * 4));
}

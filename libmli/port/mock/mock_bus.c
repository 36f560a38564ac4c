/* SPDX-License-Identifier: BSD-3-Clause */
#include "libmli/port/mock/mock_device.h"

#include <stdatomic.h>
#include <string.h>

/* A range of addresses, and the memory that answers there. */
struct range {
    uint64_t address, bytes;
    uint8_t *memory;
    bool write;
};

static struct range poison;
static uint64_t offset;
static struct {
    uint8_t *memory, *behind;
    size_t bytes;
} cache;

/* The IOMMU. Entries with 0 bytes are free. */
static atomic_bool translates;
static atomic_flag table_lock = ATOMIC_FLAG_INIT;
static struct range table[MOCK_MAPPINGS];

static void lock_table(void)
{
    while (atomic_flag_test_and_set_explicit(&table_lock, memory_order_acquire))
        ;
}

static void unlock_table(void)
{
    atomic_flag_clear_explicit(&table_lock, memory_order_release);
}

static bool contains(const struct range *range, uint64_t address, uint64_t bytes)
{
    return address >= range->address && bytes <= range->bytes &&
           address - range->address <= range->bytes - bytes;
}

static bool is_poisoned(uint64_t address, uint64_t bytes, uint64_t *fault)
{
    if (address >= poison.address + poison.bytes || poison.address >= address + bytes)
        return false;
    *fault = address > poison.address ? address : poison.address;
    return true;
}

static uint8_t *translate(uint64_t address, uint64_t bytes, bool write)
{
    uint8_t *found = NULL;

    lock_table();
    for (int i = 0; i < MOCK_MAPPINGS && !found; i++) {
        if (table[i].bytes > 0 && contains(&table[i], address, bytes) && (table[i].write || !write))
            found = table[i].memory + (address - table[i].address);
    }
    unlock_table();
    return found;
}

/* Returns what the device accesses instead of `memory`: the memory behind the simulated cache, if
 * the cache covers these bytes. */
static uint8_t *behind_cache(uint8_t *memory, uint64_t bytes)
{
    const struct range cached = {(uintptr_t)cache.memory, cache.bytes, NULL, false};

    if (!cache.memory || !contains(&cached, (uintptr_t)memory, bytes))
        return memory;
    return cache.behind + (memory - cache.memory);
}

uint8_t *mock_bus_find(uint64_t address, uint64_t bytes, bool write, uint64_t *fault)
{
    uint8_t *memory = NULL;

    if (is_poisoned(address, bytes, fault))
        return NULL;
    if (atomic_load_explicit(&translates, memory_order_relaxed))
        memory = translate(address, bytes, write);
    else if (address > offset)
        memory = (uint8_t *)(uintptr_t)(address - offset);
    if (!memory) {
        *fault = address;
        return NULL;
    }
    return behind_cache(memory, bytes);
}

void mock_bus_poison(uint64_t address, uint64_t bytes)
{
    poison = (struct range){address, bytes, NULL, false};
}

void mock_bus_set_offset(uint64_t to)
{
    offset = to;
}

void mock_bus_translate(bool on)
{
    atomic_store_explicit(&translates, on, memory_order_relaxed);
}

bool mock_bus_map(uint64_t address, void *memory, uint64_t bytes, bool write)
{
    int i = 0;

    lock_table();
    while (i < MOCK_MAPPINGS && table[i].bytes > 0)
        i++;
    if (i < MOCK_MAPPINGS)
        table[i] = (struct range){address, bytes, memory, write};
    unlock_table();
    return i < MOCK_MAPPINGS;
}

void mock_bus_unmap(uint64_t address)
{
    lock_table();
    for (int i = 0; i < MOCK_MAPPINGS; i++) {
        if (table[i].address == address)
            table[i].bytes = 0;
    }
    unlock_table();
}

void mock_bus_set_cache(uint8_t *memory, uint8_t *behind, size_t bytes)
{
    cache.memory = memory;
    cache.behind = behind;
    cache.bytes = bytes;
}

/* Extends a range to whole cache lines. Sets *begin and *end to offsets in the cached memory. */
static bool find_lines(const void *address, size_t bytes, size_t *begin, size_t *end)
{
    const uintptr_t base = (uintptr_t)cache.memory, first = (uintptr_t)address;

    if (!cache.memory || first + bytes <= base || first >= base + cache.bytes)
        return false;
    *begin = first > base ? (first - base) / MOCK_LINE * MOCK_LINE : 0;
    *end = (first + bytes - base + MOCK_LINE - 1) / MOCK_LINE * MOCK_LINE;
    if (*end > cache.bytes)
        *end = cache.bytes;
    return true;
}

void mock_cache_clean(const void *address, size_t bytes)
{
    size_t begin, end;

    if (find_lines(address, bytes, &begin, &end))
        memcpy(cache.behind + begin, cache.memory + begin, end - begin);
}

void mock_cache_invalidate(const void *address, size_t bytes)
{
    size_t begin, end;

    if (find_lines(address, bytes, &begin, &end))
        memcpy(cache.memory + begin, cache.behind + begin, end - begin);
}

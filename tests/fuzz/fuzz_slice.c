/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Slices: any text is parsed or refused, and an accepted slice selects the window that a second
 * implementation, written from NumPy's rules, finds element by element. The first bytes are the
 * rank and the extents; the rest is the text.
 */
#include "proto/file/slice.h"
#include "tests/fuzz/fuzz.h"
#include "tests/fuzz/fuzz_reader.h"

enum { WALK_MAX = 4096 };

/*
 * Python's rule for a bound: a negative bound counts from the end, and the bound is then limited to
 * the extent.
 */
static int64_t clamped(int64_t bound, int64_t extent)
{
    if (bound < 0)
        bound += extent;
    return bound < 0 ? 0 : bound > extent ? extent : bound;
}

/* Compares the window with the elements that range(start, stop, step) has. */
static void check_window(const struct slice_entry *entry, int64_t extent,
                         const struct slice_window *window)
{
    const int64_t start = entry->has_start ? clamped(entry->start, extent) : 0;
    const int64_t stop = entry->has_stop ? clamped(entry->stop, extent) : extent;
    const uint64_t taken = ((uint64_t)window->size + window->step - 1) / window->step;
    uint64_t count = 0;

    FUZZ_ASSERT(window->size > 0 && window->step > 0 && start < stop);
    FUZZ_ASSERT(window->offset == start);
    FUZZ_ASSERT((int64_t)window->offset + window->size <= extent);
    if ((stop - start) / entry->step > WALK_MAX)
        return;
    for (int64_t at = start; at < stop; at += entry->step) {
        FUZZ_ASSERT(at == (int64_t)window->offset + (int64_t)(count * window->step));
        count++;
        if (entry->step > stop - at)
            break;
    }
    FUZZ_ASSERT(count == taken);
}

static void apply(const struct slice *slice, uint32_t rank, const int64_t *extents)
{
    static const struct slice_entry whole = {.step = 1};
    struct slice_window windows[TENSOR_RANK_MAX];
    struct fault fault = {0};
    uint32_t missing;

    if (slice_apply(slice, rank, extents, windows, &fault) < 0) {
        fuzz_check_fault(&fault);
        return;
    }
    FUZZ_ASSERT(slice->count <= rank);
    missing = rank - slice->count;
    for (uint32_t d = 0; d < rank; d++) {
        const bool given = d < slice->ellipsis || d >= slice->ellipsis + missing;
        const uint32_t entry = d < slice->ellipsis ? d : d - missing;

        check_window(given ? &slice->entries[entry] : &whole, extents[d], &windows[d]);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct fuzz_reader reader = fuzz_reader_init(data, size);
    const uint32_t rank = 1 + fuzz_below(&reader, TENSOR_RANK_MAX);
    int64_t extents[TENSOR_RANK_MAX];
    char text[1024];
    struct slice slice;
    struct fault fault = {0};

    for (uint32_t d = 0; d < rank; d++)
        extents[d] = 1 + (int64_t)(fuzz_number(&reader) & ((UINT64_C(1) << 62) - 1));
    size = fuzz_left(&reader) < sizeof text - 1 ? fuzz_left(&reader) : sizeof text - 1;
    memcpy(text, reader.at, size);
    text[size] = '\0';
    if (slice_parse(text, &slice, &fault) < 0) {
        fuzz_check_fault(&fault);
        FUZZ_ASSERT(!fault.has_pointer && fault.code == FAULT_INVALID_PARAMS);
        return 0;
    }
    FUZZ_ASSERT(slice.count <= TENSOR_RANK_MAX && slice.ellipsis <= slice.count);
    apply(&slice, rank, extents);
    return 0;
}

/* SPDX-License-Identifier: BSD-3-Clause */
#include "libmli/src/profile.h"

#include <stddef.h>

#include "libmli/src/error.h"
#include "libmli/src/tensor.h"

enum { GUARD_BIT_OPTIONS = 3 };

static const mli_profile profile_default = {.guard_bit_option = 2};

mli_profile profile_active = {.guard_bit_option = 2};
bool profile_is_set;

/* The vector memories of the active profile. */
static struct {
    uint32_t count;
    mli_vector_memory memory[MLI_VECTOR_MEMORIES_MAX];
} vector;

mli_status mli_profile_set(const mli_profile *profile)
{
    const bool given = profile != NULL;

    if (!given)
        profile = &profile_default;
    if (profile->guard_bit_option >= GUARD_BIT_OPTIONS)
        return refuse(MLI_STATUS_ARGUMENT_ERROR, "profile",
                      ".guard_bit_option: % given; must be below %", profile->guard_bit_option,
                      GUARD_BIT_OPTIONS);
    profile_active = *profile;
    profile_is_set = given;
    vector.count = profile->vector_memory_size > 0;
    vector.memory[0] = (mli_vector_memory){profile->vector_memory, profile->vector_memory_size};
    return MLI_STATUS_OK;
}

mli_status mli_profile_set_vector_memories(const mli_vector_memory *memories, uint32_t count)
{
    if (count > MLI_VECTOR_MEMORIES_MAX || (!memories && count > 0))
        return refuse(MLI_STATUS_ARGUMENT_ERROR, "memories",
                      ": % given; an array of at most % is required", count,
                      MLI_VECTOR_MEMORIES_MAX);
    for (uint32_t i = 0; i < count; i++)
        if (memories[i].size == 0 ||
            memories[i].size - 1 > UINTPTR_MAX - (uintptr_t)memories[i].base)
            return refuse(MLI_STATUS_ARGUMENT_ERROR, "memories", "[%]: % B at address % given", i,
                          memories[i].size, (uintptr_t)memories[i].base);
    vector.count = count;
    for (uint32_t i = 0; i < count; i++)
        vector.memory[i] = memories[i];
    return MLI_STATUS_OK;
}

uint8_t mli_hlp_accu_guard_bits_sa8_sa8(void)
{
    return (uint8_t)(4 * profile_active.guard_bit_option);
}

uint8_t mli_hlp_accu_guard_bits_fx16_fx16(void)
{
    return (uint8_t)(4 * profile_active.guard_bit_option);
}

uint8_t mli_hlp_accu_guard_bits_fx16_fx8(void)
{
    return (uint8_t)(8 + 4 * profile_active.guard_bit_option);
}

static mli_status check_aligned(const void *address, uint32_t boundary, const char *who,
                                const char *format)
{
    if ((uintptr_t)address % boundary)
        return refuse(MLI_STATUS_MISALIGNMENT_ERROR, who, format, (uintptr_t)address, boundary);
    return MLI_STATUS_OK;
}

static mli_status check_tensor_aligned(const mli_tensor *tensor, uint32_t elem, const char *who)
{
    return check_aligned(tensor_bytes(tensor), elem, who,
                         ".data.mem: address % is not a multiple of %, the element's size");
}

/*
 * Checks the arrays of 16-bit entries; entries of scale_frac_bits are bytes. A null pointer is
 * aligned.
 */
static mli_status check_arrays_aligned(const mli_tensor *tensor, const char *who)
{
    mli_status status = check_aligned(
        tensor->el_params.sa.zero_point.mem.pi16, 2, who,
        ".el_params.sa.zero_point: address % is not a multiple of %, the entry's size");

    if (status == MLI_STATUS_OK)
        status = check_aligned(
            tensor->el_params.sa.scale.mem.pi16, 2, who,
            ".el_params.sa.scale: address % is not a multiple of %, the entry's size");
    return status;
}

mli_status profile_check_tensor_alignment(const mli_tensor *tensor, uint32_t elem, const char *who)
{
    mli_status status = check_tensor_aligned(tensor, elem, who);

    if (status == MLI_STATUS_OK && tensor_is_per_axis(tensor))
        status = check_arrays_aligned(tensor, who);
    return status;
}

mli_status profile_check_alignment(const struct geometry *g, const mli_tensor *src,
                                   const mli_tensor *dst)
{
    mli_status status = check_tensor_aligned(src, g->elem, g->src_name);

    if (status == MLI_STATUS_OK)
        status = check_tensor_aligned(dst, g->elem, g->dst_name);
    if (status == MLI_STATUS_OK && tensor_is_per_axis(src)) {
        status = check_arrays_aligned(src, g->src_name);
        if (status == MLI_STATUS_OK)
            status = check_arrays_aligned(dst, g->dst_name);
    }
    return status;
}

mli_status profile_check_bank(const mli_tensor *tensor, const struct extent *extent,
                              const char *who)
{
    const uintptr_t first = (uintptr_t)tensor_bytes(tensor) + (uintptr_t)extent->begin;
    const uint64_t size = extent->end - extent->begin;

    for (uint32_t i = 0; i < vector.count; i++) {
        const uintptr_t base = (uintptr_t)vector.memory[i].base;
        const uint64_t room = vector.memory[i].size;

        if (first >= base && first - base <= room && size <= room - (first - base))
            return MLI_STATUS_OK;
    }
    if (vector.count > 1)
        return refuse(MLI_STATUS_MEM_BANK_MISMATCH, who,
                      ".data.mem: % B at address %; none of the % vector memories has them", size,
                      first, vector.count);
    return refuse(MLI_STATUS_MEM_BANK_MISMATCH, who,
                  ".data.mem: % B at address %; the vector memory is % B at address %", size, first,
                  vector.count > 0 ? vector.memory[0].size : 0, (uintptr_t)vector.memory[0].base);
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests the target profile: guard bits, and the addresses that a strict profile requires. */
#include <string.h>

#include "tests/support/test_tile.h"
#include "tests/support/unit.h"

static int default_profile(void **state)
{
    (void)state;
    return mli_profile_set(NULL) != MLI_STATUS_OK;
}

static void assert_guard_bits(int sa8, int fx16, int fx16_fx8)
{
    assert_int_equal(mli_hlp_accu_guard_bits_sa8_sa8(), sa8);
    assert_int_equal(mli_hlp_accu_guard_bits_fx16_fx16(), fx16);
    assert_int_equal(mli_hlp_accu_guard_bits_fx16_fx8(), fx16_fx8);
}

static void set_guard_option(uint8_t option)
{
    const mli_profile profile = {.guard_bit_option = option};

    assert_ok(mli_profile_set(&profile));
}

static void test_guard_bits(void **state)
{
    (void)state;
    assert_guard_bits(8, 8, 16); /* the default of the option is 2 */
    set_guard_option(0);
    assert_guard_bits(0, 0, 8);
    set_guard_option(1);
    assert_guard_bits(4, 4, 12);
    set_guard_option(2);
    assert_guard_bits(8, 8, 16);
    set_guard_option(0);
    assert_ok(mli_profile_set(NULL));
    assert_guard_bits(8, 8, 16);
}

static void test_bad_guard_option(void **state)
{
    mli_profile profile = {.guard_bit_option = 3, .strict = true};

    (void)state;
    set_guard_option(1);
    assert_status(mli_profile_set(&profile), MLI_STATUS_ARGUMENT_ERROR);
    assert_error_names("guard_bit_option", MLI_STATUS_ARGUMENT_ERROR);
    assert_guard_bits(4, 4, 12); /* the active profile is unchanged */
    profile.guard_bit_option = 255;
    assert_status(mli_profile_set(&profile), MLI_STATUS_ARGUMENT_ERROR);
}

/*
 * Sets the vector memory to [from, from + size). The library copies the profile, so the structure
 * need not stay.
 */
static void set_strict(const void *from, size_t size)
{
    mli_profile profile = {
        .guard_bit_option = 2, .strict = true, .vector_memory = from, .vector_memory_size = size};

    assert_ok(mli_profile_set(&profile));
    memset(&profile, 0xEE, sizeof(profile));
}

/* A tile for a permute; both tensors are in one block, which is the whole vector memory. */
struct board {
    struct tile tile;
    _Alignas(64) uint8_t vccm[256];
};

static void board_init(struct board *b, mli_element_type type)
{
    tile_init(&b->tile, type);
    tile_for_permute(&b->tile, 2, 0, 1);
    memset(b->vccm, 0x33, sizeof(b->vccm));
    b->tile.src.data.mem.pi8 = (int8_t *)b->vccm;
    b->tile.dst.data.mem.pi8 = (int8_t *)b->vccm + 128;
    b->tile.dst.data.capacity = 128;
}

static mli_status board_permute(struct board *b)
{
    return b->tile.src.el_type == MLI_EL_FX_16
               ? mli_krn_permute_fx16(&b->tile.src, &b->tile.permute_cfg, &b->tile.dst)
               : mli_krn_permute_sa8(&b->tile.src, &b->tile.permute_cfg, &b->tile.dst);
}

static void assert_permute_refused(struct board *b, mli_status status, const char *names)
{
    struct board before;

    memcpy(&before, b, sizeof(before));
    assert_status(board_permute(b), status);
    assert_error_names(names, status);
    assert_memory_equal(b, &before, sizeof(before));
}

static void test_kernels_work_in_vector_memory_only(void **state)
{
    struct board b;

    (void)state;
    board_init(&b, MLI_EL_FX_16);
    set_strict(b.vccm, sizeof(b.vccm));
    assert_ok(board_permute(&b));
    b.tile.src.data.mem.pi8 = (int8_t *)b.tile.in;
    assert_permute_refused(&b, MLI_STATUS_MEM_BANK_MISMATCH, "in.data");
    board_init(&b, MLI_EL_FX_16);
    b.tile.dst.data.mem.pi8 = (int8_t *)b.tile.out;
    assert_permute_refused(&b, MLI_STATUS_MEM_BANK_MISMATCH, "out.data");
}

/* A tensor that begins inside the vector memory and ends outside is refused. */
static void test_kernel_operands_lie_wholly_inside(void **state)
{
    struct board b;

    (void)state;
    board_init(&b, MLI_EL_FX_16);
    set_strict(b.vccm, 128 + 48);
    assert_ok(board_permute(&b));
    set_strict(b.vccm, 128 + 47);
    assert_permute_refused(&b, MLI_STATUS_MEM_BANK_MISMATCH, "out");
    set_strict(b.vccm + 1, sizeof(b.vccm) - 1);
    assert_permute_refused(&b, MLI_STATUS_MEM_BANK_MISMATCH, "in");
    set_strict(b.vccm + 64, 64);
    assert_permute_refused(&b, MLI_STATUS_MEM_BANK_MISMATCH, "");
    set_strict(NULL, 0); /* a chip without vector memory cannot run kernels */
    assert_permute_refused(&b, MLI_STATUS_MEM_BANK_MISMATCH, "");
}

static mli_status set_memories(const mli_vector_memory *memories, uint32_t count)
{
    return mli_profile_set_vector_memories(memories, count);
}

/*
 * An operand must be inside one of several vector memories; it may not begin in one memory and end
 * in the next. A refused call does not change the memories.
 */
static void test_several_vector_memories(void **state)
{
    struct board b;
    const mli_vector_memory halves[] = {{b.vccm, 128}, {b.vccm + 128, 128}};
    const mli_vector_memory parts[] = {{b.vccm, 128}, {b.vccm + 128, 20}, {b.vccm + 148, 108}};
    const mli_vector_memory empty[] = {{b.vccm, 256}, {b.vccm, 0}};
    const mli_vector_memory beyond[] = {{b.vccm, SIZE_MAX}};
    const mli_vector_memory many[MLI_VECTOR_MEMORIES_MAX + 1] = {{b.vccm, 1}};

    (void)state;
    board_init(&b, MLI_EL_FX_16);
    set_strict(NULL, 0);
    assert_ok(set_memories(halves, 2));
    assert_ok(board_permute(&b));
    assert_status(set_memories(empty, 2), MLI_STATUS_ARGUMENT_ERROR);
    assert_status(set_memories(beyond, 1), MLI_STATUS_ARGUMENT_ERROR);
    assert_status(set_memories(many, COUNT_OF(many)), MLI_STATUS_ARGUMENT_ERROR);
    assert_status(set_memories(NULL, 1), MLI_STATUS_ARGUMENT_ERROR);
    assert_ok(board_permute(&b)); /* the memories `halves` are still set */
    assert_ok(set_memories(parts, 3));
    assert_permute_refused(&b, MLI_STATUS_MEM_BANK_MISMATCH, "out");
    assert_ok(set_memories(halves + 1, 1));
    assert_permute_refused(&b, MLI_STATUS_MEM_BANK_MISMATCH, "in");
    assert_ok(set_memories(NULL, 0));
    assert_permute_refused(&b, MLI_STATUS_MEM_BANK_MISMATCH, "in");
    set_strict(b.vccm, sizeof(b.vccm)); /* replaces the memories */
    assert_ok(board_permute(&b));
}

/* The spec says: "This doesn't apply to ... functions from the move group." */
static void test_moves_work_anywhere(void **state)
{
    struct board b;

    (void)state;
    board_init(&b, MLI_EL_FX_16);
    set_strict(b.vccm, sizeof(b.vccm));
    tile_init(&b.tile, MLI_EL_FX_16);
    assert_ok(tile_sync(&b.tile));
    assert_memory_equal(b.tile.out, b.tile.in, 48);
}

static void test_kernels_require_aligned_elements(void **state)
{
    struct board b;

    (void)state;
    board_init(&b, MLI_EL_FX_16);
    set_strict(b.vccm, sizeof(b.vccm));
    b.tile.src.data.mem.pi8 += 1;
    assert_permute_refused(&b, MLI_STATUS_MISALIGNMENT_ERROR, "in.data");
    board_init(&b, MLI_EL_FX_16);
    b.tile.dst.data.mem.pi8 += 1;
    assert_permute_refused(&b, MLI_STATUS_MISALIGNMENT_ERROR, "out.data");
    board_init(&b, MLI_EL_SA_8); /* addresses of bytes are always aligned */
    b.tile.src.data.mem.pi8 += 1;
    b.tile.dst.data.mem.pi8 += 1;
    assert_ok(board_permute(&b));
}

static void assert_move_refused(struct tile *t, const char *names)
{
    struct tile before;
    mli_mov_handle_t h;

    memcpy(&before, t, sizeof(before));
    assert_status(tile_sync(t), MLI_STATUS_MISALIGNMENT_ERROR);
    assert_error_names(names, MLI_STATUS_MISALIGNMENT_ERROR);
    assert_memory_equal(t, &before, sizeof(before));
    assert_ok(mli_mov_set_num_dma_ch(0, 1));
    assert_ok(mli_mov_acquire_handle(1, &h));
    assert_status(tile_prepare(t, &h), MLI_STATUS_MISALIGNMENT_ERROR);
    assert_memory_equal(t, &before, sizeof(before));
    assert_ok(mli_mov_release_handle(&h));
    assert_ok(mli_mov_set_num_dma_ch(0, 0));
}

/* Tries each size of element at each address that is not a multiple of the size. */
static void test_moves_require_aligned_elements(void **state)
{
    static const struct {
        mli_element_type type;
        uint32_t size;
    } table[] = {{MLI_EL_SA_8, 1},
                 {MLI_EL_FX_16, 2},
                 {MLI_EL_FP_16, 2},
                 {MLI_EL_SA_32, 4},
                 {MLI_EL_FP_32, 4}};
    struct tile t;

    (void)state;
    for (size_t i = 0; i < COUNT_OF(table); i++) {
        for (uint32_t at = 0; at < 4; at++) {
            bool aligned = at % table[i].size == 0;

            set_strict(NULL, 0);
            tile_init(&t, table[i].type);
            t.src.data.mem.pi8 += at;
            if (aligned)
                assert_ok(tile_sync(&t));
            else
                assert_move_refused(&t, "src.data");
            tile_init(&t, table[i].type);
            t.dst.data.mem.pi8 += at;
            if (aligned)
                assert_ok(tile_sync(&t));
            else
                assert_move_refused(&t, "dst.data");
        }
    }
}

/* Without a strict profile, odd addresses are legal. */
static void test_any_alignment_without_strict_profile(void **state)
{
    struct tile t;

    (void)state;
    tile_init(&t, MLI_EL_FP_32);
    t.src.data.mem.pi8 += 1;
    t.dst.data.mem.pi8 += 3;
    assert_ok(tile_sync(&t));
    assert_memory_equal(t.out + 3, t.in + 1, 96);
    assert_int_equal(t.out[2], 0xA5);
    assert_int_equal(t.out[99], 0xA5);
}

/* The spec says: "Addresses of all elements including data, quantization parameters ..." */
static void test_parameters_are_aligned_too(void **state)
{
    struct tile t;

    (void)state;
    set_strict(NULL, 0);
    tile_init(&t, MLI_EL_SA_8);
    tile_per_axis(&t, 2, TILE_OWN);
    assert_ok(tile_sync(&t));
    t.src.el_params.sa.scale.mem.pi8 += 1;
    assert_move_refused(&t, "src.scale.!zero_point");
    tile_per_axis(&t, 2, TILE_OWN);
    t.dst.el_params.sa.zero_point.mem.pi8 += 1;
    assert_move_refused(&t, "dst.zero_point.!scale");
    tile_per_axis(&t, 2, TILE_OWN);
    t.dst.el_params.sa.scale_frac_bits.mem.pi8 += 1; /* bytes */
    t.dst.el_params.sa.scale_frac_bits.capacity -= 1;
    assert_ok(tile_sync(&t));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(test_guard_bits, default_profile),
        cmocka_unit_test_teardown(test_bad_guard_option, default_profile),
        cmocka_unit_test_teardown(test_kernels_work_in_vector_memory_only, default_profile),
        cmocka_unit_test_teardown(test_kernel_operands_lie_wholly_inside, default_profile),
        cmocka_unit_test_teardown(test_several_vector_memories, default_profile),
        cmocka_unit_test_teardown(test_moves_work_anywhere, default_profile),
        cmocka_unit_test_teardown(test_kernels_require_aligned_elements, default_profile),
        cmocka_unit_test_teardown(test_moves_require_aligned_elements, default_profile),
        cmocka_unit_test_teardown(test_any_alignment_without_strict_profile, default_profile),
        cmocka_unit_test_teardown(test_parameters_are_aligned_too, default_profile),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

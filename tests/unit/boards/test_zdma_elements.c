/* SPDX-License-Identifier: BSD-3-Clause */
/* Compares the lists of the driver for ZDMA with the descriptors of target/controller. */
#include "tests/support/unit.h"

#include <string.h>

#include "boards/drivers/zdma.h"
#include "target/controller/encoder.h"
#include "tests/unit/boards/zdma_model.h"
#include "tests/unit/port/moves.h"

/* Runs a move on the only channel. */
static void run(struct move *m)
{
    mli_mov_handle_t h;

    move_prepare(m, 1, &h);
    assert_ok(mli_mov_start(&h, NULL, NULL, NULL));
    assert_ok(mli_mov_wait(&h));
    assert_true(move_is_right(m));
    assert_ok(mli_mov_release_handle(&h));
    move_finish(m);
}

static uint32_t pairs_compared;

/* Compares a list with the descriptors that mlictl makes for the same pieces. */
static void compare_with_encoder(const uint32_t *src, const uint32_t *dst)
{
    enum { PAIR = 2 * ZDMA_LINKED_WORDS * sizeof(uint32_t) };
    const uint8_t *pair = (const uint8_t *)src;

    assert_ptr_equal(dst, src + ZDMA_LINKED_WORDS);
    for (bool last = false; !last; pair += PAIR, pairs_compared++) {
        struct controller_descriptor encoded = {0};
        struct mli_descriptor piece = {.index = 0};
        struct controller_place place = {.address = (uintptr_t)pair};
        uint64_t addresses[2];
        uint32_t size;

        last = pair[12] & ZDMA_STOP;
        place.next = last ? 0 : (uintptr_t)pair + PAIR;
        memcpy(&addresses[0], pair, 8);
        memcpy(&addresses[1], pair + 32, 8);
        memcpy(&size, pair + 8, 4);
        piece.box.src = (const uint8_t *)(uintptr_t)addresses[0];
        piece.box.dst = (uint8_t *)(uintptr_t)addresses[1];
        piece.box.run = size;
        controller_zdma.encode(&place, &piece, &encoded);
        assert_int_equal(encoded.size, PAIR);
        assert_memory_equal(encoded.bytes, pair, PAIR);
    }
}

/* The driver and the descriptors of `mlictl explain` agree, bit for bit. */
static void test_elements_are_those_of_the_encoder(void **state)
{
    static const struct zdma_platform platform = {
        .channels = 1, .read = zdma_model_read, .write = zdma_model_write};
    struct move m;

    (void)state;
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
    skip();
#endif
    zdma_model_reset();
    zdma_set_platform(&platform);
    assert_ok(mli_mov_add_engine(&zdma_engine));
    moves_engine("zdma:interrupt=0,least=0", 1);
    zdma_model_watch(compare_with_encoder);
    move_init_padded(&m, 70, 33);
    run(&m);
    move_init_rows(&m, 200, 3);
    run(&m);
    moves_engine_away();
    assert_true(pairs_compared > 270);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_elements_are_those_of_the_encoder),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

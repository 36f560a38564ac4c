/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Places the buffers of random job files in memories of a board. mlictl must choose the same
 * addresses as the service.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "cli/job/buffer_places.h"
#include "daemon/memory/board.h"
#include "tests/support/rng.h"
#include "tests/support/unit.h"

enum { ROUNDS = 3000, BUFFERS = 24, SIZE = 1024 };

static struct target_profile profile;
static struct buffer_spec buffers[BUFFERS];
static char names[BUFFERS][24];

static void draw(struct rng *rng, size_t count)
{
    profile = (struct target_profile){.memory_count = 2};
    for (uint32_t i = 0; i < 2; i++) {
        struct profile_memory *memory = &profile.memories[i];

        snprintf(memory->name, sizeof memory->name, "%s", i ? "ddr" : "vccm");
        memory->base = 0x1000 * (i + 1) + 4 * i;
        memory->size = SIZE - rng_below(rng, 9);
        memory->alignment = 1u << rng_below(rng, 6);
    }
    for (size_t i = 0; i < count; i++) {
        const struct profile_memory *memory = &profile.memories[rng_below(rng, 2)];
        const uint64_t alignment = memory->alignment > 4 ? memory->alignment : 4;

        snprintf(names[i], sizeof names[i], "b%zu", i);
        buffers[i] = (struct buffer_spec){.name = names[i], .bytes = rng_between(rng, 1, 120)};
        if (rng_chance(rng, 90))
            snprintf(buffers[i].memory, sizeof buffers[i].memory, "%s", memory->name);
        buffers[i].has_address = buffers[i].memory[0] != '\0' && rng_chance(rng, 25);
        buffers[i].address =
            (memory->base + rng_below(rng, SIZE)) / alignment * alignment + rng_chance(rng, 2);
    }
}

/* Places the buffers as the service does if mlictl allocates them there. Returns 0 or -1. */
static int place_in_service(struct board *board, struct board_piece *pieces, size_t count)
{
    const struct board_use use = {.board = board, .percent = 100};
    struct fault fault;

    board_init(board, &profile);
    memset(pieces, 0, count * sizeof *pieces);
    for (size_t i = 0; i < 2 * count; i++) {
        const struct buffer_spec *buffer = &buffers[i % count];
        const struct board_want want = {.use = &use,
                                        .bytes = buffer->bytes,
                                        .exact = buffer->has_address,
                                        .address = buffer->address,
                                        .name = "memory",
                                        .pointer = "/memory"};
        const struct profile_memory *memory;

        if (buffer->memory[0] == '\0' || buffer->has_address != (i < count))
            continue;
        memory = profile_memory_named(&board->profile, buffer->memory);
        if (board_place(board_memory_of(board, memory), &pieces[i % count], &want, &fault) < 0)
            return -1;
    }
    return 0;
}

static void test_random(void **state)
{
    static struct board board;
    static struct board_piece pieces[BUFFERS];
    const uint64_t seed = (uint64_t)time(NULL);
    size_t placed = 0, refused = 0;

    (void)state;
    print_message("seed %" PRIu64 "\n", seed);
    for (uint64_t round = 0; round < ROUNDS; round++) {
        struct rng rng = rng_for_case(seed, round);
        const size_t count = rng_between(&rng, 1, BUFFERS);
        struct job_file file = {.list = {.buffers = buffers, .buffer_count = count}};
        struct buffer_places places;
        struct fault fault;
        int expected, result;

        draw(&rng, count);
        expected = place_in_service(&board, pieces, count);
        result = buffer_places_init(&places, &profile, &file, &fault);
        if (result != expected)
            fail_msg("round %" PRIu64 ": %d expected, %d: %s", round, expected, result,
                     result ? fault.text : "");
        for (size_t i = 0; i < count && result == 0; i++) {
            assert_int_equal(places.places[i].memory != NULL, buffers[i].memory[0] != '\0');
            assert_int_equal(places.places[i].address, pieces[i].address);
        }
        placed += result == 0;
        refused += result != 0;
        buffer_places_finish(&places);
    }
    print_message("%zu files placed, %zu refused\n", placed, refused);
    assert_true(placed > ROUNDS / 10 && refused > ROUNDS / 10);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_random),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests the memories of a board: ranges of addresses, holders and messages. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "daemon/memory/board.h"
#include "tests/support/rng.h"
#include "tests/support/unit.h"
#include "tests/unit/daemon/costs.h"

enum { SIZE = 1024, PIECES = 64, ROUNDS = 4000, USERS = 3 };
#define BASE UINT64_C(0xfffffffffffff000)

static struct target_profile profile;
static struct board board;
static struct board_use use;
static struct fault fault;

/* A board with one memory. */
static void set_up(uint64_t base, uint64_t size, uint32_t alignment)
{
    memset(&profile, 0, sizeof profile);
    profile.memory_count = 1;
    profile.memories[0] =
        (struct profile_memory){.name = "vccm", .base = base, .size = size, .alignment = alignment};
    board_init(&board, &profile);
    use = (struct board_use){.board = &board, .percent = 100};
    use.holder = (struct board_holder){.uid = geteuid() + 1, .client = 2, .number = 3};
}

static int place(struct board_piece *piece, uint64_t bytes)
{
    const struct board_want want = {
        .use = &use, .bytes = bytes, .name = "src.memory", .pointer = "/src/memory"};

    return board_place(&board.memories[0], piece, &want, &fault);
}

static int place_at(struct board_piece *piece, uint64_t bytes, uint64_t address)
{
    const struct board_want want = {.use = &use,
                                    .bytes = bytes,
                                    .exact = true,
                                    .address = address,
                                    .name = "memory",
                                    .pointer = "/memory"};

    return board_place(&board.memories[0], piece, &want, &fault);
}

/* Compares the text of the fault. */
static void expect_text(const char *format, ...) __attribute__((format(printf, 1, 2)));

static void expect_text(const char *format, ...)
{
    char wanted[FAULT_TEXT_MAX];
    va_list args;

    va_start(args, format);
    vsnprintf(wanted, sizeof wanted, format, args);
    va_end(args);
    assert_string_equal(fault.text, wanted);
}

/*
 * The model: one byte for each byte of the memory, with the number (from 1) of the piece there; 0:
 * free.
 */
static uint8_t model[SIZE];

/*
 * Returns the offset that board_place() must choose, which is the start of the smallest free range
 * that is large enough; -1 if no range is.
 */
static int choose(int bytes, int alignment)
{
    int best = -1, best_size = SIZE + 1;

    for (int i = 0; i < SIZE;) {
        int end = i;

        if (model[i] != 0) {
            i++;
            continue;
        }
        while (end < SIZE && model[end] == 0)
            end++;
        const int begin = (i + alignment - 1) / alignment * alignment;

        if (end - begin >= bytes && end - begin < best_size) {
            best = begin;
            best_size = end - begin;
        }
        i = end;
    }
    return best;
}

/* Writes the holders that the message about a refused piece must name, by looking at all pieces. */
static void list_holders(char *out, size_t size, const struct board_piece *pieces)
{
    bool named[PIECES] = {false};
    uint64_t hidden = 0, more = 0, more_bytes = 0;
    size_t length = 0;

    for (int i = 0; i < PIECES; i++) {
        const bool mine = pieces[i].memory && pieces[i].holder.uid == use.holder.uid;

        hidden += pieces[i].memory && !mine ? pieces[i].size : 0;
        more += mine;
        more_bytes += mine ? pieces[i].size : 0;
    }
    out[0] = '\0';
    if (hidden > 0)
        length = (size_t)snprintf(out, size, "; other users hold %" PRIu64 " B", hidden);
    for (int k = 0; k < 3 && more > 0; k++) {
        int largest = -1;

        for (int i = 0; i < PIECES; i++) {
            const struct board_piece *piece = &pieces[i],
                                     *best = &pieces[largest < 0 ? i : largest];

            if (!piece->memory || named[i] || piece->holder.uid != use.holder.uid)
                continue;
            if (largest < 0 || piece->size > best->size ||
                (piece->size == best->size && piece->address < best->address))
                largest = i;
        }
        named[largest] = true;
        more--;
        more_bytes -= pieces[largest].size;
        length += (size_t)snprintf(out + length, size - length,
                                   "; buffer %d of client 2 (uid %u) holds %" PRIu64 " B", largest,
                                   use.holder.uid, pieces[largest].size);
    }
    if (more > 0)
        snprintf(out + length, size - length, "; %" PRIu64 " more hold %" PRIu64 " B", more,
                 more_bytes);
}

static void check_holders(const struct board_piece *pieces)
{
    const struct board_memory *memory = &board.memories[0];
    uint64_t bytes = 0, count = 0;
    char holders[FAULT_TEXT_MAX];
    struct board_sums sums;

    for (int i = 0; i < PIECES; i++) {
        const bool mine = pieces[i].memory && pieces[i].holder.uid == use.holder.uid;

        bytes += mine ? pieces[i].size : 0;
        count += mine;
    }
    sums = board_sums_of_user(memory, use.holder.uid);
    assert_int_equal(sums.bytes, bytes);
    assert_int_equal(sums.count, count);
    list_holders(holders, sizeof holders, pieces);
    assert_int_equal(place(&(struct board_piece){0}, SIZE + 1), -1);
    assert_non_null(strstr(fault.text, "largest piece"));
    if (holders[0] != '\0')
        assert_string_equal(strchr(fault.text, ';'), holders);
    else
        assert_null(strchr(fault.text, ';'));
}

static void check_counts(const struct board_piece *pieces)
{
    const struct board_memory *memory = &board.memories[0];
    uint64_t used = 0, count = 0, last = memory->described->base;

    for (int i = 0; i < SIZE; i++)
        used += model[i] != 0;
    for (int i = 0; i < PIECES; i++)
        count += pieces[i].memory != NULL;
    assert_int_equal(memory->used, used);
    assert_int_equal(memory->count, count);
    for (struct link *l = memory->pieces.next; l != &memory->pieces; l = l->next) {
        const struct board_piece *piece = LINK_OWNER(l, struct board_piece, link);

        assert_true(piece->address >= last);
        last = piece->address + piece->size;
    }
}

/* Returns whether the model has `bytes` free bytes at `offset`, a multiple of `alignment`. */
static bool is_free(int offset, int bytes, int alignment)
{
    if (offset % alignment != 0 || offset + bytes > SIZE)
        return false;
    for (int i = offset; i < offset + bytes; i++)
        if (model[i] != 0)
            return false;
    return true;
}

/*
 * Places a piece with or without a given address, and compares the result with the model. Returns
 * the result of board_place().
 */
static int place_random(struct board_piece *piece, int number, int alignment, struct rng *rng)
{
    const int bytes = (int)rng_between(rng, 1, 97);
    const bool exact = rng_below(rng, 4) == 0;
    const int offset = exact ? (int)rng_below(rng, SIZE) : choose(bytes, alignment);
    const int result = exact ? place_at(piece, (uint64_t)bytes, BASE + (uint64_t)offset)
                             : place(piece, (uint64_t)bytes);

    if (exact)
        assert_int_equal(result, is_free(offset, bytes, alignment) ? 0 : -1);
    else
        assert_int_equal(result, offset < 0 ? -1 : 0);
    if (result < 0)
        return -1;
    assert_int_equal(piece->address - BASE, offset);
    memset(model + offset, number, (size_t)bytes);
    return 0;
}

/* Places and removes pieces at random, and compares each address with the model's. The memory ends
 * 3 KiB below 2^64. */
static void test_against_model(void **state)
{
    static struct board_piece pieces[PIECES];
    const uint64_t seed = (uint64_t)time(NULL);
    struct rng rng = {seed};
    size_t placed = 0, refused = 0;

    (void)state;
    print_message("seed %" PRIu64 "\n", seed);
    for (int alignment = 1; alignment <= 64; alignment *= 2) {
        set_up(BASE, SIZE, (uint32_t)alignment);
        for (int round = 0; round < ROUNDS; round++) {
            const int i = (int)rng_below(&rng, PIECES);

            use.holder.uid = geteuid() + 1 + rng_below(&rng, USERS);
            use.holder.number = (uint64_t)i;
            if (pieces[i].memory) {
                memset(model + (pieces[i].address - BASE), 0, pieces[i].size);
                board_remove(&pieces[i]);
            } else if (place_random(&pieces[i], i + 1, alignment > 4 ? alignment : 4, &rng) == 0) {
                placed++;
            } else {
                refused++;
            }
            if (round % 16 == 0)
                check_holders(pieces);
            if (round % 64 == 0)
                check_counts(pieces);
        }
        for (int i = 0; i < PIECES; i++)
            board_remove(&pieces[i]);
        memset(model, 0, sizeof model);
        /* After all pieces are removed, the whole memory is one free range again. */
        assert_int_equal(place(&pieces[0], SIZE), 0);
        board_remove(&pieces[0]);
    }
    assert_true(placed > 1000 && refused > 100);
}

/*
 * The message about a refused address names the piece that is in the way, unless another user owns
 * it.
 */
static void test_addresses(void **state)
{
    struct board_piece pieces[3] = {0};

    (void)state;
    set_up(0x90000000, 262144, 16);
    assert_int_equal(place_at(&pieces[0], 65536, 0x90010000), 0);
    assert_int_equal(pieces[0].address, 0x90010000);
    assert_int_equal(place_at(&pieces[1], 16, 0x9001fff0), -1);
    assert_int_equal(fault.code, FAULT_NO_ROOM);
    assert_string_equal(fault.pointer, "/address");
    expect_text("address: 16 B wanted at 0x9001fff0, but buffer 3 of client 2 (uid %u) holds "
                "0x90010000 to 0x9001ffff of vccm",
                use.holder.uid);
    use.holder.uid++;
    assert_int_equal(place_at(&pieces[1], 65537, 0x90000000), -1);
    expect_text(
        "address: 65537 B wanted at 0x90000000, but another user holds a part of them; give "
        "another address of vccm, or none");
    assert_int_equal(place_at(&pieces[1], 65536, 0x90000000), 0);
    assert_int_equal(place_at(&pieces[2], 131072, 0x90020000), 0);
    board_remove(&pieces[2]);
    assert_int_equal(place_at(&pieces[2], 131073, 0x90020000), -1);
    assert_int_equal(fault.code, FAULT_INVALID_PARAMS);
    assert_string_equal(fault.pointer, "/address");
    expect_text("address: 131073 B from 0x90020000 on wanted, but vccm has 0x90000000 to "
                "0x9003ffff");
    assert_int_equal(place_at(&pieces[2], 1, 0x8fffffff), -1);
    assert_int_equal(place_at(&pieces[2], 1, 0x90040000), -1);
    assert_int_equal(place_at(&pieces[2], UINT64_MAX, 0x90020000), -1);
    assert_int_equal(place_at(&pieces[2], 1, 0x90020008), -1);
    expect_text("address: 0x90020008 given; buffers in vccm begin at multiples of 16");
}

/*
 * Removes every second one of four pieces: half of the memory is free, in two ranges of a quarter
 * each.
 */
static void test_fragmentation(void **state)
{
    struct board_piece pieces[5] = {0};

    (void)state;
    set_up(0x90000000, 262144, 2);
    for (int i = 0; i < 4; i++)
        assert_int_equal(place(&pieces[i], 65536), 0);
    assert_int_equal(pieces[3].address, 0x90030000);
    board_remove(&pieces[0]);
    board_remove(&pieces[2]);
    assert_int_equal(place(&pieces[4], 65537), -1);
    assert_int_equal(board_largest(&board.memories[0]), 65536);
    assert_int_equal(fault.code, FAULT_NO_ROOM);
    assert_string_equal(fault.pointer, "/src/memory");
    expect_text("src.memory: 65537 B wanted, but vccm has 131072 of 262144 B free, the largest "
                "piece 65536 B; buffer 3 of client 2 (uid %u) holds 131072 B in 2 ranges",
                use.holder.uid);
    /*
     * Two free ranges of 64 KiB: board_place() uses the first range, then the rest of the first
     * range, then the second range.
     */
    assert_int_equal(place(&pieces[4], 1000), 0);
    assert_int_equal(pieces[4].address, 0x90000000);
    assert_int_equal(place(&pieces[0], 60000), 0);
    assert_int_equal(pieces[0].address, 0x900003e8);
    assert_int_equal(place(&pieces[2], 65536), 0);
    assert_int_equal(pieces[2].address, 0x90020000);
}

/*
 * The error lists the three largest pieces of memory that the user holds, and the sums of all
 * others.
 */
static void test_holders(void **state)
{
    struct board_piece pieces[8] = {0};
    const uid_t user = geteuid() + 1;

    (void)state;
    set_up(0, 1000, 1);
    for (int i = 0; i < 6; i++) {
        use.holder = (struct board_holder){user, 7, (enum board_kind)(i % 3), (uint64_t)i};
        assert_int_equal(place(&pieces[i], 20 + (uint64_t)i), 0);
    }
    use.holder.uid = user + 1;
    assert_int_equal(place(&pieces[6], 500), 0);
    use.holder.uid = user;
    assert_int_equal(place(&pieces[7], 400), -1);
    expect_text("src.memory: 400 B wanted, but vccm has 365 of 1000 B free, the largest piece "
                "356 B; other users hold 500 B; prepared job 5 of client 7 (uid %u) holds 25 B; "
                "job 4 of client 7 (uid %u) holds 24 B; buffer 3 of client 7 (uid %u) holds 23 B; "
                "3 more hold 63 B",
                user, user, user);
    /* mlid's own user sees the pieces of all users. */
    use.holder.uid = geteuid();
    assert_int_equal(place(&pieces[7], 400), -1);
    assert_null(strstr(fault.text, "other users"));
    assert_non_null(strstr(fault.text, "holds 500 B"));
    for (int i = 0; i < 7; i++)
        board_remove(&pieces[i]);
    assert_int_equal(place(&pieces[7], 1001), -1);
    expect_text("src.memory: 1001 B wanted, but vccm has 1000 of 1000 B free, the largest piece "
                "1000 B");
}

/* A quota counts the pieces of one user. */
static void test_quota(void **state)
{
    struct board_piece pieces[4] = {0};

    (void)state;
    set_up(0, 1001, 1);
    use.percent = 50;
    assert_int_equal(place(&pieces[0], 501), -1);
    assert_int_equal(fault.code, FAULT_LIMIT);
    expect_text("quotas.memory_percent: 501 B more of vccm requested, this user has 0 B, at most "
                "500 B (50 %%) are allowed");
    assert_int_equal(place(&pieces[0], 300), 0);
    assert_int_equal(place(&pieces[1], 201), -1);
    assert_int_equal(place(&pieces[1], 200), 0);
    use.holder.uid++;
    assert_int_equal(place(&pieces[2], 500), 0);
    /* The first user is over a quota that was lowered. */
    use.holder.uid--;
    use.percent = 10;
    assert_int_equal(place(&pieces[3], 1), -1);
    assert_int_equal(fault.code, FAULT_LIMIT);
}

/* A removed piece may be removed again, and so may a piece that is all zeros. */
static void test_remove_twice(void **state)
{
    struct board_piece piece = {0};

    (void)state;
    set_up(16, 16, 16);
    board_remove(&piece);
    assert_int_equal(place(&piece, 16), 0);
    assert_int_equal(piece.address, 16);
    assert_int_equal(board.memories[0].used, 16);
    assert_int_equal(board_largest(&board.memories[0]), 0);
    board_remove(&piece);
    board_remove(&piece);
    assert_int_equal(board.memories[0].used, 0);
    assert_int_equal(board.memories[0].count, 0);
}

/* Board memory in which `count` pieces alternate with free ranges, and the users of the pieces. */
struct crowd {
    struct board_piece *pieces;
    size_t count, next;
};

enum { FEW = 64, MANY = 16384, CALLS = 500 };

static void set_up_crowd(struct crowd *crowd, size_t count)
{
    static struct board_piece pieces[2 * MANY];

    memset(pieces, 0, sizeof pieces);
    *crowd = (struct crowd){pieces, count, 0};
    set_up(0, UINT64_C(1) << 40, 64);
    for (size_t i = 0; i < 2 * count; i++) {
        use.holder.uid = geteuid() + 1 + (uid_t)(i % USERS);
        assert_int_equal(place(&pieces[i], 64 * (1 + i * 7 % 5)), 0);
    }
    for (size_t i = 0; i < count; i++)
        board_remove(&pieces[2 * i]);
}

/* Places a piece in a free range, with and without an address, and removes it. */
static void place_and_remove(void *context)
{
    struct crowd *crowd = context;

    for (int i = 0; i < CALLS; i++) {
        struct board_piece *piece = &crowd->pieces[2 * (crowd->next++ * 37 % crowd->count)];

        assert_int_equal(i % 2 ? place_at(piece, 64, piece->address)
                               : place(piece, 64 * (1 + (uint64_t)i % 5)),
                         0);
        board_remove(piece);
    }
}

static void refuse(void *context)
{
    (void)context;
    for (int i = 0; i < CALLS; i++)
        assert_int_equal(place(&(struct board_piece){0}, UINT64_C(1) << 41), -1);
}

static void refuse_by_quota(void *context)
{
    (void)context;
    for (int i = 0; i < CALLS; i++)
        assert_int_equal(place(&(struct board_piece){0}, UINT64_C(1) << 40), -1);
}

/* The costs of all operations grow with the logarithm of the number of pieces. */
static void test_costs(void **state)
{
    static const struct {
        const char *name;
        cost_round *round;
        uint32_t percent;
    } operations[] = {{"placing and removing", place_and_remove, 100},
                      {"refusing for room", refuse, 100},
                      {"refusing by the quota", refuse_by_quota, 50}};
    struct crowd crowd;

    (void)state;
    for (size_t i = 0; i < sizeof operations / sizeof *operations; i++) {
        double few, many;

        set_up_crowd(&crowd, FEW);
        use.percent = operations[i].percent;
        few = cost_of(operations[i].round, &crowd);
        set_up_crowd(&crowd, MANY);
        use.percent = operations[i].percent;
        many = cost_of(operations[i].round, &crowd);
        print_message("%s among %d pieces: %.2f us, %.1f times as much as among %d\n",
                      operations[i].name, MANY, many / CALLS / 1e3, many / few, FEW);
        assert_true(many < few * COST_RATIO_MAX);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_against_model), cmocka_unit_test(test_addresses),
        cmocka_unit_test(test_fragmentation), cmocka_unit_test(test_holders),
        cmocka_unit_test(test_quota),         cmocka_unit_test(test_remove_twice),
        cmocka_unit_test(test_costs),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

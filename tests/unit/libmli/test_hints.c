/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Tests mli_mov_set_hints(). This program replaces madvise() to count the pages that are mapped
 * before the move. The hint must change nothing else. The destination is the mapping of a sparse
 * file.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "tests/support/unit.h"

enum { KIB = 1024, MIB = 1024 * KIB, FILE_BYTES = 12 * MIB, POPULATE_WRITE = 23 };

static bool processor_moves;    /* true: the engine of this run moves on the processor */
static bool engine_has_threads; /* true: this engine moves in threads of its own */

/* The madvise() calls of all threads. */
static struct {
    pthread_mutex_t lock;
    unsigned calls, outside; /* number of calls, and number of calls outside the mapping or not for
                                whole pages */
    size_t largest;
    int fail;         /* errno with which the next call fails; 0: calls the system's madvise() */
    bool cancel;      /* true: the next call cancels the transfer */
    uint8_t *covered; /* number of calls for each page of the mapping */
} seen = {.lock = PTHREAD_MUTEX_INITIALIZER};

static struct {
    mli_tensor src, dst;
    mli_mov_cfg_t cfg;
    mli_mov_handle_t h;
    uint8_t *in, *out;
    int file;
    size_t page;
    uint32_t rows, run, step; /* bytes */
} at;

static void note(const uint8_t *address, size_t length)
{
    const size_t begin = (size_t)(address - at.out);

    seen.calls++;
    if (length > seen.largest)
        seen.largest = length;
    if (address < at.out || begin % at.page != 0 || length % at.page != 0 ||
        begin + length > FILE_BYTES) {
        seen.outside++;
        return;
    }
    for (size_t i = begin; i < begin + length; i += at.page)
        seen.covered[i / at.page]++;
}

static int call_system(void *address, size_t length, int advice)
{
    const int result = (int)syscall(SYS_madvise, address, length, advice);

    /* Linux before 5.14 does not know this kind of advice. */
    return advice == POPULATE_WRITE && result < 0 && errno == EINVAL ? 0 : result;
}

/* Replaces the C library's function: libmli is linked statically. */
int madvise(void *address, size_t length, int advice)
{
    int error = 0;
    bool cancel = false;

    if (advice == POPULATE_WRITE) {
        pthread_mutex_lock(&seen.lock);
        note(address, length);
        error = seen.fail;
        cancel = seen.cancel;
        seen.cancel = false;
        pthread_mutex_unlock(&seen.lock);
    }
    if (cancel)
        (void)mli_mov_cancel(&at.h);
    if (error == 0)
        return call_system(address, length, advice);
    errno = error;
    return -1;
}

static void forget(void)
{
    const size_t pages = FILE_BYTES / at.page;

    memset(seen.covered, 0, pages);
    seen.calls = seen.outside = 0;
    seen.largest = 0;
    seen.fail = 0;
}

static void map_file(void)
{
    at.file = memfd_create("dst", MFD_CLOEXEC);
    assert_int_equal(ftruncate(at.file, FILE_BYTES), 0);
    at.out = mmap(NULL, FILE_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, at.file, 0);
    assert_ptr_not_equal(at.out, MAP_FAILED);
}

static void unmap_file(void)
{
    munmap(at.out, FILE_BYTES);
    close(at.file);
}

static int setup(void **state)
{
    (void)state;
    at.page = (size_t)sysconf(_SC_PAGESIZE);
    at.in = malloc(FILE_BYTES);
    seen.covered = calloc(FILE_BYTES / at.page, 1);
    assert_true(at.in && seen.covered);
    unit_fill(at.in, FILE_BYTES);
    map_file();
    forget();
    return mli_mov_set_num_dma_ch(0, 3) != MLI_STATUS_OK;
}

static int teardown(void **state)
{
    (void)state;
    (void)mli_mov_release_handle(&at.h);
    unmap_file();
    free(at.in);
    free(seen.covered);
    return mli_mov_set_num_dma_ch(0, 0) != MLI_STATUS_OK;
}

/*
 * Makes a move of rows of `run` bytes, `step` bytes apart in the destination, which begins at byte
 * `offset`.
 */
static void shape_rows(size_t offset, uint32_t rows, uint32_t run, uint32_t step)
{
    at.rows = rows;
    at.run = run;
    at.step = step;
    assert_ok(mli_mov_cfg_for_copy(&at.cfg));
    at.cfg.dst_mem_stride[0] = (int32_t)step;
    at.cfg.dst_mem_stride[1] = 1;
    memset(&at.src, 0, sizeof(at.src));
    memset(&at.dst, 0, sizeof(at.dst));
    at.src.el_type = MLI_EL_FX_8;
    at.src.rank = 2;
    at.src.shape[0] = rows;
    at.src.shape[1] = run;
    at.src.data.mem.pi8 = (int8_t *)at.in;
    at.src.data.capacity = FILE_BYTES;
    at.dst.data.mem.pi8 = (int8_t *)at.out + offset;
    at.dst.data.capacity = (uint32_t)(FILE_BYTES - offset);
}

static void claim(int channels)
{
    assert_ok(mli_mov_acquire_handle(channels, &at.h));
    assert_ok(mli_mov_prepare(&at.h, &at.src, &at.cfg, &at.dst));
}

static void run(void)
{
    assert_ok(mli_mov_start(&at.h, NULL, NULL, NULL));
    assert_ok(mli_mov_wait(&at.h));
}

/* Compares every byte of the file with the move's bytes and zeros. */
static void assert_moved(void)
{
    const uint8_t *first = (const uint8_t *)at.dst.data.mem.pi8;
    uint8_t *want = calloc(FILE_BYTES, 1);

    assert_non_null(want);
    for (uint32_t row = 0; row < at.rows; row++)
        memcpy(want + (first - at.out) + (size_t)row * at.step, at.in + (size_t)row * at.run,
               at.run);
    assert_memory_equal(at.out, want, FILE_BYTES);
    free(want);
}

/* Marks each page that the move writes. */
static void mark_written(bool *written)
{
    const size_t first = (size_t)((uint8_t *)at.dst.data.mem.pi8 - at.out);

    for (uint32_t row = 0; row < at.rows; row++) {
        const size_t begin = first + (size_t)row * at.step;

        for (size_t page = begin / at.page; page * at.page < begin + at.run; page++)
            written[page] = true;
    }
}

/*
 * Checks that exactly the pages that the move writes were mapped before. Up to `missed` pages may
 * be left to page faults, and up to `shared` pages may be mapped twice.
 */
static void assert_covered(size_t missed, size_t shared)
{
    const size_t pages = FILE_BYTES / at.page;
    bool *written = calloc(pages, sizeof(*written));
    size_t not_covered = 0, twice = 0;

    assert_non_null(written);
    mark_written(written);
    assert_int_equal(seen.outside, 0);
    for (size_t i = 0; i < pages; i++) {
        if (written[i])
            not_covered += seen.covered[i] == 0;
        else
            assert_int_equal(seen.covered[i], 0);
        assert_in_range(seen.covered[i], 0, 2);
        twice += seen.covered[i] == 2;
    }
    free(written);
    assert_in_range(not_covered, 0, missed);
    assert_in_range(twice, 0, shared);
    assert_in_range(seen.largest, 1, 2 * MIB);
}

static void run_with_hint(size_t offset, uint32_t rows, uint32_t run_bytes, uint32_t step)
{
    shape_rows(offset, rows, run_bytes, step);
    claim(1);
    assert_ok(mli_mov_set_hints(&at.h, MLI_MOV_FRESH_DST));
    run();
}

static void move_with_hint(size_t offset, uint32_t rows, uint32_t run_bytes, uint32_t step)
{
    run_with_hint(offset, rows, run_bytes, step);
    assert_moved();
}

static void test_without_a_hint(void **state)
{
    (void)state;
    shape_rows(100, 1, 11 * MIB, 0);
    claim(1);
    run();
    assert_int_equal(seen.calls, 0);
    assert_moved();
}

static void test_whole(void **state)
{
    (void)state;
    move_with_hint(100, 1, 11 * MIB, 0);
    if (processor_moves)
        assert_covered(0, 0);
    else
        assert_int_equal(seen.calls, 0);
}

/* Gaps are smaller than a page, so each page has a part of a row. */
static void test_dense_rows(void **state)
{
    (void)state;
    move_with_hint(5000, 5000, 1100, 2100);
    if (processor_moves)
        assert_covered(0, 0);
}

static void test_pages_between_rows(void **state)
{
    (void)state;
    move_with_hint(64, 40, 128 * KIB, 256 * KIB);
    if (processor_moves)
        assert_covered(0, 0);
}

/* A row has too few pages to be worth a call of madvise(), and rows are not in adjacent pages. */
static void test_sparse_rows(void **state)
{
    (void)state;
    move_with_hint(0, 700, 4 * KIB, 16 * KIB);
    assert_int_equal(seen.calls, 0);
}

/* Pages that the move does not write stay holes of the file. (Reading them would fill them.) */
static void test_holes_stay(void **state)
{
    struct stat with, without;

    (void)state;
    run_with_hint(0, 20, 64 * KIB, 512 * KIB);
    assert_int_equal(fstat(at.file, &with), 0);
    assert_ok(mli_mov_release_handle(&at.h));
    unmap_file();
    map_file();
    shape_rows(0, 20, 64 * KIB, 512 * KIB);
    claim(1);
    run();
    assert_int_equal(fstat(at.file, &without), 0);
    assert_int_equal(with.st_blocks, without.st_blocks);
}

/* Zeros beside a row are on the same pages as the row: each page is mapped only once. */
static void test_padded(void **state)
{
    const uint32_t side = 2000;

    (void)state;
    shape_rows(0, side, side, 0);
    memset(at.cfg.dst_mem_stride, 0, sizeof(at.cfg.dst_mem_stride));
    for (uint32_t i = 0; i < 2; i++)
        at.cfg.padding_pre[i] = at.cfg.padding_post[i] = 3;
    claim(1);
    assert_ok(mli_mov_set_hints(&at.h, MLI_MOV_FRESH_DST));
    run();
    at.rows = 1;
    at.run = (side + 6) * (side + 6);
    if (processor_moves)
        assert_covered(16, 0);
    for (uint32_t row = 0; row < side; row++) /* the move also writes the right bytes */
        assert_memory_equal(at.out + (row + 3) * (side + 6) + 3, at.in + (size_t)row * side, side);
    for (uint32_t row = 0; row < side + 5; row++)
        assert_memory_equal(at.out + row * (side + 6) + side + 3, "\0\0\0\0\0\0", 6);
}

static void test_transposed(void **state)
{
    const uint32_t rows = 1500, columns = 3000;

    (void)state;
    shape_rows(0, rows, columns, 0);
    memset(at.cfg.dst_mem_stride, 0, sizeof(at.cfg.dst_mem_stride));
    at.cfg.perm_dim[0] = 1;
    at.cfg.perm_dim[1] = 0;
    claim(1);
    assert_ok(mli_mov_set_hints(&at.h, MLI_MOV_FRESH_DST));
    run();
    at.rows = 1;
    at.run = rows * columns;
    if (processor_moves)
        assert_covered(16, 0);
    for (uint32_t i = 0; i < rows * columns; i++) {
        if (at.out[i] != at.in[(size_t)(i % rows) * columns + i / rows])
            fail_msg("byte %u", i);
    }
}

/* Each channel maps its own part. Parts begin inside a page. */
static void test_several_channels(void **state)
{
    (void)state;
    shape_rows(0, 11, MIB, MIB);
    claim(3);
    assert_ok(mli_mov_set_hints(&at.h, MLI_MOV_FRESH_DST));
    run();
    assert_moved();
    if (processor_moves)
        assert_covered(0, 2);
}

static void test_handle_without_channels(void **state)
{
    (void)state;
    shape_rows(0, 11, MIB, MIB);
    claim(0);
    assert_ok(mli_mov_set_hints(&at.h, MLI_MOV_FRESH_DST));
    run();
    assert_moved();
    /* Without channels, the calling thread moves the data, whatever the engine. */
    assert_covered(0, 0);
}

/* EINVAL is the error of an old kernel; EFAULT means that the file ends before the page. */
static void test_refused_by_the_system(void **state)
{
    static const int errors[] = {EINVAL, EFAULT, ENOMEM};

    (void)state;
    shape_rows(0, 11, MIB, MIB);
    claim(1);
    assert_ok(mli_mov_set_hints(&at.h, MLI_MOV_FRESH_DST));
    for (size_t i = 0; i < COUNT_OF(errors); i++) {
        forget();
        seen.fail = errors[i];
        memset(at.out, 0, FILE_BYTES);
        run();
        assert_moved();
        assert_int_equal(seen.calls, processor_moves ? 1 : 0);
    }
}

static void test_cancelled(void **state)
{
    (void)state;
    if (!processor_moves)
        skip();
    shape_rows(0, 11, MIB, MIB);
    claim(1);
    assert_ok(mli_mov_set_hints(&at.h, MLI_MOV_FRESH_DST));
    seen.cancel = true;
    assert_ok(mli_mov_start(&at.h, NULL, NULL, NULL));
    assert_status(mli_mov_wait(&at.h), MLI_STATUS_CANCELLED);
    assert_int_equal(seen.calls, 1);
}

static void test_stays_until_set_again(void **state)
{
    (void)state;
    move_with_hint(0, 1, MIB, 0);
    run();
    if (processor_moves)
        assert_int_equal(seen.covered[0], 2);
    assert_ok(mli_mov_set_hints(&at.h, 0));
    forget();
    run();
    assert_int_equal(seen.calls, 0);
}

static pthread_t completed_by;

static void note_thread(int32_t cookie)
{
    (void)cookie;
    completed_by = pthread_self();
}

/* Returns whether the calling thread completes a transfer of a few bytes. */
static bool caller_moves(uint32_t hints)
{
    assert_ok(mli_mov_set_hints(&at.h, hints));
    assert_ok(mli_mov_registercallback(&at.h, note_thread, 0));
    run();
    return pthread_equal(completed_by, pthread_self());
}

/* If the engine has threads and the memory is slow, another thread moves even a tiny transfer. */
static void test_slow_memory(void **state)
{
    (void)state;
    shape_rows(0, 4, 16, 32);
    claim(1);
    if (engine_has_threads) {
        assert_false(caller_moves(MLI_MOV_SLOW_MEMORY));
        assert_false(caller_moves(MLI_MOV_SLOW_MEMORY | MLI_MOV_FRESH_DST));
    } else {
        run();
    }
    assert_moved();
    assert_ok(mli_mov_release_handle(&at.h));
    claim(0); /* without channels only the calling thread can move data */
    assert_true(caller_moves(MLI_MOV_SLOW_MEMORY));
}

static void test_unknown_bits(void **state)
{
    static const uint32_t bad[] = {4, 7, 0x80000000u, UINT32_MAX};

    (void)state;
    shape_rows(0, 1, MIB, 0);
    claim(1);
    for (size_t i = 0; i < COUNT_OF(bad); i++) {
        assert_status(mli_mov_set_hints(&at.h, bad[i]), MLI_STATUS_ARGUMENT_ERROR);
        assert_error_names("hints", MLI_STATUS_ARGUMENT_ERROR);
    }
    run();
    assert_int_equal(seen.calls, 0);
}

/* A new owner of the channels starts without the hint. */
static void test_release(void **state)
{
    (void)state;
    move_with_hint(0, 1, MIB, 0);
    assert_ok(mli_mov_release_handle(&at.h));
    forget();
    claim(1);
    run();
    assert_int_equal(seen.calls, 0);
}

#define HINT_TEST(function) cmocka_unit_test_setup_teardown(function, setup, teardown)

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        HINT_TEST(test_without_a_hint),
        HINT_TEST(test_whole),
        HINT_TEST(test_dense_rows),
        HINT_TEST(test_pages_between_rows),
        HINT_TEST(test_sparse_rows),
        HINT_TEST(test_holes_stay),
        HINT_TEST(test_padded),
        HINT_TEST(test_transposed),
        HINT_TEST(test_several_channels),
        HINT_TEST(test_handle_without_channels),
        HINT_TEST(test_refused_by_the_system),
        HINT_TEST(test_cancelled),
        HINT_TEST(test_stays_until_set_again),
        HINT_TEST(test_slow_memory),
        HINT_TEST(test_unknown_bits),
        HINT_TEST(test_release),
    };

    unit_choose_engine(argc, argv);
    processor_moves = argc < 2 || !strstr(argv[1], "mock");
    engine_has_threads = argc >= 2 && strstr(argv[1], "threads");
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests regions: clients' files as memory that several jobs share. */
#include <errno.h>
#include <fcntl.h>
#include <linux/dma-buf.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "daemon/base/seam.h"
#include "daemon/memory/region.h"
#include "mli_engine.h"
#include "tests/unit/daemon/test_peer.h"

enum { PAGE = 4096 };

static struct seam real;
static int fds_before;

static int setup(void **state)
{
    (void)state;
    real = seam;
    fds_before = count_fds();
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    seam = real;
    assert_int_equal(count_fds(), fds_before);
    return 0;
}

static struct region_want want_of(bool write)
{
    return (struct region_want){
        .use = {.write = write, .name = "dst", .pointer = "/dst/fd"},
    };
}

static struct region *create(int fd, const struct region_want *want)
{
    struct fault fault;
    struct region *region;

    assert_int_equal(sigbus_install(),
                     0); /* cmocka installs its own SIGBUS handler for each test */
    region = region_create(fd, want, &fault);
    if (!region)
        fail_msg("%s", fault.text);
    return region;
}

static void refuses(int fd, const struct region_want *want, enum fault_code code, const char *word)
{
    struct fault fault = {0};

    assert_null(region_create(fd, want, &fault));
    assert_int_equal(fault.code, code);
    assert_string_equal(fault.pointer, "/dst/fd");
    if (!strstr(fault.text, word))
        fail_msg("\"%s\" is not in: %s", word, fault.text);
}

static int memfd_sealable(size_t size)
{
    int fd = memfd_create("test", MFD_CLOEXEC | MFD_ALLOW_SEALING);

    assert_int_equal(ftruncate(fd, (off_t)size), 0);
    return fd;
}

static unsigned sum(const struct region *region)
{
    const volatile unsigned char *bytes = region->mapping.data;
    unsigned total = 0;

    for (uint64_t i = 0; i < region->size; i++)
        total += bytes[i];
    return total;
}

static void test_whole_file_and_piece(void **state)
{
    struct region_want want = want_of(true);
    int fd = memfd_with("0123456789", 10);
    struct region *whole = create(fd, &want), *piece;

    (void)state;
    want.offset = 4;
    want.bytes = 3;
    piece = create(fd, &want);
    close(fd);
    assert_int_equal(whole->size, 10);
    assert_int_equal(whole->file_offset, 0);
    assert_int_equal(piece->size, 3);
    assert_int_equal(piece->file_offset, 4);
    assert_memory_equal(piece->mapping.data, "456", 3);
    piece->mapping.data[0] = 'x';
    assert_memory_equal(whole->mapping.data, "0123x56789", 10);
    region_drop(piece);
    region_drop(whole);
    region_drop(NULL);
}

static void test_refusals(void **state)
{
    struct region_want want = want_of(true);
    int empty = memfd_with(NULL, 0), ten = memfd_with(NULL, 10), pipes[2];
    int read_only = open("/proc/self/exe", O_RDONLY);

    (void)state;
    assert_int_equal(pipe(pipes), 0);
    refuses(empty, &want, FAULT_BAD_DESCRIPTOR, "the file is empty");
    refuses(pipes[0], &want, FAULT_BAD_DESCRIPTOR,
            "a pipe given; a regular file, memfd or dma-buf");
    refuses(read_only, &want, FAULT_BAD_DESCRIPTOR, "reading and writing");
    refuses(-1, &want, FAULT_BAD_DESCRIPTOR, "Bad file descriptor");
    want.offset = 10;
    refuses(ten, &want, FAULT_BAD_DESCRIPTOR, "the file is empty");
    want.bytes = 1;
    refuses(ten, &want, FAULT_BAD_DESCRIPTOR, "1 B are needed from offset 10, the file has 10 B");
    close(empty);
    close(ten);
    close(pipes[0]);
    close(pipes[1]);
    close(read_only);
}

static void test_ranges(void **state)
{
    const struct region_want want = want_of(true);
    int fd = memfd_with(NULL, 12);
    struct region *region = create(fd, &want);
    struct fault fault;

    (void)state;
    assert_int_equal(region_check_range(region, 0, 12, "dst", "/dst/offset", &fault), 0);
    assert_int_equal(region_check_range(region, 11, 1, "dst", "/dst/offset", &fault), 0);
    assert_int_equal(region_check_range(region, 13, 0, "dst", "/dst/offset", &fault), -1);
    assert_int_equal(region_check_range(region, 1, UINT64_MAX, "dst", "/dst/offset", &fault), -1);
    assert_int_equal(region_check_range(region, UINT64_MAX, 2, "dst", "/dst/offset", &fault), -1);
    assert_int_equal(region_check_range(region, 10, 4, "dst", "/dst/offset", &fault), -1);
    assert_int_equal(fault.code, FAULT_BAD_DESCRIPTOR);
    assert_string_equal(fault.pointer, "/dst/offset");
    assert_string_equal(fault.text, "dst: 4 B are needed from offset 10, the buffer has 12 B");
    region_drop(region);
    close(fd);
}

/* Two regions of one file overlap, even if they were created with different descriptors. */
static void test_overlap(void **state)
{
    struct region_want want = want_of(true);
    int fd = memfd_with(NULL, 100), other = memfd_with(NULL, 100), again = dup(fd);
    struct region *whole = create(fd, &want), *stranger = create(other, &want), *piece;

    (void)state;
    want.offset = 50;
    want.bytes = 10;
    piece = create(again, &want);
    assert_false(region_overlaps(whole, 0, 50, piece, 0, 10));
    assert_true(region_overlaps(whole, 0, 51, piece, 0, 10));
    assert_true(region_overlaps(piece, 9, 1, whole, 59, 1));
    assert_false(region_overlaps(piece, 9, 1, whole, 60, 40));
    assert_false(region_overlaps(piece, 0, 10, stranger, 50, 10));
    region_drop(whole);
    region_drop(stranger);
    region_drop(piece);
    close(fd);
    close(other);
    close(again);
}

static void test_sealing(void **state)
{
    struct region_want want = want_of(true);
    int plain = memfd_with(NULL, 4), open_to = memfd_sealable(4), sealed = memfd_sealable(4);
    int fds[] = {plain, open_to, sealed};

    (void)state;
    assert_int_equal(fcntl(sealed, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_SEAL), 0);
    for (int seal = 0; seal < 2; seal++) {
        want.seal = seal;
        for (size_t i = 0; i < COUNT_OF(fds); i++) {
            struct region *region = create(fds[i], &want);

            assert_int_equal(region->sealed, i == 2 || (i == 1 && seal));
            region_drop(region);
        }
    }
    assert_int_equal(ftruncate(open_to, 3), -1);
    assert_int_equal(errno, EPERM);
    for (size_t i = 0; i < COUNT_OF(fds); i++)
        close(fds[i]);
}

/*
 * Both running transfers fail, although only one of them accessed the lost page; all later
 * transfers fail too.
 */
static void test_shrink_under_two_transfers(void **state)
{
    const struct region_want want = want_of(true);
    int fd = memfd_with(NULL, 4 * PAGE);
    struct region *region = create(fd, &want);

    (void)state;
    memset(region->mapping.data, 1, 4 * PAGE);
    assert_int_equal(region_begin(region, false), 0);
    assert_int_equal(sum(region), 4 * PAGE);
    assert_int_equal(region_end(region, false, false), 0);

    assert_int_equal(region_begin(region, false), 0);
    assert_int_equal(region_begin(region_hold(region), true), 0);
    assert_int_equal(ftruncate(fd, PAGE), 0);
    assert_int_equal(sum(region), PAGE);
    assert_int_equal(region_end(region, false, false), -1);
    region_drop(region);
    assert_int_equal(region_end(region, true, false), -1);
    assert_int_equal(ftruncate(fd, 4 * PAGE), 0);
    assert_int_equal(region_begin(region, false), -1);
    region_drop(region);
    close(fd);
}

/* If a file with two regions shrinks, only the region that lost pages fails. */
static void test_shrink_under_one_of_two_regions(void **state)
{
    struct region_want want = want_of(true);
    int fd = memfd_with(NULL, 4 * PAGE);
    struct region *whole = create(fd, &want), *first;

    (void)state;
    want.bytes = PAGE;
    first = create(fd, &want);
    assert_int_equal(region_begin(whole, false), 0);
    assert_int_equal(region_begin(first, false), 0);
    assert_int_equal(ftruncate(fd, PAGE), 0);
    sum(whole);
    sum(first);
    assert_int_equal(region_end(whole, false, false), -1);
    assert_int_equal(region_end(first, false, false), 0);
    region_drop(whole);
    region_drop(first);
    close(fd);
}

static int munmaps;

static int counting_munmap(void *address, size_t size)
{
    munmaps++;
    return munmap(address, size);
}

static void *end_exclusive(void *region)
{
    return region_end(region, true, false) == 0 ? region : NULL;
}

/* The thread that ends the transfer unmaps the region; the loop's thread only frees the structure.
 */
static void test_exclusive(void **state)
{
    struct region_want want = want_of(true);
    int fd = memfd_with(NULL, 4 * PAGE);
    struct region *region;
    pthread_t thread;
    void *result;

    (void)state;
    want.exclusive = true;
    seam.munmap = counting_munmap;
    munmaps = 0;
    region = create(fd, &want);
    assert_int_equal(region_begin(region, true), 0);
    assert_int_equal(pthread_create(&thread, NULL, end_exclusive, region), 0);
    pthread_join(thread, &result);
    assert_ptr_equal(result, region);
    assert_int_equal(munmaps, 1);
    region_drop(region);
    assert_int_equal(munmaps, 1);

    region = create(fd, &want);
    assert_int_equal(region_begin(region, true), 0);
    assert_int_equal(ftruncate(fd, 0), 0);
    memset(region->mapping.data, 1, 4 * PAGE);
    assert_int_equal(region_end(region, true, false), -1);
    region_drop(region);
    assert_int_equal(munmaps, 2);
    region = NULL;
    close(fd);
}

/* An engine that records the memory that is attached to it, or refuses it. */
static mli_mov_memory attached;
static int attach_error, attaches, detaches;

static uint32_t device_probe(void)
{
    return 1;
}

static void device_caps(uint32_t channel, struct mli_channel_caps *caps)
{
    (void)channel;
    (void)caps;
}

static void device_submit(uint32_t channel, struct mli_work *work)
{
    (void)channel;
    (void)work;
}

static int device_attach(mli_mov_memory *memory)
{
    attaches++;
    memory->cookie = 4711;
    attached = *memory;
    return attach_error;
}

static void device_detach(const mli_mov_memory *memory)
{
    assert_int_equal(memory->cookie, 4711);
    assert_ptr_equal(memory->address, attached.address);
    assert_int_equal(munmaps, 0); /* the pages are still mapped */
    detaches++;
}

static const struct mli_engine device = {
    .size = sizeof(struct mli_engine),
    .name = "device",
    .probe = device_probe,
    .caps = device_caps,
    .submit = device_submit,
    .attach = device_attach,
    .detach = device_detach,
};

/* A region is attached to the engine's device as long as it is mapped. */
static void test_attached(void **state)
{
    struct region_want want = want_of(true);
    int fd = memfd_with(NULL, 4 * PAGE);
    struct region *region;

    (void)state;
    assert_int_equal(mli_mov_add_engine(&device), MLI_STATUS_OK);
    assert_int_equal(mli_mov_set_engine("device"), MLI_STATUS_OK);
    seam.munmap = counting_munmap;
    munmaps = attaches = detaches = attach_error = 0;
    want.offset = PAGE + 100;
    want.exclusive = true;
    region = create(fd, &want);
    assert_int_equal(attaches, 1);
    assert_ptr_equal(attached.address, region->mapping.pages);
    assert_int_equal(attached.size, 3 * PAGE);
    assert_int_equal(attached.fd, fd);
    assert_int_equal(attached.fd_offset, PAGE);
    assert_int_equal(attached.flags, MLI_MOV_MEMORY_WRITE);
    assert_int_equal(region_begin(region, true), 0);
    assert_int_equal(detaches, 0);
    assert_int_equal(region_end(region, true, false), 0);
    assert_int_equal(detaches, 1);
    region_drop(region);
    munmaps = 0;
    want = want_of(false);
    region = create(fd, &want);
    assert_int_equal(attached.flags, 0);
    region_drop(region);
    assert_int_equal(detaches, 2);

    attach_error = ENOSPC;
    munmaps = 0;
    refuses(fd, &want, FAULT_INTERNAL, "dst: engine device: the device cannot use 16384 bytes");
    assert_int_equal(munmaps, 1);
    assert_int_equal(detaches, 2);
    assert_int_equal(mli_mov_set_engine("inline"), MLI_STATUS_OK);
    close(fd);
}

static pthread_t unmapper;
static size_t largest, unmapped;

static int noting_munmap(void *address, size_t size)
{
    unmapper = pthread_self();
    munmaps++;
    unmapped += size;
    if (size > largest)
        largest = size;
    return munmap(address, size);
}

static void expect_pieces(size_t size)
{
    assert_false(pthread_equal(unmapper, pthread_self()));
    assert_int_equal(unmapped, size);
    assert_in_range(largest, PAGE, 8 * 1024 * 1024);
    munmaps = 0;
    unmapped = largest = 0;
}

/* The reaper unmaps in pieces, so that page faults of other threads need not wait long. */
static void test_large(void **state)
{
    struct region_want want = want_of(true);
    const size_t size = 64 * 1024 * 1024;
    int large = memfd_with(NULL, size);
    struct region *region;

    (void)state;
    assert_int_equal(reaper_start(0, NULL, NULL), 0);
    seam.munmap = noting_munmap;
    munmaps = 0;
    unmapped = largest = 0;
    region_drop(create(large, &want));
    reaper_wait();
    expect_pieces(size);

    /* If the loop's thread ends the transfer, it also leaves a large region to the reaper. */
    want.exclusive = true;
    region = create(large, &want);
    assert_int_equal(region_begin(region, true), 0);
    assert_int_equal(region_end(region, true, true), 0);
    assert_int_equal(munmaps, 0);
    region_drop(region);
    reaper_wait();
    expect_pieces(size);
    assert_int_equal(reaper_stop(), 0);
    close(large);
}

/* The loop itself unmaps small mappings of small files in memory. */
static void test_quick(void **state)
{
    struct region_want want = want_of(true);
    int small = memfd_with(NULL, 4 * PAGE), touched = memfd_with(NULL, 64 * 1024 * 1024);
    char name[] = "/var/tmp/mlid-region-XXXXXX";
    int disk = mkstemp(name);
    struct region *region;

    (void)state;
    unlink(name);
    assert_int_equal(ftruncate(disk, PAGE), 0);
    assert_int_equal(posix_fallocate(touched, 0, 16 * 1024 * 1024), 0);
    want.exclusive = true;
    want.bytes = PAGE;
    region = create(small, &want);
    assert_true(region->quick);
    assert_int_equal(region_end(region, true, true), 0);
    assert_null(region->mapping.pages);
    region_drop(region);
    region = create(touched, &want); /* unmapping the last mapping may free 16 MiB */
    assert_false(region->quick);
    region_drop(region);
    if (fcntl(disk, F_GET_SEALS) < 0) {
        region = create(disk, &want);
        assert_false(region->quick);
        region_drop(region);
    }
    close(small);
    close(touched);
    close(disk);
}

/* A memfd that the seam presents as a dma-buf. */
static uint64_t syncs[8];
static int sync_count, sync_error, interruptions;

static int typeless_fstat(int fd, struct stat *st)
{
    int result = fstat(fd, st);

    st->st_mode &= ~(mode_t)S_IFMT;
    return result;
}

static int dma_buf_fstatfs(int fd, struct statfs *fs)
{
    (void)fd;
    *fs = (struct statfs){.f_type = 0x444d4142};
    return 0;
}

static int other_fstatfs(int fd, struct statfs *fs)
{
    (void)fd;
    *fs = (struct statfs){.f_type =
                              0x09041934}; /* type of anonymous inodes, for example of eventfd */
    return 0;
}

static int recording_sync(int fd, uint64_t flags)
{
    struct stat st;

    assert_int_equal(fstat(fd, &st), 0);
    if (interruptions > 0) {
        errno = interruptions-- % 2 ? EINTR : EAGAIN;
        return -1;
    }
    assert_in_range(sync_count, 0, COUNT_OF(syncs) - 1);
    syncs[sync_count++] = flags;
    errno = sync_error;
    return sync_error ? -1 : 0;
}

static void play_dma_buf(void)
{
    seam.fstat = typeless_fstat;
    seam.fstatfs = dma_buf_fstatfs;
    seam.dma_buf_sync = recording_sync;
    sync_count = sync_error = interruptions = 0;
}

static void test_dma_buf(void **state)
{
    struct region_want want = want_of(true);
    int fd = memfd_with("dma", 3);
    struct region *region;

    (void)state;
    play_dma_buf();
    region = create(fd, &want);
    close(fd); /* closes the client's descriptor; the region has its own */
    assert_true(region->sealed);
    interruptions = 3;
    assert_int_equal(region_begin(region, false), 0);
    assert_int_equal(region_begin(region, true), 0);
    assert_int_equal(region_end(region, true, false), 0);
    assert_int_equal(region_end(region, false, false), 0);
    assert_int_equal(sync_count, 4);
    assert_int_equal(syncs[0], DMA_BUF_SYNC_START | DMA_BUF_SYNC_READ);
    assert_int_equal(syncs[1], DMA_BUF_SYNC_START | DMA_BUF_SYNC_RW);
    assert_int_equal(syncs[2], DMA_BUF_SYNC_END | DMA_BUF_SYNC_RW);
    assert_int_equal(syncs[3], DMA_BUF_SYNC_END | DMA_BUF_SYNC_READ);
    sync_error = EIO;
    assert_int_equal(region_begin(region, false), -1);
    sync_error = 0;
    assert_int_equal(region_begin(region, false), 0);
    sync_error = EIO;
    assert_int_equal(region_end(region, false, false), -1);
    region_drop(region);
}

static void test_other_typeless_files(void **state)
{
    const struct region_want want = want_of(false);
    int fd = memfd_with("abc", 3);

    (void)state;
    play_dma_buf();
    seam.fstatfs = other_fstatfs;
    refuses(fd, &want, FAULT_BAD_DESCRIPTOR,
            "something else given; a regular file, memfd or dma-buf");
    close(fd);
}

static void *no_memory(size_t count, size_t size)
{
    (void)count, (void)size;
    return NULL;
}

static void *no_mapping(void *address, size_t size, int protection, int flags, int fd, off_t offset)
{
    (void)address, (void)size, (void)protection, (void)flags, (void)fd, (void)offset;
    errno = ENOMEM;
    return MAP_FAILED;
}

static int no_descriptor(int fd)
{
    (void)fd;
    errno = EMFILE;
    return -1;
}

static void test_shortages(void **state)
{
    const struct region_want want = want_of(true);
    int fd = memfd_with("abc", 3);

    (void)state;
    seam.calloc = no_memory;
    refuses(fd, &want, FAULT_INTERNAL, "no memory");
    seam.calloc = real.calloc;
    seam.mmap = no_mapping;
    refuses(fd, &want, FAULT_INTERNAL, "cannot be mapped");
    seam.mmap = real.mmap;
    play_dma_buf();
    seam.duplicate = no_descriptor;
    refuses(fd, &want, FAULT_INTERNAL, "Too many open files");
    close(fd);
}

/* Runs in a new thread: under valgrind a signal cannot extend the stack of the first thread. */
static void grow_stack(void)
{
    volatile char room[64 * 1024];

    for (size_t i = sizeof room; i > 0; i -= PAGE)
        room[i - 1] = 0;
}

#define TEST(function) cmocka_unit_test_setup_teardown(function, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_whole_file_and_piece),
        TEST(test_refusals),
        TEST(test_ranges),
        TEST(test_overlap),
        TEST(test_sealing),
        TEST(test_shrink_under_two_transfers),
        TEST(test_shrink_under_one_of_two_regions),
        TEST(test_exclusive),
        TEST(test_attached),
        TEST(test_large),
        TEST(test_quick),
        TEST(test_dma_buf),
        TEST(test_other_typeless_files),
        TEST(test_shortages),
    };

    grow_stack();
    return cmocka_run_group_tests(tests, NULL, NULL);
}

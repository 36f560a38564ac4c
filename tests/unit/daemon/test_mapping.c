/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include "daemon/base/seam.h"
#include "daemon/memory/region.h"
#include "tests/unit/daemon/test_peer.h"

static const struct mapping_use reading = {.write = false, .name = "src", .pointer = "/src/fd"};
static const struct mapping_use writing = {.write = true, .name = "dst", .pointer = "/dst/fd"};
static struct seam real;

static int setup(void **state)
{
    (void)state;
    real = seam;
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    seam = real;
    return 0;
}

static void accepts(int fd, const struct mapping_use *use)
{
    struct mapped_file file;
    struct fault fault;

    if (mapped_file_check(&file, fd, use, &fault) < 0)
        fail_msg("%s", fault.text);
}

static void refuses(int fd, const struct mapping_use *use, const char *word)
{
    struct mapped_file file;
    struct fault fault = {0};

    assert_int_equal(mapped_file_check(&file, fd, use, &fault), -1);
    assert_int_equal(fault.code, FAULT_BAD_DESCRIPTOR);
    assert_string_equal(fault.pointer, use->pointer);
    if (!strstr(fault.text, word))
        fail_msg("\"%s\" is not in: %s", word, fault.text);
}

static void test_kinds(void **state)
{
    int pipes[2], sockets[2];
    int directory = open("/", O_RDONLY | O_DIRECTORY), null = open("/dev/null", O_RDWR);
    int memfd = memfd_with("abc", 3);

    (void)state;
    assert_int_equal(pipe(pipes), 0);
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, sockets), 0);
    accepts(memfd, &reading);
    accepts(memfd, &writing);
    refuses(pipes[0], &reading, "a pipe");
    refuses(sockets[0], &writing, "a socket");
    refuses(directory, &reading, "a directory");
    refuses(null, &writing, "a character device");
    refuses(-1, &reading, "Bad file descriptor");
    close(pipes[0]);
    close(pipes[1]);
    close(sockets[0]);
    close(sockets[1]);
    close(directory);
    close(null);
    close(memfd);
}

static void test_access(void **state)
{
    char name[] = "/tmp/mlid-mapping-XXXXXX";
    int rw = mkstemp(name), ro = open(name, O_RDONLY), wo = open(name, O_WRONLY);
    int path = open(name, O_PATH);

    (void)state;
    unlink(name);
    accepts(rw, &reading);
    accepts(rw, &writing);
    accepts(ro, &reading);
    refuses(ro, &writing, "reading and writing");
    refuses(wo, &reading, "not open for reading");
    refuses(wo, &writing, "reading and writing");
    refuses(path, &reading, "O_PATH");
    close(rw);
    close(ro);
    close(wo);
    close(path);
}

/*
 * Half of a huge page cannot be replaced when a file shrinks, so files of huge pages are refused.
 */
static void test_huge_pages(void **state)
{
    int fd = memfd_create("huge", MFD_CLOEXEC | MFD_HUGETLB);

    (void)state;
    if (fd < 0)
        skip();
    refuses(fd, &reading, "huge pages");
    close(fd);
}

static int fails(int fd, uint64_t offset, uint64_t bytes, const char *word)
{
    struct mapped_file file;
    struct mapping mapping;
    struct fault fault = {0};

    assert_int_equal(mapped_file_check(&file, fd, &reading, &fault), 0);
    assert_int_equal(mapping_init(&mapping, &file, offset, bytes, &reading, &fault), -1);
    assert_null(mapping.pages);
    assert_string_equal(fault.pointer, "/src/fd");
    if (!strstr(fault.text, word))
        fail_msg("\"%s\" is not in: %s", word, fault.text);
    return fault.code;
}

static void test_ranges(void **state)
{
    int fd = memfd_with(NULL, 10000);

    (void)state;
    assert_int_equal(fails(fd, 0, 10001, "10001 B are needed from offset 0, the file has 10000 B"),
                     FAULT_BAD_DESCRIPTOR);
    fails(fd, 9999, 2, "2 B are needed");
    fails(fd, 10001, 1, "1 B are needed");
    fails(fd, UINT64_MAX, 1, "1 B are needed");
    fails(fd, 1, UINT64_MAX, "needed");
    fails(fd, UINT64_MAX - 1, 3, "needed");
    close(fd);
}

static void test_contents(void **state)
{
    unsigned char bytes[10000];
    struct mapped_file file;
    struct mapping mapping;
    struct fault fault;
    int fd;

    (void)state;
    for (size_t i = 0; i < sizeof bytes; i++)
        bytes[i] = (unsigned char)(i * 7);
    fd = memfd_with(bytes, sizeof bytes);
    assert_int_equal(mapped_file_check(&file, fd, &writing, &fault), 0);
    assert_int_equal(mapping_init(&mapping, &file, 4097, 5903, &writing, &fault), 0);
    assert_memory_equal(mapping.data, bytes + 4097, 5903);
    assert_int_equal((uintptr_t)mapping.pages % 4096, 0);
    assert_int_equal(mapping.pages_size, 8192);
    mapping.data[5902] = bytes[9999] = 0xff;
    mapping_finish(&mapping);
    mapping_finish(&mapping);
    assert_file(fd, bytes, sizeof bytes);
    close(fd);
}

/* Old kernels need a private mapping of a sealed file; new kernels do not. */
static void test_sealed(void **state)
{
    int fd = memfd_create("sealed", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    struct mapped_file file;
    struct mapping mapping;
    struct fault fault;

    (void)state;
    assert_int_equal(write(fd, "abcd", 4), 4);
    assert_int_equal(fcntl(fd, F_ADD_SEALS, F_SEAL_WRITE), 0);
    assert_int_equal(mapped_file_check(&file, fd, &reading, &fault), 0);
    assert_int_equal(mapping_init(&mapping, &file, 0, 4, &reading, &fault), 0);
    assert_memory_equal(mapping.data, "abcd", 4);
    mapping_finish(&mapping);
    assert_int_equal(mapping_init(&mapping, &file, 0, 4, &writing, &fault), -1);
    assert_int_equal(fault.code, FAULT_BAD_DESCRIPTOR);
    close(fd);
}

static int injected;
static int mmap_calls;

static void *mmap_fails(void *address, size_t size, int protection, int flags, int fd, off_t offset)
{
    (void)address, (void)size, (void)protection, (void)fd, (void)offset;
    mmap_calls++;
    if (injected == EPERM && (flags & MAP_PRIVATE))
        return mmap(address, size, protection, flags, fd, offset);
    errno = injected;
    return MAP_FAILED;
}

static int fstat_fails(int fd, struct stat *st)
{
    (void)fd, (void)st;
    errno = EIO;
    return -1;
}

static int flags_fail(int fd)
{
    (void)fd;
    errno = EBADF;
    return -1;
}

static void test_failing_calls(void **state)
{
    int fd = memfd_with("abc", 3);
    struct mapped_file file;
    struct mapping mapping;
    struct fault fault;

    (void)state;
    seam.mmap = mmap_fails;
    injected = ENOMEM;
    assert_int_equal(fails(fd, 0, 3, "Cannot allocate memory"), FAULT_INTERNAL);
    injected = ENODEV;
    assert_int_equal(fails(fd, 0, 3, "No such device"), FAULT_BAD_DESCRIPTOR);
    injected = EPERM;
    mmap_calls = 0;
    assert_int_equal(mapped_file_check(&file, fd, &reading, &fault), 0);
    assert_int_equal(mapping_init(&mapping, &file, 0, 3, &reading, &fault), 0);
    assert_int_equal(mmap_calls, 2);
    mapping_finish(&mapping);
    seam.mmap = real.mmap;

    seam.open_flags = flags_fail;
    refuses(fd, &reading, "Bad file descriptor");
    seam.fstat = fstat_fails;
    refuses(fd, &reading, "Input/output error");
    close(fd);
}

static int map_code(int fd, const struct mapping_use *use, struct mapping *mapping)
{
    struct mapped_file file;
    struct fault fault = {0};

    if (mapped_file_check(&file, fd, use, &fault) == 0 &&
        mapping_init(mapping, &file, 0, 4096, use, &fault) == 0)
        return 0;
    assert_non_null(strstr(fault.text, fault.code == FAULT_LIMIT
                                           ? "limits.mappings: the service has "
                                       : fault.code == FAULT_INTERNAL ? "no memory"
                                                                      : "refuse_sparse"));
    return fault.code;
}

/* Maps files for a user until a mapping is refused. Returns the number of mappings. */
static unsigned map_all(int fd, uid_t uid, struct mapping *mappings)
{
    const struct mapping_use use = {.name = "src", .pointer = "/src/fd", .uid = uid};
    unsigned count = 0;
    int code;

    while ((code = map_code(fd, &use, &mappings[count])) == 0)
        count++;
    assert_int_equal(code, FAULT_LIMIT);
    assert_null(mappings[count].pages);
    return count;
}

/*
 * A mapping counts until it is unmapped. Users share the limit, except for the part that is
 * reserved for root and the service's user.
 */
static void test_count(void **state)
{
    enum { ALICE = 40001, BOB, CAROL, DAVE };
    static const struct mapping_policy sixteen = {.max = 16}, any = {.max = UINT32_MAX};
    int fd = memfd_with(NULL, 10000);
    struct mapping mappings[17];
    unsigned count;

    (void)state;
    mapping_set_policy(&sixteen);
    count = map_all(fd, ALICE, mappings);
    assert_int_equal(count, 10);
    count += map_all(fd, BOB, mappings + count);
    assert_int_equal(count, 13);
    count += map_all(fd, CAROL, mappings + count);
    assert_int_equal(count, 14);
    assert_int_equal(map_all(fd, DAVE, mappings + count), 0);
    count += map_all(fd, geteuid(), mappings + count);
    assert_int_equal(count, 16);
    mapping_finish(&mappings[15]);
    mapping_finish(&mappings[15]);
    mapping_finish(&mappings[14]);
    assert_int_equal(map_all(fd, DAVE, mappings + 14), 0);
    assert_int_equal(map_all(fd, geteuid(), mappings + 14), 2);
    for (unsigned i = 0; i < count; i++)
        mapping_finish(&mappings[i]);
    assert_int_equal(map_all(fd, BOB, mappings), 10);
    for (unsigned i = 0; i < 10; i++)
        mapping_finish(&mappings[i]);
    mapping_set_policy(&any);
    close(fd);
}

static void *no_calloc(size_t count, size_t size)
{
    (void)count, (void)size;
    return NULL;
}

static void *no_mmap(void *address, size_t size, int protection, int flags, int fd, off_t offset)
{
    (void)address, (void)size, (void)protection, (void)flags, (void)fd, (void)offset;
    errno = ENOMEM;
    return MAP_FAILED;
}

/* A failed mapping is not counted. */
static void test_count_of_failures(void **state)
{
    static const struct mapping_policy eight = {.max = 8}, any = {.max = UINT32_MAX};
    const struct mapping_use use = {.name = "src", .pointer = "/src/fd", .uid = 40001};
    int fd = memfd_with(NULL, 10000);
    struct mapping mappings[8];
    struct mapped_file file;
    struct fault fault;
    unsigned count;

    (void)state;
    mapping_set_policy(&eight);
    assert_int_equal(mapped_file_check(&file, fd, &use, &fault), 0);
    seam.calloc = no_calloc;
    assert_int_equal(map_code(fd, &use, &mappings[0]), FAULT_INTERNAL);
    seam = real;
    seam.mmap = no_mmap;
    for (int i = 0; i < 20; i++)
        assert_int_equal(mapping_init(&mappings[0], &file, 0, 1, &use, &fault), -1);
    seam = real;
    count = map_all(fd, 40001, mappings);
    assert_int_equal(count, 5);
    while (count-- > 0)
        mapping_finish(&mappings[count]);
    mapping_set_policy(&any);
    close(fd);
}

static void test_sparse(void **state)
{
    static const struct mapping_policy refusing = {UINT32_MAX, true}, any = {.max = UINT32_MAX};
    struct mapping_use own = writing;
    struct mapping mapping;
    char name[] = "/var/tmp/mlid-mapping-XXXXXX";
    int fd = memfd_with(NULL, 3 * 4096), disk = mkstemp(name);

    (void)state;
    unlink(name);
    own.own = true;
    assert_int_equal(map_code(fd, &writing, &mapping), 0);
    mapping_finish(&mapping);
    mapping_set_policy(&refusing);
    assert_int_equal(pwrite(fd, "x", 1, 4096), 1);
    assert_int_equal(map_code(fd, &writing, &mapping), FAULT_BAD_DESCRIPTOR);
    assert_int_equal(map_code(fd, &reading, &mapping), FAULT_BAD_DESCRIPTOR);
    assert_int_equal(map_code(fd, &own, &mapping), 0);
    mapping_finish(&mapping);
    assert_int_equal(posix_fallocate(fd, 0, 3 * 4096), 0);
    assert_int_equal(map_code(fd, &writing, &mapping), 0);
    mapping_finish(&mapping);
    if (fcntl(disk, F_GET_SEALS) < 0) { /* pages of a file on a disk can be written back */
        assert_int_equal(ftruncate(disk, 4096), 0);
        assert_int_equal(map_code(disk, &writing, &mapping), 0);
        mapping_finish(&mapping);
    }
    mapping_set_policy(&any);
    close(fd);
    close(disk);
}

static void test_memory_only(void **state)
{
    static const struct mapping_policy strict = {.max = UINT32_MAX, .memory_only = true};
    static const struct mapping_policy any = {.max = UINT32_MAX};
    char name[] = "/var/tmp/mlid-mapping-XXXXXX";
    int fd = memfd_with(NULL, 3), disk = mkstemp(name);

    (void)state;
    unlink(name);
    accepts(disk, &writing);
    mapping_set_policy(&strict);
    accepts(fd, &writing);
    if (fcntl(disk, F_GET_SEALS) < 0)
        refuses(disk, &reading, "memory_only");
    mapping_set_policy(&any);
    close(fd);
    close(disk);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_kinds),
        cmocka_unit_test(test_access),
        cmocka_unit_test(test_huge_pages),
        cmocka_unit_test(test_ranges),
        cmocka_unit_test(test_contents),
        cmocka_unit_test(test_sealed),
        cmocka_unit_test(test_count),
        cmocka_unit_test_setup_teardown(test_count_of_failures, setup, teardown),
        cmocka_unit_test(test_sparse),
        cmocka_unit_test(test_memory_only),
        cmocka_unit_test_setup_teardown(test_failing_calls, setup, teardown),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

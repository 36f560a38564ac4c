/* SPDX-License-Identifier: BSD-3-Clause */
#include "tests/fuzz/fuzz_scratch.h"

#include <fcntl.h>
#include <ftw.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/fuzz/fuzz.h"

enum { FTW_FDS = 8, COUNTED_FDS = 256 };

static char directory[SCRATCH_PATH_MAX / 2];

static int remove_entry(const char *path, const struct stat *status, int kind, struct FTW *place)
{
    (void)status;
    (void)kind;
    if (place->level > 0)
        (void)remove(path);
    return 0;
}

void scratch_clear(void)
{
    (void)nftw(scratch_directory(), remove_entry, FTW_FDS, FTW_DEPTH | FTW_PHYS);
}

static void remove_all(void)
{
    scratch_clear();
    (void)rmdir(directory);
}

const char *scratch_directory(void)
{
    const char *parents[] = {getenv("TMPDIR"), "/dev/shm", "/tmp"};

    for (size_t i = 0; !directory[0] && i < sizeof parents / sizeof parents[0]; i++) {
        if (!parents[i])
            continue;
        snprintf(directory, sizeof directory, "%s/mli-fuzz-XXXXXX", parents[i]);
        if (mkdtemp(directory))
            atexit(remove_all);
        else
            directory[0] = '\0';
    }
    FUZZ_ASSERT(directory[0]);
    return directory;
}

const char *scratch_path(char out[SCRATCH_PATH_MAX], const char *name)
{
    const int length = snprintf(out, SCRATCH_PATH_MAX, "%s/%s", scratch_directory(), name);

    FUZZ_ASSERT(length > 0 && length < SCRATCH_PATH_MAX);
    return out;
}

void scratch_write(const char *name, const void *bytes, size_t size)
{
    char path[SCRATCH_PATH_MAX];
    const int fd = open(scratch_path(path, name), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

    FUZZ_ASSERT(fd >= 0);
    FUZZ_ASSERT(write(fd, bytes, size) == (ssize_t)size);
    close(fd);
}

void scratch_write_inputs(void)
{
    enum { HEADER_BYTES = 128, INPUT_BYTES = 480 };
    static const char text[] = "{'descr': '|i1', 'fortran_order': False, 'shape': (6, 10, 8), }";
    static bool made;
    char bytes[HEADER_BYTES + INPUT_BYTES] = "\x93NUMPY\x01";

    if (made)
        return;
    made = true;
    bytes[8] = HEADER_BYTES - 10; /* length of the header's dictionary, which follows */
    memset(bytes + 10, ' ', HEADER_BYTES - 10);
    memcpy(bytes + 10, text, sizeof text - 1);
    bytes[HEADER_BYTES - 1] = '\n';
    scratch_write("in.npy", bytes, sizeof bytes);
    scratch_write("in.bin", bytes + HEADER_BYTES, INPUT_BYTES);
}

char *scratch_read(const char *name, size_t *size)
{
    char path[SCRATCH_PATH_MAX];
    const int fd = open(scratch_path(path, name), O_RDONLY | O_CLOEXEC);
    struct stat status;
    char *text;

    if (fd < 0)
        return NULL;
    FUZZ_ASSERT(fstat(fd, &status) == 0);
    *size = (size_t)status.st_size;
    text = malloc(*size + 1);
    FUZZ_ASSERT(text && read(fd, text, *size) == (ssize_t)*size);
    text[*size] = '\0';
    close(fd);
    return text;
}

void scratch_remove(const char *name)
{
    char path[SCRATCH_PATH_MAX];

    (void)unlink(scratch_path(path, name));
}

int scratch_lowest_fd(void)
{
    const int fd = fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 0);

    FUZZ_ASSERT(fd >= 0);
    close(fd);
    return fd;
}

int scratch_count_fds(void)
{
    int count = 0;

    for (int fd = 0; fd < COUNTED_FDS; fd++)
        count += fcntl(fd, F_GETFD) >= 0;
    return count;
}

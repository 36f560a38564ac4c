/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <poll.h>
#include <sha2.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <unistd.h>

#include "cli/file/calls.h"
#include "cli/file/regular.h"
#include "cli/term/cancel.h"

enum { PAUSE_MIN_MS = 1, PAUSE_MAX_MS = 16, CHUNK_BYTES = 1 << 18 };

int regular_open(const char *path, int flags, struct stat *status)
{
    if (stat(path, status))
        return -1;
    if (!S_ISREG(status->st_mode))
        return REGULAR_OTHER;
    int fd = open_path(path, flags | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (fd < 0)
        return -1;
    /* Check again: since stat(), another file may have replaced the checked file. */
    int result = fstat(fd, status) ? -1 : S_ISREG(status->st_mode) ? fd : REGULAR_OTHER;
    if (result == fd)
        return fd;
    int error = errno;
    close(fd);
    errno = error;
    return result;
}

/* Polls the lock: a blocking flock() continues after a signal, and a signal just before the call
 * has no effect. */
int regular_lock(int fd, struct fault *fault)
{
    int pause = PAUSE_MIN_MS;
    while (flock(fd, LOCK_EX | LOCK_NB) && (errno == EWOULDBLOCK || errno == EINTR)) {
        struct pollfd cancelled = {.fd = cancel_fd(), .events = POLLIN};
        poll(&cancelled, 1, pause);
        if (cancel_requested())
            return cancel_fault(fault);
        pause = pause < PAUSE_MAX_MS ? 2 * pause : PAUSE_MAX_MS;
    }
    return 0;
}

static int read_through(int fd, uint8_t *chunk, SHA2_CTX *sha, struct fault *fault)
{
    for (off_t at = 0;;) {
        ssize_t got = pread(fd, chunk, CHUNK_BYTES, at);
        if (cancel_requested())
            return cancel_fault(fault);
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            return fault_set(fault, FAULT_IO_ERROR, NULL, "the output cannot be read: %s",
                             strerror(errno));
        if (got == 0)
            return 0;
        SHA256Update(sha, chunk, (size_t)got);
        at += got;
    }
}

int regular_digest(int fd, uint8_t digest[SHA256_SIZE], struct fault *fault)
{
    uint8_t *chunk = malloc(CHUNK_BYTES);
    if (!chunk)
        return fault_no_memory(fault);
    SHA2_CTX sha;
    SHA256Init(&sha);
    int status = read_through(fd, chunk, &sha, fault);
    if (status == 0)
        SHA256Final(digest, &sha);
    free(chunk);
    return status;
}

bool memory_file_fits(uint64_t size, char half[PRINT_TEXT_MAX])
{
    uint64_t memory = (uint64_t)sysconf(_SC_PHYS_PAGES) * (uint64_t)sysconf(_SC_PAGESIZE);
    print_bytes(half, memory / 2);
    return size <= memory / 2;
}

int memory_file_create(struct fault *fault)
{
    int fd = memfd_create("mlictl-tensor", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    if (fd < 0)
        fault_set(fault, FAULT_IO_ERROR, NULL, "cannot create a memfd: %s", strerror(errno));
    return fd;
}

int memory_file_write(int fd, const void *bytes, size_t size, struct fault *fault)
{
    for (const char *at = bytes; size > 0;) {
        ssize_t put = write(fd, at, size);
        if (put < 0 && errno == EINTR)
            continue;
        if (put <= 0)
            return fault_set(fault, FAULT_IO_ERROR, NULL, "it cannot be kept in memory: %s",
                             strerror(put < 0 ? errno : EIO));
        at += put;
        size -= (size_t)put;
    }
    return 0;
}

/* SPDX-License-Identifier: BSD-3-Clause */
#include "cli/file/file_digest.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <sha2.h>

#include "cli/term/cancel.h"

enum { CHUNK_BYTES = 1 << 18 };

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

int file_digest(int fd, uint8_t digest[DIGEST_SIZE], struct fault *fault)
{
    uint8_t *chunk = malloc(CHUNK_BYTES);
    if (!chunk)
        return fault_set(fault, FAULT_INTERNAL, NULL, "out of memory");
    SHA2_CTX sha;
    SHA256Init(&sha);
    int status = read_through(fd, chunk, &sha, fault);
    if (status == 0)
        SHA256Final(digest, &sha);
    free(chunk);
    return status;
}

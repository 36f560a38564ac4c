/* SPDX-License-Identifier: BSD-3-Clause */
#include "client/src/inlined.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "proto/wire/inline_payload.h"

int inlined_init(struct inlined *inlined, const mli_client_attachment *attachments, size_t count,
                 mli_client_error *error)
{
    uint64_t total = 0;
    *inlined = (struct inlined){.count = (uint32_t)count};
    for (size_t i = 0; i < count; i++) {
        struct stat stat;
        if (fstat(attachments[i].fd, &stat))
            return error_set(error, MLI_CLIENT_SYSTEM, "descriptor %zu: %s", i, strerror(errno));
        if (!S_ISREG(stat.st_mode))
            return error_set(error, MLI_CLIENT_MISUSE, "descriptor %zu is no regular file", i);
        inlined->sizes[i] = (uint64_t)stat.st_size;
        inlined->bytes[i] = attachments[i].send ? (uint64_t)stat.st_size : 0;
        inlined->back[i] = attachments[i].back;
        if (inlined->sizes[i] > INLINE_BYTES_MAX - total)
            return error_set(error, MLI_CLIENT_MISUSE,
                             "the files have more than the %" PRIu64
                             " B that one request may have over this connection",
                             (uint64_t)INLINE_BYTES_MAX);
        total += inlined->sizes[i];
    }
    return 0;
}

int inlined_write(const struct inlined *inlined, char *text)
{
    int length = sprintf(text, ",\"inline\":[");
    for (uint32_t i = 0; i < inlined->count; i++) {
        length +=
            sprintf(text + length, "%s{\"bytes\":%" PRIu64 ",\"size\":%" PRIu64 "%s}", i ? "," : "",
                    inlined->bytes[i], inlined->sizes[i], inlined->back[i] ? ",\"back\":true" : "");
    }
    return length + sprintf(text + length, "]");
}

int inlined_keep_backs(const struct inlined *inlined, struct slot *slot,
                       const mli_client_attachment *attachments, mli_client_error *error)
{
    slot->backs = calloc(inlined->count, sizeof(*slot->backs));
    if (!slot->backs)
        return error_set(error, MLI_CLIENT_NO_MEMORY, "out of memory");
    for (uint32_t i = 0; i < inlined->count; i++) {
        struct slot_back *back = &slot->backs[slot->back_count++];
        *back = (struct slot_back){.fd = -1, .size = inlined->sizes[i]};
        if (!inlined->back[i])
            continue;
        back->fd = fcntl(attachments[i].fd, F_DUPFD_CLOEXEC, 0);
        if (back->fd < 0)
            return error_set(error, MLI_CLIENT_SYSTEM, "a descriptor cannot be kept: %s",
                             strerror(errno));
    }
    return 0;
}

/* SPDX-License-Identifier: BSD-3-Clause */
#include "cli/tensor/zip_member.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "cli/file/calls.h"
#include "cli/tensor/zip_bytes.h"

enum {
    HEADER_BYTES = 30,      /* a member's own header, without name and extra fields */
    INPUT_FIRST = 512,      /* headers of tensors need no more; each further read takes twice */
    INPUT_BYTES = 64 * 1024 /* as many bytes, up to this number */
};

struct zip_member {
    int fd;
    uint64_t at, left; /* the packed bytes in the file that were not read */
    uint32_t crc, crc_wanted;
    bool deflated, ended;
    size_t input_size; /* bytes of the next read */
    z_stream stream;
    unsigned char input[INPUT_BYTES];
};

static int complain(const char *what, const char *why, struct fault *fault)
{
    return fault_set(fault, FAULT_INVALID_PARAMS, NULL, "it cannot be %s: %s", what, why);
}

static int read_exactly(int fd, void *bytes, size_t size, uint64_t at, struct fault *fault)
{
    const ssize_t got = read_bytes(fd, bytes, size, (off_t)at);

    if (got == (ssize_t)size)
        return 0;
    return fault_set(fault, FAULT_IO_ERROR, NULL, "%s",
                     got < 0 ? strerror(errno) : "its archive shrank while it was read");
}

/* Finds the packed bytes behind the member's own header. */
static int find(struct zip_member *member, uint64_t size, const struct zip_entry *entry,
                struct fault *fault)
{
    unsigned char header[HEADER_BYTES];

    if (size < HEADER_BYTES || entry->at > size - HEADER_BYTES)
        return complain("opened", "its header is outside the archive", fault);
    if (read_exactly(member->fd, header, sizeof(header), entry->at, fault))
        return -1;
    if (!zip_begins(header, "PK\3\4"))
        return complain("opened", "its header is not where the archive's directory says", fault);
    member->at = entry->at + HEADER_BYTES + zip_u16(header + 26) + zip_u16(header + 28);
    if (member->at > size || entry->packed > size - member->at)
        return complain("opened", "it ends outside the archive", fault);
    member->left = entry->packed;
    return 0;
}

struct zip_member *zip_member_open(int fd, uint64_t size, const struct zip_entry *entry,
                                   struct fault *fault)
{
    struct zip_member *member = malloc(sizeof(*member));

    if (!member) {
        fault_no_memory(fault);
        return NULL;
    }
    member->fd = fd;
    member->crc = (uint32_t)crc32(0, NULL, 0);
    member->crc_wanted = entry->crc;
    member->deflated = member->ended = false;
    member->input_size = INPUT_FIRST;
    if (find(member, size, entry, fault)) {
        free(member);
        return NULL;
    }
    if (entry->method == ZIP_STORED)
        return member;
    member->stream = (z_stream){0};
    if (inflateInit2(&member->stream, -MAX_WBITS) != Z_OK) {
        fault_no_memory(fault);
        free(member);
        return NULL;
    }
    member->deflated = true;
    return member;
}

void zip_member_close(struct zip_member *member)
{
    if (member && member->deflated)
        inflateEnd(&member->stream);
    free(member);
}

static int take(struct zip_member *member, void *bytes, size_t size, struct fault *fault)
{
    if (read_exactly(member->fd, bytes, size, member->at, fault))
        return -1;
    member->at += size;
    member->left -= size;
    return 0;
}

static int fill_input(struct zip_member *member, struct fault *fault)
{
    const size_t size =
        member->left < member->input_size ? (size_t)member->left : member->input_size;

    if (take(member, member->input, size, fault))
        return -1;
    member->stream.next_in = member->input;
    member->stream.avail_in = (uInt)size;
    if (member->input_size < INPUT_BYTES)
        member->input_size *= 2;
    return 0;
}

/* Unpacks until the buffer is full or the data end. `size` fits a uInt. */
static int64_t unpack(struct zip_member *member, void *buffer, size_t size, struct fault *fault)
{
    z_stream *stream = &member->stream;

    stream->next_out = buffer;
    stream->avail_out = (uInt)size;
    while (stream->avail_out > 0 && !member->ended) {
        int status;

        if (stream->avail_in == 0 && fill_input(member, fault))
            return -1;
        status = inflate(stream, Z_NO_FLUSH);
        if (status == Z_STREAM_END)
            member->ended = true;
        else if (status == Z_MEM_ERROR)
            return fault_no_memory(fault);
        else if (status == Z_BUF_ERROR)
            return complain("unpacked", "its packed bytes end too early", fault);
        else if (status != Z_OK)
            return complain("unpacked", stream->msg ? stream->msg : "its bytes are invalid", fault);
    }
    return (int64_t)(size - stream->avail_out);
}

static int64_t copy(struct zip_member *member, void *buffer, size_t size, struct fault *fault)
{
    if (size >= member->left) {
        size = (size_t)member->left;
        member->ended = true;
    }
    return take(member, buffer, size, fault) ? -1 : (int64_t)size;
}

int64_t zip_member_read(struct zip_member *member, void *buffer, size_t size, struct fault *fault)
{
    int64_t got;

    if (member->ended)
        got = 0;
    else
        got = member->deflated ? unpack(member, buffer, size, fault)
                               : copy(member, buffer, size, fault);
    if (got < 0)
        return -1;
    if (got > 0)
        member->crc = (uint32_t)crc32(member->crc, buffer, (uInt)got);
    if (member->ended && (size_t)got < size && member->crc != member->crc_wanted)
        return complain("unpacked", "CRC error", fault);
    return got;
}

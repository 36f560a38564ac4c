/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "client/src/client_state.h"
#include "proto/wire/methods.h"

static int check(const mli_client *client, mli_client_error *error)
{
    if (!client->inlined)
        return 0;
    return error_set(error, MLI_CLIENT_IMPOSSIBLE,
                     "a buffer needs shared memory, which this connection does not support");
}

static void fill(mli_client_buffer *buffer, const struct buffer_info *info)
{
    *buffer = (mli_client_buffer){.id = info->buffer,
                                  .size = info->size,
                                  .writable = info->access == BUFFER_ACCESS_WRITE,
                                  .sealed = info->sealed,
                                  .fd = -1};
}

int mli_client_buffer_register(mli_client *client, int fd, uint64_t size,
                               enum mli_client_access access, mli_client_buffer *buffer,
                               mli_client_error *error)
{
    static const enum buffer_access accesses[] = {[MLI_CLIENT_ANY_ACCESS] = BUFFER_ACCESS_DEFAULT,
                                                  [MLI_CLIENT_READ] = BUFFER_ACCESS_READ,
                                                  [MLI_CLIENT_WRITE] = BUFFER_ACCESS_WRITE};
    struct call call;
    struct buffer_info info;
    int status = check(client, error);

    if (status)
        return status;
    if ((unsigned)access > MLI_CLIENT_WRITE)
        return error_set(error, MLI_CLIENT_MISUSE, "access: %d given; must be 0 to 2", (int)access);
    struct buffer_register params = {
        .has_size = size > 0, .size = size, .access = accesses[access]};
    struct jsonw *w = request_params(client);
    buffer_register_write(w, &params);
    const mli_client_attachment attachment = {.fd = fd};
    status = call_begin(&call, client, "buffer.register", true, &attachment, 1, error);
    if (status)
        return status;
    if (buffer_info_read(&call.reply->result, &info))
        return call_unreadable(&call, error);
    call_finish(&call);
    fill(buffer, &info);
    return 0;
}

static int send_release(mli_client *client, uint32_t id, mli_client_error *error)
{
    struct call call;
    struct jsonw *w = request_params(client);

    jsonw_uint(w, "buffer", id);
    int status = call_begin(&call, client, "buffer.release", true, NULL, 0, error);
    if (status == 0)
        call_finish(&call);
    return status;
}

/* Maps an allocated buffer. Returns 0 with the buffer owning fd, or a code. */
static int map(mli_client_buffer *buffer, int fd, mli_client_error *error)
{
    struct stat stat;

    if (fd >= 0 && fstat(fd, &stat))
        return error_set(error, MLI_CLIENT_SYSTEM, "fstat: %s", strerror(errno));
    if (fd < 0 || (uint64_t)stat.st_size < buffer->size || buffer->size == 0 ||
        buffer->size > SIZE_MAX)
        return error_set(error, MLI_CLIENT_UNREADABLE,
                         "the memory of the reply does not match the request");
    buffer->address = mmap(NULL, (size_t)buffer->size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (buffer->address == MAP_FAILED)
        return error_set(error, MLI_CLIENT_SYSTEM, "mmap: %s", strerror(errno));
    buffer->fd = fd;
    return 0;
}

/* The reply has a descriptor. If this process has no free descriptor number, the kernel drops the
 * descriptor, and the connection is lost. */
static int check_descriptor(const mli_client *client, mli_client_error *error)
{
    const int spare = fcntl(client->socket, F_DUPFD_CLOEXEC, 0);

    if (spare < 0)
        return error_set(error, MLI_CLIENT_SYSTEM, "no file descriptor is free for the buffer: %s",
                         strerror(errno));
    close(spare);
    return 0;
}

static int alloc(mli_client *client, const struct buffer_alloc *params, struct buffer_info *info,
                 mli_client_buffer *buffer, mli_client_error *error)
{
    struct call call;
    mli_client_buffer made;
    int status = check(client, error);

    if (status == 0)
        status = check_descriptor(client, error);
    if (status)
        return status;
    struct jsonw *w = request_params(client);
    buffer_alloc_write(w, params);
    status = call_begin(&call, client, "buffer.alloc", true, NULL, 0, error);
    if (status)
        return status;
    if (buffer_info_read(&call.reply->result, info))
        return call_unreadable(&call, error);
    int fd = call_take_fd(&call);
    call_finish(&call);
    fill(&made, info);
    status = map(&made, fd, error);
    if (status == 0) {
        *buffer = made;
        return 0;
    }
    if (fd >= 0)
        close(fd);
    send_release(client, made.id, NULL);
    return status;
}

int mli_client_buffer_alloc(mli_client *client, uint64_t size, mli_client_buffer *buffer,
                            mli_client_error *error)
{
    const struct buffer_alloc params = {.size = size};
    struct buffer_info info;

    return alloc(client, &params, &info, buffer, error);
}

int mli_client_buffer_alloc_on(mli_client *client, uint64_t size, mli_client_board_range *range,
                               mli_client_buffer *buffer, mli_client_error *error)
{
    struct buffer_alloc params = {
        .size = size, .has_address = range->exact, .address = range->address};
    struct buffer_info info;

    if (!range->memory || !*range->memory || strlen(range->memory) >= sizeof params.memory)
        return error_set(error, MLI_CLIENT_MISUSE, "memory: a name of 1 to %zu bytes is required",
                         sizeof params.memory - 1);
    strcpy(params.memory, range->memory);
    int status = alloc(client, &params, &info, buffer, error);
    if (status == 0)
        range->address = info.address;
    return status;
}

int mli_client_buffer_release(mli_client *client, mli_client_buffer *buffer,
                              mli_client_error *error)
{
    uint32_t id = buffer->id;

    if (buffer->address)
        munmap(buffer->address, (size_t)buffer->size);
    if (buffer->address && buffer->fd >= 0)
        close(buffer->fd);
    *buffer = (mli_client_buffer){.fd = -1};
    return send_release(client, id, error);
}

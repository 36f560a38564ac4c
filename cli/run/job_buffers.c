/* SPDX-License-Identifier: BSD-3-Clause */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "cli/run/job_buffers.h"

int job_buffers_check_link(const struct job_file *file, bool remote, struct fault *fault)
{
    if (file->list.buffer_count == 0 || !remote)
        return 0;
    return fault_set(fault, FAULT_INVALID_PARAMS, "/buffers",
                     "buffers need shared memory, which a connection over ssh does not have; run "
                     "the file on the board itself");
}

/* Adds the JSON pointer of the buffer to a fault of the service. */
static int blame(struct fault *fault, size_t index)
{
    const struct fault bare = *fault;
    char pointer[FAULT_POINTER_MAX];
    const char *member = bare.has_pointer ? bare.pointer : "";

    if (strcmp(member, "/size") == 0)
        member = "/bytes";
    snprintf(pointer, sizeof(pointer), "/buffers/%zu%.200s", index, member);
    return fault_set(fault, bare.code, pointer, "%s", bare.text);
}

static void close_fd(mli_client_buffer *live)
{
    close(live->fd);
    live->fd = -1;
}

/* Allocates a buffer on a board at a serial line. */
static int allocate_on_board(struct job_buffers *buffers, const struct buffer_spec *spec,
                             size_t index, struct fault *fault)
{
    mli_client_buffer *live = &buffers->live[index];

    *live = (mli_client_buffer){.fd = -1, .size = spec->bytes};
    return board_calls->alloc(buffers->link->board, spec, &live->id, fault) ? blame(fault, index)
                                                                            : 0;
}

static int allocate(struct job_buffers *buffers, const struct buffer_spec *spec, size_t index,
                    struct fault *fault)
{
    mli_client *client = buffers->link->library;
    mli_client_buffer *live = &buffers->live[index];
    mli_client_board_range range = {spec->memory, spec->has_address, spec->address};
    mli_client_error error;

    if (buffers->link->board)
        return allocate_on_board(buffers, spec, index, fault);
    int status = spec->memory[0] != '\0'
                     ? mli_client_buffer_alloc_on(client, spec->bytes, &range, live, &error)
                     : mli_client_buffer_alloc(client, spec->bytes, live, &error);

    if (status) {
        *live = (mli_client_buffer){.fd = -1};
        daemon_link_fault(buffers->link, &error, fault);
        return blame(fault, index);
    }
    /* Only jobs read the memory: a mapping and a descriptor of each buffer would be wasted. */
    munmap(live->address, (size_t)live->size);
    live->address = NULL;
    if (!buffers->keep_fds)
        close_fd(live);
    return 0;
}

/* Allocates the buffers with an address, or those without. */
static int allocate_some(struct job_buffers *buffers, const struct job_list *list, bool exact,
                         struct fault *fault)
{
    for (size_t i = buffers->borrowed; i < buffers->count; i++) {
        if (list->buffers[i].has_address == exact && allocate(buffers, &list->buffers[i], i, fault))
            return -1;
    }
    return 0;
}

int job_buffers_begin(struct job_buffers *buffers, struct daemon_link *link,
                      const struct job_file *file, struct fault *fault)
{
    const struct job_buffers nothing = {.keep_fds = buffers->keep_fds};

    return job_buffers_extend(buffers, &nothing, link, file, fault);
}

int job_buffers_extend(struct job_buffers *buffers, const struct job_buffers *base,
                       struct daemon_link *link, const struct job_file *file, struct fault *fault)
{
    const struct job_list *list = &file->list;

    *buffers = (struct job_buffers){.link = link, .keep_fds = base->keep_fds};
    if (list->buffer_count == 0)
        return 0;
    if (job_buffers_check_link(file, link->remote, fault))
        return -1;
    if (!daemon_link_connected(link))
        return fault_set(fault, FAULT_STREAM_ERROR, NULL, "the connection to the daemon is lost");
    buffers->live = calloc(list->buffer_count, sizeof(*buffers->live));
    if (!buffers->live)
        return fault_no_memory(fault);
    buffers->count = list->buffer_count;
    buffers->borrowed = base->count;
    if (base->count > 0)
        memcpy(buffers->live, base->live, base->count * sizeof(*buffers->live));
    /* Allocate buffers with an address first: other buffers must not take these addresses. */
    if (allocate_some(buffers, list, true, fault))
        return -1;
    return allocate_some(buffers, list, false, fault);
}

void job_buffers_end(struct job_buffers *buffers)
{
    mli_client_error ignored;

    for (size_t i = buffers->borrowed; i < buffers->count; i++) {
        mli_client_buffer *live = &buffers->live[i];

        if (live->id != 0 && live->fd >= 0)
            close_fd(live);
        if (live->id != 0 && buffers->link->board)
            board_calls->free(buffers->link->board, live->id);
        else if (live->id != 0 && daemon_link_connected(buffers->link))
            mli_client_buffer_release(buffers->link->library, live, &ignored);
    }
    free(buffers->live);
    *buffers = (struct job_buffers){.keep_fds = buffers->keep_fds};
}

int job_buffers_open(const struct job_buffers *buffers, size_t index)
{
    const mli_client_buffer *live = &buffers->live[index];

    if (live->id != 0 && buffers->link->board)
        return board_calls->fetch(buffers->link->board, live->id, live->size);
    return fcntl(live->fd, F_DUPFD_CLOEXEC, 0);
}

void job_buffers_refer(const struct job_buffers *buffers, struct resolved *resolved)
{
    const struct job_spec *job = resolved->job;

    if (resolved->src_buffer)
        resolved->wire.src.buffer = buffers->live[job->src.buffer_index].id;
    if (resolved->dst_buffer)
        resolved->wire.dst.buffer = buffers->live[job->dst.buffer_index].id;
}

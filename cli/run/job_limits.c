/* SPDX-License-Identifier: BSD-3-Clause */
#include <inttypes.h>
#include <stdio.h>
#include <sys/stat.h>

#include "cli/run/job_buffers.h"
#include "cli/run/job_limits.h"
#include "proto/file/job_spec.h"
#include "proto/wire/inline_payload.h"

static int use_board_limits(struct job_limits *limits, const struct daemon_link *link)
{
    struct board_limits board;

    board_calls->limits(link->board, &board);
    *limits = (struct job_limits){.job_bytes = board.bytes,
                                  .channels = board.channels,
                                  .buffers = board.buffers,
                                  .buffer_bytes = board.bytes};
    snprintf(limits->source, sizeof(limits->source), "%s", board.source);
    return 0;
}

static int ask(struct job_limits *limits, struct daemon_link *link, struct fault *fault)
{
    mli_client_greeting greeting;
    mli_client_info info;
    mli_client_error error;

    if (link->board)
        return use_board_limits(limits, link);
    if (!link->remote)
        mli_client_set_timeout(link->library, DAEMON_LINK_ASK_MS);
    if (mli_client_greet(link->library, &greeting, &error) ||
        mli_client_get_info(link->library, &info, &error))
        return daemon_link_fault(link, &error, fault);
    *limits = (struct job_limits){.job_bytes = greeting.job_bytes,
                                  .sent_bytes = link->remote ? INLINE_BYTES_MAX : 0,
                                  .channels = info.channels,
                                  .buffers = greeting.buffers,
                                  .buffer_bytes = greeting.buffer_bytes,
                                  .remote = link->remote};
    snprintf(limits->source, sizeof(limits->source), "the limit of the daemon at %s", link->where);
    return 0;
}

static int ask_daemon(struct job_limits *limits, const struct options *options, struct fault *fault)
{
    struct daemon_link link;
    int status = daemon_link_open_any(&link, options, fault);

    if (status == 0)
        status = ask(limits, &link, fault);
    daemon_link_finish(&link);
    return status;
}

int job_limits_find(struct job_limits *limits, const struct options *options, struct fault *fault)
{
    bool given = options_get(options, "limit-bytes") != NULL;

    *limits = (struct job_limits){0};
    if (options_get(options, "socket") || options_get(options, "host")) {
        if (given)
            return fault_set(fault, FAULT_INVALID_PARAMS, NULL,
                             "--limit-bytes cannot be combined with --socket or --host: a daemon "
                             "has its own limit");
        return ask_daemon(limits, options, fault);
    }
    if (embedded_job_bytes(options, &limits->job_bytes, fault))
        return -1;
    limits->buffers = JOB_FILE_BUFFERS_MAX;
    limits->buffer_bytes = limits->job_bytes;
    snprintf(limits->source, sizeof(limits->source), "%s", embedded_limit_source(options));
    return 0;
}

/* Returns the number of bytes that a job maps: source and destination if they are in files. */
static uint64_t job_limits_job_bytes(const struct explained *explained)
{
    const mli_explanation *move = &explained->move;

    /* A service maps at least one element, even if all samples are padding. */
    uint64_t read = move->read.end > move->elem ? move->read.end : move->elem;
    return (explained->src.buffer ? 0 : read) + (explained->dst.buffer ? 0 : move->written.end);
}

int job_limits_check_buffers(const struct job_limits *limits, const struct job_file *file,
                             struct fault *fault)
{
    const struct job_list *list = &file->list;
    uint64_t sum = 0;

    if (job_buffers_check_link(file, limits->remote, fault))
        return -1;
    if (list->buffer_count > limits->buffers)
        return fault_set(fault, FAULT_LIMIT, "/buffers",
                         "%zu buffers given; at most %" PRIu64 " are allowed (%s)",
                         list->buffer_count, limits->buffers, limits->source);
    for (size_t i = 0; i < list->buffer_count; i++) {
        sum += list->buffers[i].bytes;
        if (sum > limits->buffer_bytes) {
            char pointer[FAULT_POINTER_MAX];

            snprintf(pointer, sizeof(pointer), "/buffers/%zu/bytes", i);
            return fault_set(fault, FAULT_LIMIT, pointer,
                             "bytes: with this buffer the file has buffers of %" PRIu64
                             " B; at most %" PRIu64 " B are allowed (%s)",
                             sum, limits->buffer_bytes, limits->source);
        }
    }
    return 0;
}

static int check_bytes(const struct job_limits *limits, const struct explained *explained,
                       struct fault *fault)
{
    uint64_t bytes = job_limits_job_bytes(explained);

    if (bytes <= limits->job_bytes)
        return 0;
    return fault_set(fault, FAULT_LIMIT, NULL,
                     "limits.job_bytes: src and dst take %" PRIu64
                     " B, but one job may map at most %" PRIu64 " B (%s)",
                     bytes, limits->job_bytes, limits->source);
}

static uint64_t size_of(const struct tensor_file *file)
{
    struct stat stat;

    if (file_format_is_in_place(file->format))
        return file->header.data_size; /* only the tensor is sent */
    return fstat(file->fd, &stat) ? (uint64_t)file->stat.st_size : (uint64_t)stat.st_size;
}

static int check_sent(const struct job_limits *limits, const struct resolved *r,
                      struct fault *fault)
{
    if (r->src_buffer || r->dst_buffer)
        return 0; /* job_limits_check_buffers() refuses buffers over ssh */
    uint64_t bytes = size_of(&r->src) + (uint64_t)r->whole.stat.st_size;

    if (limits->sent_bytes == 0 || bytes <= limits->sent_bytes)
        return 0;
    return fault_set(fault, FAULT_LIMIT, NULL,
                     "the files have %" PRIu64 " B, but one job may send at most %" PRIu64
                     " B over ssh; run the job on the board itself",
                     bytes, limits->sent_bytes);
}

int job_limits_check(const struct job_limits *limits, const struct resolved *resolved,
                     const struct explained *explained, struct fault *fault)
{
    uint32_t channels = explained->channels;

    if (limits->channels && channels > limits->channels)
        return fault_set(fault, FAULT_LIMIT, "/channels",
                         "channels: %" PRIu32 " given; the daemon has %" PRIu32
                         " (option --channels of mlid)",
                         channels, limits->channels);
    if (check_bytes(limits, explained, fault))
        return -1;
    return check_sent(limits, resolved, fault);
}

/* SPDX-License-Identifier: BSD-3-Clause */
#include "boards/link/board_link.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "cli/file/calls.h"
#include "cli/term/clock_ns.h"
#include "proto/wire/rpc.h"

static void close_link(struct board_link *link)
{
    if (!link)
        return;
    board_close(&link->board);
    free(link);
}

static struct board_link *open_link(const char *url, struct fault *fault)
{
    struct board_link *link = calloc(1, sizeof(*link));

    if (!link) {
        fault_no_memory(fault);
        return NULL;
    }
    if (board_open(&link->board, url, fault)) {
        close_link(link);
        return NULL;
    }
    return link;
}

static void follow(struct board_link *link,
                   void (*show)(void *context, uint64_t done, uint64_t total), void *context)
{
    link->board.progress.show = show;
    link->board.progress.context = context;
}

/* Buffers of job files */

static int alloc_buffer(struct board_link *link, const struct buffer_spec *spec, uint32_t *buffer,
                        struct fault *fault)
{
    const uint64_t bytes = spec->bytes;
    uint16_t number;

    if (spec->memory[0] != '\0')
        return fault_set(fault, FAULT_INVALID_PARAMS, "/memory",
                         "memory: \"%s\" given, but a board at a serial line has no named "
                         "memories; leave the member out",
                         spec->memory);
    if (board_cache_alloc(&link->cache, &link->board, bytes, &number, fault))
        return -1;
    *buffer = number;
    return board_fill(&link->board, number, 0, bytes, 0, fault);
}

static void free_buffer(struct board_link *link, uint32_t buffer)
{
    struct fault ignored;

    link->board.shielded = true; /* free the buffer even after ^C */
    (void)board_free(&link->board, (uint16_t)buffer, &ignored);
    link->board.shielded = false;
}

static int fetch_buffer(struct board_link *link, uint32_t buffer, uint64_t bytes)
{
    struct fault ignored;
    int fd = memfd_create("buffer", MFD_CLOEXEC);
    void *at = MAP_FAILED;

    if (fd >= 0 && ftruncate(fd, (off_t)bytes) == 0)
        at = mmap(NULL, (size_t)bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    const bool read = at != MAP_FAILED && board_read(&link->board, (uint16_t)buffer, 0, at,
                                                     (size_t)bytes, &ignored) == 0;
    if (at != MAP_FAILED)
        munmap(at, (size_t)bytes);
    if (read)
        return fd;
    close_open(fd);
    return -1;
}

static const char *where(const struct board_link *link)
{
    return link->board.line.where;
}

static bool is_lost(const struct board_link *link)
{
    return link->board.lost;
}

static void limits(const struct board_link *link, struct board_limits *limits)
{
    const struct serial_hello *hello = &link->board.hello;

    limits->bytes = hello->memory_bytes;
    limits->channels = hello->channels;
    limits->buffers = hello->buffers_max;
    snprintf(limits->source, sizeof(limits->source), "the memory of the board %s", hello->board);
}

/* Answers */

static const struct rpc_id no_id = {.kind = RPC_ID_INT};

static void fill_info(const struct board_link *link, struct daemon_info *info)
{
    const struct serial_hello *hello = &link->board.hello;

    *info = (struct daemon_info){.protocol = hello->version,
                                 .phase = PHASE_SERVING,
                                 .uptime_ms = hello->uptime_ns / CLOCK_NS_PER_MS,
                                 .channels = hello->channels,
                                 .clients = 1,
                                 .clients_max = 1,
                                 .jobs_per_client_max = 1,
                                 .jobs_done = link->done,
                                 .jobs_failed = link->failed,
                                 .bytes_moved = link->bytes_moved};
    memcpy(info->version, hello->library, sizeof(info->version));
    memcpy(info->engine, hello->engine, sizeof(info->engine) - 1);
    memcpy(info->profile, "", 1);
}

static int answer_info(struct board_link *link, struct jsonw *line, struct fault *fault)
{
    struct daemon_info info;

    if (board_greet(&link->board, fault))
        return -1;
    fill_info(link, &info);
    rpc_write_info(line, &no_id, &info);
    return 0;
}

static int read_channels(struct board_link *link, struct daemon_stats *stats, struct fault *fault)
{
    stats->channel_count = link->board.hello.channels;
    for (uint32_t i = 0; i < stats->channel_count; i++) {
        struct channel_stats *channel = &stats->channels[i];
        mli_mov_channel_stats found;

        if (board_stats(&link->board, i, &found, fault))
            return -1;
        *channel = (struct channel_stats){.channel = i,
                                          .submitted = found.submitted,
                                          .completed = found.completed,
                                          .failed = found.failed,
                                          .cancelled = found.cancelled,
                                          .bytes = found.bytes,
                                          .rows = found.rows,
                                          .busy_ns = found.busy_ns,
                                          .cpu_pieces = found.cpu_pieces,
                                          .cpu_bytes = found.cpu_bytes};
    }
    return 0;
}

static int answer_stats(struct board_link *link, struct jsonw *line, struct fault *fault)
{
    struct daemon_stats *stats = calloc(1, sizeof(*stats));
    int status = -1;

    if (!stats)
        return fault_no_memory(fault);
    if (board_greet(&link->board, fault) || read_channels(link, stats, fault))
        goto out;
    status = 0;
    stats->uptime_ms = link->board.hello.uptime_ns / CLOCK_NS_PER_MS;
    stats->jobs.submitted = link->done + link->failed + link->cancelled;
    stats->jobs.done = link->done;
    stats->jobs.failed = link->failed;
    stats->jobs.cancelled = link->cancelled;
    stats->bytes_moved = link->bytes_moved;
    stats->clients.now = 1;
    stats->clients.accepted = 1;
    stats->moving = link->moving;
    rpc_result_begin(line, &no_id, 0);
    daemon_stats_write_members(line, stats);
    rpc_result_end(line);
out:
    free(stats);
    return status;
}

static int answer(struct board_link *link, const char *method, struct jsonw *line,
                  struct fault *fault)
{
    if (strcmp(method, "daemon.info") == 0)
        return answer_info(link, line, fault);
    if (strcmp(method, "daemon.stats") == 0)
        return answer_stats(link, line, fault);
    if (strcmp(method, "daemon.ping") == 0) {
        if (board_greet(&link->board, fault))
            return -1;
        rpc_write_pong(line, &no_id);
        return 0;
    }
    return fault_set(fault, FAULT_METHOD_NOT_FOUND, NULL, "%s: a board does not support %s",
                     link->board.line.where, method);
}

/* mlictl info */

static void print_info(const struct board_link *link, const struct print_style *style)
{
    const struct board *board = &link->board;
    const struct serial_hello *hello = &board->hello;
    char memory[PRINT_TEXT_MAX], tiny[PRINT_TEXT_MAX], uptime[PRINT_TEXT_MAX];

    print_line(style, "board %s at %s, libmli %s, up %s", hello->board, board->line.where,
               hello->library, print_since(uptime, hello->uptime_ns / CLOCK_NS_PER_MS));
    print_line(style, "engine    %s, %s; the processor moves up to %s", hello->engine,
               hello->flags & SERIAL_HELLO_POLLED ? "polled" : "with interrupts or threads",
               print_bytes(tiny, hello->tiny));
    print_line(style, "channels  %u", hello->channels);
    print_line(style, "memory    %s for tensors from 0x%" PRIx64 ", at most %u buffers",
               print_bytes(memory, hello->memory_bytes), hello->memory_base, hello->buffers_max);
    print_line(style,
               "line      %" PRIu64 " request%s, %" PRIu64 " repeated; %" PRIu64 " B sent, %" PRIu64
               " B received",
               board->calls, print_s(board->calls), board->retries, board->bytes_sent,
               board->bytes_received);
}

static void write_info(const struct board_link *link, struct jsonw *w)
{
    const struct board *board = &link->board;
    const struct serial_hello *hello = &board->hello;

    jsonw_string(w, "line", board->line.where);
    jsonw_object_begin(w, "board");
    jsonw_string(w, "name", hello->board);
    jsonw_string(w, "library", hello->library);
    jsonw_uint(w, "protocol", hello->version);
    jsonw_uint(w, "uptime_ms", hello->uptime_ns / CLOCK_NS_PER_MS);
    jsonw_string(w, "engine", hello->engine);
    jsonw_bool(w, "polled", hello->flags & SERIAL_HELLO_POLLED);
    jsonw_uint(w, "tiny", hello->tiny);
    jsonw_uint(w, "channels", hello->channels);
    jsonw_uint(w, "memory_base", hello->memory_base);
    jsonw_uint(w, "memory_bytes", hello->memory_bytes);
    jsonw_uint(w, "buffers_max", hello->buffers_max);
    jsonw_uint(w, "requests", board->calls);
    jsonw_uint(w, "repeated", board->retries);
    jsonw_object_end(w);
}

/* Refusals */

static int refuse(const char *url, enum board_misuse misuse, struct fault *fault)
{
    switch (misuse) {
    case BOARD_HAS_NO_SOCKET:
        return fault_set(fault, FAULT_INVALID_PARAMS, NULL,
                         "--socket cannot be combined with --host %.128s: a board has no socket",
                         url);
    case BOARD_FETCHES_NOTHING:
        return fault_set(fault, FAULT_INVALID_PARAMS, NULL,
                         "--detach cannot be combined with a board: no daemon would fetch the "
                         "output");
    case BOARD_IS_NO_DAEMON:
        break;
    }
    return fault_set(fault, FAULT_INVALID_PARAMS, NULL,
                     "host %.128s: this command needs a daemon; submit, run, batch, selftest, "
                     "validate, ping, info and stats take a board",
                     url);
}

static int check_run(const struct options *options, struct fault *fault)
{
    static const char *const of_service[] = {"engine", "channels", "limit-bytes", "profile",
                                             "tuning"};
    const char *url = options_get(options, "host");

    if (!is_board_url(url))
        return fault_set(fault, FAULT_INVALID_PARAMS, NULL,
                         "--host %.128s: qemu:BOARD or serial:PATH is needed; `mlictl submit` runs "
                         "jobs on a daemon",
                         url);
    for (size_t i = 0; i < sizeof(of_service) / sizeof(of_service[0]); i++) {
        if (options_get(options, of_service[i]))
            return fault_set(fault, FAULT_INVALID_PARAMS, NULL,
                             "--%s cannot be combined with --host: give channels=N and "
                             "engine=SPEC in the URL, as in qemu:zynq,channels=2",
                             of_service[i]);
    }
    return 0;
}

const struct board_calls board_link_calls = {
    .agent = "the agent",
    .open = open_link,
    .close = close_link,
    .where = where,
    .is_lost = is_lost,
    .limits = limits,
    .follow = follow,
    .run = board_link_run,
    .alloc = alloc_buffer,
    .free = free_buffer,
    .fetch = fetch_buffer,
    .answer = answer,
    .print_info = print_info,
    .write_info = write_info,
    .refuse = refuse,
    .check_run = check_run,
    .selftest = board_selftest,
};

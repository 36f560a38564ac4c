/* SPDX-License-Identifier: BSD-3-Clause */
#include "boards/link/board_link.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "cli/term/clock_ns.h"
#include "proto/wire/rpc.h"

struct board_link *board_link_open(const char *url, struct fault *fault)
{
    struct board_link *link = calloc(1, sizeof(*link));

    if (!link) {
        fault_no_memory(fault);
        return NULL;
    }
    link->opened_ns = clock_ns();
    if (board_open(&link->board, url, fault)) {
        board_link_close(link);
        return NULL;
    }
    return link;
}

void board_link_close(struct board_link *link)
{
    if (!link)
        return;
    board_close(&link->board);
    free(link);
}

void board_link_follow(struct board_link *link,
                       void (*show)(void *context, uint64_t done, uint64_t total), void *context)
{
    link->board.progress.show = show;
    link->board.progress.context = context;
}

/* Buffers of job files */

int board_link_alloc(struct board_link *link, uint64_t bytes, uint32_t *buffer, struct fault *fault)
{
    uint16_t number;

    if (board_cache_alloc(&link->cache, &link->board, bytes, &number, fault))
        return -1;
    *buffer = number;
    return board_fill(&link->board, number, 0, bytes, 0, fault);
}

void board_link_free(struct board_link *link, uint32_t buffer)
{
    struct fault ignored;

    link->board.shielded = true; /* after ^C, too */
    (void)board_free(&link->board, (uint16_t)buffer, &ignored);
    link->board.shielded = false;
}

int board_link_fetch(struct board_link *link, uint32_t buffer, uint64_t bytes)
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
    if (fd >= 0)
        close(fd);
    return -1;
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

int board_link_answer(struct board_link *link, const char *method, struct jsonw *line,
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
    return fault_set(fault, FAULT_METHOD_NOT_FOUND, NULL, "%s: a board does not answer %s",
                     link->board.line.where, method);
}

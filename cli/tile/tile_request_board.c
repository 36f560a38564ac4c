/* SPDX-License-Identifier: BSD-3-Clause */
#include "cli/tile/tile_request_parts.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "target/profile/profile_load.h"
#include "target/tile/tile_transfer.h"

enum {
    ALIGNMENT_DEFAULT = 16, /* bytes, without a profile */
    BURST_DEFAULT = 256,
    SLACK_DEFAULT = 5,    /* percent */
    ELEMENT_ALIGNMENT = 4 /* addresses of mlid's buffers are multiples */
};

/* Reads a size such as 65536, 256KiB or 1MiB. */
static int read_budget(const struct tile_request *r, uint64_t *bytes)
{
    static const struct {
        const char *word;
        unsigned shift;
    } units[] = {{"", 0},   {"B", 0},    {"KiB", 10}, {"K", 10},   {"MiB", 20},
                 {"M", 20}, {"GiB", 30}, {"G", 30},   {"TiB", 40}, {"T", 40}};
    const char *text = tile_request_given(r, "budget");
    char *end;
    unsigned long long value;

    errno = 0;
    value = strtoull(text, &end, 10);
    for (size_t i = 0; i < sizeof units / sizeof units[0] && *text >= '0' && *text <= '9'; i++) {
        if (strcmp(end, units[i].word) != 0 || errno || value == 0 ||
            value > UINT64_C(1) << (53 - units[i].shift))
            continue;
        *bytes = (uint64_t)value << units[i].shift;
        return 0;
    }
    print_error("--budget %s: a size from 1 to 2^53 B is needed, as in 65536 or 256KiB", text);
    return -1;
}

/* Reads cycles with up to six digits after the point, as "0.125". Keeps *cost without the option.
 */
static int read_cycles(const struct tile_request *r, const char *option, const char *each,
                       profile_cost *cost)
{
    const char *text = tile_request_given(r, option), *rest = text;
    profile_cost unit = PROFILE_CYCLE;

    if (!text)
        return 0;
    *cost = 0;
    for (; *rest >= '0' && *rest <= '9' && *cost < UINT64_C(1) << 40; rest++)
        *cost = *cost * 10 + (profile_cost)(*rest - '0');
    *cost *= PROFILE_CYCLE;
    if (rest > text && *rest == '.') {
        for (rest++; *rest >= '0' && *rest <= '9' && unit > 1; rest++) {
            unit /= 10;
            *cost += (profile_cost)(*rest - '0') * unit;
        }
    }
    if (rest > text && *rest == '\0')
        return 0;
    print_error("--%s %s: cycles for each %s are needed, as in 4 or 0.125", option, text, each);
    return -1;
}

/* Lists the memories that the DMA controller reaches, for messages. */
static void list_memories(const struct target_profile *profile, char *out, size_t size)
{
    size_t length = 0;

    *out = '\0';
    for (uint32_t i = 0; i < profile->memory_count && length < size; i++) {
        const struct profile_memory *memory = &profile->memories[i];

        if (memory->reached_by & PROFILE_DMA)
            length += (size_t)snprintf(out + length, size - length, "%s%s (%" PRIu64 " B)",
                                       length > 0 ? ", " : "", memory->name, memory->size);
    }
}

/* Finds the memory for the buffers: --memory, else the largest vector memory of the profile. */
static int find_memory(struct tile_request *r)
{
    const char *name = tile_request_given(r, "memory");
    char known[256];

    for (uint32_t i = 0; i < r->profile.memory_count; i++) {
        const struct profile_memory *memory = &r->profile.memories[i];

        if (name ? strcmp(memory->name, name) == 0
                 : memory->vector && (!r->inside || memory->size > r->inside->size))
            r->inside = memory;
    }
    if (r->inside && r->inside->reached_by & PROFILE_DMA)
        return 0;
    list_memories(&r->profile, known, sizeof known);
    if (name)
        print_error("--memory %s: profile %s has the memories %s for DMA channels", name,
                    r->profile.name, known);
    else
        print_error("--memory is needed: profile %s has no vector memory; DMA channels reach %s",
                    r->profile.name, known);
    return -1;
}

int tile_request_board(struct tile_request *r)
{
    const struct print_style style = options_style(r->options);
    const char *name = tile_request_given(r, "profile");
    static const char *const needs_board[] = {"memory", "channels", "timeline", "trace"};
    struct fault fault;

    for (size_t i = 0; !name && i < sizeof needs_board / sizeof needs_board[0]; i++) {
        if (tile_request_given(r, needs_board[i])) {
            print_error("--%s requires --profile", needs_board[i]);
            return -1;
        }
    }
    if (!name)
        return 0;
    if (profile_load(&r->profile, name, &fault) < 0) {
        (void)print_failure(&style, profile_is_path(name) ? name : NULL, &fault);
        return -1;
    }
    r->has_board = true;
    return find_memory(r);
}

/* Reads the number of DMA channels, which the board limits. */
static int read_channels(const struct tile_request *r, uint64_t *channels)
{
    *channels = r->has_board ? r->profile.dma.channels : 1;
    if (options_uint(r->options, "channels", 1, MLI_MOV_MAX_CHANNELS, channels))
        return -1;
    if (!r->has_board || *channels <= r->profile.dma.channels)
        return 0;
    print_error("--channels %" PRIu64 ": the board of profile %s has %" PRIu32 " DMA channel%s",
                *channels, r->profile.name, r->profile.dma.channels,
                print_s(r->profile.dma.channels));
    return -1;
}

int tile_request_objective(struct tile_request *r, enum tile_kind kind)
{
    uint64_t slack = SLACK_DEFAULT, channels;
    size_t word = r->has_board ? TILE_LEAST_TIME : TILE_LEAST_TRAFFIC;

    if (options_choice(r->options, "least", &word) || read_channels(r, &channels) ||
        options_uint(r->options, "slack", 0, 1000, &slack))
        return -1;
    if (word == TILE_LEAST_TIME && !r->has_board) {
        print_error("--least time requires --profile: the time is that of a board");
        return -1;
    }
    if (r->has_board)
        r->estimate = tile_estimate_of(&r->profile, tile_board_outside(&r->profile, r->inside));
    else
        r->estimate = (struct tile_estimate){.start = 300 * PROFILE_CYCLE,
                                             .row = 4 * PROFILE_CYCLE,
                                             .burst = 8 * PROFILE_CYCLE,
                                             .beat = PROFILE_CYCLE,
                                             .bus_bytes = ALIGNMENT_DEFAULT,
                                             .burst_bytes = BURST_DEFAULT,
                                             .loops = 1};
    if (kind == TILE_MOVE)
        r->estimate.call = 0; /* a move has no kernel */
    if (read_cycles(r, "call", "call of the kernel", &r->estimate.call) ||
        read_cycles(r, "compute", "element of the output", &r->estimate.compute))
        return -1;
    r->objective = (enum tile_objective)word;
    r->estimate.slack = (uint32_t)slack;
    r->estimate.channels = (uint32_t)channels;
    return 0;
}

int tile_request_memory(struct tile_request *r)
{
    uint64_t buffers = 2;

    if (options_uint(r->options, "buffers", 1, TILE_BUFFERS_MAX, &buffers))
        return -1;
    r->memory = (struct tile_memory){.alignment = ALIGNMENT_DEFAULT,
                                     .buffers = (uint32_t)buffers,
                                     .hold = tile_request_given(r, "no-hold") == NULL};
    if (r->has_board) {
        r->memory.bytes = r->inside->size;
        r->memory.base = r->inside->base;
        r->memory.alignment = ELEMENT_ALIGNMENT;
        if (r->inside->alignment > r->memory.alignment)
            r->memory.alignment = r->inside->alignment;
        if (r->profile.dma.bus_bytes > r->memory.alignment)
            r->memory.alignment = r->profile.dma.bus_bytes;
    } else if (!tile_request_given(r, "budget")) {
        print_error("--budget or --profile is needed: the memory for the buffers of the tiles");
        return -1;
    }
    if (tile_request_given(r, "budget") && read_budget(r, &r->memory.bytes))
        return -1;
    if (r->has_board && r->memory.bytes > r->inside->size) {
        print_error("--budget: %" PRIu64 " B given, but %s of profile %s has %" PRIu64 " B",
                    r->memory.bytes, r->inside->name, r->profile.name, r->inside->size);
        return -1;
    }
    return 0;
}

void tile_request_finish_board(struct tile_request *r)
{
    if (!r->has_board)
        return;
    r->board = (struct tile_board){.profile = &r->profile,
                                   .inside = r->inside,
                                   .outside = tile_board_outside(&r->profile, r->inside),
                                   .channels = r->estimate.channels,
                                   .call = r->estimate.call,
                                   .compute = r->estimate.compute};
}

/* SPDX-License-Identifier: BSD-3-Clause */
#include "history.h"

#include <stdio.h>
#include <stdlib.h>

#include "seam.h"

enum { CAPACITY_MIN = 64, QUANT_BYTES_MAX = 8 * 1024 * 1024 };

void history_init(struct history *history, struct registry *registry, uint32_t limit)
{
    *history = (struct history){.registry = registry, .limit = limit};
}

void record_free(struct record *record)
{
    job_result_finish(&record->result);
    free(record->fault);
    free((char *)(uintptr_t)record->entry.name);
    free(record);
}

static uint64_t quant_bytes(const struct record *record)
{
    return (uint64_t)record->result.dst.quant.count *
           (2 * sizeof(*record->result.dst.quant.scale) + 1);
}

static void forget_oldest(struct history *history)
{
    struct record *record = history->ring[history->first];

    history->first = (history->first + 1) % history->capacity;
    history->count--;
    history->quant_bytes -= quant_bytes(record);
    registry_remove(history->registry, &record->entry);
    record_free(record);
}

void history_finish(struct history *history)
{
    while (history->count > 0)
        forget_oldest(history);
    free(history->ring);
    *history = (struct history){.registry = history->registry};
}

void history_set_limit(struct history *history, uint32_t limit)
{
    history->limit = limit;
    while (history->count > limit)
        forget_oldest(history);
}

const struct record *history_at(const struct history *history, uint32_t i)
{
    return history->ring[(history->first + i) % history->capacity];
}

/* Doubles the ring; false where memory is short. */
static bool grow(struct history *history)
{
    const uint32_t capacity = history->capacity ? 2 * history->capacity : CAPACITY_MIN;
    struct record **ring = seam.calloc(capacity, sizeof(struct record *));

    if (!ring)
        return false;
    for (uint32_t i = 0; i < history->count; i++)
        ring[i] = history->ring[(history->first + i) % history->capacity];
    free(history->ring);
    history->ring = ring;
    history->capacity = capacity;
    history->first = 0;
    return true;
}

void history_add(struct history *history, struct record *record)
{
    while (history->count > 0 && (history->count >= history->limit ||
                                  history->quant_bytes + quant_bytes(record) > QUANT_BYTES_MAX))
        forget_oldest(history);
    if (history->limit == 0 || quant_bytes(record) > QUANT_BYTES_MAX ||
        (history->count == history->capacity && !grow(history))) {
        record_free(record);
        return;
    }
    record->entry.ended = true;
    history->ring[(history->first + history->count++) % history->capacity] = record;
    history->quant_bytes += quant_bytes(record);
    registry_add(history->registry, &record->entry);
}

void record_info(const struct record *record, struct job_info *info)
{
    *info = (struct job_info){
        .job = record->entry.number,
        .state = record->state,
        .client = record->entry.client,
        .uid = record->uid,
        .priority = record->priority,
        .channels = record->channels,
        .first_channel = record->first_channel,
        .bytes = record->bytes,
        .bytes_done = record->bytes_done,
        .detached = record->detached,
        .ns_queued = record->ns_queued,
        .ns_moving = record->ns_moving,
        .error = record->fault,
    };
    snprintf(info->name, sizeof info->name, "%s", record->entry.name ? record->entry.name : "");
}

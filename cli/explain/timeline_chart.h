/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Draws timelines as SVG, from plain data: boxes on lanes (the channels of a board, the core) over
 * time, and below them the bytes in use of each memory. A chart has panels, one below the other,
 * each with its own clock: the model's, and a measured one.
 *
 *     struct timeline_slot[]    a box: lanes, start, end, kind (its colour), name, predecessors
 *     struct timeline_use[]     bytes of a memory that are in use for a time
 *          -> timeline_chart.c      panels, each with lanes (boxes, groups, arrows) and memories
 *
 * A chart is legible from 1 to some 1000 slots. Slots that are narrower than a few pixels become
 * groups: bars, which show in colours the share of time of each kind. Arrows of dependencies are
 * drawn if there are few.
 *
 * To add a kind of slot, start here: add it to the table below.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "cli/explain/svgw.h"
#include "proto/json/fault.h"
#include "proto/json/jsonw.h"

/* X(name, word in the legend, colour, colour of the name in the box) */
#define TIMELINE_KIND_TABLE(X)                                                                     \
    X(MOVE, "move", "#8ea9c8", "#141c2e")                                                          \
    X(LOAD, "load", "#3f7fbf", "#ffffff")                                                          \
    X(STORE, "store", "#d98032", "#ffffff")                                                        \
    X(PERMUTE, "permute", "#7a5ea8", "#ffffff")                                                    \
    X(KERNEL, "kernel", "#4c9a5f", "#ffffff")                                                      \
    X(OTHER, "other job", "#c3c9d2", "#141c2e")

enum timeline_kind {
#define TIMELINE_KIND_ENUM(name, word, fill, ink) TIMELINE_##name,
    TIMELINE_KIND_TABLE(TIMELINE_KIND_ENUM)
#undef TIMELINE_KIND_ENUM
        TIMELINE_KINDS
};

/* Strings and arrays of all structs are borrowed. */
struct timeline_slot {
    uint64_t start_ns, end_ns;
    uint32_t lane;  /* first lane, from 0 */
    uint32_t lanes; /* number of neighbouring lanes, at least 1 */
    enum timeline_kind kind;
    const char *name;    /* or null */
    const size_t *after; /* indices of the slots that this slot waits for */
    size_t after_count;
    uint64_t bytes; /* bytes that the slot writes, for traces */
};

/* Bytes of a memory that are in use from `start_ns` until `end_ns`. */
struct timeline_use {
    uint32_t memory; /* index of the memory */
    uint64_t start_ns, end_ns;
    uint64_t bytes;
};

struct timeline_memory {
    const char *name;
    uint64_t size; /* capacity in bytes */
};

struct timeline_panel {
    const char *title; /* such as "model of vpx5-nsim" */
    uint32_t lane_count;
    bool has_core; /* the last lane is the core; the others are channels */
    const struct timeline_slot *slots;
    size_t slot_count;
    const struct timeline_memory *memories; /* memories; only memories with uses are drawn */
    uint32_t memory_count;
    const struct timeline_use *uses;
    size_t use_count;
};

enum { TIMELINE_PANELS_MAX = 4 };

struct timeline_chart {
    const char *title, *subtitle; /* the subtitle may be null */
    struct timeline_panel panel[TIMELINE_PANELS_MAX];
    uint32_t panels;
};

/**
 * Writes the drawing. Out of memory: sets w->failed. All panels have one scale, so that lengths
 * can be compared; a panel that would be shorter than an eighth of the width gets a scale of its
 * own, which its heading says.
 */
void timeline_chart(struct textw *w, const struct timeline_chart *chart);

/**
 * Writes the drawing to a file, atomically. Replaces an existing file only if it is empty or begins
 * like XML. Returns 0, or -1 with the fault.
 */
int timeline_chart_save(const struct timeline_chart *chart, const char *path, struct fault *fault);

/** Sets *peak to the largest number of bytes of a memory that are in use at one time. Returns false
 *  if out of memory. */
bool timeline_peak(const struct timeline_panel *panel, uint32_t memory, uint64_t *peak);

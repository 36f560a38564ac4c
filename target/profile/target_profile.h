/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A target profile describes a board: its memories, its DMA controller, the rules for addresses,
 * and what a transfer costs. Files in conf/profiles have the text form; docs/profiles.md explains
 * it.
 *
 *     text -> profile_read() -> struct target_profile -> the cost model, lists of descriptors,
 *             (proto/json)      (plain data)             buffers in board memories, libmli's checks
 *
 * Every figure has a source: a document, or "assumed" if no public document has it. Times are in
 * cycles of the profile's clock.
 *
 * To add a figure, start here: add a member to a struct below, a line to its table in
 * profile_read.c, which reader and writer use, the same member to conf/profile.schema.json and
 * docs/profiles.md, and a value with a source to each file in conf/profiles.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "mli_engine.h"
#include "proto/json/json.h"
#include "target/profile/measured_costs.h"

enum {
    PROFILE_NAME_MAX = 32,     /* maximum bytes of a name, zero byte included */
    PROFILE_TITLE_MAX = 128,   /* maximum bytes of a title, zero byte included */
    PROFILE_SOURCE_MAX = 512,  /* maximum bytes of the text that cites a source, with zero byte */
    PROFILE_MEMORIES_MAX = 16, /* maximum number of memories of a profile */
    PROFILE_SOURCES_MAX = 64,  /* maximum number of sources of a profile */
    PROFILE_FILE_MAX = 512 * 1024 /* maximum bytes of a file */
};

/* Bits of profile_memory.reached_by: the parts of the board that can access the memory. */
enum { PROFILE_CORE = 1, PROFILE_DMA = 2, PROFILE_HOST = 4 };
extern const char *const profile_reach_words[]; /* word i names bit i; null ends the array */

struct profile_memory {
    char name[PROFILE_NAME_MAX];
    uint64_t base, size; /* the memory is at addresses base .. base + size - 1 of the board */
    uint32_t banks;      /* number of banks; 1: no banks */
    uint32_t bank_bytes; /* consecutive bytes in one bank (interleaved); 0 with one bank */
    uint32_t alignment;  /* alignment of buffers, a power of two */
    uint32_t reached_by; /* PROFILE_CORE, PROFILE_DMA and PROFILE_HOST bits */
    bool vector; /* true: operands of kernels must be in a vector memory if the profile is strict */
    profile_cost latency; /* cycles until the first bytes of a burst */
};

/* Controllers with known descriptors (target/controller). */
enum profile_controller {
    PROFILE_BOXES, /* no known controller: descriptors are copy boxes (mli_plan.h) */
    PROFILE_ZDMA,
    PROFILE_BCM2835,
    PROFILE_PDMA,
    PROFILE_PL330,
    PROFILE_HEXAGON,
    PROFILE_AIE
};
extern const char *const profile_controller_words[]; /* in the order of the enum; ends with null */
extern const uint32_t profile_controller_loops[]; /* maximum loops around a run in a descriptor */

/* The DMA controller. A limit of 0 means no limit. */
struct profile_dma {
    enum profile_controller controller;
    uint32_t channels;
    uint32_t loops;       /* number of loops around a run that one descriptor can express */
    uint64_t count_max;   /* maximum iterations of one loop */
    uint64_t run_max;     /* maximum bytes of one run */
    uint64_t step_max;    /* maximum bytes of one step, on either side */
    uint64_t bytes_max;   /* maximum bytes of one descriptor */
    uint32_t granularity; /* bytes: sizes and steps of a descriptor are multiples of this number */
    uint32_t alignment;   /* bytes: addresses of a descriptor are multiples of this number */
    uint32_t address_bits;
    uint32_t bus_bytes;   /* bytes of one beat */
    uint32_t burst_bytes; /* bytes of the longest burst */
    bool fills;           /* true: the controller writes zeros without reading them from memory */
};

/* The figures of the cost model; docs/profiles.md has the formula. */
struct profile_costs {
    profile_cost start;          /* cost from the call to the start of the first descriptor */
    profile_cost descriptor;     /* cost of each descriptor, besides its data */
    profile_cost row;            /* cost of each row (contiguous run) */
    profile_cost burst;          /* cost of each burst, on either side, besides its beats */
    profile_cost beat;           /* cost of each beat, on either side */
    profile_cost finish;         /* cost from the last byte until the program sees the completion */
    profile_cost conflict;       /* cost of each access to a bank that is busy */
    profile_cost core_call;      /* cost of a memcpy by the core, once for each call */
    profile_cost core_beat;      /* cost of a memcpy by the core, for each bus_bytes bytes */
    profile_cost kernel_vector;  /* cost of each vector that a permute kernel loads and stores */
    profile_cost kernel_element; /* cost of each element that a permute kernel gathers */
};

/* The members of struct profile_costs with their names in the file, for readers and writers. */
struct profile_cost_member {
    const char *key;  /* name in the file; null after the last entry */
    size_t at;        /* offset in struct profile_costs */
    const char *what; /* what the figure means, for messages */
};
extern const struct profile_cost_member profile_cost_members[];

/* The source of the figures at and below a JSON pointer of the file. */
struct profile_source {
    char pointer[FAULT_POINTER_MAX];
    char text[PROFILE_SOURCE_MAX]; /* text; begins with "assumed" if no public document has the
                                      figures */
};

struct target_profile {
    char name[PROFILE_NAME_MAX];
    char title[PROFILE_TITLE_MAX];
    uint64_t clock_hz;
    uint32_t vector_bits;      /* width of a vector; 0: no vector unit is known */
    uint32_t guard_bit_option; /* Xvec_guard_bit_option: 0, 1 or 2 */
    bool strict;               /* true: libmli checks addresses as the chip requires */
    uint32_t memory_count, source_count;
    struct profile_memory memories[PROFILE_MEMORIES_MAX];
    struct profile_dma dma;
    struct profile_costs costs;
    struct measured_costs measured; /* costs of a processor that moves the data */
    struct profile_source sources[PROFILE_SOURCES_MAX];
};

/* The members of the structures, for the reader and the writer. */
extern const struct member profile_numbers[], profile_dma_members[], profile_memory_members[];

/**
 * Reads the text of a profile and checks it: no memories overlap, limits are possible, every figure
 * has a source. Returns 0, or -1 with *fault filled (JSON pointer, sentence) and *profile
 * undefined.
 */
int profile_read(struct target_profile *profile, const char *text, size_t length,
                 struct fault *fault);

/** Writes the profile as the member `key`, in the form that profile_read() accepts. */
void profile_write(struct jsonw *w, const char *key, const struct target_profile *profile);

enum { PROFILE_DIGEST_SIZE = 17 }; /* 16 hexadecimal digits and the zero byte */
/**
 * Writes a digest of all members, sources included: equal for profiles with equal files, apart from
 * spaces and the order of members. Empty if out of memory. Returns `out`.
 */
const char *profile_digest(char out[PROFILE_DIGEST_SIZE], const struct target_profile *profile);

/** Return and set a cost of the table above. */
profile_cost profile_cost_of(const struct profile_costs *costs,
                             const struct profile_cost_member *member);
void profile_cost_set(struct profile_costs *costs, const struct profile_cost_member *member,
                      profile_cost cost);

/** Returns the memory with that name, or null. */
const struct profile_memory *profile_memory_named(const struct target_profile *profile,
                                                  const char *name);

/** Returns the memory that has the board's address, or null. */
const struct profile_memory *profile_memory_at(const struct target_profile *profile,
                                               uint64_t address);

/** Returns the largest memory that the DMA controller reaches, except `but`, or null. */
const struct profile_memory *profile_dma_memory(const struct target_profile *profile,
                                                const struct profile_memory *but);

/**
 * Returns the source of the figure at a JSON pointer: the source with the longest pointer that
 * equals this pointer or a parent of it. Returns null if no source covers the figure.
 */
const struct profile_source *profile_source_of(const struct target_profile *profile,
                                               const char *pointer);

/** Returns whether the source says that its figures are assumed. */
bool profile_is_assumed(const struct profile_source *source);

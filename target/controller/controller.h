/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The descriptors that a DMA controller executes for a move, in the controller's own form. Nothing
 * here accesses tensor data: addresses are board addresses.
 *
 *     plan (mli_plan.h) -> descriptor_list.c  separates the bytes that the core must move
 *             |
 *             v
 *     a box             -> box_cutter.c       cuts it into few pieces within the limits
 *             |
 *             v
 *     a legal piece     -> controller_NAME.c  encodes it: fields by name, and the bytes in memory
 *
 * To add a controller, start here: write controller_NAME.c with a struct controller, list it in
 * encoder.h and descriptor_list.c, add its word to profile_controller_words and
 * conf/profile.schema.json, a profile to conf/profiles with a source for each limit, and a decoder
 * to tests/target that is written from the controller's manual, not from the encoder.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "mli_engine.h"
#include "target/controller/box_cutter.h"
#include "target/profile/target_profile.h"

enum {
    CONTROLLER_FIELDS_MAX = 32, /* maximum fields of one descriptor */
    CONTROLLER_FIELD_NAME_MAX = 32,
    CONTROLLER_BYTES_MAX = 256 /* maximum bytes of one descriptor in memory */
};

/* A field, register or instruction, by the name that the controller's manual gives it. */
struct controller_field {
    char name[CONTROLLER_FIELD_NAME_MAX];
    uint64_t value;
    bool hex; /* true: an address or bits, which people read as hexadecimal */
};

/*
 * A descriptor of the controller, or the part of its program or the register writes that move one
 * piece.
 */
struct controller_descriptor {
    uint64_t address; /* address of the first byte in memory */
    size_t field_count;
    struct controller_field field[CONTROLLER_FIELDS_MAX];
    size_t size;
    uint8_t bytes[CONTROLLER_BYTES_MAX]; /* the bytes of the descriptor in the board's memory */
};

/* Returns whether the piece writes zeros. (The src of a copy from address 0 is null, too.) */
static inline bool controller_fills(const struct mli_descriptor *piece)
{
    return piece->index > 0;
}

/* The input of an encoder, in addition to the piece. */
struct controller_place {
    const struct target_profile *profile;
    uint64_t address; /* address of the descriptor */
    uint64_t next;    /* address of the next descriptor; 0: this descriptor is the last */
    /*
     * Address of at least CONTROLLER_ZEROS_SIZE zero bytes: the source for fills if the profile has
     * dma.fills false or the controller reads_zeros. Runs of fills are then at most
     * CONTROLLER_ZEROS_SIZE bytes long, and all rows read one block of zeros (a step of 0).
     */
    uint64_t zeros;
};
enum { CONTROLLER_ZEROS_SIZE = 4096 };

struct controller {
    enum profile_controller kind;
    const char *title;             /* name of the controller for people */
    uint32_t descriptor_alignment; /* alignment of descriptors in memory, in bytes */
    size_t descriptor_bytes;       /* bytes of every descriptor; 0: size() returns them */
    /* Limits of a descriptor, as in struct mli_channel_caps, in addition to the profile's limits;
       0: no limit. The number of loops is in profile_controller_loops. */
    size_t count_max, run_max, step_max, bytes_max;
    bool reads_zeros; /* copies zeros from memory for every fill, even if dma.fills is true */
    /**
     * Maximum bytes of a run in a descriptor without loops, if that may be longer than in a
     * descriptor with loops (a linear and a 2-D mode). 0, or a profile with dma.loops 0: the same
     * limit for both.
     */
    uint64_t linear_run_max;
    /**
     * Maximum bytes from the end of a run to the next run along a loop, or back: for controllers
     * that add a stride at the end of each run, not at its start. 0: only dma.step_max limits
     * steps.
     */
    uint64_t gap_max;
    /* False: the source rows of a descriptor may overlap. True: they may not, so that a fill has at
       most the bytes of the block of zeros. */
    bool distinct_rows;
    /**
     * Returns the reason why the controller cannot move a piece that is within the limits (a
     * sentence without a full stop), or null if it can. If the function is null, the controller
     * can move every piece within the limits.
     */
    const char *(*refuses)(const struct target_profile *profile,
                           const struct mli_descriptor *piece);
    /**
     * Returns the number of bytes that encode() will produce for the piece. Used if
     * descriptor_bytes is 0.
     */
    size_t (*size)(const struct target_profile *profile, const struct mli_descriptor *piece);
    /**
     * Encodes a piece. piece->box has board addresses instead of pointers. Its loops are in any
     * order; in a fill (controller_fills()) src is null and source steps are 0.
     */
    void (*encode)(const struct controller_place *place, const struct mli_descriptor *piece,
                   struct controller_descriptor *out);
};

/** Returns the limits of copies or fills: of the profile, and of the controller unless it is null.
 */
struct mli_channel_caps controller_caps(const struct target_profile *profile,
                                        const struct controller *controller, bool fill);

/** Returns the controller of a profile; null for PROFILE_BOXES. */
const struct controller *controller_of(const struct target_profile *profile);

/* The part of the board that moves a piece. */
enum mover { MOVER_CONTROLLER, MOVER_CORE };

/* One entry of the list that executes a plan. Entries are disjoint, so their order is free. */
struct list_entry {
    enum mover mover;
    const char *why; /* MOVER_CORE: the reason why the controller cannot move the piece */
    struct mli_descriptor piece; /* addresses on the board; a piece of the core may have any size */
    /* Members for MOVER_CONTROLLER, if the profile's controller is known: */
    struct controller_descriptor descriptor;
};

/* The list of entries that execute a plan on a board. Plain data; list_init() sets it up. */
struct descriptor_list {
    const struct target_profile *profile;
    const struct controller *controller; /* null: unknown controller, no descriptors are encoded */
    const struct mli_plan *plan;
    uint64_t address, zeros; /* addresses of the first descriptor and the block of zeros */
    /* Private members, for the progress: */
    uint32_t index;                 /* index of the next descriptor of the plan */
    const char *why;                /* the reason why the core moves `core` */
    uint32_t core_next, core_count; /* index of the next box in `core`, and number of boxes there */
    struct mli_descriptor core[2];  /* what the core moves: a whole box, or its heads and tails */
    bool cutting;                   /* true: `cutter` may have more pieces */
    struct box_cutter cutter;       /* cuts the rest of the box */
};

/**
 * Begins the list of a plan whose pointers are addresses of the board. `address` is that of the
 * first descriptor, `zeros` that of CONTROLLER_ZEROS_SIZE zero bytes (0: the board has no zeros,
 * and the core does fills that the controller cannot do by itself). The list keeps all pointers.
 */
void list_init(struct descriptor_list *list, const struct target_profile *profile,
               const struct mli_plan *plan, uint64_t address, uint64_t zeros);

/** Sets *entry to the next entry; false at the end. */
bool list_next(struct descriptor_list *list, struct list_entry *entry);

/**
 * Returns the first address behind the descriptors of a list that list_init() has set up. Computes
 * the sizes of the first LIST_WALKED descriptors, and reserves the largest size of a descriptor for
 * each of the others.
 */
uint64_t list_end(const struct descriptor_list *list);
enum { LIST_WALKED = 65536 };

/* The number of descriptors of a plan, and its lower bound (docs/profiles.md has the proof). */
struct list_count {
    uint64_t descriptors; /* number of descriptors of the controller */
    uint64_t fills;       /* number of these descriptors that write zeros and read nothing */
    uint64_t core;        /* number of pieces that the core moves */
    uint64_t core_bytes;
    uint64_t least; /* lower bound of `descriptors` for every list that moves the same bytes */
};

/**
 * Counts the entries of a plan without encoding them. Assumes that a block of zeros is in memory.
 * The time does not grow with the number of entries, unless the controller refuses pieces that are
 * within its limits: then the pieces are made one by one.
 */
struct list_count list_count(const struct target_profile *profile, const struct mli_plan *plan);

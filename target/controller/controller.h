/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The descriptors that a DMA controller executes for a move, in the controller's own form. Nothing
 * here accesses tensor data: addresses are those of the board.
 *
 *     plan (mli_plan.h) -> descriptor_list.c  orders loops, peels what the controller cannot move,
 *             |                               cuts the rest with mli_legalise_next()
 *             v
 *     a legal piece     -> controller_NAME.c  encodes it: fields by name, and the bytes in memory
 *
 * To add a controller, start here: write controller_NAME.c with a struct controller, list it in
 * controller.c, add its word to profile_controller_words and conf/profile.schema.json, a profile to
 * conf/profiles with a source for each limit, and a decoder to tests/target that is written from
 * the controller's manual, not from the encoder.
 */
#ifndef TARGET_CONTROLLER_H
#define TARGET_CONTROLLER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "mli_engine.h"
#include "target/profile/target_profile.h"

enum {
    CONTROLLER_FIELDS_MAX = 32, /* fields of one descriptor */
    CONTROLLER_FIELD_NAME_MAX = 32,
    CONTROLLER_BYTES_MAX = 256 /* bytes of one descriptor in memory */
};

/* A field, register or instruction, by the name that the controller's manual gives it. */
struct controller_field {
    char name[CONTROLLER_FIELD_NAME_MAX];
    uint64_t value;
    bool hex; /* an address or bits: people read it as hexadecimal */
};

/*
 * A descriptor of the controller, or the part of its program or the register writes that move one
 * piece.
 */
struct controller_descriptor {
    uint64_t address; /* of the first byte in memory */
    size_t field_count;
    struct controller_field field[CONTROLLER_FIELDS_MAX];
    size_t size;
    uint8_t bytes[CONTROLLER_BYTES_MAX]; /* as in the memory of the board */
};

/* What an encoder gets besides the piece. */
struct controller_place {
    const struct target_profile *profile;
    uint64_t address; /* where the descriptor is put */
    uint64_t next;    /* address of the next descriptor; 0: this is the last one */
    uint64_t zeros;   /* address of at least CONTROLLER_ZEROS_SIZE zero bytes, a source for fills */
};
enum { CONTROLLER_ZEROS_SIZE = 4096 };

struct controller {
    enum profile_controller kind;
    const char *name;              /* as in profile_controller_words */
    const char *title;             /* for people */
    const char *manual;            /* the document that the encoder follows */
    uint32_t descriptor_alignment; /* of descriptors in memory, in bytes */
    /**
     * Tightens the limits for copies (`fill` false) or for zero fills. *caps has the limits of the
     * profile. Null: no tighter limits.
     */
    void (*limit)(const struct target_profile *profile, bool fill, struct mli_channel_caps *caps);
    /**
     * Returns why the controller cannot move a piece that is within the limits (a sentence without
     * a full stop), or null if it can. Null function: it can move every such piece.
     */
    const char *(*refuses)(const struct target_profile *profile,
                           const struct mli_descriptor *piece);
    /** Returns the bytes that encode() will produce for the piece. */
    size_t (*size)(const struct target_profile *profile, const struct mli_descriptor *piece);
    /** Encodes a piece. piece->box has board addresses in the place of pointers; src null: zeros.
     */
    void (*encode)(const struct controller_place *place, const struct mli_descriptor *piece,
                   struct controller_descriptor *out);
};

/** Returns the controller of a profile; null for PROFILE_BOXES. */
const struct controller *controller_of(const struct target_profile *profile);

/** Appends a field; `value` for people in decimal, or hexadecimal with controller_add_hex(). */
void controller_add(struct controller_descriptor *out, const char *name, uint64_t value);
void controller_add_hex(struct controller_descriptor *out, const char *name, uint64_t value);
/** Appends a little-endian word of 8, 16, 32 or 64 bits to the bytes. */
void controller_put(struct controller_descriptor *out, unsigned bits, uint64_t value);

/* Who moves a piece. */
enum mover { MOVER_CONTROLLER, MOVER_CORE };

/* One entry of the list that executes a plan. */
struct list_entry {
    enum mover mover;
    const char *why;             /* MOVER_CORE: why the controller cannot move it */
    struct mli_descriptor piece; /* addresses of the board */
    /* MOVER_CONTROLLER, if the profile's controller is known: */
    struct controller_descriptor descriptor;
};

/* How a plan is executed on a board. Plain data; the caller sets it up with list_init(). */
struct descriptor_list {
    const struct target_profile *profile;
    const struct controller *controller; /* null: pieces only */
    const struct mli_plan *plan;         /* with loops in the order of fewest descriptors */
    struct mli_plan ordered;             /* private */
    struct mli_legaliser legaliser;      /* private */
    uint64_t address, zeros;             /* where descriptors and zeros are in the board's memory */
    /* Progress, private: */
    uint32_t part;
    bool ended;
};

/**
 * Begins the list of a plan whose pointers are addresses of the board. `address` is where the
 * descriptors are put, `zeros` where CONTROLLER_ZEROS_SIZE zero bytes are.
 */
void list_init(struct descriptor_list *list, const struct target_profile *profile,
               const struct mli_plan *plan, uint64_t address, uint64_t zeros);

/** Sets *entry to the next entry; false at the end. */
bool list_next(struct descriptor_list *list, struct list_entry *entry);

/* The number of descriptors of a plan, and a number below which no list for it can be. */
struct list_count {
    uint64_t descriptors; /* of the controller */
    uint64_t core;        /* pieces that the core moves */
    uint64_t core_bytes;
    uint64_t least; /* lower bound of `descriptors`, from the limits of the controller */
};

/** Counts without encoding. */
struct list_count list_count(const struct target_profile *profile, const struct mli_plan *plan);

#endif /* TARGET_CONTROLLER_H */

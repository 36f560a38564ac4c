/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Buffers: memory that a client registers once and names by number in many jobs. A connection holds
 * a buffer until it releases the buffer or leaves. Jobs and prepared jobs hold the buffers that
 * they use; the last holder unmaps the memory. Until then the bytes are charged to the connection,
 * to its user and to the service.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "daemon/base/numbered.h"
#include "daemon/memory/region.h"
#include "proto/wire/methods.h"

/* The buffers of a connection, of a user or of all users: each is counted in the parent too. */
struct buffer_account {
    struct buffer_account *parent; /* null: this account is for all users */
    uint64_t bytes;                /* bytes of buffers that are still mapped */
    uint32_t count;                /* number of buffers that no connection has released */
};

struct buffer {
    uint32_t holders;
    uint32_t number;         /* number of the buffer in its connection */
    bool allocated;          /* true: the service made the file of the buffer */
    uint32_t jobs, prepared; /* how many jobs and prepared jobs use the buffer now */
    struct region *region;
    struct buffer_account *account; /* account of the connection */
};

/* Limits of a connection's buffers. */
struct buffer_limits {
    uint32_t count;         /* limit on the number of buffers of the connection */
    uint64_t bytes;         /* limit on the bytes of the connection */
    uint64_t bytes_of_user; /* limit on the bytes of the user; UINT64_MAX: no limit */
};

/* A connection's buffers. */
struct buffers {
    struct numbered table; /* table of struct buffer */
    struct buffer_account *account;
    uid_t uid;
};

/** Initialises an empty set. The account must outlive all its buffers. */
void buffers_init(struct buffers *buffers, struct buffer_account *account, uid_t uid);

/** Releases the latest buffer. If there is none, frees the table and returns false. */
bool buffer_release_last(struct buffers *buffers);
/** Returns the buffer with this number, or NULL. */
struct buffer *buffers_find(const struct buffers *buffers, uint32_t number);

/** Maps a client's descriptor; the caller keeps the descriptor. Returns NULL with *fault filled. */
struct buffer *buffer_register(struct buffers *buffers, int fd, const struct buffer_register *call,
                               const struct buffer_limits *limits, struct fault *fault);

/**
 * Creates a buffer of call->size > 0 zero bytes, in the memory of the board that the call names.
 * `use` is null if the service has no board; the function sets the number of its holder. *fd
 * receives the memfd of the buffer, which belongs to the caller. Returns NULL with *fault filled.
 */
struct buffer *buffer_alloc(struct buffers *buffers, const struct buffer_alloc *call,
                            struct board_use *use, const struct buffer_limits *limits, int *fd,
                            struct fault *fault);

/** Releases a buffer of the connection. Returns 0, or -1 if no buffer has this number. */
int buffer_release(struct buffers *buffers, uint32_t number);

/** Fills the answer to buffer.register, buffer.alloc and buffer.list. */
void buffer_info_fill(struct buffer_info *info, const struct buffer *buffer);

/* The location of one tensor of a job. */
struct place {
    struct region *region;
    struct buffer *buffer; /* the owner of the region; null: the region came with a descriptor */
    uint64_t offset;       /* offset of the tensor's first byte in the region */
};

/* The locations of a job's two tensors. A tensor of zeros has no location. */
struct places {
    struct place src, dst;
};

/** Who uses a place. A buffer counts both kinds apart: in `jobs` and in `prepared`. */
enum places_user { PLACES_OF_JOB, PLACES_OF_PREPARED };

/**
 * Sets `place`, which must be an empty member of *places, to a location in a buffer. Holds the
 * buffer.
 */
void places_put(struct places *places, struct place *place, struct buffer *buffer, uint64_t offset,
                enum places_user user);
/**
 * Makes `place`, which must be an empty member of *places, the same location as `from`. The memory
 * stays until places_finish().
 */
void places_share(struct places *places, struct place *place, const struct place *from,
                  enum places_user user);
/** Releases the memory of both places; both then have no region. */
void places_finish(struct places *places, enum places_user user);

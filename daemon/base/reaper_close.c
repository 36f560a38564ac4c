/* SPDX-License-Identifier: BSD-3-Clause */
/* Decides which descriptors are closed at once, and which by a reaper thread. */
#include "daemon/base/reaper.h"

#include <assert.h>
#include <errno.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

#include "daemon/base/closings.h"
#include "daemon/base/seam.h"

enum {
    SMALL_MAX = 4 * 1024 * 1024, /* bytes of a file in memory: closing a larger one takes long */
    BLOCK = 512,                 /* bytes; the unit of st_blocks */
    CLOSE_MAX = 64,              /* most descriptors in one piece of work */
    TABLE_MAX = 1 << 18          /* entries; 4096 clients, the most, have fewer descriptors */
};

/*
 * Entry `fd` belongs to whoever has to close descriptor `fd`. A thread that closes the descriptor
 * gives the entry back first: it sets `waits` to false with release order, and the next owner reads
 * that with acquire order. The kernel has the same order, but the C memory model does not know it.
 */
struct waiting_fd {
    struct reap reap; /* in the entry of the first descriptor of a piece of work */
    int next;         /* the next descriptor of the piece; -1: none */
    atomic_bool waits;
};

static struct {
    struct waiting_fd *entries;
    int size;
} table;

int closings_reserve(void)
{
    struct rlimit limit;
    int size = TABLE_MAX;

    /* A new configuration may raise the soft limit later. */
    if (getrlimit(RLIMIT_NOFILE, &limit) == 0 && limit.rlim_max < TABLE_MAX)
        size = (int)limit.rlim_max;
    if (table.entries) /* descriptors from before the latest reaper_stop() wait */
        return 0;
    table.entries = seam.calloc((size_t)size, sizeof *table.entries);
    if (!table.entries)
        return -ENOMEM;
    table.size = size;
    return 0;
}

void closings_free(void)
{
    free(table.entries);
    table.entries = NULL;
    table.size = 0;
}

/* Reads each entry before it closes the descriptor: then the number, and the entry, may have a new
 * owner. */
static void close_piece(struct reap *reap)
{
    int fd = (int)(LINK_OWNER(reap, struct waiting_fd, reap) - table.entries);

    while (fd >= 0) {
        struct waiting_fd *entry = &table.entries[fd];
        const int next = entry->next;

        atomic_store_explicit(&entry->waits, false, memory_order_release);
        seam.close(fd);
        fd = next;
    }
}

/* Returns the entry of a descriptor that must be closed. */
static struct waiting_fd *take_entry(int fd)
{
    struct waiting_fd *entry = &table.entries[fd];
    const bool waits = atomic_load_explicit(&entry->waits, memory_order_acquire);

    assert(!waits); /* or the descriptor was given twice */
    (void)waits;
    atomic_store_explicit(&entry->waits, true, memory_order_relaxed);
    return entry;
}

static void close_later(uid_t uid, const int *fds, size_t count, bool may_block)
{
    size_t taken = 0;
    int first = -1;

    while (count-- > 0) {
        const int fd = fds[count];

        if (fd >= table.size) {
            seam.close(fd);
            continue;
        }
        take_entry(fd)->next = first;
        first = fd;
        taken++;
    }
    if (taken == 0)
        return;
    table.entries[first].reap =
        (struct reap){.run = close_piece, .fds = taken, .may_block = may_block};
    reaper_add(uid, &table.entries[first].reap);
}

bool reaper_is_local(mode_t mode, dev_t dev)
{
    return S_ISREG(mode) && major(dev) != 0; /* a block device */
}

enum closing { CLOSING_NOW, CLOSING_SURE, CLOSING_MAY_BLOCK };

static enum closing closing_of(int fd)
{
    const bool memory = seam.seals(fd) >= 0; /* only files in memory can be sealed */
    struct stat st;

    if (seam.fstat(fd, &st) < 0)
        return CLOSING_MAY_BLOCK;
    if (memory)
        return st.st_blocks <= SMALL_MAX / BLOCK ? CLOSING_NOW : CLOSING_SURE;
    return reaper_is_local(st.st_mode, st.st_dev) ? CLOSING_SURE : CLOSING_MAY_BLOCK;
}

void reaper_close(uid_t uid, const int *fds, size_t count)
{
    int sure[CLOSE_MAX], others[CLOSE_MAX];
    size_t sure_count = 0, other_count = 0;

    for (size_t i = 0; i < count; i++) {
        switch (closing_of(fds[i])) {
        case CLOSING_NOW:
            seam.close(fds[i]);
            break;
        case CLOSING_SURE:
            sure[sure_count++] = fds[i];
            break;
        default:
            others[other_count++] = fds[i];
        }
        if (sure_count == CLOSE_MAX || other_count == CLOSE_MAX) {
            close_later(uid, sure, sure_count, false);
            close_later(uid, others, other_count, true);
            sure_count = other_count = 0;
        }
    }
    close_later(uid, sure, sure_count, false);
    close_later(uid, others, other_count, true);
}

void reaper_close_connection(int socket)
{
    struct ucred peer = {.uid = (uid_t)-1};
    socklen_t length = sizeof peer;
    int unread;

    shutdown(socket, SHUT_RDWR); /* no more bytes or descriptors come from now on */
    if (ioctl(socket, FIONREAD, &unread) == 0 && unread == 0) {
        seam.close(socket);
        return;
    }
    (void)getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &peer, &length); /* TCP has no peer's uid */
    close_later(peer.uid, &socket, 1, true);
}

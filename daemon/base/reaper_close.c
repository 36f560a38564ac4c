/* SPDX-License-Identifier: BSD-3-Clause */
/* Decides which descriptors are closed at once, and which by a reaper thread. */
#include "daemon/base/reaper.h"

#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

#include "daemon/base/seam.h"

enum {
    SMALL_MAX = 4 * 1024 * 1024, /* bytes of a file in memory: closing a larger one takes long */
    BLOCK = 512,                 /* bytes; the unit of st_blocks */
    CLOSE_MAX = 64               /* most descriptors in one piece of work */
};

struct batch {
    struct reap reap;
    int fds[];
};

static void close_batch(struct reap *reap)
{
    struct batch *batch = LINK_OWNER(reap, struct batch, reap);

    for (size_t i = 0; i < reap->fds; i++)
        seam.close(batch->fds[i]);
    free(batch);
}

static void close_later(uid_t uid, const int *fds, size_t count, bool may_block)
{
    struct batch *batch;

    if (count == 0)
        return;
    batch = seam.calloc(1, sizeof *batch + count * sizeof *fds);
    if (!batch) {
        for (size_t i = 0; i < count; i++)
            seam.close(fds[i]);
        return;
    }
    batch->reap = (struct reap){.run = close_batch, .fds = count, .may_block = may_block};
    memcpy(batch->fds, fds, count * sizeof *fds);
    reaper_add(uid, &batch->reap);
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

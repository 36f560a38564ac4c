/* SPDX-License-Identifier: BSD-3-Clause */
/* Other libraries that can do some of the moves. To add a library, write peer_NAME.c, which fills
 * a struct peer, list the peer in peers.c, and find the library in meson.build. */
#ifndef BENCH_PEER_H
#define BENCH_PEER_H

#include "bench/moves/bench_job.h"

#ifdef __cplusplus
extern "C" {
#endif

struct peer {
    const char *name;
    /* Opens the library; called once, before the other functions. Returns the version of the
       library, or null if this machine cannot use it. */
    const char *(*open)(void);
    /* Prepares a placed job. Returns the state for run(), or null if the library cannot do the
     * job. The job must stay until release(). */
    void *(*prepare)(const struct job *job);
    /* Does the job: the call that is timed. Returns 0, or -1 on failure. */
    int (*run)(void *state);
    void (*release)(void *state);
};

extern const struct peer peer_rows;
extern const struct peer peer_numpy;
extern const struct peer peer_dnnl;
extern const struct peer peer_opencv;
extern const struct peer peer_xsmm;

enum { PEER_MAX = 5 };

/* The peers that were built and opened. */
struct peer_list {
    const struct peer *at[PEER_MAX];
    const char *version[PEER_MAX];
    int count;
    char missing[256]; /* names of the missing peers with the reasons, or "" */
};

void peers_open(struct peer_list *list);

#ifdef __cplusplus
}
#endif

#endif

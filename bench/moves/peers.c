/* SPDX-License-Identifier: BSD-3-Clause */
#include "bench/moves/bench_peer.h"

#include <stdio.h>
#include <string.h>

static const struct {
    const char *name;
    const struct peer *peer; /* the peer; null: not built */
} known[PEER_MAX] = {
    {"rows", &peer_rows},
#ifdef BENCH_NUMPY
    {"numpy", &peer_numpy},
#else
    {"numpy", NULL},
#endif
#ifdef BENCH_DNNL
    {"oneDNN", &peer_dnnl},
#else
    {"oneDNN", NULL},
#endif
#ifdef BENCH_OPENCV
    {"OpenCV", &peer_opencv},
#else
    {"OpenCV", NULL},
#endif
#ifdef BENCH_XSMM
    {"libxsmm", &peer_xsmm},
#else
    {"libxsmm", NULL},
#endif
};

static void miss(struct peer_list *list, const char *name, const char *why)
{
    const size_t used = strlen(list->missing);

    snprintf(list->missing + used, sizeof(list->missing) - used, "%s%s (%s)", used ? ", " : "",
             name, why);
}

void peers_open(struct peer_list *list)
{
    memset(list, 0, sizeof(*list));
    for (int i = 0; i < PEER_MAX; i++) {
        const struct peer *p = known[i].peer;
        const char *version = p ? p->open() : NULL;

        if (!p) {
            miss(list, known[i].name, "not built");
        } else if (!version) {
            miss(list, known[i].name, "does not start");
        } else {
            list->at[list->count] = p;
            list->version[list->count++] = version;
        }
    }
}

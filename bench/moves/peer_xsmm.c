/* SPDX-License-Identifier: BSD-3-Clause */
/* Peer libxsmm: out-of-place transpose and matrix copy. */
#include <libxsmm.h>
#include <limits.h>
#include <stdlib.h>

#include "bench/moves/bench_peer.h"
#include "bench/moves/planes.h"

static const char *xsmm_open(void)
{
    libxsmm_init();
    return LIBXSMM_VERSION;
}

static void *xsmm_prepare(const struct job *job)
{
    struct planes *p = malloc(sizeof(*p));

    if (p && planes_init(p, job) && p->rows <= INT_MAX && p->columns <= INT_MAX &&
        p->from <= INT_MAX && p->to <= INT_MAX)
        return p;
    free(p);
    return NULL;
}

/* libxsmm's matrices are column-major: m counts adjacent elements. */
static int xsmm_run(void *state)
{
    const struct planes *p = state;
    const libxsmm_blasint rows = (libxsmm_blasint)p->rows, columns = (libxsmm_blasint)p->columns,
                          from = (libxsmm_blasint)p->from, to = (libxsmm_blasint)p->to;

    planes_clear(p);
    for (size_t i = 0; i < p->outer[0]; i++) {
        for (size_t k = 0; k < p->outer[1]; k++) {
            if (p->transposed)
                libxsmm_otrans(planes_dst(p, i, k), planes_src(p, i, k), p->elem, rows, columns,
                               from, to);
            else
                libxsmm_matcopy(planes_dst(p, i, k), planes_src(p, i, k), p->elem, columns, rows,
                                from, to);
        }
    }
    return 0;
}

const struct peer peer_xsmm = {"libxsmm", xsmm_open, xsmm_prepare, xsmm_run, free};

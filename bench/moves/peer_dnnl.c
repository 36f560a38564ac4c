/* SPDX-License-Identifier: BSD-3-Clause */
/* Peer oneDNN: a reorder between two strided descriptors; memset clears the padding. */
#include <dlfcn.h>
#include <dnnl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/moves/bench_peer.h"
#include "bench/moves/planes.h"

struct dnnl {
    dnnl_memory_t src, dst;
    dnnl_primitive_t reorder;
    dnnl_exec_arg_t args[2];
    struct box borders[2 * CASE_RANK];
    int border_count;
    uint32_t elem;
};

static dnnl_engine_t engine;
static dnnl_stream_t stream;

static const char *dnnl_open(void)
{
    static char text[32];
    const dnnl_version_t *v = dnnl_version();
    void *threads = dlsym(RTLD_DEFAULT, "omp_set_num_threads");

    if (threads) {
        void (*set)(int);

        memcpy(&set, &threads, sizeof(set)); /* ISO C has no cast from pointers to functions */
        set(1);
    }
    if (dnnl_engine_create(&engine, dnnl_cpu, 0) != dnnl_success ||
        dnnl_stream_create(&stream, engine, dnnl_stream_default_flags) != dnnl_success)
        return NULL;
    snprintf(text, sizeof(text), "%d.%d.%d", v->major, v->minor, v->patch);
    return text;
}

/* Elements of two bytes are declared as bf16; oneDNN converts nothing, because both sides have one
 * type. */
static dnnl_data_type_t type_of(uint32_t elem)
{
    return elem == 1 ? dnnl_s8 : elem == 2 ? dnnl_bf16 : dnnl_s32;
}

static bool describe(const struct box *b, const int64_t *stride, uint32_t elem,
                     dnnl_memory_desc_t *desc)
{
    dnnl_dims_t dims = {0}, strides = {0};

    for (uint32_t i = 0; i < b->rank; i++) {
        dims[i] = (dnnl_dim_t)b->count[i];
        strides[i] = stride[i];
    }
    return dnnl_memory_desc_init_by_strides(desc, (int)b->rank, dims, type_of(elem), strides) ==
           dnnl_success;
}

static void dnnl_release(void *state)
{
    struct dnnl *d = state;

    if (d->reorder)
        dnnl_primitive_destroy(d->reorder);
    if (d->src)
        dnnl_memory_destroy(d->src);
    if (d->dst)
        dnnl_memory_destroy(d->dst);
    free(d);
}

static bool create(struct dnnl *d, const struct box *b)
{
    dnnl_memory_desc_t src, dst;
    dnnl_primitive_desc_t pd = NULL;
    void *from;
    bool good;

    memcpy(&from, &b->src, sizeof(from));
    good =
        describe(b, b->from, d->elem, &src) && describe(b, b->to, d->elem, &dst) &&
        dnnl_memory_create(&d->src, &src, engine, from) == dnnl_success &&
        dnnl_memory_create(&d->dst, &dst, engine, b->dst) == dnnl_success &&
        dnnl_reorder_primitive_desc_create(&pd, &src, engine, &dst, engine, NULL) == dnnl_success &&
        dnnl_primitive_create(&d->reorder, pd) == dnnl_success;
    if (pd)
        dnnl_primitive_desc_destroy(pd);
    d->args[0] = (dnnl_exec_arg_t){DNNL_ARG_FROM, d->src};
    d->args[1] = (dnnl_exec_arg_t){DNNL_ARG_TO, d->dst};
    return good;
}

static void *dnnl_prepare(const struct job *job)
{
    struct dnnl *d = calloc(1, sizeof(*d));
    struct box box;

    if (!d)
        return NULL;
    d->elem = job->elem;
    d->border_count = job_borders(job, d->borders);
    job_box(job, &box);
    if (create(d, &box))
        return d;
    dnnl_release(d);
    return NULL;
}

static int dnnl_run(void *state)
{
    struct dnnl *d = state;

    boxes_clear(d->borders, d->border_count, d->elem);
    return dnnl_primitive_execute(d->reorder, stream, 2, d->args) == dnnl_success &&
                   dnnl_stream_wait(stream) == dnnl_success
               ? 0
               : -1;
}

const struct peer peer_dnnl = {"oneDNN", dnnl_open, dnnl_prepare, dnnl_run, dnnl_release};

/* SPDX-License-Identifier: BSD-3-Clause */
#include "cli/calibrate/measure.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

#include "mli_explain.h"
#include "mli_helpers_api.h"

enum { GROUPS = 3, PROBE_BYTES = 8 * 1024, PROBE_COPIES = 16 };
#define QUIET       1.1              /* the probe is at most a tenth slower than ever */
#define GROUP_NS    10000.0          /* shortest time of a group of runs */
#define LONG_NS     100000.0         /* longer moves run once unmeasured, others twice */
#define ENOUGH_NS   UINT64_C(100000) /* no other group begins after this time */
#define SRC_ADDRESS (UINT64_C(1) << 32)
#define DST_ADDRESS (UINT64_C(1) << 33)

uint64_t measure_now_ns(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

/* Allocates and touches pages: reading untouched pages would read one page of zeros. */
static uint8_t *allocate(size_t bytes)
{
    uint8_t *at = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    if (at == MAP_FAILED)
        return NULL;
    madvise(at, bytes, MADV_NOHUGEPAGE); /* where a file or a memfd has small pages, too */
    memset(at, 1, bytes);
    return at;
}

int measure_init(struct measure *measure, uint64_t max_bytes, struct fault *fault)
{
    *measure = (struct measure){.bytes = (size_t)(2 * max_bytes + SWEEP_SLACK),
                                .src_address = SRC_ADDRESS,
                                .dst_address = DST_ADDRESS,
                                .now_ns = measure_now_ns};
    measure->src = allocate(measure->bytes);
    measure->dst = measure->src ? allocate(measure->bytes) : NULL;
    if (measure->dst)
        return 0;
    fault_set(fault, FAULT_INTERNAL, NULL, "two buffers of %zu B: %s", measure->bytes,
              strerror(errno));
    measure_finish(measure);
    return -1;
}

void measure_finish(struct measure *measure)
{
    if (measure->src)
        munmap(measure->src, measure->bytes);
    if (measure->dst)
        munmap(measure->dst, measure->bytes);
    measure->src = measure->dst = NULL;
}

static void place(mli_tensor *tensor, uint8_t *at, size_t bytes)
{
    tensor->data.mem.pi8 = (int8_t *)at;
    tensor->data.capacity = (uint32_t)(bytes < UINT32_MAX ? bytes : UINT32_MAX);
}

/* Replaces an address of a buffer by that of plans. */
static uint8_t *moved(const uint8_t *at, const uint8_t *buffer, uint64_t address)
{
    return (uint8_t *)(uintptr_t)((uintptr_t)at - (uintptr_t)buffer + address);
}

int measure_plan(const struct measure *measure, struct sweep_move *move, struct mli_plan *plan)
{
    mli_explanation explanation;

    place(&move->src, measure->src + move->src_offset, measure->bytes - move->src_offset);
    place(&move->dst, measure->dst + move->dst_offset, measure->bytes - move->dst_offset);
    if (mli_mov_explain(&move->src, &move->cfg, &move->dst, &explanation) != MLI_STATUS_OK)
        return -1;
    *plan = explanation.plan;
    plan->box.src = moved(plan->box.src, measure->src, measure->src_address);
    plan->box.dst = moved(plan->box.dst, measure->dst, measure->dst_address);
    for (size_t i = 0; i < plan->slabs; i++)
        plan->slab[i].dst = moved(plan->slab[i].dst, measure->dst, measure->dst_address);
    return 0;
}

static int complain(struct fault *fault, const char *call)
{
    return fault_set(fault, FAULT_INTERNAL, NULL, "%s: %s", call, mli_last_error());
}

/* Returns the time that the calling thread has run. Reading this clock takes a system call. */
static uint64_t thread_ns(void)
{
    struct timespec now;

    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

/* Runs the prepared move several times. Returns the time of one run, or a negative number. */
static double run(uint64_t (*now_ns)(void), mli_mov_handle_t *handle, uint64_t times)
{
    const uint64_t begin = now_ns();

    for (uint64_t i = 0; i < times; i++)
        if (mli_mov_start(handle, NULL, NULL, NULL) != MLI_STATUS_OK ||
            mli_mov_wait(handle) != MLI_STATUS_OK)
            return -1;
    return (double)(now_ns() - begin) / (double)times;
}

static double shortest_run(const struct measure *measure, mli_mov_handle_t *handle)
{
    uint64_t (*now_ns)(void) = measure->now_ns;
    double best = run(now_ns, handle, 1);

    if (best >= 0 && best < LONG_NS)
        best = run(now_ns, handle, 1);
    else if (measure->by_thread)
        now_ns = thread_ns;
    if (best < 0)
        return -1;
    const uint64_t times = best < GROUP_NS ? (uint64_t)(GROUP_NS / (best + 1)) + 1 : 1;
    const uint64_t begin = measure->now_ns();

    for (int i = 0; i < GROUPS && (i == 0 || measure->now_ns() - begin < ENOUGH_NS); i++) {
        const double ns = run(now_ns, handle, times);

        if (ns < 0)
            return -1;
        best = i == 0 || ns < best ? ns : best; /* the first runs were not measured */
    }
    return best;
}

/* Measures the probe. Returns whether the time is near the shortest time. */
static bool is_quiet(struct measure *measure)
{
    static uint8_t from[PROBE_BYTES], to[PROBE_BYTES];
    const uint64_t begin = measure->now_ns();
    double ns;

    for (int i = 0; i < PROBE_COPIES; i++) {
        memcpy(to, from, sizeof to);
        __asm__ volatile("" : : "r"(to), "r"(from) : "memory"); /* keeps every copy */
    }
    ns = (double)(measure->now_ns() - begin);
    if (measure->probe_ns == 0 || ns < measure->probe_ns)
        measure->probe_ns = ns;
    return ns <= QUIET * measure->probe_ns;
}

int measure_move(struct measure *measure, struct sweep_move *move, struct measured_ns *time,
                 struct fault *fault)
{
    mli_mov_handle_t handle;

    if (mli_mov_acquire_handle(1, &handle) != MLI_STATUS_OK)
        return complain(fault, "mli_mov_acquire_handle");
    if (mli_mov_prepare(&handle, &move->src, &move->cfg, &move->dst) != MLI_STATUS_OK) {
        mli_mov_release_handle(&handle);
        return complain(fault, "mli_mov_prepare");
    }
    time->quiet = is_quiet(measure);
    time->ns = shortest_run(measure, &handle);
    time->quiet = is_quiet(measure) && time->quiet;
    mli_mov_release_handle(&handle);
    if (time->ns >= 0)
        return 0;
    return fault_set(fault, FAULT_INTERNAL, NULL,
                     "the engine failed to move %s of rank %" PRIu32 "; test it with mlictl "
                     "selftest --engine",
                     sweep_kind_name(move->kind), move->src.rank);
}

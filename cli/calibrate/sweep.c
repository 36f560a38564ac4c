/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "cli/calibrate/calibration.h"
#include "cli/selftest/draw.h"
#include "cli/term/clock_ns.h"
#include "mli_explain.h"
#include "mli_helpers_api.h"

/* A move in two buffers. Each buffer must have room for SWEEP_SLACK bytes more than its tensor. */
struct sweep_move {
    enum sweep_kind kind;
    mli_tensor src, dst; /* tensors without data */
    mli_mov_cfg_t cfg;
    uint32_t src_offset, dst_offset; /* bytes from the beginning of a buffer, which is aligned to
                                        4096 bytes, to the first element */
};

/* The time of a move. */
struct measured_ns {
    double ns;  /* the shortest of several runs */
    bool quiet; /* true: before and after the runs the processor was as fast as in its fastest
                   measurement */
};

enum { MIN_BITS = 10, LINE = 64, PAD_MAX = 8, STEP_MAX = 4 };

const char *sweep_kind_name(enum sweep_kind kind)
{
#define SWEEP_KIND_NAME(name) [SWEEP_##name] = #name,
    static const char *const names[] = {SWEEP_KINDS(SWEEP_KIND_NAME)};
#undef SWEEP_KIND_NAME
    return names[kind];
}

/* Returns a random number from 0 to below 1. */
static double fraction(struct draw *draw)
{
    return (double)(draw_next(draw) >> 11) / (double)(UINT64_C(1) << 53);
}

/* Picks extents with about `elements` elements together, which are divided at random. */
static void draw_shape(struct draw *draw, mli_tensor *t, double elements)
{
    static const uint32_t usual[] = {1, 2, 3, 4, 8, 10, 16, 24, 32, 48, 64, 96, 128, 256, 512};
    const bool channels = draw_once_in(draw, 2);
    double share[MLI_MAX_RANK], sum = 0, rest = elements;
    uint32_t from = 0;

    t->rank = draw_between(draw, 1, MLI_MAX_RANK);
    if (channels && t->rank > 1) { /* innermost or outermost, as in HWC and CHW */
        const uint32_t at = draw_once_in(draw, 4) ? 0 : t->rank - 1;

        t->shape[at] = usual[draw_below(draw, sizeof usual / sizeof *usual)];
        rest /= t->shape[at];
        from = at + 1; /* dimension `at` is set already */
    }
    for (uint32_t d = 0; d < t->rank; d++)
        sum += share[d] = d + 1 == from ? 0 : 0.1 + fraction(draw);
    for (uint32_t d = 0; d < t->rank; d++)
        if (d + 1 != from)
            t->shape[d] = (uint32_t)fmax(1, exp2(log2(fmax(rest, 1)) * share[d] / sum) + 0.5);
}

/* Gives a tensor that is not packed a gap after each row of one dimension. */
static void draw_strides(struct draw *draw, uint32_t rank, const uint32_t *shape, int32_t *stride)
{
    const bool gaps = draw_once_in(draw, 4);
    const uint32_t at = draw_below(draw, rank);
    uint64_t next = 1;

    for (uint32_t d = rank; gaps && d-- > 0;) {
        stride[d] = (int32_t)next;
        next *= shape[d];
        if (d == at)
            next += draw_once_in(draw, 2) ? draw_between(draw, 1, 8) : draw_below(draw, shape[d]);
    }
}

static void draw_window(struct draw *draw, const mli_tensor *src, mli_mov_cfg_t *cfg)
{
    for (uint32_t d = 0; d < src->rank; d++) {
        if (draw_once_in(draw, 2))
            continue;
        cfg->size[d] = draw_between(draw, (src->shape[d] + 3) / 4, src->shape[d]);
        cfg->offset[d] = draw_below(draw, src->shape[d] - cfg->size[d] + 1);
    }
}

static void draw_steps(struct draw *draw, uint32_t rank, mli_mov_cfg_t *cfg)
{
    cfg->sub_sample_step[draw_below(draw, rank)] = draw_between(draw, 2, STEP_MAX);
    if (draw_once_in(draw, 2))
        cfg->sub_sample_step[draw_below(draw, rank)] = draw_between(draw, 2, STEP_MAX);
}

static void draw_permutation(struct draw *draw, uint32_t rank, mli_mov_cfg_t *cfg)
{
    for (uint32_t i = rank; i-- > 1;) {
        const uint32_t k = draw_below(draw, i + 1);
        const uint8_t other = cfg->perm_dim[i];

        cfg->perm_dim[i] = cfg->perm_dim[k];
        cfg->perm_dim[k] = other;
    }
}

static void draw_padding(struct draw *draw, uint32_t rank, mli_mov_cfg_t *cfg)
{
    for (int n = 0; n < 2; n++) {
        const uint32_t d = draw_below(draw, rank), width = draw_between(draw, 1, PAD_MAX);

        cfg->padding_pre[d] = (uint8_t)width;
        cfg->padding_post[d] = (uint8_t)(draw_once_in(draw, 4) ? 0 : width);
    }
}

/* Returns the extent of the move along a dimension of the destination. */
static uint32_t extent(const struct sweep_move *m, uint32_t dim)
{
    const uint32_t d = m->cfg.perm_dim[dim];
    const uint32_t padded = m->src.shape[d] + m->cfg.padding_pre[d] + m->cfg.padding_post[d];
    const uint32_t size = m->cfg.size[d] ? m->cfg.size[d] : padded - m->cfg.offset[d];

    return (size - 1) / m->cfg.sub_sample_step[d] + 1;
}

/* Places the result in a destination that is up to twice as large along one dimension. */
static void draw_place(struct draw *draw, struct sweep_move *m, uint32_t *whole)
{
    const uint32_t d = draw_below(draw, m->src.rank);
    const uint32_t more = draw_below(draw, whole[d] + 1);

    m->cfg.dst_offset[d] = draw_below(draw, more + 1);
    whole[d] += more;
}

static void draw_cfg(struct draw *draw, struct sweep_move *m)
{
    enum sweep_kind kind[2] = {m->kind, SWEEP_copy};

    mli_mov_cfg_for_copy(&m->cfg);
    if (m->kind == SWEEP_combined)
        for (int i = 0; i < 2; i++)
            kind[i] = (enum sweep_kind)draw_below(draw, SWEEP_combined);
    for (int i = 0; i < 2; i++) {
        if (kind[i] == SWEEP_slice)
            draw_window(draw, &m->src, &m->cfg);
        else if (kind[i] == SWEEP_subsample)
            draw_steps(draw, m->src.rank, &m->cfg);
        else if (kind[i] == SWEEP_permute)
            draw_permutation(draw, m->src.rank, &m->cfg);
        else if (kind[i] == SWEEP_pad)
            draw_padding(draw, m->src.rank, &m->cfg);
    }
    uint32_t whole[MLI_MAX_RANK] = {0};
    for (uint32_t d = 0; d < m->src.rank; d++)
        whole[d] = extent(m, d);
    if (kind[0] == SWEEP_concat || kind[1] == SWEEP_concat)
        draw_place(draw, m, whole);
    draw_strides(draw, m->src.rank, whole, m->dst.mem_stride);
    if (m->dst.mem_stride[0] == 0 && (kind[0] == SWEEP_concat || kind[1] == SWEEP_concat)) {
        int64_t next = 1;

        for (uint32_t d = m->src.rank; d-- > 0; next *= whole[d])
            m->dst.mem_stride[d] = (int32_t)next;
    }
}

static uint32_t draw_offset(struct draw *draw, uint32_t element)
{
    if (draw_once_in(draw, 4))
        return element * draw_below(draw, SWEEP_SLACK / element);
    return LINE * draw_below(draw, SWEEP_SLACK / LINE);
}

/*
 * Returns the number of bytes from the first to the last element of a tensor; a stride of 0 means
 * packed.
 */
static uint64_t span(const uint32_t *shape, const int32_t *stride, uint32_t rank, uint32_t element)
{
    uint64_t last = 0, packed = 1;

    for (uint32_t d = rank; d-- > 0;) {
        const uint64_t step = stride[d] ? (uint64_t)stride[d] : packed;

        last += step * (shape[d] - 1);
        packed = step * shape[d];
    }
    return (last + 1) * element;
}

static bool fits(const struct sweep_move *m, uint32_t element, uint64_t bytes)
{
    uint32_t shape[MLI_MAX_RANK] = {0};

    for (uint32_t d = 0; d < m->src.rank; d++)
        shape[d] = extent(m, d) + m->cfg.dst_offset[d];
    return span(m->src.shape, m->src.mem_stride, m->src.rank, element) <= bytes &&
           span(shape, m->dst.mem_stride, m->src.rank, element) <= bytes;
}

/* Makes move `index` of `seed`. Each tensor takes at most 2 * max_bytes, gaps included. max_bytes
 * is at least 2 KiB. */
static void sweep_move_draw(struct sweep_move *move, uint64_t seed, uint64_t index,
                            uint64_t max_bytes)
{
    static const mli_element_type types[] = {MLI_EL_FX_8, MLI_EL_FX_16, MLI_EL_FP_32};
    struct draw draw = draw_init(seed, index);
    const double bits = log2((double)max_bytes) - MIN_BITS;
    uint32_t type, element;

    do {
        memset(move, 0, sizeof *move);
        type = draw_below(&draw, sizeof types / sizeof *types);
        element = 1u << type;
        move->kind = (enum sweep_kind)draw_below(&draw, SWEEP_KIND_COUNT);
        move->src.el_type = types[type];
        draw_shape(&draw, &move->src, exp2(MIN_BITS + bits * fraction(&draw)) / element);
        draw_strides(&draw, move->src.rank, move->src.shape, move->src.mem_stride);
        draw_cfg(&draw, move);
    } while (!fits(move, element, 2 * max_bytes));
    move->src_offset = draw_offset(&draw, element);
    move->dst_offset = draw_offset(&draw, element);
}

enum { GROUPS = 3, PROBE_BYTES = 8 * 1024, PROBE_COPIES = 16 };
#define QUIET       1.1      /* a quiet probe takes at most a tenth longer than the shortest one */
#define GROUP_NS    10000.0  /* shortest time of a group of runs */
#define LONG_NS     100000.0 /* longer moves run once before the measurement, others twice */
#define ENOUGH_NS   UINT64_C(100000) /* no further group begins after this time */
#define SRC_ADDRESS (UINT64_C(1) << 32)
#define DST_ADDRESS (UINT64_C(1) << 33)

/* Allocates and touches pages: reading untouched pages would read one page of zeros. */
static uint8_t *allocate(size_t bytes)
{
    uint8_t *at = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    if (at == MAP_FAILED)
        return NULL;
    madvise(at, bytes, MADV_NOHUGEPAGE); /* small pages, like those of a file or a memfd */
    memset(at, 1, bytes);
    return at;
}

int measure_init(struct measure *measure, uint64_t max_bytes, struct fault *fault)
{
    *measure = (struct measure){.bytes = (size_t)(2 * max_bytes + SWEEP_SLACK),
                                .src_address = SRC_ADDRESS,
                                .dst_address = DST_ADDRESS,
                                .now_ns = clock_ns};
    measure->src = allocate(measure->bytes);
    measure->dst = measure->src ? allocate(measure->bytes) : NULL;
    if (measure->dst)
        return 0;
    fault_set(fault, FAULT_INTERNAL, NULL, "cannot allocate two buffers of %zu B: %s",
              measure->bytes, strerror(errno));
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

/* Converts an address in a buffer to the address that plans have for it. */
static uint8_t *moved(const uint8_t *at, const uint8_t *buffer, uint64_t address)
{
    return (uint8_t *)(uintptr_t)((uintptr_t)at - (uintptr_t)buffer + address);
}

/* Gives the tensors of a move their buffers, and sets *plan to its plan. Returns 0 or -1
 * (refused). */
static int measure_plan(const struct measure *measure, struct sweep_move *move,
                        struct mli_plan *plan)
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
        best = i == 0 || ns < best ? ns : best; /* ignores the unmeasured first runs */
    }
    return best;
}

/* Measures the probe. Returns whether it takes at most QUIET times its shortest time. */
static bool is_quiet(struct measure *measure)
{
    static uint8_t from[PROBE_BYTES], to[PROBE_BYTES];
    const uint64_t begin = measure->now_ns();
    double ns;

    for (int i = 0; i < PROBE_COPIES; i++) {
        memcpy(to, from, sizeof to);
        __asm__ volatile("" : : "r"(to), "r"(from) : "memory"); /* prevents the removal of copies */
    }
    ns = (double)(measure->now_ns() - begin);
    if (measure->probe_ns == 0 || ns < measure->probe_ns)
        measure->probe_ns = ns;
    return ns <= QUIET * measure->probe_ns;
}

/*
 * Measures a move after measure_plan(). Before and after the runs it measures a probe, a copy in
 * the first-level cache, which is slower while other programs share the processor. Returns 0, or -1
 * with the fault.
 */
static int measure_move(struct measure *measure, struct sweep_move *move, struct measured_ns *time,
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

enum {
    BATCH = 250,
    LARGE_BYTES = 1000 * 1000,
    LONG_RUN = 64,
    GROWTH = 4096,
    ROUNDS_MOST = 4,
    LEFT_OUT_MOST = 4
};
#define NS_LEAST 1e-3
#define EQUAL    0.02 /* relative difference of two times that are regarded as equal */
#define DISTURBED                                                                                  \
    0.05 /* relative difference of the two shortest times above which a move is left out */

/* A batch: indices of moves, and their shortest times. */
struct batch {
    size_t count;
    uint64_t index[BATCH];
    struct mli_plan plan[BATCH];
    double best[BATCH], second[BATCH];
    uint8_t kind[BATCH], quiet[BATCH]; /* quiet: number of quiet measurements */
};

static int compare(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

void sort_doubles(double *values, size_t count)
{
    qsort(values, count, sizeof *values, compare);
}

/*
 * Returns whether a dense sweep leaves out a move: five of six copies of one run and half of the
 * moves of long runs, which are easy to predict, and two of three large moves, which take most of
 * the time.
 */
static bool is_left_out(const struct sweep_rules *rules, const struct mli_plan *plan,
                        uint64_t index)
{
    struct draw draw = draw_init(~rules->seed, index);
    const bool row = plan->box.run > 0 && plan->box.loops == 0 && !draw_once_in(&draw, 6);
    const bool rows = plan->box.run > LONG_RUN && plan->box.loops > 0 && draw_once_in(&draw, 2);
    const bool large = plan->bytes > LARGE_BYTES && !draw_once_in(&draw, 3);

    return rules->dense && (row || rows || large);
}

/* Chooses the next moves, from index *next on. */
static void choose(struct batch *batch, const struct measure *measure,
                   const struct sweep_rules *rules, size_t most, uint64_t *next)
{
    struct sweep_move move;

    batch->count = 0;
    while (batch->count < most) {
        const uint64_t index = (*next)++;

        sweep_move_draw(&move, rules->seed, index, rules->max_bytes);
        if (measure_plan(measure, &move, &batch->plan[batch->count]) < 0 ||
            is_left_out(rules, &batch->plan[batch->count], index))
            continue;
        batch->index[batch->count] = index;
        batch->kind[batch->count] = (uint8_t)move.kind;
        batch->quiet[batch->count] = 0;
        batch->best[batch->count] = batch->second[batch->count] = HUGE_VAL;
        batch->count++;
    }
}

static void shuffle(struct draw *draw, size_t *order, size_t count)
{
    for (size_t i = 0; i < count; i++)
        order[i] = i;
    for (size_t i = count; i-- > 1;) {
        const size_t k = draw_below(draw, i + 1), other = order[i];

        order[i] = order[k];
        order[k] = other;
    }
}

static void note(struct batch *batch, size_t i, const struct measured_ns *time)
{
    const double ns = fmax(time->ns, NS_LEAST);

    batch->quiet[i] += time->quiet;
    if (ns < batch->best[i]) {
        batch->second[i] = batch->best[i];
        batch->best[i] = ns;
    } else if (ns < batch->second[i]) {
        batch->second[i] = ns;
    }
}

/* Returns whether a move needs no further round. */
static bool is_certain(const struct batch *batch, size_t i)
{
    return batch->quiet[i] > 0 && batch->second[i] < (1 + EQUAL) * batch->best[i];
}

/* Measures the batch. Returns 0, 1 if stopped, or -1 with the fault. */
static int measure_batch(struct batch *batch, struct measure *measure,
                         const struct sweep_rules *rules, struct fault *fault)
{
    struct draw draw = draw_init(rules->seed, ~batch->index[0]);
    size_t order[BATCH];
    struct sweep_move move;
    struct mli_plan plan;
    struct measured_ns time = {0};

    for (uint32_t round = 0; round < ROUNDS_MOST; round++) {
        shuffle(&draw, order, batch->count);
        for (size_t k = 0; k < batch->count; k++) {
            const size_t i = order[k];

            if (rules->stop && rules->stop())
                return 1;
            if (is_certain(batch, i))
                continue;
            sweep_move_draw(&move, rules->seed, batch->index[i], rules->max_bytes);
            measure_plan(measure, &move, &plan);
            if (measure_move(measure, &move, &time, fault) < 0)
                return -1;
            note(batch, i, &time);
        }
    }
    return 0;
}

static int keep(struct sweep *sweep, const struct batch *batch, const struct sweep_rules *rules,
                struct fault *fault)
{
    if (sweep->count + batch->count > sweep->capacity) {
        const size_t capacity = sweep->capacity + sweep->capacity / 2 + GROWTH;
        struct measured_move *moves = realloc(sweep->moves, capacity * sizeof *moves);
        uint8_t *kinds;

        sweep->moves = moves ? moves : sweep->moves;
        kinds = moves ? realloc(sweep->kinds, capacity) : NULL;
        sweep->kinds = kinds ? kinds : sweep->kinds;
        if (!kinds)
            return fault_set(fault, FAULT_INTERNAL, NULL, "out of memory for measured moves");
        sweep->capacity = capacity;
    }
    for (size_t i = 0; i < batch->count; i++) {
        if (!rules->dense && batch->second[i] > (1 + DISTURBED) * batch->best[i]) {
            sweep->left_out++;
            continue;
        }
        sweep->moves[sweep->count] =
            (struct measured_move){batch->plan[i], batch->best[i] * rules->clock_hz / 1e9};
        sweep->kinds[sweep->count++] = batch->kind[i];
    }
    return 0;
}

/* Returns the median of the differences between the two best rounds. */
static double repeat_of(const struct batch *batch)
{
    double gap[BATCH];

    for (size_t i = 0; i < batch->count; i++)
        gap[i] = batch->second[i] / batch->best[i] - 1;
    sort_doubles(gap, batch->count);
    return gap[batch->count / 2];
}

/*
 * Returns the share of the sweep that is done, 0 to 1. A sweep ends early if many of its moves were
 * disturbed by other programs.
 */
static double done(const struct sweep *sweep, const struct sweep_rules *rules, uint64_t ns)
{
    const double moves = fmax((double)sweep->count, (double)sweep->left_out / LEFT_OUT_MOST);
    const double by_count = rules->count ? moves / (double)rules->count : 0;
    const double by_time = rules->time_ns ? (double)ns / (double)rules->time_ns : 0;

    return fmin(fmax(by_count, by_time), 1);
}

int sweep_run(struct sweep *sweep, struct measure *measure, const struct sweep_rules *rules,
              struct fault *fault)
{
    const uint64_t begin = measure->now_ns();
    struct batch *batch = calloc(1, sizeof *batch);
    double repeats = 0, batches = 0;
    uint64_t next = 0;
    int result = 0;

    *sweep = (struct sweep){0};
    if (!batch)
        return fault_set(fault, FAULT_INTERNAL, NULL, "out of memory for a batch of moves");
    while (result == 0 && done(sweep, rules, measure->now_ns() - begin) < 1) {
        const size_t left = rules->count ? rules->count - sweep->count : BATCH;

        if (rules->progress)
            rules->progress(rules->context, done(sweep, rules, measure->now_ns() - begin),
                            sweep->count);
        choose(batch, measure, rules, left < BATCH ? left : BATCH, &next);
        result = measure_batch(batch, measure, rules, fault);
        if (result == 0) {
            result = keep(sweep, batch, rules, fault);
            repeats += repeat_of(batch);
            batches++;
        }
    }
    sweep->repeat = batches > 0 ? repeats / batches : 0;
    sweep->stopped = result > 0;
    free(batch);
    return result < 0 ? -1 : 0;
}

void sweep_finish(struct sweep *sweep)
{
    free(sweep->moves);
    free(sweep->kinds);
    *sweep = (struct sweep){0};
}

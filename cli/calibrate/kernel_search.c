/* SPDX-License-Identifier: BSD-3-Clause */
#include <inttypes.h>
#include <math.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "cli/calibrate/kernel_search.h"
#include "cli/term/cancel.h"
#include "cli/term/clock_ns.h"
#include "mli_helpers_api.h"

enum { KERNEL_VARIANTS = 8, KERNEL_PASSES_MIN = 3 };

/* A move, and its shortest time with each variant of the tuning. */
struct kernel_cell {
    struct kernel_move move;
    size_t variants;
    uint64_t least_ns[KERNEL_VARIANTS]; /* time of `repeat` moves */
    uint32_t repeat;                    /* moves in a sample; 0: not measured yet */
    uint32_t passes;                    /* samples of each variant */
};

enum {
    SAMPLE_NS = 100 * 1000, /* minimum duration of a sample */
    REPEAT_MAX = 4096,
    TRIES = 3,            /* attempts to take a sample that no other program interrupts */
    WARM_IN_ONE = 1 << 20 /* maximum bytes of a move that fills the caches when it runs once; a
                             larger move runs twice */
};

/* Returns how often other programs have taken the processor from this thread. */
static long interruptions(void)
{
    struct rusage usage;

    return getrusage(RUSAGE_THREAD, &usage) == 0 ? usage.ru_nivcsw : 0;
}

/*
 * Runs the move until the caches have the state in which the move leaves them. Returns 0, or -1 if
 * the move is refused.
 */
static int warm_up(struct kernel_cell *cell)
{
    const int moves = cell->move.bytes > WARM_IN_ONE ? 2 : 1;

    for (int i = 0; i < moves; i++)
        if (kernel_move_run(&cell->move) < 0)
            return -1;
    return 0;
}

/* Runs the move as often as a sample needs. Returns the nanoseconds. */
static uint64_t sample(struct kernel_cell *cell)
{
    const uint64_t begin = clock_ns();

    for (uint32_t i = 0; i < cell->repeat; i++)
        (void)kernel_move_run(&cell->move);
    return clock_ns() - begin + 1;
}

/* Chooses the number of moves in a sample from the time of one move. */
static int choose_repeat(struct kernel_cell *cell)
{
    uint64_t ns;

    if (warm_up(cell) < 0)
        return -1;
    cell->repeat = 1;
    ns = sample(cell);
    cell->repeat = ns >= SAMPLE_NS ? 1 : (uint32_t)(SAMPLE_NS / ns + 1);
    if (cell->repeat > REPEAT_MAX)
        cell->repeat = REPEAT_MAX;
    return 0;
}

/*
 * Takes a sample, and repeats it if another program interrupts it. Returns the shortest time, or 0
 * if the move is refused.
 */
static uint64_t undisturbed_sample(struct kernel_cell *cell)
{
    uint64_t least = 0;

    if (warm_up(cell) < 0)
        return 0;
    for (int i = 0; i < TRIES; i++) {
        const long before = interruptions();
        const uint64_t ns = sample(cell);

        if (least == 0 || ns < least)
            least = ns;
        if (interruptions() == before)
            break;
    }
    return least;
}

/*
 * Takes a sample of each variant, with the move at new addresses. Returns 0, or -1 if a move or a
 * tuning is refused (mli_last_error()).
 */
static int kernel_cell_pass(struct kernel_cell *cell, const mli_tuning *variants,
                            struct kernel_memory *memory)
{
    const size_t first = kernel_memory_random(memory) % cell->variants;

    if (!kernel_move_place(&cell->move, memory) || (cell->repeat == 0 && choose_repeat(cell) < 0))
        return -1;
    for (size_t i = 0; i < cell->variants; i++) {
        const size_t v = (first + i) % cell->variants;
        uint64_t ns;

        if (mli_tuning_set(&variants[v]) != MLI_STATUS_OK)
            return -1;
        ns = undisturbed_sample(cell);
        if (ns == 0)
            return -1;
        if (cell->passes == 0 || ns < cell->least_ns[v])
            cell->least_ns[v] = ns;
    }
    cell->passes++;
    return 0;
}

/* Returns the time with `variant` divided by the time with variant 0. */
static double kernel_cell_ratio(const struct kernel_cell *cell, size_t variant)
{
    return (double)cell->least_ns[variant] / (double)cell->least_ns[0];
}

/* The sizes that `mlictl calibrate --kernels` measures, apart from the thresholds of streaming. */

#define SIZE(field, level, streamed, candidates, ...)                                              \
    {                                                                                              \
        field, level, streamed, candidates,                                                        \
        {                                                                                          \
            __VA_ARGS__                                                                            \
        }                                                                                          \
    }
#define CANDIDATES(...)                                                                            \
    {                                                                                              \
        __VA_ARGS__                                                                                \
    }
#define PROBE(shape, elem, kib)                                                                    \
    {                                                                                              \
        shape, elem, kib                                                                           \
    }

const struct kernel_size kernel_sizes[] = {
    SIZE("avx512_store_ahead", "avx512", false, CANDIDATES(256, 1024, 2048),
         PROBE("pad HWC, C=32", 1, 384), PROBE("pad HWC, C=32", 1, 8192),
         PROBE("rows of 17 of 64", 4, 384)),
    SIZE("avx512_skinny_ahead", "avx512", false, CANDIDATES(256, 1024, 2048),
         PROBE("HWC to CHW, C=3", 1, 384), PROBE("HWC to CHW, C=3", 4, 2048),
         PROBE("CHW to HWC, C=3", 1, 384), PROBE("CHW to HWC, C=3", 2, 2048)),
    SIZE("avx512_narrow_ahead", "avx512", false, CANDIDATES(128, 512, 1024),
         PROBE("HWC to CHW, C=5 of 6", 1, 384), PROBE("HWC to CHW, C=5 of 6", 2, 384),
         PROBE("HWC to CHW, C=5 of 6", 1, 4096)),
    SIZE("avx512_stream_ahead", "avx512", true, CANDIDATES(256, 1024, 2048, 4096),
         PROBE("copy", 1, 16384), PROBE("copy", 4, 32768)),
    SIZE("avx2_store_ahead", "avx2", false, CANDIDATES(128, 512, 1024),
         PROBE("HWC to CHW, C=3", 1, 384), PROBE("HWC to CHW, C=3", 2, 384),
         PROBE("HWC to CHW, C=3", 1, 4096)),
    SIZE("burst_bytes", NULL, false, CANDIDATES(1024, 4096, 8192), PROBE("exchange rows", 1, 4096),
         PROBE("exchange rows", 4, 4096), PROBE("exchange rows", 2, 8192)),
    SIZE("planes_bytes", NULL, false, CANDIDATES(16384, 65536), PROBE("pad CHW", 1, 384),
         PROBE("pad CHW", 4, 384), PROBE("pad CHW", 1, 8192), PROBE("pad CHW", 4, 8192)),
    SIZE("gather_lines", NULL, false, CANDIDATES(128, 512), PROBE("gather columns", 1, 384),
         PROBE("gather columns", 2, 4096)),
    SIZE("second_level_bytes", NULL, false, CANDIDATES(524288, 2097152),
         PROBE("exchange rows", 1, 768), PROBE("exchange rows", 4, 768),
         PROBE("exchange rows", 2, 1536)),
    SIZE("tile_columns", NULL, false, CANDIDATES(256, 1024, 2048), PROBE("transpose", 1, 384),
         PROBE("transpose", 4, 4096), PROBE("HWC to CHW, C=32", 2, 4096),
         PROBE("HWC to CHW, C=64", 4, 384)),
    SIZE("tile_source_bytes", NULL, false, CANDIDATES(12288, 36864, 65536),
         PROBE("transpose, powers of two", 1, 384), PROBE("transpose, powers of two", 2, 384),
         PROBE("transpose, powers of two", 4, 768)),
    SIZE("panel_rows", NULL, false, CANDIDATES(64, 128), PROBE("reverse four dimensions", 1, 384),
         PROBE("reverse four dimensions", 4, 384), PROBE("pad, step 2, HWC to CHW", 2, 384),
         PROBE("reverse four dimensions", 2, 4096)),
    SIZE("stage_bytes", NULL, true, CANDIDATES(8192, 24576, 32768), PROBE("subsample 3", 1, 16384),
         PROBE("CHW to HWC, C=3", 1, 16384), PROBE("pad HWC, C=3", 2, 16384),
         PROBE("rows of 17 of 64", 4, 16384)),
    SIZE("stage_width", NULL, true, CANDIDATES(128, 512), PROBE("transpose", 1, 16384),
         PROBE("transpose", 4, 16384), PROBE("HWC to CHW, C=32", 2, 16384)),
    SIZE("stage_rows", NULL, true, CANDIDATES(128, 256), PROBE("transpose", 1, 16384),
         PROBE("transpose", 4, 16384), PROBE("transpose, powers of two", 2, 16384)),
    {NULL},
};

#define SOURCE_MAX ((size_t)160 << 20)
#define MIB        ((uint64_t)1 << 20)

/* Ratios of times that decide whether a value is accepted (found) and kept (kept). */
static const double found_mean = 0.97, kept_mean = 0.97, loss = 1.02, kept_worst = 1.03;

/* A candidate may slow down one move in LOSSES_OF: this may be a disturbance of the machine. */
enum { LOSSES_OF = 8 };

/*
 * The sizes at which moves are timed with and without streaming: each size is twice the size
 * before it.
 */
enum { LADDER_FIRST_KIB = 256, LADDER = 7, ELEMS = 3, SHAPES_MAX = 32 };
enum { CELLS_MAX = SHAPES_MAX * ELEMS * LADDER, GROUPS_MAX = CELLS_MAX };
enum { PLAIN, STREAMED, WAYS };
enum { SIZES_PERCENT = 30, THRESHOLDS_PERCENT = 45 };

/* A group of cells. A cell is a move, which is timed with each variant of the group. */
struct group {
    size_t field, first, count; /* the cells [first, first + count) */
    mli_tuning variants[KERNEL_VARIANTS];
    size_t variant_count;
};

struct work {
    struct kernel_search *search;
    struct kernel_memory memory;
    const struct kernel_progress *progress;
    struct fault *fault;
    struct kernel_cell *cells;
    struct group *groups;
    size_t cell_count, group_count;
    uint64_t begin, end; /* times at which the whole search begins and ends */
};

static size_t ladder_bytes(size_t step)
{
    return (size_t)LADDER_FIRST_KIB << 10 << step;
}

/* Sets all thresholds: 0 streams every move, UINT64_MAX none. */
static void set_thresholds(mli_tuning *tuning, uint64_t bytes)
{
    for (size_t i = 0; i < TUNING_FIELDS; i++)
        if (tuning_field_is_threshold(i))
            tuning_field_set(tuning, i, bytes);
}

static struct group *add_group(struct work *work, size_t field)
{
    struct group *group = &work->groups[work->group_count++];

    memset(group, 0, sizeof *group);
    group->field = field;
    group->first = work->cell_count;
    return group;
}

static void add_variant(struct group *group, const mli_tuning *tuning)
{
    group->variants[group->variant_count++] = *tuning;
}

static void add_cell(struct work *work, struct group *group, const struct kernel_move *move)
{
    struct kernel_cell *cell = &work->cells[work->cell_count++];

    memset(cell, 0, sizeof *cell);
    cell->move = *move;
    cell->variants = group->variant_count;
    group->count++;
    if (work->search->verdict[group->field] == KERNEL_ABSENT)
        work->search->verdict[group->field] = KERNEL_UNMEASURED;
}

/* Takes a sample of each variant of a cell. */
static int pass(struct work *work, const struct group *group, struct kernel_cell *cell,
                const char *what)
{
    if (cancel_requested())
        return cancel_fault(work->fault);
    if (kernel_cell_pass(cell, group->variants, &work->memory) < 0)
        return fault_set(work->fault, FAULT_INTERNAL, NULL, "a measurement failed: %s",
                         mli_last_error());
    work->progress->show(work->progress->context, what,
                         (double)(clock_ns() - work->begin) / (double)(work->end - work->begin));
    return 0;
}

/*
 * Takes samples of all cells in turns until the time is over. If `losers` is true, every second
 * pass (after the first ones) takes only the cells that are slower with variant 1: more samples
 * show whether they really are, or were disturbed.
 */
static int measure(struct work *work, const char *what, bool losers, uint64_t until)
{
    for (uint32_t round = 0; work->group_count > 0 && clock_ns() < until; round++) {
        const bool only_losers = losers && round >= KERNEL_PASSES_MIN && round % 2 == 0;

        for (size_t g = 0; g < work->group_count; g++) {
            const struct group *group = &work->groups[g];

            for (size_t c = group->first; c < group->first + group->count; c++) {
                if (only_losers && kernel_cell_ratio(&work->cells[c], 1) <= 1)
                    continue;
                if (clock_ns() >= until)
                    return 0;
                if (pass(work, group, &work->cells[c], what) < 0)
                    return -1;
            }
        }
    }
    return 0;
}

/* The ratios of some moves: sum of their logarithms, worst ratio, number of losses. */
struct summary {
    double logs, worst;
    size_t count, losses;
};

static void add_ratio(struct summary *summary, double ratio)
{
    summary->logs += log(ratio);
    summary->worst = summary->count == 0 || ratio > summary->worst ? ratio : summary->worst;
    summary->losses += ratio > loss;
    summary->count++;
}

static double mean_of(const struct summary *summary)
{
    return summary->count ? exp(summary->logs / (double)summary->count) : 1;
}

/* Returns whether a candidate is worth a confirmation. */
static bool is_found(const struct summary *summary, double mean)
{
    return summary->count > 0 && mean_of(summary) <= mean &&
           summary->losses <= summary->count / LOSSES_OF;
}

static bool is_confirmed(const struct summary *summary)
{
    return summary->count > 0 && mean_of(summary) <= kept_mean && summary->worst <= kept_worst;
}

/* Returns whether all cells of the group have enough samples. */
static bool is_measured(const struct work *work, const struct group *group)
{
    for (size_t c = 0; c < group->count; c++)
        if (work->cells[group->first + c].passes < KERNEL_PASSES_MIN)
            return false;
    return group->count > 0;
}

static struct summary summary_of(const struct work *work, const struct group *group, size_t variant)
{
    struct summary summary = {0};

    for (size_t c = 0; c < group->count; c++)
        add_ratio(&summary, kernel_cell_ratio(&work->cells[group->first + c], variant));
    return summary;
}

/* Part 1: sizes. */

/* Limits the number of rows of the stage: the wider the rows, the fewer fit into the stage. */
static void fit_stage(mli_tuning *tuning)
{
    const uint64_t most =
        MLI_TUNING_STAGE_ROOM / (tuning->stage_width + MLI_TUNING_STAGE_EDGES) / 16 * 16;

    if (tuning->stage_rows > most)
        tuning->stage_rows = most;
}

static void add_size(struct work *work, const struct kernel_size *size)
{
    struct group *group = add_group(work, tuning_field_named(size->field));
    mli_tuning base = work->search->defaults;

    set_thresholds(&base, size->streamed ? 0 : UINT64_MAX);
    add_variant(group, &base);
    for (size_t i = 0; i < KERNEL_CANDIDATES && size->candidates[i]; i++) {
        mli_tuning variant = base;

        if (tuning_field_get(&base, group->field) == size->candidates[i])
            continue;
        tuning_field_set(&variant, group->field, size->candidates[i]);
        fit_stage(&variant);
        add_variant(group, &variant);
    }
    for (size_t i = 0; i < KERNEL_PROBES && size->probes[i].shape; i++) {
        struct kernel_move move;

        kernel_move_init(&move, kernel_shape_named(size->probes[i].shape), size->probes[i].elem,
                         (size_t)size->probes[i].kib << 10);
        add_cell(work, group, &move);
    }
}

/* Takes over the best candidate of a size, if it is better than the default. */
static void choose_size(struct work *work, const struct group *group)
{
    struct kernel_search *search = work->search;
    double best = found_mean;

    if (!is_measured(work, group)) {
        search->incomplete = true;
        return;
    }
    search->verdict[group->field] = KERNEL_KEPT;
    for (size_t v = 1; v < group->variant_count; v++) {
        const struct summary summary = summary_of(work, group, v);

        if (!is_found(&summary, best))
            continue;
        best = mean_of(&summary);
        search->verdict[group->field] = KERNEL_CHANGED;
        tuning_field_set(&search->tuning, group->field,
                         tuning_field_get(&group->variants[v], group->field));
    }
    fit_stage(&search->tuning);
}

static int search_sizes(struct work *work, uint64_t until)
{
    const bool streams = strncmp(mli_cpu_level(), "avx", 3) == 0;

    for (const struct kernel_size *size = kernel_sizes; size->field; size++)
        if ((!size->level || strcmp(size->level, mli_cpu_level()) == 0) &&
            (streams || !size->streamed))
            add_size(work, size);
    if (measure(work, "sizes", false, until) < 0)
        return -1;
    for (size_t g = 0; g < work->group_count; g++)
        choose_size(work, &work->groups[g]);
    return 0;
}

/* Part 2: thresholds. Each group has the moves of one size for which one threshold decides. */

/*
 * Returns the threshold to try for one measured size. It is a sixteenth below this size, because
 * moves that are slightly smaller should stream too.
 */
static uint64_t candidate(size_t step)
{
    return ladder_bytes(step) / 16 * 15;
}

/*
 * Returns the largest threshold to choose: the default for copies, which is about the core's share
 * of the third-level cache. A measurement would choose larger ones, because it finds its
 * destination in the caches. In a program large destinations rarely are, and streaming is faster.
 */
static uint64_t most_threshold(const struct work *work)
{
    return work->search->defaults.stream_rows_min;
}

/* Returns whether some threshold that may be chosen makes moves of the size `step` stream. */
static bool matters(const struct work *work, size_t field, size_t step)
{
    const uint64_t bytes = ladder_bytes(step);

    return bytes < most_threshold(work) || bytes < tuning_field_get(&work->search->defaults, field);
}

/* Adds moves of the size `step`: those that write at least `from` and less than `to` bytes, and for
 * which the group's threshold decides whether they stream. */
static void add_moves(struct work *work, struct group *group, size_t step, uint64_t from,
                      uint64_t to)
{
    for (const struct kernel_shape *shape = kernel_shapes; shape->name; shape++) {
        for (uint32_t elem = 1; elem <= 4; elem *= 2) {
            struct kernel_move move;

            kernel_move_init(&move, shape, elem, ladder_bytes(step));
            if (move.bytes >= from && move.bytes < to && kernel_move_place(&move, &work->memory) &&
                kernel_move_threshold(&move) == group->field)
                add_cell(work, group, &move);
        }
    }
}

static void add_threshold_cells(struct work *work, size_t field, size_t step)
{
    struct group *group = add_group(work, field);
    mli_tuning way = work->search->tuning;

    set_thresholds(&way, UINT64_MAX);
    add_variant(group, &way);
    set_thresholds(&way, 0);
    add_variant(group, &way);
    add_moves(work, group, step, 0, UINT64_MAX);
    if (group->count == 0)
        work->group_count--;
}

/*
 * Returns how much a threshold changes the times of moves, compared with the default threshold.
 * Only moves whose sizes are between the two thresholds change: with one of them they stream.
 */
static struct summary effect_of(const struct work *work, size_t field, uint64_t threshold)
{
    const uint64_t otherwise = tuning_field_get(&work->search->defaults, field);
    struct summary summary = {0};

    for (size_t g = 0; g < work->group_count; g++) {
        const struct group *group = &work->groups[g];

        for (size_t c = group->first; group->field == field && c < group->first + group->count;
             c++) {
            const struct kernel_cell *cell = &work->cells[c];
            const bool now = cell->move.bytes >= otherwise, then = cell->move.bytes >= threshold;

            if (now != then)
                add_ratio(&summary, then ? kernel_cell_ratio(cell, STREAMED)
                                         : 1 / kernel_cell_ratio(cell, STREAMED));
        }
    }
    return summary;
}

static void choose_threshold(struct work *work, size_t field)
{
    struct kernel_search *search = work->search;
    double best = 0;

    if (search->verdict[field] == KERNEL_ABSENT)
        return;
    for (size_t g = 0; g < work->group_count; g++)
        if (work->groups[g].field == field && !is_measured(work, &work->groups[g])) {
            search->incomplete = true;
            return;
        }
    search->verdict[field] = KERNEL_KEPT;
    for (size_t step = 0; step < LADDER && candidate(step) <= most_threshold(work); step++) {
        const struct summary effect = effect_of(work, field, candidate(step));

        /* Take the candidate that saves most time in total. */
        if (!is_found(&effect, found_mean) || effect.logs >= best)
            continue;
        best = effect.logs;
        search->verdict[field] = KERNEL_CHANGED;
        tuning_field_set(&search->tuning, field, candidate(step));
    }
}

static int search_thresholds(struct work *work, uint64_t until)
{
    work->cell_count = work->group_count = 0;
    for (size_t step = 0; step < LADDER; step++)
        for (size_t i = 0; i < TUNING_FIELDS; i++)
            if (tuning_field_is_threshold(i) && matters(work, i, step))
                add_threshold_cells(work, i, step);
    if (measure(work, "thresholds", false, until) < 0)
        return -1;
    for (size_t i = 0; i < TUNING_FIELDS; i++)
        if (tuning_field_is_threshold(i))
            choose_threshold(work, i);
    return 0;
}

/* Part 3: confirmation. */

/* Adds the moves of a size once more, timed with the default and with the new value. */
static void confirm_size(struct work *work, size_t field)
{
    const struct kernel_size *size = kernel_sizes;
    struct group *group;
    size_t first;

    while (strcmp(size->field, tuning_fields[field].name) != 0)
        size++;
    first = work->group_count;
    add_size(work, size);
    group = &work->groups[first];
    group->variant_count = 2;
    group->variants[1] = group->variants[0];
    tuning_field_set(&group->variants[1], field, tuning_field_get(&work->search->tuning, field));
    fit_stage(&group->variants[1]);
    for (size_t c = group->first; c < work->cell_count; c++)
        work->cells[c].variants = 2;
}

/* Adds the moves that a threshold affects to the list of measurements a second time. They are timed
 * with the default value and with the new value. */
static void confirm_threshold(struct work *work, size_t field)
{
    struct group *group = add_group(work, field);
    const uint64_t otherwise = tuning_field_get(&work->search->defaults, field),
                   threshold = tuning_field_get(&work->search->tuning, field);
    mli_tuning variant = work->search->tuning;

    tuning_field_set(&variant, field, otherwise);
    add_variant(group, &variant);
    add_variant(group, &work->search->tuning);
    for (size_t step = 0; step < LADDER; step++)
        if (matters(work, field, step))
            add_moves(work, group, step, otherwise < threshold ? otherwise : threshold,
                      otherwise < threshold ? threshold : otherwise);
}

static void judge(struct work *work, const struct group *group)
{
    struct kernel_search *search = work->search;
    const struct summary summary = summary_of(work, group, 1);

    if (is_measured(work, group) && is_confirmed(&summary)) {
        search->gain[group->field] = 1 - mean_of(&summary);
        return;
    }
    search->verdict[group->field] = KERNEL_UNSURE;
    tuning_field_set(&search->tuning, group->field,
                     tuning_field_get(&search->defaults, group->field));
}

static int confirm(struct work *work, uint64_t until)
{
    work->cell_count = work->group_count = 0;
    for (size_t i = 0; i < TUNING_FIELDS; i++) {
        if (work->search->verdict[i] != KERNEL_CHANGED)
            continue;
        if (tuning_field_is_threshold(i))
            confirm_threshold(work, i);
        else
            confirm_size(work, i);
    }
    if (measure(work, "confirmation", true, until) < 0)
        return -1;
    for (size_t g = 0; g < work->group_count; g++)
        judge(work, &work->groups[g]);
    fit_stage(&work->search->tuning);
    return 0;
}

static int search_all(struct work *work, uint64_t seconds)
{
    const uint64_t percent = seconds * UINT64_C(10000000);

    work->begin = clock_ns();
    work->end = work->begin + 100 * percent;
    if (search_sizes(work, work->begin + SIZES_PERCENT * percent) < 0)
        return -1;
    return search_thresholds(work, work->begin + (SIZES_PERCENT + THRESHOLDS_PERCENT) * percent) <
                       0 ||
                   confirm(work, work->end) < 0
               ? -1
               : 0;
}

int kernel_search_run(struct kernel_search *search, const mli_tuning *defaults, uint64_t seconds,
                      const struct kernel_progress *progress, struct fault *fault)
{
    struct work work = {.search = search, .progress = progress, .fault = fault};
    mli_tuning before = {.size = sizeof before};
    int result;

    memset(search, 0, sizeof *search);
    search->tuning = search->defaults = *defaults;
    for (size_t i = 0; i < TUNING_FIELDS; i++)
        search->verdict[i] = KERNEL_ABSENT;
    work.cells = calloc(CELLS_MAX, sizeof *work.cells);
    work.groups = calloc(GROUPS_MAX, sizeof *work.groups);
    if (!work.cells || !work.groups ||
        kernel_memory_init(&work.memory, SOURCE_MAX, ladder_bytes(LADDER)) < 0) {
        result = fault_set(fault, FAULT_INTERNAL, NULL,
                           "out of memory: the moves require %" PRIu64 " MiB",
                           (uint64_t)(SOURCE_MAX + ladder_bytes(LADDER)) / MIB);
    } else {
        (void)mli_tuning_get(&before);
        result = search_all(&work, seconds);
        (void)mli_tuning_set(&before);
    }
    kernel_memory_finish(&work.memory);
    free(work.cells);
    free(work.groups);
    return result;
}

/* SPDX-License-Identifier: BSD-3-Clause */
#include "cli/calibrate/calibration.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "mli_engine.h"
#include "mli_helpers_api.h"
#include "target/cost/measured_cost.h"

#define MAX_BYTES    (UINT64_C(32) << 20)
#define CHECK_SEED   UINT64_C(0x636865636b) /* seed of the check: other moves than in the sweep */
#define MEMORY_SHARE 8 /* a tensor takes at most an eighth of a board's memory */
enum { LEAST_BYTES = 2048, LINES = 5 };

static bool passes(const struct error_filter *filter, const struct checked_move *move)
{
    return (filter->class < 0 || filter->class == (int)move->class) &&
           (filter->kind < 0 || filter->kind == (int)move->kind) &&
           move->measured >= filter->from && (filter->to <= 0 || move->measured < filter->to);
}

struct error_summary calibration_errors(const struct calibration *calibration,
                                        const struct error_filter *filter)
{
    double *error = calibration->errors;
    struct error_summary summary = {0};

    for (size_t i = 0; i < calibration->checked_count; i++) {
        const struct checked_move *move = &calibration->checked[i];
        const double predicted = filter->formula ? move->formula : move->predicted;

        if (passes(filter, move))
            error[summary.moves++] = fabs(predicted / move->measured - 1);
    }
    if (summary.moves > 0) {
        sort_doubles(error, summary.moves);
        summary.median = error[summary.moves / 2];
        summary.p95 = error[summary.moves * 95 / 100];
    }
    return summary;
}

/* The engine */

static int set_engine(struct calibration *c, const struct calibration_rules *rules,
                      struct fault *fault)
{
    struct mli_channel_caps caps;

    mli_mov_set_num_dma_ch(0, 0);
    if (mli_mov_set_engine(rules->engine) != MLI_STATUS_OK)
        return fault_set(fault, FAULT_INVALID_PARAMS, NULL, "--engine %s: %s", rules->engine,
                         mli_last_error());
    if (mli_mov_set_num_dma_ch(0, 1) != MLI_STATUS_OK)
        return fault_set(fault, FAULT_INTERNAL, NULL, "cannot use a channel of engine %s: %s",
                         mli_mov_engine_name(), mli_last_error());
    mli_mov_engine_caps(&caps);
    c->processor = (caps.flags & MLI_CHANNEL_CPU) != 0;
    snprintf(c->engine, sizeof c->engine, "%s", rules->engine);
    return 0;
}

/* Allocates buffers, and gives them addresses in a memory of the board. */
static int init_measure(struct measure *measure, uint64_t *max_bytes, const struct calibration *c,
                        const struct calibration_rules *rules, struct fault *fault)
{
    const struct profile_memory *memory = profile_dma_memory(&c->profile, NULL);

    if (!memory)
        return fault_set(fault, FAULT_INVALID_PARAMS, NULL,
                         "profile %s has no memory with \"dma\" in \"reached_by\"; one is required "
                         "for source and destination",
                         c->profile.name);
    *max_bytes = memory->size / MEMORY_SHARE < MAX_BYTES ? memory->size / MEMORY_SHARE : MAX_BYTES;
    if (*max_bytes < LEAST_BYTES)
        return fault_set(fault, FAULT_INVALID_PARAMS, NULL,
                         "memory %s of profile %s has %" PRIu64 " B; at least %d B are required",
                         memory->name, c->profile.name, memory->size, MEMORY_SHARE * LEAST_BYTES);
    if (measure_init(measure, *max_bytes, fault) < 0)
        return -1;
    if (rules->now_ns)
        measure->now_ns = rules->now_ns;
    measure->by_thread = !rules->now_ns && strcmp(mli_mov_engine_name(), "inline") == 0;
    measure->src_address = (memory->base + SWEEP_SLACK - 1) / SWEEP_SLACK * SWEEP_SLACK;
    measure->dst_address = measure->src_address + measure->bytes / SWEEP_SLACK * SWEEP_SLACK;
    return 0;
}

/* The sources of the figures */

static void drop_sources(struct target_profile *profile, const char *prefix)
{
    uint32_t kept = 0;

    for (uint32_t i = 0; i < profile->source_count; i++)
        if (strncmp(profile->sources[i].pointer, prefix, strlen(prefix)) != 0)
            profile->sources[kept++] = profile->sources[i];
    profile->source_count = kept;
}

static void add_source(struct target_profile *profile, const char *pointer, const char *text)
{
    struct profile_source *source;

    if (profile->source_count == PROFILE_SOURCES_MAX)
        return; /* the profile cites a source for a group of figures, which has this figure too */
    source = &profile->sources[profile->source_count++];
    snprintf(source->pointer, sizeof source->pointer, "%s", pointer);
    snprintf(source->text, sizeof source->text, "%s", text);
}

static void add_summary(struct target_profile *profile, const char *pointer,
                        const struct error_summary *errors, const char *measured)
{
    char text[PROFILE_SOURCE_MAX];

    snprintf(text, sizeof text,
             "%s; %zu other moves: median error %.1f %%, 95 of 100 within %.1f %%", measured,
             errors->moves, errors->median * 100, errors->p95 * 100);
    add_source(profile, pointer, errors->moves > 0 ? text : measured);
}

static void add_class_sources(struct calibration *c, const char *measured)
{
    char pointer[FAULT_POINTER_MAX];

    add_summary(&c->profile, "/costs/measured", &c->all, measured);
    for (int i = 0; i < MOVE_CLASSES; i++) {
        if (!c->profile.measured.class[i].present || c->class[i].moves == 0)
            continue;
        snprintf(pointer, sizeof pointer, "/costs/measured/classes/%s", move_class_keys[i]);
        add_summary(&c->profile, pointer, &c->class[i], measured);
    }
}

static void add_figure_sources(struct calibration *c, const char *measured)
{
    char pointer[FAULT_POINTER_MAX], text[PROFILE_SOURCE_MAX];

    for (int i = 0; i < FORMULA_FIGURES; i++) {
        snprintf(pointer, sizeof pointer, "/costs/%s", profile_cost_members[i].key);
        snprintf(text, sizeof text, "%s, standard error %.4g cycles", measured, c->error[i]);
        drop_sources(&c->profile, pointer);
        add_summary(&c->profile, pointer, &c->all, text);
    }
    drop_sources(&c->profile, "/costs/finish");
    add_source(&c->profile, "/costs/finish", "measured together with start");
}

/* Replaces the texts that say where the measured figures of the profile come from. */
static void set_sources(struct calibration *c, const struct calibration_rules *rules)
{
    char measured[PROFILE_SOURCE_MAX / 2];

    snprintf(measured, sizeof measured, "measured on %s, %s, %zu moves", c->engine, rules->date,
             c->moves);
    if (c->processor) {
        drop_sources(&c->profile, "/costs");
        add_class_sources(c, measured);
    } else {
        add_figure_sources(c, measured);
    }
}

/* The steps */

static int fit(struct calibration *c, const struct sweep *sweep, struct fault *fault)
{
    const struct profile_memory *memory = profile_dma_memory(&c->profile, NULL);
    int result;

    if (c->processor) {
        c->profile.costs = (struct profile_costs){0};
        result = measured_fit(&c->profile.measured, sweep->moves, sweep->count);
    } else {
        result = formula_fit(&c->profile, memory, sweep->moves, sweep->count, c->error);
    }
    return result == 0 ? 0 : fault_set(fault, FAULT_INTERNAL, NULL, "out of memory for the fit");
}

void calibration_write(struct jsonw *w, const struct calibration *calibration)
{
    jsonw_init_lines(w, LINES);
    profile_write(w, NULL, &calibration->profile);
    jsonw_newline(w);
}

/* Replaces the profile by the profile that a reader of its text gets. */
static int read_back(struct calibration *c, struct fault *fault)
{
    struct jsonw w;
    const char *text;
    int result = -1;

    calibration_write(&w, c);
    text = jsonw_text(&w);
    if (text)
        result = profile_read(&c->profile, text, strlen(text), fault);
    else
        fault_set(fault, FAULT_INTERNAL, NULL, "out of memory for the profile");
    jsonw_finish(&w);
    return result;
}

static void predict(struct checked_move *checked, const struct calibration *c,
                    const struct measured_move *move)
{
    struct measured_time time;
    struct move_numbers numbers;

    move_numbers(&numbers, &move->plan);
    checked->class = numbers.class;
    checked->measured = move->cycles;
    if (!c->processor) {
        checked->formula = checked->predicted =
            formula_cycles(&c->profile, profile_dma_memory(&c->profile, NULL), &move->plan);
        return;
    }
    measured_formula(&time, &c->profile.measured, &numbers);
    checked->formula = time.total;
    measured_time(&time, &c->profile.measured, &move->plan);
    checked->predicted = time.total;
}

static void summarise(struct calibration *c)
{
    c->all = calibration_errors(c, &(struct error_filter){-1, -1, 0, 0, false});
    c->formula = calibration_errors(c, &(struct error_filter){-1, -1, 0, 0, true});
    for (int i = 0; i < MOVE_CLASSES; i++)
        c->class[i] = calibration_errors(c, &(struct error_filter){i, -1, 0, 0, false});
    for (int i = 0; i < SWEEP_KIND_COUNT; i++)
        c->kind[i] = calibration_errors(c, &(struct error_filter){-1, i, 0, 0, false});
}

static int check(struct calibration *c, const struct sweep *sweep, struct fault *fault)
{
    c->checked = calloc(sweep->count + 1, sizeof *c->checked);
    c->errors = calloc(sweep->count + 1, sizeof *c->errors);
    if (!c->checked || !c->errors)
        return fault_set(fault, FAULT_INTERNAL, NULL, "out of memory for checked moves");
    c->checked_count = sweep->count;
    for (size_t i = 0; i < sweep->count; i++) {
        c->checked[i].kind = (enum sweep_kind)sweep->kinds[i];
        predict(&c->checked[i], c, &sweep->moves[i]);
    }
    summarise(c);
    return 0;
}

/* The rules of a sweep, and its name in the progress line. */
struct step {
    const struct calibration_rules *rules;
    const char *word;
};

static void show_progress(void *context, double done, size_t moves)
{
    const struct step *step = context;

    if (step->rules->progress)
        step->rules->progress(step->rules->context, step->word, done, moves);
}

/*
 * Runs one of the two sweeps. `rules` are the rules of this sweep; the rules for both are in *c.
 * `step` has the name for the progress line.
 */
static int run_sweep(struct sweep *sweep, struct measure *measure, const struct calibration *c,
                     struct step *step, struct sweep_rules rules, struct fault *fault)
{
    rules.time_ns = step->rules->time_ns;
    rules.clock_hz = (double)c->profile.clock_hz;
    rules.stop = step->rules->stop;
    rules.progress = show_progress;
    rules.context = step;
    return sweep_run(sweep, measure, &rules, fault);
}

/*
 * Measures moves, fits the profile to them, writes its text and reads the text back. Returns 0, 1
 * if stopped, or -1.
 */
static int learn(struct calibration *c, struct measure *measure,
                 const struct calibration_rules *rules, uint64_t max_bytes, struct fault *fault)
{
    const uint64_t begin = measure->now_ns();
    struct step step = {rules, "measuring"};
    const struct sweep_rules own = {.seed = rules->seed, .max_bytes = max_bytes, .dense = true};
    struct sweep sweep;
    int result = run_sweep(&sweep, measure, c, &step, own, fault);

    c->moves = sweep.count;
    c->repeat = sweep.repeat;
    c->left_out = sweep.left_out;
    c->seconds = (double)(measure->now_ns() - begin) / 1e9;
    c->stopped = sweep.stopped;
    if (result == 0 && !sweep.stopped)
        result = fit(c, &sweep, fault);
    if (result == 0 && !sweep.stopped) {
        set_sources(c, rules);
        result = read_back(c, fault);
    }
    sweep_finish(&sweep);
    return result;
}

static int verify(struct calibration *c, struct measure *measure,
                  const struct calibration_rules *rules, uint64_t max_bytes, struct fault *fault)
{
    struct step step = {rules, "checking"};
    const struct sweep_rules own = {
        .seed = rules->seed ^ CHECK_SEED, .max_bytes = max_bytes, .count = rules->check};
    struct sweep sweep;
    int result = run_sweep(&sweep, measure, c, &step, own, fault);

    c->stopped = sweep.stopped;
    c->left_out += sweep.left_out;
    if (result == 0 && !sweep.stopped)
        result = check(c, &sweep, fault);
    if (result == 0 && !sweep.stopped)
        set_sources(c, rules);
    sweep_finish(&sweep);
    return result;
}

int calibration_run(struct calibration *c, const struct calibration_rules *rules,
                    struct fault *fault)
{
    struct measure measure;
    uint64_t max_bytes = 0;
    int result = -1;

    if (set_engine(c, rules, fault) == 0 &&
        init_measure(&measure, &max_bytes, c, rules, fault) == 0) {
        result = learn(c, &measure, rules, max_bytes, fault);
        if (result == 0 && !c->stopped && rules->check > 0)
            result = verify(c, &measure, rules, max_bytes, fault);
        measure_finish(&measure);
    }
    mli_mov_set_num_dma_ch(0, 0);
    return result;
}

void calibration_finish(struct calibration *calibration)
{
    free(calibration->checked);
    free(calibration->errors);
    calibration->checked = NULL;
    calibration->errors = NULL;
    calibration->checked_count = 0;
}

/* SPDX-License-Identifier: BSD-3-Clause */
#include "cli/calibrate/calibration.h"

#include <math.h>
#include <stdio.h>

#define INDENT "  "
enum { DECADES = 10 };

static void put_summary(struct grid *grid, const char *name, const struct error_summary *errors)
{
    if (errors->moves == 0)
        return;
    grid_add(grid, "%s\t%zu\t%.1f %%\t%.1f %%", name, errors->moves, errors->median * 100,
             errors->p95 * 100);
}

static void put_head(struct grid *grid, const char *what)
{
    grid_init(grid, "lrrr");
    grid_add(grid, "%s\tmoves\tmedian error\t95 of 100 within", what);
}

static void put_grid(struct textw *w, struct grid *grid)
{
    grid_write(grid, INDENT, w);
    textw_printf(w, "\n");
}

/* Returns the errors of moves that take 10^decade to 10^(decade + 1) ns. */
static struct error_summary of_decade(const struct calibration *c, int decade)
{
    const double cycles = (double)c->profile.clock_hz / 1e9;
    const struct error_filter filter = {-1, -1, pow(10, decade) * cycles,
                                        pow(10, decade + 1) * cycles, false};

    return calibration_errors(c, &filter);
}

static void put_decades(struct textw *w, const struct calibration *c)
{
    struct grid grid;

    put_head(&grid, "time");
    for (int decade = 0; decade < DECADES; decade++) {
        const struct error_summary errors = of_decade(c, decade);
        char from[PRINT_TEXT_MAX], to[PRINT_TEXT_MAX], name[2 * PRINT_TEXT_MAX + 8];

        print_time(from, (uint64_t)pow(10, decade));
        print_time(to, (uint64_t)pow(10, decade + 1));
        snprintf(name, sizeof name, "%s to %s", from, to);
        put_summary(&grid, name, &errors);
    }
    put_grid(w, &grid);
}

static void put_checks(struct textw *w, const struct calibration *c)
{
    struct grid grid;

    put_head(&grid, "kind of move");
    for (int i = 0; i < SWEEP_KIND_COUNT; i++)
        put_summary(&grid, sweep_kind_name((enum sweep_kind)i), &c->kind[i]);
    put_grid(w, &grid);
    put_head(&grid, "class");
    for (int i = 0; i < MOVE_CLASSES; i++)
        put_summary(&grid, move_class_keys[i], &c->class[i]);
    put_grid(w, &grid);
    put_decades(w, c);
    put_head(&grid, "check");
    if (c->processor)
        put_summary(&grid, "formula without trees", &c->formula);
    put_summary(&grid, "all", &c->all);
    put_grid(w, &grid);
}

static void put_figures(struct textw *w, const struct calibration *c)
{
    struct grid grid;

    grid_init(&grid, "lrr");
    grid_add(&grid, "figure\tcycles\tstandard error");
    for (int i = 0; i < FORMULA_FIGURES; i++) {
        const struct profile_cost_member *m = &profile_cost_members[i];
        char text[PROFILE_COST_TEXT_MAX];

        grid_add(&grid, "%s\t%s\t%.3g", m->key,
                 profile_cost_text(text, profile_cost_of(&c->profile.costs, m)), c->error[i]);
    }
    put_grid(w, &grid);
}

void calibration_text(struct textw *w, const struct calibration *c, const char *output)
{
    textw_printf(w, "%s: %zu moves in %.1f s; two measurements of a move differ by %.1f %%\n",
                 c->engine, c->moves, c->seconds, c->repeat * 100);
    textw_printf(w, "left out %zu disturbed move%s: no two measurements agree within 5 %%\n\n",
                 c->left_out, print_s(c->left_out));
    if (!c->processor)
        put_figures(w, c);
    if (c->all.moves > 0)
        put_checks(w, c);
    if (output)
        textw_printf(w, "%s: written\n", output);
}

/* JSON of this project has integers only: fractions are text. */
static void write_fraction(struct jsonw *w, const char *key, double value)
{
    char text[32];

    snprintf(text, sizeof text, "%.4f", value);
    jsonw_string(w, key, text);
}

static void write_summary(struct jsonw *w, const char *key, const struct error_summary *errors)
{
    if (errors->moves == 0)
        return;
    jsonw_object_begin(w, key);
    jsonw_uint(w, "moves", errors->moves);
    write_fraction(w, "median_error", errors->median);
    write_fraction(w, "p95_error", errors->p95);
    jsonw_object_end(w);
}

static void write_figures(struct jsonw *w, const struct calibration *c)
{
    jsonw_object_begin(w, "figures");
    for (int i = 0; i < FORMULA_FIGURES; i++) {
        const struct profile_cost_member *m = &profile_cost_members[i];

        jsonw_object_begin(w, m->key);
        profile_cost_write(w, "cycles", profile_cost_of(&c->profile.costs, m));
        write_fraction(w, "standard_error", c->error[i]);
        jsonw_object_end(w);
    }
    jsonw_object_end(w);
}

void calibration_json(struct jsonw *w, const struct calibration *c, uint64_t seed,
                      const char *output)
{
    jsonw_object_begin(w, NULL);
    jsonw_string(w, "engine", c->engine);
    jsonw_uint(w, "seed", seed);
    jsonw_uint(w, "moves", c->moves);
    jsonw_uint(w, "ms", (uint64_t)(c->seconds * 1000));
    write_fraction(w, "repeat_difference", c->repeat);
    jsonw_uint(w, "left_out", c->left_out);
    if (!c->processor)
        write_figures(w, c);
    write_summary(w, "check", &c->all);
    if (c->processor)
        write_summary(w, "formula", &c->formula);
    jsonw_object_begin(w, "kinds");
    for (int i = 0; i < SWEEP_KIND_COUNT; i++)
        write_summary(w, sweep_kind_name((enum sweep_kind)i), &c->kind[i]);
    jsonw_object_end(w);
    jsonw_object_begin(w, "classes");
    for (int i = 0; i < MOVE_CLASSES; i++)
        write_summary(w, move_class_keys[i], &c->class[i]);
    jsonw_object_end(w);
    if (output)
        jsonw_string(w, "output", output);
    jsonw_object_end(w);
}

/* SPDX-License-Identifier: BSD-3-Clause */
#include "cli/optimise/program.h"

#include <stdlib.h>
#include <string.h>

/* Maximum number of open routes that are expanded for one step. */
enum { EXPANSIONS_MAX = 8 };

/* Costs above this limit are not distinguished. */
enum { COST_MAX = 1 << 20 };

static enum kept kept_of_form(enum move_form form)
{
    switch (form) {
    case MOVE_FORM_FOUND:
        return NOT_KEPT;
    case MOVE_FORM_RANK:
        return KEPT_RANK;
    case MOVE_FORM_BORDER:
        return KEPT_BORDER;
    case MOVE_FORM_PADDING:
        return KEPT_PADDING;
    case MOVE_FORM_STEPS:
        return KEPT_STEPS;
    default:
        return KEPT_RANGE;
    }
}

/* Returns whether a job may describe the source of step `base` by shape and strides. */
static bool is_describable(const struct program_step *base, bool raw)
{
    return base->raw_src || (raw && tensor_spec_format(&base->job->src) == FILE_FORMAT_NPY &&
                             !base->header.big_endian);
}

/* Returns the axis of a step's map along which the parameters of the source vary, or the rank of
 * the map if there is none. */
static uint32_t axis_of_quant(const struct program_step *step)
{
    const struct quant *quant = &step->job->src.desc.quant;
    uint32_t d = 0;

    if (quant->count == 0 || quant->axis < 0)
        return step->map.rank;
    while (d < step->map.rank && step->job->common.cfg.perm_dim[d] != quant->axis)
        d++;
    return d;
}

/* Returns whether a map pads the axis of the parameters in another way than the step itself. */
static bool has_other_border(const struct program_step *step, const struct index_map *map)
{
    const uint32_t d = axis_of_quant(step);

    return d < map->rank && !step->map.zeros &&
           (map->axis[d].lo != step->map.axis[d].lo || map->axis[d].hi != step->map.axis[d].hi);
}

int route_quant(const struct program_step *step, const struct fused_move *move, struct quant *quant,
                bool *own)
{
    const struct quant *from = &step->job->src.desc.quant;
    const mli_mov_cfg_t *cfg = &move->common.cfg;
    const uint32_t d = axis_of_quant(step);

    *quant = *from;
    *own = d < step->map.rank;
    if (!*own)
        return 0;
    const uint8_t k = cfg->perm_dim[d];
    *quant = (struct quant){.axis = k, .has_frac_bits = from->has_frac_bits};
    if (quant_alloc(quant, move->source.shape[k]))
        return -1;
    for (uint64_t j = step->map.axis[d].lo; j < step->map.axis[d].hi; j++) {
        const uint64_t old = step->first[d] + (j - step->map.axis[d].lo) * step->step[d];
        const uint64_t new = cfg->offset[k] + j * cfg->sub_sample_step[k] - cfg->padding_pre[k];

        quant->scale[new] = from->scale[old];
        quant->zero_point[new] = from->zero_point[old];
        quant->scale_frac_bits[new] = from->scale_frac_bits[old];
    }
    return 0;
}

enum kept route_form(const struct program *p, const struct program_step *step,
                     const struct route *route, bool raw, struct fused_move *move)
{
    const struct program_step *base = &p->steps[route->base];
    enum move_form form;

    *move = (struct fused_move){.source = base->source};
    if (has_other_border(step, &route->map))
        return KEPT_AXIS;
    if (!step->job->dst.buffer && !is_describable(base, raw) &&
        strcmp(base->header.descr, step->header.descr) != 0)
        return KEPT_DTYPE;
    if (base->raw_src || step->job->dst.buffer ||
        strcmp(base->header.descr, step->header.descr) == 0) {
        form = move_form_of(&route->map, &base->source, &move->common);
        if (form == MOVE_FORM_FOUND || !is_describable(base, raw))
            return kept_of_form(form);
    }
    move->free = true;
    return kept_of_form(move_form_free(&route->map, &move->source, &move->common));
}

/* Routes of one step while they are collected. */
struct routes {
    struct program *p;
    struct program_step *step;
    bool raw;
    struct route route[ROUTES_MAX];
    size_t count;
    size_t expansions;
};

/*
 * Makes room for a route: if several routes have equal costs, removes the one of them that reads
 * the earliest source; else removes the route with the highest cost. Routes with a low cost save
 * most jobs; of routes with equal cost, the one with the later source can be composed with more
 * steps.
 */
static void make_room(struct routes *routes)
{
    size_t worst = 1, twin = 0;

    for (size_t i = 1; i < routes->count; i++) {
        if (routes->route[i].cost > routes->route[worst].cost)
            worst = i;
        for (size_t k = 1; k < routes->count; k++) {
            if (i != k && routes->route[i].cost == routes->route[k].cost &&
                routes->route[i].base <= routes->route[k].base &&
                (twin == 0 || routes->route[i].base < routes->route[twin].base))
                twin = i;
        }
    }
    routes->route[twin ? twin : worst] = routes->route[--routes->count];
}

static bool has_base(const struct routes *routes, size_t base)
{
    for (size_t i = 0; i < routes->count; i++) {
        if (routes->route[i].base == base)
            return true;
    }
    return false;
}

static void expand(struct routes *routes, const struct route *route);

/* Adds a route, unless a step between its base and the reader overwrites the source. */
static void add_route(struct routes *routes, const struct route *route)
{
    struct program *p = routes->p;
    struct program_step *step = routes->step;
    const size_t source = p->steps[route->base].src;
    struct route added = *route;
    struct fused_move unused;
    enum kept why;

    if (has_base(routes, route->base))
        return;
    if (!reach_is_unchanged(p, &route->map, source, route->base, (size_t)(step - p->steps))) {
        step->obstacle = KEPT_OVERWRITTEN;
        return;
    }
    why = source == step->dst || source == step->params
              ? KEPT_SAME
              : route_form(p, step, route, routes->raw, &unused);
    added.possible = why == NOT_KEPT;
    if (why != NOT_KEPT)
        step->obstacle = why;
    if (routes->count == ROUTES_MAX)
        make_room(routes);
    routes->route[routes->count++] = added;
    if (added.open && routes->expansions < EXPANSIONS_MAX) {
        routes->expansions++;
        expand(routes, &added);
    }
}

static void mark_open(struct routes *routes)
{
    for (size_t i = 0; i < routes->count; i++)
        routes->route[i].open = true;
}

/* Composes a route with all routes of the step that wrote its source. */
static void compose_with(struct routes *routes, const struct route *route,
                         const struct program_step *writer)
{
    for (size_t i = 0; i < writer->route_count; i++) {
        const struct route *further = &writer->routes[i];
        struct route added = {.base = further->base, .cost = further->cost, .open = further->open};
        struct index_box given;
        const enum composition result =
            index_map_compose(&route->map, &further->map, &added.map, &given);

        if (result == COMPOSED && !added.map.zeros) {
            add_route(routes, &added);
        } else if (result != COMPOSED) {
            routes->step->obstacle = KEPT_ORDER;
            mark_open(routes);
        }
    }
}

/* Adds the routes of the step that wrote the source of a route, if one step wrote all of it. */
static void expand(struct routes *routes, const struct route *route)
{
    struct program *p = routes->p;
    const size_t store = p->steps[route->base].src;
    struct reach reach;

    if (!p->stores[store].intermediate)
        return;
    reach_find(p, &route->map, store, route->base, &reach);
    if (reach.why != NOT_KEPT)
        routes->step->obstacle = reach.why;
    else if (reach.count > 1)
        routes->step->obstacle = KEPT_PIECES;
    if (reach.why != NOT_KEPT || reach.count != 1) {
        mark_open(routes);
        return;
    }
    const struct program_step *writer = &p->steps[reach.pieces[0].step];
    if (writer->needed == NOT_KEPT)
        compose_with(routes, route, writer);
}

/* Returns the number of jobs that are needed for all steps that wrote bytes that a step reads. */
static uint32_t cost_of_writes(struct program *p, const struct program_step *step)
{
    const struct store *store = &p->stores[step->src];
    const struct byte_set read = index_map_read(&step->map);
    uint32_t cost = 0;

    for (size_t i = reach_first_write(store, (size_t)(step - p->steps)); i-- > 0;) {
        const struct write *write = &store->writes[i];
        const struct program_step *writer = &p->steps[write->step];

        if (write->bytes.begin < byte_set_end(&read) && read.begin < byte_set_end(&write->bytes) &&
            writer->needed == NOT_KEPT)
            cost = cost < COST_MAX ? cost + writer->cost : COST_MAX;
        if (writer->creates || cost == COST_MAX)
            break;
    }
    return cost;
}

/* Returns the number of jobs that are needed for the source of a step. */
static uint32_t cost_of_source(struct program *p, const struct program_step *step)
{
    struct reach reach;
    uint32_t cost = 0;

    if (!p->stores[step->src].intermediate)
        return 0;
    reach_find(p, &step->map, step->src, (size_t)(step - p->steps), &reach);
    if (reach.why != NOT_KEPT)
        return cost_of_writes(p, step);
    for (size_t i = 0; i < reach.count; i++) {
        const struct program_step *writer = &p->steps[reach.pieces[i].step];

        cost += writer->needed == NOT_KEPT ? writer->cost : 0;
    }
    return cost < COST_MAX ? cost : COST_MAX;
}

int routes_find(struct program *p, struct program_step *step, bool raw)
{
    struct routes routes = {.p = p, .step = step, .raw = raw, .count = 1};
    uint32_t least;

    if (step->src == NONE)
        return 0;
    routes.route[0] = (struct route){.map = step->map,
                                     .base = (size_t)(step - p->steps),
                                     .cost = cost_of_source(p, step),
                                     .possible = true};
    if (!step->frozen)
        expand(&routes, &routes.route[0]);
    else
        step->obstacle = KEPT_FROZEN;
    step->routes = malloc(routes.count * sizeof(*step->routes));
    if (!step->routes)
        return -1;
    memcpy(step->routes, routes.route, routes.count * sizeof(*step->routes));
    step->route_count = routes.count;
    least = step->routes[0].cost;
    for (size_t i = 1; i < step->route_count; i++) {
        if (step->routes[i].possible && step->routes[i].cost < least)
            least = step->routes[i].cost;
    }
    step->cost = least + 1;
    return 0;
}

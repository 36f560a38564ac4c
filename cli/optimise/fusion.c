/* SPDX-License-Identifier: BSD-3-Clause */
#include "cli/optimise/program.h"

#include <stdlib.h>

#include "cli/term/cancel.h"

/* Called for each step `writer` that `reader` needs. Returns false to end the visit. */
typedef bool need_visit(struct program *p, size_t writer, size_t reader);

/* Visits the steps before `before` that may have written bytes of `read` (null: any bytes of the
 * store), and the step that created the file. */
static bool visit_writes(struct program *p, const struct store *store, const struct byte_set *read,
                         size_t before, size_t reader, need_visit *visit)
{
    for (size_t i = reach_first_write(store, before); i-- > 0;) {
        const struct write *write = &store->writes[i];
        const bool meets = !read || (write->bytes.begin < byte_set_end(read) &&
                                     read->begin < byte_set_end(&write->bytes));

        if (meets && !visit(p, write->step, reader))
            return false;
        if (p->steps[write->step].creates)
            return meets || visit(p, write->step, reader);
    }
    return true;
}

static bool visit_needs(struct program *p, const struct route *route, size_t reader,
                        need_visit *visit)
{
    const size_t number = p->steps[route->base].src;
    const struct store *store = &p->stores[number];
    const struct byte_set read = index_map_read(&route->map);
    struct reach reach;

    if (!store->intermediate)
        return true;
    reach_find(p, &route->map, number, route->base, &reach);
    if (reach.why != NOT_KEPT)
        return visit_writes(p, store, store->is_buffer ? &read : NULL, route->base, reader, visit);
    /* A file must exist before it can be updated. */
    if (!store->is_buffer)
        return visit_writes(p, store, NULL,
                            reach.count > 0 ? reach.pieces[0].step + 1 : route->base, reader,
                            visit);
    for (size_t i = 0; i < reach.count; i++) {
        if (!visit(p, reach.pieces[i].step, reader))
            return false;
    }
    return true;
}

static bool mark_alive(struct program *p, size_t writer, size_t reader)
{
    p->steps[writer].alive = true;
    if (p->steps[writer].reader == NONE)
        p->steps[writer].reader = reader;
    return true;
}

static bool is_alive(struct program *p, size_t writer, size_t reader)
{
    (void)reader;
    return p->steps[writer].alive;
}

/* Finds the steps that are needed with the chosen routes, from the last step to the first. */
static void find_alive(struct program *p)
{
    for (size_t i = 0; i < p->count; i++) {
        p->steps[i].alive = p->steps[i].needed != NOT_KEPT;
        p->steps[i].reader = NONE;
    }
    for (size_t i = p->count; i-- > 0;) {
        const struct program_step *step = &p->steps[i];

        if (!step->alive || step->route_count == 0)
            continue;
        visit_needs(p, &step->routes[step->chosen], i, mark_alive);
        if (step->job->dst.update)
            visit_writes(p, &p->stores[step->dst], NULL, i, i, mark_alive);
    }
}

static size_t cheapest(const struct program_step *step)
{
    size_t best = 0;

    for (size_t i = 1; i < step->route_count; i++) {
        const struct route *route = &step->routes[i];

        if (route->possible && (route->cost < step->routes[best].cost ||
                                (route->cost == step->routes[best].cost && best != 0 &&
                                 route->base > step->routes[best].base)))
            best = i;
    }
    return best;
}

/* Returns the route with the latest base among the routes that need no step that is not alive. */
static size_t nearest(struct program *p, const struct program_step *step)
{
    size_t best = step->chosen;

    for (size_t i = 0; i < step->route_count; i++) {
        const struct route *route = &step->routes[i];

        if (route->possible && route->base > step->routes[best].base &&
            visit_needs(p, route, 0, is_alive))
            best = i;
    }
    return best;
}

static void choose(struct program *p)
{
    for (size_t i = 0; i < p->count; i++)
        p->steps[i].chosen = cheapest(&p->steps[i]);
    find_alive(p);
    /* Reading an earlier source saves nothing if the steps in between are needed anyway. */
    for (size_t i = 0; i < p->count; i++) {
        struct program_step *step = &p->steps[i];

        if (step->alive && step->chosen != 0)
            step->chosen = nearest(p, step);
    }
    find_alive(p);
}

int fusion_find(struct program *p, bool raw, struct fault *fault)
{
    p->budget = PROGRAM_BUDGET;
    for (size_t i = 0; i < p->count; i++) {
        struct program_step *step = &p->steps[i];

        free(step->routes);
        step->routes = NULL;
        step->route_count = step->chosen = 0;
        step->obstacle = NOT_KEPT;
        if (routes_find(p, step, raw))
            return fault_no_memory(fault);
        if (cancel_requested())
            return cancel_fault(fault);
    }
    choose(p);
    return 0;
}

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The search for the best plan: all combinations of counts of tiles, each with all loop orders. An
 * axis of n indices has fewer than 2 * sqrt(n) sizes of the largest tile, so a usual layer has some
 * 10 000 combinations.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "proto/grow.h"
#include "target/tile/tile_estimate.h"
#include "target/tile/tile_plan.h"

/* One way to divide an axis. */
struct tile_division {
    struct tile_cut cut;
    uint64_t elements[TILE_OPERANDS]; /* for each operand, the elements of all tiles together */
};

/* The ways to divide an axis, from the largest tiles to the smallest. */
struct tile_divisions {
    struct tile_division *division; /* owned */
    size_t count, capacity;
};

enum {
    COMBINATIONS_MAX = 150 * 1000, /* if there are more, sizes at even distances are left out */
    UNEVEN_MAX = 64 /* longer axes are only cut into tiles of equal size and a remainder */
};

/* Returns whether an axis may have more than one tile. */
static bool is_divisible(const struct tile_layer *layer, uint32_t axis)
{
    return !(layer->reduces && axis == TILE_REDUCED) ||
           layer->operand[layer->operands - 1].partial > 0;
}

/* Returns whether tiles of this size along `axis` fit into the budget. Along the other axes they
 * are as small as possible. */
static bool may_fit(const struct tile_layer *layer, uint64_t budget, uint32_t axis, uint64_t size)
{
    for (uint32_t i = 0; i < layer->operands; i++) {
        const struct tile_operand *operand = &layer->operand[i];
        uint64_t bytes = cost_times(operand->unit, operand->repeats);

        for (uint32_t a = 0; a < layer->axes; a++)
            bytes = cost_times(bytes,
                               tile_span_extent(&operand->span[a], a == axis ? size : UINT64_C(1)));
        if (bytes > budget)
            return false;
    }
    return true;
}

static int add(struct tile_divisions *list, const struct tile_division *division)
{
    if (list_grow(&list->division, list->count, &list->capacity, sizeof *division))
        return -1;
    list->division[list->count++] = *division;
    return 0;
}

static struct tile_division divide(const struct tile_layer *layer, uint32_t axis,
                                   const struct tile_cut *cut)
{
    struct tile_division division = {.cut = *cut};

    for (uint32_t i = 0; i < layer->operands; i++)
        division.elements[i] = tile_span_sum(&layer->operand[i].span[axis], cut);
    return division;
}

/* Lists the sizes of an axis, the largest first, each with the smallest count that has this size.
 */
static int list_even(struct tile_divisions *list, const struct tile_layer *layer, uint64_t budget,
                     uint32_t axis)
{
    const uint64_t extent = layer->extent[axis];

    for (uint64_t size = extent; size > 0; size--) {
        const uint64_t count = (extent + size - 1) / size;
        struct tile_division division;

        if (count > TILE_STEPS_MAX || (count > 1 && !is_divisible(layer, axis)))
            break;
        size = (extent + count - 1) / count;
        if (!may_fit(layer, budget, axis, size))
            continue;
        division = divide(
            layer, axis,
            &(struct tile_cut){.extent = extent, .count = count, .size = size, .even = true});
        if (add(list, &division) < 0)
            return -1;
    }
    return 0;
}

/*
 * Returns whether a division of an axis loads fewer elements than the first division in the list
 * that has the same number of tiles.
 */
static bool saves_elements(const struct tile_layer *layer, const struct tile_divisions *list,
                           const struct tile_division *division)
{
    for (size_t i = 0; i < list->count; i++) {
        if (list->division[i].cut.count != division->cut.count)
            continue;
        for (uint32_t o = 0; o < layer->operands; o++) {
            if (division->elements[o] < list->division[i].elements[o])
                return true;
        }
        return false;
    }
    return true;
}

/*
 * Adds cuts of a short axis whose last tile is smaller than the others, if these cuts load fewer
 * elements. The positions of the cuts matter, because zeros of the padding are not loaded.
 */
static int list_uneven(struct tile_divisions *list, const struct tile_layer *layer, uint64_t budget,
                       uint32_t axis)
{
    const uint64_t extent = layer->extent[axis];
    bool padded = false;

    for (uint32_t i = 0; i < layer->operands; i++) {
        const struct tile_span *span = &layer->operand[i].span[axis];

        padded |= span->used && span->reach != span->step;
    }
    for (uint64_t size = 1; padded && extent <= UNEVEN_MAX && size < extent; size++) {
        const uint64_t count = (extent + size - 1) / size;
        const struct tile_division division =
            divide(layer, axis, &(struct tile_cut){.extent = extent, .count = count, .size = size});

        if (may_fit(layer, budget, axis, size) && saves_elements(layer, list, &division) &&
            add(list, &division) < 0)
            return -1;
    }
    return 0;
}

/* Keeps `wanted` divisions at even distances, the first and the last among them. */
static void thin(struct tile_divisions *list, size_t wanted)
{
    for (size_t i = 0; i < wanted; i++)
        list->division[i] = list->division[i * (list->count - 1) / (wanted - 1)];
    list->count = wanted;
}

struct search {
    const struct tile_layer *layer;
    struct tile_memory memory;
    struct tile_estimate estimate;
    enum { LEAST_TRAFFIC, SHORTEST_TIME, LEAST_MEMORY } wanted;
    uint64_t limit; /* maximum traffic of a plan; SHORTEST_TIME: maximum traffic of a plan near the
                       least */
    uint64_t least; /* SHORTEST_TIME: the least traffic */
    struct tile_divisions axis[TILE_AXES];
    struct tile_plan best;         /* best.steps is 0: no plan is found yet */
    struct tile_candidates *found; /* SHORTEST_TIME */
    bool fast;                     /* true: plans with more traffic than `limit` are wanted, too */
    uint64_t candidates;
    bool exhaustive; /* true: no size was left out */
};

/*
 * Sets the bytes of each operand that the layer needs. If the stride is larger than the kernel,
 * some elements are in gaps that no index needs: these do not count.
 */
static void find_least(struct tile_plan *plan)
{
    const struct tile_layer *layer = plan->layer;

    plan->least_total = 0;
    for (uint32_t i = 0; i < layer->operands; i++) {
        const struct tile_operand *operand = &layer->operand[i];

        plan->least[i] = operand->unit * operand->repeats;
        for (uint32_t a = 0; a < layer->axes; a++) {
            const struct tile_span *span = &operand->span[a];
            const uint64_t extent = layer->extent[a];
            const uint64_t whole = tile_span_sum(
                span,
                &(struct tile_cut){.extent = extent, .count = 1, .size = extent, .even = true});
            const uint64_t single = tile_span_sum(
                span,
                &(struct tile_cut){.extent = extent, .count = extent, .size = 1, .even = true});

            plan->least[i] = cost_times(plan->least[i], single < whole ? single : whole);
        }
        plan->least_total = cost_plus(plan->least_total, plan->least[i]);
    }
}

/* Sets the members of the plans that are only known after the search. */
static void complete(const struct search *s, struct tile_list *list)
{
    for (uint32_t i = 0; i < list->count; i++) {
        find_least(&list->plan[i]);
        list->plan[i].least_found = s->least;
        list->plan[i].candidates = s->candidates;
        list->plan[i].exhaustive = s->exhaustive;
    }
}

/*
 * Leaves out sizes until the number of combinations is within the limit. Returns whether no size
 * was left out.
 */
static bool limit_combinations(struct tile_divisions axis[TILE_AXES], uint32_t axes)
{
    bool complete = true;

    for (;;) {
        uint64_t product = 1;
        uint32_t longest = 0;

        for (uint32_t a = 0; a < axes; a++) {
            product = cost_times(product, axis[a].count);
            if (axis[a].count > axis[longest].count)
                longest = a;
        }
        if (product <= COMBINATIONS_MAX)
            return complete;
        complete = false;
        thin(&axis[longest], axis[longest].count - (axis[longest].count + 3) / 4);
    }
}

/*
 * Fills the lists of all axes, which are empty before, with the divisions whose tiles may fit into
 * `budget` bytes. If there are too many combinations, it leaves some divisions out and sets
 * *exhaustive to false. Returns 0, or -1 if out of memory. Free the lists in both cases.
 */
static int tile_divisions_list(struct tile_divisions axis[TILE_AXES],
                               const struct tile_layer *layer, uint64_t budget, bool *exhaustive)
{
    for (uint32_t a = 0; a < layer->axes; a++) {
        if (list_even(&axis[a], layer, budget, a) < 0 ||
            list_uneven(&axis[a], layer, budget, a) < 0)
            return -1;
    }
    *exhaustive = limit_combinations(axis, layer->axes);
    return 0;
}

/* Frees the lists. */
static void tile_divisions_free(struct tile_divisions axis[TILE_AXES])
{
    for (uint32_t a = 0; a < TILE_AXES; a++)
        free(axis[a].division);
}

/* A division of each axis into tiles, and what follows from these divisions. */
struct combination {
    const struct tile_division *axis[TILE_AXES];
    uint64_t steps;
    uint64_t bytes[TILE_OPERANDS]; /* bytes of the largest tile */
    uint64_t once[TILE_OPERANDS];  /* traffic if each tile is loaded or stored once */
};

static bool uses_partial(const struct search *s, const struct tile_operand *operand,
                         uint64_t reduced)
{
    return operand->partial > 0 && s->layer->reduces && reduced > 1;
}

/*
 * Computes the members of *c that do not depend on the order of the loops. Returns false if the
 * tiles cannot fit into the memory.
 */
static bool combine(const struct search *s, struct combination *c)
{
    const struct tile_layer *layer = s->layer;
    uint64_t reduced = layer->reduces ? c->axis[TILE_REDUCED]->cut.count : 1, sum = 0;

    c->steps = 1;
    for (uint32_t a = 0; a < layer->axes; a++)
        c->steps = cost_times(c->steps, c->axis[a]->cut.count);
    if (c->steps > TILE_STEPS_MAX)
        return false;
    for (uint32_t i = 0; i < layer->operands; i++) {
        const struct tile_operand *operand = &layer->operand[i];

        c->bytes[i] = uses_partial(s, operand, reduced) ? operand->partial : operand->unit;
        c->bytes[i] = cost_times(c->bytes[i], operand->repeats);
        c->once[i] = operand->unit * operand->repeats;
        for (uint32_t a = 0; a < layer->axes; a++) {
            if (!operand->span[a].used)
                continue;
            c->bytes[i] =
                cost_times(c->bytes[i], tile_span_extent(&operand->span[a], c->axis[a]->cut.size));
            c->once[i] = cost_times(c->once[i], c->axis[a]->elements[i]);
        }
        if (!operand->in_place)
            sum = cost_plus(sum, c->bytes[i]);
    }
    return sum <= s->memory.bytes;
}

/* Places the buffers one after another. */
static void place_buffers(struct tile_plan *plan)
{
    plan->used = 0;
    for (uint32_t i = 0; i < plan->layer->operands; i++) {
        struct tile_buffers *buffers = &plan->buffers[i];

        for (uint32_t b = 0; b < buffers->count; b++) {
            buffers->offset[b] = tile_align_up(plan->used, plan->memory.alignment);
            plan->used = cost_plus(buffers->offset[b], buffers->bytes);
        }
    }
}

/*
 * Gives each operand its buffers: all wanted buffers, or only one for a held operand if the
 * buffers do not fit otherwise. Returns false if the buffers do not fit.
 */
static bool choose_buffers(const struct search *s, struct tile_plan *plan,
                           const struct tile_loops loops[TILE_OPERANDS])
{
    const uint32_t operands = plan->layer->operands;

    for (uint32_t single = 0; single < UINT32_C(1) << operands; single++) {
        /* Bit i of the mask: operand i has one buffer. The least memory begins with all bits set.
         */
        const uint32_t mask =
            s->wanted == LEAST_MEMORY ? (UINT32_C(1) << operands) - 1 - single : single;
        bool wrong = false;

        for (uint32_t i = 0; i < operands; i++) {
            struct tile_buffers *buffers = &plan->buffers[i];
            const bool one = mask >> i & 1;

            wrong |= one && !(loops[i].held && plan->memory.hold);
            buffers->held = loops[i].held;
            buffers->count = one || loops[i].changes == 1 ? 1 : plan->memory.buffers;
            if (loops[i].changes < buffers->count)
                buffers->count = (uint32_t)loops[i].changes;
            if (plan->layer->operand[i].in_place)
                buffers->count = 0;
        }
        if (wrong)
            continue;
        place_buffers(plan);
        if (plan->used <= plan->memory.bytes)
            return true;
    }
    return false;
}

/* Returns whether the plan is better than the best one. */
static bool is_better(const struct search *s, const struct tile_plan *plan)
{
    const struct tile_plan *best = &s->best;

    if (best->steps == 0)
        return true;
    if (s->wanted == LEAST_MEMORY)
        return plan->used < best->used;
    if (plan->total != best->total)
        return plan->total < best->total;
    if (plan->steps != best->steps)
        return plan->steps < best->steps;
    return plan->used < best->used;
}

/* Compares plans by rounded estimate, traffic, tiles, memory and estimate, as strcmp() does. */
static int compare_plans(const struct tile_plan *a, const struct tile_plan *b)
{
    const uint64_t left[] = {tile_estimate_round(a->estimate), a->total, a->steps, a->used,
                             a->estimate};
    const uint64_t right[] = {tile_estimate_round(b->estimate), b->total, b->steps, b->used,
                              b->estimate};

    return tile_compare(left, right, sizeof left / sizeof left[0]);
}

/* Adds a plan to a list of the best. Of plans that compare equal, the first one stays. */
static void add_plan(struct tile_list *list, const struct tile_plan *plan)
{
    const bool full = list->count == TILE_CANDIDATES;
    uint32_t low = 0, high = list->count;
    uint8_t place;

    if (full && compare_plans(plan, tile_list_at(list, list->count - 1)) >= 0)
        return;
    while (low < high) {
        const uint32_t middle = (low + high) / 2;
        const int order = compare_plans(plan, tile_list_at(list, middle));

        if (order == 0)
            return;
        if (order < 0)
            high = middle;
        else
            low = middle + 1;
    }
    place = full ? list->order[list->count - 1] : (uint8_t)list->count;
    list->count += !full;
    memmove(&list->order[low + 1], &list->order[low], (list->count - 1 - low) * sizeof place);
    list->order[low] = place;
    list->plan[place] = *plan;
}

/* Returns whether no plan with this traffic can be chosen. */
static bool is_excessive(const struct search *s, uint64_t traffic)
{
    const struct tile_list *fast;

    if (traffic <= s->limit)
        return false;
    if (s->wanted != SHORTEST_TIME || !s->fast)
        return true;
    fast = &s->found->fast;
    return fast->count == TILE_CANDIDATES &&
           (double)traffic / s->estimate.bus_bytes * (double)s->estimate.beat >
               (double)tile_list_at(fast, fast->count - 1)->estimate;
}

/*
 * Keeps the plan if it fits and is better than the best plans so far. Its counts and order are
 * set.
 */
static void consider(struct search *s, const struct combination *c, struct tile_plan *plan)
{
    struct tile_loops loops[TILE_OPERANDS] = {0};

    plan->total = 0;
    for (uint32_t i = 0; i < s->layer->operands; i++) {
        loops[i] = tile_loops_of(plan, i);
        plan->traffic[i] = cost_times(c->once[i], loops[i].reloads);
        plan->total = cost_plus(plan->total, plan->traffic[i]);
    }
    if (is_excessive(s, plan->total) || !choose_buffers(s, plan, loops))
        return;
    if (s->wanted == SHORTEST_TIME) {
        plan->estimate = tile_estimate_time(&s->estimate, plan, loops);
        if (plan->total <= s->least)
            add_plan(&s->found->least, plan);
        if (plan->total <= s->limit)
            add_plan(&s->found->near, plan);
        if (s->fast)
            add_plan(&s->found->fast, plan);
        return;
    }
    if (!is_better(s, plan))
        return;
    s->best = *plan;
    if (s->wanted == LEAST_TRAFFIC)
        s->limit = plan->total;
}

/*
 * Returns whether an order of loops is worth trying. The loop over input channels must be the
 * innermost one. Axes with one tile have no loop: they must come first, in the order of axes, so
 * that equal orders are tried once.
 */
static bool is_canonical(const struct tile_plan *plan)
{
    const uint32_t axes = plan->layer->axes;
    bool loops = false;

    for (uint32_t i = 0; i < axes; i++) {
        const uint32_t axis = plan->order[i];

        if (plan->cut[axis].count > 1)
            loops = true;
        else if (loops || (i > 0 && plan->order[i - 1] > axis))
            return false;
        if (plan->layer->reduces && axis == TILE_REDUCED && plan->cut[axis].count > 1 &&
            i + 1 < axes)
            return false;
    }
    return true;
}

/* Tries all orders of the axes from position `at` on. */
static void try_orders(struct search *s, const struct combination *c, struct tile_plan *plan,
                       uint32_t at)
{
    const uint32_t axes = s->layer->axes;

    if (at == axes) {
        if (is_canonical(plan))
            consider(s, c, plan);
        return;
    }
    for (uint32_t i = at; i < axes; i++) {
        const uint8_t axis = plan->order[i];

        memmove(&plan->order[at + 1], &plan->order[at], (i - at) * sizeof plan->order[0]);
        plan->order[at] = axis;
        try_orders(s, c, plan, at + 1);
        memmove(&plan->order[at], &plan->order[at + 1], (i - at) * sizeof plan->order[0]);
        plan->order[i] = axis;
    }
}

static void try_combination(struct search *s, struct combination *c)
{
    const struct tile_layer *layer = s->layer;
    struct tile_plan plan = {.layer = layer, .memory = s->memory};
    uint64_t least = 0;

    if (!combine(s, c))
        return;
    for (uint32_t i = 0; i < layer->operands; i++) {
        plan.buffers[i].bytes = c->bytes[i];
        least = cost_plus(least, c->once[i]);
    }
    if (is_excessive(s, least))
        return;
    plan.steps = c->steps;
    for (uint32_t a = 0; a < layer->axes; a++) {
        plan.cut[a] = c->axis[a]->cut;
        plan.order[a] = (uint8_t)a;
    }
    if (layer->kind == TILE_WINDOW)
        try_orders(s, c, &plan, 0);
    else
        consider(s, c, &plan); /* all operands depend on all axes, so the order changes nothing */
}

static uint64_t try_all(struct search *s)
{
    static const struct tile_division single = {
        .cut = {.extent = 1, .count = 1, .size = 1, .even = true}};
    const uint32_t axes = s->layer->axes;
    size_t at[TILE_AXES] = {0};
    uint64_t tried = 0;

    for (uint32_t a = 0; a < axes; a++) {
        if (s->axis[a].count == 0)
            return 0;
    }
    for (uint32_t a = 0; a < axes; tried++) {
        struct combination c;

        for (uint32_t i = 0; i < TILE_AXES; i++)
            c.axis[i] = i < axes ? &s->axis[i].division[at[i]] : &single;
        try_combination(s, &c);
        for (a = 0; a < axes && ++at[a] == s->axis[a].count; a++)
            at[a] = 0;
    }
    return tried;
}

static void run(struct search *s)
{
    s->best.steps = 0;
    s->candidates = try_all(s);
}

uint64_t tile_plan_smallest(const struct tile_layer *layer, const struct tile_memory *memory)
{
    struct search s = {
        .layer = layer, .memory = *memory, .wanted = LEAST_MEMORY, .limit = UINT64_MAX};
    int status;

    s.memory.bytes = UINT64_MAX;
    status = tile_divisions_list(s.axis, s.layer, s.memory.bytes, &s.exhaustive);
    if (status == 0)
        run(&s);
    tile_divisions_free(s.axis);
    return status < 0 || s.best.steps == 0 ? UINT64_MAX : s.best.used;
}

/* Finds the least traffic, and then the shortest times. */
static int search(struct search *s)
{
    struct tile_candidates *found = s->found;
    int status = tile_divisions_list(s->axis, s->layer, s->memory.bytes, &s->exhaustive);

    found->least.count = found->near.count = found->fast.count = 0;
    if (status == 0)
        run(s);
    if (status == 0 && s->best.steps > 0) {
        const uint64_t total = s->best.total;

        s->least = total;
        s->limit = cost_plus(total, cost_times(total / 100, s->estimate.slack) +
                                        total % 100 * s->estimate.slack / 100);
        s->wanted = SHORTEST_TIME;
        run(s);
        complete(s, &found->least);
        complete(s, &found->near);
        complete(s, &found->fast);
    }
    tile_divisions_free(s->axis);
    return status;
}

int tile_candidates_find(struct tile_candidates *found, const struct tile_layer *layer,
                         const struct tile_memory *memory, const struct tile_estimate *estimate,
                         bool fast, struct fault *fault)
{
    struct search s = {.layer = layer,
                       .memory = *memory,
                       .estimate = *estimate,
                       .wanted = LEAST_TRAFFIC,
                       .limit = UINT64_MAX,
                       .found = found,
                       .fast = fast};
    uint64_t smallest;

    if (search(&s) < 0)
        return fault_no_memory(fault);
    if (found->least.count > 0)
        return 0;
    smallest = tile_plan_smallest(layer, memory);
    if (smallest == UINT64_MAX)
        return fault_set(fault, FAULT_INVALID_PARAMS, NULL,
                         "the layer would have more than %d tiles for any budget", TILE_STEPS_MAX);
    return fault_set(
        fault, FAULT_INVALID_PARAMS, NULL,
        "%" PRIu64 " B are too small for %" PRIu32
        " buffer%s of each tensor and at most %d tiles: at least %" PRIu64 " B are needed",
        memory->bytes, memory->buffers, memory->buffers == 1 ? "" : "s", TILE_STEPS_MAX, smallest);
}

int tile_plan_find(struct tile_plan *plan, const struct tile_layer *layer,
                   const struct tile_memory *memory, const struct tile_estimate *estimate,
                   struct fault *fault)
{
    struct tile_candidates *found = calloc(1, sizeof *found);
    int status;

    if (!found)
        return fault_no_memory(fault);
    status = tile_candidates_find(found, layer, memory, estimate, false, fault);
    if (status == 0)
        *plan = *tile_list_at(&found->near, 0);
    free(found);
    return status;
}

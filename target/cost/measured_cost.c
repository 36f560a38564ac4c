/* SPDX-License-Identifier: BSD-3-Clause */
#include <math.h>
#include <string.h>

#include "target/cost/measured_cost.h"
#include "target/cost/side.h"

enum {
    LINE = 64,
    PAGE = 4096,
    SHORT_ROW = 16,
    MIDDLE_ROW = 64,
    NARROW = 64, /* rows and columns of a transpose with fewer bytes are merged with another loop by
                    libmli */
};

/* Estimates the number of lines that all rows touch, from the offsets at which rows can begin. */
static double touched(const struct side *side)
{
    uint64_t steps = LINE;
    double sum = 0;
    int offsets = 0;

    for (size_t i = 0; i < side->loops; i++)
        steps |= side->loop[i].step;
    const uint64_t grain = steps & -steps;
    for (uint64_t offset = side->address % grain; offset < LINE; offset += grain, offsets++)
        sum += floor((double)(offset + side->run - 1) / LINE) + 1;
    if (grain >= LINE)
        sum = floor((double)(side->address % LINE + side->run - 1) / LINE) + 1, offsets = 1;
    return (double)side_rows(side) * sum / offsets;
}

struct side_numbers {
    double rows, touched, lines, pages, span;
};

static double smaller(double a, double b)
{
    return a < b ? a : b;
}

static double blocks(double bytes, double size)
{
    return ceil(bytes / size);
}

/* Returns the number of bytes from the first to the last byte of a side. */
static double span_of(const struct side *side)
{
    uint64_t span = side->run;

    for (size_t i = 0; i < side->loops; i++)
        span += (side->loop[i].count - 1) * side->loop[i].step;
    return (double)span;
}

/* Sorts loops by their steps, the smallest first. */
static void sort(struct side_loop *loop, size_t count)
{
    for (size_t i = 1; i < count; i++) {
        const struct side_loop moved = loop[i];
        size_t k = i;

        for (; k > 0 && loop[k - 1].step > moved.step; k--)
            loop[k] = loop[k - 1];
        loop[k] = moved;
    }
}

/*
 * Estimates the number of different aligned units that a side touches: loops with small steps fill
 * a range; loops with larger steps repeat the range.
 */
static double different(const struct side *side, double unit)
{
    struct side_loop loop[MLI_MAX_RANK];
    double range = (double)side->run, times = 1;
    size_t i = 0;

    memcpy(loop, side->loop, sizeof loop);
    sort(loop, side->loops);
    for (; i < side->loops && (double)loop[i].step <= range + unit - 1; i++)
        range += (double)((loop[i].count - 1) * loop[i].step);
    for (; i < side->loops; i++)
        times *= (double)loop[i].count;
    return smaller(((range - 1) / unit + 1) * times, (span_of(side) - 1) / unit + 1);
}

static struct side_numbers numbers_of(const struct side *side)
{
    struct side_numbers n = {.rows = (double)side_rows(side), .span = span_of(side)};

    n.touched = touched(side);
    n.lines = smaller(different(side, LINE), n.touched);
    n.pages = different(side, PAGE);
    return n;
}

/* The arguments of the calls of a kernel, from the loops of the box. */
struct kernel {
    double calls, planes, stores;
    double rows, columns; /* rows and columns that one call moves; of a transpose, in bytes */
    double merged_rows, merged_columns;
};

/* Returns 0 .. 3 for elements of 1, 2, 4 and 8 bytes, else 4. */
static unsigned kernel_for(size_t run)
{
    return run == 1 ? 0 : run == 2 ? 1 : run == 4 ? 2 : run == 8 ? 3 : 4;
}

/*
 * Returns the index of the first loop whose source step is the length of the run, or the number of
 * loops.
 */
static size_t contiguous_loop(const struct mli_copy_box *box)
{
    size_t i = 0;

    while (i < box->loops && box->loop[i].src_step != box->run)
        i++;
    return i;
}

/*
 * Returns the count of the first free loop with this step, and marks the loop as used. Returns 1
 * if there is none.
 */
static double take(const struct mli_copy_box *box, uint32_t *taken, double step, bool read)
{
    for (size_t i = 0; i < box->loops; i++) {
        const size_t own = read ? box->loop[i].src_step : box->loop[i].dst_step;

        if (*taken & 1u << i || (double)own != step)
            continue;
        *taken |= 1u << i;
        return (double)box->loop[i].count;
    }
    return 1;
}

static void describe_transpose(struct kernel *k, const struct mli_copy_box *box)
{
    const size_t row = contiguous_loop(box), column = box->loops - 1;
    const double elem = (double)box->run, width = (double)box->loop[column].count * elem;
    const double height = (double)box->loop[row].count * elem;
    /* A transpose has two loops at least. NOLINTNEXTLINE(clang-analyzer-core.*) */
    uint32_t taken = 1u << row | 1u << column;

    k->merged_rows = k->merged_columns = 1;
    if (width < NARROW)
        k->merged_columns = take(box, &taken, width, false);
    if (height < NARROW || k->merged_columns > 1)
        k->merged_rows = take(box, &taken, height, true);
    k->rows = height * k->merged_rows;
    k->columns = width * k->merged_columns;
    k->calls = 1;
    for (size_t i = 0; i < box->loops; i++)
        k->calls *= taken & 1u << i ? 1 : (double)box->loop[i].count;
    k->stores = k->calls * smaller(k->rows / elem * blocks(k->columns, LINE),
                                   k->columns / elem * blocks(k->rows, LINE));
}

static void describe_nest(struct kernel *k, const struct mli_copy_box *box, double rows,
                          bool gather)
{
    const double inner = box->loops > 0 ? (double)box->loop[box->loops - 1].count : 1;

    k->calls = rows / inner;
    k->planes = box->loops > 1 ? k->calls / (double)box->loop[box->loops - 2].count : 0;
    k->rows = gather ? 1 : inner;
    k->columns = gather ? inner * (double)box->run : (double)box->run;
    k->stores = (gather ? k->calls : rows) * blocks(k->columns, LINE);
}

static enum move_class describe_kernel(struct kernel *k, const struct mli_copy_box *box,
                                       double rows)
{
    const unsigned elem = kernel_for(box->run);
    const bool spread =
        box->loops == 0 || elem == 4 || box->loop[box->loops - 1].dst_step != box->run;

    *k = (struct kernel){0};
    if (box->run == 0)
        return MOVE_CLASS_ZEROS;
    if (!spread && contiguous_loop(box) < box->loops) {
        describe_transpose(k, box);
        return (enum move_class)(MOVE_CLASS_TRANSPOSE_1 + elem);
    }
    describe_nest(k, box, rows, !spread);
    if (!spread)
        return (enum move_class)(MOVE_CLASS_GATHER_1 + elem);
    if (box->loops == 0)
        return MOVE_CLASS_ROW;
    return box->run <= SHORT_ROW    ? MOVE_CLASS_SHORT_ROWS
           : box->run <= MIDDLE_ROW ? MOVE_CLASS_MIDDLE_ROWS
                                    : MOVE_CLASS_LONG_ROWS;
}

/* Returns the largest power of two, at most `most`, that divides the number. */
static double power_in(uint64_t number, uint64_t most)
{
    number |= most;
    return (double)(number & -number);
}

static void set_loops(double *number, const struct mli_copy_box *box)
{
    for (size_t i = 0; i < MLI_MAX_RANK; i++) {
        const bool used = i < box->loops;
        const struct mli_copy_loop loop =
            used ? box->loop[box->loops - 1 - i] : (struct mli_copy_loop){0};

        number[NUMBER_COUNT_1 + i] = (double)loop.count;
        number[NUMBER_SRC_STEP_1 + i] = (double)loop.src_step;
        number[NUMBER_DST_STEP_1 + i] = (double)loop.dst_step;
        if (i >= 2)
            continue;
        number[NUMBER_SRC_POWER_1 + i] = used ? power_in(loop.src_step, PAGE) : 0;
        number[NUMBER_DST_POWER_1 + i] = used ? power_in(loop.dst_step, PAGE) : 0;
    }
    if (box->loops > 0) {
        number[NUMBER_SRC_GAP_1] = number[NUMBER_SRC_STEP_1] - (double)box->run;
        number[NUMBER_DST_GAP_1] = number[NUMBER_DST_STEP_1] - (double)box->run;
    }
    if (box->loops > 1)
        number[NUMBER_DST_GAP_2] =
            number[NUMBER_DST_STEP_2] - (double)box->run * number[NUMBER_COUNT_1];
}

static void set_addresses(double *number, const struct mli_copy_box *box)
{
    const uint64_t src = (uintptr_t)box->src, dst = (uintptr_t)box->dst;

    number[NUMBER_SRC_OFFSET] = (double)(src % LINE);
    number[NUMBER_DST_OFFSET] = (double)(dst % LINE);
    number[NUMBER_SRC_ALIGNMENT] = power_in(src, LINE);
    number[NUMBER_DST_ALIGNMENT] = power_in(dst, LINE);
    number[NUMBER_PAGE_DISTANCE] = (double)((src - dst) % PAGE);
}

static void set_kernel(struct move_numbers *n, const struct kernel *k)
{
    double *number = n->number;

    n->figure[MEASURED_PLANE] = k->planes;
    n->figure[MEASURED_CALL] = k->calls;
    n->figure[MEASURED_STORE] = k->stores;
    number[NUMBER_CALLS] = k->calls;
    number[NUMBER_KERNEL_ROWS] = k->rows;
    number[NUMBER_KERNEL_COLUMNS] = k->columns;
    number[NUMBER_MERGED_ROWS] = k->merged_rows;
    number[NUMBER_MERGED_COLUMNS] = k->merged_columns;
    number[NUMBER_ROWS_REST] = fmod(k->rows, LINE);
    number[NUMBER_COLUMNS_REST] = fmod(k->columns, LINE);
}

static void set_sides(struct move_numbers *n, const struct side_numbers *read,
                      const struct side_numbers *written)
{
    double *number = n->number;

    n->figure[MEASURED_ROW] = number[NUMBER_ROWS] = read->rows;
    n->level[MEASURED_READ] = number[NUMBER_READ] = read->touched;
    n->level[MEASURED_WRITTEN] = number[NUMBER_WRITTEN] = written->touched;
    n->level[MEASURED_READ_LINES] = number[NUMBER_READ_LINES] = read->lines;
    n->level[MEASURED_WRITTEN_LINES] = number[NUMBER_WRITTEN_LINES] = written->lines;
    number[NUMBER_READ_PAGES] = read->pages;
    number[NUMBER_WRITTEN_PAGES] = written->pages;
    if (read->span > 0)
        number[NUMBER_READ_DENSITY] = read->lines * LINE / read->span;
    if (written->span > 0)
        number[NUMBER_WRITTEN_DENSITY] = written->lines * LINE / written->span;
}

static void set_zeros(struct move_numbers *n, const struct mli_plan *plan)
{
    double *number = n->number;

    n->figure[MEASURED_SLAB] = number[NUMBER_SLABS] = (double)plan->slabs;
    for (size_t i = 0; i < plan->slabs; i++) {
        const struct side side = side_of_slab(&plan->slab[i]);
        const struct side_numbers zeros = numbers_of(&side);

        n->figure[MEASURED_ZERO_ROW] += zeros.rows;
        n->figure[MEASURED_ZERO_STORE] += zeros.rows * blocks((double)side.run, LINE);
        n->level[MEASURED_ZERO_LINES] += zeros.lines;
        number[NUMBER_ZERO_BYTES] += zeros.rows * (double)side.run;
        number[i == 0 ? NUMBER_FIRST_ZEROS : NUMBER_LAST_ZEROS] = (double)side.run;
        number[NUMBER_LAST_ZERO_LOOPS] = (double)side.loops;
        number[NUMBER_ZERO_COUNT] = side.loops > 0 ? (double)side.loop[side.loops - 1].count : 0;
        number[NUMBER_ZERO_STEP] = side.loops > 0 ? (double)side.loop[side.loops - 1].step : 0;
        number[NUMBER_LARGEST_ZEROS] =
            fmax(number[NUMBER_LARGEST_ZEROS], zeros.rows * (double)side.run);
    }
    number[NUMBER_ZERO_LINES] = n->level[MEASURED_ZERO_LINES];
    number[NUMBER_ZERO_ROWS] = n->figure[MEASURED_ZERO_ROW];
}

void move_numbers(struct move_numbers *n, const struct mli_plan *plan)
{
    const struct mli_copy_box *box = &plan->box;
    struct side_numbers read = {0}, written = {0};
    struct kernel kernel;

    *n = (struct move_numbers){0};
    if (box->run > 0) {
        const struct side from = side_of_box(box, true), to = side_of_box(box, false);

        read = numbers_of(&from);
        written = numbers_of(&to);
        set_loops(n->number, box);
    }
    set_addresses(n->number, box);
    n->class = describe_kernel(&kernel, box, read.rows);
    set_kernel(n, &kernel);
    set_sides(n, &read, &written);
    set_zeros(n, plan);
    if (2 * n->number[NUMBER_ZERO_BYTES] > (double)plan->bytes)
        n->class = MOVE_CLASS_ZEROS;
    n->figure[MEASURED_START] = 1;
    n->figure[MEASURED_LOOP] = n->number[NUMBER_LOOPS] = box->run > 0 ? (double)box->loops : 0;
    n->number[NUMBER_CLASS] = n->class;
    n->number[NUMBER_RUN] = (double)box->run;
    n->number[NUMBER_RUN_REST] = (double)(box->run % LINE);
    n->number[NUMBER_BYTES] = (double)plan->bytes;
    n->number[NUMBER_FOOTPRINT] =
        fmax(LINE, LINE * (read.lines + written.lines + n->level[MEASURED_ZERO_LINES]));
}

struct footprint_weights measured_weights(const struct measured_costs *costs, double footprint)
{
    const uint32_t last = costs->footprints - 1;
    uint32_t i = 0;

    if (footprint <= (double)costs->footprint[0])
        return (struct footprint_weights){0, 1, 0};
    if (footprint >= (double)costs->footprint[last])
        return (struct footprint_weights){last, 1, 0};
    while (footprint >= (double)costs->footprint[i + 1])
        i++;
    const double from = log((double)costs->footprint[i]);
    const double share = (log(footprint) - from) / (log((double)costs->footprint[i + 1]) - from);

    return (struct footprint_weights){i, 1 - share, share};
}

static double level_cost(const struct measured_class *class, const struct move_numbers *numbers,
                         const struct footprint_weights *weights, enum measured_level which)
{
    const profile_cost *cost = &class->level[which][weights->first];
    double cycles = weights->of_first * (double)cost[0];

    if (weights->of_second > 0)
        cycles += weights->of_second * (double)cost[1];
    return numbers->level[which] * cycles / (double)PROFILE_CYCLE;
}

static double figure_cost(const struct measured_class *class, const struct move_numbers *numbers,
                          enum measured_figure which)
{
    return numbers->figure[which] * (double)class->single[which] / (double)PROFILE_CYCLE;
}

void measured_formula(struct measured_time *time, const struct measured_costs *costs,
                      const struct move_numbers *n)
{
    const struct measured_class *own = &costs->class[n->class];
    const struct measured_class *class = own->present ? own : &costs->class[MOVE_CLASS_LONG_ROWS];
    const struct footprint_weights weights = measured_weights(costs, n->number[NUMBER_FOOTPRINT]);

    *time = (struct measured_time){.factor = 1, .class = n->class};
    time->start = figure_cost(class, n, MEASURED_START) + figure_cost(class, n, MEASURED_LOOP) +
                  figure_cost(class, n, MEASURED_SLAB);
    time->calls = figure_cost(class, n, MEASURED_PLANE) + figure_cost(class, n, MEASURED_CALL);
    time->rows = figure_cost(class, n, MEASURED_ROW) + figure_cost(class, n, MEASURED_STORE) +
                 figure_cost(class, n, MEASURED_ZERO_ROW) +
                 figure_cost(class, n, MEASURED_ZERO_STORE);
    time->read = level_cost(class, n, &weights, MEASURED_READ) +
                 level_cost(class, n, &weights, MEASURED_READ_LINES);
    time->written = level_cost(class, n, &weights, MEASURED_WRITTEN) +
                    level_cost(class, n, &weights, MEASURED_WRITTEN_LINES) +
                    level_cost(class, n, &weights, MEASURED_ZERO_LINES);
    time->total = time->start + time->calls + time->rows + time->read + time->written;
}

/* Returns the logarithm of the factor that one decision tree gives for a move. */
static double measured_tree(const struct measured_costs *costs, uint32_t tree,
                            const struct move_numbers *numbers)
{
    const struct tree_node *node = &costs->node[costs->tree[tree]];

    while (node->number != TREE_END)
        node =
            &costs
                 ->node[numbers->number[node->number] < (double)node->value ? node->yes : node->no];
    return (double)node->value;
}

void measured_time(struct measured_time *time, const struct measured_costs *costs,
                   const struct mli_plan *plan)
{
    struct move_numbers numbers;
    double factor = 0;

    move_numbers(&numbers, plan);
    measured_formula(time, costs, &numbers);
    numbers.number[NUMBER_FORMULA] = time->total;
    for (uint32_t i = 0; i < costs->trees; i++)
        factor += measured_tree(costs, i, &numbers);
    time->factor = exp(factor);
    time->start *= time->factor;
    time->calls *= time->factor;
    time->rows *= time->factor;
    time->read *= time->factor;
    time->written *= time->factor;
    time->total *= time->factor;
}

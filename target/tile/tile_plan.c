/* SPDX-License-Identifier: BSD-3-Clause */
#include <inttypes.h>

#include "target/tile/tile_plan.h"

void tile_plan_step(const struct tile_plan *plan, uint64_t step, uint64_t index[TILE_AXES])
{
    for (uint32_t i = plan->layer->axes; i-- > 0;) {
        const uint32_t axis = plan->order[i];

        index[axis] = step % plan->cut[axis].count;
        step /= plan->cut[axis].count;
    }
}

bool tile_plan_changes(const struct tile_plan *plan, uint32_t operand, uint64_t step)
{
    const struct tile_layer *layer = plan->layer;
    uint64_t now[TILE_AXES] = {0}, before[TILE_AXES] = {0};

    if (step == 0)
        return true;
    tile_plan_step(plan, step, now);
    tile_plan_step(plan, step - 1, before);
    for (uint32_t a = 0; a < layer->axes; a++) {
        if (layer->operand[operand].span[a].used && now[a] != before[a])
            return true;
    }
    return false;
}

bool tile_plan_completes(const struct tile_plan *plan, uint64_t step)
{
    uint64_t index[TILE_AXES] = {0};

    if (!plan->layer->reduces)
        return true;
    tile_plan_step(plan, step, index);
    return index[TILE_REDUCED] == plan->cut[TILE_REDUCED].count - 1;
}

uint64_t tile_plan_bytes(const struct tile_plan *plan, uint32_t operand,
                         const uint64_t index[TILE_AXES])
{
    const struct tile_layer *layer = plan->layer;
    const struct tile_operand *op = &layer->operand[operand];
    const bool partial = op->partial > 0 && layer->reduces && plan->cut[TILE_REDUCED].count > 1;
    uint64_t bytes = cost_times(partial ? op->partial : op->unit, op->repeats);

    for (uint32_t a = 0; a < layer->axes; a++) {
        uint64_t begin, size;

        tile_cut_range(&plan->cut[a], index[a], &begin, &size);
        bytes = cost_times(bytes, tile_span_extent(&op->span[a], size));
    }
    return bytes;
}

/* Returns the rows or columns that a kernel covers, with the gaps of its dilation. */
static uint64_t covered(const struct tile_window *window, uint32_t d)
{
    return (uint64_t)(window->kernel[d] - 1) * window->dilation[d] + 1;
}

void tile_window_pad_same(struct tile_window *window)
{
    for (uint32_t d = 0; d < 2; d++) {
        const uint64_t stride = window->stride[d] > 0 ? window->stride[d] : 1;
        const uint64_t extent = window->shape[d], results = (extent + stride - 1) / stride;
        const uint64_t needed = results > 0 ? (results - 1) * stride + covered(window, d) : 0;
        const uint64_t pad = needed > extent ? needed - extent : 0;

        window->pad_pre[d] = (uint32_t)(pad / 2);
        window->pad_post[d] = (uint32_t)(pad - pad / 2);
    }
}

/*
 * Returns the rows (dimension 0) or columns (1) of the output, 0 if the kernel exceeds the padded
 * input.
 */
static uint64_t tile_window_extent(const struct tile_window *window, uint32_t d)
{
    const uint64_t padded = (uint64_t)window->shape[d] + window->pad_pre[d] + window->pad_post[d];

    return padded < covered(window, d) ? 0 : (padded - covered(window, d)) / window->stride[d] + 1;
}

static int check_range(const char *name, uint64_t value, uint64_t min, uint64_t max,
                       struct fault *fault)
{
    if (value >= min && value <= max)
        return 0;
    return fault_set(fault, FAULT_INVALID_PARAMS, NULL,
                     "%s: %" PRIu64 " given; %" PRIu64 " to %" PRIu64 " are allowed", name, value,
                     min, max);
}

static int check_window(const struct tile_window *window, struct fault *fault)
{
    static const char *const sides[] = {"rows", "columns"};

    for (uint32_t d = 0; d < 2; d++) {
        if (check_range("shape", window->shape[d], 1, UINT32_MAX, fault) ||
            check_range("kernel", window->kernel[d], 1, TILE_KERNEL_MAX, fault) ||
            check_range("stride", window->stride[d], 1, TILE_KERNEL_MAX, fault) ||
            check_range("dilation", window->dilation[d], 1, TILE_KERNEL_MAX, fault) ||
            check_range("kernel with dilation", covered(window, d), 1, TILE_KERNEL_MAX, fault) ||
            check_range("padding", window->pad_pre[d], 0, TILE_PAD_MAX, fault) ||
            check_range("padding", window->pad_post[d], 0, TILE_PAD_MAX, fault))
            return -1;
        if (tile_window_extent(window, d) == 0)
            return fault_set(fault, FAULT_INVALID_PARAMS, NULL,
                             "the kernel covers %" PRIu64 " %s, but the padded input has %" PRIu64,
                             covered(window, d), sides[d],
                             (uint64_t)window->shape[d] + window->pad_pre[d] + window->pad_post[d]);
        if (covered(window, d) <= window->pad_pre[d] || covered(window, d) <= window->pad_post[d])
            return fault_set(fault, FAULT_INVALID_PARAMS, NULL,
                             "padding: the kernel covers %" PRIu64
                             " %s; the padding of a side must be less",
                             covered(window, d), sides[d]);
    }
    return check_range("channels", window->shape[2], 1, UINT32_MAX, fault) ||
                   check_range("output channels", window->channels, 1, UINT32_MAX, fault)
               ? -1
               : 0;
}

/* Appends an operand. Its dimensions follow with add_span(). */
static struct tile_operand *add_operand(struct tile_layer *layer, enum tile_role role,
                                        uint64_t unit)
{
    struct tile_operand *operand = &layer->operand[layer->operands++];

    *operand = (struct tile_operand){.role = role, .unit = unit, .repeats = 1};
    return operand;
}

/* Appends the next inner dimension of the operand. */
static void add_span(struct tile_operand *operand, uint32_t axis, struct tile_span span)
{
    span.used = true;
    operand->span[axis] = span;
    operand->axis[operand->dimensions++] = (uint8_t)axis;
    operand->merging = operand->dimensions;
}

/* Appends a dimension with one element for each index of the axis. */
static void add_plain(const struct tile_layer *layer, struct tile_operand *operand, uint32_t axis)
{
    add_span(operand, axis,
             (struct tile_span){.step = 1, .reach = 1, .extent = layer->extent[axis]});
}

/* Returns the size of a whole operand in bytes, UINT64_MAX if it does not fit. */
static uint64_t whole_bytes(const struct tile_layer *layer, const struct tile_operand *operand)
{
    uint64_t unit = operand->partial > operand->unit ? operand->partial : operand->unit;
    uint64_t bytes = cost_times(unit, operand->repeats);

    for (uint32_t a = 0; a < layer->axes; a++)
        bytes = cost_times(bytes, tile_span_extent(&operand->span[a], layer->extent[a]));
    return bytes;
}

/* Refuses operands of more than 2^53 bytes, so that the sum of all operands fits in 64 bits. */
static int check_sizes(const struct tile_layer *layer, struct fault *fault)
{
    for (uint32_t i = 0; i < layer->operands; i++) {
        if (whole_bytes(layer, &layer->operand[i]) > UINT64_C(1) << 53)
            return fault_set(fault, FAULT_INVALID_PARAMS, NULL,
                             "the layer is too large: a tensor has more than 2^53 B");
    }
    return 0;
}

/* Appends the rows and columns of the input, with the halo of the kernel. */
static void add_halo(struct tile_operand *input, const struct tile_window *window)
{
    for (uint32_t d = 0; d < 2; d++)
        add_span(input, TILE_ROWS + d,
                 (struct tile_span){.step = window->stride[d],
                                    .reach = (uint32_t)covered(window, d),
                                    .pad = window->pad_pre[d],
                                    .extent = window->shape[d]});
}

static void add_weights(struct tile_layer *layer, const struct tile_window *window)
{
    struct tile_operand *weights = add_operand(layer, TILE_WEIGHTS, window->element);

    weights->repeats = (uint64_t)window->kernel[0] * window->kernel[1];
    if (!window->depthwise)
        add_plain(layer, weights, TILE_REDUCED);
    add_plain(layer, weights, TILE_CHANNELS);
}

int tile_layer_window(struct tile_layer *layer, const struct tile_window *window,
                      struct fault *fault)
{
    const uint32_t channels = window->depthwise ? window->shape[2] : window->channels;
    struct tile_operand *operand;

    if (check_window(window, fault))
        return -1;
    *layer =
        (struct tile_layer){.kind = TILE_WINDOW,
                            .axes = window->depthwise ? 3 : 4,
                            .extent = {tile_window_extent(window, 0), tile_window_extent(window, 1),
                                       channels, window->depthwise ? 1 : window->shape[2]},
                            .reduces = !window->depthwise,
                            .element = window->element,
                            .window = *window};
    operand = add_operand(layer, TILE_INPUT, window->element);
    add_halo(operand, window);
    add_plain(layer, operand, window->depthwise ? TILE_CHANNELS : TILE_REDUCED);
    if (window->weights)
        add_weights(layer, window);
    operand = add_operand(layer, TILE_OUTPUT, window->element);
    operand->partial = window->partial;
    for (uint32_t a = TILE_ROWS; a <= TILE_CHANNELS; a++)
        add_plain(layer, operand, a);
    layer->results = cost_times(cost_times(layer->extent[0], layer->extent[1]), channels);
    return check_sizes(layer, fault);
}

/* Adds the input of a move. Its dimensions in memory are the dimensions of the source. */
static void add_source(struct tile_layer *layer, const mli_explanation *move)
{
    struct tile_operand *input = add_operand(layer, TILE_INPUT, move->elem);

    for (uint32_t d = 0; d < move->rank; d++) {
        const mli_explained_axis *axis = &move->axis[d];
        const bool reads = move->samples_read > 0;

        add_span(input, axis->dst_dim,
                 (struct tile_span){.step = 1,
                                    .reach = 1,
                                    .pad = reads ? axis->lo : 0,
                                    .extent = reads ? axis->hi - axis->lo : 0});
    }
    input->merging = 0;
    for (uint32_t d = move->rank; d-- > 0 && move->axis[d].dst_dim == d && move->axis[d].step == 1;)
        input->merging++;
}

int tile_layer_move(struct tile_layer *layer, const mli_explanation *move, struct fault *fault)
{
    struct tile_operand *output;

    *layer = (struct tile_layer){.kind = TILE_MOVE,
                                 .axes = move->rank,
                                 .element = move->elem,
                                 .results = move->samples,
                                 .move = *move};
    for (uint32_t d = 0; d < move->rank; d++)
        layer->extent[move->axis[d].dst_dim] = move->axis[d].count;
    add_source(layer, move);
    output = add_operand(layer, TILE_OUTPUT, move->elem);
    output->in_place = true;
    for (uint32_t a = 0; a < layer->axes; a++)
        add_plain(layer, output, a);
    return check_sizes(layer, fault);
}

int tile_layer_elementwise(struct tile_layer *layer, uint32_t rank, const uint32_t *shape,
                           uint32_t element, uint32_t inputs, struct fault *fault)
{
    if (check_range("rank", rank, 1, TILE_AXES, fault) ||
        check_range("inputs", inputs, 1, TILE_INPUTS, fault))
        return -1;
    *layer = (struct tile_layer){.kind = TILE_ELEMENTWISE, .axes = rank, .element = element};
    layer->results = 1;
    for (uint32_t d = 0; d < rank; d++) {
        if (check_range("shape", shape[d], 1, UINT32_MAX, fault))
            return -1;
        layer->extent[d] = shape[d];
        layer->results = cost_times(layer->results, shape[d]);
    }
    for (uint32_t i = 0; i <= inputs; i++) {
        struct tile_operand *operand =
            add_operand(layer, i < inputs ? TILE_INPUT : TILE_OUTPUT, element);

        operand->in_place = i == inputs;
        for (uint32_t a = 0; a < rank; a++)
            add_plain(layer, operand, a);
    }
    return check_sizes(layer, fault);
}

/*
 * Adds the number of elements among the coordinates of a tile. Returns whether some of the
 * coordinates are padding. If not, adds nothing.
 */
static bool add_padded(const struct tile_span *span, const struct tile_cut *cut, uint64_t index,
                       uint64_t *sum)
{
    const uint64_t limit = span->pad + span->extent;
    uint64_t begin, size, from, end, elements; /* from, end: in the padded operand */

    tile_cut_range(cut, index, &begin, &size);
    from = begin * span->step > span->pad ? begin * span->step : span->pad;
    end = begin * span->step + tile_span_extent(span, size);
    end = end < limit ? end : limit;
    elements = end > from ? end - from : 0;
    if (elements == tile_span_extent(span, size))
        return false;
    *sum += elements;
    return true;
}

/*
 * All ranges have the same span, except the first and the last ones, which reach into the padding.
 * These are counted one by one, from both ends, until a range has no zeros.
 */
uint64_t tile_span_sum(const struct tile_span *span, const struct tile_cut *cut)
{
    uint64_t sum = 0, size, low = 0, high = cut->count;

    if (!span->used || span->extent == 0)
        return span->used ? 0 : 1;
    while (low < high && add_padded(span, cut, low, &sum))
        low++;
    while (high > low && add_padded(span, cut, high - 1, &sum))
        high--;
    if (high > low) {
        uint64_t from, to;

        tile_cut_range(cut, low, &from, &size);
        tile_cut_range(cut, high - 1, &to, &size);
        sum += (to + size - from) * span->step + (high - low) * (uint64_t)span->reach -
               (high - low) * (uint64_t)span->step;
    }
    return sum;
}

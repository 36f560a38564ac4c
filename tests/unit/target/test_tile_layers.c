/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Plans all layers of a list of networks for 64, 128 and 256 KiB:
 *
 *     test_target_tile_layers LAYERS.txt [-v]
 *
 * Plans each layer for the least traffic, and for the shortest time on the profile vpx5-nsim
 * without kernels. Prints the traffic compared with the least possible, the time of planning, and
 * the predicted times; -v prints each layer. Fails if a plan takes 100 ms of processor time, if the
 * traffic exceeds 1.05 of the best of all integer tile sizes (layers with up to 60 000 sizes), if
 * the plan for the shortest time takes 4 % longer than a plan near the least traffic, or if the
 * checker refuses its jobs.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "target/profile/profile_load.h"
#include "target/tile/tile_choice.h"
#include "tests/support/scale.h"

enum { SIZES_MAX = 60000, AXIS_MAX = 2048 };
#ifdef __SANITIZE_ADDRESS__
#define SLOWER 20
#else
#define SLOWER 1
#endif
#define PLAN_NS_MAX (SLOWER * 100 * UINT64_C(1000000))

static struct target_profile board;
static const struct profile_memory *vccm;

static uint64_t cpu_ns(void)
{
    struct timespec now;

    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

/* The traffic for all tile sizes: the number of loaded elements, counted along each axis. */

struct sizes {
    const struct tile_layer *layer;
    uint64_t sum[TILE_AXES][TILE_OPERANDS][AXIS_MAX + 1]; /* elements in tiles of each size */
};

static void count_sums(struct sizes *sizes, uint32_t axis)
{
    const struct tile_layer *layer = sizes->layer;

    for (uint64_t size = 1; size <= layer->extent[axis]; size++) {
        for (uint32_t i = 0; i < layer->operands; i++) {
            const struct tile_span *span = &layer->operand[i].span[axis];
            uint64_t sum = 0;

            for (uint64_t at = 0; at < layer->extent[axis]; at += size) {
                const uint64_t end =
                    at + size < layer->extent[axis] ? at + size : layer->extent[axis];
                uint64_t low = at * span->step, high = (end - 1) * span->step + span->reach;

                low = low > span->pad ? low - span->pad : 0;
                high = high > span->pad ? high - span->pad : 0;
                high = high < span->extent ? high : span->extent;
                sum += high > low ? high - low : 0;
            }
            sizes->sum[axis][i][size] = span->used ? sum : 1;
        }
    }
}

/*
 * Returns the traffic of these tile sizes with the loops in this order; UINT64_MAX if the tiles do
 * not fit.
 */
static uint64_t traffic_of(const struct sizes *sizes, const uint64_t size[TILE_AXES],
                           const uint8_t order[TILE_AXES], const struct tile_memory *memory)
{
    const struct tile_layer *layer = sizes->layer;
    uint64_t total = 0, used = 0;

    for (uint32_t i = 0; i < layer->operands; i++) {
        const struct tile_operand *operand = &layer->operand[i];
        uint64_t bytes = operand->unit * operand->repeats, traffic = bytes;
        uint64_t outside = 1, times = 1, tiles = 1;
        bool held = false;

        for (uint32_t n = 0; n < layer->axes; n++) {
            const uint32_t a = order[n];
            const uint64_t count = (layer->extent[a] + size[a] - 1) / size[a];

            if (count > 1)
                held = !operand->span[a].used;
            if (operand->span[a].used) {
                bytes *= (size[a] - 1) * operand->span[a].step + operand->span[a].reach;
                traffic *= sizes->sum[a][i][size[a]];
                tiles *= count;
                if (count > 1)
                    times = outside;
            } else {
                outside *= count;
            }
        }
        total += traffic * times;
        for (uint32_t b = 0; b < (tiles == 1 || held ? 1 : memory->buffers) && !operand->in_place;
             b++)
            used = (used + memory->alignment - 1) / memory->alignment * memory->alignment + bytes;
    }
    return used > memory->bytes ? UINT64_MAX : total;
}

/* Returns the least traffic of all integer sizes and orders; 0: there are too many sizes. */
static uint64_t exhaustive(const struct tile_layer *layer, const struct tile_memory *memory)
{
    static const uint8_t orders[6][TILE_AXES] = {{3, 0, 1, 2}, {3, 0, 2, 1}, {3, 1, 0, 2},
                                                 {3, 1, 2, 0}, {3, 2, 0, 1}, {3, 2, 1, 0}};
    static struct sizes sizes;
    uint64_t size[TILE_AXES] = {1, 1, 1, 1}, best = UINT64_MAX, combinations = 1;
    uint32_t a = 0;

    for (uint32_t i = 0; i < 3; i++)
        combinations *= layer->extent[i];
    if (combinations > SIZES_MAX || layer->axes != 4 || layer->extent[3] > AXIS_MAX)
        return 0;
    sizes.layer = layer;
    for (uint32_t i = 0; i < 4; i++)
        count_sums(&sizes, i);
    size[3] = layer->extent[3];
    while (a < 3) {
        for (uint32_t n = 0; n < 6; n++) {
            const uint64_t traffic = traffic_of(&sizes, size, orders[n], memory);

            best = traffic < best ? traffic : best;
        }
        for (a = 0; a < 3 && ++size[a] > layer->extent[a]; a++)
            size[a] = 1;
    }
    return best;
}

struct result {
    uint32_t layers, checked;
    uint64_t total, least, slowest_ns;
    uint64_t ns, traffic_ns; /* predicted times of the plans for the shortest time, and of those for
                                the least traffic */
    uint64_t time_bytes;     /* traffic of the plans for the shortest time */
    double worst, worst_exhaustive;
};

/* Checks the jobs of a plan and adds their predicted time. Returns 0, or -1 after a message. */
static int time_jobs(const struct tile_plan *plan, uint64_t *ns)
{
    const struct tile_board on = {
        &board, vccm, tile_board_outside(&board, vccm), board.dma.channels, board.costs.core_call,
        0};
    struct tile_use *uses = NULL;
    struct cost_times times = {0};
    struct tile_jobs jobs;
    struct fault fault = {0};
    int status = tile_jobs_init(&jobs, plan, TILE_FIRMWARE, 7);

    if (status == 0) {
        uses = tile_jobs_uses(&jobs);
        status = tile_check(uses, jobs.count, plan->memory.bytes, &fault) ||
                         tile_times_init(&times, &jobs, &on, &fault)
                     ? -1
                     : 0;
        if (status < 0)
            printf("FAILED: %s\n", fault.text);
        *ns += cost_ns(&board, times.end);
    }
    free(uses);
    tile_times_finish(&times);
    tile_jobs_finish(&jobs);
    return status;
}

/* Plans a layer for the shortest time. Sets *ns to the processor time. */
static int choose(struct tile_plan *plan, const struct tile_layer *layer,
                  const struct tile_memory *memory, uint64_t *ns)
{
    const struct profile_memory *outside = tile_board_outside(&board, vccm);
    const struct tile_estimate estimate = tile_estimate_of(&board, outside);
    const struct tile_board on = {&board, vccm, outside, board.dma.channels, board.costs.core_call,
                                  0};
    const uint64_t from = cpu_ns();
    struct tile_choice choice;
    struct fault fault;

    if (tile_choose(&choice, TILE_LEAST_TIME, layer, memory, &estimate, &on, &fault)) {
        printf("FAILED: %s\n", fault.text);
        return -1;
    }
    *ns = cpu_ns() - from;
    *plan = choice.best.plan;
    if (choice.other.plan.total != plan->least_found) {
        printf("FAILED: the other plan has not the least traffic\n");
        return -1;
    }
    return 0;
}

static int plan_layer(struct result *result, const struct tile_layer *layer, uint64_t budget,
                      bool verbose)
{
    const struct tile_memory memory = {
        .bytes = budget, .base = vccm->base, .alignment = 16, .buffers = 2, .hold = true};
    const uint64_t best = exhaustive(layer, &memory);
    struct tile_estimate estimate = tile_estimate_of(&board, tile_board_outside(&board, vccm));
    struct tile_plan fast, plan, least;
    struct fault fault;
    uint64_t ns, times[2] = {0};
    double ratio;

    if (choose(&fast, layer, &memory, &ns))
        return -1;
    estimate.slack = 5;
    if (tile_plan_find(&plan, layer, &memory, &estimate, &fault)) {
        printf("FAILED: %s\n", fault.text);
        return -1;
    }
    estimate.slack = 0;
    if (tile_plan_find(&least, layer, &memory, &estimate, &fault) || time_jobs(&fast, &times[0]) ||
        time_jobs(&plan, &times[1]))
        return -1;
    ratio = (double)plan.total / (double)plan.least_total;
    if (verbose)
        printf("  traffic: %5" PRIu64 " tiles %" PRIu64 "x%" PRIu64 "x%" PRIu64 " %9" PRIu64
               " B, least * %.3f, %" PRIu64 " us  time: %5" PRIu64 " tiles %" PRIu64 "x%" PRIu64
               "x%" PRIu64 " %9" PRIu64 " B, %" PRIu64 " us  planned in %.2f ms\n",
               plan.steps, plan.cut[0].size, plan.cut[1].size, plan.cut[2].size, plan.total, ratio,
               times[1] / 1000, fast.steps, fast.cut[0].size, fast.cut[1].size, fast.cut[2].size,
               fast.total, times[0] / 1000, (double)ns / 1e6);
    result->layers++;
    result->total += plan.total;
    result->least += plan.least_total;
    result->ns += times[0];
    result->traffic_ns += times[1];
    result->time_bytes += fast.total;
    result->worst = ratio > result->worst ? ratio : result->worst;
    result->slowest_ns = ns > result->slowest_ns ? ns : result->slowest_ns;
    if (best > 0) {
        const double exact = (double)plan.total / (double)best;

        result->checked++;
        result->worst_exhaustive =
            exact > result->worst_exhaustive ? exact : result->worst_exhaustive;
    }
    if (least.total > plan.total || (best > 0 && least.total > best)) {
        printf("FAILED: the least traffic is not the least\n");
        return -1;
    }
    if (times[0] > times[1] / 100 * 104 + 1) {
        printf("FAILED: the shortest time is not the shortest\n");
        return -1;
    }
    return 0;
}

/*
 * Reads a line of the list. Returns 1 for a layer, 0 for a line without one, -1 for a line with a
 * mistake.
 */
static int read_layer(struct tile_layer *layer, const char *line, char network[32])
{
    struct tile_window w = {.dilation = {1, 1}, .element = 1};
    struct fault fault;
    char kind[8];

    if (*line == '#' || *line == '\n' || sscanf(line, "network %31s", network) == 1)
        return 0;
    if (sscanf(line, "%7s %u %u %u %u %u %u", kind, &w.shape[0], &w.shape[1], &w.shape[2],
               &w.kernel[0], &w.stride[0], &w.channels) != 7)
        return -1;
    w.kernel[1] = w.kernel[0];
    w.stride[1] = w.stride[0];
    w.depthwise = strcmp(kind, "dense") != 0;
    w.weights = strcmp(kind, "pool") != 0;
    if (strcmp(kind, "add") == 0)
        return tile_layer_elementwise(layer, 3, w.shape, 1, 2, &fault) ? -1 : 1;
    tile_window_pad_same(&w);
    return tile_layer_window(layer, &w, &fault) ? -1 : 1;
}

static int plan_list(FILE *list, uint64_t budget, bool verbose)
{
    struct result result = {.worst_exhaustive = 1, .worst = 1};
    char line[160], network[32] = "";
    bool failed = false;

    rewind(list);
    while (fgets(line, sizeof line, list)) {
        struct tile_layer layer;
        const int is = read_layer(&layer, line, network);

        if (is < 0) {
            printf("FAILED: %s", line);
            return -1;
        }
        if (is == 0)
            continue;
        if (verbose)
            printf("%s %s", network, line);
        failed |= plan_layer(&result, &layer, budget, verbose) < 0;
    }
    printf("%3" PRIu64 " KiB: %u layers, traffic / least %.3f in all, %.3f at most; traffic / best "
           "of all sizes %.4f at most (%u layers), predicted %.1f ms; plans for time: predicted "
           "%.1f ms, traffic / least %.3f; planning %.1f ms at most\n",
           budget / 1024, result.layers, (double)result.total / (double)result.least, result.worst,
           result.worst_exhaustive, result.checked, (double)result.traffic_ns / 1e6,
           (double)result.ns / 1e6, (double)result.time_bytes / (double)result.least,
           (double)result.slowest_ns / 1e6);
    if (result.worst_exhaustive > 1.05 || result.slowest_ns > PLAN_NS_MAX || result.layers == 0 ||
        result.checked == 0) {
        printf("FAILED: at most 1.05 and %" PRIu64 " ms are allowed\n", PLAN_NS_MAX / 1000000);
        failed = true;
    }
    return failed ? -1 : 0;
}

int main(int argc, char **argv)
{
    FILE *list = argc > 1 ? fopen(argv[1], "r") : NULL;
    const bool verbose = argc > 2 && strcmp(argv[2], "-v") == 0;
    struct fault fault;
    int status = 0;

    if (!list || profile_load(&board, "vpx5-nsim", &fault) < 0 ||
        !(vccm = profile_memory_named(&board, "vccm"))) {
        fprintf(stderr, "usage: test_target_tile_layers LAYERS.txt [-v]\n");
        return 2;
    }
    for (uint64_t kib = 64; kib <= (scale_percent() == 100 ? 256 : 64); kib *= 2)
        status |= plan_list(list, kib * 1024, verbose);
    fclose(list);
    return status ? 1 : 0;
}

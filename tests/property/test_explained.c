/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Compares mli_mov_explain() with the oracle, and with the move itself.
 *
 *   test_explained [--seed N] [--count MOVES] [--permutes PERMUTES] [--only INDEX]
 *                  [--large PERCENT]
 *
 * For legal moves every number is compared with the oracle's, the plan is compared byte by byte
 * with the bytes that the oracle writes, and the parts of the plan with the plan. Then the tensors
 * get new memory, with inaccessible pages at the ends of the explained ranges, and are moved. For
 * illegal moves the status must be that of the move, and nothing may be filled. The cases are those
 * of test_moves.
 */
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "mli_explain.h"
#include "tests/property/oracle_overlap.h"
#include "tests/property/property_options.h"
#include "tests/property/random_case.h"
#include "tests/unit/port/plans.h"

#define FIRST_PERMUTE   UINT64_C(1000000000)
#define ILLEGAL_PERCENT 20
#define MOST_FAILURES   5

static struct test_case current; /* the current case, for the report after a crash */
static const char *program;
static mli_explanation explanation;
static struct moved planned, wanted, together;
static uint64_t legal, refused, failures;

static void print_rerun(FILE *to)
{
    fprintf(to, "  reproduce: %s --seed %" PRIu64 " --only %" PRIu64 " --large %u\n", program,
            current.seed, current.index, current.large_percent);
}

/*
 * printf() is not async-signal-safe. The process is about to end anyway, and the report of the case
 * is worth more than that rule.
 */
static void on_crash(int signal_number)
{
    signal(signal_number, SIG_DFL);
    printf("\nsignal %d: an access outside the explained ranges\n", signal_number);
    case_print(stdout, &current);
    print_rerun(stdout);
    fflush(stdout);
    raise(signal_number);
}

static void expect(struct test_case *c, const char *what, uint64_t got, uint64_t want)
{
    if (got != want)
        case_fail(c, "%s: %" PRIu64 ", expected %" PRIu64, what, got, want);
}

/* The results of the oracle's loop over all elements. */
struct walked {
    struct moved *moved;
    uint64_t samples, samples_read, elem;
    mli_byte_range read, written;
};

static void widen(mli_byte_range *range, uint64_t begin, uint64_t end)
{
    if (range->begin == range->end)
        *range = (mli_byte_range){begin, end};
    range->begin = begin < range->begin ? begin : range->begin;
    range->end = end > range->end ? end : range->end;
}

static void visit(void *context, int64_t from, uint64_t to)
{
    struct walked *w = context;
    const size_t at = (size_t)(to * w->elem), source = (size_t)(from < 0 ? 0 : from) * w->elem;

    w->samples++;
    widen(&w->written, at, at + w->elem);
    if (from >= 0) {
        w->samples_read++;
        widen(&w->read, source, source + w->elem);
    }
    for (size_t i = 0; i < w->elem; i++) {
        w->moved->from[at + i] = from < 0 ? MOVED_ZERO : (int32_t)(source + i);
        w->moved->times[at + i]++;
        w->moved->end = at + i >= w->moved->end ? at + i + 1 : w->moved->end;
    }
    w->moved->bytes += w->elem;
}

/*
 * Computes the expected axis from the definition: sample number k is at the padded coordinate
 * offset + k * step.
 */
static void check_axis(struct test_case *c, uint32_t d)
{
    const mli_explained_axis *axis = &explanation.axis[d];
    const mli_mov_cfg_t *cfg = &c->cfg;
    uint64_t lo = 0, hi = 0, first = 0;
    uint32_t to = 0;

    for (uint64_t k = 0; k < c->expected.n[d]; k++) {
        const int64_t at =
            (int64_t)(cfg->offset[d] + k * cfg->sub_sample_step[d]) - cfg->padding_pre[d];

        if (at < 0 || at >= (int64_t)c->src.shape[d])
            continue;
        if (hi == 0) {
            lo = k;
            first = (uint64_t)at;
        }
        hi = k + 1;
    }
    while (cfg->perm_dim[to] != d)
        to++;
    expect(c, "extent", axis->extent, c->src.shape[d]);
    expect(c, "pad_pre", axis->pad_pre, cfg->padding_pre[d]);
    expect(c, "pad_post", axis->pad_post, cfg->padding_post[d]);
    expect(c, "padded", axis->padded,
           (uint64_t)cfg->padding_pre[d] + c->src.shape[d] + cfg->padding_post[d]);
    expect(c, "offset", axis->offset, cfg->offset[d]);
    expect(c, "size", axis->size, cfg->size[d] ? cfg->size[d] : axis->padded - cfg->offset[d]);
    expect(c, "step", axis->step, cfg->sub_sample_step[d]);
    expect(c, "count", axis->count, c->expected.n[d]);
    expect(c, "hi - lo", axis->hi - axis->lo, hi - lo);
    if (hi > lo)
        expect(c, "lo", axis->lo, lo);
    expect(c, "first", axis->first, first);
    expect(c, "dst_dim", axis->dst_dim, to);
    expect(c, "dst_offset", axis->dst_offset, cfg->dst_offset[to]);
    expect(c, "src_stride", axis->src_stride, c->expected.src_stride[d]);
    expect(c, "dst_stride", axis->dst_stride, c->expected.stride[to]);
    expect(c, "dst_shape", explanation.dst_shape[d], c->expected.shape[d]);
}

static void check_numbers(struct test_case *c, const struct walked *w)
{
    expect(c, "rank", explanation.rank, c->expected.rank);
    expect(c, "elem", explanation.elem, c->expected.esize);
    for (uint32_t d = 0; d < c->expected.rank; d++)
        check_axis(c, d);
    expect(c, "samples", explanation.samples, w->samples);
    expect(c, "samples_read", explanation.samples_read, w->samples_read);
    expect(c, "read.begin", explanation.read.begin, w->read.begin);
    expect(c, "read.end", explanation.read.end, w->read.end);
    expect(c, "written.begin", explanation.written.begin, w->written.begin);
    expect(c, "written.end", explanation.written.end, w->written.end);
    expect(c, "plan.bytes", explanation.plan.bytes, w->samples * w->elem);
}

/*
 * Returns the plan with the tensors' first elements at plan_src and plan_dst, as plans.h expects.
 */
static struct mli_plan moved_plan(const struct test_case *c)
{
    struct mli_plan plan = explanation.plan;

    plan.box.src = plan_src + (plan.box.src - (const uint8_t *)c->src.data.mem.pi8);
    plan.box.dst = plan_dst + (plan.box.dst - (uint8_t *)c->dst.data.mem.pi8);
    for (size_t i = 0; i < plan.slabs; i++)
        plan.slab[i].dst = plan_dst + (plan.slab[i].dst - (uint8_t *)c->dst.data.mem.pi8);
    return plan;
}

static void check_split(struct test_case *c, const struct mli_plan *plan)
{
    static const size_t limits[] = {0, 0, 1, 64, 4096};
    static struct mli_plan parts[MLI_MOV_MAX_CHANNELS];
    const uint32_t channels = draw_between(&c->draw, 1, MLI_MOV_MAX_CHANNELS);
    const size_t tiny = limits[draw_below(&c->draw, 5)];
    const size_t count = mli_plan_split(plan, channels, tiny, parts);
    size_t bytes = 0;

    if (count < 1 || count > channels || (count > 1 && plan->bytes / count <= tiny))
        case_fail(c, "split: %zu parts for %" PRIu32 " channels, tiny %zu", count, channels, tiny);
    moved_clear(&together);
    for (size_t i = 0; i < count && !c->failed; i++) {
        bytes += parts[i].bytes;
        if (parts[i].bytes == 0)
            case_fail(c, "split: part %zu is empty", i);
        moved_add_plan(&together, &parts[i]);
    }
    expect(c, "bytes of all parts", bytes, plan->bytes);
    if (!moved_same(&planned, &together))
        case_fail(c, "the parts for %" PRIu32 " channels are not the plan", channels);
    expect(c, "parts for no channel", mli_plan_split(plan, 0, 0, parts), 0);
    expect(c, "parts for too many", mli_plan_split(plan, MLI_MOV_MAX_CHANNELS + 1, 0, parts), 0);
}

/*
 * Checks that each descriptor that writes bytes has the name of a kernel, and that other
 * descriptors have none.
 */
static void check_kernels(struct test_case *c, const struct mli_plan *plan)
{
    for (size_t i = 0; i <= plan->slabs + 1; i++) {
        const bool there = i > plan->slabs ? false : i > 0 || plan->box.run > 0;
        char text[MLI_KERNEL_TEXT_MAX + 8];

        memset(text, 0x7e, sizeof(text));
        if (mli_plan_kernel(plan, i, text) != text || !memchr(text, '\0', MLI_KERNEL_TEXT_MAX) ||
            text[MLI_KERNEL_TEXT_MAX] != 0x7e || (text[0] != '\0') != there)
            case_fail(c, "kernel of descriptor %zu: \"%.96s\"", i, text);
        else if (there && !strstr(text, mli_cpu_level()) && !strstr(text, "with the copy"))
            case_fail(c, "kernel of descriptor %zu, without its level: \"%s\"", i, text);
    }
}

static void check_plan(struct test_case *c)
{
    const struct mli_plan plan = moved_plan(c);

    moved_clear(&planned);
    moved_add_plan(&planned, &plan);
    if (!moved_same(&planned, &wanted))
        case_fail(c, "the plan does not do what the oracle does");
    check_split(c, &plan);
    check_kernels(c, &explanation.plan);
}

/*
 * Places a tensor so that only the bytes of the range are accessible; the range is next to an
 * inaccessible page.
 */
static void fence(struct test_case *c, mli_tensor *tensor, struct watched *w,
                  const mli_byte_range *range)
{
    watched_place(w, &c->draw, (size_t)(range->end - range->begin), 0);
    tensor->data.mem.pi8 = (int8_t *)((uintptr_t)w->data - (uintptr_t)range->begin);
}

/*
 * Moves between inaccessible pages. Before the move, each byte that the plan writes gets the
 * complement of its result, so that the move must write each of them; all other bytes must not
 * change.
 */
static void check_move(struct test_case *c)
{
    struct watched *to = &c->lab->dst;
    const uint8_t *from;
    mli_status status;

    fence(c, &c->src, &c->lab->src, &explanation.read);
    fence(c, &c->dst, to, &explanation.written);
    from = (const uint8_t *)c->src.data.mem.pi8;
    for (size_t i = (size_t)explanation.written.begin; i < explanation.written.end; i++) {
        const size_t at = i - (size_t)explanation.written.begin;

        if (planned.times[i] == 0)
            continue;
        watched_image(to)[at] = planned.from[i] == MOVED_ZERO ? 0 : from[planned.from[i]];
        to->data[at] = (uint8_t)~watched_image(to)[at];
    }
    c->stage = "move between fences";
    status = mli_mov_tensor_sync(&c->src, &c->cfg, &c->dst);
    if (status != MLI_STATUS_OK)
        case_fail(c, "mli_mov_tensor_sync: %s", mli_status_name(status));
    if (watched_difference(to) != WATCHED_SAME)
        case_fail(c, "byte %zu of the destination is not as planned",
                  watched_difference(to) + (size_t)explanation.written.begin);
    if (watched_difference(&c->lab->src) != WATCHED_SAME)
        case_fail(c, "the source was changed");
}

static void check_legal(struct test_case *c)
{
    struct walked w = {.moved = &wanted, .elem = c->expected.esize};

    moved_clear(&wanted);
    oracle_each(&c->expected, &c->src, &c->cfg, visit, &w);
    c->stage = "compare with the oracle";
    check_numbers(c, &w);
    if (!c->failed)
        check_plan(c);
    if (!c->failed)
        check_move(c);
}

/* The explanation must fail with the move's status and fill nothing. */
static void check_refused(struct test_case *c, const mli_tensor *src, const mli_mov_cfg_t *cfg,
                          mli_tensor *dst, mli_status explained)
{
    mli_explanation untouched;
    mli_status moved;

    memset(&untouched, 0xA5, sizeof(untouched));
    if (memcmp(&explanation, &untouched, sizeof(explanation)) != 0)
        case_fail(c, "the refused explanation was filled");
    moved = mli_mov_tensor_sync(src, cfg, dst);
    if (moved != explained)
        case_fail(c, "mli_mov_tensor_sync: %s, explained: %s", mli_status_name(moved),
                  mli_status_name(explained));
}

static void explain(struct test_case *c)
{
    const mli_tensor *src = c->null_src ? NULL : &c->src;
    const mli_mov_cfg_t *cfg = c->null_cfg ? NULL : &c->cfg;
    mli_tensor *dst = c->null_dst ? NULL : &c->dst, before = c->dst;
    mli_status status;

    c->stage = "explain";
    memset(&explanation, 0xA5, sizeof(explanation));
    status = mli_mov_explain(src, cfg, dst, &explanation);
    if (status != c->expected.status)
        case_fail(c, "mli_mov_explain: %s, expected %s (%s)", mli_status_name(status),
                  mli_status_name(c->expected.status), mli_last_error());
    if (memcmp(&before, &c->dst, sizeof(before)) != 0)
        case_fail(c, "explaining changed dst");
    case_check_memory(c);
    if (c->failed)
        return;
    if (status == MLI_STATUS_OK)
        check_legal(c);
    else
        check_refused(c, src, cfg, dst, status);
    legal += status == MLI_STATUS_OK;
    refused += status != MLI_STATUS_OK;
}

static void run_case(const struct options *options, uint64_t index, struct lab *lab)
{
    struct test_case *c = &current;

    memset(c, 0, sizeof(*c));
    *c = (struct test_case){.seed = options->seed,
                            .index = index,
                            .lab = lab,
                            .large_percent = (uint32_t)options->large,
                            .stage = "generate"};
    c->draw = draw_init(options->seed, index);
    if (index >= FIRST_PERMUTE) {
        case_generate_permute(c);
        c->via = VIA_SYNC; /* run the permute as a move */
        case_judge(c);
    } else {
        case_generate(c);
        c->via = VIA_SYNC;
        if (draw_percent(&c->draw, ILLEGAL_PERCENT))
            case_mutate(c);
    }
    explain(c);
    if (c->failed) {
        failures++;
        print_rerun(stdout);
    }
}

static void run_all(const struct options *options, struct lab *lab)
{
    if (options->only_one) {
        run_case(options, options->only, lab);
        case_print(stdout, &current);
        return;
    }
    for (uint64_t i = 0; i < options->count && failures < MOST_FAILURES; i++)
        run_case(options, i, lab);
    for (uint64_t i = 0; i < options->permutes && failures < MOST_FAILURES; i++)
        run_case(options, FIRST_PERMUTE + i, lab);
}

/* If the explanation is null, the call must be refused as well. */
static bool refuses_null(void)
{
    const mli_tensor none = {0};
    const mli_mov_cfg_t cfg = {0};

    return mli_mov_explain(&none, &cfg, &none, NULL) == MLI_STATUS_ARGUMENT_ERROR;
}

int main(int argc, char **argv)
{
    struct options options = {.count = 15000, .permutes = 1500, .large = 8};
    struct lab lab;

    program = argv[0];
    if (!options_parse(&options, argc, argv) || options.engine)
        return 2;
    if (lab_init(&lab) != 0) {
        fprintf(stderr, "cannot allocate memory\n");
        return 2;
    }
    signal(SIGSEGV, on_crash);
    signal(SIGBUS, on_crash);
    signal(SIGABRT, on_crash);
    signal(SIGFPE, on_crash);
    run_all(&options, &lab);
    printf("%" PRIu64 " explained and moved, %" PRIu64 " refused, %" PRIu64 " failed\n", legal,
           refused, failures);
    lab_finish(&lab);
    if (!options.only_one && options.count >= 1000 && (refused < 100 || legal < 500)) {
        printf("too few legal or too few refused moves\n");
        return 1;
    }
    return failures > 0 || !refuses_null();
}

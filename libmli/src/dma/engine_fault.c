/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The engine fault: another engine with injected faults. The fate of a work item depends on the
 * seed and the work's number alone (work items are counted in the order they are submitted, from
 * 1), so a run with one submitting thread can be repeated.
 *
 * A work item goes to the engine inside in one of three ways:
 *   whole:    the plan as it is
 *   shuffled: in pieces, in another order
 *   cut off:  only the pieces before the place where the work item shall fail
 */
#include <stdatomic.h>

#include "libmli/src/dma/channel.h"
#include "libmli/src/dma/os.h"
#include "libmli/src/plan.h"

/* Pieces of a plan: all of the plan in another order, or only the rows before a place. */

/* A descriptor of a plan, and a row in it. */
struct place {
    uint32_t descriptor;
    uint64_t row;
};

struct pieces {
    uint32_t step, steps; /* number of pieces returned so far; number of all pieces */
    uint32_t stride;  /* from a piece to the next, modulo `steps`; 0 if the pieces stop at `end` */
    struct place end; /* where the pieces stop if stride is 0 */
};

enum { SHUFFLED_PIECES = 16 };

static struct mli_channel_caps shuffled_caps(const struct mli_plan *plan)
{
    return (struct mli_channel_caps){.loops = MLI_MAX_RANK,
                                     .bytes_max = plan->bytes / SHUFFLED_PIECES + 1};
}

static uint32_t count_shuffled(const struct mli_plan *plan)
{
    const struct mli_channel_caps caps = shuffled_caps(plan);
    struct mli_legaliser legaliser;
    struct mli_descriptor piece;
    uint32_t count = 1; /* a plan is never empty */

    mli_legalise_init(&legaliser, plan, &caps);
    (void)mli_legalise_next(&legaliser, &piece);
    while (mli_legalise_next(&legaliser, &piece))
        count++;
    return count;
}

/* Sets *piece to piece `number` of the legaliser. */
static bool find_shuffled(const struct mli_plan *plan, uint32_t number,
                          struct mli_descriptor *piece)
{
    const struct mli_channel_caps caps = shuffled_caps(plan);
    struct mli_legaliser legaliser;
    bool found = true;

    mli_legalise_init(&legaliser, plan, &caps);
    for (uint32_t i = 0; i <= number && found; i++)
        found = mli_legalise_next(&legaliser, piece);
    return found;
}

static uint32_t common_divisor(uint32_t a, uint32_t b)
{
    while (b > 0) {
        const uint32_t rest = a % b;

        a = b;
        b = rest;
    }
    return a;
}

/* Begins the pieces of the whole plan, in an order that depends on `random`. */
static void pieces_shuffled(struct pieces *pieces, const struct mli_plan *plan, uint64_t random)
{
    *pieces = (struct pieces){.steps = count_shuffled(plan)};
    pieces->stride = 1 + (uint32_t)(random % pieces->steps);
    while (common_divisor(pieces->stride, pieces->steps) > 1)
        pieces->stride++;
}

/* Restarts the iteration over the pieces before a position, in the order of the plan. */
static void pieces_before(struct pieces *pieces, const struct place *place)
{
    *pieces = (struct pieces){.steps = place->descriptor + MLI_MAX_RANK, .end = *place};
}

/*
 * Cuts from *box the rows before `row`. They form one box for each loop; `level` selects one of
 * these boxes. In it, the loops around loop `level` stand where `row` is, and loop `level` runs up
 * to the iteration before that. Returns false if the box is empty. Sets *first to the number of the
 * box's first row.
 */
static bool cut_before(struct mli_copy_box *box, uint64_t row, size_t level, uint64_t *first)
{
    uint64_t rows = 1; /* rows of the box in one iteration of loop i */

    *first = 0;
    for (size_t i = box->loops; i-- > 0;) {
        struct mli_copy_loop *loop = &box->loop[i];
        const size_t at = (size_t)(row % loop->count), count = loop->count;

        row /= count;
        if (i < level) {
            box->dst += at * loop->dst_step;
            if (box->src)
                box->src += at * loop->src_step;
            *first += at * rows;
        }
        if (i <= level)
            loop->count = i < level ? 1 : at;
        rows *= count;
    }
    return level < box->loops && box->loop[level].count > 0;
}

static bool find_before(const struct mli_plan *plan, const struct place *end, uint32_t step,
                        struct mli_descriptor *piece)
{
    piece->index = step < end->descriptor ? step : end->descriptor;
    piece->box = plan_box(plan, piece->index);
    piece->row = 0;
    if (step >= end->descriptor &&
        !cut_before(&piece->box, end->row, step - end->descriptor, &piece->row))
        return false;
    piece->bytes = box_bytes(&piece->box);
    return piece->bytes > 0;
}

/* Sets *piece to the next piece; false at the end. */
static bool pieces_next(struct pieces *pieces, const struct mli_plan *plan,
                        struct mli_descriptor *piece)
{
    bool found = false;

    while (!found && pieces->step < pieces->steps) {
        const uint32_t step = pieces->step++;

        if (pieces->stride > 0)
            found = find_shuffled(plan, (uint32_t)((uint64_t)step * pieces->stride % pieces->steps),
                                  piece);
        else
            found = find_before(plan, &pieces->end, step, piece);
    }
    return found;
}

enum {
    PERCENT = 100,
    SLICE_NS = 1000 * 1000 /* part of a delay between two checks for a cancel */
};

#define DELAY_MAX_US UINT64_C(3600000000)

/* X(option, default): the number of a work item, a share of work items in percent, or an amount. */
#define SETTINGS(X)                                                                                \
    X(seed, 1)                                                                                     \
    X(delay_us, 0)    /* longest delay of a work item's end ... */                                 \
    X(delay_pct, 100) /* ... and the share of work items that are delayed */                       \
    X(reorder_pct, 0) /* share of work items whose pieces move in another order */                 \
    X(fail, 0)        /* number of a work item that fails */                                       \
    X(fail_pct, 0)                                                                                 \
    X(descriptor, ANYWHERE) /* descriptor in which work items fail */                              \
    X(row, ANYWHERE)        /* row of that descriptor */                                           \
    X(stick, 0)             /* number of the work item that only a cancel ends */                  \
    X(stick_pct, 0)                                                                                \
    X(corrupt, 0) /* number of a work item that ends with one bit of its destination flipped */    \
    X(corrupt_pct, 0)

#define ANYWHERE UINT64_MAX

#define MEMBER(name, standard) uint64_t name;
static struct {
    SETTINGS(MEMBER)
} settings;

static const struct mli_engine *inside = &engine_inline;
static _Atomic uint32_t submitted;

enum mode { WHOLE, SHUFFLED, CUT_OFF };

static struct faulty {
    struct mli_work *outer, inner;
    struct mli_work_end end; /* result of the outer work item so far */
    enum mode mode;
    struct pieces pieces;        /* pieces of the plan; not used if the mode is WHOLE */
    struct mli_descriptor piece; /* the piece that the inner engine executes */
    struct mli_plan plan;        /* the piece as a plan of its own */
    bool corrupt;
    uint64_t delay_ns, random;
    _Atomic uint32_t stuck; /* number of the outer work item if it is stuck, else 0 */
} channels[POOL_CHANNELS];

void engine_fault_reset(const struct mli_engine *engine)
{
    inside = engine;
#define SET(name, standard) settings.name = (standard);
    SETTINGS(SET)
}

void engine_fault_restart_count(void)
{
    atomic_store(&submitted, 0);
}

static bool same(const char *key, size_t length, const char *name)
{
    size_t i = 0;

    while (i < length && name[i] && name[i] == key[i])
        i++;
    return i == length && name[i] == '\0';
}

static bool option(const char *key, size_t length, uint64_t value)
{
    const bool percent = length > 4 && same(key + length - 4, 4, "_pct");

    if ((percent && value > PERCENT) || (same(key, length, "delay_us") && value > DELAY_MAX_US))
        return false;
#define TAKE(name, standard)                                                                       \
    if (same(key, length, #name)) {                                                                \
        settings.name = value;                                                                     \
        return true;                                                                               \
    }
    SETTINGS(TAKE)
    return inside->option && inside->option(key, length, value);
}

static bool option_text(const char *key, size_t length, const char *value, size_t value_length)
{
    return inside->option_text && inside->option_text(key, length, value, value_length);
}

static const char *reason(void)
{
    return inside->reason ? inside->reason() : "";
}

/* The generator splitmix64. */
static uint64_t draw(struct faulty *f)
{
    uint64_t z = (f->random += UINT64_C(0x9E3779B97F4A7C15));

    z = (z ^ (z >> 30)) * UINT64_C(0xBF58476D1CE4E5B9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94D049BB133111EB);
    return z ^ (z >> 31);
}

/*
 * Always takes one random number, so that a setting does not change the effect of the settings
 * after it.
 */
static bool happens(struct faulty *f, uint64_t percent)
{
    return draw(f) % PERCENT < percent;
}

/* Picks a random row of the plan, unless the settings name a row. */
static struct place draw_place(struct faulty *f, uint64_t descriptor, uint64_t row)
{
    const struct mli_plan *plan = f->outer->plan;
    const uint32_t first = plan->box.run == 0; /* a plan without a copy has only slabs */
    const uint64_t count = plan->slabs + 1 - first;
    struct place place = {first + (uint32_t)(draw(f) % count), draw(f)};
    struct mli_copy_box box;
    uint64_t rows;

    if (descriptor != ANYWHERE)
        place.descriptor = (uint32_t)(descriptor < plan->slabs ? descriptor : plan->slabs);
    if (place.descriptor < first)
        place.descriptor = first;
    box = plan_box(plan, place.descriptor);
    rows = box_rows(&box);
    place.row %= rows;
    if (row != ANYWHERE)
        place.row = row < rows ? row : rows - 1;
    return place;
}

static void corrupt(struct faulty *f)
{
    const struct place place = draw_place(f, ANYWHERE, ANYWHERE);
    const struct mli_copy_box box = plan_box(f->outer->plan, place.descriptor);

    box_row(&box, place.row)[draw(f) % box.run] ^= (uint8_t)(1u << (draw(f) % 8));
}

static void finish(struct faulty *f, mli_status status)
{
    struct mli_work *outer = f->outer;
    struct mli_work_end end = f->end;

    end.status = status;
    if (status == MLI_STATUS_OK && f->corrupt)
        corrupt(f);
    for (uint64_t slept = 0; slept < f->delay_ns && !mli_work_cancelled(outer); slept += SLICE_NS)
        clock_sleep(f->delay_ns - slept < SLICE_NS ? f->delay_ns - slept : SLICE_NS);
    outer->done(outer, &end);
}

static void on_done(struct mli_work *inner, const struct mli_work_end *end);

static void submit_inside(struct faulty *f, const struct mli_plan *plan)
{
    f->inner.plan = plan;
    f->inner.done = on_done;
    f->inner.hints = f->outer->hints & ~PROCESSOR_MOVED;
    f->inner.cpu_pieces = 0;
    f->inner.cpu_bytes = 0;
    work_begin(&f->inner, work_number(f->outer));
    /* A cancel of the outer work item before work_begin() did not reach the piece. */
    if (mli_work_cancelled(f->outer))
        work_cancel(&f->inner, work_number(f->outer));
    inside->submit((uint32_t)(f - channels), &f->inner);
}

/* Ends the work after its last piece. */
static void end_pieces(struct faulty *f)
{
    if (f->mode == CUT_OFF) {
        f->end.descriptor = f->pieces.end.descriptor;
        f->end.row = f->pieces.end.row;
    }
    finish(f, f->mode == CUT_OFF ? MLI_STATUS_DMA_ERROR : MLI_STATUS_OK);
}

static void submit_next(struct faulty *f)
{
    struct mli_copy_box box;

    if (!pieces_next(&f->pieces, f->outer->plan, &f->piece)) {
        end_pieces(f);
        return;
    }
    box = f->piece.box;
    plan_clear(&f->plan);
    plan_add_box(&f->plan, &box);
    submit_inside(f, &f->plan);
}

static void on_done(struct mli_work *inner, const struct mli_work_end *end)
{
    struct faulty *f = (struct faulty *)(void *)((char *)inner - offsetof(struct faulty, inner));

    f->outer->hints |= inner->hints & PROCESSOR_MOVED;
    f->outer->cpu_pieces += inner->cpu_pieces;
    f->outer->cpu_bytes += inner->cpu_bytes;
    f->end.bytes += end->bytes;
    f->end.busy_ns += end->busy_ns;
    mli_work_progress(f->outer, (size_t)f->end.bytes);
    if (end->status == MLI_STATUS_OK && f->mode != WHOLE) {
        submit_next(f);
        return;
    }
    /* The rows of a piece are consecutive in the plan. */
    f->end.descriptor = f->mode == WHOLE ? end->descriptor : f->piece.index;
    f->end.row = f->mode == WHOLE ? end->row : f->piece.row + end->row;
    finish(f, end->status);
}

/*
 * Chooses the fate of a work item at random. Returns whether the work item is stuck: then another
 * thread may end it at any time.
 */
static bool draw_fate(struct faulty *f, uint32_t number)
{
    struct place failure;
    bool fails, stuck;

    f->random = settings.seed * UINT64_C(0xD1342543DE82EF95) + number;
    f->end = (struct mli_work_end){.status = MLI_STATUS_OK};
    fails = happens(f, settings.fail_pct) || settings.fail == number;
    stuck = happens(f, settings.stick_pct) || settings.stick == number;
    f->corrupt = happens(f, settings.corrupt_pct) || settings.corrupt == number;
    f->mode = happens(f, settings.reorder_pct) ? SHUFFLED : WHOLE;
    f->delay_ns = draw(f) % (settings.delay_us * 1000 + 1);
    if (!happens(f, settings.delay_pct))
        f->delay_ns = 0;
    if (fails) {
        f->mode = CUT_OFF;
        failure = draw_place(f, settings.descriptor, settings.row);
        pieces_before(&f->pieces, &failure);
    } else if (f->mode == SHUFFLED) {
        pieces_shuffled(&f->pieces, f->outer->plan, draw(f));
    }
    atomic_store(&f->stuck, stuck ? work_number(f->outer) : 0);
    return stuck;
}

/* Ends a stuck work item. If submit and cancel meet, the call that clears `stuck` ends the work. */
static void end_stuck(struct faulty *f, uint32_t number)
{
    if (atomic_compare_exchange_strong(&f->stuck, &number, 0))
        finish(f, MLI_STATUS_CANCELLED);
}

static void begin(struct faulty *f)
{
    if (f->mode == WHOLE)
        submit_inside(f, f->outer->plan);
    else
        submit_next(f);
}

static void submit(uint32_t channel, struct mli_work *work)
{
    struct faulty *f = &channels[channel];

    f->outer = work;
    if (!draw_fate(f, atomic_fetch_add(&submitted, 1) + 1))
        begin(f);
    else if (mli_work_cancelled(work))
        end_stuck(f, work_number(work));
}

static void cancel(uint32_t channel)
{
    struct faulty *f = &channels[channel];
    const struct mli_work *outer = &channel_at(channel)->work;
    const uint32_t number = __atomic_load_n(&outer->cancelled, __ATOMIC_SEQ_CST);

    if (!mli_work_cancelled(outer))
        return; /* the work item has ended, and its channel has the next one */
    end_stuck(f, number);
    work_cancel(&f->inner, number);
    if (inside->cancel)
        inside->cancel(channel);
}

static uint32_t probe(void)
{
    return inside->probe();
}

/* No transfer is tiny: a transfer that the caller moves itself would never fail. */
static void caps(uint32_t channel, struct mli_channel_caps *caps)
{
    inside->caps(channel, caps);
    caps->flags &= ~(uint32_t)MLI_CHANNEL_CPU;
    caps->tiny = 0;
}

static bool open_channel(uint32_t channel)
{
    return !inside->open || inside->open(channel);
}

static void close_channel(uint32_t channel)
{
    if (inside->close)
        inside->close(channel);
}

static uint32_t poll(uint32_t channel, uint32_t budget)
{
    return inside->poll ? inside->poll(channel, budget) : 0;
}

static void synchronise(uint32_t channel)
{
    if (inside->synchronise)
        inside->synchronise(channel);
}

static void stats(uint32_t channel, mli_mov_channel_stats *stats)
{
    if (inside->stats)
        inside->stats(channel, stats);
}

static int attach(mli_mov_memory *memory)
{
    return inside->attach ? inside->attach(memory) : 0;
}

static void detach(const mli_mov_memory *memory)
{
    if (inside->detach)
        inside->detach(memory);
}

const struct mli_engine engine_fault = {
    .size = sizeof(struct mli_engine),
    .name = "fault",
    .probe = probe,
    .caps = caps,
    .submit = submit,
    .open = open_channel,
    .close = close_channel,
    .poll = poll,
    .cancel = cancel,
    .synchronise = synchronise,
    .stats = stats,
    .option = option,
    .attach = attach,
    .detach = detach,
    .option_text = option_text,
    .reason = reason,
};

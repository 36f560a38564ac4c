/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A work item becomes a sequence of programs. Each program has as many pieces as there is room for.
 * Its last instruction but one sends the channel's event, which is the proof that it has ended:
 *
 *     submit -> feed -> start -> ... event -> poll -> feed -> start -> ... event -> poll -> done
 *
 * The pieces that the processor moves come last, in polls. The library orders submit and poll of a
 * channel. Channel n is thread n of the controller, which sends event n.
 *
 * Faults. The program counter and loop counter 1 of the thread name the piece and the row. The
 * controller notices bus errors late, when the thread has gone on. Then the program is executed
 * again with a barrier after each row, so that the row of the error is known (a plan may be
 * executed twice: it does not write what it reads).
 */
#include "boards/drivers/pl330/pl330_engine.h"

#include <stdatomic.h>

#include "boards/drivers/pl330/pl330_device.h"
#include "boards/drivers/pl330/pl330_program.h"
#include "boards/drivers/pl330/pl330_registers.h"
#include "boards/drivers/pl330/pl330_source.h"
#include "libmli/port/option.h"

/* Room for a piece, and for an injection in front of it. */
enum { STEP_BYTES = PL330_INJECTION_BYTES + PL330_PART_MAX };

_Static_assert(PL330_PROGRAM_MIN == STEP_BYTES + PL330_END_BYTES,
               "the shortest program has room for any piece");

enum {
    BYTES_ENOUGH = 1 << 20, /* a program takes no more pieces: its end is the next progress */
    KILLS_MAX = 10,         /* polls that kill a thread, until only an interrupt or mli_mov_poll()
                               polls it */
};

/* A channel. */
static struct lane {
    _Alignas(64) uint8_t code[PL330_PROGRAM_MAX]; /* the program */
    _Atomic(struct mli_work *) work;              /* null: no work item */
    uint64_t began_ns;
    size_t written;             /* bytes of the pieces before the program, and of the processor */
    struct pl330_source first;  /* makes the pieces of the program */
    struct pl330_source rest;   /* makes the pieces after the program */
    uint32_t pieces;            /* of the program */
    size_t bytes;               /* of the program */
    uint32_t kills;             /* of the thread without effect, up to KILLS_MAX */
    bool running;               /* the thread has the program */
    bool careful;               /* the program has barriers, to find the row of an error */
    bool refused;               /* the thread was not started */
    bool beyond;                /* the bus does not reach `next` */
    bool has_next;              /* the processor moves `next` */
    struct mli_descriptor next; /* the piece after the program */
    struct pl330_request injection, next_injection;
    _Atomic uint32_t most_pieces; /* of a program, since the channel was opened */
} lanes[PL330_CHANNELS_MAX];

/* Atomic, because any thread may call the caps operation at any time. */
static _Atomic uint32_t interrupt_option, program_option = PL330_PROGRAM_MAX;
static _Atomic uint32_t run_option = PL330_RUN_DEFAULT, piece_option = PL330_PIECE_DEFAULT;

static uint64_t clock_ns(void)
{
    return pl330_platform.clock_ns ? pl330_platform.clock_ns() : 0;
}

static bool by_interrupt(void)
{
    return port_option_get(&interrupt_option);
}

void pl330_set_platform(const struct pl330_platform *platform)
{
    pl330_platform = *platform;
}

static void caps(uint32_t channel, struct mli_channel_caps *caps)
{
    (void)channel;
    caps->flags = by_interrupt() ? MLI_CHANNEL_INTERRUPT : MLI_CHANNEL_POLLED;
    caps->flags |= MLI_CHANNEL_ANY_LOOPS;
    caps->loops = 1;
    caps->count_max = PL330_ROWS_MAX;
    caps->run_max = PL330_RUN_MAX;
    caps->linear_max = PL330_LINEAR_MAX;
    caps->gap_max = PL330_GAP_MAX;
    caps->run_min = port_option_get(&run_option);
    caps->piece_min = port_option_get(&piece_option);
}

static bool open_channel(uint32_t channel)
{
    struct lane *lane = &lanes[channel];

    lane->next_injection.kind = PL330_INJECT_NONE;
    atomic_store_explicit(&lane->most_pieces, 0, memory_order_relaxed);
    return pl330_thread_open(channel);
}

/* Returns the distance from the first byte of a box to the last byte of one side. */
static uint64_t extent(const struct mli_copy_box *box, bool source)
{
    const struct mli_copy_loop *loop = &box->loop[0];
    const size_t step = source ? loop->src_step : loop->dst_step;

    return box->run - 1 + (box->loops > 0 ? (uint64_t)(loop->count - 1) * step : 0);
}

/* Translates a piece to addresses of the bus. Returns false if the bus does not reach all of it. */
static bool translate(const struct lane *lane, const struct mli_copy_box *box,
                      struct pl330_piece *piece)
{
    const uint64_t src = box->src ? mli_bus_address(box->src) : 0, dst = mli_bus_address(box->dst);

    if (src + extent(box, true) > UINT32_MAX || dst + extent(box, false) > UINT32_MAX)
        return false;
    *piece = (struct pl330_piece){
        .copies = box->src,
        .barriers = lane->careful,
        .src = (uint32_t)src,
        .dst = (uint32_t)dst,
        .run = (uint32_t)box->run,
        .rows = 1,
    };
    if (box->loops > 0) {
        piece->rows = (uint32_t)box->loop[0].count;
        piece->src_step = (uint32_t)box->loop[0].src_step;
        piece->dst_step = (uint32_t)box->loop[0].dst_step;
    }
    return true;
}

/*
 * Writes a piece that begins after `row` rows of the work item, and the injection in front of it.
 * Returns the part with the injection.
 */
static struct pl330_part write_piece(uint32_t channel, uint64_t row,
                                     const struct pl330_piece *piece, uint8_t *code)
{
    const struct pl330_request *injection = &lanes[channel].injection;
    struct pl330_part part;
    uint32_t size = 0;

    if (injection->rows == row && injection->kind == PL330_INJECT_TRAP)
        size = pl330_program_trap(code);
    if (injection->rows == row && injection->kind == PL330_INJECT_WAIT)
        size = pl330_program_wait(pl330_device_spare_event(channel), code);
    part = pl330_program_part(pl330_device_bus(), piece, code + size);
    part.size += size;
    part.loop += part.loop > 0 ? size : 0;
    return part;
}

/*
 * Makes the program for the next pieces. It has no pieces if none is left, or if the next one is
 * for the processor or beyond the bus.
 */
static void feed(uint32_t channel)
{
    const uint32_t room = port_option_get(&program_option);
    struct lane *lane = &lanes[channel];
    uint32_t size = 0;

    lane->first = lane->rest;
    lane->pieces = 0;
    lane->bytes = 0;
    while (size + STEP_BYTES + PL330_END_BYTES <= room && lane->bytes < BYTES_ENOUGH &&
           !lane->has_next && !lane->beyond) {
        const uint64_t rows = lane->rest.rows;
        struct pl330_piece to;

        if (!pl330_source_next(&lane->rest, &lane->injection, &lane->next))
            break;
        lane->has_next = lane->next.flags & MLI_PIECE_CPU;
        lane->beyond = !lane->has_next && !translate(lane, &lane->next.box, &to);
        if (lane->has_next || lane->beyond)
            break;
        size += write_piece(channel, rows, &to, lane->code + size).size;
        lane->bytes += lane->next.bytes;
        lane->pieces++;
    }
    size += pl330_program_end(channel, lane->code + size);
    if (lane->pieces > atomic_load_explicit(&lane->most_pieces, memory_order_relaxed))
        atomic_store_explicit(&lane->most_pieces, lane->pieces, memory_order_relaxed);
    mli_cache_clean(lane->code, size);
}

/* Starts the thread of a channel. */
static void start(uint32_t channel)
{
    struct lane *lane = &lanes[channel];

    lane->running = true;
    atomic_thread_fence(memory_order_seq_cst); /* the program is in memory before the thread runs */
    lane->refused = !pl330_thread_start(channel, (uint32_t)mli_bus_address(lane->code));
    if (lane->refused)
        mli_channel_again(channel);
}

/* Returns the end of a work item in front of the program of its channel. */
static struct mli_work_end end_before(const struct lane *lane, mli_status status)
{
    struct pl330_source first = lane->first;
    struct mli_descriptor piece = lane->next;

    if (lane->pieces > 0)
        (void)pl330_source_next(&first, &lane->injection, &piece);
    return (struct mli_work_end){
        .status = status,
        .descriptor = piece.index,
        .row = piece.row,
        .bytes = lane->written,
    };
}

/*
 * Returns the end of a work item at the instruction where its thread stopped. Makes the pieces
 * of the program again.
 */
static struct mli_work_end end_at(uint32_t channel, mli_status status,
                                  const struct pl330_position *at)
{
    const struct lane *lane = &lanes[channel];
    const uint32_t stopped = at->pc - (uint32_t)mli_bus_address(lane->code);
    struct mli_work_end end = end_before(lane, status);
    struct pl330_source pieces = lane->first;
    uint8_t code[STEP_BYTES];
    uint32_t offset = 0;

    for (uint32_t i = 0; i < lane->pieces; i++) {
        const uint64_t rows = pieces.rows;
        struct mli_descriptor piece;
        struct pl330_piece to;
        struct pl330_part part;
        uint32_t done;

        (void)pl330_source_next(&pieces, &lane->injection, &piece);
        (void)translate(lane, &piece.box, &to);
        part = write_piece(channel, rows, &to, code);
        done = pl330_program_rows(&to, &part, stopped - offset, at->counter);
        end.descriptor = piece.index;
        end.row = mli_piece_row(pieces.legaliser.plan, &piece, done);
        offset += part.size;
        if (stopped < offset) {
            end.bytes += done * piece.box.run;
            break;
        }
        end.bytes += piece.bytes;
    }
    return end;
}

/* The next action of poll for a work item. */
enum outcome {
    WAIT,     /* none: the thread has the program */
    CONTINUE, /* the thread is idle: pieces of the processor, or the end */
    END       /* *end is set */
};

/* Handles a thread that has stopped with a fault. */
static enum outcome end_of_fault(uint32_t channel, struct mli_work_end *end)
{
    struct lane *lane = &lanes[channel];
    struct pl330_fault fault;
    const struct pl330_position at = pl330_thread_fault(channel, &fault);

    if (lane->careful || !(fault.type & PL330_FAULTS_LATE)) {
        *end = end_at(channel, MLI_STATUS_DMA_ERROR, &at);
        return END;
    }
    lane->careful = true;
    lane->rest = lane->first;
    lane->has_next = false;
    lane->beyond = false;
    feed(channel);
    start(channel);
    return WAIT;
}

/* Handles a thread that has executed its program. */
static enum outcome end_of_program(uint32_t channel, struct mli_work *work,
                                   struct mli_work_end *end)
{
    struct lane *lane = &lanes[channel];

    pl330_thread_finish(channel);
    if (lane->careful) { /* the error has not occurred again */
        *end = end_before(lane, MLI_STATUS_DMA_ERROR);
        return END;
    }
    lane->written += lane->bytes;
    mli_work_progress(work, lane->written);
    feed(channel);
    if (lane->pieces == 0 || mli_work_cancelled(work))
        return CONTINUE;
    start(channel);
    return WAIT;
}

/*
 * Kills the thread of a work item that is cancelled. A thread that waits for an event has stored
 * all rows before; of any other thread, the rows of the program may be stored or not. After
 * KILLS_MAX kills without effect the channel asks for no further poll: the library would never
 * leave the handler or the cancel in which it polls.
 */
static enum outcome end_of_cancelled(uint32_t channel, struct mli_work *work,
                                     struct mli_work_end *end)
{
    struct lane *lane = &lanes[channel];
    struct pl330_position at;

    if (!pl330_thread_kill(channel, &at)) {
        if (lane->kills < KILLS_MAX) {
            lane->kills++;
            mli_channel_again(channel);
        }
        return WAIT;
    }
    if (pl330_thread_report(channel) == PL330_ENDED)
        return end_of_program(channel, work, end);
    *end = at.waits ? end_at(channel, MLI_STATUS_CANCELLED, &at)
                    : end_before(lane, MLI_STATUS_CANCELLED);
    return END;
}

/* Handles the thread of a work item. */
static enum outcome step(uint32_t channel, struct mli_work *work, struct mli_work_end *end)
{
    enum pl330_report report;

    if (!by_interrupt())
        (void)pl330_device_observe(1u << channel);
    report = pl330_thread_report(channel);
    if (report == PL330_ENDED)
        return end_of_program(channel, work, end);
    if (report == PL330_FAULTED)
        return end_of_fault(channel, end);
    if (lanes[channel].refused) {
        *end = end_before(&lanes[channel], MLI_STATUS_DMA_ERROR);
        return END;
    }
    return mli_work_cancelled(work) ? end_of_cancelled(channel, work, end) : WAIT;
}

/*
 * Moves up to `budget` pieces of the processor. Returns their number, and sets *ended and *end
 * after the last one.
 */
static uint32_t move_pieces(struct lane *lane, struct mli_work *work, uint32_t budget, bool *ended,
                            struct mli_work_end *end)
{
    uint32_t moved = 0;

    while (lane->has_next && moved < budget && !mli_work_cancelled(work)) {
        mli_piece_move(work, &lane->next);
        lane->written += lane->next.bytes;
        mli_work_progress(work, lane->written);
        lane->has_next = pl330_source_next(&lane->rest, &lane->injection, &lane->next);
        moved++;
    }
    *ended = true;
    if (lane->beyond)
        *end = end_before(lane, MLI_STATUS_DMA_ERROR);
    else if (!lane->has_next && lane->pieces == 0)
        *end = (struct mli_work_end){.status = MLI_STATUS_OK, .bytes = lane->written};
    else if (mli_work_cancelled(work))
        *end = end_before(lane, MLI_STATUS_CANCELLED);
    else
        *ended = false;
    return moved;
}

static void submit(uint32_t channel, struct mli_work *work)
{
    struct lane *lane = &lanes[channel];
    struct mli_channel_caps limits = {0};

    caps(channel, &limits);
    pl330_source_init(&lane->rest, work->plan, &limits);
    lane->began_ns = clock_ns();
    lane->written = 0;
    lane->kills = 0;
    lane->has_next = false;
    lane->beyond = false;
    lane->careful = false;
    lane->running = false;
    lane->refused = false;
    lane->injection = lane->next_injection;
    lane->next_injection.kind = PL330_INJECT_NONE;
    feed(channel);
    atomic_store_explicit(&lane->work, work, memory_order_release);
    if (lane->pieces > 0 && !mli_work_cancelled(work)) {
        mli_work_clean(work);
        start(channel);
    } else {
        mli_channel_again(channel);
    }
}

/* A program counts as one descriptor: it ends with one event. */
static uint32_t poll(uint32_t channel, uint32_t budget)
{
    struct lane *lane = &lanes[channel];
    struct mli_work *work = atomic_load_explicit(&lane->work, memory_order_acquire);
    struct mli_work_end end;
    enum outcome outcome = CONTINUE;
    uint32_t completed = 0;
    size_t written;
    bool ended;

    if (!work || budget == 0)
        return 0;
    if (lane->running) {
        written = lane->written;
        outcome = step(channel, work, &end);
        completed = lane->written != written;
        if (outcome == WAIT)
            return completed;
        lane->running = false;
        mli_work_invalidate(work);
    }
    ended = outcome == END;
    if (!ended)
        completed += move_pieces(lane, work, budget - completed, &ended, &end);
    if (!ended) {
        mli_channel_again(channel);
        return completed;
    }
    end.busy_ns = clock_ns() - lane->began_ns;
    atomic_store_explicit(&lane->work, NULL, memory_order_relaxed);
    work->done(work, &end); /* last: the lane may have its next work item */
    return completed;
}

void pl330_interrupt(void)
{
    const uint32_t channels = pl330_device_observe(UINT32_MAX);

    for (uint32_t i = 0; i < PL330_CHANNELS_MAX; i++) {
        if (channels >> i & 1)
            mli_mov_interrupt(i);
    }
}

static void stats(uint32_t channel, mli_mov_channel_stats *stats)
{
    if (channel < PL330_CHANNELS_MAX)
        stats->queue_high_water =
            atomic_load_explicit(&lanes[channel].most_pieces, memory_order_relaxed);
}

/* A key of length 0 resets all options to their defaults. */
static bool option(const char *key, size_t length, uint64_t value)
{
    const struct port_option options[] = {
        {"interrupt", &interrupt_option, 0, 0, pl330_platform.lock && pl330_platform.unlock},
        {"program", &program_option, PL330_PROGRAM_MAX, PL330_PROGRAM_MIN, PL330_PROGRAM_MAX},
        {"run", &run_option, PL330_RUN_DEFAULT, 0, UINT32_MAX},
        {"piece", &piece_option, PL330_PIECE_DEFAULT, 0, UINT32_MAX},
    };

    return port_option_set(options, sizeof(options) / sizeof(options[0]), key, length, value);
}

struct pl330_fault pl330_last_fault(uint32_t channel)
{
    struct pl330_fault fault;

    (void)pl330_thread_fault(channel, &fault);
    return fault;
}

void pl330_inject(uint32_t channel, enum pl330_injection injection, uint64_t rows)
{
    lanes[channel].next_injection = (struct pl330_request){injection, rows};
}

void pl330_release(uint32_t channel)
{
    pl330_device_send(pl330_device_spare_event(channel));
}

const struct mli_engine pl330_engine = {
    .size = sizeof(struct mli_engine),
    .name = "pl330",
    .probe = pl330_device_probe,
    .caps = caps,
    .submit = submit,
    .open = open_channel,
    .close = pl330_thread_close,
    .poll = poll,
    .stats = stats,
    .option = option,
};

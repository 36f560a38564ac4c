/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A work item becomes a sequence of programs. Each program has as many pieces as there is room for.
 * Its last instruction but one sends the channel's event, which is the proof that it has ended:
 *
 *     submit -> feed -> start -> ... event -> poll -> feed -> start -> ... event -> poll -> done
 *
 * The pieces that the processor moves come last, in polls. The library orders submit and poll of a
 * channel; lock() protects the registers that all channels share.
 *
 * observe() records events and faults in the lanes of their channels, and clears them in the
 * controller: the interrupt handler calls it, and poll.
 *
 * Faults. The program counter and loop counter 1 of the thread name the piece and the row. The
 * controller notices bus errors late, when the thread has gone on. Then the program is executed
 * again with a barrier after each row, so that the row of the error is known (a plan may be
 * executed twice: it does not write what it reads).
 */
#include "libmli/port/pl330/pl330_engine.h"

#include <stdatomic.h>

#include "libmli/port/pl330/pl330_program.h"
#include "libmli/port/pl330/pl330_registers.h"

/* Room for a piece, and for an injection in front of it. */
enum { STEP_BYTES = PL330_INJECTION_BYTES + PL330_PART_MAX };

_Static_assert(PL330_PROGRAM_MIN == STEP_BYTES + PL330_END_BYTES,
               "the shortest program has room for any piece");

enum {
    BEATS_MAX = 16,         /* beats of a burst */
    BYTES_ENOUGH = 1 << 20, /* a program takes no more pieces: its end is the next progress */
    STOP_READS = 100000     /* reads of a status register until a thread has stopped for certain */
};

/* Makes the pieces of a plan. A piece is cut in front of the row of an injection. */
struct source {
    struct mli_legaliser legaliser;
    struct mli_descriptor rest; /* the second part of a piece that was cut */
    bool cut;                   /* there is a rest */
    uint64_t rows;              /* rows of the pieces made */
};

/* The fault that pl330_inject() requests, after a number of rows. */
struct injection {
    enum pl330_injection kind;
    uint64_t rows;
};

/* A channel. */
static struct lane {
    _Alignas(64) uint8_t code[PL330_PROGRAM_MAX]; /* the program */
    _Atomic(struct mli_work *) work;              /* null: no work item */
    uint64_t began_ns;
    size_t written;             /* bytes of the pieces before the program, and of the processor */
    struct source first;        /* makes the pieces of the program */
    struct source rest;         /* makes the pieces after the program */
    uint32_t pieces;            /* of the program */
    size_t bytes;               /* of the program */
    bool running;               /* the thread has the program */
    bool careful;               /* the program has barriers, to find the row of an error */
    bool refused;               /* the thread was not started */
    bool beyond;                /* the bus does not reach `next` */
    bool has_next;              /* the processor moves `next` */
    struct mli_descriptor next; /* the piece after the program */
    struct injection injection, next_injection;
    atomic_bool event, faulted;   /* set by observe() */
    uint32_t counter;             /* loop counter 1 at the fault */
    struct pl330_fault fault;     /* the last fault */
    _Atomic uint32_t most_pieces; /* of a program, since the channel was opened */
} lanes[PL330_CHANNELS_MAX];

static struct pl330_platform board;

/* Properties of the controller, from its configuration registers. */
static struct {
    uint32_t channels;
    struct pl330_bus bus;
    bool nonsecure;
} found;

/* Atomic, because any thread may call the caps operation at any time. */
static _Atomic uint32_t interrupt_option, program_option = PL330_PROGRAM_MAX;
static _Atomic uint32_t run_option = PL330_RUN_DEFAULT, piece_option = PL330_PIECE_DEFAULT;

static uint32_t get(uint32_t offset)
{
    if (board.read)
        return board.read(offset);
    return *(volatile uint32_t *)(board.base + offset);
}

static void set(uint32_t offset, uint32_t value)
{
    if (board.write)
        board.write(offset, value);
    else
        *(volatile uint32_t *)(board.base + offset) = value;
}

static uintptr_t lock(void)
{
    return board.lock ? board.lock() : 0;
}

static void unlock(uintptr_t before)
{
    if (board.unlock)
        board.unlock(before);
}

static uint64_t clock_ns(void)
{
    return board.clock_ns ? board.clock_ns() : 0;
}

static bool by_interrupt(void)
{
    return atomic_load_explicit(&interrupt_option, memory_order_relaxed);
}

static uint32_t lesser(uint32_t a, uint32_t b)
{
    return a < b ? a : b;
}

void pl330_set_platform(const struct pl330_platform *platform)
{
    board = *platform;
}

/* Reads the configuration. The longest burst is a share of the FIFO for each channel. */
static void read_configuration(void)
{
    const uint32_t cr0 = get(PL330_CR0), crd = get(PL330_CRD);
    const uint32_t channels = (cr0 >> 4 & 7) + 1, events = (cr0 >> 17 & 31) + 1;
    const uint32_t lines = (crd >> 20 & 0x3ff) + 1;
    uint32_t burst;

    found.nonsecure = get(PL330_DSR) & PL330_DSR_NONSECURE;
    found.channels = lesser(channels, events);
    found.bus.bytes = 1u << (crd & 7);
    burst = lesser(lines / channels, BEATS_MAX) * found.bus.bytes;
    while (burst & (burst - 1))
        burst &= burst - 1;
    found.bus.burst_bytes = burst > 0 ? burst : 1;
    found.bus.zero_barriers = board.zero_barriers;
    found.bus.control = found.nonsecure ? PL330_CCR_NONSECURE : 0;
}

static uint32_t probe(void)
{
    uint32_t part;

    if (!board.base && !board.read)
        return 0;
    part = (get(PL330_PERIPH_ID0) & 0xff) | (get(PL330_PERIPH_ID1) & 0xf) << 8;
    if (part != PL330_PART_NUMBER)
        return 0;
    read_configuration();
    return found.channels;
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
    caps->run_min = atomic_load_explicit(&run_option, memory_order_relaxed);
    caps->piece_min = atomic_load_explicit(&piece_option, memory_order_relaxed);
}

static uint32_t state_of(uint32_t channel)
{
    return get(PL330_CSR(channel)) & PL330_STATE_MASK;
}

/* The functions from here to close_channel() are called between lock() and unlock(). */

/* Executes an instruction by the debug registers, which all channels share. */
static void debug(uint32_t inst0, uint32_t inst1)
{
    set(PL330_DBGINST0, inst0);
    set(PL330_DBGINST1, inst1);
    set(PL330_DBGCMD, 0);
    for (uint32_t i = 0; i < STOP_READS && get(PL330_DBGSTATUS) & 1; i++)
        ;
}

/* Waits until a thread reaches a state. Returns false if it does not for a long time. */
static bool reaches(uint32_t channel, uint32_t state)
{
    for (uint32_t i = 0; i < STOP_READS; i++) {
        if (state_of(channel) == state)
            return true;
    }
    return false;
}

/*
 * Stops a thread in any state; accesses to memory that have begun are completed. Returns false if
 * the thread does not stop.
 */
static bool kill_thread(uint32_t channel)
{
    debug(PL330_DEBUG(PL330_DMAKILL, 0) | PL330_DEBUG_CHANNEL(channel), 0);
    return reaches(channel, PL330_STOPPED);
}

/* Records the registers of a thread that has a fault, and stops the thread. */
static void record_fault(uint32_t channel)
{
    struct lane *lane = &lanes[channel];

    (void)reaches(channel, PL330_FAULTING); /* accesses to memory that have begun are completed */
    lane->counter = get(PL330_LC1(channel));
    lane->fault = (struct pl330_fault){
        .type = get(PL330_FTR(channel)),
        .pc = get(PL330_CPC(channel)),
        .sar = get(PL330_SAR(channel)),
        .dar = get(PL330_DAR(channel)),
    };
    (void)kill_thread(channel);
    atomic_store_explicit(&lane->faulted, true, memory_order_release);
}

/* Records the events and faults of some channels. Returns the channels that have any, as bits. */
static uint32_t observe(uint32_t channels)
{
    const uint32_t faults = get(PL330_FSRC) & channels, events = get(PL330_INTMIS) & channels;

    for (uint32_t i = 0; i < found.channels; i++) {
        if (faults >> i & 1)
            record_fault(i);
        if (events >> i & 1)
            atomic_store_explicit(&lanes[i].event, true, memory_order_release);
    }
    if (events)
        set(PL330_INTCLR, events);
    return faults | events;
}

static bool open_channel(uint32_t channel)
{
    struct lane *lane = &lanes[channel];
    const uintptr_t former = lock();
    const bool stopped = state_of(channel) == PL330_STOPPED || kill_thread(channel);

    lane->fault = (struct pl330_fault){0};
    lane->next_injection.kind = PL330_INJECT_NONE;
    atomic_store_explicit(&lane->most_pieces, 0, memory_order_relaxed);
    set(PL330_INTCLR, 1u << channel);
    set(PL330_INTEN, get(PL330_INTEN) | 1u << channel);
    unlock(former);
    return stopped;
}

static void close_channel(uint32_t channel)
{
    const uintptr_t former = lock();

    set(PL330_INTEN, get(PL330_INTEN) & ~(1u << channel));
    unlock(former);
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

/* Cuts a piece after some of its rows: *rest becomes the part behind the cut. */
static void cut(const struct mli_plan *plan, struct mli_descriptor *piece, uint64_t rows,
                struct mli_descriptor *rest)
{
    struct mli_copy_loop *loop = &piece->box.loop[0];

    *rest = *piece;
    rest->row = mli_piece_row(plan, piece, rows);
    rest->bytes -= (size_t)rows * piece->box.run;
    rest->box.dst += (size_t)rows * loop->dst_step;
    if (rest->box.src)
        rest->box.src += (size_t)rows * loop->src_step;
    rest->box.loop[0].count -= (size_t)rows;
    rest->box.loops = rest->box.loop[0].count > 1;
    piece->bytes -= rest->bytes;
    loop->count = (size_t)rows;
    piece->box.loops = rows > 1;
}

static uint64_t rows_of(const struct mli_descriptor *piece)
{
    return piece->box.loops > 0 ? piece->box.loop[0].count : 1;
}

/* Sets *piece to the next piece; false at the end. */
static bool next_piece(struct source *from, const struct injection *injection,
                       struct mli_descriptor *piece)
{
    const uint64_t before = injection->rows - from->rows;

    if (from->cut)
        *piece = from->rest;
    else if (!mli_legalise_next(&from->legaliser, piece))
        return false;
    from->cut = injection->kind != PL330_INJECT_NONE && injection->rows > from->rows &&
                before < rows_of(piece);
    if (from->cut)
        cut(from->legaliser.plan, piece, before, &from->rest);
    from->rows += rows_of(piece);
    return true;
}

/*
 * Writes a piece that begins after `row` rows of the work item, and the injection in front of it.
 * Returns the part with the injection.
 */
static struct pl330_part write_piece(uint32_t channel, uint64_t row,
                                     const struct pl330_piece *piece, uint8_t *code)
{
    const struct injection *injection = &lanes[channel].injection;
    struct pl330_part part;
    uint32_t size = 0;

    if (injection->rows == row && injection->kind == PL330_INJECT_TRAP)
        size = pl330_program_trap(code);
    if (injection->rows == row && injection->kind == PL330_INJECT_WAIT)
        size = pl330_program_wait(found.channels + channel, code);
    part = pl330_program_part(&found.bus, piece, code + size);
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
    const uint32_t room = atomic_load_explicit(&program_option, memory_order_relaxed);
    struct lane *lane = &lanes[channel];
    uint32_t size = 0;

    lane->first = lane->rest;
    lane->pieces = 0;
    lane->bytes = 0;
    while (size + STEP_BYTES + PL330_END_BYTES <= room && lane->bytes < BYTES_ENOUGH &&
           !lane->has_next && !lane->beyond) {
        const uint64_t rows = lane->rest.rows;
        struct pl330_piece to;

        if (!next_piece(&lane->rest, &lane->injection, &lane->next))
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

/* Starts the thread of a channel. A DMAGO that is refused is a fault of the manager thread. */
static void start(uint32_t channel)
{
    const uint32_t go = PL330_DMAGO | (found.nonsecure ? PL330_DMAGO_NONSECURE : 0);
    struct lane *lane = &lanes[channel];
    uintptr_t former;

    lane->running = true;
    atomic_thread_fence(memory_order_seq_cst); /* the program is in memory before the thread runs */
    former = lock();
    atomic_store_explicit(&lane->event, false, memory_order_relaxed);
    atomic_store_explicit(&lane->faulted, false, memory_order_relaxed);
    debug(PL330_DEBUG(go, channel), (uint32_t)mli_bus_address(lane->code));
    lane->refused = get(PL330_FSRD) & 1;
    if (lane->refused) {
        lane->fault = (struct pl330_fault){.type = get(PL330_FTRD)};
        debug(PL330_DEBUG(PL330_DMAKILL, 0), 0);
    }
    unlock(former);
    if (lane->refused)
        mli_channel_again(channel);
}

/* Returns the end of a work item in front of the program of its channel. */
static struct mli_work_end end_before(const struct lane *lane, mli_status status)
{
    struct source first = lane->first;
    struct mli_descriptor piece = lane->next;

    if (lane->pieces > 0)
        (void)next_piece(&first, &lane->injection, &piece);
    return (struct mli_work_end){
        .status = status,
        .descriptor = piece.index,
        .row = piece.row,
        .bytes = lane->written,
    };
}

/*
 * Returns the end of a work item at the instruction where its thread stopped, with the value of
 * loop counter 1. Makes the pieces of the program again.
 */
static struct mli_work_end end_at(uint32_t channel, mli_status status, uint32_t pc,
                                  uint32_t counter)
{
    const struct lane *lane = &lanes[channel];
    const uint32_t stopped = pc - (uint32_t)mli_bus_address(lane->code);
    struct mli_work_end end = end_before(lane, status);
    struct source pieces = lane->first;
    uint8_t code[STEP_BYTES];
    uint32_t offset = 0;

    for (uint32_t i = 0; i < lane->pieces; i++) {
        const uint64_t rows = pieces.rows;
        struct mli_descriptor piece;
        struct pl330_piece to;
        struct pl330_part part;
        uint32_t done;

        (void)next_piece(&pieces, &lane->injection, &piece);
        (void)translate(lane, &piece.box, &to);
        part = write_piece(channel, rows, &to, code);
        done = pl330_program_rows(&to, &part, stopped - offset, counter);
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

    if (lane->careful || !(lane->fault.type & PL330_FAULTS_LATE)) {
        *end = end_at(channel, MLI_STATUS_DMA_ERROR, lane->fault.pc, lane->counter);
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

    (void)reaches(channel, PL330_STOPPED); /* DMAEND follows DMASEV */
    if (lane->careful) {                   /* the error has not occurred again */
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
 * all rows before; of any other thread, the rows of the program may be stored or not.
 */
static enum outcome end_of_cancelled(uint32_t channel, struct mli_work *work,
                                     struct mli_work_end *end)
{
    struct lane *lane = &lanes[channel];
    const uintptr_t former = lock();
    const uint32_t state = state_of(channel);
    const uint32_t pc = get(PL330_CPC(channel)), counter = get(PL330_LC1(channel));
    const bool killed = kill_thread(channel);

    (void)observe(1u << channel);
    unlock(former);
    if (!killed) {
        mli_channel_again(channel);
        return WAIT;
    }
    if (atomic_load_explicit(&lane->event, memory_order_acquire))
        return end_of_program(channel, work, end);
    *end = state == PL330_WAITING_FOR_EVENT ? end_at(channel, MLI_STATUS_CANCELLED, pc, counter)
                                            : end_before(lane, MLI_STATUS_CANCELLED);
    return END;
}

/* Handles the thread of a work item. */
static enum outcome step(uint32_t channel, struct mli_work *work, struct mli_work_end *end)
{
    struct lane *lane = &lanes[channel];
    uintptr_t former;

    if (!by_interrupt()) {
        former = lock();
        (void)observe(1u << channel);
        unlock(former);
    }
    if (atomic_load_explicit(&lane->event, memory_order_acquire))
        return end_of_program(channel, work, end);
    if (atomic_load_explicit(&lane->faulted, memory_order_acquire))
        return end_of_fault(channel, end);
    if (lane->refused) {
        *end = end_before(lane, MLI_STATUS_DMA_ERROR);
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
        lane->has_next = next_piece(&lane->rest, &lane->injection, &lane->next);
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
    lane->rest = (struct source){.cut = false};
    mli_legalise_init(&lane->rest.legaliser, work->plan, &limits);
    lane->began_ns = clock_ns();
    lane->written = 0;
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
    const uintptr_t former = lock();
    const uint32_t channels = observe(UINT32_MAX);

    unlock(former);
    for (uint32_t i = 0; i < found.channels; i++) {
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

static bool is(const char *key, size_t length, const char *name)
{
    size_t i = 0;

    while (i < length && name[i] == key[i])
        i++;
    return i == length && name[i] == '\0';
}

/* A key of length 0 resets all options to their defaults. */
static bool option(const char *key, size_t length, uint64_t value)
{
    if (length == 0) {
        interrupt_option = 0;
        program_option = PL330_PROGRAM_MAX;
        run_option = PL330_RUN_DEFAULT;
        piece_option = PL330_PIECE_DEFAULT;
    } else if (is(key, length, "interrupt") && value <= (board.lock && board.unlock ? 1 : 0)) {
        interrupt_option = (uint32_t)value;
    } else if (is(key, length, "program") && value >= PL330_PROGRAM_MIN &&
               value <= PL330_PROGRAM_MAX) {
        program_option = (uint32_t)value;
    } else if (is(key, length, "run") && value <= UINT32_MAX) {
        run_option = (uint32_t)value;
    } else if (is(key, length, "piece") && value <= UINT32_MAX) {
        piece_option = (uint32_t)value;
    } else {
        return false;
    }
    return true;
}

struct pl330_fault pl330_last_fault(uint32_t channel)
{
    const uintptr_t former = lock();
    const struct pl330_fault fault = lanes[channel].fault;

    unlock(former);
    return fault;
}

void pl330_inject(uint32_t channel, enum pl330_injection injection, uint64_t rows)
{
    lanes[channel].next_injection = (struct injection){injection, rows};
}

void pl330_release(uint32_t channel)
{
    const uintptr_t former = lock();

    debug(PL330_DEBUG(PL330_DMASEV, (found.channels + channel) << 3), 0);
    unlock(former);
}

const struct mli_engine pl330_engine = {
    .size = sizeof(struct mli_engine),
    .name = "pl330",
    .probe = probe,
    .caps = caps,
    .submit = submit,
    .open = open_channel,
    .close = close_channel,
    .poll = poll,
    .stats = stats,
    .option = option,
};

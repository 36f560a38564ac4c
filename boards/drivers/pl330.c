/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A work item becomes a sequence of programs. Each program has as many pieces as there is space
 * for. Its last instruction but one sends the channel's event, which is the proof that it has
 * ended:
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
 *
 * Registers. The debug registers execute an instruction in place of a thread. All threads and the
 * interrupt handler share them, and lock() protects them.
 */
#include <stdatomic.h>

#include "boards/drivers/pl330.h"
#include "libmli/port/option.h"
#include "target/controller/pl330_program.h"

/* Registers of channel n. */
#define PL330_FTR(n) (0x040u + 0x04u * (n)) /* kind of the fault */
#define PL330_CSR(n) (0x100u + 0x08u * (n)) /* status */
#define PL330_CPC(n) (0x104u + 0x08u * (n)) /* program counter */
#define PL330_SAR(n) (0x400u + 0x20u * (n))
#define PL330_DAR(n) (0x404u + 0x20u * (n))
#define PL330_CCR(n) (0x408u + 0x20u * (n))
#define PL330_LC0(n) (0x40cu + 0x20u * (n))
#define PL330_LC1(n) (0x410u + 0x20u * (n))

#define PL330_DSR_NONSECURE (1u << 9)

/* States of a thread: bits 3:0 of DSR and CSR. */
enum {
    PL330_STATE_MASK = 0xf,
    PL330_STOPPED = 0x0,
    PL330_EXECUTING = 0x1,
    PL330_WAITING_FOR_EVENT = 0x4,
    PL330_FAULTING_COMPLETING = 0xe, /* outstanding accesses to memory are completed */
    PL330_FAULTING = 0xf,
};
#define PL330_FAULT_LOCKUP (1u << 31) /* no progress, because other channels hold the FIFO */

/*
 * Faults that the controller notices after the thread has executed further instructions (imprecise
 * aborts). After any other fault, the program counter is the address of the faulting instruction,
 * which was not executed.
 */
#define PL330_FAULTS_LATE                                                                          \
    (PL330_FAULT_LOCKUP | PL330_FAULT_READ | PL330_FAULT_WRITE | PL330_FAULT_STORE |               \
     PL330_FAULT_FIFO)

/* Part number in PERIPH_ID0 and the low bits of PERIPH_ID1. */
enum { PL330_PART_NUMBER = 0x330 };

/* Instructions of the debug registers: the bits of DBGINST0 for byte 0 and 1, and for the thread.
 */
enum { PL330_DMAKILL = 0x01, PL330_DMASEV = 0x34, PL330_DMAGO = 0xa0, PL330_DMAGO_NONSECURE = 2 };
#define PL330_DEBUG(byte0, byte1) ((uint32_t)(byte0) << 16 | (uint32_t)(byte1) << 24)
/* The thread of channel n, not the manager. */
#define PL330_DEBUG_CHANNEL(n) (1u | (uint32_t)(n) << 8)

/* Bits of CCR for the accesses of a non-secure channel: AxPROT[1] of both sides. */
#define PL330_CCR_NONSECURE (1u << 9 | 1u << 23)

/* The pieces of a plan, cut in front of the row at which a fault is injected. */

/* The fault that pl330_inject() requests, after a number of rows. */
struct pl330_request {
    enum pl330_injection kind;
    uint64_t rows;
};

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

/* Makes the pieces of a plan. A copy of the structure makes the same pieces again. */
struct pl330_source {
    struct mli_legaliser legaliser;
    struct mli_descriptor rest; /* the second part of a piece that was cut */
    bool cut;                   /* true: the piece is not complete yet */
    uint64_t rows;              /* number of rows in the pieces made so far */
};

/* What a thread has reported since its last start: its event, or a fault. */
enum pl330_report { PL330_NOTHING, PL330_ENDED, PL330_FAULTED };

/* The position of a thread in its program. */
struct pl330_position {
    uint32_t pc;      /* address of the instruction */
    uint32_t counter; /* loop counter 1 */
    bool waits;       /* the thread waits for an event: all earlier stores are complete */
};

/* Atomic, because any thread may call the caps operation at any time. */
static _Atomic uint32_t interrupt_option, program_option = PL330_PROGRAM_MAX;

static bool by_interrupt(void)
{
    return port_option_get(&interrupt_option);
}

static _Atomic uint32_t run_option = PL330_RUN_DEFAULT, piece_option = PL330_PIECE_DEFAULT;

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

static uint64_t rows_of(const struct mli_descriptor *piece)
{
    return piece->box.loops > 0 ? piece->box.loop[0].count : 1;
}

/* Sets *piece to the next piece. Returns false at the end. */
static bool source_next(struct pl330_source *source, const struct pl330_request *injection,
                        struct mli_descriptor *piece)
{
    const uint64_t before = injection->rows - source->rows;

    if (source->cut)
        *piece = source->rest;
    else if (!mli_legalise_next(&source->legaliser, piece))
        return false;
    source->cut = injection->kind != PL330_INJECT_NONE && injection->rows > source->rows &&
                  before < rows_of(piece);
    if (source->cut)
        cut(source->legaliser.plan, piece, before, &source->rest);
    source->rows += rows_of(piece);
    return true;
}

enum {
    BEATS_MAX = 16,     /* beats of a burst */
    STOP_READS = 100000 /* maximum reads of a status register to wait for a thread's stop */
};

static struct pl330_platform board;

/* Properties of the controller, from its configuration registers. */
static struct {
    uint32_t threads;
    struct pl330_bus bus;
    bool nonsecure;
} found;

/* The reports of the threads. */
static struct {
    atomic_bool ended, faulted;
    uint32_t counter;         /* loop counter 1 at the fault */
    struct pl330_fault fault; /* the last fault */
} reports[PL330_CHANNELS_MAX];

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

static uint32_t lesser(uint32_t a, uint32_t b)
{
    return a < b ? a : b;
}

/* Reads the configuration of the controller. All threads share a FIFO: the longest burst is one
 * thread's share. */
static void read_configuration(void)
{
    const uint32_t cr0 = get(PL330_CR0), crd = get(PL330_CRD);
    const uint32_t threads = (cr0 >> 4 & 7) + 1, events = (cr0 >> 17 & 31) + 1;
    const uint32_t lines = (crd >> 20 & 0x3ff) + 1;
    uint32_t burst;

    found.nonsecure = get(PL330_DSR) & PL330_DSR_NONSECURE;
    found.threads = lesser(threads, events);
    found.bus.bytes = 1u << (crd & 7);
    burst = lesser(lines / threads, BEATS_MAX) * found.bus.bytes;
    while (burst & (burst - 1))
        burst &= burst - 1;
    found.bus.burst_bytes = burst > 0 ? burst : 1;
    found.bus.zero_barriers = board.zero_barriers;
    found.bus.control = found.nonsecure ? PL330_CCR_NONSECURE : 0;
}

/* Returns the number of threads, each with an event; 0 without a controller. */
static uint32_t device_probe(void)
{
    uint32_t part;

    if (!board.base && !board.read)
        return 0;
    part = (get(PL330_PERIPH_ID0) & 0xff) | (get(PL330_PERIPH_ID1) & 0xf) << 8;
    if (part != PL330_PART_NUMBER)
        return 0;
    read_configuration();
    return found.threads;
}

/* Returns an event that no program sends. */
static uint32_t spare_event(uint32_t thread)
{
    return found.threads + thread;
}

static uint32_t state_of(uint32_t thread)
{
    return get(PL330_CSR(thread)) & PL330_STATE_MASK;
}

/* Executes an instruction by the debug registers, which all threads share. */
static void debug(uint32_t inst0, uint32_t inst1)
{
    set(PL330_DBGINST0, inst0);
    set(PL330_DBGINST1, inst1);
    set(PL330_DBGCMD, 0);
    for (uint32_t i = 0; i < STOP_READS && get(PL330_DBGSTATUS) & 1; i++)
        ;
}

/* Waits until a thread reaches a state. Returns false if it does not for a long time. */
static bool reaches(uint32_t thread, uint32_t state)
{
    for (uint32_t i = 0; i < STOP_READS; i++) {
        if (state_of(thread) == state)
            return true;
    }
    return false;
}

/* Stops a thread in any state. Returns false if it does not stop. */
static bool kill(uint32_t thread)
{
    debug(PL330_DEBUG(PL330_DMAKILL, 0) | PL330_DEBUG_CHANNEL(thread), 0);
    return reaches(thread, PL330_STOPPED);
}

/* Records the registers of a thread that has a fault, and stops the thread. */
static void record_fault(uint32_t thread)
{
    (void)reaches(thread, PL330_FAULTING); /* accesses to memory that have begun are completed */
    reports[thread].counter = get(PL330_LC1(thread));
    reports[thread].fault = (struct pl330_fault){
        .type = get(PL330_FTR(thread)),
        .pc = get(PL330_CPC(thread)),
        .sar = get(PL330_SAR(thread)),
        .dar = get(PL330_DAR(thread)),
    };
    (void)kill(thread);
    atomic_store_explicit(&reports[thread].faulted, true, memory_order_release);
}

static uint32_t observe_locked(uint32_t threads)
{
    const uint32_t faults = get(PL330_FSRC) & threads, events = get(PL330_INTMIS) & threads;

    for (uint32_t i = 0; i < found.threads; i++) {
        if (faults >> i & 1)
            record_fault(i);
        if (events >> i & 1)
            atomic_store_explicit(&reports[i].ended, true, memory_order_release);
    }
    if (events)
        set(PL330_INTCLR, events);
    return faults | events;
}

/*
 * Records events and faults of threads, and clears them in the controller. Returns the threads with
 * an event or a fault, as bits.
 */
static uint32_t observe(uint32_t threads)
{
    const uintptr_t former = lock();
    const uint32_t reported = observe_locked(threads);

    unlock(former);
    return reported;
}

/* Stops a thread in any state and enables its event. Returns false if it does not stop. */
static bool thread_open(uint32_t thread)
{
    const uintptr_t former = lock();
    const bool stopped = state_of(thread) == PL330_STOPPED || kill(thread);

    reports[thread].fault = (struct pl330_fault){0};
    set(PL330_INTCLR, 1u << thread);
    set(PL330_INTEN, get(PL330_INTEN) | 1u << thread);
    unlock(former);
    return stopped;
}

/* Disables the event of a thread. */
static void thread_close(uint32_t thread)
{
    const uintptr_t former = lock();

    set(PL330_INTEN, get(PL330_INTEN) & ~(1u << thread));
    unlock(former);
}

/*
 * Starts a thread with a program. Returns false if the controller refuses: this is a fault of the
 * manager thread.
 */
static bool thread_start(uint32_t thread, uint32_t program)
{
    const uint32_t go = PL330_DMAGO | (found.nonsecure ? PL330_DMAGO_NONSECURE : 0);
    const uintptr_t former = lock();
    bool refused;

    atomic_store_explicit(&reports[thread].ended, false, memory_order_relaxed);
    atomic_store_explicit(&reports[thread].faulted, false, memory_order_relaxed);
    debug(PL330_DEBUG(go, thread), program);
    refused = get(PL330_FSRD) & 1;
    if (refused) {
        reports[thread].fault = (struct pl330_fault){.type = get(PL330_FTRD)};
        debug(PL330_DEBUG(PL330_DMAKILL, 0), 0);
    }
    unlock(former);
    return !refused;
}

/*
 * Stops a thread in any state; accesses to memory that have begun are completed. Records its event
 * or fault, and sets *at. Returns false if the thread does not stop.
 */
static bool thread_kill(uint32_t thread, struct pl330_position *at)
{
    const uintptr_t former = lock();
    bool killed;

    at->waits = state_of(thread) == PL330_WAITING_FOR_EVENT;
    at->pc = get(PL330_CPC(thread));
    at->counter = get(PL330_LC1(thread));
    killed = kill(thread);
    (void)observe_locked(1u << thread);
    unlock(former);
    return killed;
}

/* Returns what observe() or thread_kill() has recorded. */
static enum pl330_report thread_report(uint32_t thread)
{
    if (atomic_load_explicit(&reports[thread].ended, memory_order_acquire))
        return PL330_ENDED;
    return atomic_load_explicit(&reports[thread].faulted, memory_order_acquire) ? PL330_FAULTED
                                                                                : PL330_NOTHING;
}

/* Returns where a thread was when it faulted. */
static struct pl330_position thread_fault(uint32_t thread, struct pl330_fault *fault)
{
    const uintptr_t former = lock();
    const struct pl330_position at = {reports[thread].fault.pc, reports[thread].counter, false};

    *fault = reports[thread].fault;
    unlock(former);
    return at;
}

/* Space for a piece with the fault injection code in front of it. */
enum { STEP_BYTES = PL330_INJECTION_BYTES + PL330_PART_MAX };

_Static_assert(PL330_PROGRAM_MIN == STEP_BYTES + PL330_END_BYTES,
               "the shortest program has room for any piece");

enum {
    BYTES_ENOUGH = 1 << 20, /* add no more pieces to a program: only its end reports progress */
    KILLS_MAX = 10,         /* after so many polls that have tried to kill a thread, only an
                               interrupt or mli_mov_poll() polls it */
};

/* A channel. */
static struct lane {
    _Alignas(64) uint8_t code[PL330_PROGRAM_MAX]; /* the program */
    _Atomic(struct mli_work *) work;              /* null: no work item */
    uint64_t began_ns;
    size_t written; /* bytes moved by earlier programs of the work item and by the processor */
    struct pl330_source first; /* makes the pieces of the program */
    struct pl330_source rest;  /* makes the pieces of later programs */
    uint32_t pieces;           /* number of pieces in the program */
    size_t bytes;              /* number of bytes that the program moves */
    uint32_t kills;            /* number of kills that did not stop the thread, up to KILLS_MAX */
    bool running;              /* the thread executes the program */
    bool careful;  /* the program has a barrier after each row, which shows the row of an error */
    bool refused;  /* the thread was not started */
    bool beyond;   /* the bus cannot reach the addresses of `next` */
    bool has_next; /* the processor moves `next` */
    struct mli_descriptor next; /* the first piece that is not in the program */
    struct pl330_request injection, next_injection;
    _Atomic uint32_t
        most_pieces; /* largest number of pieces in a program since the channel was opened */
} lanes[PL330_CHANNELS_MAX];

static uint64_t clock_ns(void)
{
    return board.clock_ns ? board.clock_ns() : 0;
}

void pl330_set_platform(const struct pl330_platform *platform)
{
    board = *platform;
}

static bool open_channel(uint32_t channel)
{
    struct lane *lane = &lanes[channel];

    lane->next_injection.kind = PL330_INJECT_NONE;
    atomic_store_explicit(&lane->most_pieces, 0, memory_order_relaxed);
    return thread_open(channel);
}

/* The next action of poll for a work item. */
enum outcome {
    WAIT,     /* no action: the thread executes the program */
    CONTINUE, /* the thread is idle: the processor moves pieces, or the work item ends */
    END       /* *end is set */
};

/* Describes how a work item ended that stopped before the first piece of its channel's program. */
static struct mli_work_end end_before(const struct lane *lane, mli_status status)
{
    struct pl330_source first = lane->first;
    struct mli_descriptor piece = lane->next;

    if (lane->pieces > 0)
        (void)source_next(&first, &lane->injection, &piece);
    return (struct mli_work_end){
        .status = status,
        .descriptor = piece.index,
        .row = piece.row,
        .bytes = lane->written,
    };
}

/* Returns the distance from the first to the last byte of a box in the source or destination. */
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
 * Writes the program part of a piece that begins after `row` rows of the work item, with the fault
 * injection code in front of it. Returns the address of this code.
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
        size = pl330_program_wait(spare_event(channel), code);
    part = pl330_program_part(&found.bus, piece, code + size);
    part.size += size;
    part.loop += part.loop > 0 ? size : 0;
    return part;
}

/*
 * Makes the program for the next pieces. The program is empty if no piece is left, if the processor
 * must move the next piece, or if the bus cannot reach the addresses of the next piece.
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

        if (!source_next(&lane->rest, &lane->injection, &lane->next))
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
    lane->refused = !thread_start(channel, (uint32_t)mli_bus_address(lane->code));
    if (lane->refused)
        mli_channel_again(channel);
}

/* Handles a thread that has executed its program. */
static enum outcome end_of_program(uint32_t channel, struct mli_work *work,
                                   struct mli_work_end *end)
{
    struct lane *lane = &lanes[channel];

    (void)reaches(channel, PL330_STOPPED); /* DMAEND follows DMASEV, the event */
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
 * Describes how a work item ended whose thread stopped at an instruction. To find the row, makes
 * the pieces of the program again.
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

        (void)source_next(&pieces, &lane->injection, &piece);
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

/* Handles a thread that has stopped with a fault. */
static enum outcome end_of_fault(uint32_t channel, struct mli_work_end *end)
{
    struct lane *lane = &lanes[channel];
    struct pl330_fault fault;
    const struct pl330_position at = thread_fault(channel, &fault);

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

/*
 * Kills the thread of a work item that is cancelled. If the thread waits for an event, all rows
 * before the wait are stored; otherwise any row of the program may be stored or not. After
 * KILLS_MAX kills without effect the channel asks for no further poll, because the library polls
 * inside an interrupt handler or mli_mov_cancel(), and would never leave it.
 */
static enum outcome end_of_cancelled(uint32_t channel, struct mli_work *work,
                                     struct mli_work_end *end)
{
    struct lane *lane = &lanes[channel];
    struct pl330_position at;

    if (!thread_kill(channel, &at)) {
        if (lane->kills < KILLS_MAX) {
            lane->kills++;
            mli_channel_again(channel);
        }
        return WAIT;
    }
    if (thread_report(channel) == PL330_ENDED)
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
        (void)observe(1u << channel);
    report = thread_report(channel);
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
        lane->has_next = source_next(&lane->rest, &lane->injection, &lane->next);
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
    lane->rest = (struct pl330_source){.cut = false};
    mli_legalise_init(&lane->rest.legaliser, work->plan, &limits);
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
    work->done(work, &end); /* call it last: afterwards the lane may have its next work item */
    return completed;
}

void pl330_interrupt(void)
{
    const uint32_t channels = observe(UINT32_MAX);

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
        {"interrupt", &interrupt_option, 0, 0, board.lock && board.unlock},
        {"program", &program_option, PL330_PROGRAM_MAX, PL330_PROGRAM_MIN, PL330_PROGRAM_MAX},
        {"run", &run_option, PL330_RUN_DEFAULT, 0, UINT32_MAX},
        {"piece", &piece_option, PL330_PIECE_DEFAULT, 0, UINT32_MAX},
    };

    return port_option_set(options, sizeof(options) / sizeof(options[0]), key, length, value);
}

struct pl330_fault pl330_last_fault(uint32_t channel)
{
    struct pl330_fault fault;

    (void)thread_fault(channel, &fault);
    return fault;
}

void pl330_inject(uint32_t channel, enum pl330_injection injection, uint64_t rows)
{
    lanes[channel].next_injection = (struct pl330_request){injection, rows};
}

void pl330_release(uint32_t channel)
{
    const uintptr_t former = lock();

    debug(PL330_DEBUG(PL330_DMASEV, spare_event(channel) << 3), 0);
    unlock(former);
}

const struct mli_engine pl330_engine = {
    .size = sizeof(struct mli_engine),
    .name = "pl330",
    .probe = device_probe,
    .caps = caps,
    .submit = submit,
    .open = open_channel,
    .close = thread_close,
    .poll = poll,
    .stats = stats,
    .option = option,
};

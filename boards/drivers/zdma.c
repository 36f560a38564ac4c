/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The driver of the ZDMA. A channel has two lists: while it executes one of them, the processor
 * fills the other with the next pieces of the plan. When a list is complete, poll starts the other
 * one. After the last list, poll moves the pieces of the processor.
 *
 * No locks are needed: submit and poll of a channel follow one another, even with interrupts.
 */
#include <stdatomic.h>

#include "boards/drivers/zdma.h"
#include "libmli/port/option.h"

/* Interrupts: bits of ISR, IMR, IEN and IDS. */
#define ZDMA_AXI_RD_SRC_DSCR (1u << 6)
#define ZDMA_AXI_RD_DST_DSCR (1u << 7)
#define ZDMA_BUS_ERRORS                                                                            \
    (ZDMA_AXI_RD_SRC_DSCR | ZDMA_AXI_RD_DST_DSCR | ZDMA_AXI_RD_DATA | ZDMA_AXI_WR_DATA)

/* STATUS */
#define ZDMA_STATE              3u
#define ZDMA_DATA_ATTR_COHERENT (0xfu << 22 | 0xfu << 8)

/* DSCR_ATTR */
#define ZDMA_DSCR_ATTR_COHERENT (1u << 8 | 0xfu << 4)

/* Word 3 of an element. */
#define ZDMA_COHERENT (1u << 0)

/*
 * Lists of ZDMA elements for the pieces of a plan. Each piece is one element of the source queue
 * and one of the destination queue. Every destination element asks to be counted (INTR), so the
 * number of pieces that are in memory is known when a channel stops.
 */

/* The position of a piece in the plan, and its size. */
struct zdma_place {
    uint64_t row;
    uint32_t index, bytes;
};

/*
 * Words of the elements of a list, at an address that is a multiple of their size: a channel
 * fetches linear elements within one page of 4096 bytes.
 */
enum { ZDMA_LIST_WORDS = ZDMA_LIST_MAX * 2 * ZDMA_LINKED_WORDS };
_Static_assert(ZDMA_LIST_MAX > 0 && ZDMA_LIST_MAX <= 128 &&
                   (ZDMA_LIST_MAX & (ZDMA_LIST_MAX - 1)) == 0,
               "ZDMA_LIST_MAX must be a power of two, at most 128");

/*
 * The elements that a channel executes without the processor. If `fill` is not null, there are no
 * elements: the list is one fill of `bytes` bytes, for the write-only mode of the channel.
 */
struct zdma_list {
    /* Linked: pairs of a source and a destination element. Linear: all sources come first. */
    uint32_t *words;
    struct zdma_place place[ZDMA_LIST_MAX];
    uint32_t count; /* number of pieces */
    size_t bytes;   /* total size of the elements */
    uint8_t *fill;
};

enum { LISTS = 2, RUN_DEFAULT = 1 << 20, LEAST_DEFAULT = 32 };

static _Alignas(4096) uint32_t elements[ZDMA_CHANNELS_MAX][LISTS][ZDMA_LIST_WORDS];

/* How a list is written: as linear or as linked elements. */
struct zdma_form {
    uint32_t elements; /* maximum number of pieces of a list */
    size_t bytes;      /* a list ends when it has this number of bytes */
    bool linear, coherent;
};

/* The pieces of a plan, from the first one that is in no list yet. */
struct zdma_rest {
    struct mli_legaliser legaliser;
    bool more;                   /* false: the plan has no more pieces */
    struct mli_descriptor piece; /* the next piece, or its remaining part */
};

enum {
    /* Fills copy from a block of zeros: only simple mode can write without a source. */
    ZEROS = 4096,
    /* Larger fills are faster in simple mode than by elements that copy the block of zeros. */
    WRITE_ONLY_MIN = 16 * ZEROS,
    /* Number of words from the first source element to the first destination element of a linear
       list. */
    LINEAR_SIDE = ZDMA_LIST_MAX * ZDMA_LINEAR_WORDS
};

static _Alignas(64) const uint8_t zeros[ZEROS];

/* The controller reads words with the least significant byte first. */
static uint32_t word(uint64_t value)
{
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
    return __builtin_bswap32((uint32_t)value);
#else
    return (uint32_t)value;
#endif
}

/* Returns how many words after a source element its destination element is in the list. */
static size_t other_side(const struct zdma_form *form)
{
    return form->linear ? (size_t)LINEAR_SIDE : (size_t)ZDMA_LINKED_WORDS;
}

/* Returns the number of words from an element to the next element of its side. */
static size_t step(const struct zdma_form *form)
{
    return form->linear ? (size_t)ZDMA_LINEAR_WORDS : 2 * (size_t)ZDMA_LINKED_WORDS;
}

/* Atomic, because any thread may call the caps operation at any time. */
static _Atomic uint32_t list_option = ZDMA_LIST_MAX, run_option = RUN_DEFAULT,
                        least_option = LEAST_DEFAULT;
static _Atomic uint32_t linear_option, interrupt_option;

/* `tiny` stays 0: the best value depends on the board and was not measured. */
static void caps(uint32_t channel, struct mli_channel_caps *caps)
{
    (void)channel;
    caps->flags = port_option_get(&interrupt_option) ? MLI_CHANNEL_INTERRUPT : MLI_CHANNEL_POLLED;
    caps->run_max = port_option_get(&run_option);
    caps->piece_min = port_option_get(&least_option);
}

/* Moves on to the piece after rest->piece. */
static void rest_next(struct zdma_rest *rest)
{
    rest->more = mli_legalise_next(&rest->legaliser, &rest->piece);
}

/*
 * Does not compare the source with null: boards have memory at address 0, so a copy may begin
 * there.
 */
static bool is_fill(const struct mli_descriptor *piece)
{
    return piece->index > 0;
}

/* Sets two words to the bus address of `place`. */
static void put_address(uint32_t *words, const void *place)
{
    const uint64_t address = mli_bus_address(place);

    words[0] = word(address);
    words[1] = word(address >> 32);
}

static void put(uint32_t *element, const void *data, size_t size, uint32_t control)
{
    put_address(element, data);
    element[2] = word(size);
    element[3] = word(control);
}

/* Sets words 4 to 7 of a linked element. */
static void put_link(uint32_t *element, const uint32_t *next)
{
    put_address(element + 4, next);
    element[6] = 0;
    element[7] = 0;
}

/* Appends the first `bytes` bytes of a piece. */
static void append(struct zdma_list *list, const struct mli_descriptor *piece, size_t bytes,
                   const struct zdma_form *form)
{
    const uint32_t i = list->count++;
    const uint32_t control =
        (form->linear ? 0 : ZDMA_LINKED) | (form->coherent ? ZDMA_COHERENT : 0);
    uint32_t *src = list->words + i * step(form), *dst = src + other_side(form);

    put(src, is_fill(piece) ? zeros : piece->box.src, bytes, control);
    put(dst, piece->box.dst, bytes, control | ZDMA_INTR);
    if (!form->linear) {
        put_link(src, src + step(form));
        put_link(dst, dst + step(form));
    }
    list->place[i] = (struct zdma_place){piece->row, piece->index, (uint32_t)bytes};
    list->bytes += bytes;
}

/* Makes the last source element stop the channel. */
static void end(struct zdma_list *list, const struct zdma_form *form)
{
    uint32_t *src = list->words + (list->count - 1) * step(form);

    src[3] |= word(ZDMA_STOP);
    if (form->linear)
        return;
    for (size_t i = 4; i < ZDMA_LINKED_WORDS; i++) {
        src[i] = 0;
        src[other_side(form) + i] = 0;
    }
}

static bool is_for_write_only(const struct mli_descriptor *piece)
{
    return is_fill(piece) && piece->box.run >= WRITE_ONLY_MIN;
}

/* Makes a list of one fill, in write-only mode. */
static void fill_whole(struct zdma_list *list, struct zdma_rest *rest)
{
    const struct mli_descriptor *piece = &rest->piece;

    list->fill = piece->box.dst;
    list->bytes = piece->box.run;
    list->place[0] = (struct zdma_place){piece->row, piece->index, (uint32_t)piece->box.run};
    list->count = 1;
    rest_next(rest);
}

/* Appends one element, which moves the largest possible part of the next piece. */
static void append_next(struct zdma_list *list, struct zdma_rest *rest,
                        const struct zdma_form *form)
{
    struct mli_descriptor *piece = &rest->piece;

    if (!is_fill(piece) || piece->box.run <= ZEROS) {
        append(list, piece, piece->box.run, form);
        rest_next(rest);
        return;
    }
    append(list, piece, ZEROS, form);
    piece->box.run -= ZEROS;
    piece->box.dst += ZEROS;
}

/*
 * Makes a list of the next pieces for the channel. If none is left, sets the list's count to 0.
 * Then the processor moves the rest, beginning with rest->piece.
 */
static void list_fill(struct zdma_list *list, struct zdma_rest *rest, const struct zdma_form *form)
{
    list->count = 0;
    list->bytes = 0;
    list->fill = NULL;
    while (rest->more && !(rest->piece.flags & MLI_PIECE_CPU) && list->count < form->elements &&
           list->bytes < form->bytes) {
        if (!is_for_write_only(&rest->piece)) {
            append_next(list, rest, form);
            continue;
        }
        if (list->count == 0) {
            fill_whole(list, rest);
            return;
        }
        break;
    }
    if (list->count > 0)
        end(list, form);
}

/* Writes the elements from the cache to memory, for a channel that does not see the cache. */
static void list_clean(const struct zdma_list *list, const struct zdma_form *form)
{
    const size_t bytes = list->count * step(form) * sizeof(*list->words);

    if (list->fill)
        return;
    mli_cache_clean(list->words, bytes);
    if (form->linear)
        mli_cache_clean(list->words + LINEAR_SIDE, bytes);
}

/* Returns the size of the first `count` pieces in bytes. */
static size_t list_written(const struct zdma_list *list, uint32_t count)
{
    size_t bytes = 0;

    for (uint32_t i = 0; i < count; i++)
        bytes += list->place[i].bytes;
    return bytes;
}

/* Says who moves the next bytes of a work item. ENDED: all bytes are moved. */
enum phase { CHANNEL, PROCESSOR, ENDED };

static struct lane {
    struct zdma_list list[LISTS];
    uint32_t running; /* the list that the channel executes */
    struct zdma_form form;
    bool interrupt; /* interrupts signal completions */
    struct zdma_rest rest;
    enum phase phase;
    size_t written;
    uint64_t begin_ns;
    uint32_t uncounted;              /* completed elements that no poll has returned yet */
    struct mli_work_end end;         /* valid in phase ENDED */
    atomic_bool lost;                /* the controller was reset */
    _Atomic(struct mli_work *) work; /* null: poll must not touch the lane */
    _Atomic uint32_t high_water;
} lanes[ZDMA_CHANNELS_MAX];

static struct zdma_platform platform;

static uint32_t get(uint32_t channel, uint32_t offset)
{
    if (platform.read)
        return platform.read(channel, offset);
    return *(const volatile uint32_t *)(platform.base[channel] + offset);
}

static void set(uint32_t channel, uint32_t offset, uint32_t value)
{
    if (platform.write)
        platform.write(channel, offset, value);
    else
        *(volatile uint32_t *)(platform.base[channel] + offset) = value;
}

static uint64_t now(void)
{
    return platform.clock_ns ? platform.clock_ns() : 0;
}

static void set_pair(uint32_t channel, uint32_t low, uint64_t value)
{
    set(channel, low, (uint32_t)value);
    set(channel, low + 4, (uint32_t)(value >> 32));
}

/* Orders accesses to memory before the accesses to registers that follow, and the reverse. */
static void barrier(void)
{
#if defined(__aarch64__)
    __asm__ volatile("dsb sy" ::: "memory");
#else
    __sync_synchronize();
#endif
}

void zdma_set_platform(const struct zdma_platform *given)
{
    platform = *given;
    atomic_store_explicit(&interrupt_option, platform.interrupts, memory_order_relaxed);
}

static uint32_t probe(void)
{
    return platform.channels;
}

static bool is_busy(uint32_t channel)
{
    return (get(channel, ZDMA_STATUS) & ZDMA_STATE) == ZDMA_STATE_BUSY;
}

/* Programs the registers that do not change from list to list. */
static void configure(uint32_t channel)
{
    set(channel, ZDMA_IDS, ZDMA_ALL_INTERRUPTS);
    set(channel, ZDMA_ISR, ZDMA_ALL_INTERRUPTS);
    set(channel, ZDMA_CTRL2, 0);
    set(channel, ZDMA_DATA_ATTR,
        ZDMA_DATA_ATTR_RESET | (platform.coherent ? ZDMA_DATA_ATTR_COHERENT : 0));
    set(channel, ZDMA_DSCR_ATTR, platform.coherent ? ZDMA_DSCR_ATTR_COHERENT : 0);
    for (uint32_t reg = ZDMA_PATTERN0; reg <= ZDMA_PATTERN3; reg += 4)
        set(channel, reg, 0);
}

static bool open_channel(uint32_t channel)
{
    struct lane *lane = &lanes[channel];

    if (is_busy(channel))
        return false; /* another program uses the channel */
    lane->form = (struct zdma_form){
        .elements = port_option_get(&list_option),
        .bytes = port_option_get(&run_option),
        .linear = port_option_get(&linear_option),
        .coherent = platform.coherent,
    };
    for (size_t i = 0; i < LISTS; i++)
        lane->list[i].words = elements[channel][i];
    lane->interrupt = port_option_get(&interrupt_option);
    atomic_store_explicit(&lane->high_water, 0, memory_order_relaxed);
    mli_cache_clean(zeros, sizeof(zeros));
    configure(channel);
    return true;
}

static void close_channel(uint32_t channel)
{
    set(channel, ZDMA_IDS, ZDMA_ALL_INTERRUPTS);
}

/* Starts the list that `running` names. */
static void start(uint32_t channel)
{
    struct lane *lane = &lanes[channel];
    const struct zdma_list *list = &lane->list[lane->running];

    /* Clear the event of an earlier, cancelled list: otherwise it would end the new list. */
    set(channel, ZDMA_ISR, ZDMA_ALL_INTERRUPTS);
    (void)get(channel, ZDMA_DST_COUNT);
    if (list->fill) {
        set(channel, ZDMA_CTRL0, ZDMA_OVER_FETCH | ZDMA_WRITE_ONLY);
        set(channel, ZDMA_SRC_WORD2, (uint32_t)list->bytes); /* both sizes must be equal */
        set_pair(channel, ZDMA_DST_WORD0, mli_bus_address(list->fill));
        set(channel, ZDMA_DST_WORD2, (uint32_t)list->bytes);
        set(channel, ZDMA_DST_WORD3, lane->form.coherent ? ZDMA_COHERENT : 0);
    } else {
        set(channel, ZDMA_CTRL0, ZDMA_OVER_FETCH | ZDMA_SCATTER_GATHER);
        set_pair(channel, ZDMA_SRC_START_LSB, mli_bus_address(list->words));
        set_pair(channel, ZDMA_DST_START_LSB,
                 mli_bus_address(list->words + other_side(&lane->form)));
        list_clean(list, &lane->form);
    }
    barrier();
    set(channel, ZDMA_CTRL2, ZDMA_ENABLE);
}

/* Fills the list that the channel does not execute. */
static void fill_other(struct lane *lane)
{
    struct zdma_list *list = &lane->list[1 - lane->running];

    list_fill(list, &lane->rest, &lane->form);
    if (list->count > atomic_load_explicit(&lane->high_water, memory_order_relaxed))
        atomic_store_explicit(&lane->high_water, list->count, memory_order_relaxed);
}

/* Sets the end of a work item that has stopped in row `row` of descriptor `index`. */
static void end_at(struct lane *lane, mli_status status, uint32_t index, uint64_t row)
{
    lane->phase = ENDED;
    lane->end = (struct mli_work_end){
        .status = status, .descriptor = index, .row = row, .bytes = lane->written};
}

static void end_in_list(struct lane *lane, mli_status status, const struct zdma_list *list,
                        uint32_t i)
{
    end_at(lane, status, list->place[i].index, list->place[i].row);
}

/* The channel is idle: starts the next list, or begins the next phase. */
static void go_on(uint32_t channel, const struct mli_work *work)
{
    struct lane *lane = &lanes[channel];
    const struct zdma_list *next = &lane->list[1 - lane->running];

    if (next->count == 0) {
        lane->phase = PROCESSOR;
        if (!lane->rest.more)
            end_at(lane, MLI_STATUS_OK, 0, 0);
    } else if (mli_work_cancelled(work)) {
        end_in_list(lane, MLI_STATUS_CANCELLED, next, 0);
    } else {
        lane->phase = CHANNEL;
        lane->running = 1 - lane->running;
        start(channel);
        fill_other(lane);
    }
}

/* Arranges for the next poll. Call it last: the interrupt may come at once. */
static void await(uint32_t channel)
{
    const struct lane *lane = &lanes[channel];

    if (!lane->interrupt)
        return;
    if (lane->phase == CHANNEL && lane->uncounted == 0)
        set(channel, ZDMA_IEN, ZDMA_DMA_DONE | ZDMA_DMA_PAUSE | ZDMA_BUS_ERRORS);
    else
        mli_channel_again(channel);
}

static void submit(uint32_t channel, struct mli_work *work)
{
    struct lane *lane = &lanes[channel];
    struct mli_channel_caps limits = {0};

    caps(channel, &limits);
    lane->begin_ns = now();
    lane->written = 0;
    lane->uncounted = 0;
    atomic_store_explicit(&lane->lost, false, memory_order_relaxed);
    mli_legalise_init(&lane->rest.legaliser, work->plan, &limits);
    rest_next(&lane->rest);
    fill_other(lane);
    if (lane->list[1 - lane->running].count > 0)
        mli_work_clean(work);
    go_on(channel, work);
    atomic_store_explicit(&lane->work, work, memory_order_release);
    await(channel);
}

enum outcome { RUNNING, COMPLETE, FAILED, STOPPED };

/*
 * Finds out whether the channel has ended its list. STOPPED: the channel reports nothing and does
 * not run. The engine writes no element that pauses the channel: if one does, the list was
 * overwritten.
 */
static enum outcome look(uint32_t channel)
{
    const uint32_t events = get(channel, ZDMA_ISR);
    uint32_t state;

    if (!(events & (ZDMA_DMA_DONE | ZDMA_DMA_PAUSE | ZDMA_BUS_ERRORS)))
        return get(channel, ZDMA_CTRL2) & ZDMA_ENABLE || is_busy(channel) ? RUNNING : STOPPED;
    if (events & ZDMA_DMA_PAUSE) {
        /* CONT without ENABLE disables a paused channel (UG1085, "Channel Disabled"). */
        set(channel, ZDMA_CTRL2, 0);
        set(channel, ZDMA_CTRL0, ZDMA_OVER_FETCH | ZDMA_SCATTER_GATHER | ZDMA_CONT);
    }
    state = get(channel, ZDMA_STATUS) & ZDMA_STATE;
    if (state == ZDMA_STATE_BUSY)
        return RUNNING; /* an error, and transactions before it that have not ended */
    set(channel, ZDMA_ISR, events);
    if (!(events & (ZDMA_DMA_PAUSE | ZDMA_BUS_ERRORS)) && state != ZDMA_STATE_ERROR)
        return COMPLETE;
    set(channel, ZDMA_CTRL2, 0);
    return FAILED;
}

/* Returns the number of pieces of a list that are in memory for certain. The channel is idle. */
static uint32_t count_done(uint32_t channel, const struct zdma_list *list, enum outcome outcome)
{
    uint32_t count;

    if (list->fill)
        return outcome == COMPLETE;
    count = get(channel, ZDMA_DST_COUNT);
    if (count > list->count || (outcome == FAILED && count == list->count))
        return 0; /* not a valid number for this list */
    return count;
}

/* Collects the running list if the channel has ended it, and continues with the next list. */
static void collect(uint32_t channel, struct mli_work *work)
{
    struct lane *lane = &lanes[channel];
    const struct zdma_list *list = &lane->list[lane->running];
    const bool lost = atomic_load_explicit(&lane->lost, memory_order_relaxed);
    const enum outcome outcome = lost ? FAILED : look(channel);
    uint32_t count;

    /* A channel that is not enabled did not see the write that started it, or lost its event. */
    if (outcome == RUNNING || (outcome == STOPPED && !mli_work_cancelled(work)))
        return;
    barrier();
    count = lost ? 0 : count_done(channel, list, outcome);
    lane->uncounted += count;
    lane->written += list_written(list, count);
    mli_work_progress(work, lane->written);
    if (count == list->count)
        go_on(channel, work);
    else
        end_in_list(lane, outcome == STOPPED ? MLI_STATUS_CANCELLED : MLI_STATUS_DMA_ERROR, list,
                    count);
    if (lane->phase != CHANNEL)
        mli_work_invalidate(work);
}

/* Moves one piece by the processor. */
static void move_piece(uint32_t channel, struct mli_work *work)
{
    struct lane *lane = &lanes[channel];
    const struct mli_descriptor *piece = &lane->rest.piece;

    if (mli_work_cancelled(work)) {
        end_at(lane, MLI_STATUS_CANCELLED, piece->index, piece->row);
        return;
    }
    mli_piece_move(work, piece);
    lane->uncounted++;
    lane->written += piece->bytes;
    mli_work_progress(work, lane->written);
    rest_next(&lane->rest);
    if (!lane->rest.more)
        end_at(lane, MLI_STATUS_OK, 0, 0);
}

/* Calls done, after which the lane may have its next work item. */
static void finish(uint32_t channel, struct mli_work *work)
{
    struct lane *lane = &lanes[channel];
    struct mli_work_end end = lane->end;

    end.busy_ns = now() - lane->begin_ns;
    atomic_store_explicit(&lane->work, NULL, memory_order_relaxed);
    work->done(work, &end);
}

/* There is no cancel function: the library polls a channel after a cancel. */
static uint32_t poll(uint32_t channel, uint32_t budget)
{
    struct lane *lane = &lanes[channel];
    struct mli_work *work = atomic_load_explicit(&lane->work, memory_order_acquire);
    uint32_t completed;

    if (!work)
        return 0;
    if (lane->uncounted == 0 && lane->phase == CHANNEL)
        collect(channel, work);
    else if (lane->uncounted == 0 && lane->phase == PROCESSOR && budget > 0)
        move_piece(channel, work);
    completed = lane->uncounted < budget ? lane->uncounted : budget;
    lane->uncounted -= completed;
    if (lane->uncounted == 0 && lane->phase == ENDED)
        finish(channel, work);
    else
        await(channel);
    return completed;
}

void zdma_interrupt(uint32_t channel)
{
    set(channel, ZDMA_IDS, ZDMA_ALL_INTERRUPTS);
    mli_mov_interrupt(channel);
}

void zdma_recover(uint32_t first, uint32_t count)
{
    for (uint32_t channel = first; channel < first + count; channel++) {
        configure(channel);
        atomic_store_explicit(&lanes[channel].lost, true, memory_order_relaxed);
    }
    for (uint32_t channel = first; channel < first + count; channel++)
        mli_mov_interrupt(channel);
}

/*
 * After an error, the channel may still finish its last write when it has already reported its end.
 */
static void synchronise(uint32_t channel)
{
    while (is_busy(channel))
        ;
}

static void stats(uint32_t channel, mli_mov_channel_stats *stats)
{
    if (channel < platform.channels)
        stats->queue_high_water =
            atomic_load_explicit(&lanes[channel].high_water, memory_order_relaxed);
}

/* A key of length 0 resets all options to their defaults. */
static bool option(const char *key, size_t length, uint64_t value)
{
    const struct port_option options[] = {
        {"list", &list_option, ZDMA_LIST_MAX, 1, ZDMA_LIST_MAX},
        {"run", &run_option, RUN_DEFAULT, 1, ZDMA_SIZE_MAX},
        {"least", &least_option, LEAST_DEFAULT, 0, ZDMA_SIZE_MAX},
        {"linear", &linear_option, 0, 0, 1},
        {"interrupt", &interrupt_option, platform.interrupts, 0, platform.interrupts},
    };

    return port_option_set(options, sizeof(options) / sizeof(options[0]), key, length, value);
}

const struct mli_engine zdma_engine = {
    .size = sizeof(struct mli_engine),
    .name = "zdma",
    .probe = probe,
    .caps = caps,
    .submit = submit,
    .open = open_channel,
    .close = close_channel,
    .poll = poll,
    .synchronise = synchronise,
    .stats = stats,
    .option = option,
};

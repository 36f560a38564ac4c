/* SPDX-License-Identifier: BSD-3-Clause */
/* `mlictl selftest` on a board: all cases on one engine, then on the next. */

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "boards/link/board_link.h"
#include "cli/selftest/round.h"
#include "cli/term/cancel.h"
#include "cli/term/clock_ns.h"
#include "cli/term/print.h"
#include "mli_helpers_api.h"

/* End the round after this number of failures: each takes long on a serial line. */
enum { FAILURES_MAX = 20 };

/* One case. */
struct board_case {
    struct round *round;
    struct board *board;
    struct images images;
    struct failure failure;
    uint16_t src, dst; /* buffers; SERIAL_NO_BUFFER: none */
    uint64_t begin_ns;
};

static int complain(struct board_case *t, const struct fault *fault)
{
    enum failure_kind kind = FAILURE_refused;

    if (fault->code == FAULT_DMA_ERROR)
        kind = FAILURE_error;
    if (fault->code == FAULT_CHANNEL_STUCK || fault->code == FAULT_TIMED_OUT)
        kind = FAILURE_stuck;
    if (fault->code == FAULT_TIMED_OUT)
        return failure_set(&t->failure, kind, "not done after %" PRIu64 " ms; then cancelled",
                           t->round->plan->timeout_ns / CLOCK_NS_PER_MS);
    return failure_set(&t->failure, kind, "%s", fault->text);
}

static int send_frame(struct board_case *t, const uint8_t *bytes, size_t size, uint16_t *buffer,
                      struct fault *fault)
{
    if (board_alloc(t->board, size > 0 ? size : 1, buffer, fault))
        return -1;
    return board_write(t->board, *buffer, 0, bytes, size, fault);
}

static void describe(struct serial_tensor *out, const mli_tensor *tensor, const struct frame *frame,
                     uint16_t buffer)
{
    *out = (struct serial_tensor){.type = (uint16_t)tensor->el_type,
                                  .rank = (uint8_t)tensor->rank,
                                  .buffer = buffer,
                                  .offset = (int64_t)frame->before,
                                  .capacity = (uint32_t)frame->tensor,
                                  .scale = 1,
                                  .axis = SERIAL_NO_AXIS};
    memcpy(out->shape, tensor->shape, sizeof(out->shape));
    memcpy(out->stride, tensor->mem_stride, sizeof(out->stride));
}

static struct serial_move describe_move(const struct board_case *t)
{
    const struct move_case *c = &t->failure.c;
    struct serial_move move = {.op = c->kernel ? SERIAL_OP_PERMUTE : SERIAL_OP_MOVE,
                               .mode = SERIAL_MODE_POLL,
                               .cfg = c->move.cfg};

    if (c->mode == CASE_MODE_callback)
        move.mode = SERIAL_MODE_CALLBACK;
    if (c->mode == CASE_MODE_sync)
        move.mode = SERIAL_MODE_SYNC;
    move.channels = (uint8_t)(c->width < t->round->channels ? c->width : t->round->channels);
    describe(&move.src, &c->move.src, &c->src_frame, t->src);
    describe(&move.dst, &c->move.dst, &c->dst_frame, t->dst);
    /* A move ignores the type of dst. The serial frame needs one, to encode dst's parameters. */
    move.dst.type = move.src.type;
    return move;
}

/* Checks the status that the board reports at the end. */
static int check_status(struct board_case *t, const struct serial_move *move,
                        const struct serial_status *status)
{
    if (status->code != MLI_STATUS_OK)
        return failure_set(&t->failure, FAILURE_error,
                           "%s on channel %" PRIu32 ", in row %" PRIu64 " of descriptor %" PRIu32,
                           mli_status_name((mli_status)status->code), status->channel, status->row,
                           status->descriptor);
    if (move->mode == SERIAL_MODE_SYNC)
        return 0;
    if (status->bytes != t->failure.c.written || status->bytes_total != status->bytes)
        return failure_set(&t->failure, FAILURE_refused,
                           "mli_mov_get_status: %" PRIu64 " of %" PRIu64
                           " B written; the move has %" PRIu64 " B",
                           status->bytes, status->bytes_total, t->failure.c.written);
    if (move->mode == SERIAL_MODE_CALLBACK && status->callbacks != 1)
        return failure_set(&t->failure, FAILURE_callback,
                           "the callback was called %" PRIu32 " times, not once",
                           status->callbacks);
    return 0;
}

static int check_layout(struct board_case *t, const struct serial_tensor *dst)
{
    const struct move_case *c = &t->failure.c;
    const uint32_t rank = c->move.src.rank;

    if (dst->rank == rank && dst->type == c->move.src.el_type &&
        memcmp(dst->shape, c->move.dst_shape, rank * sizeof(uint32_t)) == 0)
        return 0;
    return failure_set(&t->failure, FAILURE_layout,
                       "the destination's rank, shape or type differ from those of the move");
}

/* Compares a frame on the board with the expected bytes. Fetches the frame if it differs. */
static int compare(struct board_case *t, uint16_t buffer, const uint8_t *expected, uint8_t *found,
                   size_t size, bool *same, struct fault *fault)
{
    uint32_t crc;

    memcpy(found, expected, size);
    if (board_digest(t->board, buffer, 0, size, &crc, fault))
        return -1;
    *same = crc == serial_crc32(0, expected, size);
    return *same ? 0 : board_read(t->board, buffer, 0, found, size, fault);
}

static int verify(struct board_case *t, struct fault *fault)
{
    const struct move_case *c = &t->failure.c;
    struct images *images = &t->images;
    char text[MISMATCH_TEXT_MAX];
    bool same[2];

    if (compare(t, t->src, images->src_image, images->src, c->src_frame.bytes, &same[0], fault) ||
        compare(t, t->dst, images->expected, images->dst, c->dst_frame.bytes, &same[1], fault))
        return -1;
    if (same[0] && same[1])
        return 0;
    if (mismatch_find(&t->failure.mismatch, images, c))
        return failure_set(&t->failure, FAILURE_mismatch, "%s",
                           mismatch_text(&t->failure.mismatch, images, c, text));
    return failure_set(&t->failure, FAILURE_mismatch,
                       "the checksum of a frame was wrong, but its bytes are right now: a transfer "
                       "writes after it has reported its end");
}

/* Runs the transfer. Returns 0, or -1 with t->failure or, if the board is lost, the fault. */
static int move_and_verify(struct board_case *t, struct fault *fault)
{
    const struct serial_move move = describe_move(t);
    struct round *round = t->round;
    struct serial_status status;
    struct serial_tensor dst;
    uint8_t number;

    t->board->deadline_ns = clock_ns() + round->plan->timeout_ns;
    int result = board_start(t->board, &move, &number, &dst, fault);
    if (result == 0)
        result = board_finish(t->board, number, &status, fault);
    t->board->deadline_ns = 0;
    if (result)
        return -1;
    round->moving_ns += status.moving_ns;
    round->bytes += t->failure.c.written;
    if (check_status(t, &move, &status) || check_layout(t, &dst))
        return -1;
    return verify(t, fault);
}

static int run_transfer(struct board_case *t, struct fault *fault)
{
    const struct move_case *c = &t->failure.c;

    if (send_frame(t, t->images.src_image, c->src_frame.bytes, &t->src, fault) ||
        send_frame(t, t->images.dst, c->dst_frame.bytes, &t->dst, fault))
        return -1;
    return move_and_verify(t, fault);
}

/* Sets the fault if the connection to the board is lost. */
static void free_frames(struct board_case *t, struct fault *fault)
{
    const bool lost_before = t->board->lost;
    struct fault freeing;

    t->board->shielded = true; /* free the buffers even after ^C */
    if (t->src != SERIAL_NO_BUFFER && board_free(t->board, t->src, &freeing) && !lost_before)
        *fault = freeing;
    if (t->dst != SERIAL_NO_BUFFER && !t->board->lost && board_free(t->board, t->dst, &freeing))
        *fault = freeing;
    t->board->shielded = false;
    t->src = t->dst = SERIAL_NO_BUFFER;
}

/* Runs a case. Returns 0, or -1 with the fault if no further case can run. */
static int run_case(struct board_case *t, uint64_t index, struct fault *fault)
{
    struct round *round = t->round;

    t->failure.kind = FAILURE_none;
    t->failure.has_case = true;
    case_draw(&t->failure.c, round->plan->seed, index, &round->plan->limits);
    images_fill(&t->images, &t->failure.c);
    *fault = (struct fault){0};
    const int result = run_transfer(t, fault);
    if (fault->code == FAULT_CANCELLED && cancel_requested()) {
        free_frames(t, &(struct fault){0});
        return -1;
    }
    const bool lost = t->board->lost && fault->code != FAULT_CHANNEL_STUCK;
    if (result && t->failure.kind == FAILURE_none && !lost)
        complain(t, fault);
    free_frames(t, fault);
    if (lost)
        return -1;
    round->cases++;
    if (t->failure.kind != FAILURE_none)
        selftest_report_failure(round, &t->failure);
    return t->board->lost ? -1 : 0;
}

static int read_stats(struct round *round, struct board *board, struct fault *fault)
{
    for (uint32_t i = 0; i < round->channels; i++) {
        const mli_mov_channel_stats *s = &round->stats[i];

        if (board_stats(board, i, &round->stats[i], fault))
            return -1;
        if (s->submitted == s->completed + s->failed + s->cancelled)
            continue;
        struct failure failure = {.kind = FAILURE_none};
        failure_set(&failure, FAILURE_counters,
                    "channel %" PRIu32 ": %" PRIu64 " submitted, %" PRIu64 " completed, %" PRIu64
                    " failed, %" PRIu64 " cancelled: the sum is wrong",
                    i, s->submitted, s->completed, s->failed, s->cancelled);
        selftest_report_failure(round, &failure);
    }
    return 0;
}

static bool is_over(const struct round *round, uint64_t taken)
{
    const struct round_plan *plan = round->plan;

    return taken >= plan->iterations || cancel_requested() ||
           round->failures >= (plan->fail_fast ? 1 : FAILURES_MAX) ||
           (plan->round_ns && clock_ns() - round->begin_ns > plan->round_ns);
}

/*
 * Runs the cases one after another: sends the frames, moves, and compares checksums of both frames;
 * a frame that differs is fetched. Sets round->channels to the number of channels in the pool.
 * Returns ROUND_REFUSED if the board has no such engine, and ROUND_FAILED if the line or the board
 * is lost; both fill the fault. Each case is one transfer: cases that start a transfer again, or
 * start it in a callback, start it once.
 */
static enum round_end run_round(struct round *round, struct board *board, struct fault *fault)
{
    struct board_case t = {.round = round, .board = board};
    const struct round_plan *plan = round->plan;
    struct round_progress progress = {.shown = false};
    int result = 0;

    round->begin_ns = clock_ns();
    if (board_set_engine(board, *round->engine ? round->engine : NULL, plan->limits.channels,
                         fault))
        return board->lost ? ROUND_FAILED : ROUND_REFUSED;
    round->channels = board->hello.channels;
    if (images_init(&t.images, plan->limits.max_bytes)) {
        fault_no_memory(fault);
        return ROUND_FAILED;
    }
    for (uint64_t taken = 0; result == 0 && !is_over(round, taken); taken++) {
        result = run_case(&t, plan->only_one ? plan->only : taken, fault);
        if (plan->progress)
            round_progress_show(&progress, round);
    }
    round_progress_clear(&progress);
    images_finish(&t.images);
    if (result && board->lost)
        return fault->code == FAULT_CHANNEL_STUCK ? ROUND_DONE : ROUND_FAILED;
    if (cancel_requested())
        return ROUND_DONE;
    return read_stats(round, board, fault) ? ROUND_FAILED : ROUND_DONE;
}

/* Engines */

/*
 * Lists the engines to test: `named`, or the board's engine twice, with its defaults and with every
 * transfer on channels.
 */
static void list_engines(struct selftest_engines *engines, const struct board *board,
                         const char *named)
{
    const char *own = named ? named : board->hello.engine;

    selftest_engines_add(engines, "", own, "");
    if (!named && strcmp(own, "inline") != 0)
        selftest_engines_add(engines, "", own, ":tiny=0");
}

static enum exit_code test_engine(struct round *round, void *context, bool *stop)
{
    struct selftest_report *report = round->report;
    struct board *board = context;
    struct fault fault;

    const enum round_end end = run_round(round, board, &fault);
    *stop = end != ROUND_DONE || board->lost;
    return end == ROUND_DONE ? selftest_report_round(report, round)
                             : print_failure(&report->style, NULL, &fault);
}

/* Returns the engine to test: the engine of --engine, else the engine of the URL, else null. */
static const char *engine_named(const struct options *options, const struct board *board)
{
    const char *engine = options_get(options, "engine");

    if (engine)
        return engine;
    return *board->line.address.engine ? board->line.address.engine : NULL;
}

enum exit_code board_selftest(struct selftest_report *report, struct round_plan *plan,
                              uint64_t seconds, const struct options *options)
{
    const char *url = options_get(options, "host");
    struct selftest_engines engines = {.count = 0};
    struct board *board;
    struct fault fault;

    if (!is_board_url(url))
        return print_invalid(
            "--host %s: qemu:BOARD or serial:PATH is needed; a daemon is tested on its own machine",
            url);
    if (options_get(options, "threads") || options_get(options, "tuning"))
        return print_invalid("--threads and --tuning cannot be combined with --host");
    board = calloc(1, sizeof(*board));
    if (!board)
        return print_no_memory();
    enum exit_code code;
    report->host = url;
    if (board_open(board, url, &fault)) {
        code = print_failure(&report->style, NULL, &fault);
    } else {
        print_line(&report->style, "board %s at %s, engine %s, %u channels, libmli %s",
                   board->hello.board, board->line.where, board->hello.engine,
                   board->hello.channels, board->hello.library);
        list_engines(&engines, board, engine_named(options, board));
        code = selftest_run(report, plan, &engines, seconds, test_engine, board);
    }
    board_close(board);
    free(board);
    return code;
}

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Streaming (walk.h). There are five ways to stream one iteration of a walk's outer loops: nests,
 * bursts, matrices, panels and pixels. Each way has a function that returns whether it can stream a
 * walk, and a function that moves as walk_move() does. stage_move() takes the first way that can.
 */
#include "libmli/src/builtins.h"
#include "libmli/src/error.h"
#include "libmli/src/exec/walk.h"

/*
 * Moves whose destination rows have gaps between them: one block of each row at a time. A block may
 * begin and end inside a cache line; its end then stays on the stage until the next block completes
 * the line. Meanwhile the source of the next block is prefetched.
 */

enum {
    /* The stage needs no room if no kernel of this build can stream. */
    STAGE_BYTES = LEVEL_STREAMS ? TUNE_STAGE_ROOM : TUNE_LINE,
};

/* Returns the bytes from a row on the stage to the next row: those of a block, and its edges. */
static inline size_t slot_pitch(void)
{
    return TUNED(stage_width) + TUNE_STAGE_EDGES;
}

/*
 * The stage of this thread: larger than the first-level cache, but it fits in the second-level
 * cache. Not on the stack, which may be small.
 */
static MLI_THREAD_LOCAL _Alignas(TUNE_LINE) uint8_t buffer[STAGE_BYTES];

/*
 * Returns where a block is stored on the stage before it is streamed to `to`. `slot` is the first
 * cache line for the block. The block begins at the same offset in a line as `to`.
 */
static inline uint8_t *place_for(uint8_t *slot, const uint8_t *to)
{
    return slot + (uintptr_t)to % TUNE_LINE;
}

/*
 * Streams the whole cache lines of a block, which is `width` bytes of a row and has the destination
 * `to`. Keeps the rest in the slot for the next block. Every block except the last of a row has at
 * least a line. Not inlined: GCC for AArch64 would warn that the rest is copied onto itself.
 */
static __attribute__((noinline)) void flush(const struct leaf_table *leaf, uint8_t *to,
                                            uint8_t *slot, size_t width, bool is_first,
                                            bool is_last)
{
    uint8_t *at = place_for(slot, to);
    const size_t kept = is_first ? 0 : (uintptr_t)to % TUNE_LINE;
    const size_t rest = is_last ? 0 : ((uintptr_t)to + width) % TUNE_LINE;

    if (kept + width > rest)
        leaf->stream(to - kept, at - kept, kept + width - rest);
    if (rest > 0)
        copy_bytes(slot, at + width - rest, TUNE_LINE);
}

/* Columns of the source that will be read soon, of `bytes` bytes each. */
struct fetch {
    const uint8_t *base;
    const size_t *at; /* offsets at which the columns begin */
    size_t columns, bytes;
    size_t done; /* prefetched bytes of the first column */
};

/* Returns the number of lines to prefetch at a time, to prefetch all in `times` calls. */
static size_t fetch_share(const struct fetch *fetch, size_t times)
{
    /* A loop has an iteration at least. NOLINTNEXTLINE(clang-analyzer-core.DivideZero) */
    return fetch->columns * (fetch->bytes / TUNE_LINE + 1) / times + 1;
}

/* Prefetches the next `lines` lines, or fewer at the end. */
static void fetch_some(struct fetch *fetch, size_t lines)
{
    /*
     * Fetches into the second-level cache, which can wait for more lines at a time than the
     * first-level cache can.
     */
    enum { TO_READ = 0, TO_SECOND_LEVEL = 2 };

    for (; lines > 0 && fetch->columns > 0; lines--) {
        __builtin_prefetch(fetch->base + *fetch->at + fetch->done, TO_READ, TO_SECOND_LEVEL);
        fetch->done += TUNE_LINE;
        if (fetch->done < fetch->bytes)
            continue;
        fetch->done = 0;
        fetch->at++;
        fetch->columns--;
    }
}

/* Nests are rows and gathers that are moved in the order of the destination, together with the
   zeros around them. The inner rows are contiguous in the destination. */

_Static_assert(!LEVEL_STREAMS || 2 * (TUNE_STAGE_BYTES_MAX + TUNE_LINE) <= STAGE_BYTES,
               "both halves fit into the stage buffer");

/* The stage buffer: a kernel fills one half while the bytes of the other half are streamed. */
struct stage {
    uint8_t *half[2]; /* each has stage_bytes + TUNE_LINE bytes of the thread's buffer */
    size_t filled;    /* index of the half that is being filled */
    uint8_t *to;      /* destination of the bytes of the full half that are not streamed yet */
    const uint8_t *from;
    size_t left;
};

static void stage_init(struct stage *stage)
{
    stage->half[0] = buffer;
    stage->half[1] = stage->half[0] + TUNED(stage_bytes) + TUNE_LINE;
    stage->filled = 0;
    stage->left = 0;
}

static size_t at_least(size_t count, size_t least)
{
    return count > least ? count : least;
}

/*
 * Exchanges the halves. Returns where to store the bytes for `dst` in the half that is filled next.
 * This place has the same offset in a cache line as `dst`, so that whole lines can be streamed.
 */
static uint8_t *place(struct stage *stage, const uint8_t *dst)
{
    stage->filled ^= 1;
    return stage->half[stage->filled] + (uintptr_t)dst % TUNE_LINE;
}

/*
 * Streams the remaining bytes, except the last `keep` bytes. Stops at the end of a cache line, and
 * therefore may keep a few bytes more.
 */
static void stream_but(const struct leaf_table *leaf, struct stage *stage, size_t keep)
{
    size_t bytes = stage->left > keep ? stage->left - keep : 0;

    if (keep > 0)
        bytes -= at_most(bytes, ((uintptr_t)stage->to + bytes) % TUNE_LINE);
    if (bytes == 0)
        return;
    leaf->stream(stage->to, stage->from, bytes);
    stage->to += bytes;
    stage->from += bytes;
    stage->left -= bytes;
}

/* Streams all remaining bytes. Between the stores, prefetches `bytes` bytes of the source of the
 * next half. */
static void stream_and_fetch(const struct leaf_table *leaf, struct stage *stage,
                             const uint8_t *next, size_t bytes)
{
    const size_t first = 0, times = stage->left / TUNE_TURN + 1;
    struct fetch fetch = {next, &first, bytes > 0, bytes, 0};
    const size_t share = fetch_share(&fetch, times);

    while (stage->left > 0) {
        stream_but(leaf, stage, stage->left > TUNE_TURN ? stage->left - TUNE_TURN : 0);
        fetch_some(&fetch, share);
    }
}

/* The inner rows of a nest and the zeros around them: contiguous in the destination. */
struct stretch {
    struct leaf_nest nest;
    size_t above, below;
};

static size_t stretch_bytes(const struct stretch *s, size_t row)
{
    return s->above + s->nest.inner.count * row + s->below;
}

/*
 * Returns the rows in another order: alternately from several places of the source. If the nest has
 * only one loop, *rest has the remaining rows, which cannot be divided evenly among the places.
 */
static struct leaf_nest by_places(const struct leaf_nest *nest, struct leaf_nest *rest)
{
    const struct leaf_loop *rows = &nest->inner;
    const size_t places = at_most(rows->count, TUNE_TURN_PLACES), each = rows->count / places;
    struct leaf_nest turned = *nest;

    *rest = *nest;
    rest->inner.count = 0;
    turned.outer = *rows;
    turned.inner = nest->outer;
    if (nest->outer.count > 1)
        return turned;
    turned.outer.count = each;
    turned.inner = (struct leaf_loop){places, each * rows->dst_step, each * rows->src_step};
    rest->inner.count = rows->count % places;
    rest->dst += places * turned.inner.dst_step;
    rest->src += places * turned.inner.src_step;
    return turned;
}

/*
 * If the move skips lines of the source, memory is faster with reads from several places than from
 * one, with prefetches long before the reads, and with some writes in between. So rows come
 * alternately from several places, rows at distance `ahead` are prefetched, and the second half is
 * streamed meanwhile.
 */
static void move_in_turns(const struct leaf_table *leaf, const struct walk *walk,
                          const struct leaf_nest *nest, size_t ahead, struct stage *stage)
{
    struct leaf_nest rest;
    const struct leaf_nest all = by_places(nest, &rest);
    const size_t rows = all.outer.count, left = stage->left;
    const size_t some = at_least(TUNE_TURN / (walk_row(walk) * all.inner.count), 1);
    struct leaf_nest turn = all;

    turn.ahead = ahead;
    for (size_t r = 0; r < rows; r += some) {
        turn.outer.count = at_most(rows - r, some);
        turn.dst = all.dst + r * all.outer.dst_step;
        turn.src = all.src + r * all.outer.src_step;
        walk_move_rows(leaf, walk, &turn);
        stream_but(leaf, stage, left - left * (r + turn.outer.count) / rows);
    }
    if (rest.inner.count > 0)
        walk_move_rows(leaf, walk, &rest);
}

/*
 * Returns whether rows are interleaved. Two cases are not: short rows that share cache lines, and
 * long gathers, which read their source from end to end.
 */
static bool is_in_turns(const struct leaf_table *leaf, const struct walk *walk)
{
    if (!leaf->fetches || walk->border.before + walk->border.after > 0)
        return false;
    if (walk->kind == WALK_GATHER && walk->col[1].count * walk->col[1].src_step > TUNE_TURN_GATHER)
        return false;
    return walk_row(walk) >= TUNE_TURN_ROW || walk->nest.inner.src_step >= TUNE_LINE;
}

/* Returns the number of bytes from the first to the last row of the source; 0 if most of these
 * bytes are not read. */
static size_t source_bytes(const struct leaf_nest *nest, size_t moved)
{
    const size_t outer = nest->outer.count > 1 ? nest->outer.count * nest->outer.src_step : 0,
                 inner = nest->inner.count > 1 ? nest->inner.count * nest->inner.src_step : 0;
    const size_t bytes = outer > inner ? outer : inner;

    return bytes <= TUNE_FETCH_GAPS * moved ? bytes : 0;
}

/*
 * Moves contiguous stretches that fit on the stage. `ahead` is the distance to the next rows of the
 * source.
 */
static void stage_packed(const struct leaf_table *leaf, const struct walk *walk,
                         const struct stretch *s, struct stage *stage, size_t ahead)
{
    const size_t row = walk_row(walk), bytes = stretch_bytes(s, row), count = s->nest.outer.count;
    uint8_t *to = s->nest.dst - s->above, *at = place(stage, to);
    struct leaf_nest staged = s->nest;

    staged.dst = at + s->above;
    if (is_in_turns(leaf, walk)) {
        move_in_turns(leaf, walk, &staged, ahead, stage);
        stream_but(leaf, stage, 0);
    } else {
        walk_move_rows(leaf, walk, &staged);
        stream_and_fetch(leaf, stage, s->nest.src + ahead,
                         leaf->fetches ? source_bytes(&s->nest, count * bytes) : 0);
    }
    if (s->above > 0)
        leaf->fill(at, bytes, s->above, count);
    if (s->below > 0)
        leaf->fill(at + bytes - s->below, bytes, s->below, count);
    stage->to = to;
    stage->from = at;
    stage->left = count * bytes;
}

/* Moves a stretch that does not fit on the stage: as many rows at a time as fit. */
static void stage_rows(const struct leaf_table *leaf, const struct walk *walk,
                       const struct stretch *s, struct stage *stage)
{
    const struct leaf_loop *inner = &s->nest.inner;
    const size_t rows = (TUNED(stage_bytes) - s->above - s->below) / walk_row(walk);
    struct stretch part = *s;

    for (size_t k = 0; k < inner->count; k += rows) {
        part.nest.inner.count = at_most(inner->count - k, rows);
        part.nest.dst = s->nest.dst + k * inner->dst_step;
        part.nest.src = s->nest.src + k * inner->src_step;
        part.above = k == 0 ? s->above : 0;
        part.below = inner->count - k <= rows ? s->below : 0;
        stage_packed(leaf, walk, &part, stage, rows * inner->src_step);
    }
}

/* Moves all stretches: as many at a time as fit if they are contiguous, or else each by itself. */
static void stage_stretches(const struct leaf_table *leaf, const struct walk *walk,
                            const struct stretch *s, struct stage *stage)
{
    const struct leaf_loop *outer = &s->nest.outer;
    const size_t bytes = stretch_bytes(s, walk_row(walk));
    const size_t some = outer->dst_step == bytes ? at_least(TUNED(stage_bytes) / bytes, 1) : 1;
    struct stretch part = *s;

    for (size_t i = 0; i < outer->count; i += some) {
        part.nest.outer.count = at_most(outer->count - i, some);
        part.nest.dst = s->nest.dst + i * outer->dst_step;
        part.nest.src = s->nest.src + i * outer->src_step;
        if (bytes <= TUNED(stage_bytes))
            stage_packed(leaf, walk, &part, stage, some * outer->src_step);
        else
            stage_rows(leaf, walk, &part, stage);
    }
}

/* Gathers a long row, in groups of elements that fit the stage. */
static void stage_gathered(const struct leaf_table *leaf, const struct walk *walk, uint8_t *dst,
                           const uint8_t *src, struct stage *stage)
{
    const size_t columns = TUNED(stage_bytes) >> walk->kernel, step = walk->col[1].src_step;

    for (size_t c = 0; c < walk->col[1].count; c += columns) {
        const size_t count = at_most(walk->col[1].count - c, columns);
        uint8_t *to = dst + (c << walk->kernel);
        const struct leaf_nest nest = {place(stage, to), src + c * step, {1, 0, 0}, {1, 0, 0}, 0};

        leaf->gather[walk->kernel](&nest, step, count);
        leaf->stream(to, nest.dst, count << walk->kernel);
    }
}

static void stage_long_rows(const struct leaf_table *leaf, const struct walk *walk,
                            const struct leaf_nest *nest, struct stage *stage)
{
    const struct leaf_border *border = &walk->border;

    NEST_FOR_ROWS(nest, to, from, {
        if (walk->kind == WALK_GATHER) {
            stage_gathered(leaf, walk, to, from, stage);
        } else {
            if (border->before > 0)
                leaf->fill(to, 0, border->before, 1);
            leaf->stream(to + border->before, from, border->run);
            if (border->after > 0)
                leaf->fill(to + border->before + border->run, 0, border->after, 1);
        }
    })
}

/* Returns whether the inner rows, with zeros around them, are worth a stage. */
static bool are_stretches(const struct walk *walk, size_t above, size_t below)
{
    const struct leaf_loop *inner = &walk->nest.inner, *outer = &walk->nest.outer;
    const size_t row = walk_row(walk), bytes = above + inner->count * row + below;

    return row < TUNE_STREAM_LONG && (inner->count == 1 || inner->dst_step == row) &&
           (bytes >= TUNE_STREAM_LONG || outer->count == 1 || outer->dst_step == bytes);
}

/* Returns whether one call of the kernel moves all inner rows, or all columns of a gather. */
static bool is_one_block(const struct walk *walk)
{
    if (walk->kind == WALK_GATHER)
        return walk->block == walk->col[1].count;
    return walk->kind == WALK_ROWS && walk->block == walk->nest.inner.count;
}

bool stage_take_zeros(struct walk *walk, size_t above, size_t below)
{
    if (walk->kind != WALK_ROWS || !is_one_block(walk) || above + below > TUNED(stage_bytes) / 2 ||
        !are_stretches(walk, above, below))
        return false;
    walk->above = above;
    walk->below = below;
    return true;
}

static bool is_nest(const struct walk *walk)
{
    return is_one_block(walk) &&
           (walk_row(walk) >= TUNE_STREAM_LONG || are_stretches(walk, walk->above, walk->below));
}

static void move_nest(const struct leaf_table *leaf, const struct walk *walk, uint8_t *dst,
                      const uint8_t *src)
{
    struct leaf_nest nest = walk->nest;
    struct stage stage;

    nest.dst = dst;
    nest.src = src;
    stage_init(&stage);
    if (walk_row(walk) >= TUNE_STREAM_LONG)
        stage_long_rows(leaf, walk, &nest, &stage);
    else
        stage_stretches(leaf, walk, &(struct stretch){nest, walk->above, walk->below}, &stage);
    stream_but(leaf, &stage, 0);
}

/* Bursts move rows that are contiguous in the source but not in the destination. They move one
   block of each row, then the next block of each row, so that the source is read in its order. */

/* Returns the size of a slot of the stage in bytes: a block, and the partial lines at its ends. */
static size_t burst_slot(const struct walk *walk)
{
    return (walk->block * walk->border.run / TUNE_LINE + 2) * TUNE_LINE;
}

static bool is_bursts(const struct walk *walk)
{
    const struct leaf_nest *nest = &walk->nest;

    return walk->kind == WALK_ROWS && walk->block < nest->inner.count &&
           walk->border.before + walk->border.after == 0 &&
           nest->inner.dst_step == walk->border.run &&
           walk->block * walk->border.run >= TUNE_LINE &&
           nest->outer.count * burst_slot(walk) <= STAGE_BYTES;
}

/* Moves a block of each row to the slots of the stage. */
static void move_to_slots(const struct leaf_table *leaf, const struct walk *walk,
                          const struct leaf_nest *nest, size_t slot)
{
    struct leaf_nest part = *nest;

    part.outer.count = 1;
    for (size_t i = 0; i < nest->outer.count; i++) {
        part.dst = place_for(buffer + i * slot, nest->dst + i * nest->outer.dst_step);
        part.src = nest->src + i * nest->outer.src_step;
        walk_move_rows(leaf, walk, &part);
    }
}

static void move_bursts(const struct leaf_table *leaf, const struct walk *walk, uint8_t *dst,
                        const uint8_t *src)
{
    const struct leaf_loop *inner = &walk->nest.inner, *outer = &walk->nest.outer;
    const size_t run = walk->border.run, slot = burst_slot(walk), first = 0;
    /* true: the next block of the source begins where this one ends */
    const bool contiguous = inner->src_step == outer->count * outer->src_step;
    struct leaf_nest part = walk->nest;

    for (size_t i = 0; i < inner->count; i += walk->block) {
        const size_t some = at_most(inner->count - i, walk->block),
                     after = at_most(inner->count - i - some, walk->block);

        part.inner.count = some;
        part.dst = dst + i * inner->dst_step;
        part.src = src + i * inner->src_step;
        struct fetch next = {part.src + some * inner->src_step, &first, contiguous && after > 0,
                             after * inner->src_step, 0};
        const size_t share = fetch_share(&next, outer->count);

        move_to_slots(leaf, walk, &part, slot);
        for (size_t k = 0; k < outer->count; k++) {
            flush(leaf, part.dst + k * outer->dst_step, buffer + k * slot, some * run, i == 0,
                  after == 0);
            fetch_some(&next, share);
        }
    }
}

/*
 * Matrices are transposes with many long rows that have gaps between them. They move in blocks of
 * many rows by a few cache lines of columns, so that the source is read in long pieces.
 */

static void move_matrix_strip(const struct leaf_table *leaf, const struct walk *walk, uint8_t *dst,
                              const uint8_t *src, const size_t *columns, size_t rows)
{
    const size_t k = walk->kernel, dst_step = walk->row[1].dst_step,
                 src_step = walk->col[1].src_step, total = walk->col[1].count << k;
    const size_t most = TUNED(stage_width), pitch = most + TUNE_LINE + dst_step % TUNE_LINE;
    uint8_t *at = place_for(buffer, dst);

    for (size_t begin = 0; begin < total; begin += most) {
        const size_t width = at_most(total - begin, most), end = begin + width;
        const uint8_t *from = src + (begin >> k) * src_step;
        struct fetch next = {from + (width >> k) * src_step, columns,
                             at_most(total - end, most) >> k, rows << k, 0};
        const size_t some = fetch_share(&next, rows);

        leaf->transpose[k](at, pitch, from, src_step, rows, width >> k);
        for (size_t r = 0; r < rows; r++) {
            uint8_t *to = dst + r * dst_step + begin;

            flush(leaf, to, at + r * pitch - (uintptr_t)to % TUNE_LINE, width, begin == 0,
                  end == total);
            fetch_some(&next, some);
        }
    }
}

static bool is_matrix(const struct walk *walk)
{
    return walk->kind == WALK_TRANSPOSE && walk->row[1].count >= TUNE_MATRIX_ROWS &&
           walk->col[1].count << walk->kernel >= TUNE_LONG_ROW;
}

static void move_matrix(const struct leaf_table *leaf, const struct walk *walk, uint8_t *dst,
                        const uint8_t *src)
{
    const size_t most = TUNED(stage_rows);
    size_t columns[TUNE_STAGE_WIDTH_MAX];

    for (size_t c = 0; c < TUNED(stage_width) >> walk->kernel; c++)
        columns[c] = c * walk->col[1].src_step;
    for (size_t r = 0; r < walk->row[1].count; r += most)
        move_matrix_strip(leaf, walk, dst + r * walk->row[1].dst_step, src + (r << walk->kernel),
                          columns, at_most(walk->row[1].count - r, most));
}

/* Panels are transposes in which two loops together form the rows or the columns, and rows have at
   least a cache line. They move in blocks of long rows, or of several short contiguous rows. */

enum {
    PANEL_COLUMN_MIN = 16, /* bytes of a column; there are no kernels for shorter columns */
};

/* Moves a strip of rows, a few lines of columns at a time. */
static void move_panel_strip(const struct leaf_table *leaf, const struct walk *walk, uint8_t *dst,
                             const uint8_t *src, const size_t *dst_at, size_t rows)
{
    const size_t k = walk->kernel, cols = panel_width(walk), pitch = slot_pitch();
    const size_t most = at_most(TUNED(stage_width) >> k, TUNE_PANEL);
    const struct panel_columns columns = panel_columns(walk, src);
    struct panel_progress progress = {0, 0};
    size_t src_at[2][TUNE_PANEL], stage_at[TUNE_PANEL], now = 0;
    uint8_t *stage = buffer;

    for (size_t r = 0; r < rows; r++)
        stage_at[r] = r * pitch + (uintptr_t)(dst + dst_at[r]) % TUNE_LINE;
    panel_locate_columns(src_at[now], &columns, &progress, at_most(cols, most));
    for (size_t c = 0; c < cols; c += most, now ^= 1) {
        const size_t width = at_most(cols - c, most), after = at_most(cols - c - width, most);
        struct fetch next = {columns.base, src_at[now ^ 1], after, rows << k, 0};
        const size_t some = fetch_share(&next, rows);

        panel_locate_columns(src_at[now ^ 1], &columns, &progress, after);
        leaf->transpose_at[k](stage, stage_at, columns.base, src_at[now], rows, width);
        for (size_t r = 0; r < rows; r++) {
            flush(leaf, dst + dst_at[r] + (c << k), stage + r * pitch, width << k, c == 0,
                  after == 0);
            fetch_some(&next, some);
        }
    }
}

static void move_long_rows(const struct leaf_table *leaf, const struct walk *walk, uint8_t *dst,
                           const uint8_t *src)
{
    const size_t rows = walk->row[0].count * walk->row[1].count;
    struct panel_progress progress = {0, 0};
    size_t dst_at[TUNE_PANEL];

    for (size_t r = 0; r < rows; r += TUNE_PANEL) {
        const size_t height = at_most(rows - r, TUNE_PANEL);

        panel_locate_rows(dst_at, walk->row, &progress, height);
        move_panel_strip(leaf, walk, dst, src + (r << walk->kernel), dst_at, height);
    }
}

/* Returns how many iterations of the outer loop over rows a block has. */
static size_t rows_at_a_time(const struct walk *walk)
{
    const size_t row = panel_width(walk) << walk->kernel, slots = walk->row[1].count;
    const size_t fit = (STAGE_BYTES / slots - 2 * TUNE_LINE) / row;

    return at_most(walk->row[0].count, fit);
}

/* Moves some rows of the outer loop, with all rows of the inner loop, to slots of the stage. */
static void move_panel_to_slots(const struct leaf_table *leaf, const struct walk *walk,
                                uint8_t *dst, const struct panel_columns *columns,
                                const size_t *src_at, size_t slot, size_t count)
{
    const struct leaf_loop *outer = &walk->row[0], *inner = &walk->row[1];
    const size_t k = walk->kernel, cols = panel_width(walk), in_table = TUNE_PANEL / inner->count;
    size_t stage_at[TUNE_PANEL];

    for (size_t r = 0; r < count; r += in_table) {
        const size_t some = at_most(count - r, in_table);
        size_t *at = stage_at;

        for (size_t i = r; i < r + some; i++) {
            for (size_t s = 0; s < inner->count; s++)
                *at++ = s * slot + (uintptr_t)(dst + s * inner->dst_step) % TUNE_LINE +
                        i * outer->dst_step;
        }
        leaf->transpose_at[k](buffer, stage_at, columns->base + r * outer->src_step, src_at,
                              some * inner->count, cols);
    }
}

static void move_short_rows(const struct leaf_table *leaf, const struct walk *walk, uint8_t *dst,
                            const uint8_t *src)
{
    const struct leaf_loop *outer = &walk->row[0], *inner = &walk->row[1];
    const size_t k = walk->kernel, cols = panel_width(walk), row = cols << k;
    const size_t most = rows_at_a_time(walk);
    const size_t slot = (most * row / TUNE_LINE + 2) * TUNE_LINE;
    size_t src_at[TUNE_PANEL];

    for (size_t r = 0; r < outer->count; r += most) {
        const size_t some = at_most(outer->count - r, most),
                     after = at_most(outer->count - r - some, most);
        const struct panel_columns columns = panel_columns(walk, src + r * outer->src_step);
        struct panel_progress progress = {0, 0};
        struct fetch next = {columns.base + some * outer->src_step, src_at, cols,
                             after * outer->src_step, 0};
        const size_t share = fetch_share(&next, inner->count);
        uint8_t *to = dst + r * row;

        panel_locate_columns(src_at, &columns, &progress, cols);
        move_panel_to_slots(leaf, walk, to, &columns, src_at, slot, some);
        for (size_t i = 0; i < inner->count; i++) {
            flush(leaf, to + i * inner->dst_step, buffer + i * slot, some * row, r == 0,
                  after == 0);
            if (after > 0)
                fetch_some(&next, share);
        }
    }
}

static bool has_long_rows(const struct walk *walk)
{
    return panel_width(walk) << walk->kernel >= TUNE_LONG_ROW;
}

static bool has_short_rows(const struct walk *walk)
{
    const size_t cols = panel_width(walk), row = cols << walk->kernel;

    return walk->border.before + walk->border.after == 0 && walk->row[0].count > 1 &&
           walk->row[0].dst_step == row && cols <= TUNE_PANEL && row >= TUNE_LINE &&
           walk->row[1].count <= TUNE_PANEL / 4;
}

static bool is_panel(const struct walk *walk)
{
    const size_t rows = walk->row[0].count * walk->row[1].count;

    return walk->kind == WALK_TRANSPOSE_AT && rows << walk->kernel >= PANEL_COLUMN_MIN &&
           (has_long_rows(walk) || has_short_rows(walk));
}

static void move_panel(const struct leaf_table *leaf, const struct walk *walk, uint8_t *dst,
                       const uint8_t *src)
{
    if (has_long_rows(walk))
        move_long_rows(leaf, walk, dst, src);
    else
        move_short_rows(leaf, walk, dst, src);
}

/* Pixels are the short rows of a transpose whose destination has no gaps between rows. */

static bool is_pixels(const struct walk *walk)
{
    const size_t pixel = walk->col[1].count << walk->kernel;

    return walk->kind == WALK_TRANSPOSE && pixel <= TUNE_PIXEL_MAX &&
           walk->row[1].dst_step == pixel && walk->row[1].count * pixel >= TUNE_STREAM_LONG;
}

static void move_pixels(const struct leaf_table *leaf, const struct walk *walk, uint8_t *dst,
                        const uint8_t *src)
{
    const struct leaf_loop *row = &walk->row[1], *col = &walk->col[1];
    const size_t most = TUNED(stage_bytes) / row->dst_step;

    for (size_t r = 0; r < row->count; r += most) {
        const size_t count = at_most(row->count - r, most);
        uint8_t *to = dst + r * row->dst_step;

        leaf->transpose[walk->kernel](place_for(buffer, to), row->dst_step,
                                      src + (r << walk->kernel), col->src_step, count, col->count);
        flush(leaf, to, buffer, count * row->dst_step, r == 0, r + count == row->count);
    }
}

/* The ways to stream a walk. The first way that can stream the walk is used. */
static const struct way {
    bool (*can)(const struct walk *walk);
    void (*move)(const struct leaf_table *leaf, const struct walk *walk, uint8_t *dst,
                 const uint8_t *src);
} ways[] = {
    {is_matrix, move_matrix}, {is_panel, move_panel}, {is_pixels, move_pixels},
    {is_bursts, move_bursts}, {is_nest, move_nest},
};

enum { WAYS = sizeof(ways) / sizeof(ways[0]) };

/* Returns the way to stream a walk, or null. */
static const struct way *way_of(const struct walk *walk)
{
    for (size_t i = 0; i < WAYS; i++) {
        if (ways[i].can(walk))
            return &ways[i];
    }
    return NULL;
}

/* Calls a kernel that streams transposes without the stage, or the function that says whether the
   kernel can. */
static bool call_transpose(leaf_transpose_stream *call, const struct walk *walk, uint8_t *dst,
                           const uint8_t *src)
{
    return call && call(dst, walk->row[1].dst_step, src, walk->col[1].src_step, walk->row[1].count,
                        walk->col[1].count);
}

/*
 * Some transposes are faster when they stream from smaller sizes (measured: docs/performance.md).
 * Rows that share cache sets do not stay in the caches anyway. Panels and tiles of 1-byte elements
 * write to many rows in turn, so that each line is fetched from the third-level cache more than
 * once.
 */
static size_t least_of_transpose(const struct walk *walk)
{
    if (is_matrix(walk)) {
        if (walk->row[1].dst_step % TUNE_SETS == 0)
            return tuning_now.stream_sets_min;
        if (walk->kernel == 0)
            return tuning_now.stream_bytes_min;
    }
    if (is_pixels(walk) && walk->row[1].dst_step <= TUNE_STREAM_PIXEL)
        return tuning_now.stream_pixels_min;
    return walk->row[1].count < TUNE_MATRIX_ROWS ? tuning_now.stream_planes_min
                                                 : tuning_now.stream_transpose_min;
}

/* Returns whether a walk moves long rows without zeros beside them, which need no stage. */
static bool is_long_rows(const struct walk *walk)
{
    return walk->kind == WALK_ROWS && walk->border.before + walk->border.after == 0 &&
           walk->border.run >= TUNE_STREAM_LONG;
}

size_t stage_least(const struct walk *walk)
{
    switch (walk->kind) {
    case WALK_TRANSPOSE:
        return least_of_transpose(walk);
    case WALK_TRANSPOSE_AT:
        return is_panel(walk) ? tuning_now.stream_panel_min : tuning_now.stream_transpose_min;
    default:
        return is_long_rows(walk) ? tuning_now.stream_rows_min : tuning_now.stream_short_min;
    }
}

bool stage_streams(const struct leaf_table *leaf, const struct walk *walk, uint8_t *dst,
                   const uint8_t *src)
{
    return (walk->kind == WALK_TRANSPOSE &&
            call_transpose(leaf->transpose_streams[walk->kernel], walk, dst, src)) ||
           way_of(walk);
}

void stage_move(const struct leaf_table *leaf, const struct walk *walk, uint8_t *dst,
                const uint8_t *src)
{
    const struct way *way;

    if (walk->kind == WALK_TRANSPOSE &&
        call_transpose(leaf->transpose_stream[walk->kernel], walk, dst, src))
        return;
    way = way_of(walk);
    (way ? way->move : walk_move)(leaf, walk, dst, src);
}

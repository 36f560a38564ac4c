/* SPDX-License-Identifier: BSD-3-Clause */
/* A live line: how far a batch is, at which rate, how long it will take, and what has failed. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "cli/batch/sentence.h"
#include "cli/batch/sink.h"
#include "cli/term/cancel.h"
#include "cli/term/live.h"
#include "cli/term/print.h"

#define SECOND_NS (UINT64_C(1000) * 1000 * 1000)

/* Rates are those of the last seconds: of as many samples, one for each. */
enum { SAMPLES = 16 };

struct sample {
    uint64_t ns;
    size_t ran;
};

struct progress {
    struct batch_outline outline;
    size_t count[CASE_STATUS_COUNT];
    size_t ended;
    uint32_t repeat, repeats; /* of the attempt that began last; 0: --repeat was not given */
    uint64_t ns;
    struct sample samples[SAMPLES]; /* a ring */
    size_t sampled;
    bool due; /* the first tick has come: very short batches show nothing */
};

/* Cases of this run: those that it took over cost no time. */
static size_t ran(const struct progress *progress)
{
    size_t resumed = progress->outline.resumed;
    return progress->ended > resumed ? progress->ended - resumed : 0;
}

/* The oldest that is kept; the beginning until then. */
static struct sample oldest(const struct progress *progress)
{
    if (progress->sampled < SAMPLES)
        return (struct sample){0};
    return progress->samples[progress->sampled % SAMPLES];
}

static void sample(struct progress *progress)
{
    size_t last = (progress->sampled + SAMPLES - 1) % SAMPLES;
    if (progress->ns - (progress->sampled ? progress->samples[last].ns : 0) < SECOND_NS)
        return;
    progress->samples[progress->sampled++ % SAMPLES] =
        (struct sample){.ns = progress->ns, .ran = ran(progress)};
}

/* What rates and the time that is left are taken from: what was done since then. */
static struct sample done_since(const struct progress *progress)
{
    struct sample since = oldest(progress);
    /* Cases may take longer than what is looked back upon. */
    if (ran(progress) == since.ran)
        since = (struct sample){0};
    return (struct sample){.ns = progress->ns - since.ns, .ran = ran(progress) - since.ran};
}

static void put_left(struct textw *w, double seconds)
{
    const double most = 100 * 3600.0;
    if (seconds >= most) {
        textw_printf(w, ", more than 99 h left");
        return;
    }
    uint32_t s = (uint32_t)(seconds + 0.5);
    if (s >= 3600)
        textw_printf(w, ", %" PRIu32 ":%02" PRIu32 ":%02" PRIu32 " left", s / 3600, s / 60 % 60,
                     s % 60);
    else
        textw_printf(w, ", %" PRIu32 ":%02" PRIu32 " left", s / 60, s % 60);
}

static void put_line(struct textw *w, const struct progress *progress)
{
    size_t all = progress->outline.selected;
    struct sample done = done_since(progress);
    textw_printf(w, "%zu/%zu %3u %%", progress->ended, all,
                 all ? (unsigned)((uint64_t)progress->ended * 100 / all) : 100);
    if (progress->repeats)
        textw_printf(w, ", repeat %" PRIu32 " of %" PRIu32, progress->repeat, progress->repeats);
    /* What is wrong is told even where the window is narrow. */
    for (int status = CASE_FLAKY; status < CASE_STATUS_COUNT; status++) {
        if (progress->count[status])
            textw_printf(w, ", %zu %s", progress->count[status],
                         case_status_word((enum case_status)status));
    }
    /* The first moments tell nothing: programs start, files are read for the first time. */
    if (done.ran == 0 || progress->ns < SECOND_NS)
        return;
    sentence_rate(w, done.ran, done.ns);
    if (progress->ended < all)
        put_left(w, (double)(all - progress->ended) * (double)done.ns / (double)done.ran / 1e9);
}

static void show(const struct progress *progress)
{
    struct textw w;
    /* Who ends it finds the terminal as it was, however it ends. */
    if (cancel_requested()) {
        live_hide();
        return;
    }
    textw_init(&w);
    put_line(&w, progress);
    if (!w.failed)
        live_show(w.data);
    textw_finish(&w);
}

static int create(const struct batch_taste *taste, void **state)
{
    *state = calloc(1, sizeof(struct progress));
    if (!*state) {
        print_error("out of memory");
        return -1;
    }
    live_begin(taste->live_fd);
    return 0;
}

static void begin(void *state, const struct batch_outline *outline)
{
    struct progress *progress = state;
    progress->outline = *outline;
}

static void result(void *state, const struct case_result *result)
{
    struct progress *progress = state;
    progress->count[result->status]++;
    progress->ended++;
    /* A line was put in its place; else the next tick is soon enough. */
    if (progress->due && !live_is_shown())
        show(progress);
}

static void repeat(void *state, uint32_t now, uint32_t all)
{
    struct progress *progress = state;
    progress->repeat = now;
    progress->repeats = all;
}

static void tick(void *state, uint64_t ns)
{
    struct progress *progress = state;
    progress->ns = ns;
    progress->due = true;
    sample(progress);
    show(progress);
}

static int end(void *state, const struct batch_summary *summary)
{
    (void)state;
    (void)summary;
    live_end();
    return 0;
}

static void destroy(void *state)
{
    live_end();
    free(state);
}

const struct batch_sink sink_progress = {.create = create,
                                         .begin = begin,
                                         .result = result,
                                         .tick = tick,
                                         .repeat = repeat,
                                         .end = end,
                                         .destroy = destroy};

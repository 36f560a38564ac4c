/* SPDX-License-Identifier: BSD-3-Clause */
/* A batch for programs: an object to each line, as things happen. */
#include <stdio.h>

#include "cli/batch/sink.h"
#include "cli/term/print.h"

static int create(const struct batch_taste *taste, void **state)
{
    (void)taste;
    *state = NULL;
    return 0;
}

static void open_line(struct jsonw *w)
{
    jsonw_init(w);
    jsonw_object_begin(w, NULL);
}

static void put_line(struct jsonw *w)
{
    jsonw_object_end(w);
    print_json(w);
    fflush(stdout);
}

static void begin(void *state, const struct batch_outline *outline)
{
    struct jsonw w;
    (void)state;
    open_line(&w);
    batch_outline_write(&w, outline);
    put_line(&w);
}

static void result(void *state, const struct case_result *result)
{
    struct jsonw w;
    (void)state;
    open_line(&w);
    case_result_write(&w, result, false);
    put_line(&w);
}

static int end(void *state, const struct batch_summary *summary)
{
    struct jsonw w;
    (void)state;
    open_line(&w);
    batch_summary_write(&w, summary);
    put_line(&w);
    return 0;
}

static void destroy(void *state)
{
    (void)state;
}

const struct batch_sink sink_events = {
    .create = create, .begin = begin, .result = result, .end = end, .destroy = destroy};

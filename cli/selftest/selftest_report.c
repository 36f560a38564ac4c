/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "cli/file/output.h"
#include "cli/selftest/failure.h"
#include "cli/selftest/round.h"
#include "cli/term/cancel.h"
#include "proto/file/job_file.h"

static int write_file(const char *directory, const char *name, const void *bytes, size_t size,
                      struct fault *fault)
{
    char *path = NULL;

    if (asprintf(&path, "%s/%s", directory, name) < 0)
        return fault_no_memory(fault);
    const int status = output_save(path, bytes, size, true, fault);
    free(path);
    return status;
}

static int write_images(const struct move_case *c, const char *directory, struct fault *fault)
{
    struct images images;

    if (images_init(&images, c->src_frame.bytes > c->dst_frame.bytes ? c->src_frame.bytes
                                                                     : c->dst_frame.bytes))
        return fault_no_memory(fault);
    images_fill(&images, c);
    int status = write_file(directory, "src.raw", images.src, c->src_frame.bytes, fault);
    if (status == 0)
        status = write_file(directory, "before.raw", images.dst, c->dst_frame.bytes, fault);
    if (status == 0)
        status = write_file(directory, "expect.raw", images.expected, c->dst_frame.bytes, fault);
    images_finish(&images);
    return status;
}

/* Borrows the name: these jobs are never finished. */
static struct tensor_spec raw(char *file)
{
    return (struct tensor_spec){.file = file, .format = FILE_FORMAT_RAW};
}

static struct tensor_desc describe(mli_element_type type, uint32_t rank)
{
    return (struct tensor_desc){.has_type = true, .type = type, .rank = rank};
}

static struct expectation golden(char *file)
{
    return (struct expectation){.kind = EXPECT_FILE, .golden = raw(file)};
}

/* Writes a job that copies a whole file. */
static void write_copy(struct jsonw *w, const struct move_case *c, char *names[3], char *name,
                       char **after)
{
    struct job_spec job;

    job_spec_init(&job);
    job.common.op = JOB_OP_MOV;
    job.common.name = name;
    job.src = raw(names[0]);
    job.src.desc = describe(MLI_EL_FX_8, 1);
    job.src.desc.shape[0] = (uint32_t)c->dst_frame.bytes;
    job.dst = raw(names[1]);
    job.expect = golden(names[2]);
    job.after = after;
    job.after_count = after ? 1 : 0;
    job_file_write(w, NULL, &job);
}

static struct cfg_lengths lengths_of(const struct move_case *c)
{
    const uint8_t n = (uint8_t)c->move.src.rank;

    if (c->kernel)
        return (struct cfg_lengths){.perm_dim = n};
    return (struct cfg_lengths){n, n, n, n, n, n, n, n};
}

static void write_case(struct jsonw *w, const struct move_case *c, uint32_t timeout_ms, char *name)
{
    char src[] = "src.raw", dst[] = "dst.raw", expect[] = "expect.raw", restore[] = "restore";
    char *after[] = {restore};
    const size_t strides = c->move.src.rank * sizeof(int32_t);
    struct job_spec job;

    job_spec_init(&job);
    job.common.op = c->kernel ? JOB_OP_PERMUTE : JOB_OP_MOV;
    job.common.name = name;
    job.src = raw(src);
    job.src.offset = c->src_frame.before;
    job.src.desc = describe(c->move.src.el_type, c->move.src.rank);
    job.src.desc.has_strides = true;
    memcpy(job.src.desc.shape, c->move.src.shape, sizeof(c->move.src.shape));
    memcpy(job.src.desc.strides, c->move.src.mem_stride, strides);
    job.dst = raw(dst);
    job.dst.update = true;
    job.dst.offset = c->dst_frame.before;
    job.dst.desc.has_strides = true;
    job.dst.desc.stride_count = c->move.src.rank;
    memcpy(job.dst.desc.strides, c->move.dst.mem_stride, strides);
    job.expect = golden(expect);
    job.common.cfg = c->move.cfg;
    job.common.lengths = lengths_of(c);
    job.common.channels = c->mode == CASE_MODE_sync ? 1 : c->width;
    job.common.timeout_ms = timeout_ms;
    job.after = after;
    job.after_count = 1;
    job_file_write(w, NULL, &job);
}

static int write_jobs(const struct move_case *c, const char *directory, uint32_t timeout_ms,
                      struct fault *fault)
{
    char before[] = "before.raw", dst[] = "dst.raw", after[] = "after.raw";
    char expect[] = "expect.raw", restore[] = "restore", check[] = "check", name[32];
    char *the_case[] = {name};
    struct jsonw w;

    snprintf(name, sizeof(name), "case-%" PRIu64, c->index);
    jsonw_init_lines(&w, 2);
    jsonw_array_begin(&w, NULL);
    write_copy(&w, c, (char *[]){before, dst, before}, restore, NULL);
    write_case(&w, c, timeout_ms, name);
    write_copy(&w, c, (char *[]){dst, after, expect}, check, the_case);
    jsonw_array_end(&w);
    jsonw_newline(&w);
    const char *text = jsonw_text(&w);
    const int status = write_file(directory, "job.json", text, w.length, fault);
    jsonw_finish(&w);
    return status;
}

/* Writes the files to the directory, which is created if it is missing. Returns 0 or -1. */
static int reproduce_write(const struct move_case *c, const char *directory, uint32_t timeout_ms,
                           struct fault *fault)
{
    if (mkdir(directory, 0777) && errno != EEXIST)
        return fault_set(fault, FAULT_INTERNAL, NULL, "%s: %s", directory, strerror(errno));
    if (write_images(c, directory, fault))
        return -1;
    return write_jobs(c, directory, timeout_ms, fault);
}

#define NS_PER_S UINT64_C(1000000000)

enum { RERUN_MAX = 384, ENGINE_MAX = 256 };

void selftest_report_init(struct selftest_report *report, const struct print_style *style)
{
    *report = (struct selftest_report){.style = *style, .defaults = ""};
}

void selftest_report_finish(struct selftest_report *report)
{
    free(report->kept);
    report->kept = NULL;
}

/* Writes the command that reproduces the case. */
static const char *rerun_text(const struct selftest_report *report, const struct round *round,
                              const struct failure *failure, char out[RERUN_MAX])
{
    snprintf(out, RERUN_MAX,
             "mlictl selftest%s%s%s --seed %" PRIu64 " --only %" PRIu64 " --engine %s%s",
             report->host ? " -H '" : "", report->host ? report->host : "", report->host ? "'" : "",
             failure->c.seed, failure->c.index, round->engine, report->defaults);
    return out;
}

/* Returns the length of the part of a URL before the name of the engine. */
static int host_length(const char *url)
{
    const char *engine = strstr(url, ",engine=");

    return (int)(engine ? (size_t)(engine - url) : strlen(url));
}

/* Writes the first case that failed as a job file. */
static void keep(struct selftest_report *report, const struct round *round,
                 const struct move_case *c)
{
    char directory[64];
    struct fault fault;

    if (report->kept_engine)
        return;
    report->kept_engine = round->engine;
    snprintf(directory, sizeof(directory), "selftest-%" PRIu64 "-%" PRIu64, c->seed, c->index);
    const char *place = report->keep ? report->keep : directory;
    if (reproduce_write(c, place, (uint32_t)(round->plan->timeout_ns / 1000000), &fault)) {
        print_fault(NULL, &fault);
        return;
    }
    if (asprintf(&report->kept, "%s/job.json", place) < 0)
        report->kept = NULL;
    else if (report->host)
        print_error("  as a job: mlictl run -H '%.*s,engine=%s' %s", host_length(report->host),
                    report->host, round->engine, report->kept);
    else
        print_error("  as a job%s: mlictl run --engine %s %s",
                    strncmp(round->engine, "fault:", 6) == 0 ? ", if the fault occurs again" : "",
                    round->engine, report->kept);
}

static void print_failed(struct selftest_report *report, const struct round *round,
                         const struct failure *failure)
{
    char text[CASE_TEXT_MAX], rerun[RERUN_MAX];

    if (round->plan->progress)
        fprintf(stderr, "\r\033[K");
    if (!failure->has_case) {
        print_error("%s: %s", round->engine, failure->text);
        return;
    }
    print_error("%s: case %" PRIu64 " of seed %" PRIu64 ": %s", round->engine, failure->c.index,
                failure->c.seed, failure->text);
    print_error("  the case: %s", case_text(&failure->c, text));
    print_error("  reproduce: %s", rerun_text(report, round, failure, rerun));
    keep(report, round, &failure->c);
}

void selftest_report_failure(struct round *round, const struct failure *failure)
{
    if (round->failures < ROUND_FAILURES_SHOWN) {
        round->shown[round->failures] = *failure;
        print_failed(round->report, round, failure);
    }
    round->failures++;
    round->stuck += failure->kind == FAILURE_stuck;
}

static uint64_t bytes_per_second(const struct round *round)
{
    return round->moving_ns ? (uint64_t)((double)round->bytes * 1e9 / (double)round->moving_ns) : 0;
}

static void print_channels(const struct selftest_report *report, const struct round *round)
{
    print_line(&report->style, "  %7s %10s %10s %8s %10s %10s %10s %10s %6s", "channel",
               "submitted", "completed", "failed", "cancelled", "written", "rows", "busy", "queue");
    for (uint32_t i = 0; i < round->channels; i++) {
        const mli_mov_channel_stats *s = &round->stats[i];
        char bytes[PRINT_TEXT_MAX], busy[PRINT_TEXT_MAX];
        print_line(&report->style,
                   "  %7" PRIu32 " %10" PRIu64 " %10" PRIu64 " %8" PRIu64 " %10" PRIu64
                   " %10s %10" PRIu64 " %10s %6" PRIu64,
                   i, s->submitted, s->completed, s->failed, s->cancelled,
                   print_bytes(bytes, s->bytes), s->rows, print_time(busy, s->busy_ns),
                   s->queue_high_water);
    }
}

static void json_mismatch(struct jsonw *w, const struct failure *failure)
{
    const struct mismatch *m = &failure->mismatch;
    const struct frame *frame = m->in_src ? &failure->c.src_frame : &failure->c.dst_frame;

    jsonw_object_begin(w, "mismatch");
    jsonw_string(w, "tensor", m->in_src ? "src" : "dst");
    jsonw_int(w, "offset", (int64_t)m->at - (int64_t)frame->before);
    if (m->in_element) {
        print_json_shape(w, "element", failure->c.move.src.rank, m->element);
        jsonw_uint(w, "byte", m->byte);
    }
    jsonw_uint(w, "expected", m->expected);
    jsonw_uint(w, "found", m->found);
    jsonw_uint(w, "bytes", m->count);
    jsonw_object_end(w);
}

static void json_failure(struct jsonw *w, const struct selftest_report *report,
                         const struct round *round, const struct failure *failure)
{
    char text[CASE_TEXT_MAX], rerun[RERUN_MAX];

    jsonw_object_begin(w, NULL);
    jsonw_string(w, "kind", failure_kind_name(failure->kind));
    jsonw_string(w, "message", failure->text);
    if (failure->has_case) {
        jsonw_uint(w, "index", failure->c.index);
        jsonw_string(w, "case", case_text(&failure->c, text));
        jsonw_string(w, "again", rerun_text(report, round, failure, rerun));
        if (failure->kind == FAILURE_mismatch)
            json_mismatch(w, failure);
    }
    jsonw_object_end(w);
}

static void json_channels(struct jsonw *w, const struct round *round)
{
    jsonw_array_begin(w, "channels");
    for (uint32_t i = 0; i < round->channels; i++) {
        const mli_mov_channel_stats *s = &round->stats[i];
        jsonw_object_begin(w, NULL);
        jsonw_uint(w, "submitted", s->submitted);
        jsonw_uint(w, "completed", s->completed);
        jsonw_uint(w, "failed", s->failed);
        jsonw_uint(w, "cancelled", s->cancelled);
        jsonw_uint(w, "bytes", s->bytes);
        jsonw_uint(w, "rows", s->rows);
        jsonw_uint(w, "busy_ns", s->busy_ns);
        jsonw_uint(w, "queue_high_water", s->queue_high_water);
        jsonw_object_end(w);
    }
    jsonw_array_end(w);
}

static void print_round(const struct selftest_report *report, const struct round *round)
{
    struct jsonw w;

    jsonw_init_object(&w);
    jsonw_string(&w, "engine", round->engine);
    jsonw_uint(&w, "seed", round->plan->seed);
    jsonw_uint(&w, "cases", round->cases);
    jsonw_uint(&w, "bytes", round->bytes);
    jsonw_uint(&w, "ns_moving", round->moving_ns);
    jsonw_uint(&w, "bytes_per_second", bytes_per_second(round));
    jsonw_uint(&w, "claims_refused", round->busy_claims);
    jsonw_uint(&w, "failures", round->failures);
    jsonw_uint(&w, "stuck", round->stuck);
    jsonw_array_begin(&w, "first_failures");
    for (uint64_t i = 0; i < round->failures && i < ROUND_FAILURES_SHOWN; i++)
        json_failure(&w, report, round, &round->shown[i]);
    jsonw_array_end(&w);
    if (report->kept && report->kept_engine == round->engine)
        jsonw_string(&w, "job", report->kept);
    json_channels(&w, round);
    print_object(&w);
}

enum exit_code selftest_report_round(const struct selftest_report *report,
                                     const struct round *round)
{
    char bytes[PRINT_TEXT_MAX], rate[PRINT_TEXT_MAX], failures[PRINT_TEXT_MAX];
    char line[PRINT_LINE_MAX];

    if (report->style.json)
        print_round(report, round);
    if (round->failures > ROUND_FAILURES_SHOWN)
        print_error("%s: and %" PRIu64 " more", round->engine,
                    round->failures - ROUND_FAILURES_SHOWN);
    if (round->failures > 0 && !report->style.json && report->style.quiet)
        return EXIT_CODE_FAILED; /* the failures have been printed */
    snprintf(line, sizeof(line), "%s: %" PRIu64 " case%s, %s at %s/s, ", round->engine,
             round->cases, print_s(round->cases), print_bytes(bytes, round->bytes),
             print_bytes(rate, bytes_per_second(round)));
    snprintf(failures, sizeof(failures), "%" PRIu64 " failure%s", round->failures,
             print_s(round->failures));
    print_coloured(&report->style, line, round->failures > 0 ? COLOUR_BAD : COLOUR_GOOD, failures,
                   "");
    if (report->channels)
        print_channels(report, round);
    return round->failures > 0 ? EXIT_CODE_FAILED : EXIT_CODE_DONE;
}

void selftest_report_skipped(const struct selftest_report *report, const struct round *round,
                             const char *why)
{
    struct jsonw w;
    char engine[ENGINE_MAX], reason[PRINT_LINE_MAX];

    snprintf(engine, sizeof(engine), "%s: ", round->engine);
    snprintf(reason, sizeof(reason), ": %s", why);
    print_coloured(&report->style, engine, COLOUR_WARN, "skipped", reason);
    if (!report->style.json)
        return;
    jsonw_init_object(&w);
    jsonw_string(&w, "engine", round->engine);
    jsonw_uint(&w, "seed", round->plan->seed);
    jsonw_string(&w, "skipped", why);
    print_object(&w);
}

void selftest_engines_add(struct selftest_engines *engines, const char *before, const char *name,
                          const char *after)
{
    snprintf(engines->specs[engines->count++], SELFTEST_SPEC_MAX, "%s%s%s", before, name, after);
}

static enum exit_code test_engine(struct selftest_report *report, const struct round_plan *plan,
                                  const char *engine, selftest_test *test, void *context,
                                  bool *stop)
{
    struct round *round = calloc(1, sizeof(*round));

    if (!round)
        return print_no_memory();
    round->plan = plan;
    round->engine = engine;
    round->report = report;
    const enum exit_code code = test(round, context, stop);
    *stop = *stop || cancel_requested() || (plan->fail_fast && round->failures > 0);
    if (!round->lost)
        free(round); /* all threads have ended */
    return code;
}

enum exit_code selftest_run(struct selftest_report *report, struct round_plan *plan,
                            const struct selftest_engines *engines, uint64_t seconds,
                            selftest_test *test, void *context)
{
    enum exit_code code = EXIT_CODE_DONE;
    bool stop = false;

    plan->round_ns = engines->count > 0 ? seconds * NS_PER_S / engines->count : 0;
    for (size_t i = 0; i < engines->count && !stop; i++) {
        const enum exit_code one =
            test_engine(report, plan, engines->specs[i], test, context, &stop);
        if (code == EXIT_CODE_DONE)
            code = one;
        print_flush();
    }
    if (code == EXIT_CODE_DONE && cancel_requested()) {
        print_error("cancelled");
        code = EXIT_CODE_STOPPED;
    }
    return code;
}

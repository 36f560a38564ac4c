/* SPDX-License-Identifier: BSD-3-Clause */
#include "cli/job/resolve.h"

#include <stdlib.h>
#include <string.h>

#include "cli/job/inputs.h"
#include "cli/job/tensor_layout.h"
#include "proto/json/prescan.h"

static int make_path(char **out, const struct job_file *file, const char *path, struct fault *fault)
{
    if (!path)
        return 0;
    *out = job_file_path(file, path);
    return *out ? 0 : fault_set(fault, FAULT_INTERNAL, NULL, "out of memory");
}

static int make_paths(struct resolved *r, const struct job_file *file, struct fault *fault)
{
    const struct job_spec *job = r->job;
    if (make_path(&r->src_path, file, job->src.file, fault) ||
        make_path(&r->dst_path, file, job->dst.file, fault) ||
        make_path(&r->params_path, file, job->dst.params, fault) ||
        make_path(&r->expect_path, file, job->expect.golden.file, fault))
        return -1;
    return 0;
}

/* Copies the members that a job has in a file and on the wire; the tensors follow. */
static int begin_wire(struct resolved *r, struct fault *fault)
{
    const char *name = r->job->common.name;
    r->wire.common = r->job->common;
    r->wire.common.name = name ? strdup(name) : NULL;
    if (name && !r->wire.common.name)
        return fault_set(fault, FAULT_INTERNAL, NULL, "out of memory");
    return 0;
}

/* Per-axis parameters travel in the request, and a request has its limits. */
static int check_wire(const struct resolved *r, struct fault *fault)
{
    struct jsonw w;
    struct fault why;
    jsonw_init(&w);
    job_wire_write(&w, NULL, &r->wire);
    const char *text = jsonw_text(&w);
    int status = text ? prescan(text, w.length, &prescan_wire_limits, &why)
                      : fault_set(&why, FAULT_INTERNAL, NULL, "out of memory");
    jsonw_finish(&w);
    return status ? fault_set(fault, FAULT_INVALID_PARAMS, "/src",
                              "src: too many parameters for one request: %s", why.text)
                  : 0;
}

static int begin_outputs(struct resolved *r, const struct produced *produced, struct fault *fault)
{
    int (*begin)(struct output *, const char *, const char *, struct fault *) =
        produced && produced->memory ? output_init_memory : output_init;
    if (begin(&r->output, r->dst_path, "/dst/file", fault))
        return -1;
    return r->params_path ? begin(&r->params, r->params_path, "/dst/params", fault) : 0;
}

int resolved_plan(struct resolved *r, const struct job_file *file, const struct job_spec *job,
                  const struct produced *produced, struct fault *fault)
{
    static const struct tensor_file closed = {.fd = -1};
    static const struct output unbegun = {.fd = -1, .directory = -1};
    *r = (struct resolved){.job = job,
                           .src = closed,
                           .before = closed,
                           .expect = closed,
                           .whole = closed,
                           .output = unbegun,
                           .params = unbegun};
    job_init(&r->wire);
    if (make_paths(r, file, fault) || begin_wire(r, fault) || inputs_open_src(r, produced, fault) ||
        inputs_check_distinct(r, file, fault) || inputs_open_before(r, produced, fault) ||
        layout_find(r, fault) || inputs_open_expect(r, produced, fault) || check_wire(r, fault))
        return -1;
    return 0;
}

int resolved_init(struct resolved *r, const struct job_file *file, const struct job_spec *job,
                  const struct produced *produced, struct fault *fault)
{
    if (resolved_plan(r, file, job, produced, fault) || begin_outputs(r, produced, fault))
        return -1;
    return 0;
}

int resolved_produce(const struct resolved *r, struct produced *produced, struct fault *fault)
{
    if (r->job->expect.kind == EXPECT_ERROR)
        return 0;
    if (produced_add(produced, r->dst_path, &r->whole, -1))
        return fault_set(fault, FAULT_INTERNAL, NULL, "out of memory");
    return 0;
}

void resolved_finish(struct resolved *r)
{
    output_finish(&r->output);
    output_finish(&r->params);
    tensor_file_close(&r->src);
    tensor_file_close(&r->before);
    tensor_file_close(&r->expect);
    job_finish(&r->wire);
    free(r->src_path);
    free(r->dst_path);
    free(r->params_path);
    free(r->expect_path);
    *r = (struct resolved){.output = {.fd = -1, .directory = -1}};
}

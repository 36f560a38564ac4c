/* SPDX-License-Identifier: BSD-3-Clause */
#include "cli/selftest/reproduce.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "cli/file/output.h"
#include "cli/selftest/image.h"
#include "proto/file/job_file.h"

static int write_file(const char *directory, const char *name, const void *bytes, size_t size,
                      struct fault *fault)
{
    struct output output;
    char *path = NULL;

    if (asprintf(&path, "%s/%s", directory, name) < 0)
        return fault_no_memory(fault);
    int status = output_init(&output, path, NULL, fault);
    if (status == 0)
        status = output_reserve(&output, size, fault);
    if (status == 0)
        status = output_write(&output, bytes, size, 0, fault);
    if (status == 0)
        status = output_commit_synced(&output, false, fault);
    output_finish(&output);
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
    memcpy(job.src.desc.shape, c->move.src.shape, sizeof(job.src.desc.shape));
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
    int status =
        text ? write_file(directory, "job.json", text, w.length, fault) : fault_no_memory(fault);
    jsonw_finish(&w);
    return status;
}

int reproduce_write(const struct move_case *c, const char *directory, uint32_t timeout_ms,
                    struct fault *fault)
{
    if (mkdir(directory, 0777) && errno != EEXIST)
        return fault_set(fault, FAULT_INTERNAL, NULL, "%s: %s", directory, strerror(errno));
    if (write_images(c, directory, fault))
        return -1;
    return write_jobs(c, directory, timeout_ms, fault);
}

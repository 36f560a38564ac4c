/* SPDX-License-Identifier: BSD-3-Clause */
#include "cli/job/resolve.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/diagnose/compare.h"
#include "cli/file/regular.h"
#include "proto/json/json.h"
#include "proto/wire/rpc.h"

/* Adds to a fault about a file or tensor name the JSON pointer of the job's member. */
static int blame(struct fault *fault, const char *tensor)
{
    if (fault->code == FAULT_CANCELLED)
        return -1;
    const char *member = fault->has_pointer ? fault->pointer + 1 : "file";
    char pointer[32];
    snprintf(pointer, sizeof(pointer), "/%s/%s", tensor, member);
    return fault_set(fault, fault->code, pointer, "%s.%s: %s", tensor, pointer + strlen(tensor) + 2,
                     fault->text);
}

/* Opens the output of an earlier job, or copies its description if the output was not written. */
static int open_produced(struct tensor_file *file, const struct tensor_file *produced,
                         const struct tensor_spec *ref, const char *path, struct fault *fault)
{
    if (produced->fd < 0) {
        *file = *produced;
        file->path = path;
        print_path(file->shown, path);
        if (tensor_spec_format(ref) == FILE_FORMAT_RAW && file->format != FILE_FORMAT_RAW) {
            file->format = FILE_FORMAT_RAW; /* the job describes the bytes, header included */
            file->header = (struct npy_header){.rank = 0};
        }
        if (!file_format_is_archive(tensor_spec_format(ref)))
            return 0;
        return fault_set(fault, FAULT_INVALID_PARAMS, NULL,
                         "%s: must be an archive, but an earlier job writes it in another format",
                         file->shown);
    }
    /* Both descriptors share one file offset, which is not used. */
    int fd = fcntl(produced->fd, F_DUPFD_CLOEXEC, 0);
    if (fd < 0)
        return fault_set(fault, FAULT_IO_ERROR, NULL, "%s", strerror(errno));
    return tensor_file_adopt(file, fd, path, tensor_spec_format(ref), ref->tensor, fault);
}

static int open_tensor(struct tensor_file *file, const struct produced *produced,
                       const struct tensor_spec *ref, const char *path, struct fault *fault)
{
    const struct tensor_file *found = NULL;

    if (produced && produced_find(produced, path, &found))
        return fault_set(fault, FAULT_IO_ERROR, NULL, "%s", strerror(errno));
    if (found)
        return open_produced(file, found, ref, path, fault);
    return tensor_file_open(file, path, tensor_spec_format(ref), ref->tensor, fault);
}

/* Gives a raw file the type, shape and strides that the job has. */
static int describe_raw(struct tensor_file *file, const struct tensor_spec *ref,
                        const struct dtype *dtype, struct fault *fault)
{
    struct npy_header header = {.rank = ref->desc.rank, .data_offset = ref->offset};

    memcpy(header.shape, ref->desc.shape, sizeof(header.shape));
    dtype_to_header(dtype, &header);
    return tensor_file_set_raw(file, &header, ref->desc.has_strides ? ref->desc.strides : NULL,
                               fault);
}

/* Describes a tensor in a buffer, of which only the size is known. */
static int describe_buffer(struct tensor_file *file, const struct buffer_spec *buffer,
                           const struct tensor_spec *ref, const struct dtype *dtype,
                           struct fault *fault)
{
    char shape[PRINT_TEXT_MAX];

    *file = (struct tensor_file){
        .fd = -1, .format = FILE_FORMAT_RAW, .stat.st_size = (off_t)buffer->bytes};
    snprintf(file->shown, sizeof(file->shown), "buffer %s", buffer->name);
    if (ref->desc.rank == 0)
        return 0;
    if (describe_raw(file, ref, dtype, fault)) {
        const struct fault bare = *fault;
        return fault_set(fault, bare.code, "/shape", "%s", bare.text);
    }
    uint64_t size = file->header.data_size;
    if (ref->offset <= buffer->bytes && size <= buffer->bytes - ref->offset)
        return 0;
    return fault_set(fault, FAULT_INVALID_PARAMS, "/buffer",
                     "%s has %" PRIu64 " B, but %" PRIu64 " B from offset %" PRIu64
                     " on are needed for shape %s of %" PRIu32 "-byte elements",
                     buffer->name, buffer->bytes, size, ref->offset,
                     print_shape(shape, file->header.rank, file->header.shape),
                     file->header.item_size);
}

static int check_type(const struct resolved *r, struct fault *fault)
{
    const struct npy_header *header = &r->src.header;
    const struct tensor_desc *desc = &r->wire.src.desc;
    uint32_t size = (desc->type & 0xff) / 8;

    if (size != header->item_size)
        return fault_set(fault, FAULT_INVALID_PARAMS, "/src/type",
                         "src.type: %s has elements of %" PRIu32
                         " B, those of %s (%s) have %" PRIu32 " B",
                         element_type_name(desc->type), size, r->src.shown,
                         dtype_of_header(header)->name, header->item_size);
    bool real = desc->type == MLI_EL_FP_16 || desc->type == MLI_EL_FP_32;
    if (r->job->common.op == JOB_OP_PERMUTE && real)
        return fault_set(fault, FAULT_INVALID_PARAMS, "/src/type",
                         "src.type: no permute kernel moves %s; use \"op\": \"mov\"",
                         element_type_name(desc->type));
    if (tensor_desc_check(desc, fault)) {
        fault_prefix(fault, "/src");
        return -1;
    }
    return 0;
}

/* Returns the dtype of a raw source or a buffer. */
static const struct dtype *raw_dtype(const struct tensor_spec *ref)
{
    return ref->dtype ? dtype_from_name(ref->dtype) : dtype_of_type(ref->desc.type);
}

static int open_src_tensor(struct resolved *r, const struct produced *produced, struct fault *fault)
{
    const struct tensor_spec *ref = &r->job->src;

    if (r->src_buffer)
        return describe_buffer(&r->src, r->src_buffer, ref, raw_dtype(ref), fault);
    if (open_tensor(&r->src, produced, ref, r->src_path, fault))
        return -1;
    return r->src.format == FILE_FORMAT_RAW ? describe_raw(&r->src, ref, raw_dtype(ref), fault) : 0;
}

static int open_src(struct resolved *r, const struct produced *produced, struct fault *fault)
{
    const struct tensor_spec *ref = &r->job->src;
    struct tensor_ref *wire = &r->wire.src;

    if (open_src_tensor(r, produced, fault))
        return blame(fault, "src");
    const struct npy_header *header = &r->src.header;
    if (tensor_desc_copy(&wire->desc, &ref->desc))
        return fault_no_memory(fault);
    wire->where = r->src_buffer ? TENSOR_IN_BUFFER : TENSOR_IN_FD;
    wire->offset = header->data_offset;
    memcpy(wire->memory, ref->memory, sizeof(wire->memory));
    tensor_file_describe(&r->src, &wire->desc);
    if (!wire->desc.has_type)
        wire->desc.type = npy_default_type(header);
    wire->desc.has_type = true;
    return check_type(r, fault);
}

static int check_before(const struct resolved *r, struct fault *fault)
{
    const struct npy_header *src = &r->src.header, *before = &r->before.header;
    struct difference difference;

    compare_headers(src, before, &difference);
    if (difference.kind == DIFFERENCE_DTYPE)
        return fault_set(
            fault, FAULT_INVALID_PARAMS, "/dst/file",
            "dst.file: %s holds %s, but the source holds %s; an update keeps the dtype",
            r->before.shown, dtype_of_header(before)->name, dtype_of_header(src)->name);
    if (before->rank != src->rank)
        return fault_set(fault, FAULT_INVALID_PARAMS, "/dst/file",
                         "dst.file: %s has %" PRIu32 " dimensions, but the source has %" PRIu32,
                         r->before.shown, before->rank, src->rank);
    return 0;
}

/* Returns whether the path still names the open file. */
static bool is_current(const struct tensor_file *file)
{
    struct stat now;

    return stat(file->path, &now) == 0 && now.st_dev == file->stat.st_dev &&
           now.st_ino == file->stat.st_ino;
}

/* Opens and locks the file; opens it again if another job has replaced it meanwhile. No other job
 * can update the file until it is closed. */
static int open_locked(struct tensor_file *file, const struct tensor_spec *ref, const char *path,
                       struct fault *fault)
{
    for (;;) {
        if (open_tensor(file, NULL, ref, path, fault))
            return blame(fault, "dst");
        if (regular_lock(file->fd, fault))
            return -1;
        if (is_current(file))
            return 0;
        tensor_file_close(file);
    }
}

static int open_updated(struct resolved *r, const struct produced *produced, struct fault *fault)
{
    const struct tensor_spec *ref = &r->job->dst;

    if (!produced)
        return open_locked(&r->before, ref, r->dst_path, fault);
    return open_tensor(&r->before, produced, ref, r->dst_path, fault) ? blame(fault, "dst") : 0;
}

static int open_before(struct resolved *r, const struct produced *produced, struct fault *fault)
{
    const struct tensor_spec *ref = &r->job->dst;
    const struct dtype *dtype = dtype_of_header(&r->src.header);

    if (r->dst_buffer)
        return describe_buffer(&r->before, r->dst_buffer, ref, dtype, fault) ? blame(fault, "dst")
                                                                             : 0;
    if (!ref->update)
        return 0;
    if (open_updated(r, produced, fault))
        return -1;
    if (r->before.format == FILE_FORMAT_RAW && ref->desc.rank == 0) {
        /* Reads the file as raw bytes, even if an earlier job has written a tensor to it. */
        r->before.header = (struct npy_header){.rank = 0};
        return 0;
    }
    if (r->before.format == FILE_FORMAT_RAW && describe_raw(&r->before, ref, dtype, fault))
        return blame(fault, "dst");
    return check_before(r, fault);
}

/* A raw golden file has exactly the content of the output: the elements of a .npy output without
 * its header, or the whole raw output. */
static int describe_raw_expect(struct resolved *r, struct fault *fault)
{
    struct npy_header header = r->whole.header;

    if (tensor_file_content(&r->expect) != tensor_file_content(&r->whole))
        return 0; /* rank 0: compare_outlines() reports the sizes */
    if (r->whole.format != FILE_FORMAT_RAW)
        header.data_offset = 0;
    return tensor_file_set_raw(&r->expect, &header, r->whole.strides, fault);
}

static bool has_golden(const struct resolved *r, const struct produced *produced)
{
    const struct tensor_file *found = NULL;

    return (produced && (produced_find(produced, r->expect_path, &found) || found)) ||
           access(r->expect_path, F_OK) == 0 || errno != ENOENT;
}

/* Returns whether --update-golden can create the file: its directory exists, and no link has its
 * name. */
static bool can_be_written(const char *path)
{
    struct stat status;
    struct place place;

    return lstat(path, &status) && errno == ENOENT && place_of(path, &place);
}

/* A missing golden file is usual for a new job: the message names --update-golden. */
static int complain_golden(const struct resolved *r, const struct produced *produced,
                           struct fault *fault)
{
    blame(fault, "expect");
    if (fault->code == FAULT_CANCELLED || has_golden(r, produced) ||
        !can_be_written(r->expect_path) ||
        file_format_is_archive(tensor_spec_format(&r->job->expect.golden)))
        return -1;
    return fault_set(fault, fault->code, "/expect/file",
                     "%s; `mlictl batch --update-golden` writes it", fault->text);
}

static int open_expect(struct resolved *r, const struct produced *produced, struct fault *fault)
{
    if (r->job->expect.kind != EXPECT_FILE)
        return 0;
    if (produced && produced->without_golden && !has_golden(r, produced))
        return 0; /* --update-golden will write it */
    if (open_tensor(&r->expect, produced, &r->job->expect.golden, r->expect_path, fault))
        return complain_golden(r, produced, fault);
    if (r->expect.format == FILE_FORMAT_RAW && describe_raw_expect(r, fault))
        return blame(fault, "expect");
    return 0;
}

static int check_output(const char *output, const char *member, const char *input, const char *what,
                        struct fault *fault)
{
    if (!output || !input || !place_same_file(output, input))
        return 0;
    char pointer[32], shown[PRINT_PATH_MAX];
    snprintf(pointer, sizeof(pointer), "/dst/%s", member);
    return fault_set(fault, FAULT_INVALID_PARAMS, pointer,
                     "dst.%s: %s is the same file as %s; an output must be a file of its own",
                     member, print_path(shown, output), what);
}

static int check_distinct(const struct resolved *r, const struct job_file *file,
                          struct fault *fault)
{
    const struct {
        const char *path, *what;
    } inputs[] = {{r->src_path, "src.file"},
                  {r->expect_path, "expect.file"},
                  {file->is_file ? file->path : NULL, "the job file"}};
    for (size_t i = 0; i < sizeof(inputs) / sizeof(inputs[0]); i++) {
        if (check_output(r->dst_path, "file", inputs[i].path, inputs[i].what, fault) ||
            check_output(r->params_path, "params", inputs[i].path, inputs[i].what, fault))
            return -1;
    }
    return check_output(r->params_path, "params", r->dst_path, "dst.file", fault);
}

static int make_path(char **out, const struct job_file *file, const char *path, struct fault *fault)
{
    if (!path)
        return 0;
    *out = job_file_path(file, path);
    return *out ? 0 : fault_no_memory(fault);
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
        return fault_no_memory(fault);
    return 0;
}

/* Checks the size of the request, which contains the per-axis parameters. */
static int check_wire(const struct resolved *r, struct fault *fault)
{
    struct jsonw w;
    struct fault why;

    jsonw_init(&w);
    job_wire_write(&w, NULL, &r->wire);
    const char *text = jsonw_text(&w);
    int status = 0;

    if (!text)
        status = fault_no_memory(fault);
    else if (json_check(text, w.length, &rpc_request_limits, &why) < 0)
        status = fault_set(fault, FAULT_INVALID_PARAMS, "/src",
                           "src: too many parameters for one request: %s", why.text);
    jsonw_finish(&w);
    return status;
}

static int begin_outputs(struct resolved *r, const struct produced *produced, struct fault *fault)
{
    int (*begin)(struct output *, const char *, const char *, struct fault *) =
        produced && produced->memory ? output_init_memory : output_init;

    if (r->dst_buffer)
        return 0;
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
    if (job->src.buffer)
        r->src_buffer = &file->list.buffers[job->src.buffer_index];
    if (job->dst.buffer)
        r->dst_buffer = &file->list.buffers[job->dst.buffer_index];
    if (make_paths(r, file, fault) || begin_wire(r, fault) || open_src(r, produced, fault) ||
        check_distinct(r, file, fault) || open_before(r, produced, fault) ||
        resolved_find_layout(r, fault) || open_expect(r, produced, fault) || check_wire(r, fault))
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
    if (r->job->expect.kind == EXPECT_ERROR || r->dst_buffer)
        return 0;
    int error = produced_add(produced, r->dst_path, &r->whole, -1);
    return error ? fault_set(fault, FAULT_IO_ERROR, NULL, "the output: %s", strerror(-error)) : 0;
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

/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "proto/file/job_file.h"
#include "proto/file/slice.h"
#include "proto/json/json.h"
#include "proto/wire/wire_limits.h"

/* The names of the jobs and of the buffers of a file, and the references to these names. */

struct named {
    const char *name;
    size_t index;
};

/* The named jobs, or the buffers, of a list, sorted by name, then by position. */
struct names {
    const struct job_list *list;
    bool buffers;
    struct named *sorted;
    size_t count;
};

static int by_name(const void *left, const void *right)
{
    const struct named *a = left, *b = right;
    int order = strcmp(a->name, b->name);

    return order ? order : (a->index > b->index) - (a->index < b->index);
}

static int complain(struct fault *fault, const char *pointer, const char *member, const char *text)
{
    char place[FAULT_POINTER_MAX];

    snprintf(place, sizeof place, "%s%s", pointer, member);
    return fault_set(fault, FAULT_INVALID_PARAMS, place, "%s", text);
}

static int no_memory(struct fault *fault)
{
    return fault_set(fault, FAULT_INTERNAL, NULL, "out of memory while ordering the jobs");
}

enum { PLACE_MAX = 48 }; /* bytes of the JSON pointer of a job or buffer */

/* Returns the JSON pointer of a job or buffer; `out` has space for it. */
static const char *pointer_of(const struct names *names, size_t index, char out[PLACE_MAX])
{
    if (!names->buffers)
        return names->list->jobs[index].pointer;
    snprintf(out, PLACE_MAX, "/buffers/%zu", index);
    return out;
}

static int check_unique(const struct names *names, struct fault *fault)
{
    for (size_t i = 1; i < names->count; i++) {
        const struct named *name = &names->sorted[i], *other = name - 1;
        char text[FAULT_TEXT_MAX], pointer[PLACE_MAX];

        if (strcmp(name->name, other->name) != 0)
            continue;
        snprintf(text, sizeof text, "name: \"%s\" is already the name of the %s %s", name->name,
                 names->buffers ? "buffer" : "job", pointer_of(names, other->index, pointer));
        return complain(fault, pointer_of(names, name->index, pointer), "/name", text);
    }
    return 0;
}

/* Sorts the names. Refuses a name that is given twice. The caller frees names->sorted, also after a
 * failure. */
static int names_init(struct names *names, const struct job_list *list, bool buffers,
                      struct fault *fault)
{
    const size_t count = buffers ? list->buffer_count : list->count;

    *names = (struct names){.list = list, .buffers = buffers};
    names->sorted = calloc(count + 1, sizeof *names->sorted);
    if (!names->sorted)
        return no_memory(fault);
    for (size_t i = 0; i < count; i++) {
        const char *name = buffers ? list->buffers[i].name : list->jobs[i].common.name;

        if (name)
            names->sorted[names->count++] = (struct named){name, i};
    }
    qsort(names->sorted, names->count, sizeof *names->sorted, by_name);
    return check_unique(names, fault);
}

static int by_key(const void *name, const void *entry)
{
    return strcmp(name, ((const struct named *)entry)->name);
}

static const struct named *find(const struct names *names, const char *name)
{
    return bsearch(name, names->sorted, names->count, sizeof *names->sorted, by_key);
}

/* Fills job->before. */
static int find_before(const struct names *names, struct job_spec *job, struct fault *fault)
{
    for (size_t i = 0; i < job->after_count; i++) {
        const struct named *found = find(names, job->after[i]);
        char member[32], text[FAULT_TEXT_MAX];

        snprintf(member, sizeof member, "/after/%zu", i);
        if (!found) {
            snprintf(text, sizeof text, "after[%zu]: no job of this file is named \"%s\"", i,
                     job->after[i]);
            return complain(fault, job->pointer, member, text);
        }
        job->before[i] = found->index;
        for (size_t k = 0; k < i; k++) {
            if (job->before[k] == job->before[i]) {
                snprintf(text, sizeof text, "after[%zu]: \"%s\" is given twice", i, job->after[i]);
                return complain(fault, job->pointer, member, text);
            }
        }
    }
    return 0;
}

/* A step of the depth-first search: a job, and the index of the next entry of its "after". */
struct step {
    size_t job, next;
};

enum mark { UNSEEN = 0, OPEN, DONE };

struct walk {
    struct job_list *list;
    unsigned char *marks; /* an enum mark for each job */
    struct step *steps;   /* the path of the search: each job waits for the next job of the path */
    size_t depth;
    size_t ordered; /* number of jobs in list->order */
};

/* Fills the fault with the names of the jobs of a cycle, which begins with the job `first`. */
static int complain_cycle(const struct walk *walk, size_t first, struct fault *fault)
{
    const struct job_spec *jobs = walk->list->jobs;
    const struct step *top = &walk->steps[walk->depth - 1];
    char member[32], text[FAULT_TEXT_MAX];
    size_t begin = walk->depth, length;

    while (walk->steps[--begin].job != first)
        ;
    length = (size_t)snprintf(text, sizeof text,
                              "after[%zu]: the job waits for itself: ", top->next - 1);
    for (size_t i = begin; i < walk->depth && length < sizeof text; i++)
        length += (size_t)snprintf(text + length, sizeof text - length, "%s after ",
                                   jobs[walk->steps[i].job].common.name);
    if (length < sizeof text)
        snprintf(text + length, sizeof text - length, "%s", jobs[first].common.name);
    snprintf(member, sizeof member, "/after/%zu", top->next - 1);
    return complain(fault, jobs[top->job].pointer, member, text);
}

/* Searches depth-first from one job; not recursive, because a chain of jobs can be very long. */
static int walk_from(struct walk *walk, size_t start, struct fault *fault)
{
    struct job_list *list = walk->list;

    if (walk->marks[start] != UNSEEN)
        return 0;
    walk->marks[start] = OPEN;
    walk->depth = 0;
    walk->steps[walk->depth++] = (struct step){.job = start};
    while (walk->depth > 0) {
        struct step *top = &walk->steps[walk->depth - 1];
        const struct job_spec *job = &list->jobs[top->job];
        size_t next;

        if (top->next == job->after_count) {
            walk->marks[top->job] = DONE;
            list->order[walk->ordered++] = top->job;
            walk->depth--;
            continue;
        }
        next = job->before[top->next++];
        if (walk->marks[next] == OPEN)
            return complain_cycle(walk, next, fault);
        if (walk->marks[next] == UNSEEN) {
            walk->marks[next] = OPEN;
            walk->steps[walk->depth++] = (struct step){.job = next};
        }
    }
    return 0;
}

/* Fills list->order. Fails if a job waits for itself. */
static int find_order(struct job_list *list, struct fault *fault)
{
    struct walk walk = {.list = list};
    size_t count = list->count;
    int status = -1;

    walk.marks = calloc(count, sizeof *walk.marks);
    walk.steps = calloc(count, sizeof *walk.steps);
    list->order = calloc(count, sizeof *list->order);
    if (!walk.marks || !walk.steps || !list->order) {
        no_memory(fault);
        goto out;
    }
    for (size_t i = 0; i < count; i++) {
        if (walk_from(&walk, i, fault) < 0)
            goto out;
    }
    status = 0;
out:
    free(walk.steps);
    free(walk.marks);
    return status;
}

/*
 * Orders the jobs. Requires that names are unique, that the entries of each "after" are unique and
 * name jobs of the list, and that no job waits for itself. Fault pointers are relative to the
 * file's root. Returns 0 or -1.
 */
static int order_jobs(struct job_list *list, struct fault *fault)
{
    struct names names;
    int status = names_init(&names, list, false, fault);

    for (size_t i = 0; i < list->count && status == 0; i++)
        status = find_before(&names, &list->jobs[i], fault);
    if (status == 0)
        status = find_order(list, fault);
    free(names.sorted);
    return status;
}

const struct json_limits job_file_limits = {
    .bytes = JOB_FILE_BYTES_MAX, .depth = JSON_DEPTH_MAX, .values = JOB_FILE_VALUES_MAX};

#define JOB_KEYS JOB_COMMON_KEYS, "slice", "stage", "src", "dst", "after", "expect"

static const char *const job_keys[] = {JOB_KEYS, NULL};
static const char *const root_job_keys[] = {JSON_SCHEMA_KEY, JOB_KEYS, NULL};
static const char *const default_keys[] = {"op",       "cfg",      "slice",      "stage",
                                           "channels", "priority", "timeout_ms", "src",
                                           "dst",      "expect",   NULL};

void job_spec_init(struct job_spec *job)
{
    *job = (struct job_spec){0};
    job_common_init(&job->common);
}

void job_spec_finish(struct job_spec *job)
{
    job_common_finish(&job->common);
    free(job->slice);
    for (size_t i = 0; i < job->after_count; i++)
        free(job->after[i]);
    free(job->after);
    free(job->before);
    tensor_spec_finish(&job->src);
    tensor_spec_finish(&job->dst);
    expectation_finish(&job->expect);
    job_spec_init(job);
}

void job_list_finish(struct job_list *list)
{
    for (size_t i = 0; i < list->count; i++)
        job_spec_finish(&list->jobs[i]);
    free(list->jobs);
    free(list->order);
    buffer_specs_finish(list->buffers, list->buffer_count);
    *list = (struct job_list){0};
}

/* One job */

/* Reads "slice" and checks its text. mlictl calls slice_apply() later, when the shape is known. */
static int read_slice(struct job_spec *job, const struct json *object)
{
    const struct cfg_lengths *lengths = &job->common.lengths;
    struct json value = json_member(object, "slice");
    struct fault why;
    struct slice slice;

    if (!json_present(&value))
        return 0;
    if (json_string_copy(&value, SLICE_TEXT_MAX, &job->slice) < 0)
        return -1;
    if (job->common.op == JOB_OP_PERMUTE)
        return json_complain(&value, "a permute takes cfg.perm_dim only; use \"op\": \"mov\"");
    if (lengths->offset || lengths->size || lengths->sub_sample_step)
        return json_complain(&value, "replaces cfg.%s; give only one of the two",
                             lengths->offset ? "offset"
                             : lengths->size ? "size"
                                             : "sub_sample_step");
    return slice_parse(job->slice, &slice, &why) < 0 ? json_complain(&value, "%s", why.text) : 0;
}

static int read_after(struct job_spec *job, const struct json *object)
{
    struct json after = json_member(object, "after"), item = {0};
    size_t count;

    if (!json_present(&after))
        return 0;
    if (array_within(&after, JOB_AFTER_MAX, &count) < 0)
        return -1;
    if (count == 0)
        return 0;
    job->after = calloc(count, sizeof *job->after);
    job->before = calloc(count, sizeof *job->before);
    if (!job->after || !job->before)
        return fault_set(object->fault, FAULT_INTERNAL, NULL, "no memory for %zu names", count);
    job->after_count = count;
    while (json_next(&after, &item)) {
        if (job_name_read(&item, &job->after[item.index]) < 0)
            return -1;
    }
    return 0;
}

static int read_job(struct job_spec *job, const struct json *object)
{
    struct json src, dst, expect, src_defaults, dst_defaults;

    json_pointer(object, job->pointer, sizeof job->pointer);
    if (json_object(object, object->parent ? job_keys : root_job_keys) < 0 ||
        json_check_schema(object) < 0 ||
        job_common_read(&job->common, object, TENSOR_RANK_MAX) < 0 ||
        member_require(object, "op", "\"mov\" or \"permute\" is required") < 0)
        return -1;
    if (read_slice(job, object) < 0 || memory_member_read(object, "stage", job->stage) < 0)
        return -1;
    src = json_member_merged(object, "src", &src_defaults);
    dst = json_member_merged(object, "dst", &dst_defaults);
    expect = json_member(object, "expect");
    if (tensor_spec_read_src(&job->src, &src) < 0 ||
        tensor_spec_read_dst(&job->dst, &job->src, &dst) < 0 ||
        expectation_read(&job->expect, &expect) < 0 || read_after(job, object) < 0)
        return -1;
    if (job->expect.kind == EXPECT_ERROR)
        return 0; /* a wrong rank may be the expected error: mlictl checks the rank when running the
                     job */
    if (job_check_rank(&job->common, &job->dst.desc, job->src.desc.rank, object->fault) < 0) {
        fault_prefix(object->fault, job->pointer);
        return -1;
    }
    return 0;
}

/* Checks each member of "defaults" alone: whether members agree is checked for each job, because a
 * job may replace some of them. */
static int check_defaults(const struct json *object)
{
    static const char *const keys[] = {"src", "dst"};
    static const char *const *const allowed[] = {tensor_spec_src_keys, tensor_spec_dst_keys};
    struct json expect = json_member(object, "expect");
    struct job_spec scratch;
    int status = -1;

    job_spec_init(&scratch);
    if (json_object(object, default_keys) < 0 ||
        job_common_read(&scratch.common, object, TENSOR_RANK_MAX) < 0 ||
        read_slice(&scratch, object) < 0 || memory_member_read(object, "stage", scratch.stage) < 0)
        goto out;
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
        struct json tensor = json_member(object, keys[i]);

        if (json_present(&tensor) && (json_object(&tensor, allowed[i]) < 0 ||
                                      tensor_spec_read_place(&scratch.src, &tensor) < 0 ||
                                      tensor_desc_check_members(&tensor) < 0))
            goto out;
    }
    status = expectation_check_members(&expect);
out:
    job_spec_finish(&scratch);
    return status;
}

/* Reading and writing job files. */

/* Appends the pointer of the job to the message of a fault in "defaults". */
static void name_job(struct fault *fault, const struct job_spec *job)
{
    static const char defaults[] = "/defaults";

    if (fault->has_pointer && strncmp(fault->pointer, defaults, sizeof defaults - 1) == 0)
        fault_set(fault, fault->code, fault->pointer, "%s (for the job %s)", fault->text,
                  job->pointer);
}

/* Limits the number of quantisation parameters of all jobs: each job copies those of "defaults". */
static int count_entries(const struct job_spec *job, size_t *entries, struct fault *fault)
{
    *entries += job->src.desc.quant.count + job->dst.desc.quant.count;
    if (*entries > JOB_FILE_QUANT_MAX)
        return fault_set(fault, FAULT_LIMIT, job->pointer,
                         "the jobs up to this one have more than %d quantisation parameters",
                         JOB_FILE_QUANT_MAX);
    return 0;
}

static int read_jobs(struct job_list *list, const struct json *array, const struct json *defaults)
{
    struct json item = {0};
    size_t count, entries = 0;

    if (json_array(array, &count) < 0)
        return -1;
    if (count == 0)
        return json_complain(array, "at least one job is required");
    if (count > JOB_FILE_JOBS_MAX)
        return json_complain(array, "%zu jobs given; at most %d are allowed", count,
                             JOB_FILE_JOBS_MAX);
    list->jobs = calloc(count, sizeof *list->jobs);
    if (!list->jobs)
        return fault_set(array->fault, FAULT_INTERNAL, NULL, "no memory for %zu jobs", count);
    while (json_next(array, &item)) {
        struct job_spec *job = &list->jobs[list->count++];

        job_spec_init(job);
        item.base = true;
        item.defaults = defaults;
        if (read_job(job, &item) < 0) {
            name_job(array->fault, job);
            return -1;
        }
        if (count_entries(job, &entries, array->fault) < 0)
            return -1;
    }
    return 0;
}

static int read_single(struct job_list *list, const struct json *object)
{
    list->jobs = calloc(1, sizeof *list->jobs);
    if (!list->jobs)
        return fault_set(object->fault, FAULT_INTERNAL, NULL, "no memory for a job");
    list->count = 1;
    job_spec_init(list->jobs);
    return read_job(list->jobs, object);
}

static int read_file(struct job_list *list, const struct json *root)
{
    static const char *const keys[] = {JSON_SCHEMA_KEY, "defaults", "buffers", "jobs", NULL};
    struct json defaults = json_member(root, "defaults"), jobs = json_member(root, "jobs");
    struct json buffers = json_member(root, "buffers");

    if (json_is_array(root))
        return read_jobs(list, root, NULL);
    if (!json_present(&defaults) && !json_present(&jobs) && !json_present(&buffers))
        return read_single(list, root);
    if (json_object(root, keys) < 0 || json_check_schema(root) < 0 ||
        buffer_specs_read(&buffers, &list->buffers, &list->buffer_count) < 0)
        return -1;
    if (!json_present(&defaults))
        return read_jobs(list, &jobs, NULL);
    defaults.base = true;
    if (check_defaults(&defaults) < 0)
        return -1;
    return read_jobs(list, &jobs, &defaults);
}

/* Returns the buffer name that is most like an unknown one, or null. */
static const char *nearest_buffer(const struct job_list *list, const char *name)
{
    const char **names = calloc(list->buffer_count + 1, sizeof *names);
    const char *nearest;

    for (size_t i = 0; names && i < list->buffer_count; i++)
        names[i] = list->buffers[i].name;
    nearest = names ? nearest_word(name, names) : NULL;
    free(names);
    return nearest;
}

static int complain_buffer(const struct job_list *list, const char *pointer, const char *side,
                           const char *name, struct fault *fault)
{
    const char *nearest = nearest_buffer(list, name);

    if (list->buffer_count == 0)
        return fault_set(fault, FAULT_INVALID_PARAMS, pointer,
                         "%s.buffer: \"%s\" given, but the file has no \"buffers\" (in the form "
                         "{\"buffers\": [...], \"jobs\": [...]})",
                         side, name);
    return fault_set(fault, FAULT_INVALID_PARAMS, pointer,
                     "%s.buffer: no buffer of this file is named \"%s\"%s%s%s", side, name,
                     nearest ? "; did you mean \"" : "", nearest ? nearest : "",
                     nearest ? "\"?" : "");
}

/* Finds the buffer that a tensor names. `side`: "src" or "dst". */
static int find_buffer(struct tensor_spec *spec, const struct names *buffers,
                       const struct job_spec *job, const char *side, struct fault *fault)
{
    const struct named *found = spec->buffer ? find(buffers, spec->buffer) : NULL;
    char pointer[FAULT_POINTER_MAX];

    if (found)
        spec->buffer_index = found->index;
    if (found || !spec->buffer)
        return 0;
    snprintf(pointer, sizeof pointer, "%s/%s/buffer", job->pointer, side);
    return complain_buffer(buffers->list, pointer, side, spec->buffer, fault);
}

/* Refuses an expected file or digest if dst is a buffer: mlictl compares only output files. */
static int check_expected(const struct job_spec *job, struct fault *fault)
{
    const bool file = job->expect.kind == EXPECT_FILE;
    char pointer[FAULT_POINTER_MAX];

    if (!job->dst.buffer || (!file && job->expect.kind != EXPECT_DIGEST))
        return 0;
    snprintf(pointer, sizeof pointer, "%s/expect/%s", job->pointer, file ? "file" : "digest");
    return fault_set(fault, FAULT_INVALID_PARAMS, pointer,
                     "expect.%s: dst is a buffer, which is not saved; put \"expect\" into the job "
                     "that writes \"%s\" to a file",
                     file ? "file" : "digest", job->dst.buffer);
}

/* Finds the buffers that the jobs name, after all buffers and jobs were read. */
static int find_buffers(struct job_list *list, struct fault *fault)
{
    struct names buffers;
    int status = names_init(&buffers, list, true, fault);

    for (size_t i = 0; i < list->count && status == 0; i++) {
        struct job_spec *job = &list->jobs[i];

        if (find_buffer(&job->src, &buffers, job, "src", fault) < 0 ||
            find_buffer(&job->dst, &buffers, job, "dst", fault) < 0 ||
            check_expected(job, fault) < 0)
            status = -1;
    }
    free(buffers.sorted);
    return status;
}

int job_file_parse(const char *text, size_t length, struct job_list *list, struct fault *fault)
{
    struct json root;
    int status;

    *list = (struct job_list){0};
    if (json_parse(text, length, &job_file_limits, &root, fault) < 0)
        return -1;
    status = read_file(list, &root);
    json_free(&root);
    if (status == 0)
        status = order_jobs(list, fault);
    if (status == 0)
        status = find_buffers(list, fault);
    if (status < 0)
        job_list_finish(list);
    return status;
}

/* Writing */

/* Writes the members that job_file_parse() accepts: a .npy file has a shape only if the job makes
 * the tensor, and never strides. */
static void write_tensor(struct jsonw *w, const char *key, const struct tensor_spec *spec,
                         struct tensor_desc shown, bool makes)
{
    jsonw_object_begin(w, key);
    tensor_spec_write_place(w, spec);
    if (tensor_spec_format(spec) != FILE_FORMAT_RAW) {
        if (!makes)
            shown.rank = 0;
        shown.has_strides = false;
    } else if (spec->offset != 0) {
        jsonw_uint(w, "offset", spec->offset);
    }
    tensor_desc_write(w, &shown);
    jsonw_object_end(w);
}

void job_file_write(struct jsonw *w, const char *key, const struct job_spec *job)
{
    struct tensor_desc dst = job->dst.desc;

    jsonw_object_begin(w, key);
    job_common_write(w, job->common.name, &job->common);
    if (job->slice)
        jsonw_string(w, "slice", job->slice);
    if (job->stage[0] != '\0')
        jsonw_string(w, "stage", job->stage);
    write_tensor(w, "src", &job->src, job->src.desc, false);
    dst.has_type = false; /* dst has the type of src */
    write_tensor(w, "dst", &job->dst, dst, tensor_spec_makes(&job->dst));
    if (job->after_count > 0) {
        jsonw_array_begin(w, "after");
        for (size_t i = 0; i < job->after_count; i++)
            jsonw_string(w, NULL, job->after[i]);
        jsonw_array_end(w);
    }
    expectation_write(w, "expect", &job->expect);
    jsonw_object_end(w);
}

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * mlictl optimise: any job file is optimised or refused, and the new jobs must write the same bytes
 * as the old jobs (optimise proves this; a failed proof is a finding). The new file has not more
 * jobs than the old one, the parser of job files accepts it, and it can be optimised again.
 *
 * Input: options, the number of jobs, then for each job its source, cfg and destination. Sources
 * are files, or tensors that earlier jobs wrote to buffers and files, sometimes read in another
 * shape. If the first byte is 255, the rest is the text of the job file.
 */
#include <inttypes.h>
#include <stdio.h>

#include "proto/file/job_file.h"
#include "proto/json/jsonw.h"
#include "tests/fuzz/fuzz.h"
#include "tests/fuzz/fuzz_mlictl.h"
#include "tests/fuzz/fuzz_reader.h"
#include "tests/fuzz/fuzz_scratch.h"
#include "tests/fuzz/well_formed.h"

enum { JOBS_MAX = 8, BUFFERS = 3, BUFFER_BYTES = 4096 };

/* A tensor that a job can read. */
struct tensor {
    char place[16];
    bool is_buffer;
    bool made; /* a file, of which each job writes a part ("shape" in "dst") */
    uint32_t offset, rank, shape[MLI_MAX_RANK];
};

struct program {
    struct fuzz_reader reader;
    struct jsonw w;
    struct tensor tensors[JOBS_MAX + 2];
    uint32_t count;
};

static void write_array(struct jsonw *w, const char *key, uint32_t count, const uint32_t *values)
{
    jsonw_array_begin(w, key);
    for (uint32_t i = 0; i < count; i++)
        jsonw_uint(w, NULL, values[i]);
    jsonw_array_end(w);
}

/* Joins or splits dimensions of a tensor; rarely reads another part of it. */
static struct tensor reshape(struct fuzz_reader *reader, struct tensor tensor)
{
    const uint32_t d = fuzz_below(reader, tensor.rank);

    if (d + 1 < tensor.rank && fuzz_rarely(reader)) {
        tensor.shape[d] *= tensor.shape[d + 1];
        memmove(&tensor.shape[d + 1], &tensor.shape[d + 2],
                (MLI_MAX_RANK - d - 2) * sizeof tensor.shape[0]);
        tensor.rank--;
    } else if (tensor.rank < MLI_MAX_RANK && tensor.shape[d] % 2 == 0 && fuzz_rarely(reader)) {
        memmove(&tensor.shape[d + 1], &tensor.shape[d],
                (MLI_MAX_RANK - d - 1) * sizeof tensor.shape[0]);
        tensor.shape[d] = 2;
        tensor.shape[d + 1] /= 2;
        tensor.rank++;
    }
    if (fuzz_rarely(reader))
        tensor.offset += fuzz_below(reader, 16);
    return tensor;
}

static bool is_npy(const struct tensor *tensor)
{
    return strstr(tensor->place, ".npy") != NULL;
}

static struct tensor write_source(struct program *p)
{
    struct tensor tensor = p->tensors[fuzz_below(&p->reader, p->count)];
    struct jsonw *w = &p->w;

    if (!is_npy(&tensor))
        tensor = reshape(&p->reader, tensor);
    jsonw_object_begin(w, "src");
    jsonw_string(w, tensor.is_buffer ? "buffer" : "file", tensor.place);
    if (!is_npy(&tensor)) {
        jsonw_string(w, "type", fuzz_rarely(&p->reader) ? "fx16" : "fx8");
        write_array(w, "shape", tensor.rank, tensor.shape);
        jsonw_uint(w, "offset", tensor.offset);
    }
    jsonw_object_end(w);
    return tensor;
}

/*
 * Writes the arrays of cfg, and replaces `tensor` by the result of the move. Most of these moves
 * are legal.
 */
static void write_cfg(struct program *p, struct tensor *tensor)
{
    struct fuzz_reader *reader = &p->reader;
    const uint32_t rank = tensor->rank, turn = fuzz_below(reader, rank);
    const bool permutes = fuzz_u8(reader) & 1;
    uint32_t pre[MLI_MAX_RANK], post[MLI_MAX_RANK], offset[MLI_MAX_RANK], step[MLI_MAX_RANK];
    uint32_t size[MLI_MAX_RANK], perm[MLI_MAX_RANK];
    struct tensor result = *tensor;

    for (uint32_t d = 0; d < rank; d++) {
        const uint8_t how = fuzz_u8(reader);

        pre[d] = how & 1 ? fuzz_below(reader, 256) % (how & 2 ? 256 : 4) : 0;
        post[d] = how & 4 ? fuzz_below(reader, 4) : 0;
        const uint32_t padded = tensor->shape[d] + pre[d] + post[d];
        offset[d] = how & 8 ? fuzz_below(reader, padded) : 0;
        size[d] = how & 16 ? 1 + fuzz_below(reader, padded - offset[d]) : 0;
        step[d] = how & 32 ? 1 + fuzz_below(reader, 4) : 1;
        perm[d] = permutes ? (d + turn) % rank : d;
        result.shape[d] = ((size[d] ? size[d] : padded - offset[d]) + step[d] - 1) / step[d];
    }
    jsonw_object_begin(&p->w, "cfg");
    write_array(&p->w, "padding_pre", rank, pre);
    write_array(&p->w, "padding_post", rank, post);
    write_array(&p->w, "offset", rank, offset);
    write_array(&p->w, "size", rank, size);
    write_array(&p->w, "sub_sample_step", rank, step);
    write_array(&p->w, "perm_dim", rank, perm);
    for (uint32_t d = 0; d < rank; d++)
        tensor->shape[d] = result.shape[perm[d]];
    if (fuzz_rarely(reader)) {
        for (uint32_t d = 0; d < rank; d++) {
            offset[d] = fuzz_below(reader, 3);
            tensor->shape[d] += offset[d];
        }
        write_array(&p->w, "dst_offset", rank, offset);
    }
    jsonw_object_end(&p->w);
}

/* Returns the latest tensor made of parts that has space for the result, or null. */
static const struct tensor *find_made(const struct program *p, const struct tensor *result)
{
    for (uint32_t i = p->count; i-- > 0;) {
        const struct tensor *made = &p->tensors[i];
        bool fits = made->made && made->rank == result->rank;

        for (uint32_t d = 0; d < result->rank && fits; d++)
            fits = result->shape[d] <= made->shape[d];
        if (fits)
            return made;
    }
    return NULL;
}

/* Writes "file" of a destination: a new file, or a part of a tensor. */
static void write_file_name(struct program *p, uint32_t job, uint8_t how, struct tensor *result)
{
    const struct tensor *made = how & 8 ? find_made(p, result) : NULL;

    result->made = how & 16;
    snprintf(result->place, sizeof result->place, "o%u.%s", job, how & 32 ? "npy" : "bin");
    if (made)
        *result = *made;
    else
        result->shape[0] += result->made;
    jsonw_string(&p->w, "file", result->place);
    if (result->made)
        write_array(&p->w, "shape", result->rank, result->shape);
}

static void write_destination(struct program *p, uint32_t job, struct tensor *result)
{
    const uint8_t how = fuzz_u8(&p->reader);
    struct jsonw *w = &p->w;

    result->is_buffer = how % 4 != 0;
    result->offset = result->is_buffer && how & 64 ? how >> 4 : 0;
    jsonw_object_begin(w, "dst");
    result->made = false;
    if (result->is_buffer) {
        snprintf(result->place, sizeof result->place, "b%u", how % BUFFERS);
        jsonw_string(w, "buffer", result->place);
        jsonw_uint(w, "offset", result->offset);
    } else {
        write_file_name(p, job, how, result);
    }
    jsonw_object_end(w);
}

static void write_job(struct program *p, uint32_t job)
{
    struct tensor tensor;
    char name[16];

    jsonw_object_begin(&p->w, NULL);
    jsonw_string(&p->w, "op", "mov");
    snprintf(name, sizeof name, "j%u", job);
    jsonw_string(&p->w, "name", name);
    tensor = write_source(p);
    write_cfg(p, &tensor);
    write_destination(p, job, &tensor);
    if (job > 0 && fuzz_u8(&p->reader) & 1) {
        snprintf(name, sizeof name, "j%u", fuzz_below(&p->reader, job));
        jsonw_array_begin(&p->w, "after");
        jsonw_string(&p->w, NULL, name);
        jsonw_array_end(&p->w);
    }
    jsonw_object_end(&p->w);
    p->tensors[p->count++] = tensor;
}

static void write_file(struct program *p)
{
    const uint32_t jobs = 1 + fuzz_below(&p->reader, JOBS_MAX);
    char name[16];

    p->tensors[0] = (struct tensor){"in.npy", .rank = 3, .shape = {6, 10, 8}};
    p->tensors[1] = (struct tensor){"in.bin", .rank = 3, .shape = {6, 10, 8}};
    p->count = 2;
    jsonw_init(&p->w);
    jsonw_object_begin(&p->w, NULL);
    jsonw_array_begin(&p->w, "buffers");
    for (uint32_t i = 0; i < BUFFERS; i++) {
        snprintf(name, sizeof name, "b%u", i);
        jsonw_object_begin(&p->w, NULL);
        jsonw_string(&p->w, "name", name);
        jsonw_uint(&p->w, "bytes", BUFFER_BYTES);
        jsonw_object_end(&p->w);
    }
    jsonw_array_end(&p->w);
    jsonw_array_begin(&p->w, "jobs");
    for (uint32_t i = 0; i < jobs; i++)
        write_job(p, i);
    jsonw_array_end(&p->w);
    jsonw_object_end(&p->w);
    FUZZ_ASSERT(jsonw_text(&p->w));
    scratch_write("job.json", p->w.data, p->w.length);
    jsonw_finish(&p->w);
}

static size_t jobs_of(const char *file)
{
    struct job_list list;
    struct fault fault;
    size_t length, count;
    char *text = scratch_read(file, &length);

    FUZZ_ASSERT(text && job_file_parse(text, length, &list, &fault) == 0);
    count = list.count;
    job_list_finish(&list);
    free(text);
    return count;
}

/*
 * Returns whether a line of the messages says that the new jobs are wrong. Only the start of a line
 * counts, because libFuzzer writes the words that a target compares with into its inputs, and a
 * message can repeat a name of the input.
 */
static bool is_defect(const char *messages, const char *file)
{
    char begin[64];
    const int length = snprintf(begin, sizeof begin, "mlictl: %s: the new job", file);

    for (const char *line = messages; line; line = strchr(line, '\n')) {
        line += *line == '\n';
        if (strncmp(line, begin, (size_t)length) == 0)
            return true;
    }
    return false;
}

/* Returns whether the file was optimised. */
static bool optimise(const char *from, const char *to, uint8_t how)
{
    const char *words[12] = {"optimise", "--limit-bytes", "1000000", "-f", "-o", to, from};
    size_t count = 7;
    struct mlictl_call call;
    bool done;

    if (how & 1)
        words[count++] = "--json";
    if (how & 2)
        words[count++] = "--all-intermediates";
    if (how & 4)
        words[count++] = "--raw";
    call = mlictl_run(words);
    if (how & 1)
        well_formed_json_lines(call.out, call.out_length);
    FUZZ_ASSERT(!is_defect(call.err, from));
    done = call.code == 0;
    mlictl_finish(&call);
    return done;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct program program;
    uint8_t how;

    scratch_write_inputs();
    program = (struct program){.reader = fuzz_reader_init(data, size)};
    how = fuzz_u8(&program.reader);
    if (how == 255)
        scratch_write("job.json", program.reader.at, fuzz_left(&program.reader));
    else
        write_file(&program);
    if (optimise("job.json", "new.json", how)) {
        FUZZ_ASSERT(jobs_of("new.json") <= jobs_of("job.json"));
        FUZZ_ASSERT(optimise("new.json", "newer.json", how));
        FUZZ_ASSERT(jobs_of("newer.json") <= jobs_of("new.json"));
    }
    scratch_remove("new.json");
    scratch_remove("newer.json");
    return 0;
}

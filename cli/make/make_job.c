/* SPDX-License-Identifier: BSD-3-Clause */
#include "cli/make/make_job.h"

#include <stdlib.h>
#include <string.h>

#include "cli/make/layout_words.h"
#include "cli/make/number_list.h"
#include "cli/tensor/tensor_args.h"
#include "cli/term/print.h"
#include "proto/file/sha256_text.h"
#include "proto/file/slice.h"
#include "proto/json/utf8.h"

static const char *const type_words[] = {"fx8", "fx16", "sa8", "sa32", "fp16", "fp32", NULL};
const struct value make_type_value = {VALUE_WORD, type_words};

static int copy(char **out, const char *text)
{
    *out = strdup(text);
    if (!*out)
        print_error("out of memory");
    return *out ? 0 : -1;
}

/* JSON cannot hold every name that a file can have. */
static int copy_path(char **out, const char *path)
{
    size_t left = strlen(path), size;
    for (const char *c = path; left > 0; c += size, left -= size) {
        size = utf8_char(c, left);
        if (size == 0) {
            struct fault fault; /* whose text is harmless */
            fault_set(&fault, FAULT_INVALID_PARAMS, NULL,
                      "%s: the name is not UTF-8, and cannot stand in a job file", path);
            print_error("%s", fault.text);
            return -1;
        }
    }
    return copy(out, path);
}

static int read_pad(const struct options *options, struct job_spec *job)
{
    static const struct number_rule rule = {"pad", 0, UINT8_MAX, true, "0,1,1 or 0,1:2,1"};
    struct number_list list;
    if (number_list_parse(options, &rule, &list))
        return -1;
    for (uint32_t i = 0; i < list.count; i++) {
        job->common.cfg.padding_pre[i] = (uint8_t)list.first[i];
        job->common.cfg.padding_post[i] = (uint8_t)list.second[i];
    }
    job->common.lengths.padding_pre = job->common.lengths.padding_post = (uint8_t)list.count;
    return 0;
}

static int read_layouts(const char *text, struct job_spec *job)
{
    struct layout_words words;
    char why[LAYOUT_WORDS_WHY_MAX];
    if (layout_words_parse(text, &words, why)) {
        print_error("--perm %s: %s", text, why);
        return -1;
    }
    memcpy(job->common.cfg.perm_dim, words.perm, words.count);
    job->common.lengths.perm_dim = (uint8_t)words.count;
    return 0;
}

/* Negative dimensions count from the last, as in NumPy. */
static int read_perm(const struct options *options, struct job_spec *job)
{
    static const struct number_rule rule = {"perm", -MLI_MAX_RANK, MLI_MAX_RANK - 1, false,
                                            "2,0,1"};
    struct number_list list;
    const char *text = options_get(options, "perm");
    if (text && layout_words_given(text))
        return read_layouts(text, job);
    if (number_list_parse(options, &rule, &list))
        return -1;
    uint32_t seen = 0;
    for (uint32_t i = 0; i < list.count; i++) {
        int64_t d = list.first[i] < 0 ? list.first[i] + list.count : list.first[i];
        if (d < 0 || d >= list.count || seen & UINT32_C(1) << d) {
            print_error("--perm %s: each dimension from 0 to %u is needed once",
                        options_get(options, "perm"), list.count - 1);
            return -1;
        }
        seen |= UINT32_C(1) << d;
        job->common.cfg.perm_dim[i] = (uint8_t)d;
    }
    job->common.lengths.perm_dim = (uint8_t)list.count;
    if (job->common.op == JOB_OP_PERMUTE && list.count == 0) {
        print_error("a permute requires --perm, as in --perm 2,0,1");
        return -1;
    }
    return 0;
}

static int read_at(const struct options *options, struct job_spec *job)
{
    static const struct number_rule rule = {"at", 0, UINT32_MAX, false, "0,4,0"};
    struct number_list list;
    if (number_list_parse(options, &rule, &list))
        return -1;
    for (uint32_t i = 0; i < list.count; i++)
        job->common.cfg.dst_offset[i] = (uint32_t)list.first[i];
    job->common.lengths.dst_offset = (uint8_t)list.count;
    return 0;
}

static int read_slice(const struct options *options, struct job_spec *job)
{
    const char *text = options_get(options, "slice");
    struct slice slice;
    struct fault fault;
    if (!text)
        return 0;
    if (slice_parse(text, &slice, &fault)) {
        print_error("--slice %s: %s", text, fault.text);
        return -1;
    }
    return copy(&job->slice, text);
}

/* A permute takes nothing of a move but its permutation. */
static int check_op(const struct options *options, const struct job_spec *job)
{
    static const char *const of_mov[] = {"slice", "pad", "at"};
    for (size_t i = 0; i < sizeof(of_mov) / sizeof(of_mov[0]); i++) {
        if (job->common.op == JOB_OP_PERMUTE && options_get(options, of_mov[i])) {
            print_error("--%s: a permute takes --perm only; use make mov", of_mov[i]);
            return -1;
        }
    }
    return 0;
}

/* What only raw files, or only archives, are told. */
static int check_format(const struct options *options, const struct tensor_spec *src)
{
    bool raw = tensor_spec_format(src) == FILE_FORMAT_RAW;
    const char *shape = options_get(options, "shape");
    if (!raw && (shape || options_get(options, "offset"))) {
        print_error("--%s describes raw files; %s says itself what it holds",
                    shape ? "shape" : "offset", src->file);
        return -1;
    }
    if (raw && (!shape || !options_get(options, "type"))) {
        print_error("%s: a raw file does not say what it holds: give --shape and --type",
                    src->file);
        return -1;
    }
    if (src->tensor && !file_format_is_archive(tensor_spec_format(src))) {
        print_error("--tensor: %s is no .npz or .safetensors file", src->file);
        return -1;
    }
    return 0;
}

static int read_src(const struct options *options, const char *in, struct job_spec *job)
{
    const char *type = options_get(options, "type"), *shape = options_get(options, "shape");
    const char *tensor = options_get(options, "tensor");
    struct tensor_desc *desc = &job->src.desc;
    struct npy_header header = {.rank = 0};
    if (copy_path(&job->src.file, in) || (tensor && copy_path(&job->src.tensor, tensor)))
        return -1;
    size_t word = 0;
    if (options_choice(options, "type", &word))
        return -1;
    desc->has_type = type && element_type_from_name(type_words[word], &desc->type);
    if ((shape && tensor_args_shape(shape, &header)) ||
        options_uint(options, "offset", 0, (UINT64_C(1) << 53) - 1, &job->src.offset))
        return -1;
    desc->rank = header.rank;
    memcpy(desc->shape, header.shape, sizeof(desc->shape));
    return check_format(options, &job->src);
}

static int read_expect(const struct options *options, struct job_spec *job)
{
    const char *text = options_get(options, "expect");
    struct expectation *expect = &job->expect;
    if (!text)
        return 0;
    bool digest = digest_from_text(text, expect->digest);
    if (!digest && strncmp(text, "sha256:", strlen("sha256:")) == 0) {
        print_error("--expect %s: \"sha256:\" and 64 hexadecimal digits are needed; a file of this "
                    "name is ./%s",
                    text, text);
        return -1;
    }
    expect->kind = digest ? EXPECT_DIGEST : EXPECT_FILE;
    return digest ? 0 : copy_path(&expect->golden.file, text);
}

/* What is left is checked when the text is read back. */
static int read_rest(const struct options *options, const char *out, struct job_spec *job)
{
    const char *name = options_get(options, "name");
    uint64_t channels = 1;
    if (options_uint(options, "channels", 1, MLI_MOV_MAX_CHANNELS, &channels))
        return -1;
    job->common.channels = (uint32_t)channels;
    job->dst.update = options_get(options, "update") != NULL;
    if (copy_path(&job->dst.file, out))
        return -1;
    return name ? copy(&job->common.name, name) : 0;
}

int make_job(const struct make_request *request, struct job_spec *job)
{
    const struct options *options = request->options;
    job_spec_init(job);
    job->common.op = request->op;
    if (check_op(options, job) || read_pad(options, job) || read_perm(options, job) ||
        read_at(options, job) || read_slice(options, job) || read_src(options, request->in, job) ||
        read_expect(options, job) || read_rest(options, request->out, job))
        return -1;
    return 0;
}

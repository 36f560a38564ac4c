/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/explain/c_code.h"
#include "cli/file/output.h"
#include "cli/file/place.h"
#include "cli/job/explained.h"
#include "cli/job/outcome.h"
#include "cli/job/resolve.h"
#include "cli/link/daemon_link.h"
#include "cli/link/embedded.h"
#include "cli/make/make_job.h"
#include "cli/make/relocate.h"
#include "cli/run/execute.h"
#include "cli/run/sequence.h"
#include "cli/tensor/tensor_file.h"
#include "cli/term/print.h"
#include "daemon/service.h"
#include "proto/file/job_spec.h"
#include "proto/file/slice.h"
#include "proto/json/utf8.h"

static bool is_missing(const char *path)
{
    return path && strcmp(path, "-") != 0 && access(path, F_OK) != 0 && errno == ENOENT;
}

/* Without a source, checks that all lists of the job have equal lengths. */
static int check_lists(const struct job_spec *job, struct fault *fault)
{
    const struct {
        const char *pointer, *name;
        uint32_t count;
    } lists[] = {
        {"/src/shape", "src.shape", job->src.desc.rank},
        {"/cfg/padding_pre", "cfg.padding_pre", job->common.lengths.padding_pre},
        {"/cfg/perm_dim", "cfg.perm_dim", job->common.lengths.perm_dim},
        {"/cfg/dst_offset", "cfg.dst_offset", job->common.lengths.dst_offset},
    };
    size_t first = 0, count = sizeof(lists) / sizeof(lists[0]);
    while (first < count && lists[first].count == 0)
        first++;
    if (first == count)
        return 0;
    for (size_t i = first + 1; i < count; i++) {
        if (lists[i].count > 0 && lists[i].count != lists[first].count)
            return fault_set(fault, FAULT_INVALID_PARAMS, lists[i].pointer,
                             "%s: %" PRIu32 " entries given, but %s has %" PRIu32, lists[i].name,
                             lists[i].count, lists[first].name, lists[first].count);
    }
    struct slice slice;
    struct fault why;
    if (job->slice && slice_parse(job->slice, &slice, &why) == 0 &&
        slice.count > lists[first].count)
        return fault_set(fault, FAULT_INVALID_PARAMS, "/slice",
                         "slice: %" PRIu32 " entries given, but %s has %" PRIu32, slice.count,
                         lists[first].name, lists[first].count);
    return 0;
}

/* Returns a copy of the first job of `file` that names only files which must exist: not the golden
 * file, and not the file that the job updates. Borrows the members from `file`. */
static struct job_spec existing(const struct job_file *file)
{
    struct job_spec job = file->list.jobs[0];

    if (is_missing(job.expect.golden.file))
        job.expect = (struct expectation){0};
    if (job.dst.update && is_missing(job.dst.file))
        job.dst.update = false;
    return job;
}

static int check_golden(const struct resolved *r, struct fault *fault)
{
    char text[COMPARE_TEXT_MAX];
    struct outcome outcome = {.verdict = VERDICT_NONE};

    outcome_judge_plan(r, &outcome);
    if (outcome.verdict == VERDICT_NONE)
        return 0;
    difference_text(&outcome.difference, "the result", r->job->expect.golden.file, text);
    return fault_set(fault, FAULT_INVALID_PARAMS, "/expect", "expect: %s", text);
}

/*
 * Checks the first job of `file` against the tensors that exist. If the source is missing, checks
 * the lengths of the job's lists against one another. Returns 0 or -1.
 */
static int check_job(const struct job_file *file, struct fault *fault)
{
    static const struct produced nothing = {0};
    const struct job_spec job = existing(file);
    struct resolved r;

    if (is_missing(job.src.file))
        return check_lists(&job, fault);
    const bool failed = resolved_plan(&r, file, &job, &nothing, fault) || check_golden(&r, fault);
    resolved_finish(&r);
    return failed ? -1 : 0;
}

/* Returns the path of the job file, or null for standard output. */
static const char *target_of(const struct make_request *request)
{
    const char *path = options_get(request->options, "output");

    return path && strcmp(path, "-") != 0 ? path : NULL;
}

/* Writes the job with a line for each member; with --json the whole job in one line. */
static int write_text(struct jsonw *w, bool json, const struct job_spec *job, struct fault *fault)
{
    jsonw_init_lines(w, json ? 0 : 1);
    job_file_write(w, NULL, job);
    return jsonw_text(w) ? 0 : fault_no_memory(fault);
}

static void report_saved(const struct make_request *request, const char *path,
                         const struct job_spec *job)
{
    const struct print_style style = options_style(request->options);

    print_line(&style, "%s: %s %s %s %s", path,
               job->common.op == JOB_OP_PERMUTE ? "permute" : "mov", request->in,
               job->dst.update ? "into" : "->", request->out);
    if (!style.json)
        return;
    struct jsonw w;
    jsonw_init_object(&w);
    jsonw_string(&w, "file", path);
    job_file_write(&w, "job", job);
    print_object(&w);
}

/* Refuses to write the job file over a file that the job reads or writes. */
static int check_target(const char *path, const struct job_spec *job, struct fault *fault)
{
    const char *const files[] = {job->src.file, job->dst.file, job->expect.golden.file};

    for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++) {
        if (files[i] && place_same_file(path, files[i]))
            return fault_set(fault, FAULT_INVALID_PARAMS, NULL,
                             "--output %s: the job reads or writes this file; give another", path);
    }
    return 0;
}

static bool names_daemon(const struct options *options)
{
    return options_get(options, "socket") || options_get(options, "host");
}

/* Connects to the daemon that the options name, else to a service inside this process. */
static int connect(const struct options *options, uint32_t channels,
                   struct service_thread **service, struct daemon_link *link, struct fault *fault)
{
    return names_daemon(options) ? daemon_link_open_any(link, options, fault)
                                 : embedded_start(options, channels, service, link, fault);
}

static enum exit_code run(const struct options *options, struct job_file *file)
{
    struct sequence sequence = {.style = options_style(options), .files = file, .file_count = 1};
    struct service_thread *service = NULL;
    struct daemon_link link = {0};
    struct job_progress progress;
    struct execution execution = {
        .link = &link, .progress = &progress, .fresh = options_get(options, "force") == NULL};
    struct fault fault;
    enum exit_code code;

    /* The report goes to standard output, too. */
    sequence.style.quiet |= strcmp(file->list.jobs[0].dst.file, "-") == 0;
    if (connect(options, sequence_channels(&sequence), &service, &link, &fault)) {
        code = print_failure(&sequence.style, NULL, &fault);
    } else {
        job_progress_follow(&progress, &link, &sequence.style);
        code = sequence_run(&sequence,
                            &(struct sequence_work){execution_run, job_report_outcome, &execution});
    }
    daemon_link_finish(&link);
    service_thread_stop(service);
    return code;
}

static int save_relocated(const struct make_request *request, struct job_spec *job,
                          struct fault *fault)
{
    const char *path = target_of(request);
    struct jsonw text;

    jsonw_init(&text);
    bool failed = check_target(path, job, fault) || relocate(job, path, fault) ||
                  write_text(&text, false, job, fault);
    jsonw_newline(&text);
    failed = failed || output_save(path, jsonw_text(&text), text.length,
                                   options_get(request->options, "force") != NULL, fault);
    jsonw_finish(&text);
    if (!failed && !request->run && !request->c)
        report_saved(request, path, job);
    return failed ? -1 : 0;
}

/* If the job will be run, checks that it can write OUT, before JOB.json is written. */
static int check_out(const struct make_request *request, const struct job_spec *job,
                     struct fault *fault)
{
    struct output output;
    bool replace = job->dst.update || options_get(request->options, "force");

    if (!request->run)
        return 0;
    const bool failed = output_init(&output, job->dst.file, "/dst/file", fault) ||
                        output_check_fresh(&output, replace, fault);
    output_finish(&output);
    return failed ? -1 : 0;
}

/* Reads the job's text back like the text of a job file. */
static int read_back(struct job_file *file, const struct make_request *request,
                     const struct jsonw *text, struct fault *fault)
{
    const struct text borrowed = {.bytes = text->data, .length = text->length};

    if (job_file_load_text(file, "make", &borrowed, fault))
        return -1;
    file->path = request->label;
    file->is_file = false;
    file->has_streams = true;
    return 0;
}

/* Prints the job as a C function. */
static int print_c(const struct make_request *request, const struct job_file *file,
                   struct fault *fault)
{
    static const struct produced nothing = {0};
    const struct job_spec job = existing(file);
    struct explained explained;
    struct resolved r;
    struct textw w;

    if (is_missing(job.src.file))
        return fault_set(fault, FAULT_INVALID_PARAMS, NULL,
                         "--c: %s does not exist; the C function needs its shape", request->in);
    const bool failed = resolved_plan(&r, file, &job, &nothing, fault) ||
                        explained_init(&explained, file, &r, job.common.channels, fault);
    if (!failed) {
        textw_init(&w);
        c_function_begin(&w, "make");
        c_function(&w, &explained, &r, 0);
        print_text(&w);
    }
    resolved_finish(&r);
    return failed ? -1 : 0;
}

static enum exit_code finish(const struct make_request *request, struct job_spec *job)
{
    struct print_style style = options_style(request->options);
    struct job_file file = {0};
    struct jsonw text;
    struct fault fault;
    enum exit_code code = EXIT_CODE_DONE;

    if (write_text(&text, style.json, job, &fault) || read_back(&file, request, &text, &fault) ||
        check_job(&file, &fault) || check_out(request, job, &fault) ||
        (target_of(request) && save_relocated(request, job, &fault)) ||
        (request->c && print_c(request, &file, &fault)))
        code = print_failure(&style, NULL, &fault);
    else if (request->run)
        code = run(request->options, &file);
    else if (!target_of(request) && !request->c)
        print_json(&text);
    job_file_finish(&file);
    jsonw_finish(&text);
    return code;
}

/* Refuses options that standard input and output do not have. */
static int check_streams(const struct make_request *request)
{
    const struct options *options = request->options;
    const bool in = strcmp(request->in, "-") == 0, out = strcmp(request->out, "-") == 0;

    if ((in || out) && (!request->run || options_get(options, "output")))
        return print_refusal("%s -: a job file cannot name standard %s; a file of this name is ./-",
                             in ? "IN" : "OUT", in ? "input" : "output");
    if (out && (options_get(options, "update") || options_get(options, "json")))
        return print_refusal("--%s cannot be combined with standard output as OUT",
                             options_get(options, "update") ? "update" : "json");
    return 0;
}

/* Refuses options that set the service inside this process if the command uses a daemon. */
static int check_options(const struct make_request *request)
{
    static const char *const embedded[] = {"engine", "limit-bytes", "tuning"};
    const struct options *options = request->options;

    if (check_streams(request))
        return -1;
    if (request->run && options_get(options, "output") && !target_of(request))
        return print_refusal(
            "--output - cannot be combined with running the job: name a file, or use make "
            "without --run");
    if (!request->run && options_get(options, "limit-bytes"))
        return print_refusal("--limit-bytes requires --run");
    for (size_t i = 0; names_daemon(options) && i < sizeof(embedded) / sizeof(embedded[0]); i++) {
        if (options_get(options, embedded[i]))
            return print_refusal(
                "--%s cannot be combined with --socket or --host: a daemon has its own",
                embedded[i]);
    }
    return 0;
}

enum exit_code make_request_carry_out(const struct make_request *request)
{
    struct job_spec job;

    if (check_options(request))
        return EXIT_CODE_INVALID;
    enum exit_code code = make_job(request, &job) ? EXIT_CODE_INVALID : finish(request, &job);
    job_spec_finish(&job);
    return code;
}

/* Layouts as words, for example "NHWC:NCHW": a letter for each dimension, outermost first. */

static bool is_letter(char c)
{
    return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z');
}

/* Returns whether a text has letters, unlike a list of numbers. */
static bool is_layouts(const char *text)
{
    while (*text && !is_letter(*text))
        text++;
    return *text != '\0';
}

/* Returns a printable character for a byte of the command line. */
static char shown(char c)
{
    return c >= ' ' && c <= '~' ? c : '?';
}

/* Checks one layout in `text`, the value of --perm: 1 to TENSOR_RANK_MAX letters, each once. */
static int check_layout(const char *text, const char *layout, size_t length)
{
    for (size_t i = 0; i < length; i++) {
        if (!is_letter(layout[i]))
            return print_refusal(
                "--perm %s: '%c' is not a letter; a layout has a letter for each dimension", text,
                shown(layout[i]));
    }
    if (length == 0 || length > TENSOR_RANK_MAX)
        return print_refusal("--perm %s: a layout of %zu letters is given; 1 to %d are possible",
                             text, length, TENSOR_RANK_MAX);
    for (size_t i = 0; i < length; i++) {
        if (memchr(layout, layout[i], i))
            return print_refusal("--perm %s: %.*s has the letter %c twice", text, (int)length,
                                 layout, layout[i]);
    }
    return 0;
}

/* Reads two layouts of the same letters; each letter occurs once in a layout. Upper and lower case
 * differ. */
static int read_layouts(const char *text, struct job_spec *job)
{
    const size_t length = strcspn(text, ":");
    const char *from = text, *to = text + length + 1;

    if (text[length] == '\0')
        return print_refusal("--perm %s: two layouts with a colon are needed, as in NHWC:NCHW",
                             text);
    if (check_layout(text, from, length) || check_layout(text, to, strlen(to)))
        return -1;
    if (strlen(to) != length)
        return print_refusal("--perm %s: %.*s has %zu letters, %s has %zu", text, (int)length, from,
                             length, to, strlen(to));
    /* check_layout() has limited the length; compilers cannot deduce that. */
    for (size_t i = 0; i < length && i < TENSOR_RANK_MAX; i++) {
        const char *at = memchr(from, to[i], length);
        if (!at)
            return print_refusal("--perm %s: %.*s has the letter %c, but %.*s does not", text,
                                 (int)length, to, to[i], (int)length, from);
        job_cfg(&job->common, perm_dim, i) = (uint8_t)(at - from);
    }
    job->common.lengths.perm_dim = (uint8_t)length;
    return 0;
}

/* Lists of numbers, one for each dimension: "2,0,1". A dimension with two sides, such as a padding,
 * may have two: in "0,1:2" the second dimension has 1 before and 2 after. */

struct number_list {
    uint32_t count; /* 0: the option was not given */
    int64_t first[TENSOR_RANK_MAX];
    int64_t second[TENSOR_RANK_MAX]; /* numbers after a colon; without a colon, equal to `first` */
};

/* The numbers that an option accepts. */
struct number_rule {
    const char *option; /* name of the option, without the dashes */
    int64_t min, max;
    bool two_sided;      /* true: "1:2" is allowed */
    const char *example; /* example for messages */
};

static int complain_numbers(const struct number_rule *rule, const char *text)
{
    return print_refusal("--%s %s: requires 1 to %d numbers from %" PRId64 " to %" PRId64
                         ", as in %s",
                         rule->option, text, TENSOR_RANK_MAX, rule->min, rule->max, rule->example);
}

/* Reads one number. Returns the text after the number, or null if there is no valid number. */
static const char *take_number(const char *text, const struct number_rule *rule, int64_t *number)
{
    size_t sign = rule->min < 0 && *text == '-';

    if (strspn(text + sign, "0123456789") == 0)
        return NULL;
    char *end;
    errno = 0;
    *number = strtoll(text, &end, 10);
    return errno || *number < rule->min || *number > rule->max ? NULL : end;
}

/* Returns 0, or -1 after printing what is wrong. */
static int parse_numbers(const struct options *options, const struct number_rule *rule,
                         struct number_list *list)
{
    const char *text = options_get(options, rule->option);

    *list = (struct number_list){0};
    if (!text)
        return 0;
    for (const char *rest = text;; rest++) {
        if (list->count == TENSOR_RANK_MAX)
            return complain_numbers(rule, text);
        uint32_t i = list->count++;
        rest = take_number(rest, rule, &list->first[i]);
        list->second[i] = list->first[i];
        if (rest && rule->two_sided && *rest == ':')
            rest = take_number(rest + 1, rule, &list->second[i]);
        if (rest && *rest == '\0')
            return 0;
        if (!rest || *rest != ',')
            return complain_numbers(rule, text);
    }
}

const struct value make_type_value = {VALUE_WORD, element_type_words};

static int copy(char **out, const char *text)
{
    *out = strdup(text);
    if (!*out)
        print_error("out of memory");
    return *out ? 0 : -1;
}

/* Copies a path, which must be UTF-8 for a JSON text. */
static int copy_path(char **out, const char *path)
{
    size_t left = strlen(path), size;

    for (const char *c = path; left > 0; c += size, left -= size) {
        size = utf8_char(c, left);
        if (size == 0) {
            struct fault fault; /* a fault replaces invalid bytes in its text */
            fault_set(&fault, FAULT_INVALID_PARAMS, NULL,
                      "%s: the name is not UTF-8, which a job file requires", path);
            return print_refusal("%s", fault.text);
        }
    }
    return copy(out, path);
}

static int read_pad(const struct options *options, struct job_spec *job)
{
    static const struct number_rule rule = {"pad", 0, UINT8_MAX, true, "0,1,1 or 0,1:2,1"};
    struct number_list list;

    if (parse_numbers(options, &rule, &list))
        return -1;
    for (uint32_t i = 0; i < list.count; i++) {
        job_cfg(&job->common, padding_pre, i) = (uint8_t)list.first[i];
        job_cfg(&job->common, padding_post, i) = (uint8_t)list.second[i];
    }
    job->common.lengths.padding_pre = job->common.lengths.padding_post = (uint8_t)list.count;
    return 0;
}

/* Negative dimensions count from the last, as in NumPy. */
static int read_perm(const struct options *options, struct job_spec *job)
{
    static const struct number_rule rule = {"perm", -TENSOR_RANK_MAX, TENSOR_RANK_MAX - 1, false,
                                            "2,0,1"};
    struct number_list list;
    const char *text = options_get(options, "perm");

    if (text && is_layouts(text))
        return read_layouts(text, job);
    if (parse_numbers(options, &rule, &list))
        return -1;
    uint32_t seen = 0;
    for (uint32_t i = 0; i < list.count; i++) {
        int64_t d = list.first[i] < 0 ? list.first[i] + list.count : list.first[i];
        if (d < 0 || d >= list.count || seen & UINT32_C(1) << d)
            return print_refusal("--perm %s: each dimension from 0 to %u is needed once",
                                 options_get(options, "perm"), list.count - 1);
        seen |= UINT32_C(1) << d;
        job_cfg(&job->common, perm_dim, i) = (uint8_t)d;
    }
    job->common.lengths.perm_dim = (uint8_t)list.count;
    if (job->common.op == JOB_OP_PERMUTE && list.count == 0)
        return print_refusal("a permute requires --perm, as in --perm 2,0,1");
    return 0;
}

static int read_at(const struct options *options, struct job_spec *job)
{
    static const struct number_rule rule = {"at", 0, UINT32_MAX, false, "0,4,0"};
    struct number_list list;

    if (parse_numbers(options, &rule, &list))
        return -1;
    for (uint32_t i = 0; i < list.count; i++)
        job_cfg(&job->common, dst_offset, i) = (uint32_t)list.first[i];
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
    if (slice_parse(text, &slice, &fault))
        return print_refusal("--slice %s: %s", text, fault.text);
    return copy(&job->slice, text);
}

/* Refuses options of a move that a permute does not have. */
static int check_op(const struct options *options, const struct job_spec *job)
{
    static const char *const of_mov[] = {"slice", "pad", "at"};

    for (size_t i = 0; i < sizeof(of_mov) / sizeof(of_mov[0]); i++) {
        if (job->common.op == JOB_OP_PERMUTE && options_get(options, of_mov[i]))
            return print_refusal("--%s: a permute takes --perm only; use make mov", of_mov[i]);
    }
    return 0;
}

/* Refuses options that the format of IN does not allow. */
static int check_format(const struct options *options, const struct tensor_spec *src)
{
    bool raw = tensor_spec_format(src) == FILE_FORMAT_RAW;
    const char *shape = options_get(options, "shape");

    if (!raw && (shape || options_get(options, "offset")))
        return print_refusal("--%s describes raw files; %s has its own header",
                             shape ? "shape" : "offset", src->file);
    if (raw && (!shape || !options_get(options, "type")) && tensor_path_kind(src->file))
        return print_refusal("%s is %s; a tensor is in a regular file, or - for standard input",
                             src->file, tensor_path_kind(src->file));
    if (raw && (!shape || !options_get(options, "type")))
        return print_refusal("%s: a raw file has no header: give --shape and --type", src->file);
    if (src->tensor && !file_format_is_archive(tensor_spec_format(src)))
        return print_refusal("--tensor: %s is not an archive or a model", src->file);
    return 0;
}

int make_job_source(const struct options *options, const char *in, struct job_spec *job)
{
    const char *type = options_get(options, "type"), *shape = options_get(options, "shape");
    const char *tensor = options_get(options, "tensor");
    struct tensor_desc *desc = &job->src.desc;
    struct npy_header header = {.rank = 0};

    if (copy_path(&job->src.file, in) || (tensor && copy_path(&job->src.tensor, tensor)))
        return -1;
    size_t word = 0;
    const char *advice = type ? element_type_advice(type) : NULL;
    if (advice)
        return print_refusal("--type %s: %s", type, advice);
    if (options_choice(options, "type", &word))
        return -1;
    desc->has_type = type && element_type_from_name(element_type_words[word], &desc->type);
    if ((shape && tensor_args_shape(shape, &header)) ||
        options_number(options, "offset", UNIT_BYTES, 0, (UINT64_C(1) << 53) - 1, &job->src.offset))
        return -1;
    desc->rank = header.rank;
    memcpy(desc->shape, header.shape, sizeof(desc->shape));
    return check_format(options, &job->src);
}

int make_job_expect(const struct options *options, struct job_spec *job)
{
    const char *text = options_get(options, "expect");
    struct expectation *expect = &job->expect;

    if (!text)
        return 0;
    bool digest = sha256_from_text(text, expect->digest);
    if (!digest && strncmp(text, "sha256:", strlen("sha256:")) == 0)
        return print_refusal(
            "--expect %s: \"sha256:\" and 64 hexadecimal digits are needed; a file of this "
            "name is ./%s",
            text, text);
    expect->kind = digest ? EXPECT_DIGEST : EXPECT_FILE;
    return digest ? 0 : copy_path(&expect->golden.file, text);
}

/* Reads the other options. Their values are checked when the job file, written as text, is parsed.
 */
static int read_rest(const struct options *options, const char *out, struct job_spec *job)
{
    const char *name = options_get(options, "name");

    job->common.channels = 1;
    if (options_u32(options, "channels", 1, MLI_MOV_MAX_CHANNELS, &job->common.channels))
        return -1;
    job->dst.update = options_get(options, "update") != NULL;
    if (copy_path(&job->dst.file, out))
        return -1;
    return name ? copy(&job->common.name, name) : 0;
}

int make_job_cfg(const struct options *options, struct job_spec *job)
{
    if (check_op(options, job) || read_pad(options, job) || read_perm(options, job) ||
        read_at(options, job) || read_slice(options, job))
        return -1;
    return 0;
}

int make_job(const struct make_request *request, struct job_spec *job)
{
    const struct options *options = request->options;

    job_spec_init(job);
    job->common.op = request->op;
    if (make_job_cfg(options, job) || make_job_source(options, request->in, job) ||
        make_job_expect(options, job) || read_rest(options, request->out, job))
        return -1;
    return 0;
}

/* SPDX-License-Identifier: BSD-3-Clause */
#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/explain/c_code.h"
#include "cli/explain/picture.h"
#include "cli/term/print.h"
#include "proto/grow.h"

/* A file whose contents the C function of a job file gets as an argument. */
struct c_file {
    const char *name; /* borrowed */
    uint64_t base;    /* lowest offset of a tensor in the file */
    size_t use;       /* when the file was used first; after c_files_sort(), number of the file */
};

/* All files, in the order of their first use. */
struct c_files {
    struct c_file *sorted;   /* the files; sorted by name after c_files_sort() */
    struct c_file **ordered; /* the files, in the order in which jobs use them first */
    size_t count;
    bool failed; /* true: out of memory */
};

enum { C_NAME_MAX = 160, NAME_SHOWN = C_NAME_MAX - 28, TYPE_MAX = 24 };

/* Prepares for at most `uses` calls of c_files_add(). c_files_finish() is required. */
static void c_files_init(struct c_files *files, size_t uses)
{
    *files = (struct c_files){.sorted = calloc(uses + 1, sizeof *files->sorted),
                              .ordered = calloc(uses + 1, sizeof *files->ordered)};
    files->failed = !files->sorted || !files->ordered;
}

static void c_files_finish(struct c_files *files)
{
    free(files->sorted);
    free(files->ordered);
    *files = (struct c_files){0};
}

/* Adds a use of a file. */
static void c_files_add(struct c_files *files, const char *name, uint64_t offset)
{
    if (!files->failed)
        files->sorted[files->count] =
            (struct c_file){.name = name, .base = offset, .use = files->count};
    files->count += !files->failed;
}

/* Orders entries by file name, and uses of one file by their number. */
static int compare_names(const void *a, const void *b)
{
    const struct c_file *x = a, *y = b;
    const int order = strcmp(x->name, y->name);

    return order ? order : (x->use > y->use) - (x->use < y->use);
}

static int compare_uses(const void *a, const void *b)
{
    const struct c_file *x = *(struct c_file *const *)a, *y = *(struct c_file *const *)b;

    return (x->use > y->use) - (x->use < y->use);
}

/* Keeps the first use of each file, with the lowest offset of all its uses. */
static void merge(struct c_files *files)
{
    size_t kept = 0;

    for (size_t i = 0; i < files->count; i++) {
        const struct c_file *use = &files->sorted[i];
        struct c_file *before = kept > 0 ? &files->sorted[kept - 1] : NULL;

        if (!before || strcmp(before->name, use->name) != 0)
            files->sorted[kept++] = *use;
        else if (use->base < before->base)
            before->base = use->base;
    }
    files->count = kept;
}

/* Merges the uses of each file, and numbers the files. */
static void c_files_sort(struct c_files *files)
{
    if (files->failed)
        return;
    qsort(files->sorted, files->count, sizeof *files->sorted, compare_names);
    merge(files);
    for (size_t i = 0; i < files->count; i++)
        files->ordered[i] = &files->sorted[i];
    qsort(files->ordered, files->count, sizeof *files->ordered, compare_uses);
    for (size_t i = 0; i < files->count; i++)
        files->ordered[i]->use = i;
}

static int compare_name(const void *name, const void *file)
{
    return strcmp(name, ((const struct c_file *)file)->name);
}

/* Returns the entry of an added file. */
static const struct c_file *c_files_find(const struct c_files *files, const char *name)
{
    return bsearch(name, files->sorted, files->count, sizeof *files->sorted, compare_name);
}

enum { NUMBERS_IN_LINE = 16 };

void c_function_begin(struct textw *w, const char *command)
{
    textw_printf(w,
                 "/* Written by mlictl %s --c. */\n"
                 "#include <stdint.h>\n\n"
                 "#include \"mli_api.h\"\n",
                 command);
}

/* Returns whether "move_NAME" is a name that another function may have: move_4, move_all or
 * move_all_4. */
static bool is_taken(const char *name)
{
    return strcmp(name, "all") == 0 || strncmp(name, "all_", 4) == 0 ||
           name[strspn(name, "0123456789")] == '\0';
}

/* Writes the name of the function with this number. Returns `out`. */
static const char *c_function_name(char out[C_NAME_MAX], const struct explained *e, size_t number)
{
    static const char allowed[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_";
    const char *name = e->name;
    int length = 0;

    if (!name) {
        snprintf(out, C_NAME_MAX, "move_%zu", number);
        return out;
    }
    if (e->numbered || is_taken(name) || name[strspn(name, allowed)] || strlen(name) > NAME_SHOWN)
        length = snprintf(out, C_NAME_MAX, "move%zu_%.*s", number, NAME_SHOWN, name);
    else
        length = snprintf(out, C_NAME_MAX, "move_%s", name);
    for (int i = 0; i < length; i++)
        out[i] = strchr(allowed, out[i]) ? out[i] : '_';
    return out;
}

/* Writes text inside a comment: printable ASCII that cannot end the comment. */
static void c_put_comment(struct textw *w, const char *text)
{
    for (; *text; text++) {
        const bool ends = text[0] == '*' && text[1] == '/';

        textw_printf(w, "%c", *text >= ' ' && *text <= '~' && !ends ? *text : '?');
    }
}

static void put_shapes(struct textw *w, const struct explained *e)
{
    char text[PICTURE_WORDS_MAX], shape[PRINT_TEXT_MAX];

    textw_printf(w, " *\n *     source     %s\n", print_shape(shape, e->src.rank, e->src.shape));
    for (enum step step = 0; step < STEP_COUNT; step++) {
        uint64_t extents[MLI_MAX_RANK];

        if (explained_step_shape(&e->move, step, extents))
            textw_printf(w, " *     %-10s %s\n", explained_step_word(step),
                         picture_shape(text, e->move.rank, extents));
    }
    textw_printf(w, " *     output     %s\n",
                 e->dst.rank ? print_shape(shape, e->dst.rank, e->dst.shape) : "raw bytes");
}

static void put_head(struct textw *w, const struct explained *e, const char *name)
{
    textw_printf(w, "\n/*\n * %s: ", e->op);
    textw_printf(w, "%s", explained_kind(&e->src));
    c_put_comment(w, explained_place(&e->src));
    textw_printf(w, " %s %s", e->update ? "into" : "->", explained_kind(&e->dst));
    c_put_comment(w, explained_place(&e->dst));
    textw_printf(w, ", %s\n", e->type);
    put_shapes(w, e);
    textw_printf(w,
                 " *\n * `src` is the first element of the source (%" PRIu64
                 " B), `dst` that of the output (%" PRIu64 " B).\n */\n",
                 e->src.bytes, e->dst.bytes);
    textw_printf(w, "mli_status %s(const void *src, void *dst)\n{\n", name);
}

/* Writes ".member = {1, 2, 3}," with the first `rank` entries of an unsigned array. */
#define PUT_ARRAY(w, member, rank, array)                                                          \
    do {                                                                                           \
        textw_printf(w, "        ." member " = {");                                                \
        for (uint32_t put_i = 0; put_i < (rank); put_i++)                                          \
            textw_printf(w, "%s%" PRId64, put_i ? ", " : "", (int64_t)(array)[put_i]);             \
        textw_printf(w, "},\n");                                                                   \
    } while (0)

/* Writes the constant of a type: "MLI_EL_FX_16" for fx16. Returns `out`. */
static const char *type_constant(char out[TYPE_MAX], mli_element_type type)
{
    const char *name = element_type_name(type);

    snprintf(out, TYPE_MAX, "MLI_EL_%c%c_%s", toupper(name[0]), toupper(name[1]), name + 2);
    return out;
}

static uint32_t capacity_of(uint64_t bytes)
{
    return bytes < UINT32_MAX ? (uint32_t)bytes : UINT32_MAX;
}

static void put_source(struct textw *w, const struct explained *e, const struct resolved *r)
{
    const struct tensor_desc *src = &r->wire.src.desc;
    char type[TYPE_MAX];

    textw_printf(w, "    mli_tensor in = {\n");
    textw_printf(w,
                 "        .data = {.capacity = %" PRIu32
                 "u, .mem = {.pi8 = (int8_t *)(uintptr_t)src}},\n",
                 capacity_of(e->src.bytes));
    if (src->has_strides)
        PUT_ARRAY(w, "mem_stride", src->rank, src->strides);
    PUT_ARRAY(w, "shape", src->rank, src->shape);
    textw_printf(w, "        .rank = %" PRIu32 ",\n        .el_type = %s,\n    };\n", src->rank,
                 type_constant(type, src->type));
}

static void put_output(struct textw *w, const struct explained *e, const struct resolved *r)
{
    char type[TYPE_MAX];

    textw_printf(w, "    mli_tensor out = {\n");
    textw_printf(w, "        .data = {.capacity = %" PRIu32 "u, .mem = {.pi8 = dst}},\n",
                 capacity_of(e->dst.bytes));
    PUT_ARRAY(w, "mem_stride", r->result.rank, r->result.mem_stride);
    PUT_ARRAY(w, "shape", r->result.rank, r->result.shape);
    textw_printf(w, "        .rank = %" PRIu32 ",\n        .el_type = %s,\n    };\n",
                 r->result.rank, type_constant(type, r->wire.src.desc.type));
}

static void put_cfg(struct textw *w, const struct resolved *r)
{
    const mli_mov_cfg_t *cfg = &r->wire.common.cfg;
    const uint32_t rank = r->result.rank;

    if (r->wire.common.op == JOB_OP_PERMUTE) {
        textw_printf(w, "    const mli_permute_cfg cfg = {\n");
        PUT_ARRAY(w, "perm_dim", rank, cfg->perm_dim);
        textw_printf(w, "    };\n");
        return;
    }
    textw_printf(w, "    const mli_mov_cfg_t cfg = {\n");
    PUT_ARRAY(w, "offset", rank, cfg->offset);
    PUT_ARRAY(w, "size", rank, cfg->size);
    PUT_ARRAY(w, "sub_sample_step", rank, cfg->sub_sample_step);
    PUT_ARRAY(w, "dst_offset", rank, cfg->dst_offset);
    PUT_ARRAY(w, "dst_mem_stride", rank, cfg->dst_mem_stride);
    PUT_ARRAY(w, "perm_dim", rank, cfg->perm_dim);
    PUT_ARRAY(w, "padding_pre", rank, cfg->padding_pre);
    PUT_ARRAY(w, "padding_post", rank, cfg->padding_post);
    textw_printf(w, "    };\n");
}

static void put_parameter_array(struct textw *w, const struct quant *quant, enum quant_param param,
                                uint32_t out_count)
{
    const char *type = param == QUANT_SCALE_FRAC_BITS ? "int8_t" : "int16_t";
    const char *which = quant_param_name(param);

    textw_printf(w, "    static %s in_%s[%" PRIu32 "] = {", type, which, quant->count);
    for (uint32_t i = 0; i < quant->count; i++)
        textw_printf(w, "%s%d",
                     i % NUMBERS_IN_LINE ? ", "
                     : i                 ? ",\n        "
                                         : "\n        ",
                     quant_entry(quant, param, i));
    textw_printf(w, "\n    };\n");
    textw_printf(w, "    static %s out_%s[%" PRIu32 "];\n", type, which, out_count);
}

static bool has_arrays(const struct quant *quant)
{
    return quant->count > 0 && quant->axis >= 0;
}

static void put_parameter_arrays(struct textw *w, const struct explained *e,
                                 const struct resolved *r)
{
    const struct quant *quant = &r->wire.src.desc.quant;

    for (enum quant_param param = QUANT_SCALE; has_arrays(quant) && param < QUANT_PARAMS; param++)
        put_parameter_array(w, quant, param, r->result.shape[e->dst.quant_axis]);
}

static void put_container(struct textw *w, const char *tensor, enum quant_param param)
{
    const char *which = quant_param_name(param);
    const char *mem = param == QUANT_SCALE_FRAC_BITS ? "pi8" : "pi16";

    textw_printf(w, "    %s.el_params.sa.%s.capacity = sizeof %s_%s;\n", tensor, which, tensor,
                 which);
    textw_printf(w, "    %s.el_params.sa.%s.mem.%s = %s_%s;\n", tensor, which, mem, tensor, which);
}

static void put_containers(struct textw *w, const char *tensor)
{
    for (enum quant_param param = QUANT_SCALE; param < QUANT_PARAMS; param++)
        put_container(w, tensor, param);
}

static void put_parameters(struct textw *w, const struct resolved *r)
{
    const struct tensor_desc *src = &r->wire.src.desc;
    const struct quant *quant = &src->quant;

    if (src->type == MLI_EL_FX_8 || src->type == MLI_EL_FX_16) {
        if (quant->has_frac_bits)
            textw_printf(w, "    in.el_params.fx.frac_bits = %d;\n", quant->frac_bits);
    } else if (has_arrays(quant)) {
        textw_printf(w, "    in.el_params.sa.dim = %" PRId32 ";\n", quant->axis);
        put_containers(w, "in");
        put_containers(w, "out");
    } else if (src->type == MLI_EL_SA_8 || src->type == MLI_EL_SA_32) {
        textw_printf(w, "    in.el_params.sa.dim = -1;\n");
        for (enum quant_param param = QUANT_SCALE; param < QUANT_PARAMS; param++)
            textw_printf(w, "    in.el_params.sa.%s.mem.%s = %d;\n", quant_param_name(param),
                         param == QUANT_SCALE_FRAC_BITS ? "i8" : "i16",
                         quant_entry(quant, param, 0));
    }
}

void c_function(struct textw *w, const struct explained *e, const struct resolved *r, size_t number)
{
    char name[C_NAME_MAX];

    put_head(w, e, c_function_name(name, e, number));
    put_source(w, e, r);
    put_output(w, e, r);
    put_cfg(w, r);
    put_parameter_arrays(w, e, r);
    textw_printf(w, "\n");
    put_parameters(w, r);
    if (r->wire.common.op == JOB_OP_PERMUTE)
        textw_printf(w, "    return mli_krn_permute_%s(&in, &cfg, &out);\n}\n",
                     element_type_name(r->wire.src.desc.type));
    else
        textw_printf(w, "    return mli_mov_tensor_sync(&in, &cfg, &out);\n}\n");
}

/* A tensor of a call. */
struct c_operand {
    const char *file;   /* name of the file; null: in a buffer */
    const char *buffer; /* name of the buffer */
    size_t index;       /* index of the buffer in the job file, if the buffer becomes an array */
    uint64_t size;      /* bytes of the buffer */
    bool placed;        /* the buffer is in a memory of the board */
    uint64_t address;   /* address of a placed buffer */
    uint64_t offset;    /* bytes from the start of the buffer or file to the first element */
};

struct c_call {
    char name[C_NAME_MAX];
    struct c_operand src, dst;
};

void c_sequence_finish(struct c_sequence *sequence)
{
    free(sequence->calls);
    *sequence = (struct c_sequence){0};
}

static struct c_operand operand_of(const struct explained_side *side,
                                   const struct tensor_spec *spec, const struct job_file *file,
                                   const struct buffer_places *buffers)
{
    struct c_operand operand = {.file = side->file, .buffer = side->buffer, .offset = side->offset};
    const struct buffer_place *place;

    if (!spec->buffer)
        return operand;
    operand.index = spec->buffer_index;
    operand.size = file->list.buffers[spec->buffer_index].bytes;
    place = buffers->places ? &buffers->places[spec->buffer_index] : NULL;
    operand.placed = place && place->memory;
    operand.address = operand.placed ? place->address : 0;
    return operand;
}

void c_sequence_add(struct c_sequence *sequence, const struct explained *explained,
                    const struct resolved *resolved, const struct job_file *file,
                    const struct buffer_places *buffers, size_t number)
{
    struct c_call *call;

    if (list_grow(&sequence->calls, sequence->count, &sequence->capacity, sizeof *call)) {
        sequence->failed = true;
        return;
    }
    call = &sequence->calls[sequence->count++];
    if (file->list.buffer_count > sequence->buffers) /* a staged job has two more */
        sequence->buffers = file->list.buffer_count;
    c_function_name(call->name, explained, number);
    call->src = operand_of(&explained->src, &resolved->job->src, file, buffers);
    call->dst = operand_of(&explained->dst, &resolved->job->dst, file, buffers);
}

static void add_file(struct c_files *files, const struct c_operand *operand)
{
    if (operand->file)
        c_files_add(files, operand->file, operand->offset);
}

/* Writes the array of a buffer outside the board's memories, unless it is written already. */
static void put_array(struct textw *w, const struct c_operand *operand, bool *written)
{
    if (!operand->buffer || operand->placed || written[operand->index])
        return;
    written[operand->index] = true;
    textw_printf(w, "\nstatic uint8_t buffer_%zu[%" PRIu64 "] __attribute__((aligned(64))); /* ",
                 operand->index, operand->size);
    c_put_comment(w, operand->buffer);
    textw_printf(w, " */\n");
}

static void put_arrays(struct textw *w, const struct c_sequence *sequence)
{
    bool *written = calloc(sequence->buffers + 1, sizeof *written);

    w->failed = w->failed || !written;
    for (size_t i = 0; written && i < sequence->count; i++) {
        put_array(w, &sequence->calls[i].src, written);
        put_array(w, &sequence->calls[i].dst, written);
    }
    free(written);
}

static void put_sequence_head(struct textw *w, const struct c_files *files, const char *name,
                              const char *path)
{
    textw_printf(w, "\n/*\n * All jobs of ");
    c_put_comment(w, path);
    textw_printf(w, ", one after the other, each behind the jobs that it waits for.\n");
    for (size_t i = 0; i < files->count; i++) {
        textw_printf(w, " *     files[%zu]: ", i);
        c_put_comment(w, files->ordered[i]->name);
        textw_printf(w, ", from byte %" PRIu64 " on\n", files->ordered[i]->base);
    }
    textw_printf(w, " * Returns the status of the first job that fails.\n */\n");
    textw_printf(w, "mli_status %s(uint8_t *const files[])\n{\n    mli_status status;\n\n", name);
    if (files->count == 0)
        textw_printf(w, "    (void)files;\n");
}

static void put_operand(struct textw *w, const struct c_files *files,
                        const struct c_operand *operand)
{
    if (operand->file) {
        const struct c_file *file = c_files_find(files, operand->file);

        textw_printf(w, "files[%zu] + %" PRIu64, file->use, operand->offset - file->base);
    } else if (operand->placed) {
        textw_printf(w, "(uint8_t *)(uintptr_t)0x%" PRIx64 "u /* ",
                     operand->address + operand->offset);
        c_put_comment(w, operand->buffer);
        textw_printf(w, " */");
    } else {
        textw_printf(w, "buffer_%zu + %" PRIu64, operand->index, operand->offset);
    }
}

static void put_calls(struct textw *w, const struct c_sequence *sequence,
                      const struct c_files *files)
{
    for (size_t i = 0; i < sequence->count; i++) {
        const struct c_call *call = &sequence->calls[i];

        textw_printf(w, "    status = %s(", call->name);
        put_operand(w, files, &call->src);
        textw_printf(w, ",\n        ");
        put_operand(w, files, &call->dst);
        textw_printf(w, ");\n    if (status != MLI_STATUS_OK)\n        return status;\n");
    }
    textw_printf(w, "    return MLI_STATUS_OK;\n}\n");
}

void c_sequence_write(struct textw *w, const struct c_sequence *sequence, const char *path,
                      const size_t *number)
{
    struct c_files files;
    char name[32] = "move_all";

    c_files_init(&files, 2 * sequence->count);
    for (size_t i = 0; i < sequence->count; i++) {
        add_file(&files, &sequence->calls[i].src);
        add_file(&files, &sequence->calls[i].dst);
    }
    c_files_sort(&files);
    if (number)
        snprintf(name, sizeof name, "move_all_%zu", *number);
    w->failed = w->failed || files.failed;
    if (!files.failed) {
        put_arrays(w, sequence);
        put_sequence_head(w, &files, name, path);
        put_calls(w, sequence, &files);
    }
    c_files_finish(&files);
}

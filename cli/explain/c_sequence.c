/* SPDX-License-Identifier: BSD-3-Clause */
#include "cli/explain/c_sequence.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "cli/explain/c_files.h"

/* A tensor of a call. */
struct c_operand {
    const char *file;   /* name of the file; null: in a buffer */
    const char *buffer; /* name of the buffer */
    size_t index;       /* of the buffer in the file of jobs, if it becomes an array */
    uint64_t size;      /* bytes of the buffer */
    bool placed;        /* the buffer is in a memory of the board */
    uint64_t address;   /* of a placed buffer */
    uint64_t offset;    /* bytes to the first element */
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
    const size_t capacity = sequence->capacity ? 2 * sequence->capacity : 16;
    struct c_call *call;

    if (sequence->count == sequence->capacity) {
        struct c_call *calls = reallocarray(sequence->calls, capacity, sizeof *calls);

        if (!calls) {
            sequence->failed = true;
            return;
        }
        sequence->calls = calls;
        sequence->capacity = capacity;
    }
    call = &sequence->calls[sequence->count++];
    c_function_name(call->name, explained->name, number);
    call->src = operand_of(&explained->src, &resolved->job->src, file, buffers);
    call->dst = operand_of(&explained->dst, &resolved->job->dst, file, buffers);
}

static void add_file(struct c_files *files, const struct c_operand *operand)
{
    if (operand->file)
        c_files_add(files, operand->file, operand->offset);
}

/* Writes the array of a buffer that is in no memory of the board, once. */
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

static size_t last_buffer(const struct c_sequence *sequence)
{
    size_t last = 0;

    for (size_t i = 0; i < sequence->count; i++) {
        const struct c_call *call = &sequence->calls[i];

        last = call->src.index > last ? call->src.index : last;
        last = call->dst.index > last ? call->dst.index : last;
    }
    return last;
}

static void put_arrays(struct textw *w, const struct c_sequence *sequence)
{
    bool *written = calloc(last_buffer(sequence) + 1, sizeof *written);

    w->failed = w->failed || !written;
    for (size_t i = 0; written && i < sequence->count; i++) {
        put_array(w, &sequence->calls[i].src, written);
        put_array(w, &sequence->calls[i].dst, written);
    }
    free(written);
}

static void put_head(struct textw *w, const struct c_files *files, const char *name,
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
        put_head(w, &files, name, path);
        put_calls(w, sequence, &files);
    }
    c_files_finish(&files);
}

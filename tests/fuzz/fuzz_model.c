/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Fuzzes the readers of models. The first byte of the input chooses ONNX, TFLite, or a value of
 * ONNX (tensor, sequence, ...); the rest is the file. Checks that constants are inside the file.
 * Checks for each movement (how a node moves data) that its moves give the result of its
 * definition.
 */
#include "cli/import/element.h"
#include "cli/import/move.h"
#include "cli/model/model.h"
#include "tests/fuzz/fuzz.h"
#include "tests/support/apply_moves.h"

enum { BYTES_MAX = 4096, SOURCES_MAX = 16 }; /* does not compare movements with more elements */

static void check_tensor(const struct model *model, const struct model_tensor *tensor)
{
    const uint8_t *elements = model_elements(model, tensor);
    uint64_t bytes;

    FUZZ_ASSERT(*tensor->name && strlen(tensor->name) <= MODEL_NAME_MAX);
    FUZZ_ASSERT(tensor->rank <= MODEL_RANK_MAX);
    FUZZ_ASSERT(&model->tensors[model_find(model, tensor->name)] == tensor);
    if (tensor->place == MODEL_IN_FILE)
        FUZZ_ASSERT(tensor->offset <= model->size && tensor->bytes <= model->size - tensor->offset);
    if (elements) {
        FUZZ_ASSERT(model_tensor_bytes(tensor, &bytes) && bytes == tensor->bytes);
        /* reads every byte, so that sanitizers check the address */
        for (uint64_t i = 0; i < bytes; i++)
            FUZZ_ASSERT(elements[i] <= UINT8_MAX);
    }
    for (uint32_t i = 0; i < tensor->quant.count; i++)
        FUZZ_ASSERT(tensor->quant.zero_point[i] == tensor->quant.zero_point[i]);
    FUZZ_ASSERT(tensor->place != MODEL_OUTSIDE || (*tensor->location && *tensor->location != '/' &&
                                                   strncmp(tensor->location, "../", 3) != 0));
}

/* Compares the result of the moves with the definition of the movement. */
static void check_result(const struct movement *movement, const struct moves *moves, uint64_t bytes)
{
    uint8_t *memory = malloc(2 * bytes + movement->source_count * BYTES_MAX), *next = memory;
    const uint8_t *sources[SOURCES_MAX];

    FUZZ_ASSERT(memory);
    for (size_t k = 0; k < movement->source_count; k++) {
        for (unsigned i = 0; i < BYTES_MAX; i++)
            next[i] = (uint8_t)(i * 7 + i / 251 + k);
        sources[k] = next;
        next += BYTES_MAX;
    }
    element_compute(movement, sources, next);
    FUZZ_ASSERT(apply_moves(movement, moves, sources, next + bytes));
    FUZZ_ASSERT(memcmp(next, next + bytes, bytes) == 0);
    free(memory);
}

static void check_movement(const struct movement *movement)
{
    const uint64_t bytes =
        movement_elements(movement->rank, movement->shape) * movement->dtype->size;
    bool small = bytes <= BYTES_MAX && movement->source_count <= SOURCES_MAX;
    struct moves moves;

    FUZZ_ASSERT(movement->rank <= MOVEMENT_RANK_MAX && movement->result_rank <= MOVEMENT_RANK_MAX);
    FUZZ_ASSERT(bytes > 0 && bytes <= MOVEMENT_BYTES_MAX);
    FUZZ_ASSERT(movement_elements(movement->result_rank, movement->result) *
                    movement->dtype->size ==
                bytes);
    for (size_t k = 0; k < movement->source_count; k++)
        small = small && movement_elements(movement->rank, movement->sources[k].shape) *
                                 movement->dtype->size <=
                             BYTES_MAX;
    if (moves_of(movement, &moves) == 0 && moves_fold(&moves) == 0) {
        if (small)
            check_result(movement, &moves, bytes);
    } else {
        FUZZ_ASSERT(moves.too_many || moves.too_wide);
    }
    moves_finish(&moves);
}

static void check_nodes(struct model *model)
{
    for (size_t i = 0; i < model->node_count; i++) {
        struct movement_list list;

        FUZZ_ASSERT(movement_read(model, &model->nodes[i], &list) == 0);
        FUZZ_ASSERT((list.count == 0) == (list.reason[0] != '\0'));
        for (size_t k = 0; k < list.count; k++)
            check_movement(&list.movements[k]);
        movement_list_finish(&list);
    }
}

static int read_chosen(struct model *model, uint8_t choice, const uint8_t *file, size_t size,
                       struct fault *fault)
{
    static const enum model_kind kinds[] = {MODEL_TENSOR, MODEL_SEQUENCE, MODEL_OPTIONAL,
                                            MODEL_OPTIONAL_SEQUENCE};

    choice %= 6;
    if (choice < 2)
        return model_read(model, choice == 0 ? FILE_FORMAT_ONNX : FILE_FORMAT_TFLITE, file, size,
                          fault);
    return model_read_value(model, kinds[choice - 2], file, size, fault);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct model model;
    struct fault fault = {0};

    if (size < 1)
        return 0;
    uint8_t *file = malloc(size); /* a copy, so that sanitizers find reads beyond its end */
    FUZZ_ASSERT(file);
    memcpy(file, data + 1, size - 1);
    if (read_chosen(&model, data[0], file, size - 1, &fault) == 0) {
        for (size_t i = 0; i < model.tensor_count; i++)
            check_tensor(&model, &model.tensors[i]);
        check_nodes(&model);
        model_finish(&model);
    } else {
        fuzz_check_fault(&fault);
    }
    free(file);
    return 0;
}

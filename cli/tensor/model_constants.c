/* SPDX-License-Identifier: BSD-3-Clause */
#include "cli/tensor/model_constants.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/file/file_map.h"
#include "cli/file/regular.h"
#include "cli/model/model.h"

struct model_constants {
    struct model model; /* after model_constants_open(), without its bytes */
    size_t *tensors;    /* by index of an entry: the tensor */
};

/* Returns the dtype of .npy files for elements of this size, or null. */
static const char *descr_of(const struct model_dtype *dtype)
{
    static const struct {
        const char *name, *descr;
    } dtypes[] = {
#define DTYPE_DESCR(name, descr, ...) {name, descr},
        DTYPE_TABLE(DTYPE_DESCR)
#undef DTYPE_DESCR
    };

    if (!dtype)
        return NULL;
    if (dtype->id == MODEL_BFLOAT16) /* .npy files have no name for these types */
        return "<u2";
    if (dtype->id == MODEL_FLOAT8)
        return "|u1";
    for (size_t i = 0; i < sizeof(dtypes) / sizeof(dtypes[0]); i++) {
        if (strcmp(dtypes[i].name, dtype->name) == 0)
            return dtypes[i].descr;
    }
    return NULL;
}

static int judge(struct tensor_entry *entry, const struct model_tensor *tensor)
{
    const char *descr = descr_of(tensor->dtype);
    struct fault why;

    if (tensor->refusal) {
        fault_set(&why, FAULT_INVALID_PARAMS, NULL, "%s", tensor->refusal);
    } else if (tensor->place == MODEL_OUTSIDE) {
        fault_set(&why, FAULT_INVALID_PARAMS, NULL,
                  "its elements are in another file: name that file, as \"file\": \"%.128s\", "
                  "\"format\": \"raw\", \"offset\": %" PRIu64,
                  tensor->location, tensor->offset);
    } else if (!descr) {
        fault_set(
            &why, FAULT_INVALID_PARAMS, NULL,
            "elements of dtype %s cannot be moved as they are; `mlictl import` folds elements "
            "of 8 bytes",
            entry->dtype);
    } else {
        return tensor_entry_judge(entry, descr);
    }
    return tensor_entry_refuse(entry, &why);
}

/* Adds the constant `index` of the model to the list. */
static int add(struct model_constants *constants, size_t index, struct tensor_list *list,
               struct fault *fault)
{
    const struct model_tensor *tensor = &constants->model.tensors[index];
    struct tensor_entry *entry = tensor_list_add(list, tensor->name);
    uint64_t shape[MODEL_RANK_MAX];

    if (!entry)
        return fault_no_memory(fault);
    for (uint32_t d = 0; d < tensor->rank; d++)
        shape[d] = tensor->dims[d].extent > 0 ? (uint64_t)tensor->dims[d].extent : 0;
    if (tensor_entry_set_shape(entry, shape, tensor->rank))
        return fault_no_memory(fault);
    snprintf(entry->dtype, sizeof(entry->dtype), "%s", tensor->dtype ? tensor->dtype->name : "?");
    entry->place = tensor->place == MODEL_IN_FILE ? tensor->offset : 0;
    entry->bytes = tensor->place == MODEL_OUTSIDE ? 0 : tensor->bytes;
    constants->tensors[list->count - 1] = index;
    return judge(entry, tensor) ? fault_no_memory(fault) : 0;
}

static int fill(struct model_constants *constants, struct tensor_list *list, struct fault *fault)
{
    const struct model *model = &constants->model;

    constants->tensors = calloc(model->tensor_count + 1, sizeof(*constants->tensors));
    if (!constants->tensors)
        return fault_no_memory(fault);
    for (size_t i = 0; i < model->tensor_count; i++) {
        if ((model->tensors[i].place != MODEL_NOWHERE || model->tensors[i].refusal) &&
            add(constants, i, list, fault))
            return -1;
    }
    return tensor_list_sort(list, fault);
}

static int read_model(struct model_constants *constants, int fd, uint64_t size,
                      enum file_format format, struct fault *fault)
{
    struct file_map map;
    int error, result;

    if (size == 0)
        return fault_set(fault, FAULT_INVALID_PARAMS, NULL, "it is empty");
    error = file_map_init(&map, fd, 0, size);
    if (error)
        return fault_set(fault, FAULT_IO_ERROR, NULL, "%s", strerror(-error));
    result = model_read(&constants->model, format, map.pages, size, fault);
    if (file_map_is_broken(&map)) {
        if (result == 0)
            model_finish(&constants->model);
        result = fault_set(fault, FAULT_IO_ERROR, NULL,
                           "it shrank while it was read, or its storage failed");
    }
    file_map_finish(&map);
    constants->model.bytes = NULL;
    return result;
}

struct model_constants *model_constants_open(int fd, uint64_t size, enum file_format format,
                                             struct tensor_list *list, struct fault *fault)
{
    struct model_constants *constants = calloc(1, sizeof(*constants));

    *list = (struct tensor_list){0};
    if (!constants) {
        fault_no_memory(fault);
        return NULL;
    }
    if (read_model(constants, fd, size, format, fault) == 0 && fill(constants, list, fault) == 0)
        return constants;
    model_constants_close(constants);
    tensor_list_finish(list);
    return NULL;
}

void model_constants_close(struct model_constants *constants)
{
    if (!constants)
        return;
    model_finish(&constants->model);
    free(constants->tensors);
    free(constants);
}

int model_constants_extract(const struct model_constants *constants, size_t index, int *fd,
                            struct fault *fault)
{
    const struct model_tensor *tensor = &constants->model.tensors[constants->tensors[index]];

    *fd = -1;
    if (tensor->place != MODEL_IN_MEMORY)
        return 0;
    *fd = memory_file_create(fault);
    if (*fd < 0)
        return -1;
    if (memory_file_write(*fd, tensor->memory, (size_t)tensor->bytes, fault) == 0)
        return 0;
    close(*fd);
    *fd = -1;
    return -1;
}

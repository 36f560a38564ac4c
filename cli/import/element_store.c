/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/file/calls.h"
#include "cli/file/regular.h"
#include "cli/import/element_store.h"
#include "cli/import/movement.h"
#include "cli/tensor/pattern.h"
#include "cli/term/exit_code.h"

void stored_header(const struct model_dtype *dtype, uint32_t rank, const uint64_t *shape,
                   struct npy_header *header)
{
    const bool halves = dtype->size == 8;
    const uint32_t first = rank > MLI_MAX_RANK ? rank - MLI_MAX_RANK + 1 : rank > 0;
    uint64_t bytes = dtype->size;

    *header = (struct npy_header){.kind = dtype->kind, .item_size = dtype->size, .rank = 1};
    if (halves) {
        header->kind = dtype->kind == 'i' ? 'i' : 'u';
        header->item_size = 4;
    }
    npy_set_dtype(header, header->kind, header->item_size);
    header->shape[0] = 1;
    for (uint32_t d = 0; d < rank; d++) {
        if (d < first)
            header->shape[0] *= (uint32_t)shape[d];
        else
            header->shape[header->rank++] = (uint32_t)shape[d];
        bytes *= shape[d];
    }
    if (halves)
        header->shape[header->rank - 1] *= 2;
    header->data_offset = NPY_FORMAT_SIZE;
    header->data_size = bytes;
}

bool stored_as_is(const struct model_dtype *dtype, uint32_t rank)
{
    return dtype->size <= 4 && rank >= 1 && rank <= MLI_MAX_RANK;
}

/* Fills elements with their positions, or, if the dtype has too few values, with random values. */
static void stored_generate(const struct npy_header *header, uint64_t seed, uint8_t *elements)
{
    const uint64_t count = header->data_size / header->item_size;
    const struct dtype *dtype = dtype_of_header(header);
    struct pattern pattern;
    uint32_t at[MLI_MAX_RANK] = {0};

    pattern_init(&pattern, count - 1 <= dtype->exact_max ? PATTERN_index : PATTERN_random, header,
                 seed);
    for (uint64_t k = 0; k < count; k++) {
        pattern_store(&pattern, at, elements + k * header->item_size);
        for (uint32_t d = header->rank; d-- > 0 && ++at[d] == header->shape[d];)
            at[d] = 0;
    }
}

int element_store_init(struct element_store *store, struct model *model, const char *path,
                       struct fault *fault)
{
    *store = (struct element_store){.model = model, .path = path};
    store->owned = calloc(model->tensor_count + 1, sizeof(*store->owned));
    store->expected = calloc(model->tensor_count + 1, sizeof(*store->expected));
    return store->owned && store->expected ? 0 : fault_no_memory(fault);
}

void element_store_forget(struct element_store *store)
{
    for (size_t i = 0; i < store->held_count; i++) {
        free(store->owned[store->held[i]]);
        store->owned[store->held[i]] = NULL;
    }
    store->held_count = 0;
}

void element_store_finish(struct element_store *store)
{
    element_store_forget(store);
    for (size_t i = 0; store->expected && i < store->model->tensor_count; i++)
        free(store->expected[i]);
    free(store->held);
    free(store->owned);
    free(store->expected);
    *store = (struct element_store){0};
}

int element_store_put(struct element_store *store, size_t tensor, uint8_t *elements,
                      struct fault *fault)
{
    if (store->owned[tensor]) { /* keep the elements that the tensor already has */
        free(elements);
        return 0;
    }
    if (model_push(&store->held, &store->held_count, tensor)) {
        free(elements);
        return fault_no_memory(fault);
    }
    store->owned[tensor] = elements;
    return 0;
}

static uint8_t *allocate(uint64_t bytes, struct fault *fault)
{
    uint8_t *elements = malloc((size_t)bytes + 1);

    if (!elements)
        fault_set(fault, FAULT_INTERNAL, NULL, "no memory for a tensor of %" PRIu64 " bytes",
                  bytes);
    return elements;
}

/* Reads a constant whose elements are in a file of their own in the directory of the model. */
static int read_outside(const struct element_store *store, const struct model_tensor *tensor,
                        uint8_t *elements, struct fault *fault)
{
    const char *slash = strrchr(store->path, '/');
    struct stat stat;
    char *path = NULL;
    ssize_t got = 0;
    bool whole;

    if (asprintf(&path, "%.*s%s", slash ? (int)(slash - store->path + 1) : 0, store->path,
                 tensor->location) < 0)
        return fault_no_memory(fault);
    const int fd = regular_open(path, O_RDONLY | O_NOFOLLOW, &stat);
    if (fd >= 0) {
        got = read_bytes(fd, elements, (size_t)tensor->bytes, (off_t)tensor->offset);
        errno = got < 0 ? errno : ENODATA;
    }
    whole = got >= 0 && (uint64_t)got == tensor->bytes;
    if (!whole)
        fault_set(fault, exit_code_fault(errno, FAULT_INVALID_PARAMS), NULL, "%s: %s", path,
                  fd == REGULAR_OTHER ? "not a regular file" : strerror(errno));
    if (fd >= 0)
        close(fd);
    free(path);
    return whole ? 0 : -1;
}

const uint8_t *element_store_get(struct element_store *store, size_t index, struct fault *fault)
{
    const struct model_tensor *tensor = &store->model->tensors[index];
    const uint8_t *known = model_elements(store->model, tensor);
    struct npy_header header;
    uint64_t shape[MOVEMENT_RANK_MAX], bytes;
    uint8_t *elements;

    if (known || store->owned[index])
        return known ? known : store->owned[index];
    if (!model_tensor_bytes(tensor, &bytes)) {
        fault_set(fault, FAULT_INTERNAL, NULL, "%.64s has no shape", tensor->name);
        return NULL;
    }
    elements = allocate(bytes, fault);
    if (!elements)
        return NULL;
    for (uint32_t d = 0; d < tensor->rank; d++)
        shape[d] = (uint64_t)tensor->dims[d].extent;
    if (tensor->place == MODEL_OUTSIDE) {
        if (read_outside(store, tensor, elements, fault)) {
            free(elements);
            return NULL;
        }
    } else {
        stored_header(tensor->dtype, tensor->rank, shape, &header);
        stored_generate(&header, index + 1, elements);
    }
    return element_store_put(store, index, elements, fault) ? NULL : store->owned[index];
}

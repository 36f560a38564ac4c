/* SPDX-License-Identifier: BSD-3-Clause */
#include "cli/model/constant.h"

#include <endian.h>
#include <stdlib.h>
#include <string.h>

uint64_t model_element_count(const struct model_tensor *tensor)
{
    return tensor->dtype && tensor->dtype->size ? tensor->bytes / tensor->dtype->size : 0;
}

int64_t model_integer_at(const struct model_tensor *tensor, const uint8_t *elements, uint64_t i)
{
    const uint32_t size = tensor->dtype->size;
    uint64_t bits = 0;

    memcpy(&bits, elements + i * size, size);
    bits = le64toh(bits);
    if (tensor->dtype->kind == 'i' && size < 8 && bits >> (size * 8 - 1))
        bits |= ~UINT64_C(0) << (size * 8);
    return (int64_t)bits;
}

static const struct model_tensor *constant(const struct model *model, size_t tensor)
{
    if (tensor >= model->tensor_count || !model_elements(model, &model->tensors[tensor]))
        return NULL;
    return &model->tensors[tensor];
}

int model_integers(const struct model *model, size_t index, int64_t *out, int max)
{
    const struct model_tensor *tensor = constant(model, index);

    if (!tensor || (tensor->dtype->kind != 'i' && tensor->dtype->kind != 'u') ||
        tensor->dtype->id == MODEL_BFLOAT16 || tensor->dtype->id == MODEL_FLOAT8 ||
        model_element_count(tensor) > (uint64_t)max)
        return -1;
    const int count = (int)model_element_count(tensor);
    for (int i = 0; i < count; i++)
        out[i] = model_integer_at(tensor, model_elements(model, tensor), (uint64_t)i);
    return count;
}

float *model_floats(const struct model *model, size_t index, uint32_t *count)
{
    const struct model_tensor *tensor = constant(model, index);

    *count = 0;
    if (!tensor || tensor->dtype->id != MODEL_FLOAT32 || tensor->bytes / 4 > UINT32_MAX / 8)
        return NULL;
    float *copy = malloc((size_t)tensor->bytes + 1);
    if (!copy)
        return NULL;
    *count = (uint32_t)(tensor->bytes / 4);
    for (uint32_t i = 0; i < *count; i++) {
        uint32_t bits;
        memcpy(&bits, model_elements(model, tensor) + (size_t)i * 4, sizeof(bits));
        bits = le32toh(bits);
        memcpy(&copy[i], &bits, sizeof(bits));
    }
    return copy;
}

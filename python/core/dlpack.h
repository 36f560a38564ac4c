/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Arrays of other libraries by DLPack: the structures that a capsule "dltensor" points to.
 * Layout: DLPack 0.x, https://dmlc.github.io/dlpack/latest/c_api.html
 */
#ifndef CORE_DLPACK_H
#define CORE_DLPACK_H

#include <Python.h>
#include <stdint.h>

struct dlpack_tensor {
    void *data;
    int32_t device_type, device_id;
    int32_t rank;
    uint8_t code; /* of the element type: 0 integer, 1 unsigned, 2 float, 4 bfloat, 5 complex */
    uint8_t bits;
    uint16_t lanes;
    int64_t *shape;
    int64_t *strides; /* in elements; null: packed */
    uint64_t byte_offset;
};

struct dlpack_managed {
    struct dlpack_tensor tensor;
    void *context;
    void (*deleter)(struct dlpack_managed *self);
};

/**
 * Takes the tensor of an object: the caller then releases *managed. Returns 0, 1 if the object has
 * no __dlpack__, or -1 with an exception. Tensors of other devices than the processor are refused.
 */
int dlpack_take(PyObject *object, const char *name, struct dlpack_managed **managed);

void dlpack_release(struct dlpack_managed *managed);

#endif /* CORE_DLPACK_H */

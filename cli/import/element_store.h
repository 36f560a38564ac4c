/* SPDX-License-Identifier: BSD-3-Clause */
/* The elements of a model's tensors while a case is made: constants, given files, generated values
 * and results of movements. */
#ifndef CLI_IMPORT_ELEMENT_STORE_H
#define CLI_IMPORT_ELEMENT_STORE_H

#include "cli/model/model.h"

struct element_store {
    struct model *model;
    const char *path;   /* of the model: files of external constants are in its directory */
    uint8_t **owned;    /* by tensor: elements in memory, or null */
    uint8_t **expected; /* by tensor: elements of an output_N.pb, or null */
    size_t *held;       /* tensors with elements in `owned` */
    size_t held_count;
};

int element_store_init(struct element_store *store, struct model *model, const char *path,
                       struct fault *fault);
void element_store_finish(struct element_store *store);

/** Returns the elements of a tensor, generated unless known; null with the fault. */
const uint8_t *element_store_get(struct element_store *store, size_t tensor, struct fault *fault);

/** Gives a tensor its computed elements; owns them from now on, also on failure. */
int element_store_put(struct element_store *store, size_t tensor, uint8_t *elements,
                      struct fault *fault);

/** Frees all elements but those of the model and of given files. */
void element_store_forget(struct element_store *store);

#endif /* CLI_IMPORT_ELEMENT_STORE_H */

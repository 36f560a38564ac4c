/* SPDX-License-Identifier: BSD-3-Clause */
/* Replaces npz.c in builds without zlib. */
#include "cli/tensor/npz.h"

struct npz *npz_open(int fd, uint64_t size, struct tensor_list *list, struct fault *fault)
{
    (void)fd;
    (void)size;
    *list = (struct tensor_list){0};
    fault_set(fault, FAULT_INVALID_PARAMS, NULL,
              "this mlictl was built without zlib, which .npz files require; unpack it and use "
              "the .npy files, or build with zlib");
    return NULL;
}

void npz_close(struct npz *npz)
{
    (void)npz;
}

int npz_outline(struct npz *npz, struct tensor_entry *entry, struct fault *fault)
{
    (void)npz;
    (void)entry;
    return fault_set(fault, FAULT_INTERNAL, NULL, "there is no zlib");
}

int npz_extract(struct npz *npz, const struct tensor_entry *entry, struct fault *fault)
{
    (void)npz;
    (void)entry;
    return fault_set(fault, FAULT_INTERNAL, NULL, "there is no zlib");
}

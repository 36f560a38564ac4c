/* SPDX-License-Identifier: BSD-3-Clause */
/* Files of quantisation parameters: JSON objects that "dst.params" and "expect.params" name. */
#pragma once

#include "proto/json/fault.h"
#include "proto/wire/tensor_desc.h"

/**
 * Reads type and parameters from the file `path`, open as `fd` (-1: opens it), into the empty
 * *desc. Returns 0, or -1 with a fault without pointer; tensor_desc_finish() is legal after both.
 */
int params_load(struct tensor_desc *desc, const char *path, int fd, struct fault *fault);

/** Returns the text of a file with type and parameters of `desc`. Heap; null: out of memory. */
char *params_text(const struct tensor_desc *desc);

/* SPDX-License-Identifier: BSD-3-Clause */
/* Describes tensors and configurations in words, for the report of a failed test. */
#ifndef TEST_DESCRIBE_H
#define TEST_DESCRIBE_H

#include <stdio.h>

#include "mli_mov_api.h"

const char *describe_el_type(mli_element_type type);
void describe_tensor(FILE *to, const char *name, const mli_tensor *t);
void describe_cfg(FILE *to, const mli_mov_cfg_t *cfg, uint32_t rank);
void describe_u8(FILE *to, const char *name, const uint8_t *v, uint32_t n);

#endif /* TEST_DESCRIBE_H */

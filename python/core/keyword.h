/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef CORE_KEYWORD_H
#define CORE_KEYWORD_H

#include <stdint.h>

/** A name for PyArg_ParseTupleAndKeywords(), which does not write it but takes a char *. */
#define KEYWORD(text) ((char *)(uintptr_t)(text))

#endif /* CORE_KEYWORD_H */

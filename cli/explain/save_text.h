/* SPDX-License-Identifier: BSD-3-Clause */
/* Saves a text that a command has made: a drawing or a trace. */
#ifndef CLI_SAVE_TEXT_H
#define CLI_SAVE_TEXT_H

#include "proto/json/fault.h"
#include "proto/json/textw.h"

/**
 * Creates the file atomically from the text of `w`, and finishes `w`. Replaces only an empty file
 * or one that begins with `begin`; `what` names such a file in the fault ("a drawing"). Returns 0,
 * or -1 with the fault, also if there was no memory for the text.
 */
int save_text(struct textw *w, const char *path, const char *begin, const char *what,
              struct fault *fault);

#endif /* CLI_SAVE_TEXT_H */

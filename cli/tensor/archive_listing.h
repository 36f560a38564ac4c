/* SPDX-License-Identifier: BSD-3-Clause */
/* What an archive holds, for people and programs. */
#ifndef CLI_LISTING_H
#define CLI_LISTING_H

#include "cli/exit_code.h"
#include "cli/term/print.h"
#include "proto/file/tensor_list.h"
#include "proto/file/tensor_spec.h"

/** Tells all tensors of the archive. */
enum exit_code listing_show(const struct print_style *style, const char *path,
                            enum file_format format);

enum { LISTING_SHAPE_MAX = 96 };
/** "(4, 6, 8)" of any rank, cut where it is too long. Returns `out`. */
const char *listing_shape(const struct tensor_entry *entry, char out[LISTING_SHAPE_MAX]);

/** Dtype and shape as members of the object that is open; null where they are not known. */
void listing_json_outline(struct jsonw *w, const struct tensor_entry *entry);

#endif /* CLI_LISTING_H */

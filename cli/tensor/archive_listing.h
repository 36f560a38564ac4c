/* SPDX-License-Identifier: BSD-3-Clause */
/* The list of an archive's tensors, for people and programs. */
#ifndef CLI_ARCHIVE_LISTING_H
#define CLI_ARCHIVE_LISTING_H

#include "cli/term/exit_code.h"
#include "cli/term/print.h"
#include "proto/file/tensor_list.h"
#include "proto/file/tensor_spec.h"

/** Prints all tensors of an archive. */
enum exit_code archive_listing_show(const struct print_style *style, const char *path,
                                    enum file_format format);

enum { ARCHIVE_LISTING_SHAPE_MAX = 96 };
/** Writes a shape of any rank: "(4, 6, 8)"; cuts a long one. Returns `out`. */
const char *archive_listing_shape(const struct tensor_entry *entry,
                                  char out[ARCHIVE_LISTING_SHAPE_MAX]);

/** Writes dtype and shape as members of the open object; null if they are not known. */
void archive_listing_json_outline(struct jsonw *w, const struct tensor_entry *entry);

#endif /* CLI_ARCHIVE_LISTING_H */

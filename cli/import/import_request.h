/* SPDX-License-Identifier: BSD-3-Clause */
/* The options of `mlictl import`, and its model. */
#ifndef CLI_IMPORT_REQUEST_H
#define CLI_IMPORT_REQUEST_H

#include "cli/file/file_map.h"
#include "cli/model/model.h"
#include "cli/options.h"

struct import_request {
    const struct options *options;
    const char *path;      /* the model */
    const char *directory; /* --output; null: only list */
    const char *data;      /* --data; or null */
    enum file_format format;
    bool dry_run, list, force, fuse;
    struct file_map map;
    bool mapped;
    struct model model;
    bool read;
};

/**
 * Reads the options and the model. Returns EXIT_CODE_DONE, or another code after printing why. Call
 * import_request_finish() in both cases.
 */
enum exit_code import_request_init(struct import_request *request, const struct options *options);
void import_request_finish(struct import_request *request);

#endif /* CLI_IMPORT_REQUEST_H */

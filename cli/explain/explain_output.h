/* SPDX-License-Identifier: BSD-3-Clause */
/* The output of `mlictl explain`: each job as text, JSON, C or a drawing, and their timeline. */
#ifndef CLI_EXPLAIN_OUTPUT_H
#define CLI_EXPLAIN_OUTPUT_H

#include <stdbool.h>
#include <stddef.h>

#include "cli/explain/explained.h"
#include "cli/explain/picture_text.h"
#include "cli/explain/svg_picture.h"
#include "cli/explain/timeline.h"
#include "cli/options.h"
#include "cli/term/print.h"

struct explain_output {
    struct print_style style;
    size_t explained; /* number of jobs explained until now */
    bool memcpy;      /* true: measure a memcpy of each job's bytes */
    bool c;           /* --c */
    bool picture;     /* true: print the text picture */
    bool on_stdout;   /* --svg, --trace or --timeline is "-": print nothing else */
    struct picture_text_style characters;
    struct svg_target svg;                   /* the caller sets the numbers of jobs and files */
    const char *trace, *timeline, *measured; /* paths of these options, or null */
    enum exit_code drawn; /* EXIT_CODE_DONE, or the code of the first failed drawing */
};

/** Reads the options of the output. Returns 0, or -1 after an error message. */
int explain_output_read(struct explain_output *output, const struct options *options);

/** Prints and draws a job of the job file `number`, from 0. */
void explain_output_job(struct explain_output *output, size_t number, const struct job_file *file,
                        const struct resolved *resolved, struct explained *e);

/**
 * Prints the sums of the jobs on a board, and writes the files of --trace and --timeline, with the
 * measured timeline of --measured beside the model's.
 */
enum exit_code explain_output_timeline(struct explain_output *output, struct timeline *timeline);

#endif /* CLI_EXPLAIN_OUTPUT_H */

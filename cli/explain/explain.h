/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * `mlictl explain`: this folder describes a job's move without making it. Data flow:
 *
 *     struct explained (cli/job/explained.h), struct explained_board
 *       -> explain_output.c     prints and draws each job, and the sums of all jobs
 *            -> explain_text.c    aligned lines for people
 *            -> explain_json.c    one JSON object for programs
 *            -> c_code.c          C functions that make the moves
 *            -> picture.c         struct picture: the cells of source and destination (picture.h)
 *                 -> picture_block.c  places the cells, in characters or pixels
 *                      -> picture_text.c  the text picture
 *                      -> picture_svg.c   the picture as SVG, with the tags of svgw.c
 *            -> timeline.c        all jobs on the channels of the board
 *                 -> timeline_chart.c the drawing of a timeline
 *
 * To add a state of a cell, start with PICTURE_STATE_TABLE in picture.h. To add a form of picture,
 * lay a struct picture out with picture_fit() and picture_block_init(), as picture_text.c does.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "cli/explain/picture.h"
#include "cli/explain/timeline.h"
#include "cli/job/explained.h"
#include "cli/options.h"
#include "cli/term/print.h"
#include "proto/json/jsonw.h"

/** Writes the explanation for people: a line that names the job, then tables. */
void explained_text(struct textw *w, const struct explained *explained);

/** Writes the explanation for programs, as one object: the members of mlictl-explain(1). */
void explained_json(struct jsonw *w, const struct explained *explained);

/*
 * The text picture of a move, for a terminal. A letter marks a moved element, in source and
 * destination alike. Up to 52 elements have a letter each. If there are more, a letter shows only
 * the coordinate in one dimension of the source, the most important one.
 */
struct picture_text_style {
    int columns;  /* columns of the terminal; no line is longer */
    bool utf8;    /* the locale's encoding is UTF-8 */
    bool palette; /* true: use 256 colours */
};

/** Returns the style for stdout: the terminal's columns (else 80) and colours, and the locale. */
struct picture_text_style picture_text_style(void);

/** Writes the picture of both sides and the legend. */
void picture_text(struct textw *w, const struct explained *explained,
                  const struct picture_text_style *style);

struct explain_output {
    struct print_style style;
    size_t explained; /* number of jobs explained until now */
    bool numbered;    /* a file after the first: its jobs may have names of earlier files */
    bool memcpy;      /* true: measure a memcpy of each job's bytes */
    bool c;           /* --c */
    bool picture;     /* true: print the text picture */
    bool on_stdout;   /* --svg, --trace or --timeline is "-": print nothing else */
    struct picture_text_style characters;
    struct svg_target svg;                   /* the caller counts drawings and job files here */
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

/* SPDX-License-Identifier: BSD-3-Clause */
/* Golden files that are needed no longer: GOLDEN.new of a case that passes again, and the files
 * that `mlictl batch --unused` lists. */
#pragma once

#include <stdbool.h>

#include "cli/batch/cases.h"
#include "cli/batch/kept.h"
#include "cli/job/job_files.h"
#include "cli/report/report.h"
#include "cli/term/exit_code.h"
#include "cli/term/print.h"

/** Returns GOLDEN.new on the heap if this file exists; or NULL. `golden` may be null. */
char *golden_new(const char *golden);

/** Returns whether GOLDEN.new exists for any golden file of the jobs. */
bool goldens_have_new(const struct job_file *file);

/**
 * Removes GOLDEN.new of the cases that passed, unless another case has the same golden file and did
 * not pass or is in cases->left_out, or a case names the file GOLDEN.new itself. Reports each file
 * that it removes.
 */
void goldens_clean(const struct cases *cases, struct batch_report *report);

/**
 * Prints the tensors and files of parameters that no case names: those of cases->others, and those
 * beside the golden files. Then prints the kept cases that belong to no case. Returns the exit
 * code, after printing an error.
 */
enum exit_code goldens_list_unused(const struct cases *cases, const struct keeping *keeping,
                                   struct print_style *style);

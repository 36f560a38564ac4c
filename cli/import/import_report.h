/* SPDX-License-Identifier: BSD-3-Clause */
/* The list of all nodes: import.json, and lines for people. */
#ifndef CLI_IMPORT_REPORT_H
#define CLI_IMPORT_REPORT_H

#include "cli/import/import.h"
#include "cli/term/print.h"
#include "proto/json/jsonw.h"
#include "proto/json/textw.h"

/** Writes the object of import.json and --json. */
void import_report_json(const struct import *import, struct jsonw *w);

/** Writes cases.txt: the manifest of the cases. */
void import_report_manifest(const struct import *import, struct textw *text);

/** Prints a line for each node. */
void import_report_nodes(const struct import *import, const struct print_style *style);

/** Prints the summary. */
void import_report_summary(const struct import *import, const struct print_style *style);

#endif /* CLI_IMPORT_REPORT_H */

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Checks outputs with parsers that share no code with the writers: JSON with the project's
 * parser and with the second reader of tests/support, XML with expat, metrics and TAP with a
 * checker of their grammar. Each function aborts, with the text, if the output is not well-formed.
 */
#ifndef TEST_WELL_FORMED_H
#define TEST_WELL_FORMED_H

#include <stddef.h>

void well_formed_json(const char *text, size_t length);
/** JSON with numbers that have fractions, which the project's parser refuses. */
void well_formed_any_json(const char *text, size_t length);
/** One JSON object in each line. */
void well_formed_json_lines(const char *text, size_t length);
void well_formed_xml(const char *text, size_t length);
/** The text exposition format of Prometheus, version 0.0.4. */
void well_formed_prometheus(const char *text, size_t length);
/** TAP 14: a version, a plan, and as many results in order. */
void well_formed_tap(const char *text, size_t length);
/** Valid UTF-8 without control characters but newlines. */
void well_formed_text(const char *text, size_t length);
/** Messages: lines without control characters. They quote names of files, which may have any other
 * bytes. */
void well_formed_messages(const char *text, size_t length);

#endif /* TEST_WELL_FORMED_H */

/* SPDX-License-Identifier: BSD-3-Clause */
/* Checks the markup of drawings. */
#ifndef TESTS_MARKUP_H
#define TESTS_MARKUP_H

/** Checks that tags are nested, quotes are in pairs, and texts are escaped. */
void markup_check(const char *svg);

#endif /* TESTS_MARKUP_H */

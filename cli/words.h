/* SPDX-License-Identifier: BSD-3-Clause */
/* Words that somebody may choose from. */
#ifndef CLI_WORDS_H
#define CLI_WORDS_H

enum { WORDS_TEXT_MAX = 256 };

/** "npy, raw or npz", as much of it as fits. Returns `out`. */
const char *words_text(char out[WORDS_TEXT_MAX], const char *const *words);

/**
 * The index of a word in the list, which ends with null; or -1 after saying on stderr that `what`
 * (as "--format") is none of them, and which one was probably meant.
 */
int words_find(const char *what, const char *given, const char *const *words);

#endif /* CLI_WORDS_H */

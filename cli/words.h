/* SPDX-License-Identifier: BSD-3-Clause */
/* Lists of words. An option or an argument takes one word of a list. */
#ifndef CLI_WORDS_H
#define CLI_WORDS_H

enum { WORDS_TEXT_MAX = 256 };

/** Writes "npy, raw or npz", cut to WORDS_TEXT_MAX. Returns `out`. */
const char *words_text(char out[WORDS_TEXT_MAX], const char *const *words);

/**
 * Returns the index of a word in the list, which ends with null; or -1 after printing that the word
 * is unknown, and the nearest word. `what` names the option in the message, as "--format".
 */
int words_find(const char *what, const char *given, const char *const *words);

#endif /* CLI_WORDS_H */

/* SPDX-License-Identifier: BSD-3-Clause */
/* Suggestions for misspelt words: "did you mean". */
#ifndef PROTO_NEAREST_H
#define PROTO_NEAREST_H

/**
 * Returns the word of `words` (null-terminated) that `given` most likely misspells, else the only
 * word that begins with `given`, else null.
 */
const char *nearest_word(const char *given, const char *const *words);

#endif /* PROTO_NEAREST_H */

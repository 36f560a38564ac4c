/* SPDX-License-Identifier: BSD-3-Clause */
/* "Did you mean": the nearest of some words. */
#ifndef PROTO_NEAREST_H
#define PROTO_NEAREST_H

/**
 * The word of `words` (null-terminated) that `given` is most likely a slip of, or the only one it
 * is the beginning of; null: none.
 */
const char *nearest_word(const char *given, const char *const *words);

#endif /* PROTO_NEAREST_H */

/* SPDX-License-Identifier: BSD-3-Clause */
/* Writes text into a growing buffer. As in jsonw.h, a failed allocation sets `failed`. */
#ifndef PROTO_TEXTW_H
#define PROTO_TEXTW_H

#include <stdbool.h>
#include <stddef.h>

struct textw {
    char *data; /* the text, zero-terminated; null until the first write */
    size_t length, capacity;
    bool failed;
};

void textw_init(struct textw *w);
void textw_finish(struct textw *w);
void textw_reset(struct textw *w);
void textw_printf(struct textw *w, const char *format, ...) __attribute__((format(printf, 2, 3)));

#endif /* PROTO_TEXTW_H */

/* SPDX-License-Identifier: BSD-3-Clause */
/* Text into a growing buffer, with the conventions of jsonw.h: a failed allocation is remembered.
 */
#ifndef PROTO_TEXTW_H
#define PROTO_TEXTW_H

#include <stdbool.h>
#include <stddef.h>

struct textw {
    char *data; /* zero-terminated once anything was written */
    size_t length, capacity;
    bool failed;
};

void textw_init(struct textw *w);
void textw_finish(struct textw *w);
void textw_reset(struct textw *w);
void textw_printf(struct textw *w, const char *format, ...) __attribute__((format(printf, 2, 3)));

#endif /* PROTO_TEXTW_H */

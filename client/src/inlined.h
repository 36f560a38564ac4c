/* SPDX-License-Identifier: BSD-3-Clause */
/* Descriptors that travel as bytes: what of them goes, and where it comes back to. */
#ifndef CLIENT_INLINED_H
#define CLIENT_INLINED_H

#include "client/src/client_state.h"

struct inlined {
    uint32_t count;
    uint64_t bytes[PROTO_FDS_MAX], sizes[PROTO_FDS_MAX];
    bool back[PROTO_FDS_MAX];
};

/** Measures the files. Returns 0 or a code. */
int inlined_init(struct inlined *inlined, const mli_client_attachment *attachments, size_t count,
                 mli_client_error *error);
/** The member "inline", with a comma before it. Returns its length, below 1280. */
int inlined_write(const struct inlined *inlined, char *text);
/** Duplicates the descriptors that bytes come back for. Returns 0 or a code. */
int inlined_keep_backs(const struct inlined *inlined, struct slot *slot,
                       const mli_client_attachment *attachments, mli_client_error *error);

#endif /* CLIENT_INLINED_H */

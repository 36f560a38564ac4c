/* SPDX-License-Identifier: BSD-3-Clause */
/* Converts the caller's mli_client_job to params and descriptors. */
#ifndef CLIENT_DESCRIBE_H
#define CLIENT_DESCRIBE_H

#include "client/src/client_state.h"
#include "proto/wire/job_ref.h"

struct job_parts {
    mli_client_attachment attachments[2];
    size_t count;
};

/** Writes the job as "params" of the client's next request, and its descriptors to *parts. Returns
 * 0 or an error code. */
int describe_job(mli_client *client, const mli_client_job *job, bool detach,
                 struct job_parts *parts, mli_client_error *error);

/** Converts references; *out borrows their names. Returns 0 or MLI_CLIENT_MISUSE. */
int describe_refs(const mli_client_ref *refs, size_t count, struct job_ref *out,
                  mli_client_error *error);

#endif /* CLIENT_DESCRIBE_H */

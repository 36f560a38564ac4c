/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Test helpers that call the methods buffer.* and the methods for prepared jobs. Every error fails
 * the test.
 */
#ifndef TEST_MEMORY_CALLS_H
#define TEST_MEMORY_CALLS_H

#include "proto/wire/methods.h"
#include "tests/unit/daemon/test_peer.h"

/** Sends a request without descriptors. `params` is JSON with ' instead of ". */
void send_call(struct peer *peer, int id, const char *method, const char *params);
/** Calls buffer.register with "fd" and further params, for example ",'size':4"; reads the reply. */
struct buffer_info register_buffer(struct peer *peer, int fd, const char *more);
/** Calls buffer.register, which must fail. */
const struct fault *refused_buffer(struct peer *peer, int fd, const char *more,
                                   enum fault_code code);
/** Returns buffer number `index` of the list of buffer.list, which must have `count` buffers. */
struct buffer_info list_buffers(struct peer *peer, size_t count, size_t index);
/** Calls buffer.release or job.release. */
void release_buffer(struct peer *peer, unsigned number);
void release_prepared(struct peer *peer, unsigned number);
/** Calls job.prepare; call job_prepared_finish() on the result. `fds` may be null. */
void prepare_job(struct peer *peer, const int *fds, size_t count, const char *params,
                 struct job_prepared *prepared);

/** Returns a memfd of zeros that may be sealed. */
int memfd_sealable(size_t size);

#endif /* TEST_MEMORY_CALLS_H */

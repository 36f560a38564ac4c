/* SPDX-License-Identifier: BSD-3-Clause */
/* Handlers of buffer.*. */
#ifndef DAEMON_CALL_BUFFER_H
#define DAEMON_CALL_BUFFER_H

struct call;
struct ended;

const struct ended *buffer_register_call(struct call *call);
const struct ended *buffer_alloc_call(struct call *call);
const struct ended *buffer_release_call(struct call *call);
const struct ended *buffer_list_call(struct call *call);

#endif /* DAEMON_CALL_BUFFER_H */

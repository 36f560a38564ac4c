/* SPDX-License-Identifier: BSD-3-Clause */
/* Adding and reading the cases of a queue on beanstalkd; see struct queue_backend. */
#ifndef CLI_QUEUE_BEANSTALK_STORE_H
#define CLI_QUEUE_BEANSTALK_STORE_H

#include "cli/queue/queue.h"

int beanstalk_add(void *state, const struct queue_case *cases, size_t count, uint32_t lease_ms,
                  bool again, struct queue_added *added, struct fault *fault);
int beanstalk_count(void *state, struct queue_counts *counts, struct fault *fault);
int beanstalk_status(void *state, struct queue_status *status, struct fault *fault);
int beanstalk_read(void *state, struct queue_entries *entries, struct fault *fault);
int beanstalk_remove(void *state, struct fault *fault);

#endif /* CLI_QUEUE_BEANSTALK_STORE_H */

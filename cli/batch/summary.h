/* SPDX-License-Identifier: BSD-3-Clause */
/* What became of a batch. */
#ifndef CLI_BATCH_SUMMARY_H
#define CLI_BATCH_SUMMARY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cli/batch/result.h"
#include "cli/exit_code.h"
#include "proto/json/json.h"
#include "proto/json/jsonw.h"

struct batch_summary {
    size_t count[CASE_STATUS_COUNT];
    size_t not_run;
    uint64_t ns; /* of the whole batch */
    enum exit_code exit;
};

/** Cases that ended. */
size_t batch_summary_ended(const struct batch_summary *summary);

/** DONE or FAILED, by what the cases ended with; a lost connection and ^C are the runner's to say.
 */
enum exit_code batch_summary_exit(const struct batch_summary *summary, bool flaky_is_good);

/** The members of an "end" event, `event` too, into the object that is open. */
void batch_summary_write(struct jsonw *w, const struct batch_summary *summary);
/** The reverse. Returns 0, or -1 with value's fault filled. */
int batch_summary_read(const struct json *value, struct batch_summary *summary);

#endif /* CLI_BATCH_SUMMARY_H */

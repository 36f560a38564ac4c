/* SPDX-License-Identifier: BSD-3-Clause */
/* Conversion of results and of descriptions of jobs from proto's structures to the caller's. */
#ifndef CLIENT_RESULT_H
#define CLIENT_RESULT_H

#include "client/src/client_error.h"
#include "proto/json/json.h"
#include "proto/wire/job_info.h"
#include "proto/wire/tensor_desc.h"

/** Reads the result of a job. Returns 0 or MLI_CLIENT_UNREADABLE. */
int result_read(const struct json *value, mli_client_result *result, mli_client_error *error);

/** Converts a description to a tensor and empties *desc. *owned becomes the block of the tensor's
 *  arrays, which the caller frees; or null. */
void result_take_layout(struct tensor_desc *desc, mli_tensor *tensor, void **owned);

/** Converts a job's description. */
void info_convert(mli_client_job_info *to, const struct job_info *from);

#endif /* CLIENT_RESULT_H */

/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef CLIENT_RESULT_H
#define CLIENT_RESULT_H

#include "client/src/client_error.h"
#include "proto/json/json.h"
#include "proto/wire/tensor_desc.h"

/** The result of a job. Returns 0 or MLI_CLIENT_UNREADABLE. */
int result_read(const struct json *value, mli_client_result *result, mli_client_error *error);

/** A layout as a tensor; *owned is what its arrays live in, to be freed. *desc is empty then. */
void result_take_layout(struct tensor_desc *desc, mli_tensor *tensor, void **owned);

#endif /* CLIENT_RESULT_H */

/* SPDX-License-Identifier: BSD-3-Clause */
/* Any method. */
#include <string.h>

#include "client/src/client_request.h"
#include "client/src/client_wait.h"

int mli_client_call(mli_client *client, const char *method, const char *params,
                    const mli_client_attachment *attachments, size_t count, int timeout_ms,
                    char **line, size_t *length, mli_client_error *error)
{
    mli_client_ticket ticket;
    struct request request = {.method = method,
                              .params = params,
                              .params_length = params ? strlen(params) : 0,
                              .attachments = attachments,
                              .count = count,
                              .kind = SLOT_LINE};
    int status = request_may_wait(client, error);
    if (status == 0)
        status = request_send(client, &request, &ticket, error);
    if (status)
        return status;
    status = wait_for_answer(client, ticket, timeout_ms, error);
    if (status == MLI_CLIENT_WAITED || status == MLI_CLIENT_INTERRUPTED)
        mli_client_forget(client, ticket);
    if (status)
        return status;
    struct slot *slot = table_find(&client->table, ticket);
    *line = slot->line;
    *length = slot->length;
    slot->line = NULL;
    table_release(&client->table, slot);
    return 0;
}

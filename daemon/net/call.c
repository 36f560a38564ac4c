/* SPDX-License-Identifier: BSD-3-Clause */
#include "daemon/net/call.h"

#include "daemon/base/seam.h"
#include "daemon/net/client.h"
#include "proto/wire/rpc.h"

void call_close_fds(struct call *call)
{
    for (size_t i = 0; i < call->fd_count; i++) {
        if (seam.seals(call->fds[i]) >= 0)
            seam.close(call->fds[i]);
        else
            client_close_fds(call->client, &call->fds[i], 1);
    }
    call->fd_count = 0;
}

void call_discard_fds(struct call *call)
{
    client_close_fds(call->client, call->fds, call->fd_count);
    call->fd_count = 0;
}

const struct ended *call_refuse(struct call *call)
{
    call_discard_fds(call);
    return answer_fault(&call->answer, &call->request->fault);
}

void call_complain_fds(struct call *call)
{
    fault_set(&call->request->fault, FAULT_INVALID_REQUEST, "/fds",
              "fds: this method takes no descriptors");
}

const struct ended *call_refuse_fds(struct call *call)
{
    call_complain_fds(call);
    return call_refuse(call);
}

int call_no_params(struct call *call)
{
    static const char *const none[] = {NULL};
    const struct json *params = &call->request->params;

    return json_present(params) ? json_object(params, none) : 0;
}

/* SPDX-License-Identifier: BSD-3-Clause */
#include "cli/batch/connector.h"

#include "cli/link/embedded.h"
#include "daemon/service.h"

bool connector_is_embedded(const struct options *options)
{
    return !options_get(options, "socket") && !options_get(options, "host");
}

int connector_init(struct connector *connector, const struct options *options, uint32_t channels,
                   struct client *first, struct fault *fault)
{
    *connector = (struct connector){.options = options};
    if (connector_is_embedded(options))
        return embedded_start(options, channels, &connector->service, first, fault);
    if (options_get(options, "limit-bytes"))
        return fault_set(fault, FAULT_INVALID_PARAMS, NULL,
                         "--limit-bytes cannot be combined with --socket or --host: a daemon has "
                         "its own limit");
    return client_open(first, options, fault);
}

int connector_open(const struct connector *connector, struct client *client, struct fault *fault)
{
    if (connector->service)
        return embedded_connect(connector->service, connector->options, client, fault);
    return client_open(client, connector->options, fault);
}

void connector_finish(struct connector *connector)
{
    service_thread_stop(connector->service);
    connector->service = NULL;
}

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Configurations: any text is accepted or refused. Refusing a text changes nothing. Reading an
 * accepted text twice gives equal configurations, whose values are within the limits and which have
 * a quota for any user.
 */
#include <syslog.h>

#include "daemon/config/address.h"
#include "daemon/config/config.h"
#include "mli_mov_api.h"
#include "tests/fuzz/fuzz.h"

static bool terminated(const char *text, size_t size)
{
    return memchr(text, '\0', size) != NULL;
}

static void check_texts(const struct config *config)
{
    char complaint[ADDRESS_COMPLAINT_MAX];
    struct address address;

    FUZZ_ASSERT(terminated(config->socket, sizeof config->socket));
    FUZZ_ASSERT(terminated(config->socket_group, sizeof config->socket_group));
    FUZZ_ASSERT(terminated(config->user, sizeof config->user));
    FUZZ_ASSERT(terminated(config->engine, sizeof config->engine));
    FUZZ_ASSERT(terminated(config->profile, sizeof config->profile));
    FUZZ_ASSERT(terminated(config->tuning, sizeof config->tuning));
    FUZZ_ASSERT(terminated(config->trace, sizeof config->trace));
    FUZZ_ASSERT(terminated(config->metrics, sizeof config->metrics));
    FUZZ_ASSERT(!config->metrics[0] || address_parse(config->metrics, &address, complaint) == 0);
}

static void check_numbers(const struct config *config)
{
    struct fault fault;

    FUZZ_ASSERT(config_check(config, &fault) == 0);
    FUZZ_ASSERT(config->channels >= 1);
    FUZZ_ASSERT(config->channel_offset + config->channels <= MLI_MOV_MAX_CHANNELS);
    FUZZ_ASSERT(config->socket_mode <= 0777);
    FUZZ_ASSERT(config->clients > 0 && config->jobs > 0 && config->jobs_per_client > 0);
    FUZZ_ASSERT(config->log_level >= LOG_ERR && config->log_level <= LOG_DEBUG);
    FUZZ_ASSERT(config->access.count <= ACCESS_UIDS_MAX);
    FUZZ_ASSERT(config->access.restricted || config->access.count == 0);
    FUZZ_ASSERT(config->quotas.count <= QUOTA_USERS_MAX);
}

static void check_users(const struct config *config)
{
    for (uint32_t i = 0; i < config->quotas.count; i++) {
        const struct quota *quota = config_quota(config, config->quotas.uids[i]);

        FUZZ_ASSERT(quota == &config->quotas.users[i]);
        FUZZ_ASSERT(quota->weight > 0 && quota->memory_percent <= 100);
    }
    for (uint32_t i = 0; i < config->access.count; i++)
        FUZZ_ASSERT(access_allows(&config->access, config->access.uids[i]));
    FUZZ_ASSERT(access_allows(&config->access, 0));
    FUZZ_ASSERT(config_quota(config, UINT32_MAX - 1)->weight > 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct config before, config, again;
    struct fault fault = {0};

    memset(&before, 0, sizeof before);
    config_defaults(&before);
    memcpy(&config, &before, sizeof config);
    if (config_read(&config, (const char *)data, size, &fault) < 0) {
        fuzz_check_fault(&fault);
        FUZZ_ASSERT(memcmp(&config, &before, sizeof config) == 0);
        return 0;
    }
    check_texts(&config);
    check_numbers(&config);
    check_users(&config);
    memcpy(&again, &before, sizeof again);
    FUZZ_ASSERT(config_read(&again, (const char *)data, size, &fault) == 0);
    FUZZ_ASSERT(memcmp(&config, &again, sizeof again) == 0);
    log_set_level(LOG_CRIT); /* hides warnings about keys that cannot change */
    (void)reload_keep(&before, &again);
    FUZZ_ASSERT(reload_keep(&before, &again) == 0);
    return 0;
}

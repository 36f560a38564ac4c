/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <syslog.h>
#include <unistd.h>

#include "daemon/config/config.h"
#include "tests/unit/daemon/test_peer.h"

static int read_text(struct config *config, const char *text, struct fault *fault)
{
    char quoted[8192];

    return config_read(config, quoted, peer_quote(text, quoted, sizeof quoted), fault);
}

static void accepts(struct config *config, const char *text)
{
    struct fault fault;

    config_defaults(config);
    if (read_text(config, text, &fault) < 0)
        fail_msg("%s: %s", text, fault.text);
}

static void refuses(const char *text, const char *pointer)
{
    struct config config, before;
    struct fault fault = {0};

    memset(&config, 0, sizeof config);
    config_defaults(&config);
    before = config;
    if (read_text(&config, text, &fault) == 0)
        fail_msg("accepted: %s", text);
    assert_string_equal(fault.pointer, pointer);
    assert_true(strlen(fault.text) > 0);
    assert_memory_equal(&config, &before, sizeof config);
}

static void test_defaults(void **state)
{
    struct config config, empty;
    struct fault fault;

    (void)state;
    config_defaults(&config);
    assert_string_equal(config.socket, "");
    assert_string_equal(config.engine, "");
    assert_int_equal(config.socket_mode, 0600);
    assert_int_equal(config.channels, 4);
    assert_int_equal(config.log_level, LOG_INFO);
    assert_int_equal(config_check(&config, &fault), 0);
    accepts(&empty, "{}");
    assert_memory_equal(&empty, &config, sizeof config);
}

/* The installed configuration file sets the default values. */
static void test_installed_file(void **state)
{
    struct config config, standard;
    struct fault fault;

    (void)state;
    config_defaults(&config);
    config_defaults(&standard);
    config.channels = 9;
    if (config_load(&config, MLID_JSON, &fault) < 0)
        fail_msg("%s", fault.text);
    assert_memory_equal(&config, &standard, sizeof config);
}

static void test_every_key(void **state)
{
    struct config c;

    (void)state;
    accepts(&c, "{'socket':'/tmp/x','socket_mode':'0660','channel_offset':2,'channels':14,"
                "'engine':'fault:threads,seed=7','profile':'./board.json',"
                "'limits':{'clients':1,'jobs_per_client':2,'jobs':3,'job_bytes':9007199254740991,"
                "'line_timeout_ms':0},'drain_ms':5,'log_level':'debug'}");
    assert_string_equal(c.socket, "/tmp/x");
    assert_int_equal(c.socket_mode, 0660);
    assert_int_equal(c.channel_offset, 2);
    assert_int_equal(c.channels, 14);
    assert_true(c.channels_given);
    assert_string_equal(c.engine, "fault:threads,seed=7");
    assert_string_equal(c.profile, "./board.json");
    assert_int_equal(c.clients, 1);
    assert_int_equal(c.jobs_per_client, 2);
    assert_int_equal(c.jobs, 3);
    assert_true(c.job_bytes == 9007199254740991);
    assert_int_equal(c.line_timeout_ms, 0);
    assert_int_equal(c.drain_ms, 5);
    assert_int_equal(c.log_level, LOG_DEBUG);
    accepts(&c, "{'channels':0}");
    assert_int_equal(c.channels, 4);
    assert_false(c.channels_given);
}

static void test_every_key_of_operations(void **state)
{
    struct config c;

    (void)state;
    accepts(&c, "{'socket_group':'dma','user':'mli','access':{'uids':[1000,0,4294967294]},"
                "'limits':{'buffers_per_client':0,'buffer_bytes_per_client':7,"
                "'prepared_per_client':8,'history':0},"
                "'scheduling':{'ageing_ms':9,'quantum_bytes':4096},"
                "'watchdog':{'limit_ms':0,'bytes_per_second':1,'quarantine_ms':3},"
                "'log_format':'json','metrics':{'listen':'127.0.0.1:9100'},'trace':'/tmp/t'}");
    assert_string_equal(c.socket_group, "dma");
    assert_string_equal(c.user, "mli");
    assert_true(c.access.restricted);
    assert_int_equal(c.access.count, 3);
    assert_int_equal(c.access.uids[2], 4294967294);
    assert_int_equal(c.buffers_per_client, 0);
    assert_int_equal(c.buffer_bytes_per_client, 7);
    assert_int_equal(c.prepared_per_client, 8);
    assert_int_equal(c.history, 0);
    assert_int_equal(c.scheduling.ageing_ms, 9);
    assert_int_equal(c.scheduling.quantum_bytes, 4096);
    assert_int_equal(c.watchdog.limit_ms, 0);
    assert_int_equal(c.watchdog.bytes_per_second, 1);
    assert_int_equal(c.watchdog.quarantine_ms, 3);
    assert_int_equal(c.log_format, LOG_FORMAT_JSON);
    assert_string_equal(c.metrics, "127.0.0.1:9100");
    assert_string_equal(c.trace, "/tmp/t");
}

static void assert_quota(const struct config *config, uint32_t uid, uint32_t clients, uint32_t jobs,
                         uint64_t bytes)
{
    const struct quota *quota = config_quota(config, uid);

    assert_int_equal(quota->clients, clients);
    assert_int_equal(quota->jobs, jobs);
    assert_true(quota->buffer_bytes == bytes);
}

/* A quota of a user that lacks a number has the number of "default", even if "default" comes later.
 */
static void test_quotas(void **state)
{
    char text[4096] = "{'quotas':{";
    struct config c;

    (void)state;
    accepts(&c, "{}");
    assert_quota(&c, 1000, UINT32_MAX, UINT32_MAX, UINT64_MAX);
    accepts(&c, "{'quotas':{'1000':{'jobs':3},'default':{'clients':2,'jobs':9},"
                "'0':{'buffer_bytes':0}}}");
    assert_quota(&c, 7, 2, 9, UINT64_MAX);
    assert_quota(&c, 1000, 2, 3, UINT64_MAX);
    assert_quota(&c, 0, 2, 9, 0);

    for (int i = 0; i < 64; i++)
        sprintf(text + strlen(text), "%s'%d':{'jobs':%d}", i ? "," : "", i, i + 1);
    strcat(text, "}}");
    accepts(&c, text);
    assert_quota(&c, 63, UINT32_MAX, 64, UINT64_MAX);
    assert_quota(&c, 64, UINT32_MAX, UINT32_MAX, UINT64_MAX);

    refuses("{'quotas':[]}", "/quotas");
    refuses("{'quotas':{'bob':{}}}", "/quotas/bob");
    refuses("{'quotas':{'01':{}}}", "/quotas/01");
    refuses("{'quotas':{'4294967295':{}}}", "/quotas/4294967295");
    refuses("{'quotas':{'1':{},'1':{}}}", "/quotas/1");
    refuses("{'quotas':{'default':{},'default':{}}}", "/quotas/default");
    refuses("{'quotas':{'default':{'jobs':0}}}", "/quotas/default/jobs");
    refuses("{'quotas':{'5':{'clients':4097}}}", "/quotas/5/clients");
    refuses("{'quotas':{'5':{'bytes':1}}}", "/quotas/5/bytes");
    refuses("{'quotas':{'5':{'buffer_bytes':-1}}}", "/quotas/5/buffer_bytes");
}

/*
 * Takes objects for one user until the rule refuses; all users together then have at most `total`.
 * Returns the number of objects taken.
 */
static uint32_t take_all(uint32_t limit, uint32_t total)
{
    uint32_t own = 0;

    while (quota_allows(QUOTA_SHARE, own, total + own, limit))
        own++;
    return own;
}

/* Lets the users take one object each, in turn. Returns how much of the limit is left. */
static uint32_t take_turns(uint32_t limit, uint32_t *own, uint32_t users)
{
    uint32_t total = 0, before;

    memset(own, 0, users * sizeof *own);
    do {
        before = total;
        for (uint32_t i = 0; i < users; i++) {
            if (!quota_allows(QUOTA_SHARE, own[i], total, limit))
                continue;
            own[i]++;
            total++;
        }
    } while (total > before);
    return limit - total;
}

static const uint32_t share_limits[] = {1, 2, 3, 4, 7, 60, 64, 1000, 1024};

static void test_shares_of_users_who_take_turns(void **state)
{
    uint32_t own[512];

    (void)state;
    for (size_t i = 0; i < COUNT_OF(share_limits); i++) {
        const uint32_t limit = share_limits[i];

        for (uint32_t users = 1; 3 * users + 1 <= limit; users++) {
            const uint32_t left = take_turns(limit, own, users);
            const uint32_t share = 3 * limit / (3 * users + 1);

            assert_true(left > 0); /* one connection or job is left for another user */
            for (uint32_t k = 0; k < users; k++) {
                assert_true(own[k] <= 3 * left);
                assert_in_range(own[k], share > 1 ? share - 1 : 1, share + 1);
            }
        }
    }
}

/* A user who comes later gets a share of the rest, and at least one object. */
static void test_shares_of_users_who_come_later(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(share_limits); i++) {
        const uint32_t limit = share_limits[i];

        for (uint32_t total = 0; total < limit;) {
            const uint32_t own = take_all(limit, total);
            const uint32_t most = (limit - total) * 3 / 4;

            assert_int_equal(own, most > 0 ? most : 1);
            total += own;
            assert_true(own == 1 || own <= 3 * (limit - total));
        }
    }
    assert_int_equal(take_all(60, 0), 45);
    assert_int_equal(take_all(60, 45), 11);
    assert_int_equal(take_all(60, 56), 3);
    assert_int_equal(take_all(60, 59), 1);
    assert_int_equal(take_all(60, 60), 0);
}

static void test_quota_replaces_share(void **state)
{
    (void)state;
    assert_true(quota_allows(5, 4, 9, 10));
    assert_false(quota_allows(5, 5, 5, 10));
    assert_false(quota_allows(5, 0, 10, 10)); /* the users have taken the whole limit */
}

static void test_access(void **state)
{
    char text[4096] = "{'access':{'uids':[0";
    struct config c;

    (void)state;
    accepts(&c, "{'access':{}}");
    assert_true(access_allows(&c.access, 12345));
    accepts(&c, "{'access':{'uids':[]}}");
    assert_true(access_allows(&c.access, 0));
    assert_true(access_allows(&c.access, (uint32_t)geteuid()));
    assert_false(access_allows(&c.access, 12345));
    accepts(&c, "{'access':{'uids':[12345]}}");
    assert_true(access_allows(&c.access, 12345));
    assert_false(access_allows(&c.access, 12346));

    refuses("{'access':[]}", "/access");
    refuses("{'access':{'uid':[]}}", "/access/uid");
    refuses("{'access':{'uids':7}}", "/access/uids");
    refuses("{'access':{'uids':[1,-1]}}", "/access/uids/1");
    refuses("{'access':{'uids':[4294967295]}}", "/access/uids/0");
    refuses("{'access':{'uids':['bob']}}", "/access/uids/0");
    for (int i = 0; i < 255; i++)
        strcat(text, ",77");
    strcat(text, "]}}");
    accepts(&c, text);
    strcpy(strchr(text, ']'), ",77]}}");
    refuses(text, "/access/uids");
}

static void refuses_listen(const char *address)
{
    char text[256];

    snprintf(text, sizeof text, "{'metrics':{'listen':'%s'}}", address);
    refuses(text, "/metrics/listen");
}

/* Only this machine may reach the metrics. */
static void test_metrics(void **state)
{
    char path[120], text[200];
    struct config c;

    (void)state;
    accepts(&c, "{'metrics':{}}");
    accepts(&c, "{'metrics':{'listen':''}}");
    accepts(&c, "{'metrics':{'listen':'unix:/run/mlid/metrics'}}");
    accepts(&c, "{'metrics':{'listen':'127.255.0.3:65535'}}");
    accepts(&c, "{'metrics':{'listen':'[::1]:1'}}");
    refuses_listen("0.0.0.0:9100");
    refuses_listen("10.0.0.1:9100");
    refuses_listen("[::]:9100");
    refuses_listen("[fe80::1]:9100");
    refuses_listen("[::ffff:127.0.0.1]:9100"); /* an IPv4 address in IPv6 form */
    refuses_listen("::1:9100");
    refuses_listen("[127.0.0.1]:9100");
    refuses_listen("localhost:9100");
    refuses_listen("127.0.0.1");
    refuses_listen("127.0.0.1:0");
    refuses_listen("127.0.0.1:65536");
    refuses_listen("127.0.0.1: 80");
    refuses_listen("127.0.0.1:80x");
    refuses_listen(":9100");
    refuses_listen("[]:9100");
    refuses_listen("[:9100");
    refuses_listen("[");
    refuses_listen("unix:metrics");
    memset(path, 'p', sizeof path);
    memcpy(path, "unix:/", 6);
    path[5 + 108] = '\0';
    refuses_listen(path);
    path[5 + 107] = '\0';
    snprintf(text, sizeof text, "{'metrics':{'listen':'%s'}}", path);
    accepts(&c, text);
    refuses("{'metrics':{'listen':7}}", "/metrics/listen");
    refuses("{'metrics':{'port':7}}", "/metrics/port");
    refuses("{'metrics':''}", "/metrics");
}

static void test_log_levels(void **state)
{
    struct config c;

    (void)state;
    accepts(&c, "{'log_level':'error'}");
    assert_int_equal(c.log_level, LOG_ERR);
    accepts(&c, "{'log_level':'warning'}");
    assert_int_equal(c.log_level, LOG_WARNING);
    accepts(&c, "{'log_level':'info'}");
    assert_int_equal(c.log_level, LOG_INFO);
    refuses("{'log_level':'loud'}", "/log_level");
    refuses("{'log_level':7}", "/log_level");
    assert_int_equal(config_set_log_level(&c, "Debug"), -1);
}

static void test_bad_values(void **state)
{
    char text[256];

    (void)state;
    refuses("{'socket':1}", "/socket");
    snprintf(text, sizeof text, "{'socket':'%0108d'}", 0);
    refuses(text, "/socket");
    refuses("{'socket_mode':'0800'}", "/socket_mode");
    refuses("{'socket_mode':'1777'}", "/socket_mode");
    refuses("{'socket_mode':'rw'}", "/socket_mode");
    refuses("{'socket_mode':'60'}", "/socket_mode");
    refuses("{'socket_mode':600}", "/socket_mode");
    refuses("{'channel_offset':16}", "/channel_offset");
    refuses("{'channel_offset':-1}", "/channel_offset");
    refuses("{'channels':-1}", "/channels");
    refuses("{'channels':17}", "/channels");
    refuses("{'channels':'4'}", "/channels");
    refuses("{'channel_offset':4,'channels':13}", "/channels");
    refuses("{'engine':7}", "/engine");
    refuses("{'engine':null}", "/engine");
    snprintf(text, sizeof text, "{'engine':'%0128d'}", 0);
    refuses(text, "/engine");
    refuses("{'drain_ms':-1}", "/drain_ms");
    refuses("{'drain_ms':3600001}", "/drain_ms");
    refuses("{'limits':[]}", "/limits");
    refuses("{'limits':{'clients':0}}", "/limits/clients");
    refuses("{'limits':{'clients':4097}}", "/limits/clients");
    refuses("{'limits':{'jobs_per_client':0}}", "/limits/jobs_per_client");
    refuses("{'limits':{'jobs':16385}}", "/limits/jobs");
    refuses("{'limits':{'job_bytes':0}}", "/limits/job_bytes");
    refuses("{'limits':{'job_bytes':true}}", "/limits/job_bytes");
    refuses("{'limits':{'line_timeout_ms':-5}}", "/limits/line_timeout_ms");
    refuses("{'limits':{'history':65537}}", "/limits/history");
    refuses("{'limits':{'prepared_per_client':16385}}", "/limits/prepared_per_client");
    refuses("{'limits':{'mappings':7}}", "/limits/mappings");
    refuses("{'limits':{'mappings':65537}}", "/limits/mappings");
    refuses("{'refuse_sparse':1}", "/refuse_sparse");
    refuses("{'memory_only':'yes'}", "/memory_only");
    refuses("{'scheduling':{'quantum_bytes':4095}}", "/scheduling/quantum_bytes");
    refuses("{'scheduling':{'quantum':4096}}", "/scheduling/quantum");
    refuses("{'watchdog':{'bytes_per_second':0}}", "/watchdog/bytes_per_second");
    refuses("{'watchdog':{'limit_ms':3600001}}", "/watchdog/limit_ms");
    refuses("{'watchdog':7}", "/watchdog");
    refuses("{'log_format':'xml'}", "/log_format");
    refuses("{'socket_group':50}", "/socket_group");
    snprintf(text, sizeof text, "{'user':'%064d'}", 0);
    refuses(text, "/user");
}

static void test_strictness(void **state)
{
    (void)state;
    refuses("{'chanels':4}", "/chanels");
    refuses("{'limits':{'job':4}}", "/limits/job");
    refuses("{'channels':4,'channels':4}", "/channels");
    refuses("{'limits':{'jobs':4,'jobs':4}}", "/limits/jobs");
    refuses("[]", "");
    refuses("{'channels':4.0}", "/channels");
    refuses("{'channels':4", "");
}

static void test_files(void **state)
{
    char name[] = "/tmp/mlid-config-XXXXXX";
    int fd = mkstemp(name);
    struct config config;
    struct fault fault;

    (void)state;
    config_defaults(&config);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, "{\n \"channels\": x}", 17), 17);
    assert_int_equal(config_load(&config, name, &fault), -1);
    assert_int_equal(fault.line, 2);
    assert_non_null(strstr(fault.text, name));
    assert_int_equal(ftruncate(fd, 100 * 1000), 0);
    assert_int_equal(config_load(&config, name, &fault), -1);
    unlink(name);
    close(fd);
    assert_int_equal(config_load(&config, name, &fault), -1);
    assert_non_null(strstr(fault.text, name));
    assert_int_equal(config_load(&config, "/", &fault), -1);
}

static void test_default_socket(void **state)
{
    struct config config;
    char long_path[200];

    (void)state;
    config_defaults(&config);
    setenv("XDG_RUNTIME_DIR", "/run/user/7", 1);
    config_default_socket(&config);
    assert_string_equal(config.socket, "/run/user/7/mlid.sock");
    unsetenv("XDG_RUNTIME_DIR");
    config_default_socket(&config);
    assert_string_equal(config.socket, "/run/user/7/mlid.sock");
    config.socket[0] = '\0';
    config_default_socket(&config);
    assert_string_equal(config.socket, "/run/mlid.sock");

    memset(long_path, 'x', sizeof long_path);
    long_path[0] = '/';
    long_path[sizeof long_path - 1] = '\0';
    setenv("XDG_RUNTIME_DIR", long_path, 1);
    config.socket[0] = '\0';
    config_default_socket(&config);
    assert_string_equal(config.socket, "/run/mlid.sock");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_defaults),
        cmocka_unit_test(test_installed_file),
        cmocka_unit_test(test_every_key),
        cmocka_unit_test(test_log_levels),
        cmocka_unit_test(test_bad_values),
        cmocka_unit_test(test_strictness),
        cmocka_unit_test(test_files),
        cmocka_unit_test(test_default_socket),
        cmocka_unit_test(test_every_key_of_operations),
        cmocka_unit_test(test_quotas),
        cmocka_unit_test(test_shares_of_users_who_take_turns),
        cmocka_unit_test(test_shares_of_users_who_come_later),
        cmocka_unit_test(test_quota_replaces_share),
        cmocka_unit_test(test_access),
        cmocka_unit_test(test_metrics),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

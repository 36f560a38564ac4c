/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <syslog.h>
#include <unistd.h>

#include "config.h"
#include "peer.h"

static int read_text(struct config *config, const char *text, struct fault *fault)
{
    char quoted[1024];

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

/* What is installed says what the program does without it. */
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
                "'engine':'fault:threads,seed=7',"
                "'limits':{'clients':1,'jobs_per_client':2,'jobs':3,'job_bytes':9007199254740991,"
                "'line_timeout_ms':0},'drain_ms':5,'log_level':'debug'}");
    assert_string_equal(c.socket, "/tmp/x");
    assert_int_equal(c.socket_mode, 0660);
    assert_int_equal(c.channel_offset, 2);
    assert_int_equal(c.channels, 14);
    assert_string_equal(c.engine, "fault:threads,seed=7");
    assert_int_equal(c.clients, 1);
    assert_int_equal(c.jobs_per_client, 2);
    assert_int_equal(c.jobs, 3);
    assert_true(c.job_bytes == 9007199254740991);
    assert_int_equal(c.line_timeout_ms, 0);
    assert_int_equal(c.drain_ms, 5);
    assert_int_equal(c.log_level, LOG_DEBUG);
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
    refuses("{'channels':0}", "/channels");
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
        cmocka_unit_test(test_defaults),   cmocka_unit_test(test_installed_file),
        cmocka_unit_test(test_every_key),  cmocka_unit_test(test_log_levels),
        cmocka_unit_test(test_bad_values), cmocka_unit_test(test_strictness),
        cmocka_unit_test(test_files),      cmocka_unit_test(test_default_socket),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* Acts as the service manager in tests of sd_notify(3). */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "daemon/ops/manager.h"
#include "tests/support/unit.h"

/* Binds a manager's socket to an address as it occurs in NOTIFY_SOCKET. */
static int manager(const char *name)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_NONBLOCK, 0);

    strcpy(address.sun_path, name);
    if (name[0] == '@')
        address.sun_path[0] = '\0';
    assert_int_equal(
        bind(fd, (struct sockaddr *)&address,
             (socklen_t)(offsetof(struct sockaddr_un, sun_path) + strlen(name) + (name[0] != '@'))),
        0);
    setenv("NOTIFY_SOCKET", name, 1);
    return fd;
}

static void assert_told(int fd, const char *want)
{
    char got[1024];
    ssize_t length = recv(fd, got, sizeof got - 1, 0);

    assert_true(length > 0);
    got[length] = '\0';
    assert_memory_equal(got, want, strlen(want));
}

static void talk(const char *name)
{
    int fd = manager(name);
    struct notify notify;
    char text[2000];

    notify_init(&notify);
    assert_null(getenv("NOTIFY_SOCKET"));
    notify_send(&notify, "READY=1\nSTATUS=%d channels", 4);
    assert_told(fd, "READY=1\nSTATUS=4 channels");
    notify_reloading(&notify);
    assert_told(fd, "RELOADING=1\nMONOTONIC_USEC=");
    memset(text, 'x', sizeof text);
    text[sizeof text - 1] = '\0';
    notify_send(&notify, "STATUS=%s", text); /* cut */
    assert_told(fd, "STATUS=xxxx");
    close(fd);
    notify_send(&notify, "READY=1"); /* the receiver is gone: no error */
}

static void test_path(void **state)
{
    char name[64];

    (void)state;
    snprintf(name, sizeof name, "/tmp/mlid-notify-%d", (int)getpid());
    talk(name);
    unlink(name);
}

static void test_abstract(void **state)
{
    char name[64];

    (void)state;
    snprintf(name, sizeof name, "@mlid-notify-%d", (int)getpid());
    talk(name);
}

static void test_no_service_manager(void **state)
{
    static const char *const names[] = {"", "@", "/", "relative", "vsock:2:1234"};
    char long_name[200];
    struct notify notify;

    (void)state;
    unsetenv("NOTIFY_SOCKET");
    setenv("WATCHDOG_USEC", "1000000", 1);
    notify_init(&notify);
    assert_int_equal(notify.length, 0);
    assert_int_equal(notify.watchdog_usec, 0);
    notify_send(&notify, "READY=1");
    for (size_t i = 0; i < COUNT_OF(names); i++) {
        setenv("NOTIFY_SOCKET", names[i], 1);
        notify_init(&notify);
        assert_int_equal(notify.length, 0);
    }
    memset(long_name, 'x', sizeof long_name);
    long_name[0] = '/';
    long_name[sizeof long_name - 1] = '\0';
    setenv("NOTIFY_SOCKET", long_name, 1);
    notify_init(&notify);
    assert_int_equal(notify.length, 0);
}

static uint64_t watchdog(const char *usec, const char *pid)
{
    struct notify notify;

    setenv("NOTIFY_SOCKET", "/nowhere", 1);
    setenv("WATCHDOG_USEC", usec, 1);
    if (pid)
        setenv("WATCHDOG_PID", pid, 1);
    notify_init(&notify);
    assert_null(getenv("WATCHDOG_USEC"));
    assert_null(getenv("WATCHDOG_PID"));
    return notify.watchdog_usec;
}

static void test_watchdog(void **state)
{
    char pid[16];

    (void)state;
    snprintf(pid, sizeof pid, "%d", (int)getpid());
    assert_int_equal(watchdog("3000000", NULL), 3000000);
    assert_int_equal(watchdog("3000000", pid), 3000000);
    assert_int_equal(watchdog("3000000", "1"), 0);
    assert_int_equal(watchdog("3000000", "x"), 0);
    assert_int_equal(watchdog("", NULL), 0);
    assert_int_equal(watchdog("-5", NULL), 0);
    assert_int_equal(watchdog("5s", NULL), 0);
    assert_int_equal(watchdog("99999999999999999999", NULL), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_path),
        cmocka_unit_test(test_abstract),
        cmocka_unit_test(test_no_service_manager),
        cmocka_unit_test(test_watchdog),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

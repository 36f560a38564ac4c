/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests activation_take() in child processes that have only descriptors 0 to 2. */
#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "daemon/ops/manager.h"
#include "tests/support/unit.h"

static int unix_listener(int type, int backlog)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    int fd = socket(AF_UNIX, type, 0);

    /* An abstract address for which the kernel chooses the name. */
    assert_int_equal(bind(fd, (struct sockaddr *)&address, sizeof address.sun_family), 0);
    if (backlog > 0)
        assert_int_equal(listen(fd, backlog), 0);
    return fd;
}

static int inet_listener(uint32_t address)
{
    struct sockaddr_in in = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(address)};
    int fd = socket(AF_INET, SOCK_STREAM, 0);

    assert_int_equal(bind(fd, (struct sockaddr *)&in, sizeof in), 0);
    assert_int_equal(listen(fd, 1), 0);
    return fd;
}

/* Returns which sockets a child process finds: 1 service, 2 metrics, 3 both, 0 none; 9: refused. */
static int take(const int *fds, int count, const char *names)
{
    struct activation activation;
    struct fault fault;
    char text[16];

    /*
     * First duplicate all descriptors, because a descriptor may have the number that another one
     * must get.
     */
    for (int i = 0; i < count; i++)
        dup2(fds[i], 100 + i);
    for (int i = 0; i < count; i++)
        dup2(100 + i, 3 + i);
    snprintf(text, sizeof text, "%d", (int)getpid());
    setenv("LISTEN_PID", text, 1);
    snprintf(text, sizeof text, "%d", count);
    setenv("LISTEN_FDS", text, 1);
    if (names)
        setenv("LISTEN_FDNAMES", names, 1);
    if (activation_take(&activation, &fault) < 0)
        return strlen(fault.text) > 0 ? 9 : 10;
    if (getenv("LISTEN_PID") || getenv("LISTEN_FDS") || getenv("LISTEN_FDNAMES"))
        return 11;
    if (activation.service >= 0 && !(fcntl(activation.service, F_GETFD) & FD_CLOEXEC))
        return 12;
    return (activation.service >= 0) + 2 * (activation.metrics >= 0);
}

static int took(const int *fds, int count, const char *names)
{
    int status;
    pid_t child = fork();

    if (child == 0)
        _exit(take(fds, count, names));
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status));
    return WEXITSTATUS(status);
}

static void test_names(void **state)
{
    const int fds[] = {unix_listener(SOCK_STREAM, 1), unix_listener(SOCK_STREAM, 1)};

    (void)state;
    assert_int_equal(took(fds, 1, NULL), 1);
    assert_int_equal(took(fds, 1, "unknown"), 1);
    assert_int_equal(took(fds, 1, "mlid"), 1);
    assert_int_equal(took(fds, 1, "metrics"), 2);
    assert_int_equal(took(fds, 2, "mlid:metrics"), 3);
    assert_int_equal(took(fds, 2, "metrics:mlid"), 3);
    assert_int_equal(took(fds, 0, ""), 0);
    assert_int_equal(took(fds, 1, "mlid2"), 9);
    assert_int_equal(took(fds, 2, "mlid:mlid"), 9);
    assert_int_equal(took(fds, 2, "mlid"), 9);
    assert_int_equal(took(fds, 2, NULL), 9);
    close(fds[0]);
    close(fds[1]);
}

static void test_kinds(void **state)
{
    const int plain = unix_listener(SOCK_STREAM, 0), datagrams = unix_listener(SOCK_DGRAM, 0),
              packets = unix_listener(SOCK_SEQPACKET, 1), file = open("/dev/null", O_RDWR),
              here = inet_listener(INADDR_LOOPBACK), everywhere = inet_listener(INADDR_ANY);

    (void)state;
    assert_int_equal(took(&plain, 1, "mlid"), 9);
    assert_int_equal(took(&datagrams, 1, "mlid"), 9);
    assert_int_equal(took(&packets, 1, "mlid"), 9);
    assert_int_equal(took(&file, 1, "mlid"), 9);
    assert_int_equal(took(&here, 1, "mlid"), 9);
    assert_int_equal(took(&here, 1, "metrics"), 2);
    assert_int_equal(took(&everywhere, 1, "metrics"), 9);
    assert_int_equal(took((const int[]){-1}, 1, "mlid"), 9);
    close(plain);
    close(datagrams);
    close(packets);
    close(file);
    close(here);
    close(everywhere);
}

static int with_environment(const char *pid, const char *count)
{
    struct activation activation;
    struct fault fault;

    setenv("LISTEN_PID", pid, 1);
    setenv("LISTEN_FDS", count, 1);
    if (activation_take(&activation, &fault) < 0)
        return -1;
    assert_int_equal(activation.metrics, -1);
    return activation.service;
}

static void test_environment(void **state)
{
    char pid[16];

    (void)state;
    snprintf(pid, sizeof pid, "%d", (int)getpid());
    assert_int_equal(with_environment("1", "1"), -1); /* LISTEN_PID names another process */
    assert_null(getenv("LISTEN_FDS"));
    assert_int_equal(with_environment(pid, "x"), -1);
    assert_int_equal(with_environment(pid, "-1"), -1);
    assert_int_equal(with_environment(pid, "99999999999999999999"), -1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_names),
        cmocka_unit_test(test_kinds),
        cmocka_unit_test(test_environment),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A service that is slow to receive descriptors. The kernel allows a user only as many sent,
 * unreceived descriptors as the limit of open files (error ETOOMANYREFS). Requests beyond this
 * number stay queued.
 */
#define _GNU_SOURCE
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/unit/client/fake.h"

enum { NOBODY = 65534, REQUESTS = 60, LIMIT = 100 };

/* Sends requests with two descriptors each, so half of the requests exceed the limit. */
static void send_all(mli_client *client, int fd)
{
    const mli_client_attachment attachments[] = {{.fd = fd}, {.fd = fd}};
    mli_client_ticket ticket;
    mli_client_error error;

    for (int i = 0; i < REQUESTS; i++) {
        if (mli_client_call_async(client, "buffer.register", "{}", attachments, 2, NULL, NULL,
                                  &ticket, &error)) {
            print_message("request %d: %s\n", i, error.message);
            _exit(1);
        }
    }
}

static int count_lines(const char *text)
{
    int lines = 0;

    for (; (text = strchr(text, '\n')); text++)
        lines++;
    return lines;
}

/* Runs in a process without privileges: privileged processes have no such limit. */
static void child(void)
{
    const struct rlimit limit = {LIMIT, LIMIT};
    struct fake fake;
    int fd = memfd_create("test", MFD_CLOEXEC), lines = 0;

    if (geteuid() == 0 && setuid(NOBODY))
        _exit(77);
    fake_init(&fake, 0);
    setrlimit(RLIMIT_NOFILE, &limit);
    send_all(fake.client, fd);
    if (!(mli_client_poll_events(fake.client) & POLLOUT)) /* some requests are queued */
        _exit(2);
    for (int i = 0; i < 1000 && lines < REQUESTS; i++) {
        lines += count_lines(fake_hear(&fake));
        mli_client_flush(fake.client, NULL);
    }
    _exit(lines == REQUESTS && mli_client_connected(fake.client) ? 0 : 3);
}

static void test_requests_stay_queued(void **state)
{
    const pid_t pid = fork();
    int status;

    (void)state;
    assert_true(pid >= 0);
    if (pid == 0)
        child();
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_true(WIFEXITED(status));
    if (WEXITSTATUS(status) == 77)
        skip();
    assert_int_equal(WEXITSTATUS(status), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_requests_stay_queued),
    };

    return cmocka_run_group_tests_name("client crowd", tests, NULL, NULL);
}

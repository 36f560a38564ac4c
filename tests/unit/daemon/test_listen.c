/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests accepting connections: access, quotas, and running out of descriptors. */
#include <errno.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "daemon/base/seam.h"
#include "tests/unit/daemon/gate.h"
#include "tests/unit/daemon/service_thread.h"

static struct server server;
static struct seam real;
static int idle_fds;

static int setup(void **state)
{
    (void)state;
    real = seam;
    idle_fds = count_fds();
    server_config(&server);
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    server_stop(&server);
    seam = real;
    assert_int_equal(count_fds(), idle_fds);
    return 0;
}

static void test_limit_of_clients(void **state)
{
    struct peer first, second, third;

    (void)state;
    server.config.clients = 2;
    server.config.quotas.standard.clients = 2;
    server_start(&server);
    server_connect(&server, &first);
    server_connect(&server, &second);
    peer_expect_alive(&first);
    peer_expect_alive(&second);
    for (int i = 0; i < 50; i++) {
        server_connect(&server, &third);
        peer_error(&third, -1, FAULT_LIMIT);
        peer_expect_end(&third);
        peer_finish(&third);
    }
    assert_int_equal(peer_info(&first).clients, 2);
    peer_finish(&second);
    while (peer_info(&first).clients > 1)
        ;
    server_connect(&server, &third);
    peer_expect_alive(&third);
    peer_finish(&third);
    peer_finish(&first);
}

static void test_mode_of_the_socket(void **state)
{
    struct stat st;

    (void)state;
    server.config.socket_mode = 0640;
    server_start(&server);
    assert_int_equal(stat(server.config.socket, &st), 0);
    assert_int_equal(st.st_mode & 0777, 0640);
}

/* Connects as another user in a child process, which prints the first line that it receives. */
static void first_line_as(uid_t uid, char *line, size_t size)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    int pipes[2];
    ssize_t got;
    pid_t child;

    strcpy(address.sun_path, server.config.socket);
    assert_int_equal(pipe(pipes), 0);
    child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        static const char ping[] = "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"daemon.ping\"}\n";
        int fd = socket(AF_UNIX, SOCK_STREAM, 0);

        if (setuid(uid) < 0 || connect(fd, (struct sockaddr *)&address, sizeof address) < 0)
            _exit(1);
        (void)!send(fd, ping, sizeof ping - 1, MSG_NOSIGNAL);
        got = recv(fd, line, size, 0);
        _exit(got <= 0 || write(pipes[1], line, (size_t)got) != got);
    }
    close(pipes[1]);
    got = read(pipes[0], line, size - 1);
    assert_true(got > 0);
    line[got] = '\0';
    close(pipes[0]);
    waitpid(child, NULL, 0);
}

/* Only root can run this test. */
static bool cannot_become_others(void)
{
    server.config.socket_mode = 0666;
    server_start(&server);
    return geteuid() != 0 || chmod(server.directory, 0755) < 0;
}

static void test_access(void **state)
{
    char line[1024];

    (void)state;
    server.config.access.restricted = true;
    server.config.access.uids[server.config.access.count++] = 4711;
    if (cannot_become_others())
        skip();
    first_line_as(4711, line, sizeof line);
    assert_null(strstr(line, "FORBIDDEN"));
    first_line_as(0, line, sizeof line);
    assert_null(strstr(line, "FORBIDDEN"));
    first_line_as(4712, line, sizeof line);
    assert_non_null(strstr(line, "FORBIDDEN"));
    assert_non_null(strstr(line, "\"id\":null"));
}

static void test_quota_of_clients(void **state)
{
    char line[1024];
    struct peer peer;

    (void)state;
    server.config.quotas.standard.clients = 1;
    server.config.clients_reserved = 0;
    if (cannot_become_others())
        skip();
    server_connect(&server, &peer);
    peer_expect_alive(&peer);
    first_line_as(4711, line, sizeof line);
    assert_null(strstr(line, "LIMIT"));
    first_line_as(0, line, sizeof line);
    assert_non_null(strstr(line, "\"LIMIT\""));
    assert_non_null(strstr(line, "quotas: user 0 has 1 connections; at most 1"));
    peer_finish(&peer);
}

/* Without a quota, one user gets at most three quarters of limits.clients. */
static void test_share_of_clients(void **state)
{
    struct peer peers[6], refused;

    (void)state;
    server.config.clients = 8;
    server.config.clients_reserved = 0;
    server_start(&server);
    for (size_t i = 0; i < COUNT_OF(peers); i++) {
        server_connect(&server, &peers[i]);
        peer_expect_alive(&peers[i]);
    }
    server_connect(&server, &refused);
    assert_non_null(strstr(peer_error(&refused, -1, FAULT_LIMIT)->text, "kept for other users"));
    peer_finish(&refused);
    for (size_t i = 0; i < COUNT_OF(peers); i++)
        peer_finish(&peers[i]);
}

/*
 * Holds `count` connections as another user until *hold is closed. Returns the process that holds
 * them.
 */
static pid_t crowd_as(uid_t uid, int count, int *hold)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    int ready[2], end[2];
    pid_t child;
    char byte;

    strcpy(address.sun_path, server.config.socket);
    assert_int_equal(pipe(ready) + pipe(end), 0);
    child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        close(end[1]);
        if (setuid(uid) < 0)
            _exit(1);
        for (int i = 0; i < count; i++) {
            int fd = socket(AF_UNIX, SOCK_STREAM, 0);

            if (connect(fd, (struct sockaddr *)&address, sizeof address) < 0)
                _exit(1);
            (void)!recv(fd, &byte, 1, 0); /* receives the greeting or the refusal */
        }
        (void)!write(ready[1], "", 1);
        _exit(read(end[0], &byte, 1) != 0);
    }
    close(end[0]);
    close(ready[1]);
    assert_int_equal(read(ready[0], &byte, 1), 1);
    close(ready[0]);
    *hold = end[1];
    return child;
}

/* Root can connect even if other users have all open slots, and beyond root's own quota. */
static void test_slots_for_root(void **state)
{
    char line[1024];
    struct peer peers[3];
    int holds[2];

    (void)state;
    server.config.clients = 12;
    server.config.clients_reserved = 3;
    server.config.quotas.standard.clients = 10;
    if (cannot_become_others())
        skip();
    crowd_as(4711, 8, &holds[0]);
    crowd_as(4712, 8, &holds[1]);
    first_line_as(4713, line, sizeof line);
    assert_non_null(strstr(line, "reserved for root"));
    for (size_t i = 0; i < COUNT_OF(peers); i++) {
        server_connect(&server, &peers[i]);
        peer_expect_alive(&peers[i]);
    }
    assert_int_equal(peer_info(&peers[0]).clients, 12);
    first_line_as(0, line, sizeof line);
    assert_non_null(strstr(line, "\"LIMIT\""));
    close(holds[0]);
    close(holds[1]);
    while (wait(NULL) > 0)
        ;
    while (peer_info(&peers[0]).clients > 3)
        ;
    first_line_as(4713, line, sizeof line);
    assert_null(strstr(line, "LIMIT"));
    for (size_t i = 0; i < COUNT_OF(peers); i++)
        peer_finish(&peers[i]);
}

static void test_owner_of_the_socket(void **state)
{
    struct stat st;

    (void)state;
    if (geteuid() == 0)
        strcpy(server.config.user, "65534");
    snprintf(server.config.socket_group, sizeof server.config.socket_group, "%u",
             geteuid() == 0 ? 4711U : (unsigned)getegid());
    server_start(&server);
    assert_int_equal(stat(server.config.socket, &st), 0);
    assert_int_equal(st.st_uid, geteuid() == 0 ? 65534 : geteuid());
    assert_int_equal(st.st_gid, geteuid() == 0 ? 4711 : getegid());
    assert_int_equal(st.st_mode & 0777, 0600);
}

static atomic_int accept_errors, accept_errno, accept_calls;

static int accept_fails(int listener)
{
    atomic_fetch_add(&accept_calls, 1);
    if (atomic_fetch_sub(&accept_errors, 1) > 0) {
        errno = atomic_load(&accept_errno);
        return -1;
    }
    return real.accept(listener);
}

static void fail_accept(int error, int times)
{
    atomic_store(&accept_errno, error);
    atomic_store(&accept_errors, times);
    atomic_store(&accept_calls, 0);
    seam.accept = accept_fails;
}

/*
 * If no descriptor is left, the service accepts a connection with its reserve descriptor, to send
 * the reason.
 */
static void test_no_descriptors(void **state)
{
    struct peer peer;

    (void)state;
    fail_accept(EMFILE, 1);
    server_start(&server);
    server_connect(&server, &peer);
    peer_error(&peer, -1, FAULT_LIMIT);
    peer_expect_end(&peer);
    peer_finish(&peer);
    server_connect(&server, &peer);
    peer_expect_alive(&peer);
    peer_finish(&peer);
}

/* If even the reserve is used up, the loop must not spin on the backlog: the service retries later.
 */
static void pauses(int error)
{
    const struct timespec pause = {.tv_nsec = 300 * 1000 * 1000};
    struct peer peer;

    fail_accept(error, 2);
    server_start(&server);
    server_connect(&server, &peer);
    nanosleep(&pause, NULL);
    assert_in_range(atomic_load(&accept_calls), 1, 2);
    peer_expect_alive(&peer);
    peer_finish(&peer);
}

static void test_no_descriptors_and_no_reserve(void **state)
{
    (void)state;
    pauses(EMFILE);
}

static void test_no_memory_in_the_kernel(void **state)
{
    (void)state;
    pauses(ENOBUFS);
}

static void test_aborted_connections(void **state)
{
    struct peer peer;

    (void)state;
    fail_accept(ECONNABORTED, 3);
    server_start(&server);
    server_connect(&server, &peer);
    peer_expect_alive(&peer);
    peer_finish(&peer);
}

/* Uses up all descriptors that the limit of the process allows. */
static void test_real_limit(void **state)
{
    const char *preload = getenv("LD_PRELOAD");
    struct rlimit before, tight;
    struct peer living, peer;

    (void)state;
    server_start(&server);
    if (preload && strstr(preload, "vgpreload"))
        skip(); /* valgrind has its own idea of that limit */
    server_connect(&server, &living);
    peer_expect_alive(&living);
    getrlimit(RLIMIT_NOFILE, &before);
    tight = before;
    tight.rlim_cur = (rlim_t)dup(0);
    close((int)tight.rlim_cur++);
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &tight), 0);
    server_connect(&server, &peer); /* this connection takes the last descriptor */
    peer_error(&peer, -1, FAULT_LIMIT);
    peer_expect_end(&peer);
    peer_expect_alive(&living);
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &before), 0);
    peer_finish(&peer);
    peer_finish(&living);
}

/* Tests that embedded services can start and stop one after another. */
static void test_embedded(void **state)
{
    struct fixture fixture;

    (void)state;
    service_thread_stop(NULL);
    for (int i = 0; i < 20; i++) {
        fixture_config(&fixture.config);
        fixture_start(&fixture);
        if (i % 2)
            peer_expect_alive(&fixture.peer);
        if (i % 3 == 0) {
            peer_finish(&fixture.peer);
            service_thread_stop(fixture.thread);
        } else {
            fixture_stop(&fixture);
        }
    }
    server_start(&server); /* the teardown stops this service */
}

/* Two services cannot share the library's channels while the channels are in use. */
static void test_channels_in_use(void **state)
{
    struct fixture fixture;
    struct service_thread *second;
    struct gate gate = {.flags = 0};
    int src = memfd_with("x", 1), dst = memfd_with(NULL, 1), socket;

    (void)state;
    fixture_config(&fixture.config);
    gate_close(&gate, &fixture.config);
    fixture_start(&fixture);
    peer_submit(&fixture.peer, 1, src, dst,
                "'op':'mov','src':{'fd':0,'type':'fx8','shape':[1]},'dst':{'fd':1}");
    gate_wait(&gate);
    assert_int_equal(service_thread_start(&fixture.config, &second, &socket), -EBUSY);
    assert_null(second);
    gate_release(&gate);
    peer_ok(&fixture.peer, 1);
    fixture_stop(&fixture);
    gate_remove(&gate);
    close(src);
    close(dst);
    server_start(&server);
}

#define LISTEN_TEST(function) cmocka_unit_test_setup_teardown(function, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        LISTEN_TEST(test_limit_of_clients),
        LISTEN_TEST(test_mode_of_the_socket),
        LISTEN_TEST(test_owner_of_the_socket),
        LISTEN_TEST(test_access),
        LISTEN_TEST(test_quota_of_clients),
        LISTEN_TEST(test_share_of_clients),
        LISTEN_TEST(test_slots_for_root),
        LISTEN_TEST(test_no_descriptors),
        LISTEN_TEST(test_no_descriptors_and_no_reserve),
        LISTEN_TEST(test_no_memory_in_the_kernel),
        LISTEN_TEST(test_aborted_connections),
        LISTEN_TEST(test_real_limit),
        LISTEN_TEST(test_embedded),
        LISTEN_TEST(test_channels_in_use),
    };

    return cmocka_run_group_tests(tests, fixture_warm_up, NULL);
}

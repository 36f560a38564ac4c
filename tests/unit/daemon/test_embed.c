/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests the embedded service on its own thread, with connections from other threads. */
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "mli_engine.h"
#include "tests/unit/daemon/gate.h"
#include "tests/unit/daemon/service_thread.h"
#include "tests/unit/daemon/test_peer.h"

enum { THREADS = 4, ROUNDS = 50, LIMIT_MS = 50 };

#define COPY "'op':'mov','src':{'fd':0,'type':'fx8','shape':[4]},'dst':{'fd':1}"

static struct fixture fixture;
static int idle_fds;

static int setup(void **state)
{
    (void)state;
    idle_fds = count_fds();
    fixture_config(&fixture.config);
    fixture_start(&fixture);
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    fixture_stop(&fixture);
    assert_int_equal(count_fds(), idle_fds);
    return 0;
}

/* Runs a move over its own connection. Returns a text that says what failed, or NULL. */
static const char *session(void)
{
    int socket, src = memfd_with("abcd", 4), dst = memfd_with("....", 4);
    char found[5] = "";
    struct peer peer;

    if (service_thread_connect(fixture.thread, &socket) != 0)
        return "no connection";
    peer_init(&peer, socket);
    peer_submit(&peer, 1, src, dst, COPY);
    peer_ok(&peer, 1);
    peer_finish(&peer);
    const bool moved = pread(dst, found, 4, 0) == 4 && strcmp(found, "abcd") == 0;
    close(src);
    close(dst);
    return moved ? NULL : "nothing was moved";
}

static void *many_sessions(void *complaint)
{
    const char **failure = complaint;

    for (int i = 0; i < ROUNDS && !*failure; i++)
        *failure = session();
    return NULL;
}

static void test_from_several_threads(void **state)
{
    pthread_t threads[THREADS];
    const char *complaints[THREADS] = {NULL};

    (void)state;
    for (int i = 0; i < THREADS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, many_sessions, &complaints[i]), 0);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    for (int i = 0; i < THREADS; i++) {
        if (complaints[i])
            fail_msg("%s", complaints[i]);
    }
    peer_expect_alive(&fixture.peer);
}

/* The service stops before its clients close their connections: the connections end too. */
static void test_stop_with_connections(void **state)
{
    struct peer others[THREADS];
    int socket;

    (void)state;
    for (int i = 0; i < THREADS; i++) {
        assert_int_equal(service_thread_connect(fixture.thread, &socket), 0);
        peer_init(&others[i], socket);
        peer_expect_alive(&others[i]);
    }
    service_thread_stop(fixture.thread);
    for (int i = 0; i < THREADS; i++) {
        peer_expect_end(&others[i]);
        peer_finish(&others[i]);
    }
    fixture.thread = NULL;
}

static void test_without_descriptors(void **state)
{
    const char *preload = getenv("LD_PRELOAD");
    struct rlimit limit, none;
    int socket = -1;

    (void)state;
    if (preload && strstr(preload, "vgpreload"))
        skip(); /* valgrind changes this limit */
    assert_int_equal(getrlimit(RLIMIT_NOFILE, &limit), 0);
    none = limit;
    none.rlim_cur = 3;
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &none), 0);
    const int error = service_thread_connect(fixture.thread, &socket);
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &limit), 0);
    assert_int_equal(error, -EMFILE);
    assert_int_equal(socket, -1);
    assert_null(session());
}

/* Returns whether the job that is held at the gate fails within a few times LIMIT_MS. */
static bool is_ended(struct peer *peer)
{
    usleep(6 * LIMIT_MS * 1000);
    return peer_info(peer).jobs_failed > 0;
}

/* Returns whether the watchdog ends a job that takes far longer than watchdog.limit_ms. */
static bool is_watched(uint32_t channel_flags)
{
    struct gate gate = {.flags = channel_flags};
    int src = memfd_with("abcd", 4), dst = memfd_with("....", 4);
    bool stuck = true;

    fixture_config(&fixture.config);
    fixture.config.watchdog.limit_ms = LIMIT_MS;
    gate_close(&gate, &fixture.config);
    fixture_start(&fixture);
    peer_submit(&fixture.peer, 1, src, dst, COPY);
    gate_wait(&gate);
    if (channel_flags & MLI_CHANNEL_CPU) {
        stuck = is_ended(&fixture.peer);
        gate_release(&gate);
        peer_ok(&fixture.peer, 1);
    } else {
        peer_error(&fixture.peer, 1, FAULT_CHANNEL_STUCK);
        gate_release(&gate);
    }
    fixture_stop(&fixture);
    gate_remove(&gate);
    close(src);
    close(dst);
    return stuck;
}

/* The watchdog of an embedded service watches only devices, not the engine's threads. */
static void test_watchdog(void **state)
{
    (void)state;
    assert_false(is_watched(MLI_CHANNEL_CPU));
    assert_true(is_watched(0));
}

/* Configuring an embedded service again does not start its watchdog. */
static void test_watchdog_after_reconfigure(void **state)
{
    struct gate gate = {.flags = MLI_CHANNEL_CPU};
    int src = memfd_with("abcd", 4), dst = memfd_with("....", 4);
    struct server server;
    struct peer peer;

    (void)state;
    server_config(&server);
    server.config.embedded = true;
    server.config.watchdog.limit_ms = LIMIT_MS;
    server.reconfigures = true;
    gate_close(&gate, &server.config);
    server_start(&server);
    server_connect(&server, &peer);
    peer_submit(&peer, 1, src, dst, COPY);
    gate_wait(&gate);
    assert_false(is_ended(&peer));
    gate_release(&gate);
    peer_ok(&peer, 1);
    peer_finish(&peer);
    server_stop(&server);
    gate_remove(&gate);
    close(src);
    close(dst);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_from_several_threads, setup, teardown),
        cmocka_unit_test_setup_teardown(test_stop_with_connections, setup, teardown),
        cmocka_unit_test_setup_teardown(test_without_descriptors, setup, teardown),
        cmocka_unit_test(test_watchdog),
        cmocka_unit_test(test_watchdog_after_reconfigure),
    };

    return cmocka_run_group_tests_name("embed", tests, fixture_warm_up, NULL);
}

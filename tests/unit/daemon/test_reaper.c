/* SPDX-License-Identifier: BSD-3-Clause */
/* Descriptors that do not close, and who else notices it. */
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include "fdpass.h"
#include "job_calls.h"
#include "memory_calls.h"
#include "reaper.h"
#include "seam.h"
#include "server.h"

enum { ALICE = 1, BOB, CAROL, USERS = 40, TOO_MANY = PROTO_FDS_MAX + 4 };

static struct seam real;
static int fds_before;

/* close(2) of sockets blocks until it is let go; the scene's own are not closed through the seam.
 */
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static unsigned blocked, most_blocked, closed;
static bool open_gate;
static atomic_uint reliefs;

static bool is_tcp(int fd)
{
    int domain = 0;
    socklen_t length = sizeof domain;

    return getsockopt(fd, SOL_SOCKET, SO_DOMAIN, &domain, &length) == 0 && domain == AF_INET;
}

static int gated_close(int fd)
{
    const bool blocks = is_tcp(fd);

    pthread_mutex_lock(&mutex);
    blocked += blocks;
    if (blocked > most_blocked)
        most_blocked = blocked;
    pthread_cond_broadcast(&changed);
    while (blocks && !open_gate)
        pthread_cond_wait(&changed, &mutex);
    blocked -= blocks;
    closed++;
    pthread_cond_broadcast(&changed);
    pthread_mutex_unlock(&mutex);
    return close(fd);
}

static void let_go(void)
{
    pthread_mutex_lock(&mutex);
    open_gate = true;
    pthread_cond_broadcast(&changed);
    pthread_mutex_unlock(&mutex);
}

static void wait_until_blocked(unsigned count)
{
    pthread_mutex_lock(&mutex);
    while (blocked < count)
        pthread_cond_wait(&changed, &mutex);
    pthread_mutex_unlock(&mutex);
}

static void wait_until_closed(unsigned count)
{
    pthread_mutex_lock(&mutex);
    while (closed < count)
        pthread_cond_wait(&changed, &mutex);
    pthread_mutex_unlock(&mutex);
}

static int stuck(void)
{
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

    assert_true(fd >= 0);
    return fd;
}

static int easy(void)
{
    int fd = open("/dev/null", O_RDONLY | O_CLOEXEC);

    assert_true(fd >= 0);
    return fd;
}

static void give(uid_t uid, int fd)
{
    reaper_close(uid, &fd, 1);
}

static void count_relief(void *context)
{
    (void)context;
    atomic_fetch_add(&reliefs, 1);
}

static int setup(void **state)
{
    (void)state;
    real = seam;
    seam.close = gated_close;
    blocked = most_blocked = closed = 0;
    open_gate = false;
    atomic_store(&reliefs, 0);
    fds_before = count_fds();
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    seam = real;
    assert_int_equal(count_fds(), fds_before);
    return 0;
}

/* A descriptor that does not close delays those of the same user only. */
static void test_one_blocks(void **state)
{
    (void)state;
    assert_int_equal(reaper_start(NULL, NULL), 0);
    give(ALICE, stuck());
    wait_until_blocked(1);
    give(ALICE, easy());
    for (int i = 0; i < 100; i++)
        give(i % 2 ? BOB : CAROL, easy());
    wait_until_closed(100);
    assert_int_equal(blocked, 1);
    let_go();
    reaper_wait();
    assert_int_equal(closed, 102);
    assert_int_equal(reaper_stop(), 0);
}

/* A user has one thread at most, however many of his descriptors do not close. */
static void test_one_thread_a_user(void **state)
{
    (void)state;
    assert_int_equal(reaper_start(NULL, NULL), 0);
    for (int i = 0; i < 20; i++)
        give(ALICE, stuck());
    wait_until_blocked(1);
    for (int i = 0; i < 10; i++)
        give(BOB, easy());
    wait_until_closed(10);
    assert_int_equal(most_blocked, 1);
    let_go();
    reaper_wait();
    assert_int_equal(reaper_stop(), 0);
}

static void test_bounded_threads(void **state)
{
    (void)state;
    assert_int_equal(reaper_start(NULL, NULL), 0);
    for (int i = 0; i < USERS; i++)
        give((uid_t)i, stuck());
    wait_until_blocked(REAPER_THREADS_MAX);
    let_go();
    reaper_wait();
    assert_int_equal(most_blocked, REAPER_THREADS_MAX);
    assert_int_equal(closed, USERS);
    assert_int_equal(reaper_stop(), 0);
}

static void test_bounded_descriptors(void **state)
{
    (void)state;
    assert_int_equal(reaper_start(count_relief, NULL), 0);
    assert_false(reaper_full(ALICE));
    for (int i = 0; i < REAPER_FDS_MAX; i++) {
        assert_false(reaper_full(ALICE));
        give(ALICE, stuck());
    }
    assert_true(reaper_full(ALICE));
    assert_false(reaper_full(BOB));
    assert_false(reaper_overfull());
    assert_int_equal(atomic_load(&reliefs), 0);
    let_go();
    reaper_wait();
    assert_false(reaper_full(ALICE));
    assert_int_equal(atomic_load(&reliefs), 1);
    assert_int_equal(reaper_stop(), 0);
}

/* The end does not wait for ever. What is left closes later, or with the process. */
static void test_stop_while_blocked(void **state)
{
    (void)state;
    assert_int_equal(reaper_start(NULL, NULL), 0);
    give(ALICE, stuck());
    give(ALICE, stuck());
    give(BOB, easy());
    assert_int_equal(reaper_stop(), 2);
    give(BOB, easy()); /* by this thread: there is no reaper */
    assert_int_equal(closed, 2);
    assert_int_equal(reaper_start(NULL, NULL), 0);
    give(BOB, easy());
    wait_until_closed(3);
    let_go();
    reaper_wait();
    assert_int_equal(reaper_stop(), 0);
}

static void *no_calloc(size_t count, size_t size)
{
    (void)count, (void)size;
    return NULL;
}

static void test_short_memory(void **state)
{
    (void)state;
    assert_int_equal(reaper_start(NULL, NULL), 0);
    seam.calloc = no_calloc;
    give(ALICE, easy());
    assert_int_equal(closed, 1);
    seam.calloc = real.calloc;
    assert_int_equal(reaper_stop(), 0);
}

/* The service answers other clients while descriptors of one client do not close. */
static void refuse_stuck(struct peer *peer, int count, bool announce)
{
    for (int i = 0; i < count; i++) {
        int fd = stuck();

        if (announce) {
            peer_send(peer, &fd, 1,
                      "{'jsonrpc':'2.0','id':1,'method':'buffer.register','fds':1,"
                      "'params':{'fd':0}}");
            peer_error(peer, 1, FAULT_BAD_DESCRIPTOR);
        } else {
            peer_send_raw(peer, "{", 1, &fd, 1);
        }
        close(fd);
    }
}

/* More descriptors than the protocol lets a message carry, but not than Linux does. */
static void send_too_many(int socket)
{
    union {
        struct cmsghdr header;
        char bytes[CMSG_SPACE(TOO_MANY * sizeof(int))];
    } control = {.header = {.cmsg_level = SOL_SOCKET, .cmsg_type = SCM_RIGHTS}};
    int fds[TOO_MANY];
    char byte = '{';
    struct iovec data = {.iov_base = &byte, .iov_len = 1};
    struct msghdr message = {.msg_iov = &data,
                             .msg_iovlen = 1,
                             .msg_control = &control,
                             .msg_controllen = CMSG_SPACE(sizeof fds)};

    control.header.cmsg_len = CMSG_LEN(sizeof fds);
    for (size_t i = 0; i < COUNT_OF(fds); i++)
        fds[i] = stuck();
    memcpy(CMSG_DATA(&control.header), fds, sizeof fds);
    assert_int_equal(sendmsg(socket, &message, MSG_NOSIGNAL), 1);
    for (size_t i = 0; i < COUNT_OF(fds); i++)
        close(fds[i]);
}

static void test_clients(void **state)
{
    struct server server;
    struct peer refused, leaving, many, others;

    (void)state;
    server_config(&server);
    server_start(&server);
    server_connect(&server, &refused);
    server_connect(&server, &leaving);
    server_connect(&server, &many);
    server_connect(&server, &others);
    refuse_stuck(&refused, 1, true);
    wait_until_blocked(1);
    peer_expect_alive(&others);

    refuse_stuck(&leaving, 1, false); /* a line that is never finished */
    peer_finish(&leaving);
    peer_expect_alive(&others);

    send_too_many(many.fd);
    peer_error(&many, -1, FAULT_STREAM_ERROR);
    peer_expect_end(&many);
    peer_expect_alive(&others);
    peer_expect_alive(&refused);
    let_go();
    peer_finish(&refused);
    peer_finish(&many);
    peer_finish(&others);
    server_stop(&server);
}

/* The service stops reading from a user with too many such descriptors, until they are closed. */
static void test_back_pressure(void **state)
{
    struct server server;
    struct peer peer;
    int fd;

    (void)state;
    server_config(&server);
    server_start(&server);
    server_connect(&server, &peer);
    refuse_stuck(&peer, REAPER_FDS_MAX, true);
    for (int i = 0; i < 200; i++) {
        fd = stuck();
        peer_send(&peer, &fd, 1,
                  "{'jsonrpc':'2.0','id':2,'method':'buffer.register','fds':1,"
                  "'params':{'fd':0}}");
        close(fd);
    }
    assert_true(reaper_full(getuid()));
    let_go();
    for (int i = 0; i < 200; i++)
        peer_error(&peer, 2, FAULT_BAD_DESCRIPTOR);
    peer_expect_alive(&peer);
    peer_finish(&peer);
    server_stop(&server);
}

static struct server *unmapping;
static atomic_uint on_loop, elsewhere;

static int sorting_munmap(void *address, size_t size)
{
    atomic_fetch_add(pthread_equal(pthread_self(), unmapping->thread) ? &on_loop : &elsewhere, 1);
    return munmap(address, size);
}

/* The loop unmaps neither the buffers nor the prepared jobs of a client that leaves. */
static void test_leaving(void **state)
{
    enum { BUFFERS = 8, MIB = 1024 * 1024 };
    struct job_prepared prepared;
    struct server server;
    struct peer peer, other;

    (void)state;
    server_config(&server);
    server_start(&server);
    unmapping = &server;
    server_connect(&server, &peer);
    server_connect(&server, &other);
    for (int i = 0; i < BUFFERS; i++) {
        int fds[] = {memfd_with(NULL, 8 * MIB), memfd_with(NULL, MIB)};

        register_buffer(&peer, fds[0], "");
        prepare_job(&peer, fds, 2,
                    "'op':'mov','src':{'fd':0,'type':'fx8','shape':[1048576]},'dst':{'fd':1}",
                    &prepared);
        job_prepared_finish(&prepared);
        close(fds[0]);
        close(fds[1]);
    }
    atomic_store(&on_loop, 0);
    atomic_store(&elsewhere, 0);
    seam.munmap = sorting_munmap;
    peer_finish(&peer);
    while (peer_info(&other).clients > 1)
        ;
    reaper_wait();
    assert_int_equal(atomic_load(&on_loop), 0);
    /* A buffer in two pieces of 4 MiB, source and destination of a job in one each. */
    assert_int_equal(atomic_load(&elsewhere), 4 * BUFFERS);
    peer_finish(&other);
    server_stop(&server);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_one_blocks, setup, teardown),
        cmocka_unit_test_setup_teardown(test_one_thread_a_user, setup, teardown),
        cmocka_unit_test_setup_teardown(test_bounded_threads, setup, teardown),
        cmocka_unit_test_setup_teardown(test_bounded_descriptors, setup, teardown),
        cmocka_unit_test_setup_teardown(test_stop_while_blocked, setup, teardown),
        cmocka_unit_test_setup_teardown(test_short_memory, setup, teardown),
        cmocka_unit_test_setup_teardown(test_clients, setup, teardown),
        cmocka_unit_test_setup_teardown(test_back_pressure, setup, teardown),
        cmocka_unit_test_setup_teardown(test_leaving, setup, teardown),
    };

    return cmocka_run_group_tests(tests, fixture_warm_up, NULL);
}

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Tests the reaper with descriptors whose close() blocks, and the effect of these descriptors on
 * other users.
 */
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "daemon/base/reaper.h"
#include "daemon/base/seam.h"
#include "proto/wire/frame.h"
#include "proto/wire/methods.h"
#include "tests/unit/daemon/memory_calls.h"
#include "tests/unit/daemon/service_thread.h"

enum { ALICE = 1, BOB, CAROL, USERS = 40, OTHERS = 40000, TOO_MANY = PROTO_FDS_MAX + 4 };

static struct seam real;
static int fds_before;

/* gated_close() replaces close(2) in the service: closing a TCP socket blocks until the test opens
 * the gate. The test itself calls close(2). */
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

/* Opens a file without a name in /var/tmp. Returns -1 if /var/tmp is not on a local disk. */
static int file_on_disk(void)
{
    char path[] = "/var/tmp/mli_reaper_XXXXXX";
    int fd = mkostemp(path, O_CLOEXEC);
    struct stat st;

    if (fd < 0)
        return -1;
    unlink(path);
    assert_int_equal(seam.fstat(fd, &st), 0);
    if (reaper_is_local(st.st_mode, st.st_dev))
        return fd;
    print_message("/var/tmp is not on a local disk: files there are not tested\n");
    close(fd);
    return -1;
}

static int allocated_memfd(off_t size)
{
    int fd = memfd_with(NULL, 0);

    assert_int_equal(posix_fallocate(fd, 0, size), 0);
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

/* A descriptor whose close() blocks delays only descriptors of its own user. */
static void test_one_user_blocks(void **state)
{
    (void)state;
    assert_int_equal(reaper_start(0, NULL, NULL), 0);
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

/*
 * A user has at most one thread of the reaper, even if many of the user's descriptors block in
 * close().
 */
static void test_one_thread_per_user(void **state)
{
    (void)state;
    assert_int_equal(reaper_start(0, NULL, NULL), 0);
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

/* The number of threads for unprivileged users is limited; other work has its own threads. */
static void test_bounded_threads(void **state)
{
    int disk;

    (void)state;
    assert_int_equal(reaper_start(REAPER_THREADS_MIN, NULL, NULL), 0);
    for (int i = 1; i <= USERS; i++)
        give(OTHERS + (uid_t)i, stuck());
    wait_until_blocked(REAPER_THREADS_MIN);
    disk = file_on_disk();
    if (disk >= 0) {
        /* this file is queued behind a descriptor that waits for a thread */
        give(OTHERS + USERS, disk);
        wait_until_closed(1);
    }
    assert_int_equal(blocked, REAPER_THREADS_MIN);
    give(0, stuck()); /* root has a thread of its own */
    wait_until_blocked(REAPER_THREADS_MIN + 1);
    let_go();
    reaper_wait();
    assert_int_equal(closed, USERS + 1 + (disk >= 0));
    assert_int_equal(reaper_stop(), 0);
}

static void test_threads_for_each_client(void **state)
{
    (void)state;
    assert_int_equal(reaper_start(USERS, NULL, NULL), 0);
    for (int i = 1; i <= USERS; i++)
        give(OTHERS + (uid_t)i, stuck());
    wait_until_blocked(USERS);
    let_go();
    reaper_wait();
    assert_int_equal(reaper_stop(), 0);
}

/* A socket that does not close does not delay the files in memory of the same user. */
static void test_files_in_memory_do_not_wait(void **state)
{
    enum { MIB = 1024 * 1024 };

    (void)state;
    assert_int_equal(reaper_start(0, NULL, NULL), 0);
    give(ALICE, stuck());
    wait_until_blocked(1);
    for (int i = 0; i < 2 * REAPER_FDS_MAX; i++)
        give(ALICE, memfd_with(NULL, 64));
    assert_int_equal(closed, 2 * REAPER_FDS_MAX); /* closed by the calling thread */
    give(ALICE, allocated_memfd(8 * MIB));        /* closed by a thread for large files */
    wait_until_closed(2 * REAPER_FDS_MAX + 1);
    assert_false(reaper_full(ALICE));
    let_go();
    reaper_wait();
    assert_int_equal(reaper_stop(), 0);
}

/*
 * Makes a connected socket that lingers for an hour, with a full send queue; *peer is the other
 * end.
 */
static int lingering(int *peer)
{
    const struct linger linger = {.l_onoff = 1, .l_linger = 3600};
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t length = sizeof address;
    int listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), fd = stuck();
    static char bytes[65536];

    assert_int_equal(bind(listener, (struct sockaddr *)&address, sizeof address), 0);
    assert_int_equal(listen(listener, 1), 0);
    assert_int_equal(getsockname(listener, (struct sockaddr *)&address, &length), 0);
    assert_int_equal(connect(fd, (struct sockaddr *)&address, sizeof address), 0);
    *peer = accept(listener, NULL, NULL);
    assert_true(*peer >= 0);
    assert_int_equal(setsockopt(fd, SOL_SOCKET, SO_LINGER, &linger, sizeof linger), 0);
    while (send(fd, bytes, sizeof bytes, MSG_DONTWAIT) > 0)
        ;
    close(listener);
    return fd;
}

/* While a socket lingers in close(), the descriptors behind it are closed. */
static void test_interrupted_lingering(void **state)
{
    enum { MANY = 4 * REAPER_FDS_MAX };
    int peer;

    (void)state;
    seam.close = real.close;
    assert_int_equal(reaper_start(0, NULL, NULL), 0);
    give(ALICE, lingering(&peer));
    for (int i = 0; i < MANY; i++)
        give(ALICE, easy());
    for (int i = 0; i < 1000 && reaper_full(ALICE); i++) {
        give(ALICE, easy());
        usleep(1000);
    }
    assert_false(reaper_full(ALICE));
    reaper_wait();
    assert_int_equal(reaper_stop(), 0);
    close(peer);
}

static void test_bounded_descriptors(void **state)
{
    (void)state;
    assert_int_equal(reaper_start(0, count_relief, NULL), 0);
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

/* reaper_stop() does not wait forever. The remaining descriptors are closed later. */
static void test_stop_while_blocked(void **state)
{
    (void)state;
    assert_int_equal(reaper_start(0, NULL, NULL), 0);
    give(ALICE, stuck());
    give(ALICE, stuck());
    give(BOB, easy());
    assert_int_equal(reaper_stop(), 2);
    give(BOB, easy()); /* closed by the calling thread, because the reaper is stopped */
    assert_int_equal(closed, 2);
    assert_int_equal(reaper_start(0, NULL, NULL), 0);
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
    assert_int_equal(reaper_start(0, NULL, NULL), 0);
    seam.calloc = no_calloc;
    /* the calling thread would wait at the gate if it closed the descriptor itself */
    give(ALICE, stuck());
    give(BOB, stuck());
    wait_until_blocked(1);
    seam.calloc = real.calloc;
    give(BOB, easy()); /* BOB's queues can be allocated again */
    wait_until_closed(1);
    let_go();
    reaper_wait();
    assert_int_equal(closed, 3);
    assert_int_equal(reaper_stop(), 0);
    seam.calloc = no_calloc;
    assert_int_equal(reaper_start(0, NULL, NULL), -ENOMEM);
}

/* While close() blocks for descriptors of one client, the service answers other clients. */
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

/* Sends more descriptors in one message than the protocol allows, but not more than Linux allows.
 */
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

    refuse_stuck(&leaving, 1, false); /* sends the beginning of a line, which is never finished */
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

/*
 * If a user has too many descriptors whose close() blocks, the service reads nothing from the user
 * until they are closed.
 */
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

/* Sends two messages with 16 descriptors each, both in one line that stays unfinished. */
static void begin_lines(struct peer *peers, size_t count, int *fds)
{
    for (size_t i = 0; i < count; i++)
        for (int message = 0; message < 2; message++)
            peer_send_raw(&peers[i], "{", 1, fds, PROTO_FDS_MAX);
}

/*
 * The number of descriptors that wait for the end of a line is limited for all connections of a
 * user together.
 */
static void test_unfinished_lines(void **state)
{
    enum { PEERS = 20, HELD_MAX = 128 };
    struct server server;
    struct peer peers[PEERS], other;
    int fds[PROTO_FDS_MAX], before;

    (void)state;
    server_config(&server);
    server.config.line_timeout_ms = 300;
    server_start(&server);
    server_connect(&server, &other);
    for (size_t i = 0; i < PEERS; i++) {
        server_connect(&server, &peers[i]);
        peer_expect_alive(&peers[i]);
    }
    for (size_t i = 0; i < COUNT_OF(fds); i++)
        fds[i] = memfd_with(NULL, 64);
    before = count_fds();
    begin_lines(peers, PEERS, fds);
    peer_expect_alive(&other);
    assert_true(count_fds() <= before + HELD_MAX);
    /* Each line that times out makes room for the descriptors of another connection. */
    for (size_t i = 0; i < PEERS; i++)
        peer_error(&peers[i], -1, FAULT_STREAM_ERROR);
    for (size_t i = 0; i < PEERS; i++)
        peer_finish(&peers[i]);
    peer_expect_alive(&other);
    peer_finish(&other);
    for (size_t i = 0; i < COUNT_OF(fds); i++)
        close(fds[i]);
    server_stop(&server);
}

/* Closed connections do not wait behind a descriptor whose close() blocks. */
static void test_connections_close(void **state)
{
    enum { CONNECTIONS = 2 * REAPER_FDS_MAX };
    struct server server;
    struct peer peer, others;
    int before;

    (void)state;
    server_config(&server);
    server_start(&server);
    server_connect(&server, &peer);
    refuse_stuck(&peer, 1, true);
    wait_until_blocked(1);
    before = count_fds();
    for (int i = 0; i < CONNECTIONS; i++) {
        server_connect(&server, &others);
        peer_finish(&others);
    }
    while (peer_info(&peer).clients > 1)
        ;
    assert_int_equal(count_fds(), before);
    assert_false(reaper_full(getuid()));
    let_go();
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

/*
 * When a client leaves, the loop's thread does not unmap the client's buffers and prepared jobs
 * itself.
 */
static void test_client_leaves_large_mappings(void **state)
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
    /* a round trip, after which the loop's thread sees the new function */
    peer_expect_alive(&other);
    peer_finish(&peer);
    while (peer_info(&other).clients > 1)
        ;
    reaper_wait();
    assert_int_equal(atomic_load(&on_loop), 0);
    /*
     * A buffer is unmapped in two pieces of 4 MiB; source and destination of a job are one piece
     * each.
     */
    assert_int_equal(atomic_load(&elsewhere), 4 * BUFFERS);
    peer_finish(&other);
    server_stop(&server);
}

int main(void)
{
    const char *preload = getenv("LD_PRELOAD");

    if (preload && strstr(preload, "vgpreload"))
        return 77; /* under valgrind a signal does not end a close() that blocks */
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_one_user_blocks, setup, teardown),
        cmocka_unit_test_setup_teardown(test_one_thread_per_user, setup, teardown),
        cmocka_unit_test_setup_teardown(test_bounded_threads, setup, teardown),
        cmocka_unit_test_setup_teardown(test_threads_for_each_client, setup, teardown),
        cmocka_unit_test_setup_teardown(test_files_in_memory_do_not_wait, setup, teardown),
        cmocka_unit_test_setup_teardown(test_interrupted_lingering, setup, teardown),
        cmocka_unit_test_setup_teardown(test_bounded_descriptors, setup, teardown),
        cmocka_unit_test_setup_teardown(test_stop_while_blocked, setup, teardown),
        cmocka_unit_test_setup_teardown(test_short_memory, setup, teardown),
        cmocka_unit_test_setup_teardown(test_clients, setup, teardown),
        cmocka_unit_test_setup_teardown(test_back_pressure, setup, teardown),
        cmocka_unit_test_setup_teardown(test_unfinished_lines, setup, teardown),
        cmocka_unit_test_setup_teardown(test_connections_close, setup, teardown),
        cmocka_unit_test_setup_teardown(test_client_leaves_large_mappings, setup, teardown),
    };

    return cmocka_run_group_tests(tests, fixture_warm_up, NULL);
}

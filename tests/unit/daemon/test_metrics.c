/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests the metrics over HTTP, with a service that does not listen, on this thread's loop. */
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "daemon/base/reaper.h"
#include "daemon/base/seam.h"
#include "daemon/ops/metrics.h"
#include "daemon/service.h"
#include "tests/unit/daemon/test_peer.h"

static uv_loop_t loop;
static uv_async_t keep; /* keeps the loop alive: the metrics' handles do not */
static struct service *service;
static struct metrics *metrics;
static struct seam real;
static char directory[32], address[64];
static int idle_fds;

static int setup(void **state)
{
    struct config config;
    struct bound bound;

    (void)state;
    real = seam;
    idle_fds = count_fds();
    fixture_config(&config);
    strcpy(directory, "/tmp/mlid-metrics-XXXXXX");
    assert_non_null(mkdtemp(directory));
    snprintf(address, sizeof address, "unix:%s/m", directory);
    assert_int_equal(uv_loop_init(&loop), 0);
    assert_int_equal(uv_async_init(&loop, &keep, NULL), 0);
    assert_int_equal(service_create(&loop, &config, &service), 0);
    assert_int_equal(metrics_bind(&bound, address, 0600, -1, -1), 0);
    assert_int_equal(metrics_create(&loop, service, &bound, &metrics), 0);
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    reaper_wait(); /* the reaper's threads call functions of `seam` */
    seam = real;
    metrics_destroy(metrics);
    service_destroy(service);
    uv_close((uv_handle_t *)&keep, NULL);
    uv_run(&loop, UV_RUN_DEFAULT);
    assert_int_equal(uv_loop_close(&loop), 0);
    assert_int_equal(rmdir(directory), 0); /* fails if the socket is still there */
    assert_int_equal(count_fds(), idle_fds);
    return 0;
}

static void run_loop(void)
{
    for (int i = 0; i < 20; i++)
        uv_run(&loop, UV_RUN_NOWAIT);
}

static int begin(void)
{
    struct sockaddr_un un = {.sun_family = AF_UNIX};
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0);

    strcpy(un.sun_path, address + strlen("unix:"));
    assert_int_equal(connect(fd, (struct sockaddr *)&un, sizeof un), 0);
    return fd;
}

static void put(int fd, const char *bytes, size_t length)
{
    while (length > 0) {
        ssize_t sent = send(fd, bytes, length, MSG_NOSIGNAL);

        assert_true(sent > 0);
        bytes += sent;
        length -= (size_t)sent;
        run_loop();
    }
}

/* Reads the reply up to the end of the stream. */
static const char *take(int fd)
{
    static char got[64 * 1024];
    size_t length = 0;
    ssize_t more;

    run_loop();
    while ((more = recv(fd, got + length, sizeof got - 1 - length, 0)) > 0) {
        length += (size_t)more;
        run_loop();
    }
    assert_int_equal(more, 0);
    got[length] = '\0';
    close(fd);
    run_loop();
    return got;
}

static void asks(const char *request, const char *status)
{
    int fd = begin();
    const char *reply;

    put(fd, request, strlen(request));
    reply = take(fd);
    assert_memory_equal(reply, status, strlen(status));
    assert_non_null(strstr(reply, "\r\nConnection: close\r\n"));
}

static void test_metrics(void **state)
{
    const char *reply, *body;
    int fd = begin();

    (void)state;
    put(fd, "GET /metrics HTTP/1.1\r\nHost: here\r\n\r\n", 37);
    reply = take(fd);
    assert_memory_equal(reply, "HTTP/1.1 200 OK\r\n", 17);
    assert_non_null(strstr(reply, "Content-Type: text/plain; version=0.0.4"));
    body = strstr(reply, "\r\n\r\n") + 4;
    assert_int_equal(atoi(strstr(reply, "Content-Length: ") + 16), strlen(body));
    assert_non_null(strstr(body, "\nmlid_state{state=\"serving\"} 1\n"));
    assert_non_null(strstr(body, "\nmlid_clients 0\n"));
}

static void test_requests(void **state)
{
    (void)state;
    asks("GET /metrics HTTP/1.0\n\n", "HTTP/1.1 200 ");
    asks("GET / HTTP/1.1\r\n\r\n", "HTTP/1.1 404 ");
    asks("GET /metrics/ HTTP/1.1\r\n\r\n", "HTTP/1.1 404 ");
    asks("GET http://x/metrics HTTP/1.1\r\n\r\n", "HTTP/1.1 404 ");
    asks("HEAD /metrics HTTP/1.1\r\n\r\n", "HTTP/1.1 405 ");
    asks("POST /metrics HTTP/1.1\r\nContent-Length: 4\r\n\r\nbody", "HTTP/1.1 405 ");
    asks("GET /metrics HTTP/2\r\n\r\n", "HTTP/1.1 400 ");
    asks("GET /metrics\r\n\r\n", "HTTP/1.1 400 ");
    asks("GET\r\n\r\n", "HTTP/1.1 400 ");
    asks("\r\n\r\n", "HTTP/1.1 400 ");
    asks("{\"jsonrpc\":\"2.0\"}\n\n", "HTTP/1.1 400 ");
    asks(" \n\n", "HTTP/1.1 400 ");
}

static void test_in_pieces(void **state)
{
    static const char request[] = "GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n";
    int fd = begin();

    (void)state;
    for (size_t i = 0; i < sizeof request - 1; i++)
        put(fd, request + i, 1);
    assert_memory_equal(take(fd), "HTTP/1.1 200 ", 13);
}

static void test_too_long(void **state)
{
    char request[5000];
    int fd = begin();

    (void)state;
    memset(request, 'x', sizeof request);
    memcpy(request, "GET /metrics HTTP/1.1\r\nX: ", 26);
    put(fd, request, sizeof request);
    assert_memory_equal(take(fd), "HTTP/1.1 400 ", 13);
    fd = begin();
    put(fd, "GET /metrics HTTP/1.1\r\n\0", 24); /* a zero byte ends the request too */
    assert_memory_equal(take(fd), "HTTP/1.1 400 ", 13);
}

/* Serves eight connections at a time: the ninth replaces the oldest idle connection. */
static void test_many(void **state)
{
    int fds[8], late;
    char byte;

    (void)state;
    for (size_t i = 0; i < COUNT_OF(fds); i++)
        fds[i] = begin();
    run_loop();
    late = begin();
    put(late, "GET /metrics HTTP/1.1\r\n\r\n", 25);
    assert_memory_equal(take(late), "HTTP/1.1 200 ", 13);
    /* the service closed the oldest connection to serve the ninth one */
    assert_int_equal(recv(fds[0], &byte, 1, 0), 0);
    put(fds[1], "GET /", 5);
    for (size_t i = 0; i < COUNT_OF(fds); i++)
        close(fds[i]);
    run_loop();
    asks("GET /metrics HTTP/1.1\r\n\r\n", "HTTP/1.1 200 ");
}

/* A connection that sends no request is closed; it does not keep the loop alive. */
static void test_timeout(void **state)
{
    struct pollfd poller = {.fd = begin(), .events = POLLIN};
    char byte;

    (void)state;
    run_loop();
    for (int i = 0; i < 200 && poll(&poller, 1, 50) == 0; i++)
        uv_run(&loop, UV_RUN_NOWAIT);
    assert_int_equal(recv(poller.fd, &byte, 1, 0), 0);
    close(poller.fd);
}

/* Calls metrics_destroy() while connections are in each of their states. */
static void test_end(void **state)
{
    int idle = begin(), half = begin(), answered = begin();
    char byte;

    (void)state;
    put(half, "GET /m", 6);
    put(answered, "GET /metrics HTTP/1.1\r\n\r\n", 25);
    run_loop();
    metrics_destroy(metrics);
    metrics = NULL;
    run_loop();
    assert_int_equal(recv(idle, &byte, 1, 0), 0);
    assert_true(recv(half, &byte, 1, 0) <= 0);
    close(idle);
    close(half);
    close(answered);
}

static int no_descriptors(int listener)
{
    (void)listener;
    errno = EMFILE;
    return -1;
}

/* Connections in the backlog must not make the loop spin. */
static void test_no_descriptors(void **state)
{
    int fd = begin();

    (void)state;
    seam.accept = no_descriptors;
    run_loop();
    seam = real;
    run_loop();
    usleep(1100 * 1000);
    put(fd, "GET /metrics HTTP/1.1\r\n\r\n", 25);
    assert_memory_equal(take(fd), "HTTP/1.1 200 ", 13);
}

static void *no_memory(size_t count, size_t size)
{
    (void)count;
    (void)size;
    return NULL;
}

static void test_no_memory(void **state)
{
    struct metrics *second;
    struct bound bound;
    char other[80];

    (void)state;
    snprintf(other, sizeof other, "%s2", address);
    assert_int_equal(metrics_bind(&bound, other, 0600, -1, -1), 0);
    seam.calloc = no_memory;
    assert_int_equal(metrics_create(&loop, service, &bound, &second), -ENOMEM);
    assert_null(second);
    assert_int_equal(access(other + strlen("unix:"), F_OK), -1);
    assert_int_equal(metrics_bind(&bound, address, 0600, -1, -1), -EADDRINUSE);
    assert_int_equal(metrics_bind(&bound, "0.0.0.0:1", 0600, -1, -1), -EINVAL);
}

#define METRICS_TEST(function) cmocka_unit_test_setup_teardown(function, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        METRICS_TEST(test_metrics),   METRICS_TEST(test_requests),
        METRICS_TEST(test_in_pieces), METRICS_TEST(test_too_long),
        METRICS_TEST(test_many),      METRICS_TEST(test_timeout),
        METRICS_TEST(test_end),       METRICS_TEST(test_no_descriptors),
        METRICS_TEST(test_no_memory),
    };

    return cmocka_run_group_tests(tests, fixture_warm_up, NULL);
}

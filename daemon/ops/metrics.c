/* SPDX-License-Identifier: BSD-3-Clause */
#include "daemon/ops/metrics.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "daemon/base/reaper.h"
#include "daemon/base/seam.h"
#include "daemon/config/address.h"
#include "daemon/service.h"
#include "proto/json/jsonw.h"
#include "proto/wire/frame.h"
#include "proto/wire/methods.h"
#include "proto/wire/prometheus.h"

enum { SCRAPES_MAX = 8, PAUSE_MS = 1000, BACKLOG = 16 };

/* One HTTP connection: reads the request, writes the reply, waits for the peer to close, all within
 * SCRAPE_TIMEOUT_MS. */
enum { SCRAPE_REQUEST_MAX = 4096, SCRAPE_TIMEOUT_MS = 5000 };

struct scrape {
    struct metrics *metrics;
    enum { SCRAPE_FREE, SCRAPE_READS, SCRAPE_WRITES, SCRAPE_WAITS, SCRAPE_CLOSES } phase;
    int fd;
    unsigned handles; /* number of handles that are not closed yet */
    uv_poll_t poll;
    uv_timer_t timer;
    size_t length, sent;
    char request[SCRAPE_REQUEST_MAX + 1];
    struct textw reply;
};

struct metrics {
    uv_loop_t *loop;
    struct service *service;
    struct bound bound;
    uv_poll_t poll;
    uv_timer_t retry; /* runs while accepting is paused because no descriptor is free */
    unsigned parts;   /* number of handles and scrapes that are not closed yet */
    bool closing;
    struct scrape scrapes[SCRAPES_MAX];
};

/* Scrapes */

static void on_accept(uv_poll_t *poll, int status, int events);

static void release(struct metrics *metrics)
{
    if (--metrics->parts == 0)
        free(metrics);
}

static void on_scrape_closed(uv_handle_t *handle)
{
    struct scrape *scrape = handle->data;
    struct metrics *metrics = scrape->metrics;

    if (--scrape->handles > 0)
        return;
    scrape->phase = SCRAPE_FREE;
    if (!metrics->closing && !uv_is_active((uv_handle_t *)&metrics->retry))
        uv_poll_start(&metrics->poll, UV_READABLE, on_accept);
    release(metrics);
}

/* Closes the connection of a scrape. Does nothing if the slot is free. */
static void scrape_end(struct scrape *scrape)
{
    if (scrape->phase == SCRAPE_FREE || scrape->phase == SCRAPE_CLOSES)
        return;
    scrape->phase = SCRAPE_CLOSES;
    textw_finish(&scrape->reply);
    uv_close((uv_handle_t *)&scrape->poll, on_scrape_closed);
    uv_close((uv_handle_t *)&scrape->timer, on_scrape_closed);
    reaper_close_connection(scrape->fd);
}

static void on_timeout(uv_timer_t *timer)
{
    scrape_end(timer->data);
}

static void reply(struct scrape *scrape, const char *status, const char *headers, const char *type,
                  const char *body)
{
    textw_printf(&scrape->reply,
                 "HTTP/1.1 %s\r\n%sContent-Type: %s\r\nContent-Length: %zu\r\n"
                 "Connection: close\r\n\r\n%s",
                 status, headers, type, strlen(body), body);
}

static void reply_metrics(struct scrape *scrape)
{
    struct daemon_stats stats;
    struct textw body;

    textw_init(&body);
    service_stats(scrape->metrics->service, &stats);
    prometheus_write(&body, &stats);
    if (body.failed)
        scrape->reply.failed = true;
    else
        reply(scrape, "200 OK", "", "text/plain; version=0.0.4; charset=utf-8", body.data);
    textw_finish(&body);
}

/* Writes the reply. Reads only the request line: METHOD SP TARGET SP HTTP/1.x. */
static void answer(struct scrape *scrape, bool whole)
{
    char *line = scrape->request, *target, *version;

    line[strcspn(line, "\r\n")] = '\0';
    target = strchr(line, ' ');
    version = target ? strchr(target + 1, ' ') : NULL;
    if (!whole || !version || strncmp(version, " HTTP/1.", 8) != 0) {
        reply(scrape, "400 Bad Request", "", "text/plain",
              "an HTTP/1 request of at most 4 KiB is required\n");
        return;
    }
    *target++ = *version = '\0';
    if (strcmp(line, "GET") != 0)
        reply(scrape, "405 Method Not Allowed", "Allow: GET\r\n", "text/plain", "only GET\n");
    else if (strcmp(target, "/metrics") != 0)
        reply(scrape, "404 Not Found", "", "text/plain", "only /metrics\n");
    else
        reply_metrics(scrape);
}

/* Also receives descriptors, which a scrape must not send, and lets the reaper close them: the
 * kernel would close unreceived descriptors on the loop's thread. Returns -EPROTO if any came. */
static ssize_t receive(struct scrape *scrape, char *bytes, size_t size)
{
    int fds[FD_RECV_MAX];
    size_t count;
    const ssize_t got = fd_recv_all(scrape->fd, bytes, size, fds, &count);

    reaper_close((uid_t)-1, fds, count);
    return count > 0 ? -EPROTO : got;
}

/* The three steps of a scrape return 1 to continue with the next step, 0 to wait for the socket,
 * and -1 to end the connection. */
static int read_request(struct scrape *scrape)
{
    char *end = scrape->request + scrape->length;
    ssize_t got = receive(scrape, end, SCRAPE_REQUEST_MAX - scrape->length);
    bool whole;

    if (got <= 0)
        return got == -EAGAIN ? 0 : -1;
    scrape->length += (size_t)got;
    end[got] = '\0';
    whole = strstr(scrape->request, "\r\n\r\n") || strstr(scrape->request, "\n\n");
    if (!whole && scrape->length < SCRAPE_REQUEST_MAX && !memchr(end, '\0', (size_t)got))
        return 0;
    answer(scrape, whole);
    return scrape->reply.failed ? -1 : 1;
}

static int write_reply(struct scrape *scrape)
{
    ssize_t sent = send(scrape->fd, scrape->reply.data + scrape->sent,
                        scrape->reply.length - scrape->sent, MSG_NOSIGNAL);

    if (sent < 0)
        return errno == EAGAIN || errno == EINTR ? 0 : -1;
    scrape->sent += (size_t)sent;
    if (scrape->sent < scrape->reply.length)
        return 0;
    shutdown(scrape->fd, SHUT_WR);
    return 1;
}

/* Waits until the peer has closed the connection: closing it earlier could discard the reply. */
static int wait_for_end(struct scrape *scrape)
{
    ssize_t got = receive(scrape, scrape->request, SCRAPE_REQUEST_MAX);

    return got > 0 || got == -EAGAIN ? 0 : -1;
}

static void on_scrape(uv_poll_t *poll, int status, int events)
{
    struct scrape *scrape = poll->data;
    int step = -1;

    (void)events;
    if (status == 0 && scrape->phase == SCRAPE_READS)
        step = read_request(scrape);
    else if (status == 0 && scrape->phase == SCRAPE_WRITES)
        step = write_reply(scrape);
    else if (status == 0)
        step = wait_for_end(scrape);
    if (step > 0) {
        scrape->phase++;
        step = uv_poll_start(poll, scrape->phase == SCRAPE_WRITES ? UV_WRITABLE : UV_READABLE,
                             on_scrape);
    }
    if (step < 0)
        scrape_end(scrape);
}

/* Serves a connection, and takes ownership. Returns 0 or -errno. */
static int scrape_begin(struct scrape *scrape, struct metrics *metrics, int fd)
{
    int error = uv_poll_init(metrics->loop, &scrape->poll,
                             fd); /* this call also makes the socket non-blocking */

    if (error < 0) {
        reaper_close_connection(fd);
        return error;
    }
    uv_timer_init(metrics->loop, &scrape->timer); /* cannot fail */
    uv_unref((uv_handle_t *)&scrape->poll);
    uv_unref((uv_handle_t *)&scrape->timer);
    scrape->poll.data = scrape->timer.data = scrape;
    scrape->metrics = metrics;
    scrape->handles = 2;
    scrape->fd = fd;
    scrape->length = scrape->sent = 0;
    scrape->phase = SCRAPE_READS;
    textw_init(&scrape->reply);
    uv_timer_start(&scrape->timer, on_timeout, SCRAPE_TIMEOUT_MS, 0);
    if (uv_poll_start(&scrape->poll, UV_READABLE, on_scrape) < 0)
        scrape_end(scrape);
    return 0;
}

/* The listening socket. */

static void on_retry(uv_timer_t *retry)
{
    struct metrics *metrics = retry->data;

    uv_poll_start(&metrics->poll, UV_READABLE, on_accept);
}

/* Ends the oldest connection that has not sent its request yet. */
static void make_room(struct metrics *metrics)
{
    struct scrape *oldest = NULL;

    for (struct scrape *s = metrics->scrapes; s < metrics->scrapes + SCRAPES_MAX; s++) {
        if (s->phase == SCRAPE_READS &&
            (!oldest || uv_timer_get_due_in(&s->timer) < uv_timer_get_due_in(&oldest->timer)))
            oldest = s;
    }
    if (oldest)
        scrape_end(oldest);
}

/* Accepts a connection if a slot for a scrape is free; else connections wait in the backlog. */
static void on_accept(uv_poll_t *poll, int status, int events)
{
    struct metrics *metrics = poll->data;
    struct scrape *scrape = metrics->scrapes;
    int fd;

    (void)events;
    while (scrape < metrics->scrapes + SCRAPES_MAX && scrape->phase != SCRAPE_FREE)
        scrape++;
    if (scrape == metrics->scrapes + SCRAPES_MAX) {
        uv_poll_stop(poll); /* poll again when a slot for a scrape is free */
        make_room(metrics);
        return;
    }
    fd = status < 0 || reaper_overfull() ? -1 : seam.accept(metrics->bound.fd);
    if (fd >= 0) {
        metrics->parts += scrape_begin(scrape, metrics, fd) == 0;
    } else if (status < 0 || (errno != EAGAIN && errno != EINTR && errno != ECONNABORTED)) {
        uv_poll_stop(poll);
        uv_timer_start(&metrics->retry, on_retry, PAUSE_MS, 0);
    }
}

static int bind_inet(struct bound *bound, const struct address *address)
{
    const int on = 1;
    int error;

    *bound = (struct bound){
        .fd = socket(address->socket.ss_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0)};
    if (bound->fd < 0)
        return -errno;
    setsockopt(bound->fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    if (bind(bound->fd, (const struct sockaddr *)&address->socket, address->length) == 0 &&
        listen(bound->fd, BACKLOG) == 0)
        return 0;
    error = -errno;
    close(bound->fd);
    return error;
}

int metrics_bind(struct bound *bound, const char *listen, uint32_t mode, uid_t uid, gid_t gid)
{
    char complaint[ADDRESS_COMPLAINT_MAX];
    struct address address;

    if (address_parse(listen, &address, complaint) < 0)
        return -EINVAL;
    if (address.socket.ss_family == AF_UNIX)
        return bind_path(bound, listen + strlen("unix:"), mode, uid, gid);
    return bind_inet(bound, &address);
}

int metrics_create(uv_loop_t *loop, struct service *service, const struct bound *bound,
                   struct metrics **out)
{
    struct metrics *metrics = seam.calloc(1, sizeof *metrics);
    struct bound lost = *bound;
    int error;

    *out = NULL;
    error = metrics ? uv_poll_init(loop, &metrics->poll, bound->fd) : -ENOMEM;
    if (error < 0) {
        bind_release(&lost);
        free(metrics);
        return error;
    }
    uv_timer_init(loop, &metrics->retry); /* cannot fail */
    metrics->loop = loop;
    metrics->service = service;
    metrics->bound = *bound;
    metrics->parts = 2;
    metrics->poll.data = metrics->retry.data = metrics;
    uv_unref((uv_handle_t *)&metrics->poll);
    uv_unref((uv_handle_t *)&metrics->retry);
    error = uv_poll_start(&metrics->poll, UV_READABLE, on_accept);
    if (error < 0)
        metrics_destroy(metrics);
    else
        *out = metrics;
    return error;
}

static void on_closed(uv_handle_t *handle)
{
    release(handle->data);
}

void metrics_destroy(struct metrics *metrics)
{
    if (!metrics)
        return;
    metrics->closing = true;
    for (size_t i = 0; i < SCRAPES_MAX; i++)
        scrape_end(&metrics->scrapes[i]);
    uv_close((uv_handle_t *)&metrics->poll, on_closed);
    uv_close((uv_handle_t *)&metrics->retry, on_closed);
    bind_release(&metrics->bound);
}

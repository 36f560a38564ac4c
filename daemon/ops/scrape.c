/* SPDX-License-Identifier: BSD-3-Clause */
#include "daemon/ops/scrape.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>
#include <sys/socket.h>

#include "daemon/base/reaper.h"
#include "daemon/ops/stats.h"
#include "daemon/service_state.h"
#include "proto/wire/fdpass.h"
#include "proto/wire/prometheus.h"

static void on_closed(uv_handle_t *handle)
{
    struct scrape *scrape = handle->data;

    if (--scrape->handles > 0)
        return;
    scrape->phase = SCRAPE_FREE;
    scrape->gone(scrape);
}

void scrape_end(struct scrape *scrape)
{
    if (scrape->phase == SCRAPE_FREE || scrape->phase == SCRAPE_CLOSES)
        return;
    scrape->phase = SCRAPE_CLOSES;
    textw_finish(&scrape->reply);
    uv_close((uv_handle_t *)&scrape->poll, on_closed);
    uv_close((uv_handle_t *)&scrape->timer, on_closed);
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
    stats_fill(&stats, scrape->service, NULL);
    prometheus_write(&body, &stats);
    if (body.failed)
        scrape->reply.failed = true;
    else
        reply(scrape, "200 OK", "", "text/plain; version=0.0.4; charset=utf-8", body.data);
    textw_finish(&body);
}

/* The request line is all that matters: METHOD SP TARGET SP HTTP/1.x. */
static void answer(struct scrape *scrape, bool whole)
{
    char *line = scrape->request, *target, *version;

    line[strcspn(line, "\r\n")] = '\0';
    target = strchr(line, ' ');
    version = target ? strchr(target + 1, ' ') : NULL;
    if (!whole || !version || strncmp(version, " HTTP/1.", 8) != 0) {
        reply(scrape, "400 Bad Request", "", "text/plain", "no HTTP/1 request of 4 KiB at most\n");
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

/* Whoever sends descriptors over a unix socket does not speak HTTP. They are received because the
 * kernel would close those that are not, on the loop's thread. */
static ssize_t receive(struct scrape *scrape, char *bytes, size_t size)
{
    int fds[FD_RECV_MAX];
    size_t count;
    const ssize_t got = fd_recv_all(scrape->fd, bytes, size, fds, &count);

    reaper_close((uid_t)-1, fds, count);
    return count > 0 ? -EPROTO : got;
}

/* The three steps return 1 to go on to the next, 0 to wait, -1 to end. */
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

/* To close before the peer has sent all could take the reply away from him. */
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

int scrape_begin(struct scrape *scrape, struct service *service, int fd)
{
    int error = uv_poll_init(service->loop, &scrape->poll, fd); /* also makes it non-blocking */

    if (error < 0) {
        reaper_close_connection(fd);
        return error;
    }
    uv_timer_init(service->loop, &scrape->timer); /* cannot fail */
    uv_unref((uv_handle_t *)&scrape->poll);
    uv_unref((uv_handle_t *)&scrape->timer);
    scrape->poll.data = scrape->timer.data = scrape;
    scrape->service = service;
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

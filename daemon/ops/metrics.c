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
#include "daemon/ops/scrape.h"
#include "daemon/service_state.h"

enum { SCRAPES_MAX = 8, PAUSE_MS = 1000, BACKLOG = 16 };

struct metrics {
    struct service *service;
    struct bound bound;
    uv_poll_t poll;
    uv_timer_t retry; /* runs while accepting pauses for want of descriptors */
    unsigned parts;   /* handles and scrapes, not closed yet */
    bool closing;
    struct scrape scrapes[SCRAPES_MAX];
};

static void on_accept(uv_poll_t *poll, int status, int events);

static void release(struct metrics *metrics)
{
    if (--metrics->parts == 0)
        free(metrics);
}

static void on_scrape_gone(struct scrape *scrape)
{
    struct metrics *metrics = scrape->owner;

    if (!metrics->closing && !uv_is_active((uv_handle_t *)&metrics->retry))
        uv_poll_start(&metrics->poll, UV_READABLE, on_accept);
    release(metrics);
}

static void on_retry(uv_timer_t *retry)
{
    struct metrics *metrics = retry->data;

    uv_poll_start(&metrics->poll, UV_READABLE, on_accept);
}

/* Who keeps a place without asking for anything gives it up to the next. */
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

/* More than there is room for wait in the backlog. */
static void on_accept(uv_poll_t *poll, int status, int events)
{
    struct metrics *metrics = poll->data;
    struct scrape *scrape = metrics->scrapes;
    int fd;

    (void)events;
    while (scrape < metrics->scrapes + SCRAPES_MAX && scrape->phase != SCRAPE_FREE)
        scrape++;
    if (scrape == metrics->scrapes + SCRAPES_MAX) {
        uv_poll_stop(poll); /* until a place is free */
        make_room(metrics);
        return;
    }
    fd = status < 0 || reaper_overfull() ? -1 : seam.accept(metrics->bound.fd);
    if (fd >= 0) {
        scrape->owner = metrics;
        scrape->gone = on_scrape_gone;
        metrics->parts += scrape_begin(scrape, metrics->service, fd) == 0;
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

int metrics_create(struct service *service, const struct bound *bound, struct metrics **out)
{
    struct metrics *metrics = seam.calloc(1, sizeof *metrics);
    struct bound lost = *bound;
    int error;

    *out = NULL;
    error = metrics ? uv_poll_init(service->loop, &metrics->poll, bound->fd) : -ENOMEM;
    if (error < 0) {
        bind_release(&lost);
        free(metrics);
        return error;
    }
    uv_timer_init(service->loop, &metrics->retry); /* cannot fail */
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

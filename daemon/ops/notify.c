/* SPDX-License-Identifier: BSD-3-Clause */
#include "daemon/ops/notify.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum { MESSAGE_MAX = 512, NS_PER_USEC = 1000, USEC_PER_S = 1000 * 1000 };

static void set_address(struct notify *notify, const char *path)
{
    const size_t length = strlen(path);

    if ((path[0] != '/' && path[0] != '@') || path[1] == '\0' ||
        length >= sizeof notify->address.sun_path)
        return;
    notify->address.sun_family = AF_UNIX;
    memcpy(notify->address.sun_path, path, length);
    notify->length = (unsigned)(offsetof(struct sockaddr_un, sun_path) + length);
    if (path[0] == '@') /* an abstract name has no terminator */
        notify->address.sun_path[0] = '\0';
    else
        notify->length++;
}

/* Returns an environment variable as a number, or 0 if it is not a number. */
static uint64_t number_of(const char *name)
{
    const char *text = getenv(name);
    size_t length = text ? strlen(text) : 0;

    if (length == 0 || length > 18 || text[strspn(text, "0123456789")] != '\0')
        return 0;
    return strtoull(text, NULL, 10);
}

void notify_init(struct notify *notify)
{
    const char *path = getenv("NOTIFY_SOCKET");
    const uint64_t pid = number_of("WATCHDOG_PID");

    *notify = (struct notify){0};
    if (path)
        set_address(notify, path);
    if (!getenv("WATCHDOG_PID") || pid == (uint64_t)getpid())
        notify->watchdog_usec = number_of("WATCHDOG_USEC");
    if (notify->length == 0)
        notify->watchdog_usec = 0;
    unsetenv("NOTIFY_SOCKET");
    unsetenv("WATCHDOG_USEC");
    unsetenv("WATCHDOG_PID");
}

void notify_send(const struct notify *notify, const char *format, ...)
{
    char message[MESSAGE_MAX];
    va_list args;
    int length, fd;
    ssize_t sent;

    if (notify->length == 0)
        return;
    va_start(args, format);
    length = vsnprintf(message, sizeof message, format, args);
    va_end(args);
    fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd < 0)
        return;
    if (length >= (int)sizeof message)
        length = sizeof message - 1;
    sent = sendto(fd, message, (size_t)length, MSG_NOSIGNAL,
                  (const struct sockaddr *)&notify->address, notify->length);
    (void)sent;
    close(fd);
}

void notify_reloading(const struct notify *notify)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    notify_send(notify, "RELOADING=1\nMONOTONIC_USEC=%" PRIu64,
                (uint64_t)now.tv_sec * USEC_PER_S + (uint64_t)now.tv_nsec / NS_PER_USEC);
}

/* SPDX-License-Identifier: BSD-3-Clause */
#include "daemon/ops/manager.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "daemon/config/address.h"

enum {
    FIRST = 3,
    COUNT_MAX = 64
}; /* first descriptor (SD_LISTEN_FDS_START), and maximum number of descriptors */

static int complain(struct fault *fault, int fd, const char *what)
{
    return fault_set(fault, FAULT_INVALID_PARAMS, NULL, "LISTEN_FDS: descriptor %d %s", fd, what);
}

static int option(int fd, int name)
{
    int value = -1;
    socklen_t length = sizeof value;

    return getsockopt(fd, SOL_SOCKET, name, &value, &length) < 0 ? -1 : value;
}

static int check(int fd, bool for_metrics, struct fault *fault)
{
    struct sockaddr_storage address = {0};
    socklen_t length = sizeof address;

    if (option(fd, SO_TYPE) != SOCK_STREAM || option(fd, SO_ACCEPTCONN) != 1)
        return complain(fault, fd, "is not a listening stream socket");
    if (!for_metrics && option(fd, SO_DOMAIN) != AF_UNIX)
        return complain(fault, fd, "is not a unix socket");
    if (getsockname(fd, (struct sockaddr *)&address, &length) < 0 ||
        !address_is_local((struct sockaddr *)&address))
        return complain(fault, fd, "can be reached from other machines");
    return 0;
}

/* Copies the next name of a list with colons between names, or an empty name at the end of the
 * list. */
static void next_name(const char **names, char *name, size_t size)
{
    const size_t length = strcspn(*names, ":");

    snprintf(name, size, "%.*s", (int)(length < size ? length : size - 1), *names);
    *names += length + ((*names)[length] == ':');
}

static int take_one(struct activation *activation, int fd, const char *name, struct fault *fault)
{
    const bool for_metrics = strcmp(name, "metrics") == 0;
    int *place = for_metrics ? &activation->metrics : &activation->service;

    if (!for_metrics && strcmp(name, "mlid") != 0)
        return complain(fault, fd, "must be named \"mlid\" or \"metrics\"");
    if (*place >= 0)
        return complain(fault, fd, "has the same name as another one");
    if (fcntl(fd, F_SETFD, FD_CLOEXEC) < 0)
        return complain(fault, fd, "is not open");
    if (check(fd, for_metrics, fault) < 0)
        return -1;
    *place = fd;
    return 0;
}

static int take_all(struct activation *activation, int count, const char *names,
                    struct fault *fault)
{
    const bool nameless =
        count == 1 && (!names || names[0] == '\0' || strcmp(names, "unknown") == 0);

    for (int i = 0; i < count; i++) {
        char name[32] = "mlid";

        if (!nameless)
            next_name(&names, name, sizeof name);
        if (take_one(activation, FIRST + i, name, fault) < 0)
            return -1;
    }
    return 0;
}

/* Returns the number of sockets for this process; 0 for a child that inherited the variables. */
static long count_for_us(void)
{
    const char *pid = getenv("LISTEN_PID"), *count = getenv("LISTEN_FDS");

    if (!pid || !count || strtol(pid, NULL, 10) != (long)getpid())
        return 0;
    return strtol(count, NULL, 10);
}

int activation_take(struct activation *activation, struct fault *fault)
{
    const long count = count_for_us();
    const char *names = getenv("LISTEN_FDNAMES");
    int result;

    *activation = (struct activation){.service = -1, .metrics = -1};
    if (count < 0 || count > COUNT_MAX)
        result = fault_set(fault, FAULT_INVALID_PARAMS, NULL,
                           "LISTEN_FDS: %ld given; must be 0 to %d", count, COUNT_MAX);
    else
        result = take_all(activation, (int)count, names ? names : "", fault);
    unsetenv("LISTEN_PID");
    unsetenv("LISTEN_FDS");
    unsetenv("LISTEN_FDNAMES");
    return result;
}

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

/* SPDX-License-Identifier: BSD-3-Clause */
#include "boards/link/board_line.h"

#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "boards/link/board_qemu.h"
#include "cli/file/calls.h"
#include "cli/term/cancel.h"
#include "cli/term/clock_ns.h"

enum { BITS_PER_BYTE = 10, MS_PER_S = 1000 };

/* Serial devices */

static bool speed_of(uint32_t baud, speed_t *speed)
{
    static const struct {
        uint32_t baud;
        speed_t speed;
    } speeds[] = {
        {9600, B9600},       {19200, B19200},     {38400, B38400},     {57600, B57600},
        {115200, B115200},   {230400, B230400},   {460800, B460800},   {500000, B500000},
        {576000, B576000},   {921600, B921600},   {1000000, B1000000}, {1500000, B1500000},
        {2000000, B2000000}, {3000000, B3000000}, {4000000, B4000000},
    };

    for (size_t i = 0; i < sizeof(speeds) / sizeof(speeds[0]); i++) {
        if (speeds[i].baud == baud) {
            *speed = speeds[i].speed;
            return true;
        }
    }
    return false;
}

/* Sets raw mode: 8 bits, no parity, no flow control, and no hang-up on close, which resets some
 * boards. */
static int set_raw(struct board_line *line, struct fault *fault)
{
    const uint32_t baud = line->address.baud;
    struct termios raw;
    speed_t speed;

    if (!speed_of(baud, &speed))
        return fault_set(fault, FAULT_INVALID_PARAMS, NULL,
                         "%s: baud=%" PRIu32 " is not a usual speed; 9600 to 4000000, for example "
                         "115200, is needed",
                         line->where, baud);
    if (tcgetattr(line->fd, &line->before))
        return fault_set(fault, FAULT_STREAM_ERROR, NULL, "%s: %s", line->where, strerror(errno));
    raw = line->before;
    cfmakeraw(&raw);
    raw.c_cflag |= CLOCAL | CREAD;
    raw.c_cflag &= ~(tcflag_t)(HUPCL | CSTOPB | CRTSCTS);
    cfsetispeed(&raw, speed);
    cfsetospeed(&raw, speed);
    if (tcsetattr(line->fd, TCSANOW, &raw))
        return fault_set(fault, FAULT_STREAM_ERROR, NULL, "%s: %s", line->where, strerror(errno));
    line->is_terminal = true;
    tcflush(line->fd, TCIOFLUSH);
    return 0;
}

static int open_terminal(struct board_line *line, struct fault *fault)
{
    const char *path = line->address.name;

    line->fd = open_path(path, O_RDWR | O_NOCTTY | O_NONBLOCK | O_CLOEXEC);
    if (line->fd < 0)
        return fault_set(fault, FAULT_STREAM_ERROR, NULL, "%s: %s%s", line->where, strerror(errno),
                         errno == EACCES ? "; the group of the device (often dialout) may use it"
                                         : "");
    if (!isatty(line->fd))
        return fault_set(fault, FAULT_INVALID_PARAMS, NULL,
                         "%s: neither a serial device nor a socket", line->where);
    if (flock(line->fd, LOCK_EX | LOCK_NB))
        return fault_set(fault, FAULT_STREAM_ERROR, NULL,
                         "%s: another program uses the line; end it first", line->where);
    return set_raw(line, fault);
}

static int open_socket(struct board_line *line, struct fault *fault)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    int error = -1;

    if (strlen(line->address.name) >= sizeof(address.sun_path))
        return fault_set(fault, FAULT_INVALID_PARAMS, NULL, "%s: the path is too long",
                         line->where);
    strcpy(address.sun_path, line->address.name);
    line->fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (line->fd >= 0) {
        do
            error = connect(line->fd, (const struct sockaddr *)&address, sizeof(address));
        while (error && errno == EINTR && !cancel_requested());
    }
    if (error)
        return fault_set(fault, FAULT_STREAM_ERROR, NULL,
                         "%s: %s; nothing serves this end of the line", line->where,
                         strerror(errno));
    return fcntl(line->fd, F_SETFL, O_NONBLOCK)
               ? fault_set(fault, FAULT_INTERNAL, NULL, "%s: %s", line->where, strerror(errno))
               : 0;
}

static int open_serial(struct board_line *line, struct fault *fault)
{
    struct stat found;

    snprintf(line->where, sizeof(line->where), "serial:%s", line->address.name);
    if (stat(line->address.name, &found))
        return fault_set(fault, FAULT_STREAM_ERROR, NULL,
                         "%s: %s; is the board connected? `ls /dev/tty*` lists serial devices",
                         line->where, strerror(errno));
    if (S_ISSOCK(found.st_mode))
        return open_socket(line, fault);
    snprintf(line->where, sizeof(line->where), "serial:%s (%" PRIu32 " baud)", line->address.name,
             line->address.baud);
    return open_terminal(line, fault);
}

int board_line_open(struct board_line *line, const struct board_address *address,
                    struct fault *fault)
{
    const char *firmware = *address->firmware ? address->firmware : NULL;

    *line = (struct board_line){.address = *address, .fd = -1, .errors = -1};
    if (address->kind == BOARD_SERIAL)
        return open_serial(line, fault);
    snprintf(line->where, sizeof(line->where), "qemu:%s", address->name);
    return board_qemu_start(address->name, firmware, &line->qemu, &line->fd, &line->errors, fault);
}

void board_line_close(struct board_line *line)
{
    if (line->qemu > 0)
        board_qemu_stop(line->qemu);
    if (line->fd >= 0 && line->is_terminal)
        (void)tcsetattr(line->fd, TCSANOW, &line->before);
    if (line->fd >= 0)
        close(line->fd);
    if (line->errors >= 0)
        close(line->errors);
    line->qemu = 0;
    line->fd = line->errors = -1;
}

/* Bytes */

/* Explains the end of the line. Returns -1. */
static int explain_end(struct board_line *line, int error, struct fault *fault)
{
    char text[BOARD_QEMU_TEXT_MAX];

    if (line->qemu > 0)
        return fault_set(fault, FAULT_STREAM_ERROR, NULL, "%s: QEMU has ended%s%s", line->where,
                         *board_qemu_errors(line->errors, text) ? ": " : "", text);
    return fault_set(fault, FAULT_STREAM_ERROR, NULL,
                     "%s: the line was cut%s%s; is the board still connected and powered?",
                     line->where, error ? ": " : "", error ? strerror(error) : "");
}

/* Waits for `events`. Returns 1, 0 if the time is over, or -1 with the fault. */
static int wait_for(struct board_line *line, short events, uint64_t until_ns, bool shielded,
                    struct fault *fault)
{
    for (;;) {
        struct pollfd polled[] = {{.fd = line->fd, .events = events},
                                  {.fd = shielded ? -1 : cancel_fd(), .events = POLLIN}};
        const uint64_t now = clock_ns();
        const uint64_t left_ms = until_ns > now ? (until_ns - now) / CLOCK_NS_PER_MS + 1 : 0;
        const int count = poll(polled, 2, left_ms < INT32_MAX ? (int)left_ms : INT32_MAX);

        if (!shielded && cancel_requested())
            return cancel_fault(fault);
        if (count > 0 && polled[0].revents)
            return 1;
        if (count == 0 && clock_ns() >= until_ns)
            return 0;
        if (count < 0 && errno != EINTR)
            return fault_set(fault, FAULT_INTERNAL, NULL, "poll: %s", strerror(errno));
    }
}

int board_line_send(struct board_line *line, const void *bytes, size_t size, uint64_t until_ns,
                    bool shielded, struct fault *fault)
{
    const char *at = bytes;

    while (size > 0) {
        const ssize_t sent =
            line->is_terminal ? write(line->fd, at, size) : send(line->fd, at, size, MSG_NOSIGNAL);

        if (sent > 0) {
            at += sent;
            size -= (size_t)sent;
            continue;
        }
        if (sent < 0 && errno != EAGAIN && errno != EINTR)
            return explain_end(line, errno, fault);
        const int ready = wait_for(line, POLLOUT, until_ns, shielded, fault);
        if (ready <= 0)
            return ready < 0 ? -1 : 1;
    }
    return 0;
}

ssize_t board_line_receive(struct board_line *line, void *bytes, size_t size, uint64_t until_ns,
                           bool shielded, struct fault *fault)
{
    for (;;) {
        const ssize_t got = read(line->fd, bytes, size);

        if (got > 0)
            return got;
        if (got == 0 || (errno != EAGAIN && errno != EINTR))
            return explain_end(line, got < 0 ? errno : 0, fault);
        const int ready = wait_for(line, POLLIN, until_ns, shielded, fault);
        if (ready <= 0)
            return ready;
    }
}

uint32_t board_line_ms(const struct board_line *line, size_t size)
{
    if (!line->is_terminal)
        return 0;
    return (uint32_t)((uint64_t)size * BITS_PER_BYTE * MS_PER_S / line->address.baud + 1);
}

/* SPDX-License-Identifier: BSD-3-Clause */
#include "tests/unit/client/fake.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "proto/wire/frame.h"

void fake_init(struct fake *fake, unsigned flags)
{
    int ends[2];
    mli_client_error error;

    fake->fds_before = proto_count_fds();
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends), 0);
    fake->fd = ends[1];
    assert_int_equal(mli_client_adopt(ends[0], flags, &fake->client, &error), 0);
}

void fake_hang_up(struct fake *fake)
{
    close(fake->fd);
    fake->fd = -1;
}

void fake_finish(struct fake *fake)
{
    mli_client_close(fake->client);
    if (fake->fd >= 0)
        close(fake->fd);
    assert_int_equal(proto_count_fds(), fake->fds_before);
}

void fake_say(struct fake *fake, const char *format, ...)
{
    static char text[1 << 16];
    va_list arguments;

    va_start(arguments, format);
    int length = vsnprintf(text, sizeof(text), format, arguments);
    va_end(arguments);
    for (char *at = text; *at; at++)
        *at = *at == '\'' ? '"' : *at;
    assert_int_equal(send(fake->fd, text, (size_t)length, MSG_NOSIGNAL), length);
}

void fake_say_with_fd(struct fake *fake, int fd, const char *text)
{
    char line[1024];

    snprintf(line, sizeof(line), "%s", text);
    for (char *at = line; *at; at++)
        *at = *at == '\'' ? '"' : *at;
    assert_int_equal(fd_send(fake->fd, line, strlen(line), &fd, 1), strlen(line));
}

const char *fake_hear(struct fake *fake)
{
    static char text[1 << 20];
    size_t length = 0;

    for (;;) {
        ssize_t got = recv(fake->fd, text + length, sizeof(text) - 1 - length, MSG_DONTWAIT);
        if (got <= 0)
            break;
        length += (size_t)got;
    }
    text[length] = '\0';
    return text;
}

void fake_say_result(struct fake *fake, mli_client_ticket ticket, uint64_t job)
{
    fake_say(fake,
             "{'jsonrpc':'2.0','id':%" PRIu64 ",'result':{'job':%" PRIu64
             ",'cost':{'bytes':4,'channels':1,'engine':'threads','ns_queued':5,'ns_moving':6}}}\n",
             ticket, job);
}

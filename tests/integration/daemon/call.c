/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The smallest client, for shell scripts:
 *
 *     call SOCKET LINE          sends the line, prints the reply
 *     call SOCKET --half TEXT   sends the text without a newline, waits for the end
 *     call SOCKET --deaf LINE   sends the line again and again and never reads a reply
 */
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

static int send_all(int fd, const char *bytes, size_t length)
{
    while (length > 0) {
        ssize_t sent = send(fd, bytes, length, MSG_NOSIGNAL);

        if (sent < 0)
            return -1;
        bytes += sent;
        length -= (size_t)sent;
    }
    return 0;
}

/* Prints the reply: the second line if the first one is a greeting, else the first line. */
static int print_reply(int fd)
{
    FILE *stream = fdopen(fd, "r");
    char *line = NULL;
    size_t size = 0;
    int lines = 0, status = 1;

    while (stream && lines++ < 2 && getline(&line, &size, stream) > 0) {
        if (strstr(line, "\"method\":\"hello\""))
            continue;
        fputs(line, stdout);
        status = 0;
        break;
    }
    free(line);
    return status;
}

/* Sends the line until the service stops reading, and then waits until the service ends. */
static int be_deaf(int fd, const char *line)
{
    struct pollfd poller = {.fd = fd, .events = POLLOUT};

    while (poll(&poller, 1, 300) > 0 && send_all(fd, line, strlen(line)) == 0 &&
           send_all(fd, "\n", 1) == 0)
        ;
    puts("deaf");
    fflush(stdout);
    poller.events = 0;
    poll(&poller, 1, -1);
    return 0;
}

int main(int argc, char **argv)
{
    const int half = argc == 4 && strcmp(argv[2], "--half") == 0;
    const int deaf = argc == 4 && strcmp(argv[2], "--deaf") == 0;
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0), status;

    if ((argc != 3 && !half && !deaf) || strlen(argv[1]) >= sizeof address.sun_path)
        return 2;
    strcpy(address.sun_path, argv[1]);
    if (connect(fd, (struct sockaddr *)&address, sizeof address) < 0) {
        perror(argv[1]);
        return 1;
    }
    if (deaf)
        return be_deaf(fd, argv[3]);
    if (send_all(fd, argv[argc - 1], strlen(argv[argc - 1])) < 0 ||
        (!half && send_all(fd, "\n", 1) < 0))
        return 1;
    status = print_reply(fd);
    return status;
}

/* SPDX-License-Identifier: BSD-3-Clause */
#include "daemon/config/address.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/un.h>

static int complain(char complaint[ADDRESS_COMPLAINT_MAX], const char *what)
{
    snprintf(complaint, ADDRESS_COMPLAINT_MAX, "%s", what);
    return -1;
}

bool address_is_local(const struct sockaddr *socket)
{
    if (socket->sa_family == AF_INET) {
        struct sockaddr_in in;

        memcpy(&in, socket, sizeof in);
        return ntohl(in.sin_addr.s_addr) >> 24 == IN_LOOPBACKNET;
    }
    if (socket->sa_family == AF_INET6) {
        struct sockaddr_in6 in;

        memcpy(&in, socket, sizeof in);
        return IN6_IS_ADDR_LOOPBACK(&in.sin6_addr);
    }
    return socket->sa_family == AF_UNIX;
}

static int parse_unix(const char *path, struct address *address, char *complaint)
{
    struct sockaddr_un un = {.sun_family = AF_UNIX};

    if (path[0] != '/')
        return complain(complaint, "an absolute path is required after \"unix:\"");
    if (strlen(path) >= sizeof un.sun_path)
        return complain(complaint, "the path after \"unix:\" has more than 107 bytes");
    memcpy(un.sun_path, path, strlen(path));
    memcpy(&address->socket, &un, sizeof un);
    address->length = sizeof un;
    return 0;
}

/* Returns the port in network order, or 0 if the text is not a port number. */
static in_port_t parse_port(const char *text)
{
    char *end;
    unsigned long port = strtoul(text, &end, 10);

    if (text[0] < '1' || text[0] > '9' || *end != '\0' || port > 65535)
        return 0;
    return htons((in_port_t)port);
}

static int parse_inet(const char *host, in_port_t port, struct address *address)
{
    struct sockaddr_in v4 = {.sin_family = AF_INET, .sin_port = port};
    struct sockaddr_in6 v6 = {.sin6_family = AF_INET6, .sin6_port = port};

    if (inet_pton(AF_INET, host, &v4.sin_addr) == 1) {
        memcpy(&address->socket, &v4, sizeof v4);
        address->length = sizeof v4;
        return 0;
    }
    if (inet_pton(AF_INET6, host, &v6.sin6_addr) == 1) {
        memcpy(&address->socket, &v6, sizeof v6);
        address->length = sizeof v6;
        return 0;
    }
    return -1;
}

int address_parse(const char *text, struct address *address, char complaint[ADDRESS_COMPLAINT_MAX])
{
    const char *colon = strrchr(text, ':');
    const bool bracketed = text[0] == '[';
    char host[64];
    size_t length;
    in_port_t port;

    memset(address, 0, sizeof *address);
    if (strncmp(text, "unix:", 5) == 0)
        return parse_unix(text + 5, address, complaint);
    if (!colon || colon == text || (bracketed && colon[-1] != ']'))
        return complain(complaint, "unix:/path, 127.0.0.1:PORT or [::1]:PORT is required");
    port = parse_port(colon + 1);
    if (port == 0)
        return complain(complaint, "a port from 1 to 65535 is required after the last colon");
    length = (size_t)(colon - text) - (bracketed ? 2 : 0);
    if (length >= sizeof host)
        return complain(complaint, "unix:/path, 127.0.0.1:PORT or [::1]:PORT is required");
    memcpy(host, text + bracketed, length);
    host[length] = '\0';
    if (bracketed != (strchr(host, ':') != NULL) || parse_inet(host, port, address) < 0)
        return complain(complaint, "unix:/path, 127.0.0.1:PORT or [::1]:PORT is required");
    if (!address_is_local((const struct sockaddr *)&address->socket))
        return complain(complaint, "a loopback address is required");
    return 0;
}

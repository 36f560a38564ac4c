/* SPDX-License-Identifier: BSD-3-Clause */
#include "cli/link/host.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char name_characters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
                                      "0123456789._-";

static int refuse(struct fault *fault, const char *url, const char *why)
{
    return fault_set(fault, FAULT_INVALID_PARAMS, NULL,
                     "host %.128s: %s; ssh://[user@]host[:port] is needed", url, why);
}

/* Returns whether ssh takes a text for a name, never for an option. */
static bool is_name(const char *text, size_t length, const char *more)
{
    if (length == 0 || *text == '-')
        return false;
    for (size_t i = 0; i < length; i++) {
        if (!strchr(name_characters, text[i]) && !strchr(more, text[i]))
            return false;
    }
    return true;
}

/* The take_ functions return null on success, or a sentence with the error. */

/* Reads the text after the host: nothing, or ":port"; a last slash is allowed. */
static const char *take_port(struct host *host, const char *text)
{
    if (!*text || strcmp(text, "/") == 0)
        return NULL;
    if (*text == '/')
        return "a path is not allowed; give the socket's path with --socket";
    if (*text != ':')
        return "only a port can follow an address";
    text++;
    size_t digits = strspn(text, "0123456789");
    bool slash = text[digits] == '/';
    if (slash && text[digits + 1])
        return "a path is not allowed; give the socket's path with --socket";
    long port = digits <= 5 ? strtol(text, NULL, 10) : 0;
    if (text[digits + slash] || port < 1 || port > 65535)
        return "the port is a number from 1 to 65535";
    snprintf(host->port, sizeof(host->port), "%.*s", (int)digits, text);
    return NULL;
}

/* Reads the host, or [address]; *end is the text after it. */
static const char *take_host(const char *text, const char **begin, size_t *length, const char **end)
{
    bool bracket = *text == '[';

    *begin = text + bracket;
    *length = strcspn(*begin, bracket ? "]" : ":/");
    *end = *begin + *length;
    if (bracket && **end != ']')
        return "the address has no closing ]";
    *end += bracket;
    const char *colon = strchr(text, ':');
    if (!bracket && colon && strchr(colon + 1, ':'))
        return "an IPv6 address requires brackets, as in ssh://[::1]";
    if (*length == 0)
        return "it names no host";
    if (**begin == '-')
        return "a host name does not begin with a dash";
    return is_name(*begin, *length, bracket ? ":%" : "")
               ? NULL
               : "a host name may contain only letters, digits and . _ -";
}

static int take_url(struct host *host, const char *url, struct fault *fault)
{
    static const char scheme[] = "ssh://";

    if (strncmp(url, scheme, sizeof(scheme) - 1) != 0 && is_name(url, strlen(url), "@:"))
        return fault_set(fault, FAULT_INVALID_PARAMS, NULL,
                         "host %.128s: not an ssh:// URL; did you mean %s%.128s?", url, scheme,
                         url);
    if (strncmp(url, scheme, sizeof(scheme) - 1) != 0)
        return refuse(fault, url, "not an ssh:// URL");
    if (strlen(url) >= HOST_TEXT_MAX / 2)
        return refuse(fault, url, "too long");
    const char *rest = url + sizeof(scheme) - 1;
    const char *at = strchr(rest, '@');
    int user = at ? (int)(at - rest) : 0;
    if (at && !is_name(rest, (size_t)user, ""))
        return refuse(fault, url,
                      user == 0      ? "the user before the @ is missing"
                      : *rest == '-' ? "a user name does not begin with a dash"
                                     : "a user name may contain only letters, digits and . _ -");
    const char *name, *end;
    size_t length;
    const char *why = take_host(at ? at + 1 : rest, &name, &length, &end);
    if (!why)
        why = take_port(host, end);
    if (why)
        return refuse(fault, url, why);
    snprintf(host->target, sizeof(host->target), "%.*s%s%.*s", user, rest, at ? "@" : "",
             (int)length, name);
    return 0;
}

/* Quotes a text for the remote shell of ssh: 'it'\''s'. */
static int quote(char *out, size_t size, const char *text, struct fault *fault)
{
    size_t length = 0;

    out[length++] = '\'';
    for (; *text; text++) {
        const char *piece = *text == '\'' ? "'\\''" : (const char[]){*text, '\0'};
        if (length + strlen(piece) + 2 > size)
            return fault_set(fault, FAULT_INVALID_PARAMS, NULL, "socket path: too long");
        memcpy(out + length, piece, strlen(piece));
        length += strlen(piece);
    }
    out[length++] = '\'';
    out[length] = '\0';
    return 0;
}

int host_parse(struct host *host, const char *url, const char *socket, struct fault *fault)
{
    static char proxy[] = "proxy", mlictl[] = "mlictl", port[] = "-p", path[] = "--socket";
    static char ssh[] = "ssh";

    *host = (struct host){.port = ""};
    if (take_url(host, url, fault))
        return -1;
    char *program = getenv("MLI_SSH");
    size_t count = 0;
    host->argv[count++] = program && *program ? program : ssh;
    if (*host->port) {
        host->argv[count++] = port;
        host->argv[count++] = host->port;
    }
    host->argv[count++] = host->target;
    host->argv[count++] = mlictl;
    host->argv[count++] = proxy;
    if (!socket)
        return 0;
    host->argv[count++] = path;
    host->argv[count++] = host->socket;
    return quote(host->socket, sizeof(host->socket), socket, fault);
}

/* SPDX-License-Identifier: BSD-3-Clause */
#include "cli/queue/queue.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/un.h>

enum { PORT_MAX = 65535, DB_MAX = 1000000 };

static const char digits[] = "0123456789";
static const char name_first[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789";
static const char name_rest[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.-";

static const struct scheme {
    const char *text;
    bool local;
    uint16_t port;
} schemes[] = {{"redis://", false, 6379}, {"redis+unix://", true, 0}};

static int refuse(struct fault *fault, const char *why)
{
    return fault_set(fault, FAULT_INVALID_PARAMS, NULL, "--queue: %s", why);
}

static const struct scheme *scheme_of(const char *text)
{
    for (size_t i = 0; i < sizeof(schemes) / sizeof(schemes[0]); i++) {
        if (strncmp(text, schemes[i].text, strlen(schemes[i].text)) == 0)
            return &schemes[i];
    }
    return NULL;
}

/* Returns the end of "user:password@" in the part of a URL after the scheme, or `text`. */
static const char *after_secrets(const char *text)
{
    const char *at = strchr(text, '@'), *slash = strchr(text, '/');

    return at && (!slash || at < slash) ? at + 1 : text;
}

/* Returns the value of a hexadecimal digit, or -1. */
static int nibble(char c)
{
    static const char all[] = "0123456789abcdef";
    const char *found = c ? strchr(all, c >= 'A' && c <= 'F' ? c - 'A' + 'a' : c) : NULL;

    return found ? (int)(found - all) : -1;
}

/* Copies bytes with %XX escapes. Returns 0, or -1 if they are too long or an escape is invalid. */
static int unescape(char out[QUEUE_SECRET_MAX], const char *from, const char *end)
{
    size_t length = 0;

    while (from < end && length < QUEUE_SECRET_MAX - 1) {
        int byte = (unsigned char)*from++;

        if (byte == '%') {
            if (end - from < 2 || nibble(from[0]) < 0 || nibble(from[1]) < 0)
                return -1;
            byte = 16 * nibble(from[0]) + nibble(from[1]);
            from += 2;
        }
        if (byte == 0)
            return -1;
        out[length++] = (char)byte;
    }
    out[length] = '\0';
    return from == end ? 0 : -1;
}

/* Reads "user:password@". `end` is after the "@". */
static int take_secrets(struct queue_url *url, const char *text, const char *end,
                        struct fault *fault)
{
    if (end == text)
        return 0;
    const char *at = end - 1, *colon = memchr(text, ':', (size_t)(at - text));
    if (!colon || unescape(url->user, text, colon) || unescape(url->password, colon + 1, at))
        return refuse(fault,
                      "the part before \"@\" must be USER:PASSWORD or :PASSWORD, at most 511 "
                      "bytes each; write other characters as %XX");
    return 0;
}

/* Reads a whole number. Returns 0, or -1 if it is greater than `max`. */
static int take_number(const char *text, size_t length, uint32_t max, uint32_t *out)
{
    uint32_t number = 0;

    if (length == 0 || length > 7 || strspn(text, digits) < length)
        return -1;
    for (size_t i = 0; i < length; i++)
        number = number * 10 + (uint32_t)(text[i] - '0');
    *out = number;
    return number <= max ? 0 : -1;
}

static int take_name(struct queue_url *url, const char *text, struct fault *fault)
{
    const size_t length = strlen(text);

    if (length == 0 || length > QUEUE_NAME_MAX || !strchr(name_first, *text) ||
        strspn(text, name_rest) != length || strspn(text, digits) == length)
        return refuse(fault,
                      "the URL must end with the NAME of the queue: at most 100 letters, digits, "
                      "_ . - that begin with a letter or digit and are not a number");
    memcpy(url->name, text, length + 1);
    return 0;
}

static int copy_place(struct queue_url *url, const char *text, size_t length, struct fault *fault)
{
    const size_t most = url->local ? sizeof(((struct sockaddr_un *)0)->sun_path) : QUEUE_PLACE_MAX;

    if (length == 0 || length >= most)
        return refuse(fault, url->local ? "the path of the socket is missing or too long"
                                        : "the host is missing or too long");
    for (size_t i = 0; i < length; i++) {
        if ((unsigned char)text[i] <= ' ' || text[i] == 0x7f)
            return refuse(fault, "white space and control characters are not allowed");
        if (!url->local && strchr("@[]", text[i]))
            return refuse(fault, "the host must not have \"@\", \"[\" or \"]\"; write \"@\" in a "
                                 "password as %40");
    }
    memcpy(url->place, text, length);
    return 0;
}

/* Reads "host", "host:port" or "[address]:port". */
static int take_host(struct queue_url *url, const char *text, const char *end, struct fault *fault)
{
    const bool bracket = *text == '[';
    const char *close = bracket ? memchr(text, ']', (size_t)(end - text)) : text;
    uint32_t port = url->port;

    if (!close)
        return refuse(fault, "the address has a \"[\", but no \"]\"");
    const char *colon = memchr(close, ':', (size_t)(end - close));
    const char *stop = colon ? colon : end;
    if (bracket && stop != close + 1)
        return refuse(fault, "after \"]\" only :PORT is allowed");
    if (colon && (take_number(colon + 1, (size_t)(end - colon - 1), PORT_MAX, &port) || port == 0))
        return refuse(fault, "the port must be from 1 to 65535");
    url->port = (uint16_t)port;
    text += bracket;
    return copy_place(url, text, (size_t)((bracket ? close : stop) - text), fault);
}

/* Reads "/db/name", "/name". */
static int take_path(struct queue_url *url, const char *text, struct fault *fault)
{
    const char *slash = *text == '/' ? strchr(text + 1, '/') : NULL;

    if (slash && take_number(text + 1, (size_t)(slash - text - 1), DB_MAX, &url->db))
        return refuse(fault, "the part between host and NAME must be the number of a database");
    return take_name(url, slash ? slash + 1 : text + (*text == '/'), fault);
}

/* Reads "/path/of/socket:name" or "/path/of/socket/db:name". */
static int take_local(struct queue_url *url, const char *text, struct fault *fault)
{
    const char *colon = strrchr(text, ':'), *end = colon;

    if (*text != '/' || !colon)
        return refuse(fault,
                      "an absolute path of a socket and :NAME are required after \"unix://\"");
    while (end > text && strchr(digits, end[-1]))
        end--;
    if (end < colon && end[-1] == '/') {
        if (take_number(end, (size_t)(colon - end), DB_MAX, &url->db))
            return refuse(fault, "the number of the database is too large");
        end--;
    } else {
        end = colon;
    }
    return copy_place(url, text, (size_t)(end - text), fault) || take_name(url, colon + 1, fault);
}

/* Returns whether the path of a socket ends like one with the number of a database: "/run/7". */
static bool ends_in_number(const char *path)
{
    const char *name = strrchr(path, '/');

    return name && name[1] && strspn(name + 1, digits) == strlen(name + 1);
}

static void show(struct queue_url *url, const struct scheme *scheme)
{
    char number[16] = "";
    const bool six = strchr(url->place, ':') != NULL;

    if (url->db || (url->local && ends_in_number(url->place)))
        snprintf(number, sizeof(number), "/%" PRIu32, url->db);
    if (url->local)
        snprintf(url->shown, sizeof(url->shown), "%s%s%s:%s", scheme->text, url->place, number,
                 url->name);
    else
        snprintf(url->shown, sizeof(url->shown), "%s%s%s%s:%" PRIu16 "%s/%s", scheme->text,
                 six ? "[" : "", url->place, six ? "]" : "", url->port, number, url->name);
}

int queue_url_parse(const char *text, struct queue_url *url, struct fault *fault)
{
    const struct scheme *scheme = scheme_of(text);

    if (strncmp(text, "rediss://", 9) == 0)
        return refuse(fault,
                      "TLS is not supported (rediss://): run the connection through stunnel or "
                      "ssh -L, and give redis://");
    if (strncmp(text, "beanstalk", 9) == 0)
        return refuse(fault, "queues are on Redis, not on beanstalkd: run a Redis server, and "
                             "give redis://HOST/NAME");
    if (!scheme)
        return refuse(fault, "the URL must begin with redis:// or redis+unix://");
    *url = (struct queue_url){.local = scheme->local, .port = scheme->port};
    text += strlen(scheme->text);
    const char *rest = after_secrets(text);
    if (take_secrets(url, text, rest, fault))
        return -1;
    const char *end = rest + strcspn(rest, "/");
    if (url->local ? take_local(url, rest, fault)
                   : take_host(url, rest, end, fault) || take_path(url, end, fault))
        return -1;
    show(url, scheme);
    return 0;
}

void queue_url_hide(char *text)
{
    const struct scheme *scheme = scheme_of(text);
    const char *begin = scheme ? text + strlen(scheme->text) : text;
    const char *end = scheme ? after_secrets(begin) : begin;

    if (end > begin)
        memset(text + (begin - text), '*', (size_t)(end - 1 - begin));
}

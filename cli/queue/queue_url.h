/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The address of a queue:
 *
 *     redis://[[USER]:PASSWORD@]HOST[:PORT][/DB]/NAME
 *     redis+unix://[[USER]:PASSWORD@]/PATH/OF/SOCKET[/DB]:NAME
 *     beanstalk://HOST[:PORT]/NAME
 *     beanstalk+unix:///PATH/OF/SOCKET:NAME
 *
 * HOST may be an IPv6 address in brackets. USER and PASSWORD may have %XX escapes.
 */
#ifndef CLI_QUEUE_URL_H
#define CLI_QUEUE_URL_H

#include <stdbool.h>
#include <stdint.h>

#include "proto/json/fault.h"

enum {
    QUEUE_NAME_MAX = 100,  /* bytes of NAME: letters, digits, and _ . - after the first */
    QUEUE_PLACE_MAX = 256, /* bytes of a host, or of the path of a socket */
    QUEUE_SECRET_MAX = 512 /* bytes of USER and of PASSWORD */
};

enum queue_kind { QUEUE_REDIS, QUEUE_BEANSTALK };

struct queue_url {
    enum queue_kind kind;
    bool local; /* `place` is the path of a socket, not a host */
    char place[QUEUE_PLACE_MAX];
    uint16_t port;
    uint32_t db;
    char name[QUEUE_NAME_MAX + 1];
    char user[QUEUE_SECRET_MAX], password[QUEUE_SECRET_MAX]; /* "": none */
    char shown[QUEUE_PLACE_MAX + QUEUE_NAME_MAX + 64];       /* the URL without user and password */
};

/** Reads a URL. Returns 0, or -1 with a fault that has neither user nor password. */
int queue_url_parse(const char *text, struct queue_url *url, struct fault *fault);

/** Overwrites the user and the password in the text of a URL, for lists of processes. */
void queue_url_hide(char *text);

#endif /* CLI_QUEUE_URL_H */

/* SPDX-License-Identifier: BSD-3-Clause */
#include "boards/link/board_address.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "mli_mov_api.h"

enum {
    BAUD = 115200,
    TIMEOUT_MS = 1000,
    QEMU_TIMEOUT_MS = 5000,
    TIMEOUT_MS_MAX = 60 * 1000,
    BAUD_MAX = 4000000
};

static const char qemu[] = "qemu:", serial[] = "serial:";

static bool begins(const char *text, const char *with)
{
    return strncmp(text, with, strlen(with)) == 0;
}

static int refuse(struct fault *fault, const char *url, const char *why)
{
    return fault_set(fault, FAULT_INVALID_PARAMS, NULL,
                     "host %.100s: %s; qemu:BOARD or serial:PATH is needed, then any of ,baud=N "
                     ",timeout=MS ,firmware=PATH ,channels=N ,engine=SPEC",
                     url, why);
}

/* The take_ functions return whether the option has this key and a value of this kind. */

static bool take_number(const char *value, size_t length, uint32_t max, uint32_t *out)
{
    char *end;

    if (length == 0 || *value < '0' || *value > '9')
        return false;
    errno = 0;
    const unsigned long long number = strtoull(value, &end, 10);
    *out = (uint32_t)number;
    return errno == 0 && end == value + length && number > 0 && number <= max;
}

static bool take_text(const char *value, size_t length, char *out, size_t size)
{
    if (length == 0 || length >= size)
        return false;
    memcpy(out, value, length);
    out[length] = '\0';
    return true;
}

static bool take_option(struct board_address *address, const char *option, size_t length)
{
    const char *equals = memchr(option, '=', length);
    const size_t key = equals ? (size_t)(equals - option) : 0;
    const size_t left = length - key - 1;

    if (!equals)
        return false;
#define IS(name) (key == sizeof(name) - 1 && memcmp(option, name, key) == 0)
    if (IS("baud") && address->kind == BOARD_SERIAL)
        return take_number(equals + 1, left, BAUD_MAX, &address->baud);
    if (IS("timeout"))
        return take_number(equals + 1, left, TIMEOUT_MS_MAX, &address->timeout_ms);
    if (IS("channels"))
        return take_number(equals + 1, left, MLI_MOV_MAX_CHANNELS, &address->channels);
    if (IS("firmware") && address->kind == BOARD_QEMU)
        return take_text(equals + 1, left, address->firmware, sizeof(address->firmware));
    if (IS("engine"))
        return take_text(equals + 1, left, address->engine, sizeof(address->engine));
#undef IS
    return false;
}

int board_address_parse(struct board_address *address, const char *url, struct fault *fault)
{
    const bool emulated = begins(url, qemu);
    const char *name = url + strlen(emulated ? qemu : serial);
    size_t length = strcspn(name, ",");

    *address = (struct board_address){.kind = emulated ? BOARD_QEMU : BOARD_SERIAL,
                                      .baud = BAUD,
                                      .timeout_ms = emulated ? QEMU_TIMEOUT_MS : TIMEOUT_MS};
    if (!take_text(name, length, address->name, sizeof(address->name)))
        return refuse(fault, url, length ? "the name is too long" : "the name is missing");
    for (const char *at = name + length; *at; at += length) {
        at++; /* the comma */
        length = begins(at, "engine=") ? strlen(at) : strcspn(at, ",");
        if (!take_option(address, at, length))
            return refuse(fault, url, "an option is unknown, or its value is out of range");
    }
    return 0;
}

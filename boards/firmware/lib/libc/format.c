/* SPDX-License-Identifier: BSD-3-Clause */
#include "boards/firmware/lib/libc/format.h"

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>

enum { DIGITS_MAX = 22 }; /* octal digits of 64 bits */

/* A conversion: %[flags][width][.precision][length]letter */
struct conversion {
    bool left, zero, plus, space, alternate;
    int width;
    int precision; /* negative: not given */
    int length;    /* size of the argument in bytes */
    char letter;
};

struct output {
    format_put *put;
    void *to;
    size_t count;
};

/* Arguments behind a pointer, because a va_list may be an array. */
struct arguments {
    va_list list;
};

static void put(struct output *out, const char *bytes, size_t count)
{
    if (count > 0)
        out->put(out->to, bytes, count);
    out->count += count;
}

static void repeat(struct output *out, char byte, long times)
{
    for (long i = 0; i < times; i++)
        put(out, &byte, 1);
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static const char *read_number(const char *at, struct arguments *arguments, int *number)
{
    if (*at == '*') {
        *number = va_arg(arguments->list, int);
        return at + 1;
    }
    for (*number = 0; is_digit(*at); at++)
        *number = *number * 10 + (*at - '0');
    return at;
}

static const char *read_flags(const char *at, struct conversion *c)
{
    for (;; at++) {
        c->left |= *at == '-';
        c->zero |= *at == '0';
        c->plus |= *at == '+';
        c->space |= *at == ' ';
        c->alternate |= *at == '#';
        if (*at != '-' && *at != '0' && *at != '+' && *at != ' ' && *at != '#')
            return at;
    }
}

static const char *read_length(const char *at, int *length)
{
    *length = sizeof(int);
    if (at[0] == 'h') {
        *length = at[1] == 'h' ? sizeof(char) : sizeof(short);
        return at + 1 + (at[1] == 'h');
    }
    if (at[0] == 'l') {
        *length = at[1] == 'l' ? sizeof(long long) : sizeof(long);
        return at + 1 + (at[1] == 'l');
    }
    if (*at == 'z' || *at == 't') {
        *length = sizeof(size_t);
        return at + 1;
    }
    if (*at == 'j') {
        *length = sizeof(intmax_t);
        return at + 1;
    }
    return at;
}

/* Reads a conversion after its %. Returns the text after it. */
static const char *read_conversion(const char *at, struct arguments *arguments,
                                   struct conversion *c)
{
    *c = (struct conversion){.precision = -1};
    at = read_flags(at, c);
    at = read_number(at, arguments, &c->width);
    if (c->width < 0) {
        c->left = true;
        c->width = -c->width;
    }
    if (*at == '.')
        at = read_number(at + 1, arguments, &c->precision);
    at = read_length(at, &c->length);
    c->letter = *at;
    return *at ? at + 1 : at;
}

/* Writes prefix, zeros and text, with the spaces that fill the width. */
static void put_field(struct output *out, const struct conversion *c, const char *prefix,
                      long zeros, const char *text, size_t length)
{
    size_t prefix_length = 0;
    long spaces;

    while (prefix[prefix_length])
        prefix_length++;
    spaces = c->width - (long)prefix_length - zeros - (long)length;
    repeat(out, ' ', c->left ? 0 : spaces);
    put(out, prefix, prefix_length);
    repeat(out, '0', zeros);
    put(out, text, length);
    repeat(out, ' ', c->left ? spaces : 0);
}

static void put_number(struct output *out, const struct conversion *c, uint64_t number,
                       unsigned base, const char *prefix)
{
    const char *digits = c->letter == 'X' ? "0123456789ABCDEF" : "0123456789abcdef";
    char text[DIGITS_MAX];
    size_t at = sizeof(text);
    long zeros, length;

    for (; number > 0; number /= base)
        text[--at] = digits[number % base];
    length = (long)(sizeof(text) - at);
    zeros = (c->precision < 0 ? 1 : c->precision) - length;
    if (c->alternate && base == 8 && zeros <= 0)
        zeros = 1;
    if (c->zero && !c->left && c->precision < 0) {
        long wide = c->width - length;

        for (const char *p = prefix; *p; p++)
            wide--;
        zeros = wide > zeros ? wide : zeros;
    }
    put_field(out, c, prefix, zeros > 0 ? zeros : 0, text + at, (size_t)length);
}

static int64_t signed_argument(int length, struct arguments *arguments)
{
    if (length == (int)sizeof(long long))
        return va_arg(arguments->list, long long);
    if (length == (int)sizeof(long))
        return va_arg(arguments->list, long);
    const int number = va_arg(arguments->list, int);

    return length == 1 ? (signed char)number : length == 2 ? (short)number : number;
}

static uint64_t unsigned_argument(int length, struct arguments *arguments)
{
    const uint64_t number = (uint64_t)signed_argument(length, arguments);

    return length >= 8 ? number : number & ((UINT64_C(1) << length * 8) - 1);
}

static void put_signed(struct output *out, const struct conversion *c, struct arguments *arguments)
{
    const int64_t number = signed_argument(c->length, arguments);
    const char *prefix = number < 0 ? "-" : c->plus ? "+" : c->space ? " " : "";

    put_number(out, c, number < 0 ? 0 - (uint64_t)number : (uint64_t)number, 10, prefix);
}

static void put_unsigned(struct output *out, const struct conversion *c,
                         struct arguments *arguments)
{
    const uint64_t number = unsigned_argument(c->length, arguments);
    const bool hex = c->letter == 'x' || c->letter == 'X';
    const char *prefix = !hex || !c->alternate || number == 0 ? "" : c->letter == 'x' ? "0x" : "0X";

    put_number(out, c, number, hex ? 16 : c->letter == 'o' ? 8 : 10, prefix);
}

static void put_string(struct output *out, const struct conversion *c, const char *text)
{
    size_t length = 0;

    if (!text)
        text = "(null)";
    while ((c->precision < 0 || length < (size_t)c->precision) && text[length])
        length++;
    put_field(out, c, "", 0, text, length);
}

/* Returns false for a conversion that is not known. */
static bool put_conversion(struct output *out, const struct conversion *c,
                           struct arguments *arguments)
{
    char byte;

    switch (c->letter) {
    case 'd':
    case 'i':
        put_signed(out, c, arguments);
        return true;
    case 'u':
    case 'x':
    case 'X':
    case 'o':
        put_unsigned(out, c, arguments);
        return true;
    case 'p':
        put_number(out, c, (uintptr_t)va_arg(arguments->list, void *), 16, "0x");
        return true;
    case 'c':
        byte = (char)va_arg(arguments->list, int);
        put_field(out, c, "", 0, &byte, 1);
        return true;
    case 's':
        put_string(out, c, va_arg(arguments->list, const char *));
        return true;
    case '%':
        put(out, "%", 1);
        return true;
    default:
        return false;
    }
}

int format_text(format_put *put_bytes, void *to, const char *format, va_list list)
{
    struct output out = {put_bytes, to, 0};
    struct arguments arguments;
    bool known = true;

    va_copy(arguments.list, list);
    while (*format && known) {
        struct conversion c;
        size_t plain = 0;

        while (format[plain] && format[plain] != '%')
            plain++;
        put(&out, format, plain);
        format += plain;
        if (*format) {
            format = read_conversion(format + 1, &arguments, &c);
            known = put_conversion(&out, &c, &arguments);
        }
    }
    va_end(arguments.list);
    return known && out.count <= INT_MAX ? (int)out.count : -1;
}

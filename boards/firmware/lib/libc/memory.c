/* SPDX-License-Identifier: BSD-3-Clause */
/* Memory, strings and numbers. Built with -ffreestanding, so that the compiler does not make calls
   of a function inside itself. */
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* A word that may access objects of any type (no strict aliasing). */
typedef uintptr_t __attribute__((may_alias)) word;

static bool are_aligned(const void *a, const void *b)
{
    return (((uintptr_t)a | (uintptr_t)b) & (sizeof(word) - 1)) == 0;
}

void *memcpy(void *restrict to, const void *restrict from, size_t count)
{
    uint8_t *t = to;
    const uint8_t *f = from;

    if (are_aligned(t, f)) {
        for (; count >= sizeof(word); count -= sizeof(word)) {
            *(word *)(void *)t = *(const word *)(const void *)f;
            t += sizeof(word);
            f += sizeof(word);
        }
    }
    for (; count > 0; count--)
        *t++ = *f++;
    return to;
}

void *memmove(void *to, const void *from, size_t count)
{
    uint8_t *t = to;
    const uint8_t *f = from;

    if ((uintptr_t)t - (uintptr_t)f >= count)
        return memcpy(to, from, count);
    while (count-- > 0)
        t[count] = f[count];
    return to;
}

void *memset(void *to, int byte, size_t count)
{
    uint8_t *t = to;
    const word pattern = (word)-1 / 255 * (uint8_t)byte;

    if (are_aligned(t, t)) {
        for (; count >= sizeof(word); count -= sizeof(word)) {
            *(word *)(void *)t = pattern;
            t += sizeof(word);
        }
    }
    for (; count > 0; count--)
        *t++ = (uint8_t)byte;
    return to;
}

int memcmp(const void *a, const void *b, size_t count)
{
    const uint8_t *p = a, *q = b;

    if (are_aligned(p, q)) {
        while (count >= sizeof(word) &&
               *(const word *)(const void *)p == *(const word *)(const void *)q) {
            p += sizeof(word);
            q += sizeof(word);
            count -= sizeof(word);
        }
    }
    for (; count > 0; count--, p++, q++) {
        if (*p != *q)
            return *p - *q;
    }
    return 0;
}

size_t strlen(const char *text)
{
    size_t length = 0;

    while (text[length])
        length++;
    return length;
}

int strcmp(const char *a, const char *b)
{
    while (*a && *a == *b) {
        a++;
        b++;
    }
    return (unsigned char)*a - (unsigned char)*b;
}

int strncmp(const char *a, const char *b, size_t count)
{
    while (count > 0 && *a && *a == *b) {
        a++;
        b++;
        count--;
    }
    return count == 0 ? 0 : (unsigned char)*a - (unsigned char)*b;
}

size_t strcspn(const char *text, const char *stops)
{
    size_t length = 0;

    for (; text[length]; length++) {
        for (const char *stop = stops; *stop; stop++) {
            if (text[length] == *stop)
                return length;
        }
    }
    return length;
}

char *strstr(const char *text, const char *part)
{
    const size_t length = strlen(part);

    for (; *text; text++) {
        if (strncmp(text, part, length) == 0)
            break;
    }
    return *text || length == 0 ? (char *)(uintptr_t)text : NULL;
}

static unsigned digit_of(char c)
{
    if (c >= '0' && c <= '9')
        return (unsigned)(c - '0');
    if (c >= 'a' && c <= 'z')
        return (unsigned)(c - 'a') + 10;
    if (c >= 'A' && c <= 'Z')
        return (unsigned)(c - 'A') + 10;
    return 36;
}

/* Reads numbers without a sign; a number that is too large wraps. */
unsigned long long strtoull(const char *text, char **end, int base)
{
    const char *at = text;
    unsigned long long number = 0;

    if ((base == 0 || base == 16) && at[0] == '0' && (at[1] | 0x20) == 'x' &&
        digit_of(at[2]) < 16) {
        base = 16;
        at += 2;
    }
    if (base == 0)
        base = *at == '0' ? 8 : 10;
    if (digit_of(*at) >= (unsigned)base)
        at = text;
    for (; digit_of(*at) < (unsigned)base; at++)
        number = number * (unsigned)base + digit_of(*at);
    if (end)
        *end = (char *)(uintptr_t)at;
    return number;
}

/* SPDX-License-Identifier: BSD-3-Clause */
#include "proto/json/utf8.h"

#include <endian.h>
#include <string.h>

static bool continues(unsigned char byte)
{
    return (byte & 0xc0) == 0x80;
}

/* Returns the length of a character from its first byte; 0 if this byte begins no character. */
static size_t expected(unsigned char first)
{
    if (first < 0x80)
        return 1;
    if (first < 0xc2)
        return 0;
    if (first < 0xe0)
        return 2;
    if (first < 0xf0)
        return 3;
    return first < 0xf5 ? 4 : 0;
}

size_t utf8_char(const char *text, size_t length)
{
    const unsigned char *byte = (const unsigned char *)text;
    size_t size = length ? expected(byte[0]) : 0;

    if (size > length)
        return 0;
    for (size_t i = 1; i < size; i++) {
        if (!continues(byte[i]))
            return 0;
    }
    if (size < 3)
        return size;
    /* The second byte shows overlong forms, surrogates and codes above U+10FFFF. */
    if ((byte[0] == 0xe0 && byte[1] < 0xa0) || (byte[0] == 0xed && byte[1] > 0x9f) ||
        (byte[0] == 0xf0 && byte[1] < 0x90) || (byte[0] == 0xf4 && byte[1] > 0x8f))
        return 0;
    return size;
}

bool utf8_is_valid(const char *text, size_t length)
{
    for (size_t done = 0, size; done < length; done += size) {
        size = utf8_char(text + done, length - done);
        if (size == 0)
            return false;
    }
    return true;
}

size_t utf8_plain(const char *text, size_t length)
{
    const uint64_t ones = UINT64_MAX / 255;
    size_t at = 0;

    for (; length - at >= sizeof(uint64_t); at += sizeof(uint64_t)) {
        uint64_t bytes, marks;

        memcpy(&bytes, text + at, sizeof bytes);
        bytes = le64toh(bytes);
        /* Sets the highest bit of the first byte that is a control character, '"', '\' or not
         * ASCII, and of no earlier byte. */
        marks = ones * 0x80 & (bytes | (bytes - ones * 0x20) | ((bytes ^ ones * '"') - ones) |
                               ((bytes ^ ones * '\\') - ones));
        if (marks != 0)
            return at + (size_t)__builtin_ctzll(marks) / 8;
    }
    while (at < length && (unsigned char)(text[at] - 0x20) < 0x60 && text[at] != '"' &&
           text[at] != '\\')
        at++;
    return at;
}

size_t utf8_cut(const char *text, size_t length)
{
    size_t lead = length;

    for (size_t back = 0; back < UTF8_CHAR_MAX && lead > 0; back++) {
        lead--;
        if (!continues((unsigned char)text[lead])) {
            size_t size = expected((unsigned char)text[lead]);
            return size > length - lead ? lead : length;
        }
    }
    return length;
}

uint32_t utf8_decode(const char *text, size_t size)
{
    static const unsigned char bits[] = {0, 0x7f, 0x1f, 0x0f, 0x07};
    uint32_t code = (unsigned char)text[0] & bits[size];

    for (size_t i = 1; i < size; i++)
        code = code << 6 | ((unsigned char)text[i] & 0x3f);
    return code;
}

size_t utf8_encode(uint32_t code, char out[UTF8_CHAR_MAX])
{
    if (code < 0x80) {
        out[0] = (char)code;
        return 1;
    }
    if (code < 0x800) {
        out[0] = (char)(0xc0 | code >> 6);
        out[1] = (char)(0x80 | (code & 0x3f));
        return 2;
    }
    if (code < 0x10000) {
        out[0] = (char)(0xe0 | code >> 12);
        out[1] = (char)(0x80 | (code >> 6 & 0x3f));
        out[2] = (char)(0x80 | (code & 0x3f));
        return 3;
    }
    out[0] = (char)(0xf0 | code >> 18);
    out[1] = (char)(0x80 | (code >> 12 & 0x3f));
    out[2] = (char)(0x80 | (code >> 6 & 0x3f));
    out[3] = (char)(0x80 | (code & 0x3f));
    return 4;
}

bool utf8_is_format(uint32_t code)
{
    return (code >= 0x200b && code <= 0x200f) || (code >= 0x2028 && code <= 0x202e) ||
           (code >= 0x2060 && code <= 0x206f) || (code >= 0xfff9 && code <= 0xfffb) ||
           (code >= 0xe0000 && code <= 0xe007f) || code == 0xad || code == 0x61c ||
           code == 0x180e || code == 0xfeff;
}

void utf8_disarm(char *text)
{
    size_t left = strlen(text);

    while (left > 0) {
        const size_t whole = utf8_char(text, left), size = whole ? whole : 1;
        const uint32_t code = whole ? utf8_decode(text, whole) : 0;

        if (code < 0x20 || (code >= 0x7f && code < 0xa0) || utf8_is_format(code))
            memset(text, '?', size);
        text += size;
        left -= size;
    }
}

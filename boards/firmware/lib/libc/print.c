/* SPDX-License-Identifier: BSD-3-Clause */
/* Formatted output. All streams are the console of the board. */
#include <stdio.h>
#include <string.h>

#include "boards/firmware/board.h"
#include "boards/firmware/lib/libc/format.h"

#undef putchar
#undef stdin
#undef stdout
#undef stderr
#ifdef __PICOLIBC__
FILE *const stdin, *const stdout, *const stderr;
#else
FILE *stdin, *stdout, *stderr;
#endif

static void to_console(void *to, const char *bytes, size_t count)
{
    (void)to;
    board_write(bytes, count);
}

int vfprintf(FILE *stream, const char *format, va_list arguments)
{
    (void)stream;
    return format_text(to_console, NULL, format, arguments);
}

int vprintf(const char *format, va_list arguments)
{
    return format_text(to_console, NULL, format, arguments);
}

int printf(const char *format, ...)
{
    va_list arguments;
    int count;

    va_start(arguments, format);
    count = format_text(to_console, NULL, format, arguments);
    va_end(arguments);
    return count;
}

int fprintf(FILE *stream, const char *format, ...)
{
    va_list arguments;
    int count;

    (void)stream;
    va_start(arguments, format);
    count = format_text(to_console, NULL, format, arguments);
    va_end(arguments);
    return count;
}

size_t fwrite(const void *bytes, size_t size, size_t count, FILE *stream)
{
    (void)stream;
    board_write(bytes, size * count);
    return count;
}

int fputc(int byte, FILE *stream)
{
    const char c = (char)byte;

    (void)stream;
    board_write(&c, 1);
    return (unsigned char)c;
}

int fputs(const char *text, FILE *stream)
{
    (void)stream;
    board_write(text, strlen(text));
    return 0;
}

int putchar(int byte)
{
    return fputc(byte, NULL);
}

int puts(const char *text)
{
    (void)fputs(text, NULL);
    return putchar('\n');
}

/* The rest of a buffer. */
struct buffer {
    char *at;
    size_t room;
};

static void to_buffer(void *to, const char *bytes, size_t count)
{
    struct buffer *buffer = to;
    const size_t copied = count < buffer->room ? count : buffer->room;

    if (copied > 0)
        memcpy(buffer->at, bytes, copied);
    buffer->at += copied;
    buffer->room -= copied;
}

int vsnprintf(char *to, size_t room, const char *format, va_list arguments)
{
    struct buffer buffer = {to, room > 0 ? room - 1 : 0};
    const int count = format_text(to_buffer, &buffer, format, arguments);

    if (room > 0)
        *buffer.at = '\0';
    return count;
}

int snprintf(char *to, size_t room, const char *format, ...)
{
    va_list arguments;
    int count;

    va_start(arguments, format);
    count = vsnprintf(to, room, format, arguments);
    va_end(arguments);
    return count;
}

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A small C library for toolchains without one: formatted output (format.c, print.c), memory and
 * strings (memory.c), a heap (heap.c). It has what images use; the linker reports what is missing.
 * Its functions are declared by the headers of the toolchain.
 */
#ifndef FIRMWARE_LIBC_FORMAT_H
#define FIRMWARE_LIBC_FORMAT_H

#include <stdarg.h>
#include <stddef.h>

/** Receives formatted bytes. */
typedef void format_put(void *to, const char *bytes, size_t count);

/**
 * Formats as printf() does, without floating-point numbers, wide characters and %n. Returns the
 * number of bytes; -1 for a conversion that it does not know.
 */
int format_text(format_put *put, void *to, const char *format, va_list arguments);

#endif /* FIRMWARE_LIBC_FORMAT_H */

/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "cli/term/cancel.h"
#include "cli/term/phrase.h"
#include "cli/term/print.h"
#include "mli_helpers_api.h"
#include "proto/json/utf8.h"

#define ESCAPED_BAD 0xfffdU /* U+FFFD, the code of bytes that are not UTF-8 */

bool escaped_is_control(uint32_t code)
{
    return code < 0x20 || (code >= 0x7f && code < 0xa0);
}

const char *escaped_plain(uint32_t code, char out[ESCAPED_MAX])
{
    (void)out;
    return escaped_is_control(code) || utf8_is_format(code) ? "?" : NULL;
}

const char *escaped_markup(uint32_t code)
{
    switch (code) {
    case '&':
        return "&amp;";
    case '<':
        return "&lt;";
    case '>':
        return "&gt;";
    case '"':
        return "&quot;";
    default:
        return NULL;
    }
}

void escaped_write(struct textw *w, const char *text, escaped_rule rule)
{
    const char *end = text + strlen(text), *plain = text;
    while (text < end) {
        char out[ESCAPED_MAX];
        size_t size = utf8_char(text, (size_t)(end - text));
        const char *instead = rule(size ? utf8_decode(text, size) : ESCAPED_BAD, out);
        if (size == 0 && !instead)
            instead = "\xef\xbf\xbd";
        if (size == 0)
            size = 1;
        if (instead) {
            textw_printf(w, "%.*s%s", (int)(text - plain), plain, instead);
            plain = text + size;
        }
        text += size;
    }
    textw_printf(w, "%s", plain);
}

static bool output_lost; /* out of memory for a part of the output */
static int output_error; /* errno of the first write to stdout that failed */

void print_error(const char *format, ...)
{
    char line[1024];
    va_list args;
    va_start(args, format);
    vsnprintf(line, sizeof(line), format, args);
    va_end(args);
    utf8_disarm(line);
    fflush(stdout); /* flush stdout first, to keep the order of results and errors */
    terminal_line_hide();
    fprintf(stderr, "%smlictl:%s %s\n", colour_begin(stderr, COLOUR_BAD), colour_end(stderr), line);
}

/* Appends a token of a JSON pointer with "~1" as '/' and "~0" as '~'. Returns the new length. */
static size_t append_token(char out[PRINT_PLACE_MAX], size_t length, const char *token, size_t size)
{
    for (size_t i = 0; i < size && length + 1 < PRINT_PLACE_MAX; i++) {
        const bool escape = token[i] == '~' && i + 1 < size && strchr("01", token[i + 1]);

        out[length++] = !escape ? token[i] : token[++i] == '1' ? '/' : '~';
    }
    out[length] = '\0';
    return length;
}

/* Writes the name "jobs[0].cfg.offset[1]" of the JSON pointer "/jobs/0/cfg/offset/1". */
static void write_place(char out[PRINT_PLACE_MAX], const char *pointer)
{
    size_t length = 0;
    out[0] = '\0';
    while (*pointer == '/') {
        const size_t token = strcspn(++pointer, "/");
        const bool index = token > 0 && strspn(pointer, "0123456789") == token;

        if (index || length > 0)
            length = append_token(out, length, index ? "[" : ".", 1);
        length = append_token(out, length, pointer, token);
        if (index)
            length = append_token(out, length, "]", 1);
        pointer += token;
    }
}

/*
 * Returns the length of "jobs[3]." for the place "jobs[3].cfg.offset[1]" and a text that begins
 * with "cfg.offset[1]": the text repeats the end of the place. If it does not, returns the length
 * of the place.
 */
static size_t unnamed_length(const char *place, const char *text)
{
    const size_t length = strlen(place);
    for (size_t i = 0; i < length; i++) {
        if ((i == 0 || place[i - 1] == '.') && place[i] != '.' &&
            strncmp(text, place + i, length - i) == 0 && strchr(":.[ ", text[length - i]))
            return i;
    }
    return length;
}

void print_place(char out[PRINT_PLACE_MAX], const char *pointer, const char *text)
{
    write_place(out, pointer);
    const size_t length = unnamed_length(out, text);
    const bool whole = length > 0 && !out[length];
    out[length] = '\0';
    if (whole && *text && length + sizeof(": ") <= PRINT_PLACE_MAX)
        strcpy(out + length, ": ");
}

/* Returns the text after "PREFIX: ", or NULL if the text does not begin with that. */
static const char *text_after(const char *text, const char *prefix)
{
    size_t length = strlen(prefix);
    return strncmp(text, prefix, length) == 0 && strncmp(text + length, ": ", 2) == 0
               ? text + length + 2
               : NULL;
}

/* Returns whether the fault's text begins with "FILE: " or "PLACE: FILE: ". The name of the file is
 * then not printed again. */
static bool names_file(const struct fault *fault, const char *file)
{
    char place[PRINT_PLACE_MAX] = "";
    if (fault->has_pointer)
        write_place(place, fault->pointer);
    const char *rest = text_after(fault->text, place);
    return text_after(rest ? rest : fault->text, file) != NULL;
}

void print_fault(const char *file, const struct fault *fault)
{
    char position[32] = "", place[PRINT_PLACE_MAX] = "";
    if (file && !fault->line && names_file(fault, file))
        file = NULL;
    if (fault->line)
        snprintf(position, sizeof(position), ":%u:%u", fault->line, fault->column);
    if (fault->has_pointer)
        print_place(place, fault->pointer, fault->text);
    print_error("%s%s%s%s%s", file ? file : "", file ? position : "", file ? ": " : "", place,
                fault->text);
}

static void print_json_failure(const char *file, const struct fault *fault)
{
    struct jsonw w;
    jsonw_init_object(&w);
    if (file)
        jsonw_string(&w, "file", file);
    jsonw_uint(&w, "exit", exit_code_of(fault));
    print_json_fault(&w, "error", fault);
    print_object(&w);
}

enum exit_code print_failure(const struct print_style *style, const char *file,
                             const struct fault *fault)
{
    /* Without a file the pointer is not printed: the text itself names the member. */
    if (file)
        print_fault(file, fault);
    else
        print_error("%s", fault->text);
    if (style->json)
        print_json_failure(file, fault);
    return exit_code_of(fault);
}

enum exit_code print_file_failure(const struct print_style *style, const char *file,
                                  const struct fault *fault)
{
    print_fault(NULL, fault);
    if (style->json)
        print_json_failure(file, fault);
    return exit_code_of(fault);
}

enum exit_code print_no_memory(void)
{
    print_error("out of memory");
    return EXIT_CODE_FAILED;
}

void print_line(const struct print_style *style, const char *format, ...)
{
    if (style->json || style->quiet)
        return;
    char line[PRINT_LINE_MAX];
    va_list args;
    va_start(args, format);
    vsnprintf(line, sizeof(line), format, args);
    va_end(args);
    utf8_disarm(line);
    terminal_line_hide();
    printf("%s\n", line);
}

void print_coloured(const struct print_style *style, const char *before, enum colour_role role,
                    const char *word, const char *after)
{
    char left[PRINT_LINE_MAX], right[PRINT_LINE_MAX];
    if (style->json || style->quiet)
        return;
    snprintf(left, sizeof(left), "%s", before);
    snprintf(right, sizeof(right), "%s", after);
    utf8_disarm(left);
    utf8_disarm(right);
    terminal_line_hide();
    printf("%s%s%s%s%s\n", left, *word ? colour_begin(stdout, role) : "", word,
           *word ? colour_end(stdout) : "", right);
}

void print_json(struct jsonw *w)
{
    const char *text = jsonw_text(w);
    if (text)
        puts(text);
    else
        print_lost();
    jsonw_finish(w);
}

void print_object(struct jsonw *w)
{
    jsonw_object_end(w);
    print_json(w);
}

void print_text(struct textw *w)
{
    terminal_line_hide();
    if (w->failed)
        print_lost();
    else if (w->length)
        fwrite(w->data, 1, w->length, stdout);
    fflush(stdout);
    textw_finish(w);
}

void print_lost(void)
{
    output_lost = true;
    print_error("out of memory");
}

/* Records the errno of a failed write to stdout; print_flush() reports the first error. */
static void print_note_error(int error)
{
    if (!output_error)
        output_error = error;
}

int print_flush(void)
{
    static bool complained;
    if (fflush(stdout) == 0 && !ferror(stdout))
        return output_lost ? -1 : 0;
    /* No message if the reader closed the pipe (`| head`), nor after a cancel. */
    if (output_error != EPIPE && !cancel_requested() && !complained)
        print_error("standard output: %s", strerror(output_error ? output_error : EIO));
    complained = true;
    return -1;
}

void print_json_fault(struct jsonw *w, const char *key, const struct fault *fault)
{
    jsonw_object_begin(w, key);
    jsonw_int(w, "code", fault->code);
    jsonw_string(w, "name", fault_name(fault->code));
    if (fault->code == FAULT_REFUSED)
        jsonw_string(w, "status", mli_status_name(fault->status));
    if (fault->has_pointer)
        jsonw_string(w, "pointer", fault->pointer);
    if (fault->line) {
        jsonw_uint(w, "line", fault->line);
        jsonw_uint(w, "column", fault->column);
    }
    jsonw_string(w, "message", fault->text);
    jsonw_object_end(w);
}

void print_json_shape(struct jsonw *w, const char *key, uint32_t rank, const uint32_t *shape)
{
    jsonw_array_begin(w, key);
    for (uint32_t d = 0; d < rank; d++)
        jsonw_uint(w, NULL, shape[d]);
    jsonw_array_end(w);
}

const char *print_path_end(char *out, size_t size, const char *path)
{
    size_t length = strlen(path);
    const char *end = path;
    if (length >= size) {
        end += length - (size - 4);
        /* Do not cut within a UTF-8 character. */
        while (((unsigned char)*end & 0xc0) == 0x80)
            end++;
    }
    snprintf(out, size, "%s%s", end == path ? "" : "...", end);
    return out;
}

const char *print_path(char out[PRINT_PATH_MAX], const char *path)
{
    return print_path_end(out, PRINT_PATH_MAX, path);
}

const char *print_shape(char out[PRINT_TEXT_MAX], uint32_t rank, const uint32_t *shape)
{
    struct phrase phrase = phrase_init(out, PRINT_TEXT_MAX);

    phrase_add(&phrase, "(");
    for (uint32_t d = 0; d < rank; d++)
        phrase_add(&phrase, "%s%" PRIu32, d ? ", " : "", shape[d]);
    phrase_add(&phrase, ")");
    return out;
}

/* Formats an amount: exact in the first unit, else with three digits: "192 B", "1.50 KiB". */
static const char *print_amount(char out[PRINT_TEXT_MAX], uint64_t amount, unsigned base,
                                const char *const units[4])
{
    double value = (double)amount;
    size_t unit = 0;
    for (; value >= base && unit < 3; unit++)
        value /= base;
    int decimals = unit == 0 || value >= 99.95 ? 0 : value >= 9.995 ? 1 : 2;
    snprintf(out, PRINT_TEXT_MAX, "%.*f %s", decimals, value, units[unit]);
    return out;
}

const char *print_bytes(char out[PRINT_TEXT_MAX], uint64_t bytes)
{
    static const char *const units[] = {"B", "KiB", "MiB", "GiB"};
    return print_amount(out, bytes, 1024, units);
}

const char *print_s(uint64_t count)
{
    return count == 1 ? "" : "s";
}

const char *print_time(char out[PRINT_TEXT_MAX], uint64_t ns)
{
    static const char *const units[] = {"ns", "us", "ms", "s"};
    return print_amount(out, ns, 1000, units);
}

const char *print_since(char out[PRINT_TEXT_MAX], uint64_t ms)
{
    static const struct {
        const char *unit, *smaller;
        uint64_t seconds, part;
    } scales[] = {{"d", "h", 86400, 3600}, {"h", "min", 3600, 60}, {"min", "s", 60, 1}};
    const uint64_t seconds = ms / 1000;
    for (size_t i = 0; i < sizeof(scales) / sizeof(scales[0]); i++) {
        if (seconds < scales[i].seconds)
            continue;
        snprintf(out, PRINT_TEXT_MAX, "%" PRIu64 " %s %" PRIu64 " %s", seconds / scales[i].seconds,
                 scales[i].unit, seconds % scales[i].seconds / scales[i].part, scales[i].smaller);
        return out;
    }
    return print_time(out, ms * 1000000);
}

enum { PARTING_MS = 1000 };

struct stream {
    int fd;
    bool given_up;
};

/* Waits until the descriptor accepts bytes. Returns false one second after a cancel. */
static bool wait_for_room(struct stream *stream)
{
    while (!stream->given_up) {
        bool parting = cancel_requested();
        struct pollfd polled[] = {{.fd = stream->fd, .events = POLLOUT},
                                  {.fd = cancel_fd(), .events = POLLIN}};
        int ready = poll(polled, parting ? 1 : 2, parting ? PARTING_MS : -1);
        if (ready > 0 && polled[0].revents)
            return true;
        stream->given_up = ready == 0 || (ready < 0 && errno != EINTR);
        if (ready < 0 && stream->given_up && stream->fd == STDOUT_FILENO)
            print_note_error(errno);
    }
    return false;
}

/* Writes at most PIPE_BUF bytes at a time: a pipe that polls as writable has space for them, so
 * that write() does not block. */
static ssize_t put(void *cookie, const char *bytes, size_t size)
{
    struct stream *stream = cookie;
    size_t done = 0;
    while (done < size) {
        if (!wait_for_room(stream)) {
            errno = EINTR;
            break;
        }
        size_t want = size - done < PIPE_BUF ? size - done : PIPE_BUF;
        ssize_t written = write(stream->fd, bytes + done, want);
        if (written > 0)
            done += (size_t)written;
        else if (written == 0 || (errno != EINTR && errno != EAGAIN)) {
            if (stream->fd == STDOUT_FILENO)
                print_note_error(written == 0 ? EIO : errno);
            break;
        }
    }
    return (ssize_t)done;
}

static FILE *open_stream(struct stream *stream)
{
    static const cookie_io_functions_t functions = {.write = put};
    return fopencookie(stream, "w", functions);
}

int streams_init(void)
{
    static struct stream output = {.fd = STDOUT_FILENO}, error = {.fd = STDERR_FILENO};
    FILE *out = open_stream(&output), *err = open_stream(&error);
    if (!out || !err)
        return -ENOMEM;
    setvbuf(out, NULL, isatty(STDOUT_FILENO) ? _IOLBF : _IOFBF, BUFSIZ);
    setvbuf(err, NULL, _IONBF, 0);
    stdout = out;
    stderr = err;
    return 0;
}

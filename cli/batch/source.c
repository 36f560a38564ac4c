/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <poll.h>
#include <search.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/batch/workers.h"
#include "cli/term/cancel.h"
#include "cli/term/exit_code.h"
#include "cli/term/print.h"

/* A line of standard input has a path and a comment, together at most BUFFER_SIZE bytes. */
enum { BUFFER_SIZE = 64 * 1024, WAIT_MS = 100 };

static enum source_answer take_listed(void *context, struct batch_case **out, struct fault *fault)
{
    struct source_list *list = context;
    const size_t index = atomic_fetch_add_explicit(&list->next, 1, memory_order_relaxed);

    (void)fault;
    if (index >= list->count)
        return SOURCE_END;
    *out = list->cases[index];
    return SOURCE_CASE;
}

struct case_source source_list_of(struct source_list *list)
{
    return (struct case_source){.take = take_listed, .context = list};
}

/* Lines of standard input. */

static int compare_names(const void *a, const void *b)
{
    return strcmp(a, b);
}

/* Adds a name to the tree. Returns 1 if the name is new, 0 if the tree had it, -1 if out of
 * memory. */
static int add_name(struct source_input *input, const char *name)
{
    char *copy = strdup(name);
    char **node = copy ? tsearch(copy, &input->names, compare_names) : NULL;
    const bool fresh = node && *node == copy;

    if (!fresh)
        free(copy);
    return node ? fresh : -1;
}

static enum source_answer refuse_twice(const struct source_input *input, const char *name,
                                       struct fault *fault)
{
    char shown[PRINT_PATH_MAX];

    fault_set(fault, FAULT_INVALID_PARAMS, NULL, "%s:%zu: case %s is given twice",
              input->manifest.shown, input->manifest.line, print_path(shown, name));
    return SOURCE_REFUSED;
}

/* Takes the next case of the line that was read last. Returns SOURCE_LATER if the case does not
 * run. */
static enum source_answer take_fresh(struct source_input *input, struct batch_case **out,
                                     struct fault *fault)
{
    struct batch_case **slot = &input->fresh.list[input->next++], *batch_case = *slot;
    const int added = add_name(input, batch_case->name);

    if (added < 0)
        return source_no_memory(fault);
    if (added == 0)
        return refuse_twice(input, batch_case->name, fault);
    const enum admission admission = input->admit(input->context, batch_case, fault);
    if (admission != CASE_ADMITTED)
        return admission == CASE_REFUSED ? SOURCE_REFUSED : SOURCE_LATER;
    if (cases_append(input->cases, batch_case))
        return source_no_memory(fault);
    *slot = NULL; /* input->cases owns the case now. */
    *out = batch_case;
    return SOURCE_CASE;
}

static void clear_fresh(struct source_input *input)
{
    cases_finish(&input->fresh);
    input->fresh.except = input->cases->except;
    input->next = 0;
}

/* Takes one line: adds its cases to `fresh`. */
static enum source_answer take_line(struct source_input *input, const char *line, size_t length,
                                    struct fault *fault)
{
    input->manifest.line++;
    input->manifest.fault = fault;
    clear_fresh(input);
    if (manifest_take_line(&input->manifest, line, length) == 0)
        return SOURCE_LATER;
    clear_fresh(input);
    return fault->code == FAULT_INVALID_PARAMS ? SOURCE_REFUSED : SOURCE_LOST;
}

/* Drops the bytes of a line that does not fit into the buffer. */
static enum source_answer drop_line(struct source_input *input, struct fault *fault)
{
    const bool first = !input->skips;

    input->begin = input->end = 0;
    input->skips = true;
    if (!first)
        return SOURCE_LATER;
    input->manifest.line++;
    input->manifest.fault = fault;
    manifest_refuse(&input->manifest, "the line is longer than 65535 bytes");
    return SOURCE_REFUSED;
}

/* Removes a line from the buffer. Returns false if the buffer has no complete line. */
static bool take_buffered(struct source_input *input, enum source_answer *answer,
                          struct fault *fault)
{
    const char *line = input->buffer + input->begin;
    const size_t left = input->end - input->begin;
    const char *newline = left ? memchr(line, '\n', left) : NULL;

    if (!newline && left == BUFFER_SIZE) {
        *answer = drop_line(input, fault);
        return true;
    }
    if (left == 0 || (!newline && !input->at_end))
        return false;
    const size_t length = newline ? (size_t)(newline - line) : left;
    input->begin += length + (newline != NULL);
    *answer = input->skips ? SOURCE_LATER : take_line(input, line, length, fault);
    input->skips = false;
    return true;
}

/* Waits for further bytes and reads them. */
static enum source_answer read_more(struct source_input *input, struct fault *fault)
{
    struct pollfd wait[] = {{.fd = input->fd, .events = POLLIN},
                            {.fd = cancel_fd(), .events = POLLIN}};

    if (poll(wait, 2, WAIT_MS) <= 0 || !wait[0].revents)
        return SOURCE_LATER;
    memmove(input->buffer, input->buffer + input->begin, input->end - input->begin);
    input->end -= input->begin;
    input->begin = 0;
    const ssize_t got = read(input->fd, input->buffer + input->end, BUFFER_SIZE - input->end);
    if (got < 0 && (errno == EINTR || errno == EAGAIN))
        return SOURCE_LATER;
    if (got < 0) {
        fault_set(fault, exit_code_fault(errno, FAULT_INVALID_PARAMS), NULL, "%s: %s",
                  input->manifest.shown, strerror(errno));
        return SOURCE_LOST;
    }
    input->at_end = got == 0;
    input->end += (size_t)got;
    return SOURCE_LATER;
}

static enum source_answer take_one(struct source_input *input, struct batch_case **out,
                                   struct fault *fault)
{
    enum source_answer answer;

    if (input->next < input->fresh.count)
        return take_fresh(input, out, fault);
    if (take_buffered(input, &answer, fault))
        return answer;
    if (!input->at_end)
        return read_more(input, fault);
    input->ended = true;
    return SOURCE_END;
}

static enum source_answer take(void *context, struct batch_case **out, struct fault *fault)
{
    struct source_input *input = context;

    pthread_mutex_lock(&input->mutex);
    const enum source_answer answer =
        input->buffer ? take_one(input, out, fault) : source_no_memory(fault);
    pthread_mutex_unlock(&input->mutex);
    return answer;
}

struct case_source source_input_init(struct source_input *input)
{
    pthread_mutex_init(&input->mutex, NULL);
    input->manifest = (struct manifest){.cases = &input->fresh, .shown = "stdin", .path = ""};
    clear_fresh(input);
    input->buffer = malloc(BUFFER_SIZE);
    return (struct case_source){.take = take, .context = input};
}

void source_input_finish(struct source_input *input)
{
    cases_finish(&input->fresh);
    tdestroy(input->names, free);
    free(input->buffer);
    pthread_mutex_destroy(&input->mutex);
}

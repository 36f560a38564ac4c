/* SPDX-License-Identifier: BSD-3-Clause */
#include "tests/unit/cli/capture.h"

#include <stdio.h>
#include <stdlib.h>

#include "tests/support/proto_unit.h"

struct stream {
    FILE *before, *now;
    char *text;
    size_t size;
};

static struct stream output, errors;

static FILE *begin(struct stream *stream, FILE *before)
{
    stream->before = before;
    stream->now = open_memstream(&stream->text, &stream->size);
    assert_non_null(stream->now);
    return stream->now;
}

void capture_begin(void)
{
    stdout = begin(&output, stdout);
    stderr = begin(&errors, stderr);
}

static const char *text_of(struct stream *stream)
{
    assert_int_equal(fflush(stream->now), 0);
    return stream->text;
}

const char *capture_output(void)
{
    return text_of(&output);
}

const char *capture_errors(void)
{
    return text_of(&errors);
}

static void end(struct stream *stream)
{
    fclose(stream->now);
    free(stream->text);
    *stream = (struct stream){0};
}

void capture_end(void)
{
    stdout = output.before;
    stderr = errors.before;
    end(&output);
    end(&errors);
}

struct job_buffers;
int job_buffers_open(const struct job_buffers *buffers, size_t index);

/* Stands for the buffers of a service, which these tests do not have. */
int job_buffers_open(const struct job_buffers *buffers, size_t index)
{
    (void)buffers;
    (void)index;
    return -1;
}

/* SPDX-License-Identifier: BSD-3-Clause */
#include "bench/service/echo.h"

#include <err.h>
#include <stdlib.h>
#include <string.h>
#include <uv.h>

enum { INPUT_MAX = 64 * 1024 };

static struct {
    size_t request, reply;
    char input[INPUT_MAX];
} echo;

struct peer {
    uv_pipe_t pipe;
    size_t begun; /* received bytes of the request that is not complete */
};

struct output {
    uv_write_t write;
    char bytes[];
};

static void on_written(uv_write_t *write, int status)
{
    (void)status;
    free(write->data);
}

static void lend(uv_handle_t *handle, size_t wanted, uv_buf_t *buffer)
{
    (void)handle;
    (void)wanted;
    *buffer = uv_buf_init(echo.input, sizeof echo.input);
}

static void on_closed(uv_handle_t *handle)
{
    free(handle);
}

static void answer(struct peer *peer, size_t count)
{
    const size_t size = count * echo.reply;
    struct output *output = malloc(sizeof *output + size);
    uv_buf_t buffer;

    if (!output)
        errx(1, "out of memory");
    memset(output->bytes, 'x', size);
    for (size_t i = 1; i <= count; i++)
        output->bytes[i * echo.reply - 1] = '\n';
    buffer = uv_buf_init(output->bytes, (unsigned)size);
    output->write.data = output;
    uv_write(&output->write, (uv_stream_t *)&peer->pipe, &buffer, 1, on_written);
}

static void on_read(uv_stream_t *stream, ssize_t got, const uv_buf_t *buffer)
{
    struct peer *peer = stream->data;

    (void)buffer;
    if (got < 0) {
        uv_close((uv_handle_t *)stream, on_closed);
        return;
    }
    peer->begun += (size_t)got;
    if (peer->begun >= echo.request)
        answer(peer, peer->begun / echo.request);
    peer->begun %= echo.request;
}

static void on_connection(uv_stream_t *listener, int status)
{
    struct peer *peer = calloc(1, sizeof *peer);

    if (status < 0 || !peer)
        errx(1, "echo: no connection");
    uv_pipe_init(listener->loop, &peer->pipe, 0);
    peer->pipe.data = peer;
    if (uv_accept(listener, (uv_stream_t *)&peer->pipe) < 0)
        errx(1, "echo: accept");
    uv_read_start((uv_stream_t *)&peer->pipe, lend, on_read);
}

void echo_run(const char *path, size_t request, size_t reply)
{
    uv_loop_t *loop = uv_default_loop();
    uv_pipe_t listener;

    echo.request = request;
    echo.reply = reply;
    uv_pipe_init(loop, &listener, 0);
    if (uv_pipe_bind(&listener, path) < 0 ||
        uv_listen((uv_stream_t *)&listener, 128, on_connection) < 0)
        errx(1, "echo: cannot listen at %s", path);
    uv_run(loop, UV_RUN_DEFAULT);
}

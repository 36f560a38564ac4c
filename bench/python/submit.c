/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The C side of submit.py: jobs through libmli_client on the service at argv[1]. For each line
 * "SCENE COUNT" of standard input it runs the scene and prints the nanoseconds that each job took.
 */
#include <err.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "bench/moves/bench_clock.h"
#include "mli_client.h"

enum { SIDE = 64, BYTES = SIDE * SIDE, DEPTH = 100 };

static mli_client *client;
static mli_client_error error;
static mli_client_prepared prepared;
static mli_client_job in_buffers, in_files;

static void check(int status)
{
    if (status)
        errx(1, "%s: %s", error.name, error.message);
}

static void describe(mli_client_job *job)
{
    mli_client_job_init(job);
    job->src = (mli_tensor){.rank = 2, .shape = {SIDE, SIDE}, .el_type = MLI_EL_FX_8};
    job->cfg.perm_dim[0] = 1;
    job->cfg.perm_dim[1] = 0;
}

static int make_file(void)
{
    const int fd = memfd_create("bench", MFD_CLOEXEC | MFD_ALLOW_SEALING);

    if (fd < 0 || ftruncate(fd, BYTES))
        err(1, "memfd");
    return fd;
}

static void set_up(const char *path)
{
    mli_client_buffer src, dst;

    check(mli_client_connect(path, &client, &error));
    check(mli_client_buffer_alloc(client, BYTES, &src, &error));
    check(mli_client_buffer_alloc(client, BYTES, &dst, &error));
    describe(&in_buffers);
    in_buffers.src_memory.buffer = src.id;
    in_buffers.dst_memory.buffer = dst.id;
    check(mli_client_prepare(client, &in_buffers, &prepared, &error));
    describe(&in_files);
    in_files.src_memory.fd = make_file();
    in_files.dst_memory.fd = make_file();
}

static void submit(const mli_client_job *job, int count)
{
    for (int i = 0; i < count; i++)
        check(mli_client_submit(client, job, NULL, &error));
}

static void start(int count)
{
    const mli_client_start_args args = {.prepared = prepared.id};
    mli_client_ticket ticket;

    for (int i = 0; i < count; i++) {
        check(mli_client_start(client, &args, NULL, NULL, &ticket, &error));
        check(mli_client_wait(client, ticket, -1, NULL, &error));
    }
}

static void start_many(int count)
{
    const mli_client_start_args args = {.prepared = prepared.id};
    mli_client_ticket ticket[DEPTH];

    for (int done = 0; done < count; done += DEPTH) {
        for (int i = 0; i < DEPTH; i++)
            check(mli_client_start(client, &args, NULL, NULL, &ticket[i], &error));
        for (int i = 0; i < DEPTH; i++)
            check(mli_client_wait(client, ticket[i], -1, NULL, &error));
    }
}

static void run(const char *scene, int count)
{
    if (strcmp(scene, "submit") == 0)
        submit(&in_buffers, count);
    else if (strcmp(scene, "private") == 0)
        submit(&in_files, count);
    else if (strcmp(scene, "start") == 0)
        start(count);
    else if (strcmp(scene, "starts") == 0)
        start_many(count);
    else
        errx(2, "%s: not a scene", scene);
}

int main(int argc, char **argv)
{
    char scene[16];
    int count;

    if (argc != 2)
        errx(2, "usage: bench-submit SOCKET");
    set_up(argv[1]);
    while (scanf("%15s %d", scene, &count) == 2) {
        const double begin = clock_ns();

        run(scene, count);
        printf("%.0f\n", (clock_ns() - begin) / count);
        fflush(stdout);
    }
    mli_client_close(client);
    return 0;
}

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A client of libmli_client that calls its functions, for the driver:
 *
 *     client_scene PATH            over the socket of a service
 *     client_scene --spawn A...    over a command, as mlictl -H does; inline
 *
 * Needs source.raw and result.raw of 24 bytes in the working directory. Prints what it checked. If
 * a call fails, prints "client_scene: CALL: message", releases all that it has, and exits with 1.
 * Exits with 2 if a call succeeds with a wrong result, has no message, or if descriptors are left.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "mli_client.h"

enum { BYTES = 24, FILES = 2 };

static const signed char content[BYTES] = {1,  2,  3,  4,  5,  6,  7,  8,  9,  10, 11, 12,
                                           13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24};

struct scene {
    mli_client *client;
    mli_client_error error;
    int files[FILES];
    int done; /* number of results that callbacks received */
};

static int wrong(const char *what)
{
    fprintf(stderr, "client_scene: wrong: %s\n", what);
    return 2;
}

/* Prints the reason why a call failed. */
static int refused(const struct scene *scene, const char *call)
{
    if (!*scene->error.message || scene->error.code >= 0 || !*scene->error.name)
        return wrong("an error without a message");
    fprintf(stderr, "client_scene: %s: %s\n", call, scene->error.message);
    return 1;
}

static int open_file(const char *name)
{
    int fd;

    do
        fd = open(name, O_RDWR | O_CLOEXEC);
    while (fd < 0 && errno == EINTR);
    if (fd < 0)
        perror("client_scene: open");
    return fd;
}

/* Closes a file. Returns the new exit status. */
static int close_file(int fd, int status)
{
    if (fd < 0)
        return 1;
    if (close(fd) == 0 || errno == EINTR)
        return status;
    perror("client_scene: close");
    return 1;
}

static int fill(int fd, bool zeros)
{
    static const signed char zero[BYTES];

    lseek(fd, 0, SEEK_SET);
    for (size_t done = 0; done < BYTES;) {
        const ssize_t put = pwrite(fd, (zeros ? zero : content) + done, BYTES - done, (off_t)done);

        if (put < 0 && errno != EINTR) {
            perror("client_scene: pwrite");
            return 1;
        }
        done += put > 0 ? (size_t)put : 0;
    }
    return 0;
}

/* Returns 0 if the destination has the expected content. */
static int check_bytes(const struct scene *scene, const char *call)
{
    signed char got[BYTES];

    for (size_t done = 0; done < BYTES;) {
        const ssize_t some = pread(scene->files[1], got + done, BYTES - done, (off_t)done);

        if (some == 0 || (some < 0 && errno != EINTR)) {
            perror("client_scene: pread");
            return 1;
        }
        done += some > 0 ? (size_t)some : 0;
    }
    if (memcmp(got, content, BYTES) != 0)
        return wrong(call);
    printf("%s\n", call);
    return fill(scene->files[1], true);
}

static mli_client_job copy_job(const struct scene *scene)
{
    mli_client_job job;

    mli_client_job_init(&job);
    job.src = (mli_tensor){.rank = 2, .shape = {4, 6}, .el_type = MLI_EL_FX_8};
    job.src_memory.fd = scene->files[0];
    job.dst_memory.fd = scene->files[1];
    return job;
}

static void count_result(mli_client *client, mli_client_ticket ticket,
                         const mli_client_result *result, const mli_client_error *error, void *user)
{
    struct scene *scene = user;

    (void)client;
    (void)ticket;
    if (error)
        scene->error = *error;
    scene->done += result ? 1 : -1;
}

static void count_event(mli_client *client, const mli_client_event *event, void *user)
{
    (void)client;
    (void)event;
    (void)user;
}

static int jobs(struct scene *s)
{
    mli_client_job job = copy_job(s);
    mli_client_result result;
    mli_client_ticket ticket;

    if (mli_client_submit(s->client, &job, &result, &s->error))
        return refused(s, "submit");
    mli_client_result_free(&result);
    int status = check_bytes(s, "submit");
    if (status)
        return status;
    if (mli_client_submit_async(s->client, &job, NULL, NULL, &ticket, &s->error))
        return refused(s, "submit_async");
    if (mli_client_wait(s->client, ticket, -1, &result, &s->error))
        return refused(s, "wait");
    mli_client_result_free(&result);
    status = check_bytes(s, "wait");
    if (status)
        return status;
    s->done = 0;
    if (mli_client_submit_async(s->client, &job, count_result, s, &ticket, &s->error))
        return refused(s, "submit_async with a callback");
    if (mli_client_wait_pending(s->client, -1, &s->error))
        return refused(s, "wait_pending");
    if (s->done != 1)
        return s->done == -1 ? refused(s, "callback") : wrong("no callback");
    return check_bytes(s, "callback");
}

/* Functions that only ask the service. */
static int questions(struct scene *s)
{
    mli_client_greeting greeting;
    mli_client_info info;
    mli_client_stats stats;
    mli_client_job_info *list = NULL;
    size_t count, length;
    char *line = NULL;

    if (mli_client_greet(s->client, &greeting, &s->error))
        return refused(s, "greet");
    if (mli_client_ping(s->client, &s->error))
        return refused(s, "ping");
    if (mli_client_get_info(s->client, &info, &s->error))
        return refused(s, "get_info");
    if (mli_client_get_stats(s->client, &stats, &s->error))
        return refused(s, "get_stats");
    if (mli_client_list(s->client, &(mli_client_query){0}, &list, &count, NULL, &s->error))
        return refused(s, "list");
    free(list);
    if (mli_client_call(s->client, "daemon.ping", NULL, NULL, 0, -1, &line, &length, &s->error))
        return refused(s, "call");
    free(line);
    if (mli_client_subscribe(s->client, 1U << MLI_CLIENT_EVENT_DONE, MLI_CLIENT_SCOPE_CONNECTION, 0,
                             count_event, NULL, &s->error))
        return refused(s, "subscribe");
    puts("questions");
    return 0;
}

static int detached(struct scene *s)
{
    mli_client_job job = copy_job(s);
    mli_client_job_info info;
    mli_client_ref ref = {0};

    if (mli_client_submit_detached(s->client, &job, &ref.number, &s->error))
        return refused(s, "submit_detached");
    if (mli_client_wait_job(s->client, ref, 0, NULL, &s->error))
        return refused(s, "wait_job");
    if (mli_client_wait_jobs(s->client, &ref, 1, 0, &s->error))
        return refused(s, "wait_jobs");
    if (mli_client_status(s->client, ref, &info, &s->error))
        return refused(s, "status");
    if (info.state != MLI_CLIENT_DONE)
        return wrong("status");
    if (mli_client_cancel(s->client, ref, NULL, &s->error))
        return refused(s, "cancel");
    return check_bytes(s, "submit_detached");
}

/* Starts a prepared job that moves from a registered buffer to an allocated one. */
static int start(struct scene *s, const mli_client_buffer *from, const mli_client_buffer *to)
{
    mli_client_job job = copy_job(s);
    mli_client_prepared prepared;
    mli_client_ticket ticket;

    job.src_memory = (mli_client_memory){.buffer = from->id, .fd = -1};
    job.dst_memory = (mli_client_memory){.buffer = to->id, .fd = -1};
    if (mli_client_prepare(s->client, &job, &prepared, &s->error))
        return refused(s, "prepare");
    mli_client_start_args args = {.prepared = prepared.id};
    int status = mli_client_start(s->client, &args, NULL, NULL, &ticket, &s->error);
    if (status == 0)
        status = mli_client_wait(s->client, ticket, -1, NULL, &s->error);
    status = status                                     ? refused(s, "start")
             : memcmp(to->address, content, BYTES) != 0 ? wrong("start")
                                                        : 0;
    if (mli_client_prepared_release(s->client, &prepared, &s->error) && status == 0)
        status = refused(s, "prepared_release");
    return status;
}

static int buffers(struct scene *s)
{
    mli_client_buffer from, to;

    if (mli_client_buffer_register(s->client, s->files[0], 0, MLI_CLIENT_READ, &from, &s->error))
        return refused(s, "buffer_register");
    if (mli_client_buffer_alloc(s->client, 4096, &to, &s->error))
        return refused(s, "buffer_alloc");
    int status = start(s, &from, &to);
    if (mli_client_buffer_release(s->client, &to, &s->error) && status == 0)
        status = refused(s, "buffer_release");
    if (status == 0 && mli_client_buffer_release(s->client, &from, &s->error))
        status = refused(s, "buffer_release");
    if (status == 0)
        puts("buffers");
    return status;
}

static int run(struct scene *s, char **argv)
{
    const bool spawns = strcmp(argv[1], "--spawn") == 0;

    if (spawns ? mli_client_spawn(argv + 2, &s->client, &s->error)
               : mli_client_connect(argv[1], &s->client, &s->error))
        return refused(s, "connect");
    int status = jobs(s);
    if (status == 0)
        status = questions(s);
    if (status == 0 && !spawns)
        status = detached(s);
    if (status == 0 && !spawns)
        status = buffers(s);
    mli_client_close(s->client);
    return status;
}

static int count_descriptors(void)
{
    int count = 0;

    for (int fd = 0; fd < 64; fd++)
        count += fcntl(fd, F_GETFD) >= 0;
    return count;
}

int main(int argc, char **argv)
{
    struct scene scene = {.files = {open_file("source.raw"), open_file("result.raw")}};
    const int before = count_descriptors();
    int status = scene.files[0] < 0 || scene.files[1] < 0 || fill(scene.files[0], false);

    if (status == 0)
        status = argc < 2 ? 2 : run(&scene, argv);
    if (status < 2 && count_descriptors() != before)
        status = wrong("descriptors are left");
    for (int i = 0; i < FILES; i++)
        status = close_file(scene.files[i], status);
    if (fflush(stdout))
        status = 1;
    return status;
}

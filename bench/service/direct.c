/* SPDX-License-Identifier: BSD-3-Clause */
#include "bench/service/direct.h"

#include <err.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "bench/moves/bench_clock.h"
#include "bench/service/service_cases.h"
#include "bench/service/service_process.h"
#include "mli_mov_api.h"

enum { ROWS = 8192, COLUMNS = 8192, BYTES = ROWS * COLUMNS, ROUNDS_MAX = 101 };

static unsigned char *map(int fd)
{
    void *pages = mmap(NULL, BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);

    if (pages == MAP_FAILED)
        err(1, "mmap");
    return pages;
}

static int compare(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

static double median(double *values, unsigned count)
{
    qsort(values, count, sizeof *values, compare);
    return values[count / 2];
}

static void move(unsigned char *from, unsigned char *to)
{
    mli_tensor src = {.rank = 2, .shape = {ROWS, COLUMNS}, .el_type = MLI_EL_FX_8};
    mli_tensor dst = {0};
    mli_mov_cfg_t cfg;

    mli_mov_cfg_for_permute(&cfg, (const uint8_t[]){1, 0, 2, 3});
    src.data.mem.pi8 = (int8_t *)from;
    dst.data.mem.pi8 = (int8_t *)to;
    src.data.capacity = dst.data.capacity = BYTES;
    if (mli_mov_tensor_sync(&src, &cfg, &dst) != MLI_STATUS_OK)
        errx(1, "mli_mov_tensor_sync");
}

/* Runs daemon and library on equal terms: the same pages, and the daemon's processor. */
struct large large_run(int socket, unsigned rounds)
{
    static const char start[] = "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"job.start\","
                                "\"params\":{\"prepared\":1}}\n";
    const int fds[] = {make_memfd(BYTES), make_memfd(BYTES)};
    unsigned char *src = map(fds[0]), *dst = map(fds[1]), *copy = malloc(BYTES);
    double daemon[ROUNDS_MAX], library[ROUNDS_MAX];

    if (!copy)
        errx(1, "out of memory");
    rounds = rounds < ROUNDS_MAX ? rounds : ROUNDS_MAX;
    for (int i = 0; i < BYTES; i++)
        src[i] = (unsigned char)((unsigned)i * 2654435761u >> 24);
    flow_call(socket,
              "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"job.prepare\",\"fds\":2,\"params\":{"
              "\"op\":\"mov\",\"src\":{\"fd\":0,\"type\":\"fx8\",\"shape\":[8192,8192]},"
              "\"cfg\":{\"perm_dim\":[1,0]},\"dst\":{\"fd\":1}}}\n",
              fds, 2);
    for (unsigned i = 0; i < rounds; i++) {
        double begin = clock_ns();

        flow_call(socket, start, NULL, 0);
        daemon[i] = clock_ns() - begin;
        if (i == 0)
            memcpy(copy, dst, BYTES);
        server_pin(SERVER_CPU);
        begin = clock_ns();
        move(src, dst);
        library[i] = clock_ns() - begin;
        server_pin(CLIENT_CPU);
        if (i == 0 && memcmp(copy, dst, BYTES) != 0)
            errx(1, "the daemon and the library differ");
    }
    free(copy);
    munmap(src, BYTES);
    munmap(dst, BYTES);
    return (struct large){median(daemon, rounds), median(library, rounds)};
}

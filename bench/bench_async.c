/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * bench-async: measures the cost and the gain of asynchronous moves. Compared times are taken
 * alternately in one run; figures are medians over the rounds.
 *
 *     bench-async [latency | sync | channels | rate | tiny]...      all of them without arguments
 */
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "mli_api.h"

enum { ROUNDS = 101, LARGE_ROUNDS = 15, LARGE = 64 * 1024 * 1024, SIDE = 8192 };

/* A move with memory of its own. */
struct move {
    mli_tensor src, dst;
    mli_mov_cfg_t cfg;
    mli_mov_handle_t handle;
    uint32_t bytes;
};

static double now(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static void check(mli_status status)
{
    if (status == MLI_STATUS_OK)
        return;
    fprintf(stderr, "bench-async: %s\n", mli_last_error());
    exit(1);
}

static void *buffer(size_t bytes)
{
    void *memory = aligned_alloc(4096, (bytes + 4095) / 4096 * 4096);

    if (!memory) {
        fprintf(stderr, "bench-async: no memory\n");
        exit(1);
    }
    memset(memory, 1, bytes);
    return memory;
}

static int by_value(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

static double median(double *values, int count)
{
    qsort(values, (size_t)count, sizeof(*values), by_value);
    return values[count / 2];
}

static void engine(const char *spec, int channels)
{
    check(mli_mov_set_num_dma_ch(0, 0));
    check(mli_mov_set_engine(spec));
    check(mli_mov_set_num_dma_ch(0, channels));
}

/* Initialises a move of a tensor of (rows, columns) bytes, configured by `cfg`. */
static void move_init(struct move *m, uint32_t rows, uint32_t columns, const mli_mov_cfg_t *cfg)
{
    memset(m, 0, sizeof(*m));
    m->cfg = *cfg;
    m->src.rank = 2;
    m->src.shape[0] = rows;
    m->src.shape[1] = columns;
    m->src.el_type = MLI_EL_FX_8;
    m->src.data.capacity = rows * columns;
    m->src.data.mem.pi8 = buffer(m->src.data.capacity);
    check(mli_mov_layout(&m->src, &m->cfg, &m->dst));
    m->bytes = m->dst.data.capacity;
    m->dst.data.mem.pi8 = buffer(m->bytes);
}

static void move_finish(struct move *m)
{
    free(m->src.data.mem.pi8);
    free(m->dst.data.mem.pi8);
}

static void copy_init(struct move *m, uint32_t bytes)
{
    mli_mov_cfg_t cfg;

    check(mli_mov_cfg_for_copy(&cfg));
    move_init(m, 1, bytes, &cfg);
}

static void start(struct move *m)
{
    check(mli_mov_start(&m->handle, NULL, NULL, NULL));
}

/* Returns the nanoseconds from the start of a move to its end; waits by sleeping or by polling. */
static double start_to_done(struct move *m, bool sleep)
{
    const double begin = now();

    start(m);
    if (sleep) {
        check(mli_mov_wait(&m->handle));
    } else {
        while (!mli_mov_isdone(&m->handle))
            ;
    }
    return now() - begin;
}

static double time_memcpy(struct move *m)
{
    const double begin = now();

    memcpy(m->dst.data.mem.pi8, m->src.data.mem.pi8, m->bytes);
    __asm__ volatile("" ::: "memory");
    return now() - begin;
}

static void latency_of(const char *spec, uint32_t bytes)
{
    static double waited[ROUNDS], looked[ROUNDS], copied[ROUNDS];
    struct move m;

    engine(spec, 1);
    copy_init(&m, bytes);
    check(mli_mov_acquire_handle(1, &m.handle));
    check(mli_mov_prepare(&m.handle, &m.src, &m.cfg, &m.dst));
    for (int r = 0; r < ROUNDS; r++) {
        copied[r] = time_memcpy(&m);
        waited[r] = start_to_done(&m, true);
        looked[r] = start_to_done(&m, false);
    }
    printf("  %8u B  %-16s %9.0f ns %9.0f ns %9.0f ns\n", bytes, spec, median(copied, ROUNDS),
           median(waited, ROUNDS), median(looked, ROUNDS));
    check(mli_mov_release_handle(&m.handle));
    move_finish(&m);
}

static void latency(void)
{
    const char *const specs[] = {"inline", "threads", "threads:tiny=0"};
    const uint32_t sizes[] = {64, 4096, 1 << 20};

    printf("start to done, one channel, contiguous copy (the clock itself is in all of them)\n");
    printf("  %10s  %-16s %12s %12s %12s\n", "", "engine", "memcpy", "start+wait", "start+isdone");
    for (size_t s = 0; s < sizeof(sizes) / sizeof(sizes[0]); s++) {
        for (size_t e = 0; e < sizeof(specs) / sizeof(specs[0]); e++)
            latency_of(specs[e], sizes[s]);
    }
}

static double time_sync(struct move *m)
{
    const double begin = now();

    memset(m->dst.mem_stride, 0, sizeof(m->dst.mem_stride));
    check(mli_mov_tensor_sync(&m->src, &m->cfg, &m->dst));
    return now() - begin;
}

static double time_async(struct move *m)
{
    const double begin = now();

    memset(m->dst.mem_stride, 0, sizeof(m->dst.mem_stride));
    check(mli_mov_prepare(&m->handle, &m->src, &m->cfg, &m->dst));
    start(m);
    check(mli_mov_wait(&m->handle));
    return now() - begin;
}

static void sync_of(const char *spec, uint32_t bytes)
{
    static double alone[ROUNDS], ratio[ROUNDS];
    struct move m;

    engine(spec, 1);
    copy_init(&m, bytes);
    check(mli_mov_acquire_handle(1, &m.handle));
    for (int r = 0; r < ROUNDS; r++) {
        alone[r] = time_sync(&m);
        ratio[r] = time_async(&m) / alone[r];
    }
    printf("  %8u B  %-16s %9.0f ns   x %.2f\n", bytes, spec, median(alone, ROUNDS),
           median(ratio, ROUNDS));
    check(mli_mov_release_handle(&m.handle));
    move_finish(&m);
}

static void sync(void)
{
    const char *const specs[] = {"inline", "threads"};
    const uint32_t sizes[] = {64, 4096, 1 << 20, 16 << 20};

    printf("synchronous call, and prepare + start + wait as a multiple of it\n");
    for (size_t s = 0; s < sizeof(sizes) / sizeof(sizes[0]); s++) {
        for (size_t e = 0; e < sizeof(specs) / sizeof(specs[0]); e++)
            sync_of(specs[e], sizes[s]);
    }
}

/* Copies half of the bytes on another thread that never sleeps: two channels cannot be faster. */
static struct {
    pthread_t thread;
    atomic_int round, done;
    struct move *move;
} other;

static void copy_half(struct move *m, int half)
{
    const size_t bytes = m->bytes / 2;

    memcpy(m->dst.data.mem.pi8 + (half ? bytes : 0), m->src.data.mem.pi8 + (half ? bytes : 0),
           bytes);
}

static void *run_other(void *unused)
{
    for (int round = 1; round <= LARGE_ROUNDS; round++) {
        while (atomic_load(&other.round) < round)
            ;
        copy_half(other.move, 1);
        atomic_store(&other.done, round);
    }
    return unused;
}

static double time_two_memcpys(struct move *m, int round)
{
    const double begin = now();

    atomic_store(&other.round, round);
    copy_half(m, 0);
    while (atomic_load(&other.done) < round)
        ;
    return now() - begin;
}

static double limit_of_two(void)
{
    double ratio[LARGE_ROUNDS];
    struct move m;

    copy_init(&m, LARGE);
    other.move = &m;
    pthread_create(&other.thread, NULL, run_other, NULL);
    for (int r = 0; r < LARGE_ROUNDS; r++) {
        const double one = time_memcpy(&m);

        ratio[r] = one / time_two_memcpys(&m, r + 1);
    }
    pthread_join(other.thread, NULL);
    move_finish(&m);
    return median(ratio, LARGE_ROUNDS);
}

static void compare_channels(const char *name, const mli_mov_cfg_t *cfg)
{
    double one_ns[LARGE_ROUNDS], ratio[LARGE_ROUNDS];
    mli_mov_handle_t two;
    struct move m;

    engine("threads", 3);
    move_init(&m, LARGE / SIDE, SIDE, cfg);
    check(mli_mov_acquire_handle(1, &m.handle));
    check(mli_mov_prepare(&m.handle, &m.src, &m.cfg, &m.dst));
    check(mli_mov_acquire_handle(2, &two));
    check(mli_mov_prepare(&two, &m.src, &m.cfg, &m.dst));
    for (int r = 0; r < LARGE_ROUNDS; r++) {
        double begin;

        one_ns[r] = start_to_done(&m, true);
        begin = now();
        check(mli_mov_start(&two, NULL, NULL, NULL));
        check(mli_mov_wait(&two));
        ratio[r] = one_ns[r] / (now() - begin);
    }
    printf("  %-22s %8.2f ms   x %.2f\n", name, median(one_ns, LARGE_ROUNDS) / 1e6,
           median(ratio, LARGE_ROUNDS));
    check(mli_mov_release_handle(&two));
    check(mli_mov_release_handle(&m.handle));
    move_finish(&m);
}

static void channels(void)
{
    const int packed[MLI_MAX_RANK] = {0};
    mli_mov_cfg_t cfg;

    printf("64 MiB of bytes over one channel, and how many times faster over two\n");
    printf("  %-22s %11s   x %.2f\n", "two memcpy threads", "", limit_of_two());
    check(mli_mov_cfg_for_copy(&cfg));
    compare_channels("copy", &cfg);
    check(mli_mov_cfg_for_permute(&cfg, (const uint8_t[]){1, 0, 2, 3}));
    compare_channels("transpose", &cfg);
    check(mli_mov_cfg_all(&cfg, packed, packed, (const int[]){1, 1, 1, 1}, packed, packed,
                          (const uint8_t[]){0, 1, 2, 3}, (const uint8_t[]){8, 8, 0, 0},
                          (const uint8_t[]){8, 8, 0, 0}));
    compare_channels("pad 8 on every side", &cfg);
}

static double time_rate(struct move *m, bool prepare, int calls)
{
    const double begin = now();

    for (int i = 0; i < calls; i++) {
        if (prepare)
            check(mli_mov_prepare(&m->handle, &m->src, &m->cfg, &m->dst));
        start(m);
        while (!mli_mov_isdone(&m->handle))
            ;
    }
    return calls / (now() - begin) * 1e3;
}

static void rate_of(const char *spec, int calls)
{
    double all[LARGE_ROUNDS], restarted[LARGE_ROUNDS];
    struct move m;

    engine(spec, 1);
    copy_init(&m, 64);
    check(mli_mov_acquire_handle(1, &m.handle));
    check(mli_mov_prepare(&m.handle, &m.src, &m.cfg, &m.dst));
    for (int r = 0; r < LARGE_ROUNDS; r++) {
        all[r] = time_rate(&m, true, calls);
        restarted[r] = time_rate(&m, false, calls);
    }
    printf("  %-16s %8.2f million/s   start + isdone alone %8.2f million/s\n", spec,
           median(all, LARGE_ROUNDS), median(restarted, LARGE_ROUNDS));
    check(mli_mov_release_handle(&m.handle));
    move_finish(&m);
}

static void rate(void)
{
    printf("transfers of 64 B through prepare + start + isdone on one channel\n");
    rate_of("inline", 100000);
    rate_of("threads", 100000);
    rate_of("threads:tiny=0", 1000);
}

/* Compares the time of starts that move the data with starts that wake a sleeping channel. */
static void tiny_of(uint32_t bytes)
{
    static double by_itself[ROUNDS], handed_over[ROUNDS];
    struct move m;

    engine("threads:tiny=1000000", 1);
    copy_init(&m, bytes);
    check(mli_mov_acquire_handle(1, &m.handle));
    check(mli_mov_prepare(&m.handle, &m.src, &m.cfg, &m.dst));
    for (int r = 0; r < ROUNDS; r++)
        by_itself[r] = start_to_done(&m, false);
    check(mli_mov_release_handle(&m.handle));

    engine("threads:tiny=0", 1);
    check(mli_mov_acquire_handle(1, &m.handle));
    check(mli_mov_prepare(&m.handle, &m.src, &m.cfg, &m.dst));
    for (int r = 0; r < ROUNDS; r++) {
        double begin;

        nanosleep(&(struct timespec){.tv_nsec = 100000}, NULL); /* the channel falls asleep */
        begin = now();
        start(&m);
        handed_over[r] = now() - begin;
        check(mli_mov_wait(&m.handle));
    }
    printf("  %8u B %9.0f ns %9.0f ns\n", bytes, median(by_itself, ROUNDS),
           median(handed_over, ROUNDS));
    check(mli_mov_release_handle(&m.handle));
    move_finish(&m);
}

static void tiny(void)
{
    printf("where handing over begins to pay: time inside start (contiguous copy)\n");
    printf("  %10s %12s %12s\n", "", "moves itself", "wakes");
    for (uint32_t bytes = 1024; bytes <= 512 * 1024; bytes *= 2)
        tiny_of(bytes);
}

static const struct {
    const char *name;
    void (*run)(void);
} parts[] = {
    {"latency", latency}, {"sync", sync}, {"channels", channels}, {"rate", rate}, {"tiny", tiny}};

enum { PARTS = sizeof(parts) / sizeof(parts[0]) };

static int run_named(const char *name)
{
    for (size_t i = 0; i < PARTS; i++) {
        if (strcmp(parts[i].name, name) == 0) {
            parts[i].run();
            return 0;
        }
    }
    fprintf(stderr, "usage: bench-async [latency | sync | channels | rate | tiny]...\n");
    return 2;
}

int main(int argc, char **argv)
{
    int result = 0;

    for (size_t i = 0; argc == 1 && i < PARTS; i++) {
        parts[i].run();
        printf("\n");
    }
    for (int i = 1; i < argc && result == 0; i++)
        result = run_named(argv[i]);
    return result;
}

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Measures the stack that moves of one level of kernels need.
 *
 * test_stack LEVEL LIMIT [options of test_moves]
 *
 * A thread fills its stack below the call with a pattern, runs a random move, and finds the lowest
 * byte that has changed. LIMIT applies to mli_mov_tensor_sync() and permutes; a transfer that is
 * prepared and started on the inline engine may use STARTED bytes more. MLI_CPU_MASK chooses the
 * level.
 */
#include <inttypes.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "libmli/src/exec/leaf.h"
#include "tests/property/property_options.h"
#include "tests/property/random_case.h"

enum {
    SKIPPED = 77,
    STACK_BYTES = 4 * 1024 * 1024, /* a C library may put thread-local memory on this stack, too */
    PAINTED_BYTES = 128 * 1024,
    STARTED = 2 * 1024,
    SPARED_BYTES = 256, /* bytes below paint()'s frame, for its calls and registers */
};

#define PAINT UINT64_C(0x5741544552464c59)

#if defined(TEST_SANITIZED)
static const char *const unfit = "a sanitizer makes frames larger";
#elif !defined(__OPTIMIZE__)
static const char *const unfit = "without optimisation every variable is on the stack";
#else
static const char *const unfit = NULL;
#endif

/* The deepest stack use by synchronous moves, and by started moves. */
struct deepest {
    size_t bytes;
    uint64_t index;
};

static struct options options = {.count = 3000, .permutes = 600, .large = 40};
static struct test_case current;
static struct deepest deepest[2];
static uint64_t moved;

/* measure() calls paint() and move(), so their frames begin at the same address. */
static __attribute__((noinline)) volatile uint64_t *paint(void)
{
    volatile uint64_t *end =
        (volatile uint64_t *)((uintptr_t)__builtin_frame_address(0) - SPARED_BYTES);

    for (volatile uint64_t *at = end - PAINTED_BYTES / sizeof(*end); at < end; at++)
        *at = PAINT;
    return end;
}

static __attribute__((noinline)) mli_status start(struct test_case *c)
{
    mli_mov_handle_t h;
    mli_status status = mli_mov_acquire_handle(1, &h);

    if (status == MLI_STATUS_OK)
        status = mli_mov_prepare(&h, &c->src, &c->cfg, &c->dst);
    if (status == MLI_STATUS_OK)
        status = mli_mov_start(&h, NULL, NULL, NULL);
    if (status == MLI_STATUS_OK)
        status = mli_mov_wait(&h);
    mli_mov_release_handle(&h);
    return status;
}

static bool is_started(const struct test_case *c)
{
    return c->via != VIA_SYNC && c->via != VIA_PERMUTE;
}

static __attribute__((noinline)) void move(struct test_case *c)
{
    mli_status status;

    if (is_started(c))
        status = start(c);
    else if (c->via == VIA_SYNC)
        status = mli_mov_tensor_sync(&c->src, &c->cfg, &c->dst);
    else if (c->kernel == MLI_EL_SA_8)
        status = mli_krn_permute_sa8(&c->src, &c->permute_cfg, &c->dst);
    else if (c->kernel == MLI_EL_FX_8)
        status = mli_krn_permute_fx8(&c->src, &c->permute_cfg, &c->dst);
    else if (c->kernel == MLI_EL_FX_16)
        status = mli_krn_permute_fx16(&c->src, &c->permute_cfg, &c->dst);
    else
        status = mli_krn_permute_sa32(&c->src, &c->permute_cfg, &c->dst);
    moved += status == MLI_STATUS_OK;
}

static void measure(struct test_case *c)
{
    volatile uint64_t *end = paint(), *at = end - PAINTED_BYTES / sizeof(*end);
    struct deepest *most = &deepest[is_started(c)];
    size_t bytes;

    move(c);
    while (at < end && *at == PAINT)
        at++;
    bytes = (size_t)(end - at) * sizeof(*end) + SPARED_BYTES;
    if (bytes > most->bytes)
        *most = (struct deepest){bytes, c->index};
}

static void run_case(uint64_t index, struct lab *lab)
{
    struct test_case *c = &current;

    memset(c, 0, sizeof(*c));
    *c = (struct test_case){
        .seed = options.seed, .index = index, .lab = lab, .large_percent = (uint32_t)options.large};
    c->draw = draw_init(options.seed, index);
    if (index >= options.count)
        case_generate_permute(c);
    else
        case_generate(c);
    measure(c);
}

static void *run_all(void *lab)
{
    run_case(0, lab); /* not measured: the first move fills the tables of the kernels */
    memset(deepest, 0, sizeof(deepest));
    for (uint64_t i = 0; i < options.count + options.permutes; i++)
        run_case(i, lab);
    return NULL;
}

/*
 * Runs all cases on a thread with a stack so large that a move which exceeds the limit does not
 * crash.
 */
static int run_on_thread(struct lab *lab)
{
    void *stack = mmap(NULL, STACK_BYTES, PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    pthread_attr_t attr;
    pthread_t thread;
    int error;

    if (stack == MAP_FAILED)
        return -1;
    pthread_attr_init(&attr);
    pthread_attr_setstack(&attr, stack, STACK_BYTES);
    error = pthread_create(&thread, &attr, run_all, lab);
    pthread_attr_destroy(&attr);
    if (error == 0)
        error = pthread_join(thread, NULL);
    munmap(stack, STACK_BYTES);
    return error;
}

/* Returns 1 if the limit is exceeded, or if too few moves ran. */
static int report(const char *kind, const char *level, const struct deepest *most, size_t limit)
{
    printf("%s, %s: at most %zu bytes of stack (move %" PRIu64 "), limit %zu\n", level, kind,
           most->bytes, most->index, limit);
    return most->bytes > limit || moved < (options.count + options.permutes) / 2;
}

int main(int argc, char **argv)
{
    const char *level = argc > 2 ? argv[1] : "";
    const size_t limit = argc > 2 ? strtoul(argv[2], NULL, 10) : 0;
    struct lab lab;

    if (limit == 0 || !options_parse(&options, argc - 2, argv + 2)) {
        fprintf(stderr, "usage: %s LEVEL LIMIT [options]\n", argv[0]);
        return 2;
    }
    if (unfit || strcmp(level_leaf()->name, level) != 0) {
        printf("skipped: %s\n", unfit ? unfit : "this processor lacks the level");
        return SKIPPED;
    }
    if (lab_init(&lab) != 0 || mli_mov_set_engine("inline") != MLI_STATUS_OK ||
        mli_mov_set_num_dma_ch(0, 1) != MLI_STATUS_OK || run_on_thread(&lab) != 0) {
        fprintf(stderr, "cannot allocate memory, a channel or a thread\n");
        return 2;
    }
    lab_finish(&lab);
    return report("synchronous", level, &deepest[0], limit) +
               report("started", level, &deepest[1], limit + STARTED) >
           0;
}

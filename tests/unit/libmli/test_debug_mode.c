/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The reaction of each debug mode to a refused call. Built once per mode with libmli in that mode;
 * MLI_DEBUG_MODE is the mode's number. The calls run in a child process, which may abort.
 */
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "mli_engine.h"
#include "mli_explain.h"
#include "tests/support/test_tile.h"
#include "tests/support/unit.h"

enum { RELEASE, RET_CODES, ASSERT, DEBUG, FULL };

static const bool aborts = MLI_DEBUG_MODE >= ASSERT;
static const bool prints = MLI_DEBUG_MODE >= DEBUG;

enum { CHILD_AS_EXPECTED = 42, CHILD_WRONG = 43 };

/* The end of a child process, and its output on stderr. */
struct ending {
    int status;
    char text[4096];
    int lines;
};

static struct ending run_child(int (*child)(void))
{
    struct ending e = {0};
    size_t n = 0;
    ssize_t got;
    int pipes[2];
    pid_t pid;

    assert_int_equal(pipe(pipes), 0);
    fflush(NULL);
    pid = fork();
    assert_true(pid >= 0);
    if (pid == 0) {
        signal(SIGABRT, SIG_DFL); /* cmocka handles the signal in this process */
        dup2(pipes[1], STDERR_FILENO);
        close(pipes[0]);
        _exit(child());
    }
    close(pipes[1]);
    while (n < sizeof(e.text) - 1 && (got = read(pipes[0], e.text + n, sizeof(e.text) - 1 - n)) > 0)
        n += (size_t)got;
    close(pipes[0]);
    assert_int_equal(waitpid(pid, &e.status, 0), pid);
    for (size_t i = 0; i < n; i++)
        e.lines += e.text[i] == '\n';
    return e;
}

static mli_status refuse_move(void)
{
    struct tile t;

    tile_init(&t, MLI_EL_FX_16);
    t.dst.data.capacity = 3;
    return tile_sync(&t);
}

static int child_refuses_once(void)
{
    return refuse_move() == MLI_STATUS_NOT_ENGH_MEM ? CHILD_AS_EXPECTED : CHILD_WRONG;
}

/* Makes one refused call of each module: builder, pool, permute, sub-tensor, move. */
static int child_refuses_five_times(void)
{
    bool all = mli_mov_cfg_for_copy(NULL) == MLI_STATUS_BAD_FUNC_CFG;

    all &= mli_mov_set_num_dma_ch(-1, 1) == MLI_STATUS_ARGUMENT_ERROR;
    all &= mli_krn_permute_fx8(NULL, NULL, NULL) == MLI_STATUS_BAD_TENSOR;
    all &= mli_hlp_subtensor(NULL, NULL, NULL) == MLI_STATUS_BAD_TENSOR;
    all &= refuse_move() == MLI_STATUS_NOT_ENGH_MEM;
    return all ? CHILD_AS_EXPECTED : CHILD_WRONG;
}

static int child_is_not_refused(void)
{
    struct tile t;

    tile_init(&t, MLI_EL_FX_16);
    return tile_sync(&t) == MLI_STATUS_OK ? CHILD_AS_EXPECTED : CHILD_WRONG;
}

/* Polls before a transfer exists: no error in any mode. */
static int child_polls_early(void)
{
    mli_mov_handle_t h;
    struct tile t;
    bool done = false;

    memset(&h, 0, sizeof(h));
    tile_init(&t, MLI_EL_FX_16);
    done |= mli_mov_isdone(&h);
    if (mli_mov_acquire_handle(0, &h) != MLI_STATUS_OK)
        return CHILD_WRONG;
    done |= mli_mov_isdone(&h);
    if (tile_prepare(&t, &h) != MLI_STATUS_OK)
        return CHILD_WRONG;
    done |= mli_mov_isdone(&h);
    if (mli_mov_release_handle(&h) != MLI_STATUS_OK)
        return CHILD_WRONG;
    done |= mli_mov_isdone(&h);
    return !done && mli_last_error()[0] == '\0' ? CHILD_AS_EXPECTED : CHILD_WRONG;
}

static void test_early_polls(void **state)
{
    struct ending e = run_child(child_polls_early);

    (void)state;
    assert_true(WIFEXITED(e.status));
    assert_int_equal(WEXITSTATUS(e.status), CHILD_AS_EXPECTED);
    assert_string_equal(e.text, "");
}

static void test_options_name_the_mode(void **state)
{
    static const char *const names[] = {"DBG_MODE_RELEASE", "DBG_MODE_RET_CODES", "DBG_MODE_ASSERT",
                                        "DBG_MODE_DEBUG", "DBG_MODE_FULL"};
    char line[64];

    (void)state;
    snprintf(line, sizeof(line), "MLI_DEBUG_MODE = %s\n", names[MLI_DEBUG_MODE]);
    assert_non_null(strstr(mli_hlp_compile_options_string(), line));
}

static void test_refused_call(void **state)
{
    struct ending e = run_child(child_refuses_once);

    (void)state;
    if (aborts) {
        assert_true(WIFSIGNALED(e.status));
        assert_int_equal(WTERMSIG(e.status), SIGABRT);
    } else {
        assert_true(WIFEXITED(e.status));
        assert_int_equal(WEXITSTATUS(e.status), CHILD_AS_EXPECTED);
    }
    if (prints) {
        assert_int_equal(e.lines, 1);
        assert_non_null(strstr(e.text, "capacity"));
    } else if (!aborts) {
        assert_string_equal(e.text, "");
    }
}

/* Misuse of each kind: the call aborts, or returns the status. */

static mli_status starts_before_prepare(void)
{
    mli_mov_handle_t h;

    return mli_mov_acquire_handle(0, &h) == MLI_STATUS_OK ? mli_mov_start(&h, NULL, NULL, NULL)
                                                          : MLI_STATUS_OK;
}

static mli_status waits_before_start(void)
{
    mli_mov_handle_t h;

    return mli_mov_acquire_handle(0, &h) == MLI_STATUS_OK ? mli_mov_wait(&h) : MLI_STATUS_OK;
}

static mli_status releases_twice(void)
{
    mli_mov_handle_t h;

    (void)mli_mov_acquire_handle(0, &h);
    (void)mli_mov_release_handle(&h);
    return mli_mov_release_handle(&h);
}

static mli_status gives_no_handle(void)
{
    return mli_mov_acquire_handle(1, NULL);
}

static mli_status gives_no_engine(void)
{
    return mli_mov_set_engine(NULL);
}

static mli_status gives_negative_channels(void)
{
    return mli_mov_set_num_dma_ch(0, -1);
}

/* Calls mli_mov_check() before the misuse, which must not change the result. */
static mli_status asks_and_moves(void)
{
    struct tile t;

    tile_init(&t, MLI_EL_FX_16);
    t.dst.data.capacity = 3;
    if (mli_mov_check(&t.src, &t.cfg, &t.dst) != MLI_STATUS_NOT_ENGH_MEM)
        return MLI_STATUS_OK;
    return tile_sync(&t) == MLI_STATUS_NOT_ENGH_MEM ? MLI_STATUS_ARGUMENT_ERROR : MLI_STATUS_OK;
}

static mli_status (*misuse)(void);

static int child_misuses(void)
{
    return misuse() == MLI_STATUS_ARGUMENT_ERROR ? CHILD_AS_EXPECTED : CHILD_WRONG;
}

static void test_misuse(void **state)
{
    static mli_status (*const kinds[])(void) = {
        starts_before_prepare, waits_before_start,      releases_twice, gives_no_handle,
        gives_no_engine,       gives_negative_channels, asks_and_moves};

    (void)state;
    for (size_t i = 0; i < COUNT_OF(kinds); i++) {
        struct ending e;

        misuse = kinds[i];
        e = run_child(child_misuses);
        if (aborts ? !WIFSIGNALED(e.status) || WTERMSIG(e.status) != SIGABRT
                   : !WIFEXITED(e.status) || WEXITSTATUS(e.status) != CHILD_AS_EXPECTED)
            fail_msg("misuse %zu: status %#x", i, (unsigned)e.status);
    }
}

/* Checks, and errors that only occur at run time, never abort: these children always return. */

static int child_asks(void)
{
    mli_explanation explanation;
    struct tile t;
    bool all;

    tile_init(&t, MLI_EL_FX_16);
    t.dst.data.capacity = 3;
    all = mli_mov_check(&t.src, &t.cfg, &t.dst) == MLI_STATUS_NOT_ENGH_MEM;
    all &= mli_mov_explain(&t.src, &t.cfg, &t.dst, &explanation) == MLI_STATUS_NOT_ENGH_MEM;
    all &= mli_mov_check(NULL, NULL, NULL) == MLI_STATUS_BAD_TENSOR;
    t.cfg.offset[1] = 99;
    all &= mli_mov_layout(&t.src, &t.cfg, &t.dst) == MLI_STATUS_BAD_FUNC_CFG;
    return all ? CHILD_AS_EXPECTED : CHILD_WRONG;
}

static int child_finds_no_channel(void)
{
    mli_mov_handle_t h, other;
    bool all = mli_mov_acquire_handle(1, &h) == MLI_STATUS_NOT_ENGH_MEM;

    all &= mli_mov_acquire_handle_at(0, 1, &h) == MLI_STATUS_NOT_ENGH_MEM;
    all &= mli_mov_set_num_dma_ch(0, 1) == MLI_STATUS_OK;
    all &= mli_mov_acquire_handle(1, &h) == MLI_STATUS_OK;
    all &= mli_mov_acquire_handle(1, &other) == MLI_STATUS_NOT_ENGH_MEM;
    all &= mli_mov_set_num_dma_ch(0, 2) == MLI_STATUS_ARGUMENT_ERROR;
    return all ? CHILD_AS_EXPECTED : CHILD_WRONG;
}

static int child_finds_no_engine(void)
{
    bool all = mli_mov_set_engine("vfio") == MLI_STATUS_ARGUMENT_ERROR;

    all &= mli_mov_set_engine("inline:more=1") == MLI_STATUS_ARGUMENT_ERROR;
    all &= mli_mov_set_num_dma_ch(MLI_MOV_MAX_CHANNELS, 1) == MLI_STATUS_ARGUMENT_ERROR;
    return all ? CHILD_AS_EXPECTED : CHILD_WRONG;
}

/* A device whose channels fail. */

static uint32_t one_channel(void)
{
    return 1;
}

static void no_caps(uint32_t channel, struct mli_channel_caps *caps)
{
    (void)channel;
    caps->loops = 1;
}

static void fail_work(uint32_t channel, struct mli_work *work)
{
    const struct mli_work_end end = {.status = MLI_STATUS_DMA_ERROR};

    (void)channel;
    work->done(work, &end);
}

static int child_meets_an_error(void)
{
    static const struct mli_engine broken = {.size = sizeof(broken),
                                             .name = "broken",
                                             .probe = one_channel,
                                             .caps = no_caps,
                                             .submit = fail_work};
    mli_mov_handle_t h;
    struct tile t;
    bool all = mli_mov_add_engine(&broken) == MLI_STATUS_OK;

    all &= mli_mov_set_engine("broken") == MLI_STATUS_OK;
    all &= mli_mov_set_num_dma_ch(0, 1) == MLI_STATUS_OK;
    tile_init(&t, MLI_EL_FX_16);
    all &= tile_sync(&t) == MLI_STATUS_DMA_ERROR;
    all &= mli_mov_acquire_handle(1, &h) == MLI_STATUS_OK;
    all &= tile_prepare(&t, &h) == MLI_STATUS_OK;
    all &= mli_mov_start(&h, NULL, NULL, NULL) == MLI_STATUS_OK;
    all &= mli_mov_wait(&h) == MLI_STATUS_DMA_ERROR;
    return all ? CHILD_AS_EXPECTED : CHILD_WRONG;
}

static void test_not_misuse(void **state)
{
    static const struct {
        int (*child)(void);
        int lines; /* refusals */
    } cases[] = {{child_asks, 4},
                 {child_finds_no_channel, 4},
                 {child_finds_no_engine, 3},
                 {child_meets_an_error, 1}};

    (void)state;
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct ending e = run_child(cases[i].child);

        if (!WIFEXITED(e.status) || WEXITSTATUS(e.status) != CHILD_AS_EXPECTED)
            fail_msg("case %zu: status %#x: %s", i, (unsigned)e.status, e.text);
        assert_int_equal(e.lines, prints ? cases[i].lines : 0);
    }
}

/* Statuses do not depend on the mode; modes that print write one line for each refusal. */
static void test_statuses_and_lines(void **state)
{
    struct ending e;

    (void)state;
    if (aborts)
        return;
    e = run_child(child_refuses_five_times);
    assert_true(WIFEXITED(e.status));
    assert_int_equal(WEXITSTATUS(e.status), CHILD_AS_EXPECTED);
    assert_int_equal(e.lines, prints ? 5 : 0);
}

static void test_success_is_silent(void **state)
{
    struct ending e = run_child(child_is_not_refused);

    (void)state;
    assert_true(WIFEXITED(e.status));
    assert_int_equal(WEXITSTATUS(e.status), CHILD_AS_EXPECTED);
    assert_string_equal(e.text, "");
}

static void test_last_error(void **state)
{
    (void)state;
    if (aborts)
        return;
    assert_status(refuse_move(), MLI_STATUS_NOT_ENGH_MEM);
    if (MLI_DEBUG_MODE == RELEASE)
        assert_string_equal(mli_last_error(), mli_status_text(MLI_STATUS_NOT_ENGH_MEM));
    else
        assert_error_names("dst.data.capacity", MLI_STATUS_NOT_ENGH_MEM);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_early_polls),
        cmocka_unit_test(test_options_name_the_mode),
        cmocka_unit_test(test_refused_call),
        cmocka_unit_test(test_statuses_and_lines),
        cmocka_unit_test(test_misuse),
        cmocka_unit_test(test_not_misuse),
        cmocka_unit_test(test_success_is_silent),
        cmocka_unit_test(test_last_error),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

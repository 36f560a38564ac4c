/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Engine specs, such as "fault:mock,reorder_pct=50": any text is accepted, or refused with a
 * message. A refused text does not change the engine. A move through an accepted engine ends, and
 * writes the expected bytes or reports a failure.
 */
#include "cli/engine_arg.h"
#include "libmli/port/ports.h"
#include "mli_api.h"
#include "mli_engine.h"
#include "tests/fuzz/fuzz.h"

enum { SPEC_MAX = 256, ROWS = 7, COLUMNS = 9, POLLS_MAX = 200 };

static void transpose(int8_t from[ROWS * COLUMNS], int8_t to[ROWS * COLUMNS], mli_tensor *src,
                      mli_tensor *dst, mli_mov_cfg_t *cfg)
{
    for (int i = 0; i < ROWS * COLUMNS; i++)
        from[i] = (int8_t)(i + 1);
    memset(to, 0, ROWS * COLUMNS);
    *src = (mli_tensor){.rank = 2, .shape = {ROWS, COLUMNS}, .el_type = MLI_EL_FX_8};
    src->data.mem.pi8 = from;
    src->data.capacity = dst->data.capacity = ROWS * COLUMNS;
    dst->data.mem.pi8 = to;
    mli_mov_cfg_for_permute(cfg, (const uint8_t[4]){1, 0, 2, 3});
}

/* Waits a little, then cancels: an engine with faults may never end a transfer. */
static bool finish(mli_mov_handle_t *handle)
{
    for (int i = 0; i < POLLS_MAX; i++) {
        if (mli_mov_isdone(handle))
            return true;
    }
    (void)mli_mov_cancel(handle);
    return mli_mov_wait(handle) == MLI_STATUS_OK;
}

static void check_move(void)
{
    int8_t from[ROWS * COLUMNS], to[ROWS * COLUMNS];
    mli_tensor src, dst = {0};
    mli_mov_cfg_t cfg;
    mli_mov_handle_t handle;
    mli_mov_status_t status;

    transpose(from, to, &src, &dst, &cfg);
    if (mli_mov_acquire_handle(1, &handle) != MLI_STATUS_OK)
        return;
    FUZZ_ASSERT(mli_mov_prepare(&handle, &src, &cfg, &dst) == MLI_STATUS_OK);
    FUZZ_ASSERT(mli_mov_start(&handle, NULL, NULL, NULL) == MLI_STATUS_OK);
    (void)finish(&handle);
    FUZZ_ASSERT(mli_mov_get_status(&handle, &status) == MLI_STATUS_OK);
    for (int i = 0; i < ROWS * COLUMNS; i++)
        FUZZ_ASSERT(status.code != MLI_STATUS_OK || to[i % COLUMNS * ROWS + i / COLUMNS] == i + 1);
    FUZZ_ASSERT(mli_mov_release_handle(&handle) == MLI_STATUS_OK);
}

/*
 * Returns whether, with this engine, a transfer would take long, never end, need a device, or write
 * other bytes.
 */
static bool is_left_out(const char *spec)
{
    static const char *const words[] = {"delay", "vfio", "corrupt",
                                        "interrupt=2" /* the program must raise interrupts */};

    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
        if (strstr(spec, words[i]))
            return true;
    }
    return strstr(spec, "interrupt=0"); /* as 02 */
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static bool begun;
    char spec[SPEC_MAX];
    const char *before;
    struct fault fault = {0};

    if (!begun)
        ports_add();
    begun = true;
    size = size < sizeof spec - 1 ? size : sizeof spec - 1;
    memcpy(spec, data, size);
    spec[size] = '\0';
    if (engine_arg_check(spec, &fault) < 0)
        fuzz_check_fault(&fault);
    if (is_left_out(spec))
        return 0;
    before = mli_mov_engine_name();
    if (mli_mov_set_engine(spec) != MLI_STATUS_OK) {
        FUZZ_ASSERT(mli_last_error()[0] && mli_mov_engine_name() == before);
        return 0;
    }
    if (mli_mov_set_num_dma_ch(0, 1) == MLI_STATUS_OK) {
        check_move();
        FUZZ_ASSERT(mli_mov_set_num_dma_ch(0, 0) == MLI_STATUS_OK);
    }
    FUZZ_ASSERT(mli_mov_set_engine("inline") == MLI_STATUS_OK);
    return 0;
}

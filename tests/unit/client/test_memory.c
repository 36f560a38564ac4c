/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Lets each allocation fail once: the call fails with NO_MEMORY, or the connection is lost, and
 * nothing leaks (the sanitizer or valgrind finds memory, the fake service descriptors).
 */
#include <cJSON.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "tests/unit/client/fake.h"

void *__real_malloc(size_t size);
void *__real_calloc(size_t count, size_t size);
void *__real_realloc(void *old, size_t size);
void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t count, size_t size);
void *__wrap_realloc(void *old, size_t size);

/* Number of allocations that succeed before one fails; below 0: all succeed. */
static int countdown = -1;

static bool fails(void)
{
    return countdown >= 0 && countdown-- == 0;
}

void *__wrap_malloc(size_t size)
{
    return fails() ? NULL : __real_malloc(size);
}

void *__wrap_calloc(size_t count, size_t size)
{
    return fails() ? NULL : __real_calloc(count, size);
}

void *__wrap_realloc(void *old, size_t size)
{
    return fails() ? NULL : __real_realloc(old, size);
}

static int operate(struct fake *fake, mli_client_error *error)
{
    mli_client_job job;
    mli_client_result result;
    mli_client_ticket tickets[100];
    const mli_client_start_args args = {.prepared = 1};

    mli_client_job_init(&job);
    job.src = (mli_tensor){.rank = 1, .shape = {4}, .el_type = MLI_EL_FX_8};
    job.src_memory.buffer = job.dst_memory.buffer = 1;
    int status = mli_client_submit(fake->client, &job, &result, error);
    if (status)
        return status;
    mli_client_result_free(&result);
    for (size_t i = 0; i < COUNT_OF(tickets) && status == 0; i++)
        status = mli_client_start(fake->client, &args, NULL, NULL, &tickets[i], error);
    return status;
}

static void test_every_allocation(void **state)
{
    bool through = false;

    (void)state;
    for (int failing = 0; !through; failing++) {
        struct fake fake;
        mli_client_error error;
        assert_true(failing < 1000);
        fake_init(&fake, 0);
        fake_say(&fake, "{'jsonrpc':'2.0','id':1,'result':{'job':1,'dst':{'type':'sa8','shape':[4],"
                        "'strides':[1],'scale':1,'zero_point':0,'scale_frac_bits':0},"
                        "'cost':{'bytes':4,'channels':1,'engine':'x','ns_queued':1,"
                        "'ns_moving':2}}}\n");
        countdown = failing;
        int status = operate(&fake, &error);
        through = countdown >= 0;
        countdown = -1;
        if (through)
            assert_int_equal(status, 0);
        else
            assert_true(status == MLI_CLIENT_NO_MEMORY || status == MLI_CLIENT_LOST ||
                        status == MLI_CLIENT_UNREADABLE);
        fake_finish(&fake);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_every_allocation)};
    cJSON_Hooks hooks = {.malloc_fn = malloc, .free_fn = free}; /* those above */

    cJSON_InitHooks(&hooks);
    return cmocka_run_group_tests_name("client memory", tests, NULL, NULL);
}

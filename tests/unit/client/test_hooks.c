/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A host program with cJSON hooks of its own uses libmli_client against a real service. The host's
 * allocator returns pointers that free() refuses. libmli_client must allocate and free all blocks
 * for JSON with this allocator, even if an allocation fails.
 */
#include <cJSON.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/config/config.h"
#include "daemon/service.h"
#include "mli_client.h"
#include "tests/support/proto_unit.h"

enum { OFFSET = 64 };
static const char SIGN[] = "host";

/* The service has a thread of its own. */
static struct {
    atomic_size_t allocations, frees;
} host;

/* Number of this thread's allocations that succeed before one fails; below 0: all succeed. */
static _Thread_local int countdown = -1;

static void *host_malloc(size_t size)
{
    char *block = countdown >= 0 && countdown-- == 0 ? NULL : malloc(OFFSET + size);

    if (!block)
        return NULL;
    host.allocations++;
    memcpy(block, SIGN, sizeof SIGN);
    return block + OFFSET;
}

static void host_free(void *pointer)
{
    char *block = pointer;

    if (!pointer)
        return;
    host.frees++;
    block -= OFFSET;
    assert_memory_equal(block, SIGN, sizeof SIGN);
    free(block);
}

/* Makes a round trip with strings, numbers and an error text in both directions. Returns whether
 * all succeeded. */
static bool call(mli_client *client)
{
    mli_client_error error;
    mli_client_result result;
    mli_client_buffer buffer;
    mli_client_job job;
    bool moved;

    if (mli_client_buffer_alloc(client, 4096, &buffer, &error) != 0)
        return false;
    memcpy(buffer.address, "abcdef", 6);
    mli_client_job_init(&job);
    job.name = "transpose";
    job.src = (mli_tensor){.rank = 2, .shape = {2, 3}, .el_type = MLI_EL_FX_8};
    job.src_memory.buffer = job.dst_memory.buffer = buffer.id;
    job.dst_memory.offset = 64;
    job.cfg.perm_dim[0] = 1;
    assert_int_not_equal(mli_client_submit(client, &job, &result, &error), 0); /* axis 1 twice */
    job.cfg.perm_dim[1] = 0;
    moved = mli_client_submit(client, &job, &result, &error) == 0;
    if (moved) {
        mli_client_result_free(&result);
        assert_memory_equal((char *)buffer.address + 64, "adbecf", 6);
    }
    return mli_client_buffer_release(client, &buffer, &error) == 0 && moved;
}

/* Calls a service over a new connection; the allocation `failing` of cJSON in this thread fails.
 * Returns whether all calls succeeded. */
static bool use_client(int failing)
{
    struct config config;
    struct service_thread *service;
    mli_client_error error;
    mli_client *client;
    bool good;
    int socket;

    config_defaults(&config);
    config.log_level = 3;
    assert_int_equal(service_thread_start(&config, &service, &socket), 0);
    countdown = failing;
    good = mli_client_adopt(socket, 0, &client, &error) == 0;
    if (good) {
        good = call(client);
        mli_client_close(client);
    }
    good = good && (failing < 0 || countdown >= 0);
    countdown = -1;
    service_thread_stop(service);
    return good;
}

static void test_hooks(void **state)
{
    static const char text[] = "{\"weights\":[1,2.5,\"three\"]}";

    cJSON *before, *after;
    size_t allocations, frees;
    char *printed;

    (void)state;
    before = cJSON_Parse(text);
    assert_non_null(before);
    allocations = host.allocations;
    frees = host.frees;
    assert_true(allocations > 4);

    assert_true(use_client(-1));
    assert_true(host.allocations > allocations + 20);
    assert_int_equal(host.frees - frees, host.allocations - allocations);

    after = cJSON_Parse(text);
    printed = cJSON_PrintUnformatted(before);
    assert_string_equal(printed, text);
    cJSON_free(printed);
    cJSON_Delete(before);
    cJSON_Delete(after);
    assert_int_equal(host.frees, host.allocations);
}

/* Lets each allocation of the client's values fail once. */
static void test_failures(void **state)
{
    int failing = 0;

    (void)state;
    while (!use_client(failing)) {
        assert_int_equal(host.frees, host.allocations);
        assert_true(++failing < 10000);
    }
    assert_true(failing > 20);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_hooks),
                                       cmocka_unit_test(test_failures)};
    cJSON_Hooks hooks = {.malloc_fn = host_malloc, .free_fn = host_free};

    cJSON_InitHooks(&hooks);
    return cmocka_run_group_tests_name("client hooks", tests, NULL, NULL);
}

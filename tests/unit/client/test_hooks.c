/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A host program with cJSON hooks of its own uses libmli_client against a real service. Its
 * allocator hands out pointers that free() refuses, and must see the program's own calls only.
 */
#include <cJSON.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/config/config.h"
#include "daemon/service.h"
#include "mli_client.h"
#include "tests/support/proto_unit.h"

enum { OFFSET = 64 };
static const char SIGN[] = "host";

static struct {
    size_t allocations, frees;
} host;

static void *host_malloc(size_t size)
{
    char *block = malloc(OFFSET + size);

    host.allocations++;
    if (!block)
        return NULL;
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

/* Makes one round trip with strings, numbers and an error text in both directions. */
static void use_client(void)
{
    struct config config;
    struct service_thread *service;
    mli_client_error error;
    mli_client_result result;
    mli_client_buffer buffer;
    mli_client_job job;
    mli_client *client;
    int socket;

    config_defaults(&config);
    config.log_level = 3;
    assert_int_equal(service_thread_start(&config, &service, &socket), 0);
    assert_int_equal(mli_client_adopt(socket, 0, &client, &error), 0);
    assert_int_equal(mli_client_buffer_alloc(client, 4096, &buffer, &error), 0);
    memcpy(buffer.address, "abcdef", 6);
    mli_client_job_init(&job);
    job.name = "transpose";
    job.src = (mli_tensor){.rank = 2, .shape = {2, 3}, .el_type = MLI_EL_FX_8};
    job.src_memory.buffer = job.dst_memory.buffer = buffer.id;
    job.dst_memory.offset = 64;
    job.cfg.perm_dim[0] = 1;
    assert_int_not_equal(mli_client_submit(client, &job, &result, &error), 0); /* axis 1 twice */
    job.cfg.perm_dim[1] = 0;
    assert_int_equal(mli_client_submit(client, &job, &result, &error), 0);
    mli_client_result_free(&result);
    assert_memory_equal((char *)buffer.address + 64, "adbecf", 6);
    assert_int_equal(mli_client_buffer_release(client, &buffer, &error), 0);
    mli_client_close(client);
    service_thread_stop(service);
}

static void test_hooks(void **state)
{
    static const char text[] = "{\"weights\":[1,2.5,\"three\"]}";

    cJSON_Hooks hooks = {.malloc_fn = host_malloc, .free_fn = host_free};
    cJSON *before, *after;
    size_t allocations, frees;
    char *printed;

    (void)state;
    cJSON_InitHooks(&hooks);
    before = cJSON_Parse(text);
    assert_non_null(before);
    allocations = host.allocations;
    frees = host.frees;
    assert_true(allocations > 4);

    use_client();
    assert_int_equal(host.allocations, allocations);
    assert_int_equal(host.frees, frees);

    after = cJSON_Parse(text);
    assert_true(host.allocations > allocations);
    printed = cJSON_PrintUnformatted(before);
    assert_string_equal(printed, text);
    cJSON_free(printed);
    cJSON_Delete(before);
    cJSON_Delete(after);
    assert_int_equal(host.frees, host.allocations);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_hooks)};

    return cmocka_run_group_tests_name("client hooks", tests, NULL, NULL);
}

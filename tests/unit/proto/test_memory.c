/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Lets each allocation of each operation fail once: the operation must return an error and leak
 * nothing (the sanitizer or valgrind finds leaks). The linker replaces the C library's functions
 * by those below; cJSON gets them as its hooks.
 */
#include <cJSON.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "proto/file/job_file.h"
#include "proto/file/safetensors.h"
#include "proto/json/jsonw.h"
#include "proto/wire/frame.h"
#include "proto/wire/job.h"
#include "proto/wire/methods.h"
#include "proto/wire/rpc.h"
#include "tests/support/proto_unit.h"

void *__real_malloc(size_t size);
void *__real_calloc(size_t count, size_t size);
void *__real_realloc(void *old, size_t size);
char *__real_strdup(const char *text);
void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t count, size_t size);
void *__wrap_realloc(void *old, size_t size);
char *__wrap_strdup(const char *text);

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

char *__wrap_strdup(const char *text)
{
    return fails() ? NULL : __real_strdup(text);
}

/* Lets the first allocation of an operation fail, then the second, ... until it succeeds. */
static void sweep(int (*operation)(struct fault *fault))
{
    for (int failing = 0;; failing++) {
        struct fault fault = {0};
        int status, left;

        assert_true(failing < 10000);
        countdown = failing;
        status = operation(&fault);
        left = countdown;
        countdown = -1;
        if (left >= 0) { /* the operation has succeeded, because it has fewer allocations */
            assert_int_equal(status, 0);
            assert_true(failing > 0);
            return;
        }
        assert_int_equal(status, -1);
        assert_int_equal(fault.code, FAULT_INTERNAL);
    }
}

static int parse_job_file(struct fault *fault)
{
    static const char text[] =
        "{\"defaults\":{\"op\":\"mov\",\"src\":{\"type\":\"sa8\",\"axis\":0,\"scale\":[1,2]}},"
        "\"jobs\":[{\"name\":\"a\",\"src\":{\"file\":\"a.npy\"},\"dst\":{\"file\":\"b.npy\","
        "\"params\":\"p.json\"},\"expect\":{\"file\":\"g.npz\",\"tensor\":\"w\"}},"
        "{\"name\":\"b\",\"after\":[\"a\"],\"src\":{\"file\":\"a.npy\"},\"dst\":{\"file\":\"c\","
        "\"update\":true,\"axis\":1,\"zero_point\":[1,2,3]},\"slice\":\"1:\",\"expect\":{"
        "\"error\":\"LIMIT\",\"pointer\":\"/src\"}}]}";
    struct job_list list;

    if (job_file_parse(text, strlen(text), &list, fault) < 0)
        return -1;
    job_list_finish(&list);
    return 0;
}

static int parse_buffers(struct fault *fault)
{
    static const char text[] =
        "{\"buffers\":[{\"name\":\"a\",\"bytes\":4},{\"name\":\"b\",\"bytes\":4}],\"jobs\":[{"
        "\"op\":\"mov\",\"src\":{\"buffer\":\"a\",\"type\":\"fx8\",\"shape\":[4]},\"dst\":{"
        "\"buffer\":\"b\"}}]}";
    struct job_list list;

    if (job_file_parse(text, strlen(text), &list, fault) < 0)
        return -1;
    job_list_finish(&list);
    return 0;
}

static int parse_single_job(struct fault *fault)
{
    static const char text[] = "{\"op\":\"mov\",\"src\":{\"file\":\"a.npy\"},"
                               "\"dst\":{\"file\":\"b.npy\"}}";
    struct job_list list;

    if (job_file_parse(text, strlen(text), &list, fault) < 0)
        return -1;
    job_list_finish(&list);
    return 0;
}

static int parse_request(struct fault *fault)
{
    static const char line[] =
        "{\"jsonrpc\":\"2.0\",\"id\":\"x\",\"method\":\"job.submit\",\"fds\":2,\"params\":{\"op\":"
        "\"mov\",\"name\":\"n\",\"src\":{\"fd\":0,\"shape\":[2],\"type\":\"sa8\",\"axis\":0,"
        "\"scale\":[1,2]},\"dst\":{\"fd\":1,\"scale\":1}}}";
    struct rpc_request request;
    struct job job;
    int status = rpc_request_parse(line, strlen(line), &request);

    if (status == 0)
        status = job_wire_read(&request.params, request.fds, &job);
    if (status == 0)
        job_finish(&job);
    *fault = request.fault;
    rpc_request_finish(&request);
    return status;
}

static int parse_reply(struct fault *fault)
{
    static const char line[] =
        "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{\"dst\":{\"type\":\"sa8\",\"shape\":[2],"
        "\"axis\":0,\"scale\":[1,2]},\"cost\":{\"bytes\":2,\"channels\":1,\"engine\":\"inline\","
        "\"ns_queued\":1,\"ns_moving\":1}}}";
    struct rpc_reply reply;
    struct job_result result;
    int status = rpc_reply_parse(line, strlen(line), &reply);

    if (status == 0)
        status = job_result_read(&reply.result, &result);
    if (status == 0)
        job_result_finish(&result);
    *fault = reply.fault;
    rpc_reply_finish(&reply);
    return status;
}

static int parse_large(struct fault *fault)
{
    enum { COUNT = 1000 };
    static char text[2 * COUNT + 2];
    struct json root;

    text[0] = '[';
    for (size_t i = 0; i < COUNT; i++)
        memcpy(text + 1 + 2 * i, i + 1 < COUNT ? "1," : "1]", 2);
    if (json_parse(text, 2 * COUNT + 1, &rpc_request_limits, &root, fault) < 0)
        return -1;
    json_free(&root);
    return 0;
}

static int parse_calls(struct fault *fault)
{
    static const char text[] = "{\"prepared\":1,\"after\":[\"a\",2,\"b\"]}";
    static const char waited[] = "{\"job\":\"a\"}";
    struct job_start start;
    struct job_wait wait;
    struct json root;
    int status = json_parse(text, strlen(text), &rpc_request_limits, &root, fault);

    if (status == 0) {
        status = job_start_read(&root, &start);
        json_free(&root);
    }
    if (status < 0)
        return -1;
    job_start_finish(&start);
    status = json_parse(waited, strlen(waited), &rpc_request_limits, &root, fault);
    if (status == 0) {
        status = job_wait_read(&root, &wait);
        json_free(&root);
    }
    if (status == 0)
        job_wait_finish(&wait);
    return status;
}

static int parse_safetensors(struct fault *fault)
{
    static const char text[] = "{\"__metadata__\":{\"a\":\"b\"},"
                               "\"w\":{\"dtype\":\"F32\",\"shape\":[2,3],\"data_offsets\":[0,24]},"
                               "\"n\":{\"dtype\":\"I64\",\"shape\":[],\"data_offsets\":[24,32]}}";
    size_t length = sizeof text - 1;
    struct tensor_list list;

    if (safetensors_parse(text, length, SAFETENSORS_PREFIX + length + 32, &list, fault) < 0)
        return -1;
    tensor_list_finish(&list);
    return 0;
}

static int outline_npy(struct fault *fault)
{
    static const char text[] =
        "\x93NUMPY\x01\x00\x38\x00{'descr': '<i8', 'fortran_order': False, 'shape': (2,)}\n";
    struct tensor_list list = {0};
    struct tensor_entry *entry = tensor_list_add(&list, "x");
    int status =
        entry ? tensor_entry_outline(text, sizeof text - 1, sizeof text - 1 + 16, entry, fault)
              : fault_set(fault, FAULT_INTERNAL, NULL, "failed");

    tensor_list_finish(&list);
    return status;
}

static int print_text(struct fault *fault)
{
    struct textw w;
    int status = 0;

    textw_init(&w);
    for (int i = 0; i < 300; i++)
        textw_printf(&w, "%d bottles", i);
    if (w.failed)
        status = fault_set(fault, FAULT_INTERNAL, NULL, "failed");
    textw_finish(&w);
    return status;
}

static int write_text(struct fault *fault)
{
    struct jsonw w;
    int status = 0;

    jsonw_init(&w);
    jsonw_array_begin(&w, NULL);
    for (int i = 0; i < 300; i++)
        jsonw_string(&w, NULL, "some text to make it grow");
    jsonw_array_end(&w);
    if (!jsonw_text(&w))
        status = fault_set(fault, FAULT_INTERNAL, NULL, "failed");
    assert_int_equal(w.failed, status != 0);
    jsonw_finish(&w);
    return status;
}

static int copy_desc(struct fault *fault)
{
    struct quant quant = {0};
    struct tensor_desc from = {0}, to;

    if (quant_alloc(&quant, 3) == -ENOMEM)
        return fault_set(fault, FAULT_INTERNAL, NULL, "failed");
    from.quant = quant;
    if (tensor_desc_copy(&to, &from) == -ENOMEM) {
        assert_int_equal(to.quant.count, 0);
        tensor_desc_finish(&from);
        return fault_set(fault, FAULT_INTERNAL, NULL, "failed");
    }
    tensor_desc_finish(&from);
    tensor_desc_finish(&to);
    return 0;
}

static int make_frame(struct fault *fault)
{
    struct frame frame;

    if (frame_init(&frame, 64) == -ENOMEM) {
        frame_finish(&frame);
        return fault_set(fault, FAULT_INTERNAL, NULL, "failed");
    }
    frame_finish(&frame);
    return 0;
}

static int queue_output(struct fault *fault)
{
    struct out out = {0};
    int fd = open("/dev/zero", O_RDONLY | O_CLOEXEC),
        null = open("/dev/null", O_WRONLY | O_CLOEXEC);
    int status = out_attach(&out, &fd, 1);

    if (status == 0)
        status = out_add(&out, "line", 4);
    out_finish(&out);
    if (status == 0)
        status = out_file(&out, fd, 10, 1);
    if (status == 0)
        status = out_flush(&out, null);
    if (status == 0)
        assert_true(out_empty(&out));
    else
        assert_int_equal(status, -ENOMEM);
    out_finish(&out);
    close(fd);
    close(null);
    return status < 0 ? fault_set(fault, FAULT_INTERNAL, NULL, "failed") : 0;
}

#define SWEEP_TEST(operation)                                                                      \
    static void test_##operation(void **state)                                                     \
    {                                                                                              \
        (void)state;                                                                               \
        sweep(operation);                                                                          \
    }
SWEEP_TEST(parse_job_file)
SWEEP_TEST(parse_buffers)
SWEEP_TEST(parse_single_job)
SWEEP_TEST(parse_request)
SWEEP_TEST(parse_reply)
SWEEP_TEST(parse_large)
SWEEP_TEST(parse_calls)
SWEEP_TEST(parse_safetensors)
SWEEP_TEST(outline_npy)
SWEEP_TEST(print_text)
SWEEP_TEST(write_text)
SWEEP_TEST(copy_desc)
SWEEP_TEST(make_frame)
SWEEP_TEST(queue_output)

/* A failed writer works again after a reset. */
static void test_writer_recovers(void **state)
{
    struct jsonw w;

    (void)state;
    jsonw_init(&w);
    countdown = 0;
    jsonw_int(&w, NULL, 1);
    countdown = -1;
    assert_true(w.failed);
    assert_null(jsonw_text(&w));
    jsonw_reset(&w);
    jsonw_int(&w, NULL, 2);
    assert_string_equal(jsonw_text(&w), "2");
    jsonw_finish(&w);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_parse_job_file),    cmocka_unit_test(test_parse_buffers),
        cmocka_unit_test(test_parse_single_job),  cmocka_unit_test(test_parse_request),
        cmocka_unit_test(test_parse_reply),       cmocka_unit_test(test_parse_large),
        cmocka_unit_test(test_parse_calls),       cmocka_unit_test(test_print_text),
        cmocka_unit_test(test_write_text),        cmocka_unit_test(test_copy_desc),
        cmocka_unit_test(test_make_frame),        cmocka_unit_test(test_writer_recovers),
        cmocka_unit_test(test_parse_safetensors), cmocka_unit_test(test_outline_npy),
        cmocka_unit_test(test_queue_output),
    };
    cJSON_Hooks hooks = {.malloc_fn = malloc, .free_fn = free};

    cJSON_InitHooks(&hooks);
    return cmocka_run_group_tests_name("memory", tests, NULL, NULL);
}

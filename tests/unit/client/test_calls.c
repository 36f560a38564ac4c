/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Calls whose replies the test sends before the request arrives. The test knows the id: the first
 * request of a connection has id 1.
 */
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include "tests/unit/client/fake.h"

static int memory(const char *text)
{
    int fd = memfd_create("test", MFD_CLOEXEC);

    assert_true(fd >= 0);
    assert_int_equal(write(fd, text, strlen(text)), strlen(text));
    return fd;
}

static void assert_content(int fd, const char *text)
{
    char found[64] = "";

    assert_int_equal(pread(fd, found, sizeof(found) - 1, 0), strlen(text));
    assert_string_equal(found, text);
}

static void describe(mli_client_job *job, int src, int dst)
{
    mli_client_job_init(job);
    job->src = (mli_tensor){.rank = 2, .shape = {2, 3}, .el_type = MLI_EL_FX_8};
    job->src_memory.fd = src;
    job->dst_memory.fd = dst;
}

#define RESULT                                                                                     \
    "{'job':1,'dst':{'type':'sa8','shape':[2,2],'strides':[2,1],'axis':0,'scale':[78,79],"         \
    "'zero_point':[-3,-4],'scale_frac_bits':[10,11]},'cost':{'bytes':4,'channels':1,"              \
    "'engine':'threads','ns_queued':5,'ns_moving':6}}"

static void test_submit(void **state)
{
    struct fake fake;
    int src = memory("abcdef"), dst = memory("      ");
    int16_t scale[] = {77, 78, 79}, zero[] = {-3, -3, -3};
    int8_t shift[] = {10, 10, 10};
    mli_client_job job;
    mli_client_result result;
    mli_client_error error = {0};

    (void)state;
    fake_init(&fake, 0);
    describe(&job, src, dst);
    job.name = "tile0";
    job.src.el_type = MLI_EL_SA_8;
    job.src.el_params.sa.dim = 1;
    job.src.el_params.sa.scale = (mli_data_container){sizeof(scale), {.pi16 = scale}};
    job.src.el_params.sa.zero_point = (mli_data_container){sizeof(zero), {.pi16 = zero}};
    job.src.el_params.sa.scale_frac_bits = (mli_data_container){sizeof(shift), {.pi8 = shift}};
    job.cfg.offset[1] = 1;
    job.cfg.perm_dim[0] = 1;
    job.cfg.perm_dim[1] = 0;
    fake_say(&fake, "{'jsonrpc':'2.0','id':1,'result':" RESULT "}\n");
    assert_int_equal(mli_client_submit(fake.client, &job, &result, &error), 0);
    assert_true(result.has_dst);
    assert_int_equal(result.dst.rank, 2);
    assert_int_equal(result.dst.shape[1], 2);
    assert_int_equal(result.dst.mem_stride[0], 2);
    assert_int_equal(result.dst.el_params.sa.dim, 0);
    assert_int_equal(result.dst.el_params.sa.scale.mem.pi16[1], 79);
    assert_int_equal(result.dst.el_params.sa.zero_point.mem.pi16[1], -4);
    assert_int_equal(result.dst.el_params.sa.scale_frac_bits.mem.pi8[1], 11);
    mli_client_result_free(&result);
    const char *sent = fake_hear(&fake);
    assert_non_null(strstr(sent, "\"method\":\"job.submit\",\"fds\":2,\"params\":{"));
    assert_non_null(strstr(sent, "\"name\":\"tile0\""));
    assert_non_null(strstr(sent, "\"cfg\":{\"offset\":[0,1],\"perm_dim\":[1,0]}"));
    assert_non_null(strstr(sent, "\"scale\":[77,78,79]"));
    fake_finish(&fake);
    close(src);
    close(dst);
}

static void test_what_is_refused_here(void **state)
{
    struct fake fake;
    mli_client_job job;
    mli_client_error error;

    (void)state;
    fake_init(&fake, 0);
    describe(&job, -1, -1);
    assert_int_equal(mli_client_submit(fake.client, &job, NULL, &error), MLI_CLIENT_MISUSE);
    describe(&job, 0, 0);
    job.src.rank = 5;
    assert_int_equal(mli_client_submit(fake.client, &job, NULL, &error), MLI_CLIENT_MISUSE);
    assert_string_equal(error.message, "src.rank: 5 given; must be 1 to 4");
    describe(&job, 0, 0);
    job.src.el_type = MLI_EL_SA_8; /* a per-axis type without arrays */
    assert_int_equal(mli_client_submit(fake.client, &job, NULL, &error), MLI_CLIENT_MISUSE);
    char *line;
    size_t length;
    assert_int_equal(
        mli_client_call(fake.client, "daemon.ping\"", NULL, NULL, 0, 0, &line, &length, &error),
        MLI_CLIENT_MISUSE);
    assert_int_equal(
        mli_client_call(fake.client, "daemon.ping", "{\n}", NULL, 0, 0, &line, &length, &error),
        MLI_CLIENT_MISUSE);
    assert_int_equal(mli_client_pending(fake.client), 0);
    assert_string_equal(fake_hear(&fake), "");
    fake_finish(&fake);
}

/* A closed descriptor makes only its own request fail; the connection and queued requests continue.
 */
static void test_closed_descriptors(void **state)
{
    struct fake fake;
    mli_client_ticket ticket;
    mli_client_error error;
    mli_client_job job;
    int open_fd = memory("abcdef");

    (void)state;
    for (unsigned flags = 0; flags <= MLI_CLIENT_INLINE; flags++) {
        fake_init(&fake, flags);
        int closed = memory("");
        close(closed);
        assert_int_equal(mli_client_call_async(fake.client, "daemon.ping", NULL, NULL, 0, NULL,
                                               NULL, &ticket, &error),
                         0);
        for (int fd = -1; fd <= closed; fd += closed + 1) {
            const mli_client_attachment attachment = {.fd = fd};
            char expected[80];

            snprintf(expected, sizeof expected,
                     "descriptor 0: %d given; an open descriptor is required", fd);
            assert_int_equal(mli_client_call_async(fake.client, "buffer.register", "{'fd':0}",
                                                   &attachment, 1, NULL, NULL, &ticket, &error),
                             MLI_CLIENT_MISUSE);
            assert_string_equal(error.message, expected);
        }
        describe(&job, open_fd, closed);
        assert_int_equal(mli_client_submit(fake.client, &job, NULL, &error), MLI_CLIENT_MISUSE);
        assert_true(mli_client_connected(fake.client));
        assert_int_equal(mli_client_pending(fake.client), 1);
        assert_int_equal(mli_client_flush(fake.client, &error), 0);
        assert_string_equal(fake_hear(&fake),
                            "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"daemon.ping\"}\n");
        fake_finish(&fake);
    }
    close(open_fd);
}

static void test_a_buffer(void **state)
{
    struct fake fake;
    mli_client_buffer buffer;
    int fd = memory("hello");

    (void)state;
    fake_init(&fake, 0);
    fake_say_with_fd(&fake, fd,
                     "{'jsonrpc':'2.0','id':1,'fds':1,'result':{'buffer':3,'size':5,"
                     "'access':'write','sealed':true}}\n");
    assert_int_equal(mli_client_buffer_alloc(fake.client, 5, &buffer, NULL), 0);
    assert_int_equal(buffer.id, 3);
    assert_true(buffer.sealed && buffer.writable);
    assert_memory_equal(buffer.address, "hello", 5);
    memcpy(buffer.address, "HE", 2);
    assert_content(fd, "HEllo");
    fake_hang_up(&fake);
    assert_int_equal(mli_client_buffer_release(fake.client, &buffer, NULL), MLI_CLIENT_LOST);
    assert_null(buffer.address);
    fake_finish(&fake);
    close(fd);
}

/* A buffer on the board has the memory and the address of the request, and returns its address. */
static void test_a_buffer_on_the_board(void **state)
{
    struct fake fake;
    mli_client_buffer buffer;
    mli_client_board_range range = {.memory = "vccm", .exact = true, .address = 0x90000000};
    mli_client_error error = {0};
    int fd = memory("hello");

    (void)state;
    fake_init(&fake, 0);
    fake_say_with_fd(&fake, fd,
                     "{'jsonrpc':'2.0','id':1,'fds':1,'result':{'buffer':3,'size':5,'access':"
                     "'write','sealed':true,'memory':'vccm','address':2415919108}}\n");
    assert_int_equal(mli_client_buffer_alloc_on(fake.client, 5, &range, &buffer, &error), 0);
    assert_int_equal(buffer.id, 3);
    assert_int_equal(range.address, 2415919108);
    assert_non_null(
        strstr(fake_hear(&fake), "{\"size\":5,\"memory\":\"vccm\",\"address\":2415919104}"));
    range.memory = "a name of thirty-two bytes, or so";
    assert_int_equal(mli_client_buffer_alloc_on(fake.client, 5, &range, &buffer, &error),
                     MLI_CLIENT_MISUSE);
    assert_string_equal(error.message, "memory: a name of 1 to 31 bytes is required");
    fake_hang_up(&fake);
    mli_client_buffer_release(fake.client, &buffer, NULL);
    fake_finish(&fake);
    close(fd);
}

/* Does not map memory if the descriptor is missing or its file is smaller than announced. */
static void test_a_bad_buffer(void **state)
{
    struct fake fake;
    mli_client_buffer buffer;
    int fd = memory("hello");

    (void)state;
    for (int i = 0; i < 2; i++) {
        const char *text = i ? "{'jsonrpc':'2.0','id':1,'result':{'buffer':3,'size':5,"
                               "'access':'write','sealed':true}}\n"
                             : "{'jsonrpc':'2.0','id':1,'fds':1,'result':{'buffer':3,'size':5000,"
                               "'access':'write','sealed':true}}\n";
        fake_init(&fake, 0);
        if (i)
            fake_say(&fake, "%s", text);
        else
            fake_say_with_fd(&fake, fd, text);
        mli_client_set_timeout(fake.client, 50); /* the release gets no reply */
        assert_int_equal(mli_client_buffer_alloc(fake.client, 5000, &buffer, NULL),
                         MLI_CLIENT_UNREADABLE);
        assert_non_null(strstr(fake_hear(&fake), "buffer.release"));
        fake_finish(&fake);
    }
    close(fd);
}

static void test_inline(void **state)
{
    struct fake fake;
    int src = memory("abcdef"), dst = memory("......");
    mli_client_job job;
    mli_client_error error = {0};

    (void)state;
    fake_init(&fake, MLI_CLIENT_INLINE);
    describe(&job, src, dst);
    job.dst_memory.fresh = true;
    /* The bytes arrive in two pieces, contain a newline, and another line follows. */
    fake_say(&fake, "{'jsonrpc':'2.0','id':1,'inline':[0,6],'result':" RESULT "}\nAD\n");
    fake_say(&fake, "ECF{'jsonrpc':'2.0','method':'other'}\n");
    assert_int_equal(mli_client_submit(fake.client, &job, NULL, &error), 0);
    assert_content(dst, "AD\nECF");
    const char *sent = fake_hear(&fake);
    assert_non_null(strstr(sent, "\"fds\":2,\"inline\":[{\"bytes\":6,\"size\":6},"
                                 "{\"bytes\":0,\"size\":6,\"back\":true}],\"params\":"));
    assert_non_null(strstr(sent, "}\nabcdef"));
    assert_string_equal(strstr(sent, "}\nabcdef"), "}\nabcdef");
    mli_client_buffer buffer;
    mli_client_prepared prepared;
    assert_int_equal(mli_client_buffer_alloc(fake.client, 1, &buffer, NULL), MLI_CLIENT_IMPOSSIBLE);
    assert_int_equal(mli_client_prepare(fake.client, &job, &prepared, NULL), MLI_CLIENT_IMPOSSIBLE);
    fake_finish(&fake);
    close(src);
    close(dst);
}

/* More bytes than requested end the connection, and overwrite nothing. */
static void test_too_much_inline(void **state)
{
    static const char *const answers[] = {"[0,7]", "[1,0]", "[6]", "[0,6,0]"};

    (void)state;
    for (size_t i = 0; i < COUNT_OF(answers); i++) {
        struct fake fake;
        int src = memory("abcdef"), dst = memory("......");
        mli_client_job job;
        fake_init(&fake, MLI_CLIENT_INLINE);
        describe(&job, src, dst);
        fake_say(&fake, "{'jsonrpc':'2.0','id':1,'inline':%s,'result':" RESULT "}\nxxxxxxx",
                 answers[i]);
        assert_int_equal(mli_client_submit(fake.client, &job, NULL, NULL), MLI_CLIENT_LOST);
        assert_content(src, "abcdef");
        assert_content(dst, "......");
        fake_finish(&fake);
        close(src);
        close(dst);
    }
}

/* A source shrinks while it is sent: the library sends zeros for the missing bytes, keeps the
 * stream valid, and fails the job. */
static void test_a_source_that_shrinks(void **state)
{
    enum { SIZE = 8 << 20 };
    struct fake fake;
    int src = memory("abcdef"), dst = memory("......");
    mli_client_job job;
    mli_client_ticket ticket;
    mli_client_error error;
    size_t heard = 0;
    (void)state;
    fake_init(&fake, MLI_CLIENT_INLINE);
    assert_int_equal(ftruncate(src, SIZE), 0);
    describe(&job, src, dst);
    job.dst_memory.fresh = true;
    assert_int_equal(mli_client_submit_async(fake.client, &job, NULL, NULL, &ticket, NULL), 0);
    assert_int_equal(ftruncate(src, 100), 0);
    for (int i = 0; i < 100000 && heard < SIZE + 300; i++) {
        char bytes[65536];
        assert_int_equal(mli_client_flush(fake.client, NULL), 0);
        ssize_t got = recv(fake.fd, bytes, sizeof(bytes), MSG_DONTWAIT);
        if (got <= 0)
            break;
        heard += (size_t)got;
    }
    assert_in_range(heard, SIZE + 200, SIZE + 600);
    assert_int_equal(mli_client_pending(fake.client), 1);
    fake_say(&fake, "{'jsonrpc':'2.0','id':1,'inline':[0,6],'result':" RESULT "}\nABCDEF");
    assert_int_equal(mli_client_wait(fake.client, ticket, 1000, NULL, &error), -32005);
    assert_string_equal(error.pointer, "/src");
    assert_true(mli_client_connected(fake.client));
    fake_finish(&fake);
    close(src);
    close(dst);
}

static int events, lines;

static void take_event(mli_client *client, const mli_client_event *event, void *user)
{
    (void)client;
    assert_ptr_equal(user, &events);
    assert_int_equal(event->kind, MLI_CLIENT_EVENT_DONE);
    assert_int_equal(event->job.job, 5);
    assert_int_equal(event->job.error.code, -32004);
    events++;
}

static void take_line(mli_client *client, const char *line, size_t length, void *user)
{
    (void)client;
    (void)user;
    assert_int_equal(line[0], '{');
    assert_int_equal(line[length - 1], '}');
    lines++;
}

static void test_notifications(void **state)
{
    struct fake fake;
    mli_client_greeting greeting;

    (void)state;
    fake_init(&fake, 0);
    mli_client_set_notify(fake.client, take_line, NULL);
    fake_say(&fake,
             "{'jsonrpc':'2.0','method':'hello','params':{'protocol':1,'version':'9','client':77,"
             "'capabilities':['after','new'],'limits':{'line':65536,'fds':16,'jobs':256,"
             "'job_bytes':1,'buffers':64,'buffer_bytes':2,'prepared':3,'new':4}}}\n");
    fake_say(&fake, "{'jsonrpc':'2.0','method':'weather','params':{'sun':true}}\n");
    fake_say(&fake,
             "{'jsonrpc':'2.0','method':'event','params':{'event':'done','time_ns':1,'dropped':0,"
             "'job':{'job':5,'state':'cancelled','client':1,'uid':0,'priority':0,'channels':1,"
             "'bytes':6,'bytes_done':0,'detached':false,'ns_queued':1,'ns_moving':0,"
             "'error':{'code':-32004,'message':'c','data':{'name':'CANCELLED'}}}}}\n");
    fake_say(&fake, "{'jsonrpc':'2.0','id':1,'result':{'events':['done']}}\n");
    assert_int_equal(mli_client_subscribe(fake.client, 1 << MLI_CLIENT_EVENT_DONE,
                                          MLI_CLIENT_SCOPE_CONNECTION, 0, take_event, &events,
                                          NULL),
                     0);
    assert_int_equal(events, 1);
    assert_int_equal(lines, 3);
    assert_int_equal(mli_client_greet(fake.client, &greeting, NULL), 0);
    assert_int_equal(greeting.client, 77);
    assert_int_equal(greeting.prepared, 3);
    fake_finish(&fake);
}

static void test_raw(void **state)
{
    struct fake fake;
    char *line;
    size_t length;

    (void)state;
    fake_init(&fake, 0);
    fake_say(&fake, "{'jsonrpc':'2.0','id':1,'result':{'any':[1]}}\n");
    assert_int_equal(
        mli_client_call(fake.client, "x.y", "{\"a\":1}", NULL, 0, -1, &line, &length, NULL), 0);
    assert_string_equal(line, "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{\"any\":[1]}}");
    assert_int_equal(length, strlen(line));
    free(line);
    assert_string_equal(fake_hear(&fake),
                        "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"x.y\",\"params\":{\"a\":1}}\n");
    fake_finish(&fake);
}

struct seen {
    unsigned count;
    char line[128];
    int fd, code;
};

static void see(mli_client *client, mli_client_ticket ticket, const char *line, size_t length,
                int fd, const mli_client_error *error, void *user)
{
    struct seen *seen = user;

    assert_true(ticket != 0);
    assert_int_equal(mli_client_ping(client, NULL), MLI_CLIENT_MISUSE);
    assert_int_equal(length, line ? strlen(line) : 0);
    seen->count++;
    snprintf(seen->line, sizeof(seen->line), "%s", line ? line : "");
    seen->fd = fd;
    seen->code = error ? error->code : 0;
}

static void test_calls_without_waiting(void **state)
{
    struct fake fake;
    struct seen seen = {.fd = -1};
    mli_client_ticket ticket;
    mli_client_job job;
    int fd = memory("hello");

    (void)state;
    fake_init(&fake, 0);
    assert_int_equal(
        mli_client_call_async(fake.client, "x.y", "{}", NULL, 0, see, &seen, &ticket, NULL), 0);
    fake_say_with_fd(&fake, fd, "{'jsonrpc':'2.0','id':1,'fds':1,'result':{'any':[1]}}\n");
    assert_int_equal(mli_client_dispatch(fake.client, NULL), 0);
    assert_int_equal(seen.count, 1);
    assert_string_equal(seen.line, "{\"jsonrpc\":\"2.0\",\"id\":1,\"fds\":1,"
                                   "\"result\":{\"any\":[1]}}");
    assert_content(seen.fd, "hello");
    close(seen.fd);
    describe(&job, fd, fd);
    assert_int_equal(mli_client_prepare_async(fake.client, &job, see, &seen, &ticket, NULL), 0);
    assert_non_null(strstr(fake_hear(&fake), "\"method\":\"job.prepare\",\"fds\":1,"));
    job.timeout_ms = 1;
    assert_int_equal(mli_client_prepare_async(fake.client, &job, see, &seen, &ticket, NULL),
                     MLI_CLIENT_MISUSE);
    fake_hang_up(&fake);
    assert_int_equal(mli_client_dispatch(fake.client, NULL), MLI_CLIENT_LOST);
    assert_int_equal(seen.count, 2);
    assert_int_equal(seen.code, MLI_CLIENT_LOST);
    fake_finish(&fake);
    close(fd);
}

static void test_commands(void **state)
{
    static char cat[] = "cat", none[] = "/nonexistent/ssh", sh[] = "sh", c[] = "-c", x[] = "exit 9";
    mli_client *client;
    mli_client_error error;
    size_t before = proto_count_fds();

    (void)state;
    int status = mli_client_spawn((char *[]){none, NULL}, &client, &error);
    if (status == 0) { /* valgrind's posix_spawn() reports no error; the child exits with 127 */
        assert_int_equal(mli_client_ping(client, &error), MLI_CLIENT_LOST);
        assert_int_equal(mli_client_command_status(client), 127);
        mli_client_close(client);
    } else {
        assert_int_equal(status, MLI_CLIENT_NO_SERVICE);
    }
    assert_int_equal(mli_client_spawn((char *[]){sh, c, x, NULL}, &client, &error), 0);
    assert_int_equal(mli_client_ping(client, &error), MLI_CLIENT_LOST);
    assert_int_equal(mli_client_command_status(client), 9);
    mli_client_close(client);
    /* cat sends the request back, which is not a reply. */
    assert_int_equal(mli_client_spawn((char *[]){cat, NULL}, &client, &error), 0);
    assert_int_equal(mli_client_ping(client, &error), MLI_CLIENT_LOST);
    mli_client_close(client);
    assert_int_equal(mli_client_connect("/nonexistent/socket", &client, &error),
                     MLI_CLIENT_NO_SERVICE);
    assert_string_equal(error.name, "NO_SERVICE");
    assert_int_equal(proto_count_fds(), before);
}

static void test_where_a_service_is_looked_for(void **state)
{
    char path[MLI_CLIENT_PATH_MAX], longest[MLI_CLIENT_PATH_MAX + 1];
    mli_client_error error = {0};

    (void)state;
    setenv("MLID_SOCKET", "/from/environment", 1);
    assert_int_equal(mli_client_socket_path("/given", path, &error), 0);
    assert_string_equal(path, "/given");
    assert_int_equal(mli_client_socket_path(NULL, path, &error), 0);
    assert_string_equal(path, "/from/environment");
    setenv("MLID_SOCKET", "", 1);
    setenv("XDG_RUNTIME_DIR", "/run/user/1", 1);
    assert_int_equal(mli_client_socket_path(NULL, path, &error), 0);
    assert_string_equal(path, "/run/user/1/mlid.sock");
    unsetenv("XDG_RUNTIME_DIR");
    assert_int_equal(mli_client_socket_path(NULL, path, &error), 0);
    assert_string_equal(path, "/run/mlid.sock");
    memset(longest, 'x', sizeof(longest));
    longest[MLI_CLIENT_PATH_MAX - 1] = '\0';
    assert_int_equal(mli_client_socket_path(longest, path, &error), 0);
    assert_string_equal(path, longest);
    longest[MLI_CLIENT_PATH_MAX - 1] = 'x';
    longest[MLI_CLIENT_PATH_MAX] = '\0';
    assert_int_equal(mli_client_socket_path(longest, path, &error), MLI_CLIENT_MISUSE);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_submit),
        cmocka_unit_test(test_what_is_refused_here),
        cmocka_unit_test(test_closed_descriptors),
        cmocka_unit_test(test_a_buffer),
        cmocka_unit_test(test_a_buffer_on_the_board),
        cmocka_unit_test(test_a_bad_buffer),
        cmocka_unit_test(test_inline),
        cmocka_unit_test(test_too_much_inline),
        cmocka_unit_test(test_a_source_that_shrinks),
        cmocka_unit_test(test_notifications),
        cmocka_unit_test(test_raw),
        cmocka_unit_test(test_calls_without_waiting),
        cmocka_unit_test(test_commands),
        cmocka_unit_test(test_where_a_service_is_looked_for),
    };

    return cmocka_run_group_tests_name("client calls", tests, NULL, NULL);
}

/* SPDX-License-Identifier: BSD-3-Clause */
#include "tests/unit/daemon/memory_calls.h"

#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

enum { ID = 4000 };

void send_call(struct peer *peer, int id, const char *method, const char *params)
{
    peer_send(peer, NULL, 0, "{'jsonrpc':'2.0','id':%d,'method':'%s','params':{%s}}", id, method,
              params);
}

static void send_register(struct peer *peer, int fd, const char *more)
{
    peer_send(peer, &fd, 1,
              "{'jsonrpc':'2.0','id':%d,'method':'buffer.register','fds':1,"
              "'params':{'fd':0%s}}",
              ID, more);
}

static void ok_reply(struct peer *peer, struct rpc_reply *reply)
{
    peer_reply(peer, reply);
    if (!reply->ok)
        fail_msg("%s: %s", fault_name(reply->error.code), reply->error.text);
    assert_int_equal(reply->id.number, ID);
}

struct buffer_info register_buffer(struct peer *peer, int fd, const char *more)
{
    struct buffer_info info;
    struct rpc_reply reply;

    send_register(peer, fd, more);
    ok_reply(peer, &reply);
    assert_int_equal(buffer_info_read(&reply.result, &info), 0);
    rpc_reply_finish(&reply);
    return info;
}

const struct fault *refused_buffer(struct peer *peer, int fd, const char *more,
                                   enum fault_code code)
{
    send_register(peer, fd, more);
    return peer_error(peer, ID, code);
}

struct buffer_info list_buffers(struct peer *peer, size_t count, size_t index)
{
    struct buffer_info info = {0};
    struct json list, item = {0};
    struct rpc_reply reply;
    size_t found;

    send_call(peer, ID, "buffer.list", "");
    ok_reply(peer, &reply);
    list = json_member(&reply.result, "buffers");
    assert_int_equal(json_array(&list, &found), 0);
    assert_int_equal(found, count);
    for (size_t i = 0; i <= index && index < count; i++)
        assert_true(json_next(&list, &item));
    if (index < count)
        assert_int_equal(buffer_info_read(&item, &info), 0);
    rpc_reply_finish(&reply);
    return info;
}

static void release(struct peer *peer, const char *method, const char *what, unsigned number)
{
    char params[64];

    snprintf(params, sizeof params, "'%s':%u", what, number);
    send_call(peer, ID, method, params);
    peer_ok(peer, ID);
}

void release_buffer(struct peer *peer, unsigned number)
{
    release(peer, "buffer.release", "buffer", number);
}

void release_prepared(struct peer *peer, unsigned number)
{
    release(peer, "job.release", "prepared", number);
}

void prepare_job(struct peer *peer, const int *fds, size_t count, const char *params,
                 struct job_prepared *prepared)
{
    struct rpc_reply reply;

    peer_send(peer, fds, count,
              "{'jsonrpc':'2.0','id':%d,'method':'job.prepare','fds':%zu,'params':{%s}}", ID, count,
              params);
    ok_reply(peer, &reply);
    assert_int_equal(job_prepared_read(&reply.result, prepared), 0);
    rpc_reply_finish(&reply);
}

int memfd_sealable(size_t size)
{
    int fd = memfd_create("test", MFD_CLOEXEC | MFD_ALLOW_SEALING);

    assert_true(fd >= 0);
    assert_int_equal(ftruncate(fd, (off_t)size), 0);
    return fd;
}

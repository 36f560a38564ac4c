/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Every allocation of a session fails once, the n-th one in the n-th round. The service must
 * continue, leak nothing, and write only the destinations of the jobs. The linker replaces the C
 * library's functions by those here (--wrap).
 */
#include <errno.h>
#include <poll.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include "daemon/base/seam.h"
#include "proto/wire/frame.h"
#include "tests/unit/daemon/test_peer.h"

static atomic_int countdown;    /* number of the next allocation that fails; 0: none */
static _Thread_local bool mine; /* true in the test's own thread, whose allocations succeed */

void *__real_malloc(size_t size);
void *__real_calloc(size_t count, size_t size);
void *__real_realloc(void *block, size_t size);
char *__real_strdup(const char *text);
void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t count, size_t size);
void *__wrap_realloc(void *block, size_t size);
char *__wrap_strdup(const char *text);

static bool fails(void)
{
    return !mine && atomic_load(&countdown) > 0 && atomic_fetch_sub(&countdown, 1) == 1;
}

void *__wrap_malloc(size_t size)
{
    return fails() ? NULL : __real_malloc(size);
}

void *__wrap_calloc(size_t count, size_t size)
{
    return fails() ? NULL : __real_calloc(count, size);
}

void *__wrap_realloc(void *block, size_t size)
{
    return fails() ? NULL : __real_realloc(block, size);
}

char *__wrap_strdup(const char *text)
{
    return fails() ? NULL : __real_strdup(text);
}

static void *failing_mmap(void *address, size_t size, int protection, int flags, int fd,
                          off_t offset)
{
    if (fails()) {
        errno = ENOMEM;
        return MAP_FAILED;
    }
    return mmap(address, size, protection, flags, fd, offset);
}

static int setup(void **state)
{
    mine = true;
    seam.mmap = failing_mmap;
    return fixture_warm_up(state);
}

#define CALL(fds, method, params)                                                                  \
    "{'jsonrpc':'2.0','id':1,'method':'" method "','fds':" #fds ",'params':{" params "}}\n", fds
#define MOVE "'op':'mov','src':{'fd':0,'type':'fx8','shape':[4]},'dst':{'fd':1}"

static const struct line {
    const char *text;
    size_t fds; /* number of descriptors to send: none, src, or src and dst */
} lines[] = {
    {CALL(2, "job.submit",
          "'op':'mov','name':'first','src':{'fd':0,'type':'sa8','shape':[4],'axis':0,"
          "'scale':[1,2,3,4]},'dst':{'fd':1}")},
    {CALL(2, "job.submit",
          "'op':'permute','timeout_ms':10000,'src':{'fd':0,'type':'fx8','shape':[2,2]},"
          "'cfg':{'perm_dim':[0,1]},'dst':{'fd':1}")},
    {CALL(2, "job.submit", "'op':'mov','src':{'fd':0,'type':'fx8','shape':[5]},'dst':{'fd':1}")},
    {CALL(1, "buffer.register", "'fd':0")},
    {CALL(0, "buffer.alloc", "'size':4096")},
    {CALL(0, "buffer.alloc", "'size':4096,'memory':'ddr'")},
    {CALL(2, "job.submit",
          "'op':'mov','src':{'fd':0,'type':'fx8','shape':[4],'memory':'ddr'},"
          "'dst':{'fd':1,'memory':'ddr'}")},
    {CALL(0, "job.prepare",
          "'op':'mov','src':{'buffer':1,'type':'fx8','shape':[4]},'dst':{'buffer':2}")},
    {CALL(0, "job.start", "'prepared':1")},
    {CALL(0, "job.start", "'prepared':1,'dst':{'offset':90},'after':[3]")},
    {CALL(2, "job.prepare", MOVE)},
    {CALL(0, "job.start", "'prepared':2,'timeout_ms':10000")},
    {CALL(0, "events.subscribe", "'events':[]")},
    {CALL(2, "job.submit", MOVE ",'name':'far','detach':true")},
    {CALL(0, "job.wait", "'job':'far','timeout_ms':10000")},
    {CALL(0, "job.wait", "'jobs':[1,2]")},
    {CALL(0, "job.status", "'job':1")},
    {CALL(0, "job.list", "'limit':5,'name':'first'")},
    {CALL(0, "job.cancel", "'job':1")},
    {CALL(0, "daemon.stats", "")},
    {CALL(0, "daemon.drain", "")},
    {CALL(0, "daemon.resume", "")},
    {CALL(0, "buffer.list", "")},
    {CALL(0, "buffer.release", "'buffer':2")},
    {CALL(0, "job.release", "'prepared':1")},
};

/* Reads replies until `count` have come or the connection has ended. */
static size_t count_replies(struct peer *peer, size_t count)
{
    char bytes[4096];
    size_t replies = 0;

    while (replies < count) {
        struct pollfd poller = {.fd = peer->fd, .events = POLLIN};
        ssize_t got;

        assert_true(poll(&poller, 1, 20 * 1000) > 0);
        got = recv(peer->fd, bytes, sizeof bytes, 0);
        if (got <= 0)
            break;
        for (ssize_t i = 0; i < got; i++)
            replies += bytes[i] == '\n';
    }
    return replies;
}

/*
 * Runs a session whose n-th allocation fails. Returns false if the session had fewer allocations.
 */
static bool session(int n)
{
    struct fixture fixture;
    int src = memfd_with("abcd", 4), dst = memfd_with("....", 4), fd;
    size_t sent = 0;
    char found[5] = "";

    fixture_config(&fixture.config);
    strcpy(fixture.config.profile, "host");
    mine = false;
    atomic_store(&countdown, n);
    if (service_thread_start(&fixture.config, &fixture.thread, &fd) == 0) {
        mine = true;
        peer_init(&fixture.peer, fd);
        if (count_replies(&fixture.peer, 1) == 0) /* receive the greeting */
            sent = COUNT_OF(lines);
        for (; sent < COUNT_OF(lines); sent++) {
            char line[512];
            size_t length = peer_quote(lines[sent].text, line, sizeof line);

            if (fd_send(fd, line, length, (int[]){src, dst}, lines[sent].fds) < 0)
                break; /* the service has closed the connection */
            if (count_replies(&fixture.peer, 1) == 0)
                break;
        }
        fixture_stop(&fixture);
    }
    mine = true;
    assert_int_equal(pread(dst, found, 4, 0), 4);
    assert_true(strcmp(found, "abcd") == 0 || strcmp(found, "....") == 0);
    close(src);
    close(dst);
    return atomic_exchange(&countdown, 0) == 0;
}

static void test_every_allocation(void **state)
{
    const int before = count_fds();
    int n = 1;

    (void)state;
    while (session(n))
        n++;
    assert_in_range(n, 12, 1000);
    assert_int_equal(count_fds(), before);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_every_allocation)};

    return cmocka_run_group_tests(tests, setup, NULL);
}

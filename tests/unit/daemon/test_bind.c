/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "daemon/net/bind.h"
#include "tests/support/unit.h"

static char directory[] = "/tmp/mlid-bind-XXXXXX";
static char path[64], lock_path[80];

static int setup(void **state)
{
    (void)state;
    if (!mkdtemp(directory))
        return -1;
    snprintf(path, sizeof path, "%s/sock", directory);
    snprintf(lock_path, sizeof lock_path, "%s.lock", path);
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    return rmdir(directory); /* fails if a file is left in the directory */
}

static int connects(const char *to)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0), error;

    strcpy(address.sun_path, to);
    error = connect(fd, (struct sockaddr *)&address, sizeof address) < 0 ? -errno : 0;
    close(fd);
    return error;
}

static mode_t mode_of(const char *file)
{
    struct stat st;

    assert_int_equal(lstat(file, &st), 0);
    return st.st_mode & 0777;
}

static void test_mode(void **state)
{
    const uint32_t modes[] = {0600, 0660, 0666, 0777, 0000};
    const mode_t mask = umask(027);
    struct bound bound;

    (void)state;
    for (size_t i = 0; i < COUNT_OF(modes); i++) {
        assert_int_equal(bind_path(&bound, path, modes[i], -1, -1), 0);
        assert_int_equal(mode_of(path), modes[i]);
        assert_int_equal(fcntl(bound.fd, F_GETFD), FD_CLOEXEC);
        assert_true(fcntl(bound.fd, F_GETFL) & O_NONBLOCK);
        bind_release(&bound);
        bind_release(&bound);
        assert_int_equal(access(path, F_OK), -1);
    }
    assert_int_equal(umask(mask), 027);
}

static void test_live_socket_stays(void **state)
{
    struct bound first, second;

    (void)state;
    assert_int_equal(bind_path(&first, path, 0600, -1, -1), 0);
    assert_int_equal(bind_path(&second, path, 0600, -1, -1), -EADDRINUSE);
    assert_int_equal(second.fd, -1);
    bind_release(&second);
    assert_int_equal(connects(path), 0);
    bind_release(&first);
}

static void test_stale_socket_is_replaced(void **state)
{
    struct bound dead, bound;

    (void)state;
    assert_int_equal(bind_path(&dead, path, 0600, -1, -1), 0);
    close(dead.fd); /* the socket file stays, as after SIGKILL */
    assert_int_equal(connects(path), -ECONNREFUSED);
    assert_int_equal(bind_path(&bound, path, 0640, -1, -1), 0);
    assert_int_equal(mode_of(path), 0640);
    assert_int_equal(connects(path), 0);
    bind_release(&bound);
}

/* Binds as a user who may not connect to the existing socket. Exits with 0 if bind_path() fails. */
static void bind_as_other(void)
{
    const int found = -EOWNERDEAD;
    struct bound bound;

    if (geteuid() == 0 && (setgid(65534) < 0 || setuid(65534) < 0))
        _exit(2);
    _exit(bind_path(&bound, path, 0600, -1, -1) == found && access(path, F_OK) == 0 ? 0 : 1);
}

static void test_stale_socket_of_another_user(void **state)
{
    struct bound dead;
    int status;
    pid_t child;

    (void)state;
    assert_int_equal(bind_path(&dead, path, 0000, -1, -1), 0);
    close(dead.fd);
    assert_int_equal(chmod(directory, 0777), 0);
    child = fork();
    assert_true(child >= 0);
    if (child == 0)
        bind_as_other();
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    assert_null(strstr(bind_error_text(-EOWNERDEAD), "stop the process"));
    assert_non_null(strstr(bind_error_text(-EOWNERDEAD), "another user"));
    assert_int_equal(chmod(directory, 0700), 0);
    unlink(path);
    unlink(lock_path);
}

/* A full backlog answers EAGAIN: the socket is live. */
static void test_busy_socket_is_live(void **state)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    struct bound bound;
    int fd = socket(AF_UNIX, SOCK_STREAM, 0), waiting[8];

    (void)state;
    strcpy(address.sun_path, path);
    assert_int_equal(bind(fd, (struct sockaddr *)&address, sizeof address), 0);
    assert_int_equal(listen(fd, 0), 0);
    for (size_t i = 0; i < COUNT_OF(waiting); i++) {
        waiting[i] = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0);
        connect(waiting[i], (struct sockaddr *)&address, sizeof address);
    }
    assert_int_equal(bind_path(&bound, path, 0600, -1, -1), -EADDRINUSE);
    for (size_t i = 0; i < COUNT_OF(waiting); i++)
        close(waiting[i]);
    close(fd);
    unlink(path);
}

static void test_other_files_stay(void **state)
{
    struct bound bound;
    int fd = open(path, O_CREAT | O_RDWR, 0600);

    (void)state;
    assert_int_equal(bind_path(&bound, path, 0600, -1, -1), -EEXIST);
    assert_int_equal(access(path, F_OK), 0);
    close(fd);
    unlink(path);
    assert_int_equal(symlink("/nowhere/at/all", path), 0);
    assert_int_equal(bind_path(&bound, path, 0600, -1, -1), -EEXIST);
    unlink(path);
}

static void test_paths(void **state)
{
    const size_t max = sizeof(struct sockaddr_un) - offsetof(struct sockaddr_un, sun_path);
    char name[256];
    struct bound bound;

    (void)state;
    assert_int_equal(bind_path(&bound, "", 0600, -1, -1), -EINVAL);
    memset(name, 'x', sizeof name);
    memcpy(name, directory, strlen(directory));
    name[strlen(directory)] = '/';
    name[max] = '\0';
    assert_int_equal(bind_path(&bound, name, 0600, -1, -1), -ENAMETOOLONG);
    name[max - 1] = '\0';
    assert_int_equal(bind_path(&bound, name, 0600, -1, -1), 0);
    assert_int_equal(access(name, F_OK), 0);
    bind_release(&bound);
    assert_int_equal(access(name, F_OK), -1);
    snprintf(name, sizeof name, "%s/none/sock", directory);
    assert_int_equal(bind_path(&bound, name, 0600, -1, -1), -ENOENT);

    assert_int_equal(chdir(directory), 0);
    assert_int_equal(bind_path(&bound, "sock", 0600, -1, -1), 0);
    assert_int_equal(connects(path), 0);
    bind_release(&bound);
    assert_int_equal(chdir("/"), 0);
}

/*
 * The file was removed, and another service has bound the path: the old service must not remove the
 * new socket.
 */
static void test_foreign_socket_is_not_removed(void **state)
{
    struct bound old, successor;

    (void)state;
    assert_int_equal(bind_path(&old, path, 0600, -1, -1), 0);
    unlink(path);
    assert_int_equal(bind_path(&successor, path, 0600, -1, -1), 0);
    bind_release(&old);
    assert_int_equal(connects(path), 0);
    bind_release(&successor);
}

/* A lock on the directory, which any user who can read it may take, must not block the service. */
static void test_locked_directory(void **state)
{
    int lock = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    struct bound bound;

    (void)state;
    assert_int_equal(flock(lock, LOCK_EX), 0);
    assert_int_equal(bind_path(&bound, path, 0600, -1, -1), 0);
    bind_release(&bound);
    close(lock);
}

static void test_lock_file(void **state)
{
    struct bound bound;
    int lock = open(lock_path, O_CREAT | O_RDWR | O_CLOEXEC, 0600);

    (void)state;
    assert_int_equal(flock(lock, LOCK_EX), 0);
    assert_int_equal(bind_path(&bound, path, 0600, -1, -1), -EBUSY);
    assert_int_equal(bound.fd, -1);
    assert_int_equal(access(path, F_OK), -1);
    close(lock);
    assert_int_equal(access(lock_path, F_OK), 0);
    assert_int_equal(bind_path(&bound, path, 0600, -1, -1),
                     0); /* bind_path() reuses a lock file that an earlier process has left. */
    assert_int_equal(access(lock_path, F_OK), -1);
    bind_release(&bound);
}

static void assert_lock_is_refused(void)
{
    struct bound bound;
    struct stat before, after;

    assert_int_equal(lstat(lock_path, &before), 0);
    assert_int_equal(bind_path(&bound, path, 0600, -1, -1), -ENOLCK);
    assert_non_null(strstr(bind_error_text(-ENOLCK), ".lock"));
    assert_int_equal(access(path, F_OK), -1);
    assert_int_equal(lstat(lock_path, &after), 0);
    assert_int_equal(before.st_ino, after.st_ino);
}

/* Another user may have created the lock file, or a link or FIFO in its place. */
static void test_lock_files_of_others(void **state)
{
    char target[80];

    (void)state;
    snprintf(target, sizeof target, "%s/target", directory);
    assert_int_equal(symlink(target, lock_path), 0);
    assert_lock_is_refused();
    assert_int_equal(access(target, F_OK), -1);
    unlink(lock_path);

    assert_int_equal(mkfifo(lock_path, 0600), 0);
    assert_lock_is_refused();
    unlink(lock_path);

    assert_int_equal(mkdir(lock_path, 0700), 0);
    assert_lock_is_refused();
    rmdir(lock_path);

    close(open(lock_path, O_CREAT | O_RDWR | O_CLOEXEC, 0600));
    assert_int_equal(chmod(lock_path, 0644), 0);
    assert_lock_is_refused();
    if (geteuid() == 0) {
        assert_int_equal(chmod(lock_path, 0600), 0);
        assert_int_equal(chown(lock_path, 4711, 4711), 0);
        assert_lock_is_refused();
    }
    unlink(lock_path);
}

static void *race(void *context)
{
    struct bound *bound = context;

    bind_path(bound, path, 0600, -1, -1);
    return NULL;
}

/* If several services find a stale socket at once, one service binds the path and keeps it. */
static void test_race_for_a_stale_socket(void **state)
{
    (void)state;
    for (int round = 0; round < 30; round++) {
        struct bound dead, bound[6];
        pthread_t threads[COUNT_OF(bound)];
        int winners = 0;

        assert_int_equal(bind_path(&dead, path, 0600, -1, -1), 0);
        close(dead.fd);
        for (size_t i = 0; i < COUNT_OF(bound); i++)
            assert_int_equal(pthread_create(&threads[i], NULL, race, &bound[i]), 0);
        for (size_t i = 0; i < COUNT_OF(bound); i++)
            pthread_join(threads[i], NULL);
        for (size_t i = 0; i < COUNT_OF(bound); i++)
            winners += bound[i].fd >= 0;
        assert_int_equal(winners, 1);
        assert_int_equal(connects(path), 0);
        for (size_t i = 0; i < COUNT_OF(bound); i++)
            bind_release(&bound[i]);
        assert_int_equal(access(path, F_OK), -1);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_mode),
        cmocka_unit_test(test_live_socket_stays),
        cmocka_unit_test(test_stale_socket_is_replaced),
        cmocka_unit_test(test_stale_socket_of_another_user),
        cmocka_unit_test(test_busy_socket_is_live),
        cmocka_unit_test(test_other_files_stay),
        cmocka_unit_test(test_paths),
        cmocka_unit_test(test_foreign_socket_is_not_removed),
        cmocka_unit_test(test_locked_directory),
        cmocka_unit_test(test_lock_file),
        cmocka_unit_test(test_lock_files_of_others),
        cmocka_unit_test(test_race_for_a_stale_socket),
    };

    return cmocka_run_group_tests(tests, setup, teardown);
}

# SPDX-License-Identifier: BSD-3-Clause
"""Failures that are ignored on purpose. A row has regular expressions of the defect, of the failed call and of a
function on its stack ("": any), and the reason why the failure is ignored.
"""
import re

TABLE = (
    ("ended by signal 6", "pipe2", "init_loop|start",
     "libuv aborts if it cannot make the pipe of its signal handler; mlictl and mlid check before that descriptors are left, "
     "and the kernel has no other reason to refuse a pipe than memory"),
    ("ended by signal 6", "epoll_ctl", "serve|loop_run|main",
     "libuv aborts if it cannot watch a descriptor; uv_poll_init() tries that for each client, which is refused"),
    (r"open at exit: anon_inode:\[eventpoll\]", "pipe2|eventfd", "init_loop",
     "libuv 1.44 does not close its epoll descriptor if a loop cannot be made; mlictl then ends"),
    ("ignores the error of close", "close", "output_finish",
     "output_commit() has closed a duplicate before, which reports lost bytes; or the output is dropped"),
    ("ignores the error of close", "close", "call_close_fds|reaper_.*",
     "the service closes descriptors of clients, who own the files and learn of lost bytes from their own close()"),
    ("ignores the error of close", "close", "state_file_close",
     "a case whose line is lost runs again"),
    ("ignores the error of", "close|fsync|fchmod|flock", "state_file_begin",
     "the first line is then appended to the old file, and a failed sync of that is reported"),
    ("ignores the error of flock", "flock", "lock|open_locked",
     "file systems without locks: the file is used without one"),
    ("ignores the error of", "close|fsync|unlinkat", "kept_.*|clean|replace",
     "the list of kept cases, whose loss leaves a directory behind, and the removal of old ones"),
    ("does not give the reason", ".*", "run_job|conclude|keep|run_cases|work",
     "the verdict of a case and the exit code are right; a part of the description is left out"),
    ("does not give the reason", "calloc", "__GI__dl_allocate_tls",
     "pthread_create() reports EAGAIN if it has no memory"),
    ("success, with a message", "calloc", "find_predecessors",
     "a warning: the check of buffers for races is left out; nothing depends on it"),
    ("ignores the error of close", "close", "table_release",
     "libmli_client closes its duplicate; the caller's own descriptor reports lost bytes, too"),
    ("SIGHUP: neither", "write|send|poll", "log_end",
     "the line of the log is lost, and the driver reads the log"),
    (r"\.sock(\.lock)? is left", "lstat64|unlink", "bind_release|lock_release",
     "the socket or its lock cannot be removed; the next start takes it over"),
    ("ended by signal", "malloc", "nss_database_.*",
     "glibc 2.36 crashes if it has no memory for nsswitch.conf, when mlid looks up users and groups at its start"),
    ("LeakSanitizer", "malloc", "picture_text_style",
     "newlocale() of glibc does not free all after a failed allocation"),
    ("other output", ".*", "picture_text_style",
     "without memory for the locale, pictures have plain characters"),
    ("other output", ".*", "contents_find|contents_same|changed_input|choose",
     "an input that cannot be read counts as changed, and its case runs again"),
    ("ended by signal|Sanitizer", "malloc|calloc|realloc", "redis[A-Z].*",
     "hiredis 0.14 crashes or leaks if it has no memory; the case of the worker then comes back"),
    (r"success, with a message|ignores the error of setsockopt", ".*", "open_context|call_server",
     "a worker says that it connects to the queue again, and does"),
)


def reason(defect, call, stack):
    """Returns the reason why a defect is tolerated, or None."""
    for what, calls, caller, why in TABLE:
        if re.search(what, defect) and re.fullmatch(calls, call) and \
                (not caller or any(re.fullmatch(caller, function) for function, _ in stack)):
            return why
    return None

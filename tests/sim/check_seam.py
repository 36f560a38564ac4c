#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Checks that the simulation knows every function that the simulated libraries call.

usage: tests/sim/check_seam.py CALLS.TXT LIBRARY...

Fails if a static library calls a function that no library defines, that calls.txt does not list, and that is not one
of PURE: functions that have no effects outside of the process's memory, or whose effects do not matter to a simulated
service. Each group in PURE has its reason.
"""
import re
import subprocess
import sys

PURE = {
    "memory, text and numbers":
        """memchr memcmp memcpy memmove memset str[a-z]* (v?sn?printf|__.*_chk) bsearch qsort
        __errno_location __assert_fail __stack_chk_fail __tls_get_addr _GLOBAL_OFFSET_TABLE_
        strto[a-z]* gmtime_r abs __popcountdi2 exp log llround log2 f(max|min|mod) sqrt __ctype_b_loc isatty fputs puts stdout stderr
        (__isoc99_|__isoc23_)?sscanf fp?rintf f?putc fwrite fflush ferror __cpu_model environ getenv
        _ITM_.* __gmon_start__ sysconf inet_pton __u?divti3 __u?modti3 __builtin.*""",
    "arithmetic that the compiler inlines, except without optimisation":
        "__cmsg_nxthdr ceil floor gnu_dev_(major|makedev|minor) [hn]to[hn][ls]",
    "signals: real, and without effect on the events":
        "sig[a-z]* pthread_sigmask raise signal",
    "attributes of threads and one-time calls":
        "pthread_attr_[a-z]* pthread_once pthread_rwlock_[a-z]* pthread_key_[a-z]*",
    "called before a service is simulated, or by mlid's process only":
        """access bind chmod chown fchmod getgrgid getgrnam_r getgrouplist getpwnam_r getpwuid
        getpwuid_r getpwuid getresgid getresuid getrlimit64 lchown listen lstat64 prctl setgid
        setgroups setrlimit64 setuid socket stat64 umask unlink unsetenv flock connect readlink rmdir exit
        _exit abort kill waitpid posix_spawn[a-z_0-9]* fclose fopen64 fread fgets fileno sendto dl_iterate_phdr pread64 pwrite64
        realpath opendir readdir64 closedir fsync rename mkstemp64 getopt_long opt[a-z]* times
        clock_getres""",
    "cJSON, whose allocations the simulation gets as hooks": "cJSON_Delete cJSON_ParseWithLength",
    "memory hints": "madvise msync mincore",
    "semaphores of engines that a simulation does not choose": "sem_[a-z]*",
}
ALLOWED = re.compile("|".join(f"(?:{p})" for text in PURE.values() for p in text.split()))


def symbols(library, *options):
    text = subprocess.run(["nm", *options, library], check=True, text=True,
                          stdout=subprocess.PIPE, stderr=subprocess.DEVNULL).stdout
    return {line.split()[-1] for line in text.splitlines() if line and not line.endswith(":")}


def main():
    if len(sys.argv) < 3:
        print(__doc__.split("usage: ")[1].split("\n")[0], file=sys.stderr)
        return 2
    with open(sys.argv[1], encoding="utf-8") as file:
        simulated = set(file.read().split())
    defined, called = set(), set()
    for library in sys.argv[2:]:
        defined |= symbols(library, "--defined-only")
        called |= symbols(library, "--undefined-only")
    outside = {name for name in called - defined - simulated
               if not name.startswith(("uv_", "__asan_", "__ubsan_", "__sanitizer", "__gcov"))}
    unknown = sorted(name for name in outside if not ALLOWED.fullmatch(name))
    for name in unknown:
        print(f"{name}() is called, but neither simulated (calls.txt) nor listed in check_seam.py")
    print(f"{len(called & simulated)} functions are simulated, {len(outside)} others are called")
    return 1 if unknown or not called & simulated else 0


if __name__ == "__main__":
    sys.exit(main())

/* SPDX-License-Identifier: BSD-3-Clause */
#include "boards/link/board_qemu.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "boards/link/board_image.h"
#include "cli/term/cancel.h"

enum { NOT_FOUND = 127, PATH_TEXT_MAX = 4096 };

/* The UART becomes standard input and output of QEMU. Images use semihosting for their arguments.
 */
static void add_words(struct board_image *image)
{
    static char words[][48] = {"-display",
                               "none",
                               "-monitor",
                               "none",
                               "-chardev",
                               "stdio,id=line,signal=off",
                               "-serial",
                               "chardev:line",
                               "-semihosting-config",
                               "enable=on,target=native,arg=agent"};

    for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
        image->words[image->count++] = words[i];
    image->words[image->count] = NULL;
}

/* In the child: becomes QEMU. In a group of its own it does not get ^C of the terminal. */
static _Noreturn void become_qemu(char **words, int line, int errors, pid_t parent)
{
    sigset_t none;

    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    signal(SIGPIPE, SIG_DFL);
    setpgid(0, 0);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent)
        _exit(NOT_FOUND);
    dup2(line, STDIN_FILENO);
    dup2(line, STDOUT_FILENO);
    dup2(errors, STDERR_FILENO);
    execvp(words[0], words);
    dprintf(STDERR_FILENO, "%s: %s", words[0], strerror(errno));
    _exit(NOT_FOUND);
}

static int check_program(const char *board, const char *program, struct fault *fault)
{
    const char *path = getenv("PATH");
    char name[PATH_TEXT_MAX];

    if (strchr(program, '/'))
        return 0; /* QEMU reports what is wrong with a path */
    for (const char *at = path ? path : "/usr/bin:/bin"; *at;) {
        const size_t length = strcspn(at, ":");

        snprintf(name, sizeof(name), "%.*s/%s", (int)length, at, program);
        if (access(name, X_OK) == 0)
            return 0;
        at += length + (at[length] == ':');
    }
    return fault_set(fault, FAULT_STREAM_ERROR, NULL,
                     "qemu:%.64s: %.64s is not installed; on Debian, qemu-system-arm and "
                     "qemu-system-misc have the programs",
                     board, program);
}

static int start(char **words, pid_t *qemu, int *line, int errors)
{
    const pid_t parent = getpid();
    sigset_t before;
    int ends[2];

    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends))
        return -1;
    cancel_hold(&before); /* a handler in the child would write to the pipe of this process */
    *qemu = fork();
    if (*qemu == 0)
        become_qemu(words, ends[1], errors, parent);
    cancel_admit(&before);
    close(ends[1]);
    *line = ends[0];
    return *qemu < 0 ? -1 : fcntl(*line, F_SETFL, O_NONBLOCK);
}

int board_qemu_start(const char *board, const char *firmware, pid_t *qemu, int *line, int *errors,
                     struct fault *fault)
{
    static const char what[] = "qemu:%.64s: %s";
    struct board_image *image = calloc(1, sizeof(*image));
    int status = -1;

    if (!image)
        return fault_no_memory(fault);
    if (board_image_find(image, board, firmware, fault) ||
        check_program(board, image->words[0], fault))
        goto out;
    add_words(image);
    *errors = memfd_create("qemu", MFD_CLOEXEC);
    if (*errors >= 0)
        status = start(image->words, qemu, line, *errors);
    if (status)
        fault_set(fault, FAULT_INTERNAL, NULL, what, board, strerror(errno));
out:
    free(image);
    return status;
}

void board_qemu_stop(pid_t qemu)
{
    kill(qemu, SIGKILL); /* the board has nothing to save */
    while (waitpid(qemu, NULL, 0) < 0 && errno == EINTR) {
    }
}

const char *board_qemu_errors(int errors, char out[BOARD_QEMU_TEXT_MAX])
{
    const off_t size = lseek(errors, 0, SEEK_END);
    const off_t from = size < BOARD_QEMU_TEXT_MAX ? 0 : size - BOARD_QEMU_TEXT_MAX + 1;
    const ssize_t length = size > 0 ? pread(errors, out, BOARD_QEMU_TEXT_MAX - 1, from) : 0;

    out[length > 0 ? length : 0] = '\0';
    for (size_t end = strlen(out); end > 0 && out[end - 1] == '\n'; end--)
        out[end - 1] = '\0';
    const char *last = strrchr(out, '\n');
    if (last)
        memmove(out, last + 1, strlen(last + 1) + 1);
    return out;
}

/* SPDX-License-Identifier: BSD-3-Clause */
#include "python/client/tied_process.h"

#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { CLOEXEC_RANGE = 4 }; /* CLOSE_RANGE_CLOEXEC */

/* Between fork() and execve() only async-signal-safe functions: other threads hold locks. */
static void run_child(char *const *argv, char *const *environment, int output, pid_t parent)
{
    sigset_t none;
    int input;

    prctl(PR_SET_PDEATHSIG, SIGTERM);
    if (getppid() != parent) /* the parent died before prctl() */
        _exit(127);
    setpgid(0, 0); /* ^C at the terminal is for the parent */
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    signal(SIGPIPE, SIG_DFL); /* Python ignores these signals */
    signal(SIGXFSZ, SIG_DFL);
    input = open("/dev/null", O_RDONLY);
    if (input >= 0 && dup2(input, STDIN_FILENO) >= 0 && dup2(output, STDOUT_FILENO) >= 0 &&
        dup2(output, STDERR_FILENO) >= 0) {
        syscall(SYS_close_range, STDERR_FILENO + 1, ~0U, CLOEXEC_RANGE);
        execve(argv[0], argv, environment);
    }
    _exit(127);
}

char **texts_of(PyObject *list)
{
    const Py_ssize_t count = PyList_Size(list);
    char **texts = calloc((size_t)count + 1, sizeof(*texts));

    if (!texts)
        PyErr_NoMemory();
    for (Py_ssize_t i = 0; texts && i < count; i++) {
        texts[i] = PyBytes_AsString(PyList_GetItem(list, i));
        if (!texts[i]) {
            free(texts);
            return NULL;
        }
    }
    return texts;
}

PyObject *tied_process_start(PyObject *Py_UNUSED(module), PyObject *args)
{
    PyObject *arguments, *variables;
    char **argv, **environment;
    int output;
    pid_t child = -1;

    if (!PyArg_ParseTuple(args, "O!O!i:start_tied", &PyList_Type, &arguments, &PyList_Type,
                          &variables, &output))
        return NULL;
    argv = texts_of(arguments);
    environment = argv ? texts_of(variables) : NULL;
    if (environment) {
        const pid_t parent = getpid();

        child = fork();
        if (child == 0)
            run_child(argv, environment, output, parent);
        if (child < 0)
            PyErr_SetFromErrno(PyExc_OSError);
    }
    free(environment);
    free(argv);
    return child < 0 ? NULL : PyLong_FromLong(child);
}

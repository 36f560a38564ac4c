/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The line to a board: opens a serial device or a socket, or starts QEMU if the address names a
 * board in QEMU; sends and receives bytes.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "boards/link/board_line.h"
#include "cli/file/calls.h"
#include "cli/options.h"
#include "cli/term/cancel.h"
#include "cli/term/clock_ns.h"
#include "mli_mov_api.h"

/*
 * The agent image of a board, and how QEMU starts it. Beside each image agent.elf is a file
 * qemu.args: the words of QEMU's command line, @IMAGE@ for the image. So a new board needs no
 * change of mlictl.
 */

enum { WORDS_MAX = 48, ARGUMENTS_MAX = 24, TEXT_MAX = 8192 }; /* qemu.args has ARGUMENTS_MAX */

struct board_image {
    char text[TEXT_MAX];        /* the words of the command line, one after the other */
    char *words[WORDS_MAX + 1]; /* the command line so far; ends with null */
    size_t count;
};

/* Boards that QEMU emulates: the process, with the UART of the board on a socket. */

enum { BOARD_QEMU_TEXT_MAX = 200 };

enum {
    BAUD = 115200,
    TIMEOUT_MS = 1000,
    QEMU_TIMEOUT_MS = 5000,
    TIMEOUT_MS_MAX = 60 * 1000,
    BAUD_MAX = 4000000
};

static const char qemu_scheme[] = "qemu:", serial_scheme[] = "serial:";

static bool begins(const char *text, const char *with)
{
    return strncmp(text, with, strlen(with)) == 0;
}

static int refuse(struct fault *fault, const char *url, const char *why)
{
    return fault_set(fault, FAULT_INVALID_PARAMS, NULL,
                     "host %.100s: %s; qemu:BOARD or serial:PATH is needed, then any of ,baud=N "
                     ",timeout=TIME ,firmware=PATH ,channels=N ,engine=SPEC",
                     url, why);
}

/* The take_ functions return whether the option has this key and a value of this kind. */

static bool take_number(const char *value, size_t length, uint32_t max, uint32_t *out)
{
    char *end;

    if (length == 0 || *value < '0' || *value > '9')
        return false;
    errno = 0;
    const unsigned long long number = strtoull(value, &end, 10);
    *out = (uint32_t)number;
    return errno == 0 && end == value + length && number > 0 && number <= max;
}

static bool take_text(const char *value, size_t length, char *out, size_t size)
{
    if (length == 0 || length >= size)
        return false;
    memcpy(out, value, length);
    out[length] = '\0';
    return true;
}

static bool take_time(const char *value, size_t length, uint32_t max_ms, uint32_t *out)
{
    char text[16];
    uint64_t ms;

    if (!take_text(value, length, text, sizeof(text)) ||
        !number_read(text, UNIT_MS, 1, max_ms, &ms))
        return false;
    number_remark("timeout=", text, UNIT_MS);
    *out = (uint32_t)ms;
    return true;
}

static bool take_option(struct board_address *address, const char *option, size_t length)
{
    const char *equals = memchr(option, '=', length);
    const size_t key = equals ? (size_t)(equals - option) : 0;
    const size_t left = length - key - 1;

    if (!equals)
        return false;
#define IS(name) (key == sizeof(name) - 1 && memcmp(option, name, key) == 0)
    if (IS("baud") && address->kind == BOARD_SERIAL)
        return take_number(equals + 1, left, BAUD_MAX, &address->baud);
    if (IS("timeout"))
        return take_time(equals + 1, left, TIMEOUT_MS_MAX, &address->timeout_ms);
    if (IS("channels"))
        return take_number(equals + 1, left, MLI_MOV_MAX_CHANNELS, &address->channels);
    if (IS("firmware") && address->kind == BOARD_QEMU)
        return take_text(equals + 1, left, address->firmware, sizeof(address->firmware));
    if (IS("engine"))
        return take_text(equals + 1, left, address->engine, sizeof(address->engine));
#undef IS
    return false;
}

int board_address_parse(struct board_address *address, const char *url, struct fault *fault)
{
    const bool emulated = begins(url, qemu_scheme);
    const char *name = url + strlen(emulated ? qemu_scheme : serial_scheme);
    size_t length = strcspn(name, ",");

    *address = (struct board_address){.kind = emulated ? BOARD_QEMU : BOARD_SERIAL,
                                      .baud = BAUD,
                                      .timeout_ms = emulated ? QEMU_TIMEOUT_MS : TIMEOUT_MS};
    if (!take_text(name, length, address->name, sizeof(address->name)))
        return refuse(fault, url, length ? "the name is too long" : "the name is missing");
    for (const char *at = name + length; *at; at += length) {
        at++; /* the comma */
        length = begins(at, "engine=") ? strlen(at) : strcspn(at, ",");
        if (!take_option(address, at, length))
            return refuse(fault, url, "an option is unknown, or its value is out of range");
    }
    return 0;
}

enum { PATH_TEXT_MAX = 4096 };

static const char hole[] = "@IMAGE@";

/* Joins three parts to a path. Returns whether a readable file has this path. */
static bool exists(char out[PATH_TEXT_MAX], const char *directory, const char *board,
                   const char *name)
{
    const int length = snprintf(out, PATH_TEXT_MAX, "%s%s%s", directory, board, name);

    return length < PATH_TEXT_MAX && access(out, R_OK) == 0;
}

/* Looks for the image in the directory of this program: in an installation, and in a source tree
 * whose build trees are side by side, as build-test/plain and build-test/zynq. */
static bool is_near(char out[PATH_TEXT_MAX], const char *board)
{
    static const char *const places[][2] = {
        {"../lib/mli/firmware/", "/agent.elf"},
        {"../../", "/boards/firmware/agent/agent.elf"},
        {"../../../build-cross/", "/boards/firmware/agent/agent.elf"},
        {"../../../build-test/", "/boards/firmware/agent/agent.elf"},
    };
    char own[PATH_TEXT_MAX / 2], directory[PATH_TEXT_MAX];
    const ssize_t length = readlink("/proc/self/exe", own, sizeof(own) - 1);

    if (length <= 0)
        return false;
    own[length] = '\0';
    *(strrchr(own, '/') + 1) = '\0';
    for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++) {
        snprintf(directory, sizeof(directory), "%s%s", own, places[i][0]);
        if (exists(out, directory, board, places[i][1]))
            return true;
    }
    return false;
}

static bool is_directory(const char *path)
{
    struct stat found;

    return stat(path, &found) == 0 && S_ISDIR(found.st_mode);
}

static int find_given(char out[PATH_TEXT_MAX], const char *board, const char *given,
                      const char *option, struct fault *fault)
{
    char directory[PATH_TEXT_MAX];

    snprintf(directory, sizeof(directory), "%.4000s/", given);
    if (is_directory(given) ? exists(out, directory, board, "/agent.elf")
                            : exists(out, given, "", ""))
        return 0;
    return fault_set(fault, FAULT_INVALID_PARAMS, NULL,
                     "%s %.160s: an image, or a directory with %.64s/agent.elf, is needed", option,
                     given, board);
}

static int find(char out[PATH_TEXT_MAX], const char *board, const char *firmware,
                struct fault *fault)
{
    const char *variable = getenv("MLI_FIRMWARE");

    if (firmware)
        return find_given(out, board, firmware, "firmware", fault);
    if (variable && *variable)
        return find_given(out, board, variable, "MLI_FIRMWARE", fault);
    if (is_near(out, board) || exists(out, MLI_FIRMWARE_DIR "/", board, "/agent.elf"))
        return 0;
    return fault_set(fault, FAULT_INVALID_PARAMS, NULL,
                     "qemu:%.64s: no agent image of this board in %s; build one (docs/boards.md) "
                     "and give -H qemu:%.64s,firmware=PATH or set MLI_FIRMWARE",
                     board, MLI_FIRMWARE_DIR, board);
}

/* Reads qemu.args in the directory of the image; appends it to the text. */
static int read_arguments(struct board_image *image, const char *path, size_t used,
                          struct fault *fault)
{
    char name[PATH_TEXT_MAX];
    const char *slash = strrchr(path, '/');

    snprintf(name, sizeof(name), "%.*sqemu.args", slash ? (int)(slash - path) + 1 : 0, path);
    const int fd = open_path(name, O_RDONLY | O_CLOEXEC);
    const ssize_t size = fd < 0 ? -1 : read_bytes(fd, image->text + used, TEXT_MAX - used - 1, 0);
    const int error = errno;
    close_open(fd);
    if (size > 0) {
        image->text[used + (size_t)size] = '\0';
        return 0;
    }
    return fault_set(fault, FAULT_INVALID_PARAMS, NULL,
                     "%.200s: %s; this file must have the arguments of QEMU for the image", name,
                     size < 0 ? strerror(error) : "the file is empty");
}

/* Adds the words of the text, up to `most` words in all, with the path in place of @IMAGE@. Returns
 * whether there is room for all words. */
static bool split(struct board_image *image, char *text, size_t most)
{
    char *rest;

    for (char *word = strtok_r(text, " \t\r\n", &rest); word;
         word = strtok_r(NULL, " \t\r\n", &rest)) {
        if (image->count == most)
            return false;
        image->words[image->count++] = strcmp(word, hole) == 0 ? image->text : word;
    }
    image->words[image->count] = NULL;
    return true;
}

/*
 * Finds the image: `firmware` if not null, else $MLI_FIRMWARE - an image, or a directory with
 * images as BOARD/agent.elf -, else the installed one, else one in a build tree beside that of
 * mlictl. Returns 0 with the words of its qemu.args, or -1 with the fault. Use *image in place: it
 * has pointers into itself.
 */
static int image_find(struct board_image *image, const char *board, const char *firmware,
                      struct fault *fault)
{
    char path[PATH_TEXT_MAX];

    image->count = 0;
    if (strchr(board, '/') || *board == '.')
        return fault_set(fault, FAULT_INVALID_PARAMS, NULL,
                         "qemu:%.64s: the name of a board is needed, such as qemu:zynq", board);
    if (find(path, board, firmware, fault))
        return -1;
    const size_t used = strlen(path) + 1;
    memcpy(image->text, path, used);
    if (read_arguments(image, path, used, fault))
        return -1;
    if (split(image, image->text + used, ARGUMENTS_MAX))
        return 0;
    return fault_set(fault, FAULT_INVALID_PARAMS, NULL,
                     "qemu.args beside %.160s has more than %d words", path, ARGUMENTS_MAX);
}

enum { NOT_FOUND = 127 };

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
        return 0; /* a wrong path is reported when QEMU starts */
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

/*
 * Starts QEMU with the agent image of a board. *line is the board's UART, *errors a file in memory
 * with what QEMU prints. QEMU ends with the thread that started it. Returns 0, or -1 with the
 * fault; in both cases the caller must stop *qemu and close *line and *errors, if they are set.
 */
static int qemu_start(const char *board, const char *firmware, pid_t *qemu, int *line, int *errors,
                      struct fault *fault)
{
    static const char what[] = "qemu:%.64s: %s";
    /* The UART becomes standard input and output of QEMU. Images use semihosting for their
     * arguments. */
    char own[] = "-display none -monitor none -chardev stdio,id=line,signal=off "
                 "-serial chardev:line -semihosting-config enable=on,target=native,arg=agent";
    struct board_image *image = calloc(1, sizeof(*image));
    int status = -1;

    if (!image)
        return fault_no_memory(fault);
    if (image_find(image, board, firmware, fault) || check_program(board, image->words[0], fault))
        goto out;
    (void)split(image, own, WORDS_MAX);
    *errors = memfd_create("qemu", MFD_CLOEXEC);
    if (*errors >= 0)
        status = start(image->words, qemu, line, *errors);
    if (status)
        fault_set(fault, FAULT_INTERNAL, NULL, what, board, strerror(errno));
out:
    free(image);
    return status;
}

/* Kills QEMU and waits for its exit. */
static void qemu_stop(pid_t qemu)
{
    kill(qemu, SIGKILL); /* the board has nothing to save */
    while (waitpid(qemu, NULL, 0) < 0 && errno == EINTR) {
    }
}

/* Reads the last line that QEMU printed; empty if it printed nothing. Returns `out`. */
static const char *qemu_errors(int errors, char out[BOARD_QEMU_TEXT_MAX])
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

enum { BITS_PER_BYTE = 10, MS_PER_S = 1000 };

/* Serial devices */

static bool speed_of(uint32_t baud, speed_t *speed)
{
    static const struct {
        uint32_t baud;
        speed_t speed;
    } speeds[] = {
        {9600, B9600},       {19200, B19200},     {38400, B38400},     {57600, B57600},
        {115200, B115200},   {230400, B230400},   {460800, B460800},   {500000, B500000},
        {576000, B576000},   {921600, B921600},   {1000000, B1000000}, {1500000, B1500000},
        {2000000, B2000000}, {3000000, B3000000}, {4000000, B4000000},
    };

    for (size_t i = 0; i < sizeof(speeds) / sizeof(speeds[0]); i++) {
        if (speeds[i].baud == baud) {
            *speed = speeds[i].speed;
            return true;
        }
    }
    return false;
}

/* Sets raw mode: 8 bits, no parity, no flow control, and no hang-up on close, which resets some
 * boards. */
static int set_raw(struct board_line *line, struct fault *fault)
{
    const uint32_t baud = line->address.baud;
    struct termios raw;
    speed_t speed;

    if (!speed_of(baud, &speed))
        return fault_set(fault, FAULT_INVALID_PARAMS, NULL,
                         "%s: baud=%" PRIu32 " is not a usual speed; 9600 to 4000000, for example "
                         "115200, is needed",
                         line->where, baud);
    if (tcgetattr(line->fd, &line->before))
        return fault_set(fault, FAULT_STREAM_ERROR, NULL, "%s: %s", line->where, strerror(errno));
    raw = line->before;
    cfmakeraw(&raw);
    raw.c_cflag |= CLOCAL | CREAD;
    raw.c_cflag &= ~(tcflag_t)(HUPCL | CSTOPB | CRTSCTS);
    cfsetispeed(&raw, speed);
    cfsetospeed(&raw, speed);
    if (tcsetattr(line->fd, TCSANOW, &raw))
        return fault_set(fault, FAULT_STREAM_ERROR, NULL, "%s: %s", line->where, strerror(errno));
    line->is_terminal = true;
    tcflush(line->fd, TCIOFLUSH);
    return 0;
}

static int open_terminal(struct board_line *line, struct fault *fault)
{
    const char *path = line->address.name;

    line->fd = open_path(path, O_RDWR | O_NOCTTY | O_NONBLOCK | O_CLOEXEC);
    if (line->fd < 0)
        return fault_set(fault, FAULT_STREAM_ERROR, NULL, "%s: %s%s", line->where, strerror(errno),
                         errno == EACCES ? "; the group of the device (often dialout) may use it"
                                         : "");
    if (!isatty(line->fd))
        return fault_set(fault, FAULT_INVALID_PARAMS, NULL,
                         "%s: neither a serial device nor a socket", line->where);
    if (flock(line->fd, LOCK_EX | LOCK_NB))
        return fault_set(fault, FAULT_STREAM_ERROR, NULL,
                         "%s: another program uses the line; end it first", line->where);
    return set_raw(line, fault);
}

static int open_socket(struct board_line *line, struct fault *fault)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    int error = -1;

    if (strlen(line->address.name) >= sizeof(address.sun_path))
        return fault_set(fault, FAULT_INVALID_PARAMS, NULL, "%s: the path is too long",
                         line->where);
    strcpy(address.sun_path, line->address.name);
    line->fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (line->fd >= 0) {
        do
            error = connect(line->fd, (const struct sockaddr *)&address, sizeof(address));
        while (error && errno == EINTR && !cancel_requested());
    }
    if (error)
        return fault_set(fault, FAULT_STREAM_ERROR, NULL,
                         "%s: %s; no program listens at this socket", line->where, strerror(errno));
    return fcntl(line->fd, F_SETFL, O_NONBLOCK)
               ? fault_set(fault, FAULT_INTERNAL, NULL, "%s: %s", line->where, strerror(errno))
               : 0;
}

static int open_serial(struct board_line *line, struct fault *fault)
{
    struct stat found;

    snprintf(line->where, sizeof(line->where), "serial:%s", line->address.name);
    if (stat(line->address.name, &found))
        return fault_set(fault, FAULT_STREAM_ERROR, NULL,
                         "%s: %s; is the board connected? `ls /dev/tty*` lists serial devices",
                         line->where, strerror(errno));
    if (S_ISSOCK(found.st_mode))
        return open_socket(line, fault);
    snprintf(line->where, sizeof(line->where), "serial:%s (%" PRIu32 " baud)", line->address.name,
             line->address.baud);
    return open_terminal(line, fault);
}

int board_line_open(struct board_line *line, const struct board_address *address,
                    struct fault *fault)
{
    const char *firmware = *address->firmware ? address->firmware : NULL;

    *line = (struct board_line){.address = *address, .fd = -1, .errors = -1};
    if (address->kind == BOARD_SERIAL)
        return open_serial(line, fault);
    snprintf(line->where, sizeof(line->where), "qemu:%s", address->name);
    return qemu_start(address->name, firmware, &line->qemu, &line->fd, &line->errors, fault);
}

void board_line_close(struct board_line *line)
{
    if (line->qemu > 0)
        qemu_stop(line->qemu);
    if (line->fd >= 0 && line->is_terminal)
        (void)tcsetattr(line->fd, TCSANOW, &line->before);
    close_open(line->fd);
    close_open(line->errors);
    line->qemu = 0;
    line->fd = line->errors = -1;
}

/* Bytes */

/* Sets the fault that explains why the line ended. Returns -1. */
static int explain_end(struct board_line *line, int error, struct fault *fault)
{
    char text[BOARD_QEMU_TEXT_MAX];

    if (line->qemu > 0)
        return fault_set(fault, FAULT_STREAM_ERROR, NULL, "%s: QEMU has ended%s%s", line->where,
                         *qemu_errors(line->errors, text) ? ": " : "", text);
    return fault_set(fault, FAULT_STREAM_ERROR, NULL,
                     "%s: the line was cut%s%s; is the board still connected and powered?",
                     line->where, error ? ": " : "", error ? strerror(error) : "");
}

/* Waits for `events`. Returns 1, 0 if the time is over, or -1 with the fault. */
static int wait_for(struct board_line *line, short events, uint64_t until_ns, bool shielded,
                    struct fault *fault)
{
    for (;;) {
        struct pollfd polled[] = {{.fd = line->fd, .events = events},
                                  {.fd = shielded ? -1 : cancel_fd(), .events = POLLIN}};
        const uint64_t now = clock_ns();
        const uint64_t left_ms = until_ns > now ? (until_ns - now) / CLOCK_NS_PER_MS + 1 : 0;
        const int count = poll(polled, 2, left_ms < INT32_MAX ? (int)left_ms : INT32_MAX);

        if (!shielded && cancel_requested())
            return cancel_fault(fault);
        if (count > 0 && polled[0].revents)
            return 1;
        if (count == 0 && clock_ns() >= until_ns)
            return 0;
        if (count < 0 && errno != EINTR)
            return fault_set(fault, FAULT_INTERNAL, NULL, "poll: %s", strerror(errno));
    }
}

int board_line_send(struct board_line *line, const void *bytes, size_t size, uint64_t until_ns,
                    bool shielded, struct fault *fault)
{
    const char *at = bytes;

    while (size > 0) {
        const ssize_t sent =
            line->is_terminal ? write(line->fd, at, size) : send(line->fd, at, size, MSG_NOSIGNAL);

        if (sent > 0) {
            at += sent;
            size -= (size_t)sent;
            continue;
        }
        if (sent < 0 && errno != EAGAIN && errno != EINTR)
            return explain_end(line, errno, fault);
        const int ready = wait_for(line, POLLOUT, until_ns, shielded, fault);
        if (ready <= 0)
            return ready < 0 ? -1 : 1;
    }
    return 0;
}

ssize_t board_line_receive(struct board_line *line, void *bytes, size_t size, uint64_t until_ns,
                           bool shielded, struct fault *fault)
{
    for (;;) {
        const ssize_t got = read(line->fd, bytes, size);

        if (got > 0)
            return got;
        if (got == 0 || (errno != EAGAIN && errno != EINTR))
            return explain_end(line, got < 0 ? errno : 0, fault);
        const int ready = wait_for(line, POLLIN, until_ns, shielded, fault);
        if (ready <= 0)
            return ready;
    }
}

uint32_t board_line_ms(const struct board_line *line, size_t size)
{
    if (!line->is_terminal)
        return 0;
    return (uint32_t)((uint64_t)size * BITS_PER_BYTE * MS_PER_S / line->address.baud + 1);
}

/* SPDX-License-Identifier: BSD-3-Clause */
#include "boards/link/board_image.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/file/calls.h"

enum { PATH_TEXT_MAX = 4096 };

static const char hole[] = "@IMAGE@";

/* Joins three parts to a path. Returns whether a readable file is there. */
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
    const ssize_t size = fd < 0 ? -1 : read(fd, image->text + used, sizeof(image->text) - used - 1);
    const int error = errno;
    if (fd >= 0)
        close(fd);
    if (size > 0) {
        image->text[used + (size_t)size] = '\0';
        return 0;
    }
    return fault_set(fault, FAULT_INVALID_PARAMS, NULL,
                     "%.200s: %s; it has the arguments of QEMU for the image beside it", name,
                     size < 0 ? strerror(error) : "the file is empty");
}

/* Splits the text at white space, and puts the path in place of @IMAGE@. */
static int split(struct board_image *image, char *path, char *text, struct fault *fault)
{
    char *rest;

    for (char *word = strtok_r(text, " \t\r\n", &rest); word;
         word = strtok_r(NULL, " \t\r\n", &rest)) {
        if (image->count == BOARD_IMAGE_WORDS_MAX / 2)
            return fault_set(fault, FAULT_INVALID_PARAMS, NULL,
                             "qemu.args beside %.160s: more than %d words", path,
                             BOARD_IMAGE_WORDS_MAX / 2);
        image->words[image->count++] = strcmp(word, hole) == 0 ? path : word;
    }
    image->words[image->count] = NULL;
    return 0;
}

int board_image_find(struct board_image *image, const char *board, const char *firmware,
                     struct fault *fault)
{
    char path[PATH_TEXT_MAX];

    image->count = 0;
    if (strchr(board, '/') || *board == '.')
        return fault_set(fault, FAULT_INVALID_PARAMS, NULL,
                         "qemu:%.64s: the name of a board is needed, as qemu:zynq", board);
    if (find(path, board, firmware, fault))
        return -1;
    const size_t used = strlen(path) + 1;
    memcpy(image->text, path, used);
    if (read_arguments(image, path, used, fault))
        return -1;
    return split(image, image->text, image->text + used, fault);
}

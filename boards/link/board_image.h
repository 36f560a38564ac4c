/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The agent image of a board, and how QEMU starts it. Beside each image agent.elf is a file
 * qemu.args: the words of QEMU's command line, @IMAGE@ for the image. So a new board needs no
 * change of mlictl.
 */
#ifndef CLI_BOARD_IMAGE_H
#define CLI_BOARD_IMAGE_H

#include "proto/json/fault.h"

enum { BOARD_IMAGE_WORDS_MAX = 48, BOARD_IMAGE_TEXT_MAX = 8192 };

struct board_image {
    char text[BOARD_IMAGE_TEXT_MAX];        /* of the words */
    char *words[BOARD_IMAGE_WORDS_MAX + 1]; /* the command line so far; ends with null */
    size_t count;
};

/**
 * Finds the image: `firmware` if not null, else $MLI_FIRMWARE - an image, or a directory with
 * images as BOARD/agent.elf -, else the installed one, else one in a build tree beside that of
 * mlictl. Returns 0 with the words of its qemu.args, or -1 with the fault. Use *image in place: it
 * has pointers into itself.
 */
int board_image_find(struct board_image *image, const char *board, const char *firmware,
                     struct fault *fault);

#endif /* CLI_BOARD_IMAGE_H */

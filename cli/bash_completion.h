/* SPDX-License-Identifier: BSD-3-Clause */
/* A script for bash that completes command lines, made of the tables that read them. */
#ifndef CLI_BASH_COMPLETION_H
#define CLI_BASH_COMPLETION_H

#include <stdio.h>

/** Writes the script. Nothing but bash 4 is needed to use it. */
void bash_completion_write(FILE *out);

#endif /* CLI_BASH_COMPLETION_H */

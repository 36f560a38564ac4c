/* SPDX-License-Identifier: BSD-3-Clause */
/* Stands for the tests that provoke refusals where libmli is built to abort at the first one. */
#include <stdio.h>

int main(void)
{
    printf("skipped: in this debug mode a refused call aborts\n");
    return 77;
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* A program with nothing but the C library's start-up code in it. */
int main(void)
{
    return 0;
}

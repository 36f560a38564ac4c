#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# programs compiled with libmli-dev, shared and static
set -eux
cd "$(mktemp -d)"
cat >program.c <<'C'
#include <mli_api.h>
#include <mli_client.h>
#include <stdio.h>
#include <string.h>

int main(void)
{
    int8_t in[6] = {1, 2, 3, 4, 5, 6}, out[6] = {0}, expected[6] = {1, 4, 2, 5, 3, 6};
    mli_tensor src = {.rank = 2, .shape = {2, 3}, .el_type = MLI_EL_FX_8};
    mli_tensor dst = {0};
    mli_mov_cfg_t cfg;
    mli_client_error error;
    mli_client *client;

    src.data.mem.pi8 = in;
    src.data.capacity = sizeof in;
    dst.data.mem.pi8 = out;
    dst.data.capacity = sizeof out;
    mli_mov_cfg_for_permute(&cfg, (const uint8_t[4]){1, 0});
    if (mli_mov_tensor_sync(&src, &cfg, &dst) != MLI_STATUS_OK || memcmp(out, expected, sizeof out) != 0) {
        puts(mli_last_error());
        return 1;
    }
    return mli_client_connect("/nonexistent", &client, &error) == 0;
}
C
# shellcheck disable=SC2046 # pkg-config prints words
gcc -o shared program.c $(pkg-config --cflags --libs mli_client)
./shared
ldd shared | grep 'libmli\.so\.0'
# Debian has no static library of cJSON, so only the libraries of mli are linked statically.
# shellcheck disable=SC2046
gcc -o static program.c $(pkg-config --static --cflags --libs mli_client | sed 's/-l\(mli[a-z_]*\)/-l:lib\1.a/g')
! ldd static | grep libmli
./static

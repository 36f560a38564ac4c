#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Runs property_bare under QEMU, on a machine without a board's software.
#
#   qemu_bare.sh PROGRAM ENGINE QEMU [ARGUMENT...]
#
# Each ARGUMENT goes to QEMU, to choose the machine. The script ends with the exit status of the program.
#
#   MLI_TEST_PERCENT   run this percentage of 10 000 random moves and 1 000 permutes (default: 10, as scripts/cross)
set -eu

program=$1 engine=$2
shift 2
moves=$((${MLI_TEST_PERCENT:-10} * 100))
# In an option of QEMU, two commas stand for one comma.
exec "$@" -display none -monitor none -serial none -d guest_errors,unimp \
    -semihosting-config "enable=on,target=native,arg=$(printf %s "$engine" | sed 's/,/,,/g'),arg=$moves" -kernel "$program"

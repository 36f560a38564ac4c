#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Makes a directory in which the examples can run: the job files and the tensors they read.
#
#     examples/make_inputs.sh MLICTL DIRECTORY
set -eu

if [ $# -ne 2 ]; then
    echo "usage: $0 MLICTL DIRECTORY" >&2
    exit 2
fi
mlictl=$1
directory=$2
here=$(dirname "$0")

mkdir -p "$directory"
cp "$here"/*.json "$directory"

gen() {
    name=$1
    shift
    "$mlictl" gen --quiet --force "$directory/$name" "$@"
}

gen features_hwc.npy --shape 8,10,16 --dtype int16 # [h, w, c] holds h*1000 + w*100 + c
gen image_hwc.npy --shape 32,32,3 --dtype uint8 --pattern random --seed 1
gen map_chw.npy --shape 3,9,9 --dtype int16 # [c, h, w] holds c*100 + h*10 + w
gen left_hwc.npy --shape 8,6,4 --dtype int8 --pattern random --seed 2
gen right_hwc.npy --shape 8,5,4 --dtype int8 --pattern random --seed 3
gen both_hwc.npy --shape 8,11,4 --dtype int8 --pattern zeros
gen weights_hwcn.npy --shape 3,3,4,8 --dtype int8 --pattern random --seed 4

#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Fills a directory with the job files of the examples and their source tensors.
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

for folder in basics halo_tiles nhwc_nchw concat space_to_depth double_buffer weights negative; do
    mkdir -p "$directory/$folder"
    cp "$here/$folder"/*.json "$directory/$folder"
done

gen() {
    name=$1
    shift
    "$mlictl" gen --quiet --force "$directory/$name" "$@"
}

# Each element encodes its coordinates: [c, h, w] is c*100 + h*10 + w.
for folder in basics halo_tiles negative; do
    gen $folder/map_chw.npy --shape 3,9,9 --dtype int16
done
gen basics/features_hwc.npy --shape 8,10,16 --dtype int16 # [h, w, c] is h*1000 + w*100 + c
gen basics/image_hwc.npy --shape 32,32,3 --dtype uint8 --pattern random --seed 1
gen nhwc_nchw/images_nhwc.npy --shape 2,224,224,3 --dtype uint8 --pattern random --seed 5
gen concat/left_hwc.npy --shape 8,6,4 --dtype int8 --pattern random --seed 2
gen concat/right_hwc.npy --shape 8,5,4 --dtype int8 --pattern random --seed 3
gen space_to_depth/image_hwc.npy --shape 32,32,3 --dtype uint8 --pattern random --seed 1
gen space_to_depth/blocks_hwc.npy --shape 16,16,12 --dtype uint8 --pattern zeros
gen double_buffer/map_hwc.npy --shape 96,128,4 --dtype int8 --pattern random --seed 6
gen weights/weights_hwcn.npy --shape 3,3,4,8 --dtype int8 --pattern random --seed 4
gen weights/weights_hwcn_16.npy --shape 3,3,4,8 --dtype int16 --pattern random --seed 4

#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Draws the pictures that the READMEs of the examples show, into the folder of each README: FILE.svg for
# the job of FILE.json, or FILE-NAME.svg for the job NAME of a file with several jobs.
#
#     examples/draw_pictures.sh MLICTL
set -eu

if [ $# -ne 1 ]; then
    echo "usage: $0 MLICTL" >&2
    exit 2
fi
mlictl=$(realpath "$1")
here=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d "${TMPDIR:-/tmp}/mli-pictures.XXXXXX")
trap 'rm -rf "$work"' EXIT

sh "$here/make_inputs.sh" "$mlictl" "$work"
cd "$work"
sed -n 's/^!\[.*\](\(.*\)\.svg)$/\1/p' "$here"/*/README.md | while read -r picture; do
    folder=$(dirname "$(grep -l "($picture\.svg)" "$here"/*/README.md)")
    job=$(basename "$folder")/${picture%%-*}.json
    case $picture in
    *-*) "$mlictl" explain --quiet --svg "$folder/$picture.svg" --job "${picture#*-}" "$job" ;;
    *) "$mlictl" explain --quiet --svg "$folder/$picture.svg" "$job" ;;
    esac
done

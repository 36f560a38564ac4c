#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# mlictl, its completion and its profiles
set -eux
cd "$(mktemp -d)"
mlictl gen in.npy --shape 8,16,16 --dtype int16
mlictl mov in.npy out.npy --perm 1,2,0
mlictl mov out.npy back.npy --perm 2,0,1 --expect in.npy
mlictl selftest --iterations 50
mlictl make mov in.npy padded.npy --pad 0,1,1 -o pad.json
mlictl explain pad.json | grep pad
test -s /usr/share/doc/mli/examples/basics/combined.json
mlictl profile check /usr/share/mli/profiles/zynqmp-zdma.json
for shell in bash-completion/completions/mlictl zsh/vendor-completions/_mlictl fish/vendor_completions.d/mlictl.fish; do
    mlictl completion "$(echo $shell | sed 's/[-/].*//')" | cmp - /usr/share/$shell
done

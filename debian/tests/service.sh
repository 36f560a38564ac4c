#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# mlid, started by hand as its user
set -eux
cd "$(mktemp -d)"
chmod 755 .
install -d -o mlid -g mlid run
echo "{}" >mlid.json
setpriv --reuid mlid --regid mlid --init-groups --inh-caps=-all mlid --config mlid.json --socket "$PWD/run/mlid.sock" \
    2>log &
mlid=$!
for _ in $(seq 100); do
    [ ! -S run/mlid.sock ] || break
    sleep 0.1
done
mlictl gen in.npy --shape 8,16,16 --dtype int16
mlictl make mov in.npy out.npy --perm 1,2,0 -o job.json
mlictl submit --socket run/mlid.sock job.json
mlictl mov out.npy back.npy --perm 2,0,1 --expect in.npy
[ "$(ps -o user= -p $mlid 2>/dev/null || stat -c %U /proc/$mlid)" = mlid ]
kill $mlid
wait $mlid

#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Runs job files as test cases in N shards. GNU parallel distributes the shards over the processors
# of this machine or, with its options, over other machines:
#
#     parallel.sh CASES STATES N [--sshloginfile MACHINES ...]
#
# CASES and STATES are directories that all machines see under one absolute path each.
set -u

cases=$1
states=$2
count=$3
shift 3
mkdir -p "$states" || exit
seq "$count" | parallel --quote "$@" mlictl batch "$cases" --shard "{}/$count" --jobs 1 --quiet \
    --resume "$states/{}.jsonl" --keep "$states/failed-{}"
exec mlictl batch merge "$states"/*.jsonl --junit "$states/report.xml"

#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Runs job files as test cases on a Slurm cluster, with one shard for each task of an array.
#
#     sbatch --array=1-8 slurm.sh CASES STATES
#
# CASES and STATES are directories that all nodes see. An interrupted task resumes when Slurm
# requeues it, or when you submit the array again.
#SBATCH --job-name=mlictl-batch
#SBATCH --cpus-per-task=1
#SBATCH --requeue
set -eu

cases=$1
states=$2
mkdir -p "$states"
exec mlictl batch "$cases" --shard auto --jobs "${SLURM_CPUS_PER_TASK:-1}" --quiet \
    --resume "$states/$SLURM_ARRAY_TASK_ID.jsonl" --keep "$states/failed-$SLURM_ARRAY_TASK_ID"

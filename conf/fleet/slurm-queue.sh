#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Runs the cases of a queue on a Slurm cluster. Each task of the array is a worker with its own
# DMA channels (slurm-gres.conf); a task that Slurm ends early gives its case back.
#
#     mlictl batch enqueue --queue URL --root ROOT ROOT/cases
#     sbatch --array=1-8 --gres=channel:2 --export=ALL,CHANNELS=2 slurm-queue.sh URL ROOT
#     mlictl batch collect --queue URL --junit report.xml
#
# ROOT is a directory that all nodes see.
#SBATCH --job-name=mlictl-queue
#SBATCH --cpus-per-task=1
#SBATCH --requeue
set -eu

mlictl batch --queue "$1" --root "$2" --channels "${CHANNELS:-1}" --jobs 1 --quiet --keep none || [ $? -eq 1 ]

#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Reports the results of all tasks of slurm.sh after they have ended, successfully or not:
#
#     array=$(sbatch --parsable --array=1-8 slurm.sh CASES STATES)
#     sbatch --dependency=afterany:"$array" slurm-report.sh STATES
#SBATCH --job-name=mlictl-report
set -eu

exec mlictl batch merge "$1"/*.jsonl --junit "$1/report.xml"

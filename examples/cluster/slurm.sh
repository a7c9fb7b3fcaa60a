#!/bin/sh
# A task of a Slurm array, which is a shard of one run: `sbatch --array=1-8 examples/cluster/slurm.sh benchmark suite.jsonl --folder run`.
# A task that was killed, or whose machine failed, continues its part of the run when it is started again.
#SBATCH --job-name=syrch
#SBATCH --requeue
#SBATCH --open-mode=append
exec syrch-host "$@"

#!/bin/sh
# A comparison in waves: all tasks of a Slurm array end a quarter of the suite before the next begins, and the comparison ends as soon as a merge
# decides it. `examples/cluster/waves.sh 8 single vote5 suite.jsonl --folder run`: 8 shards; the last word is the folder of the run.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
shards=$1
shift
for folder in "$@"; do :; done
SYRCH_SHARDS=$shards
export SYRCH_SHARDS
for wave in 1 2 3 4; do
	failed=0
	sbatch --wait --array="1-$shards" "$here/slurm.sh" compare "$@" --stop-early --wave "$wave/4" || failed=$?
	code=0
	syrch-host report "$folder" || code=$?
	# 5 says that what there is decides nothing yet, or that something is missing.
	test "$code" -eq 5 || exit "$code"
	if test "$failed" -ne 0; then
		echo "wave $wave is not whole: the same command continues it" >&2
		exit "$failed"
	fi
done
exit "$code"

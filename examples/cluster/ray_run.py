"""Runs the shards of one command on a Ray cluster: `python ray_run.py 8 benchmark suite.jsonl --folder run`.

Each shard is a task. One whose process or machine dies is started again by Ray, and continues its part of the run.
"""

import ctypes
import os
import signal
import subprocess
import sys

import ray


class Died(Exception):
    """The program was ended by a signal."""


def die_with_worker():
    """Has the program end with its worker: else it would hold its shard, which is begun again elsewhere."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(1, signal.SIGKILL)  # PR_SET_PDEATHSIG


@ray.remote(num_cpus=1, max_retries=5, retry_exceptions=[Died])
def run(shard, words):
    """Runs the program for one shard, and returns its exit code."""
    environment = {**os.environ, "SYRCH_SHARD": shard}
    done = subprocess.run(["syrch-host", *words], env=environment, stdin=subprocess.DEVNULL, preexec_fn=die_with_worker)
    if done.returncode < 0:
        raise Died(f"shard {shard} was ended by signal {-done.returncode}")
    return done.returncode


if __name__ == "__main__":
    shards, words = int(sys.argv[1]), sys.argv[2:]
    # The cluster that RAY_ADDRESS names, else one of this machine.
    ray.init()
    codes = ray.get([run.remote(f"{index}/{shards}", words) for index in range(1, shards + 1)])
    sys.exit(max(codes))

"""Answers a file of questions on Spark: each partition is piped through one `syrch-host batch`, and leaves one file of answers.

    python3 examples/spark/pipe.py QUESTIONS ANSWERS [--partitions N] [--host PROGRAM] -- FLAGS OF BATCH

QUESTIONS is anything that Spark reads as text, a JSON object a line, each with an `id`: a line's number is its place in its partition. ANSWERS is
a folder that does not exist yet. `spark-submit` runs the same file on a cluster; the program, the databases and the plugins must lie in the same
places on every machine.
"""

import argparse
import os
import shlex
import sys

from pyspark import SparkConf, SparkContext


def environment():
    """What the programs are told. Spark gives piped programs an empty environment, and ships this one with the task: so no keys. A key
    belongs in `~/.syrch/config.yml` on the machines."""
    names = [name for name in os.environ if name in ("HOME", "PATH") or name.startswith("SYRCH_")]
    return {name: os.environ[name] for name in names if not name.endswith("_KEY")}


def main():
    parser = argparse.ArgumentParser(description="Answers a file of questions on Spark.")
    parser.add_argument("questions", help="JSON lines with `id` and `question`")
    parser.add_argument("answers", help="the folder of the answers, which must not exist")
    parser.add_argument("--partitions", type=int, default=8, help="programs in all; Spark runs as many at once as it has cores")
    parser.add_argument("--host", default="syrch-host", help="the program, as each machine finds it")
    words = sys.argv[1:]
    at = words.index("--") if "--" in words else len(words)
    arguments, flags = parser.parse_args(words[:at]), words[at + 1 :]
    command = shlex.join([arguments.host, "batch", "--quiet", *flags])
    # Unless spark-submit says where, on all cores of this machine.
    conf = SparkConf().setAppName("syrch-host batch").setIfMissing("spark.master", "local[*]")
    spark = SparkContext(conf=conf)
    try:
        questions = spark.textFile(arguments.questions).repartition(arguments.partitions)
        # A program that ends with another code than 0 fails its partition, which Spark tries again.
        questions.pipe(command, env=environment(), checkCode=True).saveAsTextFile(arguments.answers)
    finally:
        spark.stop()


if __name__ == "__main__":
    main()

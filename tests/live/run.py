"""Asks 30 easy questions of a small live model under each built-in strategy, and prints a table of what the calls came to. Bounded in time.

    python run.py --host target/debug/syrch-host --database examples/shop.sqlite [--strategies single,vote5] [--questions N] [-- FLAGS]

It starts the server of this folder, writes what the model was asked and said to target/live/runs, and measures plumbing: whether calls are answered in
shape, and what they cost. A model of 135 million parameters is seldom right.
"""

import argparse
import json
import os
import shutil
import subprocess
import sys
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
# The rule by which answers are right.
RULE = "bag-v1"
COLUMNS = ("strategy", "asked", "right", "answered", "calls", "for SQL", "without", "wasted", "tokens in", "out", "s a question")


def suite(folder, most):
    """The easy questions of the example and of this folder, as one suite."""
    files = (ROOT / "examples/questions.jsonl", HERE / "questions.jsonl")
    questions = [json.loads(line) for file in files for line in file.read_text().splitlines()]
    easy = [one for one in questions if one["difficulty"] == "easy"]
    # From both files, so that fewer questions are a mixture as well.
    step = max(1, len(easy) // most)
    path = folder / "questions.jsonl"
    path.write_text("".join(json.dumps(one) + "\n" for one in easy[::step][:most]))
    return path


def serve(options, folder):
    """Starts the server; its process and its address."""
    command = [options.live / "venv/bin/python", HERE / "server.py", "--lib", options.live, "--name", options.model]
    command += ["--model", options.live / f"{options.model}.gguf", "--ctx", str(options.ctx), "--log", folder / "server.jsonl"]
    environment = {**os.environ, "LD_PRELOAD": str(options.live / "libterminate.so")}
    server = subprocess.Popen(list(map(str, command)), stdout=subprocess.PIPE, text=True, env=environment)
    address = server.stdout.readline().strip()
    if not address:
        sys.exit("run.py: the server does not start; `sh tests/live/install.sh` installs what it needs")
    return server, address


def ask(options, strategy, address, questions, folder):
    """Asks the questions under a strategy; a row of the table."""
    place = folder / strategy
    shutil.rmtree(place, ignore_errors=True)
    place.mkdir()
    command = [options.host, "benchmark", questions, "--db", options.database, "--strategy", strategy, "--model", options.model]
    command += ["--llm", f"record:{place / 'calls.jsonl'}", "--base-url", address, "--total-time", options.seconds, "--deadline", options.deadline]
    command += ["--workers", 1, "--max-concurrency", 1, "--timeout", 300, "--max-tokens", options.max_tokens, "--no-cache", "--format", "json", *options.flags]
    environment = {name: value for name, value in os.environ.items() if not name.startswith("SYRCH_")}
    began = time.monotonic()
    with open(place / "report.json", "w") as out, open(place / "messages", "w") as messages:
        code = subprocess.call(list(map(str, command)), stdout=out, stderr=messages, env={**environment, "SYRCH_STATE_DIR": str(place)})
    seconds = time.monotonic() - began
    results = next(place.glob("suites/*/results.jsonl"), None)
    if results is None:
        sys.exit(f"run.py: `{strategy}` ended with exit code {code}: {(place / 'messages').read_text()[-2000:]}")
    return row(strategy, graded(results), calls(place / "calls.jsonl"), seconds)


def graded(path):
    """The graded answers of a run."""
    lines = [json.loads(line) for line in path.read_text().splitlines()]
    return [line["graded"] for line in lines if "graded" in line]


def calls(path):
    """What the model was asked, and what came of it."""
    lines = [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []
    return [line for line in lines if "request" in line]


def row(strategy, graded, calls, seconds):
    """A row of the table from the answers and the calls of a strategy."""
    for_sql = [call for call in calls if call["request"]["purpose"] in ("generate", "repair")]
    failed = [call for call in calls if "Err" in call["result"]]
    shapeless = [call for call in for_sql if "Err" in call["result"] and is_shapeless(call["result"]["Err"])]
    used = [call.get("usage") or {} for call in calls]
    right = [one for one in graded if one["verdicts"].get(RULE, {}).get("verdict") == "right"]
    return {
        "strategy": f"`{strategy}`",
        "asked": len(graded),
        "right": len(right),
        "answered": sum(one["end"] == "answered" for one in graded),
        "calls": len(calls),
        "for SQL": len(for_sql),
        "without": len(shapeless),
        "wasted": len(failed),
        "tokens in": sum(one.get("input_tokens", 0) for one in used),
        "out": sum(one.get("output_tokens", 0) for one in used),
        "s a question": round(seconds / max(1, len(graded)), 1),
    }


def is_shapeless(error):
    """Whether a reply came and held no statement."""
    return isinstance(error, dict) and ("malformed" in error or "cut" in error)


def table(rows):
    """The rows as a table in Markdown, with a sum."""
    total = {name: sum(one[name] for one in rows) for name in COLUMNS[1:-1]}
    of = max(1, total["for SQL"])
    lines = ["| " + " | ".join(COLUMNS) + " |", "|---|" + "---:|" * (len(COLUMNS) - 1)]
    lines += ["| " + " | ".join(str(one[name]) for name in COLUMNS) + " |" for one in rows]
    lines += ["| all | " + " | ".join(str(total[name]) for name in COLUMNS[1:-1]) + " | |", ""]
    lines += [f"{total['without']} of {total['for SQL']} calls for a statement held none ({100 * total['without'] / of:.0f} %)."]
    return "\n".join(lines)


def main():
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--host", type=Path, default=ROOT / "target/debug/syrch-host")
    options.add_argument("--database", type=Path, default=ROOT / "examples/shop.sqlite")
    options.add_argument("--live", type=Path, default=Path(os.environ.get("SYRCH_TEST_LIVE", ROOT / "target/live")))
    options.add_argument("--model", default="smollm2", help="smollm2 or gemma3; with --address, any name")
    options.add_argument("--address", help="the base URL of a server that runs already")
    options.add_argument("--strategies", default="", help="names with commas or blanks between them [default: all built-in ones]")
    options.add_argument("--questions", type=int, default=30, help="of each strategy at most")
    options.add_argument("--seconds", type=int, default=240, help="for each strategy: questions that are not asked by then are left out")
    options.add_argument("--deadline", type=int, default=120, help="seconds for one question")
    options.add_argument("--max-tokens", type=int, default=256, help="of a reply")
    options.add_argument("--ctx", type=int, default=4096, help="tokens of the server's context")
    options.add_argument("flags", nargs="*", help="further flags of `syrch-host benchmark`, behind `--`")
    options = options.parse_args()
    options.live, options.host = options.live.resolve(), options.host.resolve()
    names = options.strategies.replace(",", " ").split()
    names = names or sorted(path.stem for path in (ROOT / "plugins/strategies").glob("*.yml"))
    folder = options.live / "runs"
    folder.mkdir(parents=True, exist_ok=True)
    questions = suite(folder, options.questions)
    server, address = (None, options.address) if options.address else serve(options, folder)
    rows = []
    try:
        for name in names:
            rows.append(ask(options, name, address, questions, folder))
            print(json.dumps(rows[-1]), file=sys.stderr, flush=True)
    finally:
        if server:
            server.terminate()
            server.wait()
    print(table(rows))


if __name__ == "__main__":
    main()

"""Every case of the table that all SDKs share: the same inputs give the same bytes as those of the Rust SDK."""

from __future__ import annotations

import json
import struct
import unittest
from pathlib import Path
from typing import Any, Callable

from syrch_plugin import attempt, brief, draws, names, prompt, replies, text
from syrch_plugin import types as t
from syrch_plugin.ask import Ask
from syrch_plugin.errors import Failure, ModelError, PortError, SqlError
from syrch_plugin.fakes import FakeHost
from syrch_plugin.settings import Mistake, Settings, setting

from .as_json import read, write

TABLE = Path(__file__).parents[2] / "vectors" / "prompts.json"


class Sample(Settings):
    share: float = setting(0.5, "A share.", least=0.0, most=1.0)
    count: int = setting(3, "A count, described in two lines.", least=1, most=9)
    switch: bool = setting(True, "A switch.")
    word: str = setting("x", "A word.")


def word_of(value: Any) -> str:
    return value["other"] if isinstance(value, dict) else str(value)


def model_error(value: Any) -> ModelError:
    return ModelError(value) if isinstance(value, str) else ModelError(*next(iter(value.items())))


def port_error(value: Any) -> PortError:
    return PortError(value) if isinstance(value, str) else PortError(*next(iter(value.items())))


def sql_error(value: dict[str, Any]) -> SqlError:
    return SqlError(value["kind"], value["message"], value.get("position"), value.get("suggestions"))


def reply(parsed: Any) -> t.Reply:
    return t.Reply("", parsed)


def brief_of(given: dict[str, Any]) -> brief.Brief:
    host = FakeHost()
    host.database.granted_rows = given.get("granted_rows")
    size = brief.PromptSize(given["catalog_bytes"], given["parent_rows"])
    made = brief.Brief(
        host,
        size,
        read(t.Problem, given["problem"]),
        read(t.Catalog, given["catalog"]),
        read(t.Task, given["task"]),
        read(list[t.Parent], given["parents"]),
    )
    for _ in range(given.get("shortened", 0)):
        made.shorten()
    return made


def tried(given: dict[str, Any]) -> list[brief.Tried]:
    return [brief.Tried(**one) for one in given["tried"]]


PURPOSES = "link plan generate repair judge select calibrate clarify summarise rewrite".split()


def request(made: t.Request) -> Any:
    out = write(made)
    if made.purpose not in PURPOSES:
        out["purpose"] = {"other": made.purpose}
    if out["temperature"] is not None:
        out["temperature"] = struct.unpack("f", struct.pack("f", out["temperature"]))[0]
    return out


def ask(given: dict[str, Any]) -> Any:
    made = Ask(word_of(given["purpose"]))
    for message in given["messages"]:
        made = made.system(message["text"]) if message["speaker"] == "system" else made.user(message["text"])
    for key in ("subjects", "model", "temperature", "max_tokens", "sample"):
        if given.get(key) is not None:
            made = getattr(made, key)(given[key])
    expect = given["expect"]
    if expect in ("plan", "verdict"):
        return request(made.json(replies.plan_schema() if expect == "plan" else replies.verdict_schema()))
    if isinstance(expect, dict):
        return request(made.choice(expect["choice"]))
    return request(getattr(made, expect)())


def failed(given: dict[str, Any]) -> Any:
    signals = t.Signals()
    try:
        return {"words": attempt.failed(sql_error(given["error"]), signals), "signals": write(signals)}
    except Failure as failure:
        return {"failure": write(failure)}


def doubts(given: dict[str, Any]) -> Any:
    signals = t.Signals()
    found = attempt.doubts(given["overflow_rows"], read(t.Profile, given["profile"]), signals)
    return {"doubts": found, "signals": write(signals)}


def settings(given: dict[str, Any]) -> Any:
    try:
        return {"settings": vars(Sample.read(given["config"]))}
    except Mistake as mistake:
        return {"error": str(mistake)}


def cell(given: dict[str, Any]) -> str:
    value = dict(given["value"])
    if isinstance(value.get("value"), str) and value["type"] in ("integer", "real"):
        value["value"] = int(value["value"]) if value["type"] == "integer" else float(value["value"])
    return prompt.cell(read(t.Page, {"columns": ["c"], "rows": [[value]]}).rows[0][0])


def candidate(made: t.Candidate) -> dict[str, Any]:
    """A candidate with its further numbers apart from its signals."""
    signals = {**write(made.signals), "extra": []}
    return {
        "id": made.id, "parents": made.parents, "origin": made.origin, "sql": made.sql, "raw_confidence": made.raw_confidence,
        "signals": signals, "numbers": write(made.signals.extra),
    }  # fmt: skip


def chain(given: dict[str, Any]) -> Any:
    made = attempt.Chain(given["max_attempts"])
    candidates = []
    for step in given["steps"]:
        kind, of = next(iter(step.items()))
        if kind == "fail":
            made.fail(of["sql"], of["wrong"])
        elif kind == "no_statement":
            made.fail_without_statement(of)
        else:
            origin = of.get("origin", made.origin)
            candidates.append(made.candidate(of["id"], origin, attempt.Statement(**of["statement"]), read(t.Signals, of["signals"])))
    return {
        "candidates": [candidate(one) for one in candidates], "tried": write(made.tried), "origin": made.origin,
        "statements": made.statements, "signals": write(made.signals),
    }  # fmt: skip


FUNCTIONS: dict[str, Callable[[dict[str, Any]], Any]] = {
    "text.line": lambda g: text.line(g["text"], g["limit"]),
    "text.clip": lambda g: text.clip(g["text"], g["bytes"]),
    "text.count": lambda g: text.count(g["number"], g["noun"]),
    "text.clamp01": lambda g: text.clamp01(float(g["value"])),
    "names.quote": lambda g: names.quote(read(t.Syntax, g["syntax"]), g["name"]),
    "names.quote_if_odd": lambda g: names.quote_if_odd(read(t.Syntax, g["syntax"]), g["name"]),
    "names.shown": lambda g: names.shown(read(t.Syntax, g["syntax"]), g["name"]),
    "names.from_name": lambda g: names.from_name(read(t.Syntax, g["syntax"]), read(t.Table, g["table"])),
    "names.literal": lambda g: names.literal(read(t.Syntax, g["syntax"]), g["text"]),
    "catalog.table_names": lambda g: read(t.Catalog, g["catalog"]).table_names(),
    "catalog.place": lambda g: read(t.Catalog, g["catalog"]).place(g["name"]),
    "prompt.catalog": lambda g: prompt.catalog(read(t.Catalog, g["catalog"]), g["bytes"]),
    "prompt.problem": lambda g: prompt.problem(read(t.Problem, g["problem"])),
    "prompt.cell": cell,
    "prompt.rows": lambda g: prompt.rows(read(t.Page, g["page"])),
    "brief.request": lambda g: request(brief_of(g).request(tried(g), g["sample"])),
    "brief.setting": lambda g: brief_of(g).setting(),
    "brief.feedback": lambda g: brief.feedback(tried(g)),
    "brief.instructions": lambda g: brief_of(g).instructions(),
    "draws.request": lambda g: request(draws.request(brief_of(g), tried(g), g["number"], g["temperature"])),
    "draws.groups": lambda g: draws.groups(g["keys"]),
    "ask": ask,
    "replies.plan_schema": lambda g: text.json_text(replies.plan_schema()),
    "replies.verdict_schema": lambda g: text.json_text(replies.verdict_schema()),
    "replies.sql_reply": lambda g: write(replies.sql_reply(reply(g["parsed"]))),
    "replies.verdict_reply": lambda g: write(replies.verdict_reply(reply(g["parsed"]))),
    "replies.plan_reply": lambda g: write(replies.plan_reply(reply(g["parsed"]))),
    "replies.join_context": lambda g: replies.join_context([replies.JoinKey(**key) for key in g["keys"]]),
    "replies.plan_context": lambda g: replies.plan_context(g["steps"]),
    "replies.join_keys_of": lambda g: write(replies.join_keys_of(read(t.Task, g["task"]))),
    "replies.plan_of": lambda g: replies.plan_of(read(t.Task, g["task"])),
    "attempt.words": lambda g: sql_error(g["error"]).words(),
    "attempt.failed": failed,
    "attempt.doubts": doubts,
    "attempt.candidate_id": lambda g: attempt.candidate_id(g["task"], g["number"]),
    "attempt.chain": chain,
    "failure.llm": lambda g: write(model_error(g["error"]).failure()),
    "failure.sql": lambda g: write(sql_error(g["error"]).failure()),
    "failure.port": lambda g: write(port_error(g["error"]).failure()),
    "random.fnv1a": lambda g: str(text.fnv1a(g["text"].encode())),
    "settings.schema": lambda g: Sample.schema(),
    "settings.read": settings,
}


@unittest.skipUnless(TABLE.exists(), "the table is in the repository of syrch-host")
class Vectors(unittest.TestCase):
    maxDiff = None

    def test_every_case_has_its_output(self) -> None:
        for case in json.loads(TABLE.read_text(encoding="utf-8"))["cases"]:
            with self.subTest(f"{case['function']}: {case['name']}"):
                found = FUNCTIONS[case["function"]](case["input"])
                if isinstance(case["output"], dict) and "error" in case["output"] and isinstance(found, dict) and "error" in found:
                    continue  # The words of an error are each SDK's own.
                self.assertEqual(found, case["output"])

"""The canonical replies: one schema for each purpose that the providers without a model know too, and its reader.

A schema's `title` is the mark by which those providers know it; a request with another schema is `unsupported` to them.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Optional

from .text import clamp01, json_text, json_value, trim
from .types import Accepted, Rejected, Reply, Task, Unavailable, Verdict

_TEXT = {"type": "string"}


def plan_schema() -> dict[str, Any]:
    """The reply to `plan`: subtasks with their dependencies, and how their results join."""
    key = {
        "type": "object",
        "properties": {
            "left": _TEXT,
            "left_col": _TEXT,
            "right": _TEXT,
            "right_col": _TEXT,
            "how": {"type": "string", "enum": ["inner", "left", "right", "outer"]},
        },
        "required": ["left", "left_col", "right", "right_col"],
    }
    subtask = {
        "type": "object",
        "properties": {
            "id": _TEXT,
            "description": _TEXT,
            "depends_on": {"type": "array", "items": _TEXT},
            "is_atomic": {"type": "boolean"},
            "expected_output": _TEXT,
            "join_keys": {"type": "array", "items": key},
        },
        "required": ["id", "description"],
    }
    subtasks = {"type": "array", "minItems": 1, "items": subtask}
    return _schema("syrch-plan", {"subtasks": subtasks}, ["subtasks"])


def verdict_schema() -> dict[str, Any]:
    """The reply to `judge`: whether a statement answers its task, how well, and why."""
    score = {"type": "number", "minimum": 0, "maximum": 1}
    return _schema("syrch-verdict", {"accepted": {"type": "boolean"}, "score": score, "reason": _TEXT}, ["accepted", "score"])


def _schema(title: str, properties: dict[str, Any], required: list[str]) -> dict[str, Any]:
    draft = "https://json-schema.org/draft/2020-12/schema"
    return {"$schema": draft, "title": title, "type": "object", "properties": properties, "required": required}


@dataclass
class JoinKey:
    """A pair of columns by which the results of two tasks join. `how` is `inner`, `left`, `right` or `outer`."""

    left: str
    left_col: str
    right: str
    right_col: str
    how: str = "inner"

    def __post_init__(self) -> None:
        self.how = join_kind(self.how)


@dataclass
class Subtask:
    """One subtask of a plan, as the model wrote it."""

    id: str
    description: str
    depends_on: list[str] = field(default_factory=list)
    is_atomic: bool = True
    expected_output: Optional[str] = None
    join_keys: list[JoinKey] = field(default_factory=list)


@dataclass
class SqlReply:
    """The reply to `generate` and `repair`: a statement, and the confidence of 0 to 1 that the model stated."""

    sql: str
    confidence: Optional[float] = None


def _text(value: Any, key: str) -> str:
    text = value.get(key) if isinstance(value, dict) else None
    return trim(text) if isinstance(text, str) else ""


def _list(value: Any, key: str) -> list[Any]:
    items = value.get(key) if isinstance(value, dict) else None
    return items if isinstance(items, list) else []


def join_kind(name: str) -> str:
    """The kind of join of that name; `inner` for a name that is none."""
    word = trim(name).lower()
    return {"left": "left", "right": "right", "outer": "outer", "full": "outer", "full outer": "outer"}.get(word, "inner")


def _join_keys(value: Any) -> list[JoinKey]:
    keys = [[_text(key, part) for part in ("left", "left_col", "right", "right_col", "how")] for key in _list(value, "join_keys")]
    return [JoinKey(*key) for key in keys if all(key[:4])]


def join_context(keys: list[JoinKey]) -> Optional[str]:
    """A task's context that carries join keys; none when there are none."""
    return json_text({"join_keys": [vars(key) for key in keys]}) if keys else None


def join_keys_of(task: Task) -> list[JoinKey]:
    """The join keys in a task's context; none in a context of another kind."""
    return _join_keys(json_value(task.context))


def plan_context(steps: list[str]) -> Optional[str]:
    """A task's context that carries the steps of a plan for its statement; none when there are none."""
    return json_text({"plan": steps}) if steps else None


def plan_of(task: Task) -> list[str]:
    """The steps of the plan in a task's context; none in a context of another kind."""
    return [step for step in _list(json_value(task.context), "plan") if isinstance(step, str)]


def plan_reply(reply: Reply) -> Optional[list[Subtask]]:
    """Reads the reply to `plan`. Forgives what models get wrong without harm (null lists, a missing flag, a dependency named twice); none
    when there is no subtask with an id and a description."""
    subtasks = [_subtask(value) for value in _list(json_value(reply.parsed), "subtasks")]
    return [subtask for subtask in subtasks if subtask.id and subtask.description] or None


def _subtask(value: Any) -> Subtask:
    names = [trim(name) for name in _list(value, "depends_on") if isinstance(name, str)]
    is_atomic = value.get("is_atomic") if isinstance(value, dict) else None
    return Subtask(
        id=_text(value, "id"),
        description=_text(value, "description"),
        depends_on=list(dict.fromkeys(name for name in names if name)),
        is_atomic=is_atomic if isinstance(is_atomic, bool) else True,
        expected_output=_text(value, "expected_output") or None,
        join_keys=_join_keys(value),
    )


def _number(value: Any, key: str) -> Optional[float]:
    number = value.get(key)
    return clamp01(float(number)) if isinstance(number, (int, float)) and not isinstance(number, bool) else None


def sql_reply(reply: Reply) -> Optional[SqlReply]:
    """Reads the reply to `generate` or `repair`; none when it holds no statement."""
    parsed = json_value(reply.parsed)
    sql = _text(parsed, "sql")
    return SqlReply(sql, _number(parsed, "confidence")) if sql else None


def verdict_reply(reply: Reply) -> Verdict:
    """Reads the reply to `judge`; `Unavailable` when it says neither yes nor no."""
    parsed = json_value(reply.parsed)
    accepted = parsed.get("accepted") if isinstance(parsed, dict) else None
    if not isinstance(accepted, bool):
        return Unavailable("the judge said neither yes nor no")
    score = _number(parsed, "score")
    reason = parsed.get("reason")
    verdict = Accepted if accepted else Rejected
    return verdict(float(accepted) if score is None else score, reason if isinstance(reason, str) else "")

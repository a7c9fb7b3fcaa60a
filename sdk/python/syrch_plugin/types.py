"""The values of the contract as dataclasses, with defaults for what a plugin rarely fills in.

Words stand for cases without a value (`"solve"`, `"all-of"`, `"sqlite"`), classes for cases with one. The host checks every value that a
plugin returns, and the SDK checks its Python type before, so that a mistake becomes a message and not a trap.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Annotated, Any, Literal, Optional, Protocol, Union, runtime_checkable

from .errors import Failure

U32 = Annotated[int, "u32"]
U64 = Annotated[int, "u64"]
F32 = Annotated[float, "f32"]
#: A JSON document as text; see `json_text` and `json_value`.
Json = str
#: Further fields by name.
Extras = list[tuple[str, Json]]

#: Open sets of words: a word that is not listed is passed on as the case `other`.
Dialect = Annotated[str, "types.Dialect"]
Corpus = Annotated[str, "types.Corpus"]
Retriever = Annotated[str, "types.Retriever"]
Purpose = Annotated[str, "llm.Purpose"]
Equality = Annotated[str, "sql.Equality"]
Match = Annotated[str, "cells.Match"]
#: Closed sets of words.
Speaker = Annotated[Literal["system", "user", "assistant"], "llm.Speaker"]
TimeLeft = Annotated[Literal["plenty", "little", "over"], "run.TimeLeft"]
Level = Annotated[Literal["debug", "info", "warn"], "trace.Level"]


@dataclass
class Column:
    """A column; its name is spelled as in the catalog, and `sql_type` is empty where none is declared."""

    name: str
    sql_type: str = ""
    nullable: bool = False
    comment: Optional[str] = None
    extra: Extras = field(default_factory=list)


@dataclass
class ForeignKey:
    """Columns that refer to the columns of another table."""

    columns: list[str]
    ref_table: str
    ref_columns: list[str] = field(default_factory=list)


@dataclass
class Index:
    """An index of a table."""

    name: str
    columns: list[str] = field(default_factory=list)
    is_unique: bool = False
    method: Optional[str] = None
    predicate: Optional[str] = None


@dataclass
class Table:
    """A table or a view that the user granted."""

    name: str
    columns: list[Column] = field(default_factory=list)
    schema_name: Optional[str] = None
    primary_key: list[str] = field(default_factory=list)
    foreign_keys: list[ForeignKey] = field(default_factory=list)
    indexes: list[Index] = field(default_factory=list)
    row_estimate: Optional[U64] = None
    comment: Optional[str] = None
    extra: Extras = field(default_factory=list)

    @property
    def is_view(self) -> bool:
        """Whether it is a view."""
        return ("kind", '"view"') in self.extra

    @property
    def needs_schema(self) -> bool:
        """Whether the plain name of this table means another one, or none, so that its schema has to stand before it."""
        return ("needs_schema", "true") in self.extra

    def _shown(self, is_only: bool) -> str:
        if self.schema_name is not None and (not is_only or self.needs_schema):
            return f"{self.schema_name}.{self.name}"
        return self.name

    def _rank(self, name: str) -> Optional[int]:
        """How well a name fits this table, 0 being best; none if it is the name of another."""
        if self.schema_name is not None:
            full = f"{self.schema_name}.{self.name}"
            if name == full:
                return 0
            if _fold(name) == _fold(full):
                return 1
        if _fold(name) != _fold(self.name):
            return None
        return 2 + 2 * self.needs_schema + (name != self.name)


def _fold(name: str) -> str:
    """The name with its ASCII letters in lower case: databases fold no others."""
    return name.lower() if name.isascii() else "".join(c.lower() if c.isascii() else c for c in name)


@dataclass
class Catalog:
    """The tables that a role may see. `database` is the host's name for the database, never an address."""

    database: str = ""
    dialect: Dialect = "sqlite"
    tables: list[Table] = field(default_factory=list)

    def table(self, name: str) -> Optional[Table]:
        """The table that a name means, as hits, facts, foreign keys and models write it: with its schema before it or without."""
        place = self.place(name)
        return None if place is None else self.tables[place]

    def place(self, name: str) -> Optional[int]:
        """The place in `tables` of the table that a name means."""
        ranked = [(rank, place) for place, table in enumerate(self.tables) if (rank := table._rank(name)) is not None]
        return min(ranked)[1] if ranked else None

    def table_name(self, table: Table) -> str:
        """The name by which the host shows and finds a table: for what goes back to the host, such as a linker's selection."""
        is_only = sum(_fold(other.name) == _fold(table.name) for other in self.tables) < 2
        return table._shown(is_only)

    def table_names(self) -> list[str]:
        """The `table_name` of each table, in order."""
        count: dict[str, int] = {}
        for table in self.tables:
            count[_fold(table.name)] = count.get(_fold(table.name), 0) + 1
        return [table._shown(count[_fold(table.name)] < 2) for table in self.tables]


@dataclass
class Hit:
    """One result of retrieval; `score` is 0 to 1. For the corpus `cells` the snippet is the text of a cell."""

    corpus: Corpus = "tables"
    id: str = ""
    path: str = ""
    table: Optional[str] = None
    column: Optional[str] = None
    snippet: Optional[str] = None
    payload: Optional[Json] = None
    score: float = 0.0


@dataclass
class Problem:
    """What the user wants to know; `answers` are the clarifications so far, as (question, answer)."""

    question: str = ""
    evidence: Optional[str] = None
    goal: Optional[str] = None
    answers: list[tuple[str, str]] = field(default_factory=list)
    hints: list[Hit] = field(default_factory=list)
    extra: Extras = field(default_factory=list)


@dataclass
class ColumnProfile:
    """A column of a result, and how many of its values are NULL."""

    column: Column
    nulls: U64 = 0
    distinct: Optional[U64] = None


@dataclass
class Profile:
    """The shape of a result. `truncated`: a limit cut it."""

    rows: U64 = 0
    truncated: bool = False
    columns: list[ColumnProfile] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)


class Decimal(str):
    """A decimal number of a cell, as its exact text."""


class Temporal(str):
    """A date or a time of a cell, as text."""


class OtherValue(str):
    """A cell of another type, as text."""


#: A cell: NULL is `None`.
Value = Union[None, bool, int, float, str, bytes, Decimal, Temporal, OtherValue]


@dataclass
class Signals:
    """What happened before a candidate was found: counts over the attempts at its task, up to and including its own."""

    attempts: U32 = 0
    max_attempts: U32 = 0
    syntax_errors: U32 = 0
    schema_errors: U32 = 0
    execution_errors: U32 = 0
    empty_result: bool = False
    null_columns: U32 = 0
    overflow: bool = False
    samples: U32 = 0
    agreeing: U32 = 0
    logprob: Optional[float] = None
    reward: Optional[float] = None
    extra: list[tuple[str, float]] = field(default_factory=list)


@dataclass
class Candidate:
    """One statement that may solve a task. The host overwrites `confidence` with the calibrator's value."""

    id: str
    sql: str
    origin: str = ""
    parents: list[str] = field(default_factory=list)
    raw_confidence: Optional[float] = None
    confidence: Optional[float] = None
    score: Optional[float] = None
    rationale: Optional[str] = None
    signals: Signals = field(default_factory=Signals)
    extra: Extras = field(default_factory=list)

    @property
    def sureness(self) -> float:
        """How sure one may be: the calibrated confidence, else what the model claimed, else nothing."""
        sure = self.confidence if self.confidence is not None else self.raw_confidence
        return sure if sure is not None and abs(sure) < float("inf") else 0.0


@dataclass
class RetrievalQuery:
    """A retrieval query over a corpus; as the operation of a task, the host runs it."""

    text: str
    corpus: Corpus = "tables"
    retriever: Retriever = "lexical"
    limit: U32 = 10


#: `"solve"`, `"choose"`, or a query that the host runs; another word is passed on as the case `other`.
Operation = Annotated[Union[str, RetrievalQuery], "types.Operation"]
#: `"all-of"`, `"any-of"`, or how many dependencies must be solved.
Join = Annotated[Union[Literal["all-of", "any-of"], int], "types.Join"]


@dataclass
class Task:
    """One step of a search."""

    id: str
    text: str
    depends_on: list[str] = field(default_factory=list)
    parent: Optional[str] = None
    operation: Operation = "solve"
    join: Join = "all-of"
    tolerant: bool = False
    priority: float = 0.0
    confidence: Optional[float] = None
    expected: Optional[str] = None
    database: Optional[str] = None
    context: Optional[Json] = None


@dataclass
class Graph:
    """The tasks of a search; `answer` is the task whose result answers the question, by default the last one."""

    tasks: list[Task]
    answer: str = ""
    memo: Optional[Json] = None

    def __post_init__(self) -> None:
        if not self.answer and self.tasks:
            self.answer = self.tasks[-1].id

    def task(self, id: str) -> Optional[Task]:
        """The task of that id."""
        return next((task for task in self.tasks if task.id == id), None)


@dataclass
class Question:
    """A question to the user; without choices the answer is free text. `ambiguity` is 0 to 1."""

    text: str
    choices: list[str] = field(default_factory=list)
    ambiguity: float = 0.5


@dataclass
class Solved:
    """The task ended with a statement that has rows."""


@dataclass
class Empty:
    """The task was solved by a statement without rows."""


@dataclass
class Failed:
    """The task failed."""

    failure: Failure


@dataclass
class Skipped:
    """A dependency was not solved; `dependency` names it."""

    dependency: str


@dataclass
class Cancelled:
    """The task was cancelled."""


@dataclass
class Other:
    """A case that this version does not know, by name."""

    name: str


Ending = Annotated[Union[Solved, Empty, Failed, Skipped, Cancelled, Other], "types.Ending"]


@dataclass
class Observation:
    """How a task ended; its candidates are calibrated, best first."""

    task: str
    ending: Ending = field(default_factory=Solved)
    candidates: list[Candidate] = field(default_factory=list)
    profile: Optional[Profile] = None
    fingerprint: Optional[str] = None
    hits: list[Hit] = field(default_factory=list)
    subtasks: list[Task] = field(default_factory=list)
    memo: Optional[Json] = None

    @property
    def is_success(self) -> bool:
        """Whether the task has a result."""
        return isinstance(self.ending, (Solved, Empty))


@dataclass
class Accepted:
    """The verdict that a candidate is right; `score` is 0 to 1."""

    score: float = 1.0
    reason: str = ""
    checks: list[tuple[str, bool]] = field(default_factory=list)


@dataclass
class Rejected:
    """The verdict that a candidate is wrong; `score` is 0 to 1."""

    score: float = 0.0
    reason: str = ""
    checks: list[tuple[str, bool]] = field(default_factory=list)


@dataclass
class Unavailable:
    """The verdict of a judge that cannot judge: it counts as neither acceptance nor rejection."""

    reason: str


Verdict = Annotated[Union[Accepted, Rejected, Unavailable], "types.Verdict"]


# What roles return and get.


@dataclass
class Relevant:
    """A table that a linker shows; without columns it shows all of them."""

    table: str
    columns: list[str] = field(default_factory=list)
    score: float = 1.0
    reason: str = ""


@dataclass
class Linked:
    """What a linker found; without tables the catalog stays as it is."""

    tables: list[Relevant] = field(default_factory=list)
    hints: list[Hit] = field(default_factory=list)


@dataclass
class AddTask:
    """Adds a task to the graph."""

    task: Task


@dataclass
class UpdateTask:
    """Replaces a task that has not started."""

    task: Task


@dataclass
class CancelTask:
    """Cancels a task, even one in progress."""

    task: str


@dataclass
class AnswerBy:
    """Names the task whose result answers the question from now on."""

    task: str


@dataclass
class Finish:
    """Ends the search with what is there."""


Edit = Annotated[Union[AddTask, UpdateTask, CancelTask, AnswerBy, Finish, Other], "planner.Edit"]


@dataclass
class Step:
    """What a planner changes after an observation, and its state until the next one."""

    edits: list[Edit] = field(default_factory=list)
    memo: Optional[Json] = None


@runtime_checkable
class ResultSet(Protocol):
    """The result of a statement. Its rows stay in the host; `with` drops the handle at the end of the block."""

    def profile(self) -> Profile:
        """The shape of the result."""
        ...

    def fingerprint(self, under: str = "bag") -> Optional[str]:
        """A text that is equal for equal results of the same run; none for an equality that the host does not know."""
        ...

    def close(self) -> None:
        """Drops the handle; a second call does nothing."""
        ...

    def __enter__(self) -> ResultSet: ...

    def __exit__(self, *error: object) -> None: ...


@dataclass
class Relation:
    """A finished dependency; `name` may stand in FROM."""

    name: str
    candidate: Candidate
    results: ResultSet


@dataclass
class Hits:
    """What a retrieval task found."""

    hits: list[Hit] = field(default_factory=list)


Output = Annotated[Union[Relation, Hits, Failed, Other], "solver.Output"]


@dataclass
class Parent:
    """A dependency of a task, which has ended. `memo` is what its solver returned."""

    task: Task
    output: Output
    memo: Optional[Json] = None


@dataclass
class Outcome:
    """What a solver found, best first; without a candidate the task has no answer."""

    candidates: list[Candidate] = field(default_factory=list)
    subtasks: list[Task] = field(default_factory=list)
    ask: Optional[Question] = None
    memo: Optional[Json] = None


@dataclass
class Rival:
    """A candidate with its result, to judge."""

    candidate: Candidate
    results: ResultSet


@dataclass
class Finished:
    """A finished task; `name` may stand in FROM of the answer's SQL, and `others` are its further candidates."""

    name: str
    task: Task
    candidate: Candidate
    results: ResultSet
    others: list[Candidate] = field(default_factory=list)


@dataclass
class Answer:
    """The answer; `basis` states step by step how it was found, and `caveats` warn."""

    text: str
    task: str
    candidate: Optional[str] = None
    sql: Optional[str] = None
    confidence: float = 0.0
    basis: list[str] = field(default_factory=list)
    caveats: list[str] = field(default_factory=list)


@dataclass
class Trial:
    """What became of a proposal: `case` is one of `accepted`, `slower`, `mismatch`, `reordered`, `other-columns`, `refused`, `failed`,
    `too-large`. The first two have a speed, relative to the best statement so far; `refused` and `failed` have a text."""

    case: str
    speed: Optional[float] = None
    text: Optional[str] = None


@dataclass
class Attempt:
    """An earlier proposal and what became of it."""

    sql: str
    family: str
    trial: Annotated[Trial, "rewriter.Trial"]


@dataclass
class Proposal:
    """Another statement for the same rows. `family` is the kind of rewrite, such as `in-to-exists`."""

    sql: str
    family: str
    reason: str = ""


# What ports take and return.


@dataclass
class Policy:
    """What the user asked for, clamped by the host."""

    high_confidence: float = 0.85
    max_attempts: U32 = 3
    max_depth: U32 = 3
    max_parallel: U32 = 5
    max_rounds: U32 = 8


@dataclass
class Budget:
    """What the search may still spend."""

    tokens: U64 = 100_000
    llm_calls: U32 = 200
    sql_runs: U32 = 500
    cost_micros: Optional[U64] = None
    time: TimeLeft = "plenty"


@dataclass
class Message:
    """A message to a model."""

    speaker: Speaker
    text: str


@dataclass
class JsonShape:
    """The reply has to match this JSON schema, given as text."""

    schema: Json


@dataclass
class YamlShape:
    """The reply has to be a YAML mapping with these keys."""

    keys: list[str]


@dataclass
class Choice:
    """The reply has to be one of these words."""

    words: list[str]


#: `"text"`, `"sql"`, or one of the classes; another word is passed on as the case `other`.
Shape = Annotated[Union[str, JsonShape, YamlShape, Choice], "llm.Shape"]


@dataclass
class Request:
    """A request to a model; `Ask` builds one."""

    purpose: Purpose
    messages: list[Message] = field(default_factory=list)
    expect: Shape = "text"
    model: Optional[str] = None
    subjects: list[str] = field(default_factory=list)
    temperature: Optional[F32] = None
    top_p: Optional[F32] = None
    max_tokens: Optional[U32] = None
    stop: list[str] = field(default_factory=list)
    logprobs: bool = False
    sample: U32 = 0


@dataclass
class Usage:
    """What a model call cost."""

    input_tokens: U32 = 0
    output_tokens: U32 = 0
    cost_micros: Optional[U64] = None
    model: str = ""


@dataclass
class Reply:
    """A model's reply; `parsed` is the JSON text that follows the request's shape."""

    text: str
    parsed: Optional[Json] = None
    truncated: bool = False
    logprob: Optional[float] = None
    usage: Usage = field(default_factory=Usage)


@dataclass
class Constant:
    """A text, number or date in a statement, and the column that it is compared with."""

    table: Optional[str] = None
    column: Optional[str] = None
    text: str = ""


@dataclass
class Facts:
    """What one statement refers to; `normalized` is the statement in canonical spelling."""

    tables: list[str] = field(default_factory=list)
    columns: list[str] = field(default_factory=list)
    functions: list[str] = field(default_factory=list)
    literals: list[Constant] = field(default_factory=list)
    subqueries: list[str] = field(default_factory=list)
    tasks: list[str] = field(default_factory=list)
    ordered: bool = False
    normalized: str = ""
    skeleton: str = ""


@dataclass
class Plan:
    """The engine's plan of a statement."""

    format: str = "text"
    text: str = ""
    cost: Optional[float] = None
    rows: Optional[float] = None


@dataclass
class ColumnStats:
    """Statistics of a column, as far as the engine has them."""

    column: str
    distinct: Optional[float] = None
    null_fraction: Optional[float] = None
    correlation: Optional[float] = None
    average_width: Optional[U32] = None


@dataclass
class Page:
    """Rows of a result. `clipped`: the grant or the size of a page left rows out."""

    columns: list[str] = field(default_factory=list)
    rows: list[list[Annotated[Any, "types.Value"]]] = field(default_factory=list)
    clipped: bool = False


@dataclass
class Sample:
    """The least, greatest and most frequent values of a column, the latter with their counts."""

    column: str
    least: Annotated[Any, "types.Value"] = None
    greatest: Annotated[Any, "types.Value"] = None
    frequent: list[tuple[Annotated[Any, "types.Value"], U64]] = field(default_factory=list)


__all__ = [
    "Accepted",
    "AddTask",
    "Answer",
    "AnswerBy",
    "Attempt",
    "Budget",
    "CancelTask",
    "Cancelled",
    "Candidate",
    "Catalog",
    "Choice",
    "Column",
    "ColumnProfile",
    "ColumnStats",
    "Constant",
    "Corpus",
    "Decimal",
    "Dialect",
    "Edit",
    "Empty",
    "Ending",
    "Equality",
    "Extras",
    "F32",
    "Facts",
    "Failed",
    "Finish",
    "Finished",
    "ForeignKey",
    "Graph",
    "Hit",
    "Hits",
    "Index",
    "Join",
    "Json",
    "JsonShape",
    "Level",
    "Linked",
    "Match",
    "Message",
    "Observation",
    "Operation",
    "Other",
    "OtherValue",
    "Outcome",
    "Output",
    "Page",
    "Parent",
    "Plan",
    "Policy",
    "Problem",
    "Profile",
    "Proposal",
    "Purpose",
    "Question",
    "Rejected",
    "Relation",
    "Relevant",
    "Reply",
    "Request",
    "ResultSet",
    "RetrievalQuery",
    "Retriever",
    "Rival",
    "Sample",
    "Shape",
    "Signals",
    "Skipped",
    "Solved",
    "Speaker",
    "Step",
    "Table",
    "Task",
    "Temporal",
    "TimeLeft",
    "Trial",
    "U32",
    "U64",
    "Unavailable",
    "UpdateTask",
    "Usage",
    "Value",
    "Verdict",
    "YamlShape",
]

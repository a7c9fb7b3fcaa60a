"""The answer to a question, and what it rests on."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, overload

from . import _native, _text

if TYPE_CHECKING:
    import pandas
    import pyarrow

_PAGE = 1024
_SHOWN = 20


class Data:
    """The rows of an answer, which never change.

    It implements the Arrow PyCapsule interface, so that ``pyarrow.table(data)``,
    ``polars.DataFrame(data)`` and others read it without a copy. It is also a sequence of tuples,
    whose cells are ``None``, ``bool``, ``int``, ``float``, ``decimal.Decimal``, ``str`` or
    ``bytes``; dates and times are ``str`` in the engine's spelling. A slice is a list of them. Two
    are equal if their columns and their rows are; a copy is the same object, and it can be pickled.
    """

    __slots__ = ("_native",)

    def __init__(self, native: _native.Data) -> None:
        self._native = native

    @property
    def columns(self) -> list[str]:
        """The names of the columns, in order. Several may be equal."""
        return self._native.columns

    @property
    def truncated(self) -> bool:
        """True if a limit cut the rows."""
        return self._native.truncated

    def __len__(self) -> int:
        return self._native.num_rows

    def __iter__(self) -> Iterator[tuple[Any, ...]]:
        for offset in range(0, len(self), _PAGE):
            yield from self._native.rows(offset, _PAGE)

    @overload
    def __getitem__(self, index: int) -> tuple[Any, ...]: ...

    @overload
    def __getitem__(self, index: slice) -> list[tuple[Any, ...]]: ...

    def __getitem__(self, index: int | slice) -> tuple[Any, ...] | list[tuple[Any, ...]]:
        places = range(len(self))[index]
        if isinstance(places, int):
            return self._native.rows(places, 1)[0]
        if not places:
            return []
        first = min(places[0], places[-1])
        rows = self._native.rows(first, abs(places[-1] - places[0]) + 1)
        return [rows[place - first] for place in places]

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Data):
            return NotImplemented
        return (
            self.columns == other.columns
            and self.truncated == other.truncated
            and len(self) == len(other)
            and all(one == two for one, two in zip(self, other))
        )

    def __copy__(self) -> Data:
        return self

    def __deepcopy__(self, memo: dict[int, Any]) -> Data:
        return self

    def __reduce__(self) -> tuple[Any, ...]:
        return _restore, (self._native.to_bytes(),)

    def head(self, limit: int = _SHOWN) -> list[tuple[Any, ...]]:
        """Returns the first rows."""
        return self._native.rows(0, limit)

    def to_dicts(self) -> list[dict[str, Any]]:
        """Returns a dictionary for each row. Of columns with one name the last counts."""
        return [dict(zip(self.columns, row)) for row in self]

    def to_arrow(self) -> pyarrow.Table:
        """Returns a table of pyarrow, without a copy.

        Raises:
            ImportError: If pyarrow is not installed.
        """
        import pyarrow

        return pyarrow.table(self)

    def to_pandas(self) -> pandas.DataFrame:
        """Returns a data frame: through pyarrow if it is installed, which copies only what pandas
        holds in another way, or else from the rows.

        Raises:
            ImportError: If pandas is not installed.
        """
        import pandas

        try:
            frame: pandas.DataFrame = self.to_arrow().to_pandas(split_blocks=True)
            return frame
        except ImportError:
            return pandas.DataFrame(list(self), columns=self.columns)

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        return self._native.__arrow_c_stream__(requested_schema)

    def __arrow_c_schema__(self) -> object:
        return self._native.__arrow_c_schema__()

    def __repr__(self) -> str:
        return f"<Data: {len(self)} rows of {self.columns!r}>"

    def _repr_html_(self) -> str:
        table = _text.table(self.columns, self.head())
        more = len(self) - _SHOWN
        return table + (f"<p>and {more} more rows</p>" if more > 0 else "")


def _restore(written: bytes) -> Data:
    """Returns the rows that were pickled."""
    return Data(_native.Data.from_bytes(written))


@dataclass(frozen=True)
class Candidate:
    """A statement that the search tried.

    Attributes:
        id: Its id, unique in the search.
        task: The task that it was made for.
        sql: The statement as the strategy wrote it.
        status: What became of it, such as ``answer`` or ``refused``.
        confidence: The calibrated confidence, 0 to 1, or ``None``.
        cluster: The number of its group of equal results within the task, or ``None``.
        reason: Why its task uses it, or does not.
    """

    id: str
    task: str
    sql: str
    status: str
    confidence: float | None
    cluster: int | None
    reason: str


@dataclass(frozen=True)
class Cost:
    """What a search spent.

    Attributes:
        calls: Model calls that were sent.
        input_tokens: Tokens in the prompts.
        output_tokens: Tokens in the replies.
        usd: Dollars, or ``None`` if a model has no price.
        sql_runs: Statements that the database ran.
    """

    calls: int
    input_tokens: int
    output_tokens: int
    usd: float | None
    sql_runs: int


@dataclass(frozen=True, repr=False)
class Result:
    """An answer, and everything it rests on.

    Attributes:
        question: The question as asked.
        answer: The answer in a sentence.
        sql: The one self-contained statement whose rows are the answer.
        confidence: The confidence, 0 to 1: calibrated, not what the model claims.
        data: The rows.
        candidates: Every statement that was tried.
        cost: What the search spent.
        run: The id of the run, which also names its journal.
        tables: The tables and views that the statement reads.
        warnings: Warnings for the reader.
        document: The whole document ``syrch.answer/1``.
    """

    question: str
    answer: str
    sql: str
    confidence: float
    data: Data
    candidates: tuple[Candidate, ...]
    cost: Cost
    run: str
    tables: tuple[str, ...]
    warnings: tuple[str, ...]
    document: dict[str, Any]

    @property
    def token_cost(self) -> int:
        """Tokens of prompts and replies together."""
        return self.cost.input_tokens + self.cost.output_tokens

    @classmethod
    def from_document(cls, document: dict[str, Any], data: Data) -> Result:
        """Makes the result of a document ``syrch.answer/1`` that has an answer."""
        tables = tuple(document.pop("tables", ()))
        cost = document["cost"]
        return cls(
            question=document["question"],
            answer=document["answer"]["text"],
            sql=document["sql"],
            confidence=document["confidence"]["calibrated"],
            data=data,
            candidates=tuple(
                Candidate(
                    id=one["id"],
                    task=one["task"],
                    sql=one["sql"],
                    status=one["status"],
                    confidence=one["confidence"],
                    cluster=one["cluster"],
                    reason=one["reason"],
                )
                for one in document["candidates"]
            ),
            cost=Cost(
                calls=cost["calls"],
                input_tokens=cost["input_tokens"],
                output_tokens=cost["output_tokens"],
                usd=cost["usd"],
                sql_runs=cost["sql_runs"],
            ),
            run=document["run"],
            tables=tables,
            warnings=tuple(document["warnings"]),
            document=document,
        )

    def __repr__(self) -> str:
        return (
            f"Result(answer={self.answer!r}, confidence={self.confidence:.2f}, sql={self.sql!r}, "
            f"data={self.data!r}, run={self.run!r})"
        )

    def _repr_html_(self) -> str:
        warnings = "".join(f"<li>{_text.escape(warning)}</li>" for warning in self.warnings)
        return (
            f"<p><strong>{_text.escape(self.answer)}</strong></p>{self.data._repr_html_()}"
            f"<p>confidence {self.confidence:.2f} of 1</p>"
            f"<pre><code>{_text.escape(self.sql, longest=None)}</code></pre>"
            + (f"<ul>{warnings}</ul>" if warnings else "")
        )

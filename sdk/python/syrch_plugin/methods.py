"""Methods of the generated dataclasses in `types.py`.

The fields that they read stand here for type checkers only: codecs read the hints of the dataclasses.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Optional

if TYPE_CHECKING:
    from .types import Ending, Extras, Table, Task


class OfTable:
    """What a table is called."""

    if TYPE_CHECKING:
        name: str
        schema_name: Optional[str]
        extra: Extras

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


class OfCatalog:
    """Finding tables by name."""

    if TYPE_CHECKING:
        tables: list[Table]

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


class OfCandidate:
    """How sure one may be of a candidate."""

    if TYPE_CHECKING:
        raw_confidence: Optional[float]
        confidence: Optional[float]

    @property
    def sureness(self) -> float:
        """How sure one may be: the calibrated confidence, else what the model claimed, else nothing."""
        sure = self.confidence if self.confidence is not None else self.raw_confidence
        return sure if sure is not None and abs(sure) < float("inf") else 0.0


class OfGraph:
    """The answer of a graph is by default its last task."""

    if TYPE_CHECKING:
        tasks: list[Task]
        answer: str

    def __post_init__(self) -> None:
        if not self.answer and self.tasks:
            self.answer = self.tasks[-1].id

    def task(self, id: str) -> Optional[Task]:
        """The task of that id."""
        return next((task for task in self.tasks if task.id == id), None)


class OfObservation:
    """Whether a task has a result."""

    if TYPE_CHECKING:
        ending: Ending

    @property
    def is_success(self) -> bool:
        """Whether the task has a result."""
        from .types import Empty, Solved

        return isinstance(self.ending, (Solved, Empty))

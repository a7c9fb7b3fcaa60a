"""The exceptions of ports, and the failure that a role raises."""

from __future__ import annotations

from typing import Optional

from .text import line


class Failure(Exception):
    """Why a role could not do its work: `raise Failure("no such table", kind="input")`.

    `kind` is one of `input`, `model`, `database`, `budget`, `unsupported`, `cancelled`, `internal`, or another word. `message` is shown to
    the user as the plugin's own words. `retryable`: the cause may pass.
    """

    def __init__(self, message: str, kind: str = "internal", retryable: bool = False) -> None:
        super().__init__(message)
        self.kind = kind
        self.message = message
        self.retryable = retryable

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Failure) and self._key() == other._key()

    def __hash__(self) -> int:
        return hash(self._key())

    def __repr__(self) -> str:
        return f"Failure({self.message!r}, kind={self.kind!r}, retryable={self.retryable})"

    def _key(self) -> tuple[str, str, bool]:
        return self.kind, self.message, self.retryable


class HostError(Exception):
    """An error of a port. A role that does not catch it ends with the failure of the same meaning."""

    def failure(self) -> Failure:
        """The failure of a role that cannot go on after this error."""
        raise NotImplementedError


class SqlError(HostError):
    """A statement failed its check or its run. `kind` is a word of the contract, such as `syntax` or `unknown-table`; `position` is a byte."""

    def __init__(
        self, kind: str, message: str, position: Optional[int] = None, suggestions: Optional[list[str]] = None
    ) -> None:
        super().__init__(message)
        self.kind = kind
        self.message = message
        self.position = position
        self.suggestions = suggestions or []

    @property
    def is_over(self) -> bool:
        """Whether no statement can run any more."""
        return self.kind in ("budget", "cancelled", "unavailable")

    def words(self) -> str:
        """The error in words for a model: the message, the position, and the nearest names."""
        out = line(self.message, 400)
        if self.position is not None:
            out += f", at byte {self.position}"
        if self.suggestions:
            out += f"; near: {', '.join(line(name, 80) for name in self.suggestions[:5])}"
        return out

    def failure(self) -> Failure:
        kind = self.kind if self.kind in ("budget", "cancelled") else "database"
        return Failure(self.message, kind, retryable=self.kind == "unavailable")


class ModelError(HostError):
    """A model call failed. `kind` is one of `budget`, `denied`, `refused`, `too-large`, `malformed`, `unsupported`, `cancelled`,
    `unavailable`, `other`; `text` explains it, where the contract has a text."""

    def __init__(self, kind: str, text: str = "") -> None:
        super().__init__(kind, text)
        self.kind = kind
        self.text = text

    def words(self) -> str:
        """The error in words."""
        return {
            "budget": "the model budget is used up",
            "denied": f"the model call was denied: {self.text}",
            "refused": f"the model provider gave no answer: {self.text}",
            "too-large": "the prompt or the reply is over the limit",
            "malformed": f"the model's reply has another shape than asked for: {line(self.text, 120)}",
            "unsupported": f"the model provider cannot do this: {self.text}",
            "cancelled": "the model call was cancelled",
            "unavailable": f"the model cannot be reached: {self.text}",
        }.get(self.kind, self.text)

    def __str__(self) -> str:
        return self.words()

    def failure(self) -> Failure:
        kind = self.kind if self.kind in ("budget", "cancelled", "unsupported") else "model"
        return Failure(self.words(), kind, retryable=self.kind == "unavailable")


class PortError(HostError):
    """A port failed. `kind` is one of `denied`, `unsupported`, `unknown-name`, `budget`, `unavailable`, `other`; treat `denied` as normal."""

    def __init__(self, kind: str, text: str = "") -> None:
        super().__init__(kind, text)
        self.kind = kind
        self.text = text

    def __str__(self) -> str:
        return self.failure().message

    def failure(self) -> Failure:
        kind, message = {
            "denied": ("unsupported", f"denied: {self.text}"),
            "unsupported": ("unsupported", "not supported here"),
            "unknown-name": ("input", f"unknown name `{self.text}`"),
            "budget": ("budget", "the budget is used up"),
            "unavailable": ("database", self.text),
        }.get(self.kind, ("internal", self.text))
        return Failure(message, kind)

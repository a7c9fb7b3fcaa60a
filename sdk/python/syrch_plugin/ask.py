"""Writing a model request in one expression."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Optional

from .text import json_text
from .types import Choice, JsonShape, Message, Request, Shape, Speaker


class Ask:
    """A request under construction: `Ask("generate").system("…").user("…").sql()`. Each method returns a new value."""

    def __init__(self, purpose: str) -> None:
        self._request = Request(purpose)

    def _with(self, **changes: Any) -> Ask:
        ask = Ask(self._request.purpose)
        ask._request = replace(self._request, **changes)
        return ask

    def _message(self, speaker: Speaker, text: str) -> Ask:
        return self._with(messages=[*self._request.messages, Message(speaker, text)])

    def system(self, text: str) -> Ask:
        """Adds a message with instructions to the model."""
        return self._message("system", text)

    def user(self, text: str) -> Ask:
        """Adds what the user says."""
        return self._message("user", text)

    def assistant(self, text: str) -> Ask:
        """Adds what the model said, as in an example of a reply."""
        return self._message("assistant", text)

    def subjects(self, subjects: list[str]) -> Ask:
        """The SQL texts that the call is about, which are never sent."""
        return self._with(subjects=subjects)

    def model(self, model: Optional[str]) -> Ask:
        """The name of a configured model."""
        return self._with(model=model)

    def temperature(self, temperature: Optional[float]) -> Ask:
        """Sets the sampling temperature, 0 to 2. Without it the host's configuration decides."""
        return self._with(temperature=temperature)

    def max_tokens(self, tokens: int) -> Ask:
        """The most output tokens."""
        return self._with(max_tokens=tokens)

    def sample(self, sample: int) -> Ask:
        """Which of several samples of the same prompt."""
        return self._with(sample=sample)

    def text(self) -> Request:
        """Finishes it: any text will do."""
        return self._expect("text")

    def sql(self) -> Request:
        """Finishes it: one statement, with a confidence if the model states one; see `replies.sql_reply`."""
        return self._expect("sql")

    def json(self, schema: dict[str, Any]) -> Request:
        """Finishes it: a document that matches this JSON schema."""
        return self._expect(JsonShape(json_text(schema)))

    def choice(self, words: list[str]) -> Request:
        """Finishes it: one of these words."""
        return self._expect(Choice(words))

    def _expect(self, shape: Shape) -> Request:
        return replace(self._request, expect=shape)

"""Texts of databases and models for terminals and as HTML. All from outside is escaped here."""

from __future__ import annotations

import html
import unicodedata
from collections.abc import Iterable, Sequence

# Control characters, invisible ones, surrogates, private ones and line separators: with them, two
# different texts look the same, or a text changes what stands around it.
_HIDDEN = frozenset({"Cc", "Cf", "Cs", "Co", "Zl", "Zp"})
_LONGEST = 500


def reveal(text: str) -> str:
    """Returns a text with characters that hide, or control a terminal, as their codes."""
    return "".join(
        f"\\u{{{ord(c):x}}}" if c not in "\n\t" and unicodedata.category(c) in _HIDDEN else c
        for c in text
    )


def escape(value: object, *, longest: int | None = _LONGEST) -> str:
    """Returns a value as the text of an element or of an attribute in double quotes."""
    text = "NULL" if value is None else str(value)
    if longest is not None and len(text) > longest:
        text = text[:longest] + "…"
    return html.escape(reveal(text), quote=True)


def table(columns: Sequence[object], rows: Iterable[Sequence[object]]) -> str:
    """Returns a table."""
    head = "".join(f"<th>{escape(column)}</th>" for column in columns)
    body = "".join(
        "<tr>" + "".join(f"<td>{escape(cell)}</td>" for cell in row) + "</tr>" for row in rows
    )
    return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"

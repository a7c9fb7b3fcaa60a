"""Names in SQL: when they need quotes, and which."""

from __future__ import annotations

import re

from .text import line
from .types import Syntax, Table

# Words that stand unquoted only as keywords in at least one of the dialects.
_RESERVED = frozenset(
    "all alter and any as asc between by case cast check collate column constraint create cross current default "
    "delete desc distinct drop else end except exists false fetch for foreign from full grant group having in "
    "index inner insert intersect into is join key left like limit natural not null offset on or order outer over "
    "partition primary range references right row rows select set some table then to transaction trigger true "
    "union unique update user using values view when where window with".split()
)
_WORD = re.compile(r"[A-Za-z_][A-Za-z0-9_]*\Z")
# What could break out of a line of a prompt.
_BREAKS = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029]")
# The longest name that a database allows has 255 characters.
_SHOWN = 256


def quote(syntax: Syntax, name: str) -> str:
    """The name in the syntax's quotes."""
    mark = "`" if syntax.backticks else '"'
    return mark + name.replace(mark, mark * 2) + mark


def literal(syntax: Syntax, text: str) -> str:
    """A text as a literal of a statement."""
    if syntax.backslash_escapes:
        text = text.replace("\\", "\\\\").replace("'", "\\'")
    else:
        text = text.replace("'", "''")
    return f"'{text}'"


def quote_if_odd(syntax: Syntax, name: str) -> str:
    """The name as a person would write it: quoted only when it would not be read as that name otherwise."""
    folds = syntax.folds_names and re.search("[A-Z]", name)
    is_plain = _WORD.match(name) and not folds and name.lower() not in _RESERVED
    return name if is_plain else quote(syntax, name)


def shown(syntax: Syntax, name: str) -> str:
    """The name as a prompt shows it: quoted when it has to be, and on one line. Never for a statement that is run, since a name that could
    break out of its line, or that is longer than any database allows, is changed."""
    if _BREAKS.search(name) or len(name) > _SHOWN:
        name = line(name, _SHOWN)
    return quote_if_odd(syntax, name)


def from_name(syntax: Syntax, table: Table) -> str:
    """A table's name as a statement has it in FROM."""
    name = quote_if_odd(syntax, table.name)
    return name if table.schema_name is None else f"{quote_if_odd(syntax, table.schema_name)}.{name}"

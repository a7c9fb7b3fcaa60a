"""Text for prompts and logs: single lines, limits, counts, and JSON."""

from __future__ import annotations

import json
from typing import Any, Optional


#: White space of Unicode, as Rust has it.
WHITE = "\t\n\v\f\r \x85\xa0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a\u2028\u2029\u202f\u205f\u3000"
# White space and the control characters, which separate words.
_BLANKS = {ord(c): " " for c in WHITE} | {n: " " for n in (*range(0x20), *range(0x7F, 0xA0))}


def trim(text: str) -> str:
    """The text without white space at its ends."""
    return text.strip(WHITE)


def line(text: str, limit: int) -> str:
    """One line of at most about `limit` characters: white space and control characters become single spaces, and an ellipsis at the end
    shows that something was cut. For text from a database or a model before it becomes a part of a prompt."""
    out = " ".join(word for word in text.translate(_BLANKS).split(" ") if word)
    if 0 < limit <= len(out):
        # A space at the cut stays.
        return out[: limit - 1] + (" …" if limit > 1 and out[limit - 1] == " " else "…")
    return out


def clip(text: str, limit: int) -> str:
    """At most `limit` bytes of a text in UTF-8, cut at a character's edge."""
    if len(text) * 4 <= limit:
        return text
    return text.encode()[:limit].decode(errors="ignore")


def count(number: int, noun: str) -> str:
    """`1 row`, `2 rows`."""
    return f"1 {noun}" if number == 1 else f"{number} {noun}s"


def clamp01(value: float) -> float:
    """A number between 0 and 1; not-a-number becomes 0."""
    return 0.0 if value != value else min(1.0, max(0.0, value))


def real(value: float) -> str:
    """A number without an exponent, in as few digits as it needs: `1`, `0.25`."""
    if value != value or value in (float("inf"), float("-inf")):
        return {True: "NaN"}.get(value != value, "inf" if value > 0 else "-inf")
    text = repr(value)
    mantissa, _, exponent = text.partition("e")
    if exponent:
        sign, digits = ("-", mantissa[1:]) if mantissa.startswith("-") else ("", mantissa)
        whole, _, fraction = digits.partition(".")
        point = len(whole) + int(exponent)
        digits = whole + fraction
        if point <= 0:
            return f"{sign}0.{'0' * -point}{digits}".rstrip("0").rstrip(".")
        digits = digits.ljust(point, "0")
        text = f"{sign}{digits[:point]}.{digits[point:]}"
    return text.rstrip("0").rstrip(".") if "." in text else text


def json_text(value: Any) -> str:
    """A value as JSON without spaces, its keys in the order in which they were added."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False)


def json_value(text: Optional[str]) -> Any:
    """The value of a JSON text; none for no text and for one that is not JSON."""
    if text is None:
        return None
    try:
        return json.loads(text)
    except ValueError:
        return None


def fnv1a(data: bytes) -> int:
    """FNV-1a over bytes, 64 bits: the same on every machine and in every run; not for secrets."""
    value = 0xCBF2_9CE4_8422_2325
    for byte in data:
        value = ((value ^ byte) * 0x0100_0000_01B3) & (2**64 - 1)
    return value

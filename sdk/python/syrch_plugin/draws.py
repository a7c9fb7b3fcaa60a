"""Several statements for one task: their requests, the wait for calls in flight, and the groups of equal results.

Statements whose results have the same fingerprint agree (self-consistency, Wang et al. 2022).
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Optional, Sequence

from .brief import Brief, Tried
from .ports import Wait
from .types import Request


def groups(keys: Sequence[object]) -> list[list[int]]:
    """The places of equal keys, ascending in each group: the largest group first, and of equally large ones that with the earliest member."""
    found: dict[object, list[int]] = {}
    for place, key in enumerate(keys):
        found.setdefault(key, []).append(place)
    return sorted(found.values(), key=len, reverse=True)


def request(brief: Brief, tried: Sequence[Tried], number: int, temperature: Optional[float] = None) -> Request:
    """The request of a draw: a repair of the statements in `tried`, or, if there are none, a fresh one at that temperature.

    Among draws that repair, `sample` is the number of the draw, from 0, less the number of statements that the request repairs: a repair of
    draw n is the n-th sample again, and two draws never share both."""
    made = brief.request(tried, max(0, number - 1))
    if made.purpose == "repair":
        return replace(made, sample=max(0, made.sample - len(made.subjects)))
    return replace(made, temperature=temperature)


def await_all(host: Wait, calls: Sequence[Any]) -> None:
    """Waits until all of these calls in flight have ended."""
    waiting = [call.ticket() for call in calls]
    while waiting:
        ready = set(host.any(waiting))
        if not ready:
            return
        waiting = [ticket for ticket in waiting if ticket not in ready]

"""A small generator for ties and coins: equal seeds give equal throws on every machine. Start it from `host.seed()`."""

from __future__ import annotations

_MASK = 2**64 - 1


class Random:
    """Pseudo-random numbers of 64 bits: SplitMix64 (Steele, Lea and Flood, OOPSLA 2014)."""

    def __init__(self, seed: int) -> None:
        self._state = seed & _MASK

    def number(self) -> int:
        """The next number."""
        self._state = (self._state + 0x9E37_79B9_7F4A_7C15) & _MASK
        value = self._state
        value = ((value ^ (value >> 30)) * 0xBF58_476D_1CE4_E5B9) & _MASK
        value = ((value ^ (value >> 27)) * 0x94D0_49BB_1331_11EB) & _MASK
        return value ^ (value >> 31)


class Dice(Random):
    """Coins and dice."""

    def coin(self) -> bool:
        """True or false, each half of the time."""
        return self.number() & 1 == 1

    def one_of(self, sides: int) -> int:
        """One of that many, from 0. A throw for one is none, so that it changes nothing later."""
        return (self.number() * sides) >> 64 if sides > 1 else 0


def fnv1a(data: bytes) -> int:
    """FNV-1a over bytes, 64 bits: the same on every machine and in every run; not for secrets."""
    value = 0xCBF2_9CE4_8422_2325
    for byte in data:
        value = ((value ^ byte) * 0x0100_0000_01B3) & _MASK
    return value

# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Signals of which a simulation leaves too much, and what may be to blame for it."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from sysid_ros.diagnosis.fits import VISIBLE
from sysid_ros.diagnosis.simulated.simulated_entries import Simulated
from sysid_ros.engine.uncertainty import sensor_of

_GROSS = 0.4  # of a signal's power, that a wrong sign, unit or place leaves at the least
_WORST = 4  # signals of which repairs and exchanges are tried


@dataclass(frozen=True)
class Blame:
    """Signals by what is left of them, and entries of the experiment file that may be wrong."""

    bad: list[str]  # signals of which too much is left, the worst first
    worst: list[str]  # those of which a wrong sign, unit or place may leave that much
    measured: list[str]  # entries of the first of ``bad``; a pose's two parts are none
    gross: list[str]  # entries of the first of ``worst``
    inputs: list[str]  # entries of what drives ``gross``
    partners: list[str]  # of what drives others of ``worst``: in an exchange both go wrong

    @classmethod
    def of(cls, left: Mapping[str, float], covered: Collection[str], entries: Simulated) -> Blame:
        """Sort signals by what is left.

        Args:
          left: Of each signal, as shares of its power.
          covered: Signals that equations of single joints test as well.
          entries: Of the experiment file.
        """
        bad = sorted(
            (name for name in left if left[name] > (_GROSS if name in covered else VISIBLE)),
            key=lambda name: -left[name],
        )
        worst = [name for name in bad if left[name] > _GROSS]
        gross = _entries(entries, worst)
        inputs = entries.driving(gross[:_WORST]) if worst else []
        others = entries.driving(gross) if worst else []
        partners = [one for one in others if one not in inputs]
        measured = _entries(entries, bad)[:_WORST]
        return cls(bad, worst, measured, gross[:_WORST], inputs, partners)

    @property
    def entries(self) -> list[str]:
        """Entries of what is measured whose sign, unit or name may be wrong."""
        return self.gross or self.measured


def _entries(entries: Simulated, signals: Sequence[str]) -> list[str]:
    """The entries of some signals, in their order."""
    found = dict.fromkeys(sensor_of(name) for name in signals)
    return [label for label in found if label in entries.topics]

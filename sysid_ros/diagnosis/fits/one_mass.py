# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""The one mass that explains what simulated windows leave beside all that a fit finds.

A score test of each body's mass, as :mod:`sysid_ros.engine.inverse_dynamics.wrong_masses` has of
measured torque. Errors are those of windows, and so many bodies are tried that their intervals are
wider than of one.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np

from sysid_ros.arrays import BoolArray
from sysid_ros.diagnosis.fits.window_scores import Scores

_OFF = 0.1  # by which a mass is another, interval included
_FAR_OFF = 0.3  # the same where a mass explains little; of a right model that touches itself, 0.25
_GAINED = 0.1  # of what is left, that a mass explains; of right models, that touch themselves, 0.09
_ALONE = 0.5  # of what is left of all joints, that a mass explains which alone is wrong
_BETTER_WINDOWS = 0.75  # of the windows, in which it must be better
_FELT = 0.01  # of what all masses do to a signal; servos' laws are no better known
_PLAIN = 0.3  # of what has to be felt, where nothing is left that is as large
_HALF = 0.5  # of a mass, that must show
_ALARMS = 0.01  # of right models that one body is suspected of
_AS_GOOD = 1.2  # ratio of powers up to which another mass explains as much
_SAME = 1.05  # up to which nothing tells them apart, and the one that is farther off is named


@dataclass(frozen=True)
class OneMass:
    """A mass that is not the model's."""

    name: str  # its column
    step: float  # the relative change of it
    reach: float  # half the width of the 95 % interval of that
    left: float  # the square of what it leaves
    felt: tuple[str, ...]  # signals that show it
    others: Mapping[str, float]  # masses that explain as much, with their changes

    def refined(self, there: Scores) -> OneMass | None:
        """The same with its step after another; ``None`` where it may be the model's then.

        Args:
          there: Of this mass alone, once it is what this one says, in units of that.
        """
        step = float(there.gained()[0][0])
        factor = (1.0 + self.step) * (1.0 + step)
        reach = (1.0 + self.step) * there.reach(0, step)
        if factor <= 0.0 or abs(factor - 1.0) - reach < _OFF:
            return None
        return replace(self, step=factor - 1.0, reach=reach)


def one_mass(scores: Scores) -> OneMass | None:
    """Find the mass that explains most; ``None`` where it may be the model's, or explains little.

    Args:
      scores: Of masses, in units of their own.
    """
    steps, gained = scores.gained(lowest=-1.0)
    if not np.any(gained):
        return None
    left = scores.left - gained
    same = (left <= _SAME * left.min()) & (gained > 0.0)
    best = int(np.argmax(np.where(same, np.abs(steps), -1.0)))
    step = float(steps[best])
    _, better = scores.better(best, 0.0, step)
    explained = float(gained[best]) / max(scores.left, 1e-300)
    least = _OFF if explained >= _ALONE else _FAR_OFF
    if abs(step) < least or better < _BETTER_WINDOWS or explained < _GAINED:
        return None
    felt = _felt(scores, best, step)
    if not np.any(felt):
        return None
    # Last, as it takes a third of a second to import what quantiles are of.
    likely, surely = scores.reach(best, step), scores.reach(best, step, _ALARMS / len(steps))
    if abs(step) - surely < least:
        return None
    others = {
        name: float(steps[k])
        for k, name in enumerate(scores.names)
        if k != best and left[k] <= _AS_GOOD * left[best] and np.any(_felt(scores, k, steps[k]))
    }
    signals = tuple(name for name, own in zip(scores.signals, felt, strict=True) if own)
    return OneMass(scores.names[best], step, likely, float(left[best]), signals, others)


def clearly_off(scores: Scores) -> list[int]:
    """Numbers of masses that explain some of what is left as another's would; the best first.

    However little of itself each is off: that of a body that has moved looks like a few percent.
    """
    steps, gained = scores.gained(lowest=-1.0)
    alarms = _ALARMS / len(steps)
    return [
        k
        for k in np.argsort(-gained).tolist()
        if gained[k] >= _GAINED * scores.left
        and scores.better(k, 0.0, steps[k])[1] >= _BETTER_WINDOWS
        and abs(steps[k]) > scores.reach(k, steps[k], alarms)
    ]


def hidden_masses(scores: Scores) -> list[str]:
    """Masses of which half as much more is no more than what is left, or is not felt."""
    found = []
    for k, name in enumerate(scores.names):
        change = _HALF**2 * scores.own_by_signal[:, k]
        more = change > scores.power_by_signal
        told = more & (change > (_PLAIN * _FELT) ** 2 * scores.whole_by_signal)
        if not np.any(told):
            found.append(name)
    return found


def _felt(scores: Scores, mass: int, step: float) -> BoolArray:
    """Tell of each signal whether a change of a mass is felt and explains some of what is left."""
    change = step**2 * scores.own_by_signal[:, mass]
    before = scores.power_by_signal
    left = before - 2.0 * step * scores.mixed_by_signal[:, mass] + change
    least = _FELT * np.where(change > left, _PLAIN, 1.0)
    felt: BoolArray = change > least**2 * scores.whole_by_signal
    return felt & (left < (1.0 - _GAINED) * before)

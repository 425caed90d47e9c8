# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Delays of servos' commands, one for each controller, and what servos work against beside them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from sysid_ros.arrays import FloatArray
from sysid_ros.diagnosis.evidence import (
    SERVO_LAGS,
    Explanation,
    Family,
    FindingKind,
    Recorded,
    is_pushed,
    least_between,
    profile_interval,
    resolution_of,
)
from sysid_ros.diagnosis.fits import ServoEquation, decisive
from sysid_ros.diagnosis.tracking import Resistance, Tracking
from sysid_ros.engine.elements import is_velocity_servo

_SMALLEST_LAG = 0.004  # s
_LARGEST_LAG = 0.98 * SERVO_LAGS[-1]  # s; there the best lag would be longer still
_OWN = 0.25  # of the power left at the common lag, that a servo's own may leave
_WIDE = 0.3  # of a lag, that is looked about finely
_FOLLOWED = 0.0025  # of a command's power, that is left of one that a servo follows
_ROUGHLY = 0.15  # the same where the motion tells at least how large its damping is
_FINE = 13  # lags about the best one, from which its interval is read


@dataclass(frozen=True)
class _Late:
    """One servo, and what is left of its command at each of some lags."""

    servo: int
    equation: ServoEquation
    lags: tuple[float, ...]
    powers: FloatArray

    @staticmethod
    def of(test: Tracking, servo: int, lags: Sequence[float]) -> _Late:
        equation = test.equation(servo)
        commands = test.commands(servo, lags)
        powers = equation.fits(commands, np.arange(len(lags)), np.ones(len(lags))).powers
        return _Late(servo, equation, tuple(lags), powers)

    def near(self, test: Tracking, lags: Sequence[float]) -> _Late:
        """The same at more lags."""
        more = _Late.of(test, self.servo, lags)
        both = dict(zip((*self.lags, *more.lags), (*self.powers, *more.powers), strict=True))
        known = sorted(both)
        powers = np.array([both[lag] for lag in known])
        return _Late(self.servo, self.equation, tuple(known), powers)

    @property
    def lag(self) -> float:
        """Its own best lag."""
        return least_between(self.lags, self.powers)

    @property
    def is_followed(self) -> bool:
        """Return whether the joint does what the command asks for, at some lag."""
        return float(self.powers.min()) < _FOLLOWED

    def may_be(self, shared: Explanation) -> bool:
        """Return whether its lag is none that the others' interval excludes."""
        own = shared.interval
        return own is not None and own[0] <= self.lag <= own[1]

    def left_at(self, lag: float) -> float:
        """The remainder at a lag, over the least."""
        return float(np.interp(lag, self.lags, self.powers) / max(self.powers.min(), 1e-12))


def servo_lags(
    recorded: Recorded, topic_of: Callable[[str], str], *, known: Tracking | None = None
) -> list[Explanation]:
    """The delays of commands, those that come by one topic together.

    Args:
      recorded: What was recorded, other mistakes repaired.
      topic_of: The topic of a signal by its label.
      known: The test of what was recorded, where there is one already.
    """
    test = known or Tracking.of(recorded)
    if test is None:
        return []
    topics: dict[str, list[_Late]] = {}
    for servo in test.servos:
        topic = topic_of(recorded.commands[servo])
        topics.setdefault(topic, []).append(_Late.of(test, servo, SERVO_LAGS))
    found: list[Explanation | None] = []
    for coarse in topics.values():
        common = float(np.median([one.lag for one in coarse]))
        reach = max(_WIDE * common, 3.0 * _least(recorded))
        fine = np.linspace(max(common - reach, 0.0), common + reach, _FINE).tolist()
        group = [one.near(test, fine) for one in coarse]
        apart = _different(recorded, group)
        told = [one for one in apart if not is_pushed(recorded, recorded.joint_of(one.servo))]
        together = [one for one in group if one not in apart]
        shared = _explained(recorded, test, together) if together else None
        if alike := [one for one in told if shared is not None and one.may_be(shared)]:
            told = [one for one in told if one not in alike]
            shared = _explained(recorded, test, [*together, *alike]) or shared
        found += [shared, *(_explained(recorded, test, [one]) for one in told)]
    return [one for one in found if one is not None]


def servo_resistances(
    recorded: Recorded, topic_of: Callable[[str], str], usual: float
) -> dict[int, Resistance]:
    """Damping and friction of servos whose gains nobody knows, as far as the motion tells them.

    A command that acts late looks like more damping, so that many lags may explain the motion
    about as well: from none to that with which hardly any damping is left. Of these the one next to
    a usual lag is taken, by the servos that follow their commands. Of others, which sag or slip,
    the damping is a guess of the right size.

    Args:
      recorded: What was recorded.
      topic_of: The topic of a command by its label; those of one topic have one lag.
      usual: Of a controller [s].
    """
    test = Tracking.of(recorded)
    if test is None:
        return {}
    topics: dict[str, list[_Late]] = {}
    for servo in sorted(recorded.guessed & {*test.servos}):
        one = _Late.of(test, servo, SERVO_LAGS)
        if one.powers.min() < _ROUGHLY and not is_velocity_servo(recorded.model, servo):
            topics.setdefault(topic_of(recorded.commands[servo]), []).append(one)
    found: dict[int, Resistance] = {}
    for group in topics.values():
        lag, telling = usual, [one for one in group if one.is_followed]
        if telling:
            lags, powers = _profile(recorded, test, telling, _common(telling))
            best = least_between(lags, powers.sum(axis=0))
            lag = float(np.clip(usual, *profile_interval(lags, powers, best, 0.0)))
        found |= {one.servo: test.resistance(one.servo, lag) for one in group}
    return found


def _common(group: Sequence[_Late]) -> float:
    """The lag that suits all of a group, each in units of its own least."""
    total = sum(one.powers / max(float(one.powers.min()), 1e-12) for one in group)
    return least_between(group[0].lags, np.asarray(total))


def _different(recorded: Recorded, group: list[_Late]) -> list[_Late]:
    """Servos whose own lag explains them far better than that of their controller."""
    common = float(np.median([one.lag for one in group]))
    return [
        one
        for one in group
        if len(group) > 1
        and abs(one.lag - common) > _least(recorded)
        and _OWN * one.left_at(common) > one.left_at(one.lag)
    ]


def _least(recorded: Recorded) -> float:
    return max(_SMALLEST_LAG, 0.75 * recorded.interval)


def _explained(recorded: Recorded, test: Tracking, group: Sequence[_Late]) -> Explanation | None:
    """The common lag of some servos; ``None`` where it does not matter or is not decisive."""
    size = _common(group)
    if not _least(recorded) <= size < _LARGEST_LAG:
        return None
    labels = tuple(recorded.commands[one.servo] for one in group)
    # One that does not do what it is asked for, whatever its lag, says nothing of the others'.
    telling = [one for one in group if one.is_followed] or group
    family, servos = Family(FindingKind.LAG, labels, ()), [one.servo for one in telling]
    before, after = test.misfit(servos), test.misfit(servos, family.change(size))
    limited = test.limited(servos[0]) if len(servos) == 1 else None
    if not all(decisive(after, one) for one in (before, limited) if one is not None):
        return None
    lags, powers = _profile(recorded, test, group, size)
    size = least_between(lags, powers.sum(axis=0))
    interval = profile_interval(lags, powers, size, resolution_of(recorded, labels))
    return Explanation(family.change(size), size, before.share, after.share, interval)


def _profile(
    recorded: Recorded, test: Tracking, group: Sequence[_Late], size: float
) -> tuple[list[float], FloatArray]:
    """Lags about a size, and what they leave by stretch of time, (b, lags)."""
    reach = max(0.6 * size, 3.0 * _least(recorded))
    lags = sorted({*np.linspace(max(size - reach, 0.0), size + reach, _FINE).tolist(), size})
    parts = []
    for one in group:
        powers = one.equation.block_powers(test.commands(one.servo, lags), test.data.block)
        parts.append(powers / max(float(powers.sum(axis=0).min()), 1e-12))
    return lags, np.sum(parts, axis=0)

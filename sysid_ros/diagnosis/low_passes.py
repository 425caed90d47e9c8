# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Low-passes of position servos' commands, which the model's servos lack.

Drivers smooth set points before they pass them on. To first order in its time constant that is a
delay, and to second order it is a negative inertia, which nothing else in a servo's equation is
(:mod:`.tracking`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np

from sysid_ros.diagnosis.evidence import (
    SERVO_LAGS,
    Finding,
    FindingKind,
    Recorded,
)
from sysid_ros.diagnosis.fits import Misfit, ServoEquation, decisive, misfit_of
from sysid_ros.diagnosis.tracking import Tracking
from sysid_ros.engine.elements import is_velocity_servo
from sysid_ros.errors import listed

_CONSTANTS = (0.01, 0.014, 0.02, 0.028, 0.04, 0.056, 0.08, 0.113, 0.16)  # s
_INTERVALS = 1.5  # of commands; a shorter one is what they do between two messages
_SHARE = 0.75  # of a topic's servos, which one driver smooths
_BETTER = 0.5  # of what is left without it, that it may leave; of right ones, 0.9
_MAYBE = 0.8  # of the same, above which no constant near one that was tried is looked for
_OWN = 0.5  # of a servo's own damping, that is left beside a low-pass; of right ones, all of it
_NEAR = np.linspace(-0.006, 0.006, 7)  # s, from the best lag
_ABOUT, _FINE = 1.45, 13  # times the best constant, and how many are tried
_NAMED = 4  # servos in a sentence


def low_pass_findings(
    recorded: Recorded, test: Tracking | None, topic_of: Callable[[str], str]
) -> list[Finding]:
    """One finding for all commands that are smoothed before they act.

    Args:
      recorded: What was recorded, mistakes repaired.
      test: The test of the same; none where no servo can be tested.
      topic_of: The topic of a signal by its label.
    """
    if test is None:
        return []
    topics: dict[str, list[int]] = {}
    smoothed: dict[str, float] = {}
    for servo in test.servos:
        if _may_be_smoothed(recorded, servo):
            topics.setdefault(topic_of(recorded.commands[servo]), []).append(servo)
    for servos in topics.values():
        smoothed |= _of_topic(recorded, test, servos)
    return [_finding(smoothed)] if smoothed else []


def _of_topic(recorded: Recorded, test: Tracking, servos: Sequence[int]) -> dict[str, float]:
    """The time constants [s] of those of a topic's servos that are smoothed, by command.

    None once so many are not that the driver is not what smooths the others.
    """
    found: dict[str, float] = {}
    for tried, servo in enumerate(servos, 1):
        if constant := _constant(recorded, test, servo):
            found[recorded.commands[servo]] = constant
        if tried - len(found) > (1.0 - _SHARE) * len(servos):
            return {}
    return found


def _may_be_smoothed(recorded: Recorded, servo: int) -> bool:
    """Return whether a servo of one joint's position has no state of its own, as a low-pass is."""
    stateless = int(recorded.model.actuator_actnum[servo]) == 0
    plain = len(recorded.arms(servo)) == 1 and not is_velocity_servo(recorded.model, servo)
    return stateless and plain


def _constant(recorded: Recorded, test: Tracking, servo: int) -> float:
    """The time constant [s] of the low-pass before a servo; zero where there is none."""
    label = recorded.commands[servo]
    steps = [np.diff(one[label].times) for one in recorded.recordings if label in one]
    interval = float(np.median(np.concatenate(steps)))
    constants = [0.0, *(one for one in _CONSTANTS if one > _INTERVALS * interval)]
    equation = test.equation(servo)
    after = partial(_left, test, equation, label)
    plain = after(0.0, SERVO_LAGS)
    if not any(
        after(one, SERVO_LAGS).misfit.ratio(plain.misfit) < _MAYBE for one in constants[2::3]
    ):
        return 0.0
    left = [plain, *(after(one, SERVO_LAGS) for one in constants[1:])]
    best = min(range(len(left)), key=lambda k: left[k].misfit.share)
    inside = 0 < best < len(constants) - 1
    if not inside or not decisive(left[best].misfit, plain.misfit, _BETTER):
        return 0.0
    if left[best].damping < _OWN * _own_damping(recorded, test, servo, equation):
        return 0.0
    lags = np.maximum(left[best].lag + _NEAR, 0.0).tolist()
    near = np.geomspace(constants[best] / _ABOUT, constants[best] * _ABOUT, _FINE)
    return float(min(near, key=lambda one: after(one, lags).misfit.share))


@dataclass(frozen=True)
class _Left:
    """The remainder of a command that a servo's equation does not explain."""

    misfit: Misfit
    lag: float  # s, the best of some
    damping: float  # share of the equation's first column, the velocity


def _own_damping(recorded: Recorded, test: Tracking, servo: int, equation: ServoEquation) -> float:
    """The share of the equation's first column that is a servo's own damping, kv/kp of the speed.

    With a low-pass that takes its place the servo's own lag is told as a driver's: both in a row
    are a servo of that lag with an inertia, but for a jerk. Zero where nobody knows the gains.
    """
    if servo in recorded.guessed:
        return 0.0
    _, stiffness, damping = recorded.model.actuator_biasprm[servo, :3].tolist()
    speed = test.data.rate[recorded.positions[recorded.joint_of(servo)]]
    own = damping / stiffness * test.asked(servo) * np.linalg.norm(speed)
    return float(abs(own) / max(float(np.linalg.norm(equation.columns[:, 0])), 1e-300))


def _left(
    test: Tracking, equation: ServoEquation, label: str, constant: float, lags: Sequence[float]
) -> _Left:
    """The remainder of a command behind a low-pass, if there is one, at the best of some lags."""
    data = test.data.low_passed({label: constant}) if constant else test.data
    commands = np.column_stack([data.late(label, one) for one in lags])
    fits = equation.fits(commands, np.arange(len(lags)), np.ones(len(lags)), offset=True)
    best = int(np.argmin(fits.powers))
    command = commands[:, best]
    left = command - equation.position - fits.offsets[best]
    left -= equation.columns @ fits.coefficients[:, best]
    misfit = misfit_of(left[:, None] / max(float(np.std(command)), 1e-9), data.block)
    return _Left(misfit, lags[best], float(fits.coefficients[0, best]))


def _finding(smoothed: Mapping[str, float]) -> Finding:
    labels, constant = tuple(smoothed), float(np.median([*smoothed.values()]))
    it, act, these = "it acts", "acts", "this actuator"
    if len(labels) > 1:
        it, act, these = "they act", "act", "these actuators"
    return Finding(
        FindingKind.SMOOTHED,
        labels,
        {"time_constant": constant},
        f"{listed(map(repr, labels), _NAMED)} {act} as if a low-pass of first order, of "
        f"{constant:.2g} s, smoothed what is asked for before {it}, which the model lacks: "
        f"damping, armature and delays would be made up in its place. Give {these} that time "
        f'constant in the model (timeconst="{constant:.2g}" of a position servo), or map what the '
        "driver passes on.",
    )

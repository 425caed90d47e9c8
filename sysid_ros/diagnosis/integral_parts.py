# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Integral parts of position servos, which the model's servos lack.

A drive with gains kp and ki pulls its joint with kp e + ki times the integral of e, where e is how
far the joint is behind its command. With the rate r = ki/kp

    e = (what friction, inertia and load ask for; see :mod:`.tracking`) - r * integral of e,

up to a constant and a ramp: what the integral begins with, and what zeros add to it. A servo
without an integral part sags under a load for as long as that lasts.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from sysid_ros.arrays import FloatArray, IndexArray
from sysid_ros.dataset import Dataset
from sysid_ros.diagnosis.checked_state import CheckedState
from sysid_ros.diagnosis.evidence import SERVO_LAGS, Finding, FindingKind, Recorded
from sysid_ros.diagnosis.fits import Misfit, bounded_fit, decisive, misfit_of
from sysid_ros.diagnosis.low_passes import low_pass_findings
from sysid_ros.diagnosis.tracking import Tracking
from sysid_ros.engine.elements import is_low_passed, is_velocity_servo
from sysid_ros.engine.simulation import single_blas_thread
from sysid_ros.errors import listed
from sysid_ros.experiment import Experiment

_LEFT = 1e-3  # of the power by which a joint is behind, from which on something is not explained
_SLOWEST = 0.05  # 1/s; a slower integral bears no load within a recording
_NAMED = 4  # servos in a sentence


@dataclass(frozen=True)
class _Behind:
    """A joint behind its command, which takes effect after some lag, in the command's spread."""

    value: FloatArray  # how far, (n,)
    integral: FloatArray  # of that [s], (n,)
    columns: FloatArray  # the most that friction, inertia and load make of it, (n, k)
    # the variance of how far, with what the others go without: a constant and a ramp for each
    # recording, which have no bounds
    power: float

    @classmethod
    def of(cls, test: Tracking, servo: int, labels: tuple[str, str]) -> list[_Behind]:
        """That of a servo after each lag; ``labels`` are its command's and its position's."""
        equation, asked, (told, moved) = test.equation(servo), test.asked(servo), labels
        rest = float(np.mean(equation.position - asked * test.data.value[moved]))
        drift = drift_columns([one.places for one in test.data.stretches])
        columns = _without(drift, equation.columns)
        found = []
        for command, lag in zip(test.commands(servo, SERVO_LAGS).T, SERVO_LAGS, strict=True):
            spread = max(float(np.std(command)), 1e-9)
            integrals = []
            for one in test.data.stretches:
                grid = np.arange(len(one.value[told]), dtype=np.float64)
                sent = np.interp(grid - lag / one.step, grid, one.value[told])
                behind = sent - rest - asked * one.value[moved]
                integrals.append((np.cumsum(behind) * one.step)[one.places])
            both = np.column_stack([command - equation.position, np.concatenate(integrals)])
            value, integral = _without(drift, both).T / spread
            power = float(np.var(both[:, 0] / spread))
            found.append(cls(value, integral, columns / spread, power))
        return found

    def left(self, *, integral: bool) -> tuple[FloatArray, float]:
        """The remainder (n,), with an integral part or without, and that part's rate [1/s]."""
        value, columns = self.value, self.columns
        size = max(float(np.linalg.norm(self.integral)), 1e-300)
        own = self.integral[:, None] / size
        if integral:  # which has no bounds either
            value, columns = _without(own, value), _without(own, columns)
        found = bounded_fit(columns.T @ columns, columns.T @ value, 1.0)
        rest = float(own[:, 0] @ (self.value - self.columns @ found))
        return value - columns @ found, -rest / size


def _without(basis: FloatArray, values: FloatArray) -> FloatArray:
    """The part of values that orthogonal columns of unit length, (n, d), do not explain."""
    return np.asarray(values - basis @ (basis.T @ values))


def drift_columns(places: Sequence[IndexArray]) -> FloatArray:
    """A constant and a ramp for each recording, (n, d), of unit length; none that would be zero.

    All are orthogonal: ramps go through zero in the middle.

    Args:
      places: The instants of each recording that are used, by number; may be none of some.
    """
    ramps = [own - float(np.sum(own)) / max(len(own), 1) for own in places]
    own = np.eye(len(ramps))[np.repeat(np.arange(len(ramps)), [len(ramp) for ramp in ramps])]
    columns = np.column_stack([own, own * np.concatenate(ramps)[:, None]])
    sizes = np.linalg.norm(columns, axis=0)
    return np.asarray(columns[:, sizes > 0.0] / sizes[sizes > 0.0])


def drive_parts(experiment: Experiment, dataset: Dataset) -> tuple[Finding, ...]:
    """Test only whether drives have an integral part or smooth what they are asked for."""
    with single_blas_thread():
        state = CheckedState.of(experiment, dataset)
        return tuple(drive_findings(state, Tracking.of(state.recorded)))


def drive_findings(state: CheckedState, test: Tracking | None) -> list[Finding]:
    """Findings of what drives do beside a servo's law, which the model's lack.

    Args:
      state: What was recorded, mistakes repaired.
      test: The test of the same; none where no servo can be tested.
    """
    found = integral_findings(state.recorded, test)
    return found or low_pass_findings(state.recorded, test, state.lines.topic)


def integral_findings(recorded: Recorded, test: Tracking | None) -> list[Finding]:
    """One finding for all servos that have an integral part.

    Args:
      recorded: What was recorded, mistakes repaired.
      test: The test of the same; none where no servo can be tested.
    """
    rates: dict[int, float] = {}
    if test is None:
        return []
    for servo in test.servos:
        if _is_plain(recorded, servo) and (rate := _rate(recorded, test, servo)):
            rates[servo] = rate
    return [_finding(recorded, rates)] if rates else []


def _is_plain(recorded: Recorded, servo: int) -> bool:
    """Return whether a servo of one joint's position has no state of its own but a low-pass."""
    model = recorded.model
    stateless = int(model.actuator_actnum[servo]) == 0 or is_low_passed(model, servo)
    return stateless and len(recorded.arms(servo)) == 1 and not is_velocity_servo(model, servo)


def _rate(recorded: Recorded, test: Tracking, servo: int) -> float:
    """The gain of a servo's integral part over its own [1/s]; zero where it has none."""
    labels = recorded.commands[servo], recorded.positions[recorded.joint_of(servo)]
    block = test.data.block
    every = _Behind.of(test, servo, labels)
    plain = [misfit_of(one.left(integral=False)[0][:, None], block) for one in every]
    before = min(range(len(every)), key=lambda k: plain[k].share)
    if plain[before].share ** 2 < _LEFT * every[before].power:
        return 0.0
    found: list[tuple[Misfit, float]] = []
    for one in every:
        left, rate = one.left(integral=True)
        found.append((misfit_of(left[:, None], block), rate))
    after, rate = min(found, key=lambda one: one[0].share)
    return rate if rate > _SLOWEST and decisive(after, plain[before]) else 0.0


def _finding(recorded: Recorded, rates: dict[int, float]) -> Finding:
    labels = tuple(recorded.commands[servo] for servo in rates)
    sizes = [float(f"{rate:.2g}") for rate in rates.values()]
    shown = f"{min(sizes):g}" + (f" to {max(sizes):g}" if min(sizes) < max(sizes) else "")
    drives, joints, have = "the drive", "the joint", "is behind its command"
    if len(labels) > 1:
        drives, joints, have = "the drives", "the joints", "are behind their commands"
    return Finding(
        FindingKind.INTEGRAL,
        labels,
        {"rate": max(rates.values())},
        f"An integral part of {drives}, which the model lacks, explains how far {joints} of "
        f"{listed(map(repr, labels), _NAMED)} {have}. Its gain is {shown} times the servo's per "
        "second, so that a load that lasts is borne without a sag; masses, zeros, dampings and "
        "armatures would be made up in its place. Record again with an integral gain of zero, or "
        f"map what {drives} exert{'s' * (len(labels) == 1)}, an effort, in place of commands.",
    )

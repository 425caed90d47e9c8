# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Mistakes in gyroscopes, accelerometers, twists and forces, with the lines that repair them."""

from __future__ import annotations

import copy
import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import mujoco
import numpy as np

from sysid_ros.arrays import FloatArray
from sysid_ros.diagnosis.body_sensors.carried_wrenches import carried_findings
from sysid_ros.diagnosis.body_sensors.kinematic_sensors import Agreement, agreements
from sysid_ros.diagnosis.body_sensors.misplaced_gyroscopes import misplaced_findings
from sysid_ros.diagnosis.evidence import (
    DEGREE,
    Change,
    Declared,
    ExperimentLines,
    Finding,
    FindingKind,
    Recorded,
    finding_of,
    joined,
    named_degrees,
)
from sysid_ros.engine.elements import FREE
from sysid_ros.experiment import UNITS
from sysid_ros.recording.mapping import SignalKind

_RELATED = 0.9  # correlation from which a sensor shows the motion
_MUCH_BETTER = 0.3  # of what is uncorrelated, at most, may be left with the axes exchanged
_MOSTLY = 0.6  # of a velocity, that is in the other frame at the least
_FRAMED = 0.1  # how far from all of it the interval may end ...
_UNSURE = 2.0  # ... and where it must: what is wider tells nothing
_AS_GOOD = 0.02  # less correlation: a half that turns about the vertical only fits either frame
_FACTOR = 1.3  # a scale further from one is wrong; lever arms in models are not exact
_OF_GRAVITY = (UNITS["g"], UNITS["mg"])
_GRAVITY = 9.81  # m/s^2, of models as they are written
_NEAR_GRAVITY = 0.05  # a factor that near to one of these is an accelerometer's unit
_AWAY = 0.5  # rad or m, to where a joint that hangs straight feels its weight
_FELT = 1e-9  # of the weight
_SWAY = 0.3  # of gravity, that accelerations change its size by beside it
_TOLD = (SignalKind.SENSOR, SignalKind.QPOS, SignalKind.QVEL)
_SMALLEST_LAG = 0.01  # s
_BETTER = 0.5  # of what is uncorrelated, at most, may be left at a lag
_SLIPPED = (
    " Or the pose is wrong: one that is summed up from turns of wheels, as /odom mostly is, shows "
    "turns that the base does not make where they slip; leave it out then."
)


@dataclass(frozen=True)
class _Turn:
    """A sensor whose axes are exchanged or reversed: measured = matrix @ expected."""

    matrix: FloatArray
    correlation: float


def body_sensor_findings(
    recorded: Recorded, lines: ExperimentLines, declared: Declared
) -> list[Finding]:
    """Signs, units, scales, axes and lags of sensors on bodies.

    Args:
      recorded: What was recorded, mistakes in positions repaired.
      lines: The experiment's entries.
      declared: The experiment's parameters.
    """
    found = []
    compared = agreements(recorded)
    floats = bool(np.any(np.asarray(recorded.model.jnt_type) == FREE))
    twists = _framed_twists(compared, lines)
    found += [_frame_finding(twist, halves, lines) for twist, halves in twists.items()]
    misplaced = misplaced_findings(recorded, compared, lines)
    elsewhere = {label for one in misplaced for label in one.signals}
    found += misplaced
    for seen in compared:
        if lines.owner(seen.label) in twists or seen.label in elsewhere:
            continue
        reversed_force = seen.weighs and _shown(seen) <= -_RELATED
        turn = None if reversed_force else _turned(seen)
        if turn is not None:
            found.append(_turned_finding(seen, turn, lines))
            continue
        change, size = _mistake(seen)
        if change is not None and not declared.explains(change, size):
            found.append(_finding(seen, change, lines))
            if floats and seen.turns and change.kind is FindingKind.SCALE:
                found[-1] = replace(found[-1], sentence=found[-1].sentence + _SLIPPED)
        lag = None if seen.weighs else _lag(seen)
        if lag is not None and not declared.explains(lag, seen.lag):
            found.append(_finding(seen, lag, lines))
    others = _accelerometers(recorded) - {seen.label for seen in compared}
    found += _weighed(recorded, sorted(others), lines, declared)
    found += _weightless(recorded, lines)
    return [*found, *carried_findings(recorded, lines)]


def _accelerometers(recorded: Recorded) -> set[str]:
    """Names of the recorded sensors that feel gravity."""
    model, kind = recorded.model, int(mujoco.mjtSensor.mjSENS_ACCELEROMETER)
    names = {str(model.sensor(one).name) for one in np.flatnonzero(model.sensor_type == kind)}
    return {name for name in names if any(name in signals for signals in recorded.vectors)}


def _weightless(recorded: Recorded, lines: ExperimentLines) -> list[Finding]:
    """Gravity that a model lacks and an accelerometer feels, where no joint would.

    Models of what moves in a plane are drawn without; where something could fall, it has a reason.
    """
    model = recorded.model
    parts = [
        np.concatenate([signals[label].values for signals in recorded.vectors if label in signals])
        for label in sorted(_accelerometers(recorded))
    ]
    if np.any(model.opt.gravity) or len(parts) != 1:
        return []
    low, usual, high = np.percentile(np.linalg.norm(parts[0], axis=1), [5, 50, 95])
    steady = low > (1.0 - _SWAY) * usual and high < (1.0 + _SWAY) * usual
    (label,), down = _accelerometers(recorded), np.array([0.0, 0.0, -_GRAVITY])
    data = mujoco.MjData(model)
    mujoco.mj_forward(model, data)
    site = data.site_xmat[int(model.sensor(label).objid[0])].reshape(3, 3)
    upwards = float((site @ parts[0].mean(axis=0))[2]) > _RELATED * usual
    near = abs(usual - _GRAVITY) < _NEAR_GRAVITY * _GRAVITY
    if not (steady and near and upwards) or _falls(model, down):
        return []
    return [
        Finding(
            FindingKind.MOUNTING,
            (),
            {"size": float(usual), **dict(zip("xyz", down.tolist(), strict=True))},
            f"The model has no gravity, and {label!r} feels it: as recorded, it reads "
            f"{usual:.3g} m/s^2 in every direction of its motion. No joint of the model would "
            "feel it.",
            *lines.gravity(down.tolist()),
        )
    ]


def _falls(model: mujoco.MjModel, gravity: FloatArray) -> bool:
    """Return whether joints feel a gravity, as drawn and away from there."""
    weighed = copy.copy(model)
    weighed.opt.gravity = gravity
    data, forces = mujoco.MjData(weighed), np.zeros(model.nv)
    for _ in range(2):
        mujoco.mj_forward(weighed, data)
        forces = np.maximum(forces, np.abs(data.qfrc_bias))
        mujoco.mj_integratePos(weighed, data.qpos, np.full(model.nv, _AWAY), 1.0)
    return bool(np.any(forces > _FELT * _GRAVITY * float(model.body_mass.sum())))


def _weighed(
    recorded: Recorded, labels: Sequence[str], lines: ExperimentLines, declared: Declared
) -> list[Finding]:
    """Units of accelerometers of which no position says what they read: of most of it, gravity.

    What a driver takes gravity out of has no size that lasts.
    """
    found = []
    for label in labels:
        parts = [signals[label].values for signals in recorded.vectors if label in signals]
        low, usual, high = np.percentile(np.linalg.norm(np.concatenate(parts), axis=1), [5, 50, 95])
        steady = low > (1.0 - _SWAY) * usual and high < (1.0 + _SWAY) * usual
        weight = float(np.linalg.norm(recorded.model.opt.gravity))
        for unit in _OF_GRAVITY:
            change = Change(FindingKind.UNIT, scale={label: unit})
            near = abs(usual * unit - weight) < _NEAR_GRAVITY * weight
            if steady and near and not declared.explains(change, unit):
                why = f"As recorded, it reads {usual:.3g} in every direction of its motion."
                found.append(finding_of(change, lines, {"size": float(usual)}, why))
    return found


def downward_findings(recorded: Recorded, lines: ExperimentLines) -> list[Finding]:
    """Poses and sensors told in axes whose y and z point the other way, as NED and FRD.

    A pose alone does not show that: a level body has no rotation in either. An accelerometer that
    agrees with it only where gravity points up in the pose's axes does, and both are such then.

    Args:
      recorded: What was recorded.
      lines: The experiment's entries.
    """
    floats = bool(np.any(np.asarray(recorded.model.jnt_type) == FREE))
    for seen in agreements(recorded) if floats and _accelerometers(recorded) else ():
        better = 1.0 - seen.upside_down**2 < _MUCH_BETTER * (1.0 - _best_turned(seen) ** 2)
        if seen.upside_down < _RELATED or not better:
            continue
        owners = {lines.owner(label) for signals in recorded.vectors for label in signals}
        told = sorted(label for label in owners if lines.config(label).kind in _TOLD)
        repair = joined(
            [lines.signal(label, {"z_down": not lines.config(label).z_down}) for label in told]
        )
        evidence = {"correlation": seen.correlation, "correlation_turned": seen.upside_down}
        return [
            Finding(
                FindingKind.SIGN,
                (seen.label, *(label for label in told if label != seen.label)),
                evidence,
                f"{seen.label!r} agrees with the recorded pose only if gravity points the other "
                f"way (correlation {seen.upside_down:.3g}, as the model has it "
                f"{seen.correlation:.3g}): y and z of the frames of both, the world's and the "
                "body's, are reversed, as in NED and FRD. Repair it, and check again.",
                *repair,
            )
        ]
    return []


def _best_turned(seen: Agreement) -> float:
    """The largest correlation of a sensor with its axes exchanged or reversed."""
    if len(seen.axes) != 3:
        return abs(seen.correlation)
    return max(float(np.sum(turn * seen.axes)) for turn in _signed_permutations())


def _framed_twists(
    compared: Sequence[Agreement], lines: ExperimentLines
) -> dict[str, list[Agreement]]:
    """Both halves of each twist of which one agrees if it is in the other frame's axes."""
    halves: dict[str, list[Agreement]] = {}
    for seen in compared:
        owner = lines.owner(seen.label)
        if lines.config(owner).kind is SignalKind.QVEL:
            halves.setdefault(owner, []).append(seen)
    return {owner: both for owner, both in halves.items() if any(map(_is_framed, both))}


def _is_framed(seen: Agreement) -> bool:
    low, high = seen.in_other
    whole = low <= 1.0 + _FRAMED and high >= 1.0 - _FRAMED
    sure = low >= _MOSTLY and high <= _UNSURE
    return sure and whole and seen.other_frame >= _RELATED


def _frame_finding(twist: str, halves: Sequence[Agreement], lines: ExperimentLines) -> Finding:
    said = lines.config(twist).frame
    other = "world" if said == "body" else "body"
    framed = [seen for seen in halves if _is_framed(seen)]
    both = all(
        seen.other_frame >= seen.correlation - _AS_GOOD and seen.in_other[1] >= _MOSTLY
        for seen in halves
    )
    repair = lines.signal(twist, {"frame": other}) if both else lines.removed(twist)
    what = " and ".join(repr(seen.label) for seen in framed)
    seen = framed[0]
    return Finding(
        FindingKind.SWAP,
        (twist,),
        {
            "correlation": seen.correlation,
            "correlation_turned": seen.other_frame,
            "in_other_low": seen.in_other[0],
            "in_other_high": seen.in_other[1],
        },
        f"{what} {'is' if len(framed) == 1 else 'are'} in the axes of the {other}, not of the "
        f"{said} (correlation with the motion that the positions show: {seen.correlation:.3g}, in "
        f"the {other}'s axes {seen.other_frame:.3g}; the share that is in these, by the parts in "
        f"which both differ, is {seen.in_other[0]:.2g} to {seen.in_other[1]:.2g})."
        + ("" if both else " The other half is not: no frame of the whole twist is right."),
        *repair,
    )


def _shown(seen: Agreement) -> float:
    """The correlation; of a force or a torque, which nobody may have zeroed, without means."""
    return seen.unlagged if seen.weighs else seen.correlation


def _mistake(seen: Agreement) -> tuple[Change | None, float]:
    """Find the change that makes a sensor read what the positions say."""
    if abs(max(_shown(seen), seen.lagged, key=abs)) < _RELATED:
        return None, 0.0
    size = abs(seen.slope)
    sign = -1.0 if seen.slope < 0.0 else 1.0
    if seen.weighs:  # its size follows the masses that it carries
        reverse = Change(FindingKind.SIGN, scale={seen.label: -1.0})
        return (reverse if _shown(seen) <= -_RELATED else None), 0.0
    if seen.turns and named_degrees(size):
        factor = DEGREE if size > 1.0 else 1.0 / DEGREE
        return Change(FindingKind.DEGREES, scale={seen.label: sign * factor}), factor
    if max(size, 1.0 / size) > _FACTOR:
        factor, kind = 1.0 / size, FindingKind.SCALE
        for unit in () if seen.turns else _OF_GRAVITY:
            if abs(factor / unit - 1.0) < _NEAR_GRAVITY:
                factor, kind = unit, FindingKind.UNIT if sign > 0.0 else kind
        return Change(kind, scale={seen.label: sign * factor}), sign * factor
    if sign < 0.0:
        return Change(FindingKind.SIGN, scale={seen.label: -1.0}), 0.0
    return None, 0.0


def _lag(seen: Agreement) -> Change | None:
    low, high = seen.lag_interval
    known = abs(seen.lagged) >= _RELATED and (low > 0.0 or high < 0.0)
    better = 1.0 - seen.lagged**2 < _BETTER * (1.0 - seen.unlagged**2)
    if not known or not better or abs(seen.lag) < _SMALLEST_LAG:
        return None
    return Change(FindingKind.LAG, delay={seen.label: seen.lag})


def _turned(seen: Agreement) -> _Turn | None:
    """The exchange of axes that makes a sensor agree which does not as it is."""
    if len(seen.axes) != 3:
        return None
    turns = [_Turn(turn, float(np.sum(turn * seen.axes))) for turn in _signed_permutations()]
    best = max(turns, key=lambda turn: turn.correlation)
    exchanged = abs(float(best.matrix.trace())) < 3.0
    better = 1.0 - best.correlation**2 < _MUCH_BETTER * (1.0 - seen.correlation**2)
    return best if exchanged and better and best.correlation >= _RELATED else None


def _signed_permutations() -> Iterator[FloatArray]:
    """Every exchange and reversal of three axes."""
    for order in itertools.permutations(range(3)):
        for signs in itertools.product((1.0, -1.0), repeat=3):
            yield np.eye(3)[list(order)] * np.array(signs)[:, None]


def _turned_finding(seen: Agreement, turn: _Turn, lines: ExperimentLines) -> Finding:
    axes = [
        f"its {name} is {'-' if row.sum() < 0.0 else ''}{'xyz'[int(np.argmax(np.abs(row)))]}"
        for name, row in zip("xyz", turn.matrix, strict=True)
        if row["xyz".index(name)] != 1.0
    ]
    mirrored = float(np.linalg.det(turn.matrix)) < 0.0
    how = (
        "No mounting does that: the driver reverses an axis."
        if mirrored
        else "Turn the sensor's site in the model."
    )
    exchanged = bool(np.any(np.diag(turn.matrix) == 0.0))
    repair = lines.removed(lines.owner(seen.label))
    return Finding(
        FindingKind.SWAP if exchanged else FindingKind.SIGN,
        (seen.label,),
        {"correlation": seen.correlation, "correlation_turned": turn.correlation},
        f"The axes of {seen.label!r} are not the model's: {', '.join(axes)} (correlation with the "
        f"motion that the positions show: {seen.correlation:.2g}, so turned {turn.correlation:.3g})"
        f". {how}",
        *repair,
    )


def _finding(seen: Agreement, change: Change, lines: ExperimentLines) -> Finding:
    evidence = {"correlation": seen.correlation, "slope": seen.slope}
    interval, claim, why = None, None, ""
    if change.kind is FindingKind.LAG:
        interval = seen.lag_interval
        evidence = {"size": seen.lag, "size_low": interval[0], "size_high": interval[1]}
        early = "after" if seen.lag > 0.0 else "before"
        claim = (
            f"{seen.label!r} shows the motion {abs(1e3 * seen.lag):.3g} ms {early} the positions "
            f"(correlation {seen.lagged:.3g}, as stamped {seen.unlagged:.3g})."
        )
    else:
        why = (
            f"It reads {seen.slope:.3g} times what the motion that the positions show makes it "
            f"read (correlation {seen.correlation:.3g})."
        )
    found = finding_of(change, lines, evidence, why, interval=interval)
    return found if claim is None else replace(found, sentence=claim)

# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Wrong signs, units, scales and offsets of what servos are asked for.

Every hypothesis is tried with every delay, so that a delay hides no other mistake and no other
mistake passes for a delay. What promises something is then scored with a robust fit.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from sysid_ros.diagnosis.evidence import (
    DEGREE,
    SCALES,
    SERVO_LAGS,
    Change,
    Explanation,
    Family,
    FindingKind,
    Recorded,
    best_of,
    is_pushed,
    joint_labels,
    loads,
    motion_range,
    moves,
    named_degrees,
    offset_unit,
    repaired,
    size_interval,
)
from sysid_ros.diagnosis.fits import Misfit, decisive
from sysid_ros.diagnosis.servo_exchanges import exchanged, signs_together
from sysid_ros.diagnosis.tracking import Tracking

_VISIBLE = 0.0025  # of a command's power, from which something may be wrong
_PROMISING = 0.5  # of the power that screening leaves without a repair
_SMALLEST_OFFSET = 0.1  # rad, or of a slide's range, that no servo's sag explains
_LEAST_OFFSET = 0.03  # of the same, where a stiff servo hardly sags
_SAGS = 2.0  # times the largest load of a robot on this servo, as springs and loads may add
_TURNS = (0.05, 20.0)  # rad, between which a joint's motion is believable
_DECISIVE = 0.6  # ratio of unexplained powers that decides which of two signals is wrong
_SAME = 1.1  # ratio of powers up to which two repairs are as good as each other
_MOST_TRIED = 5  # hypotheses per servo that are scored exactly
_OTHER_UNIT = 10.0  # factor from which a scale with a zero of its own is another unit
_PLAIN = {FindingKind.SIGN, FindingKind.DEGREES}  # which no push looks like
_SURELY = 0.02  # of a factor, by which that of a gear may be missed
_MILLI = 1e-3
_SLOPES = tuple(scale for scale in SCALES if not named_degrees(scale))


@dataclass(frozen=True)
class _Hypothesis:
    """A command that is slope times the position plus an offset, late by a lag [s]."""

    slope: float
    offset: float
    lag: float
    power: float

    def repairs(self, recorded: Recorded, servo: int) -> list[tuple[Change, float]]:
        """The changes that undo it but for the lag, each with its size."""
        command = (recorded.commands[servo],)
        found: list[tuple[Change, float]] = []
        size = abs(self.slope)
        unit = self.offset and _is_other_unit(size)
        if unit:
            zero = {command[0]: -self.offset / size}
            found.append((Change(FindingKind.UNIT, {command[0]: 1.0 / size}, zero), 1.0 / size))
        if self.slope < 0.0:
            found.append((Change(FindingKind.SIGN, scale={command[0]: -1.0}), 0.0))
        if unit:
            return found
        if named_degrees(size):
            joint = recorded.joint_of(servo)
            own, factor = joint_labels(recorded, joint), DEGREE
            if size > 1.0:
                own = command
            elif not _believable(recorded, joint, DEGREE):  # so small a motion is none of degrees
                own, factor = command, 1.0 / DEGREE
            found.append((Change(FindingKind.DEGREES, scale=dict.fromkeys(own, factor)), 0.0))
        elif size != 1.0:
            found.append((Family(FindingKind.SCALE, command, ()).change(1.0 / size), 1.0 / size))
        if self.offset:
            added = -self.offset / self.slope
            found.append((Family(FindingKind.OFFSET, command, ()).change(added), added))
        return found

    def late(self, recorded: Recorded, servo: int) -> tuple[Change, ...]:
        """The change that undoes the lag of a servo; none without one."""
        if not self.lag:
            return ()
        return (Change(FindingKind.LAG, delay={recorded.commands[servo]: self.lag}),)


@dataclass(frozen=True)
class _Scored:
    hypothesis: _Hypothesis
    repairs: list[tuple[Change, float]]
    misfit: Misfit

    @property
    def kinds(self) -> set[FindingKind]:
        """The kinds of its repairs."""
        return {change.kind for change, _ in self.repairs}


def servo_explanations(
    recorded: Recorded, *, single: bool = False, known: Tracking | None = None
) -> list[Explanation]:
    """The repairs that explain best what servos did, apart from delays.

    Args:
      recorded: What was recorded.
      single: Whether only servos of one joint are tested. What several joints do together does not
        tell whose mistake it is.
      known: The test of what was recorded, where there is one already.

    Returns:
      To be applied in order; those of one servo stand together.
    """
    test = known or Tracking.of(recorded)
    if test is None:
        return []
    servos = [one for one in test.servos if not single or len(recorded.arms(one)) == 1]
    found: list[tuple[list[Explanation], tuple[int, ...]]] = [
        (_of_one(recorded, test, servo), (servo,)) for servo in servos
    ]
    found += exchanged(recorded, test, servos)
    found = [entry for entry in found if entry[0]]
    found.sort(key=lambda entry: entry[0][-1].after / max(entry[0][0].before, 1e-12))
    accepted: list[Explanation] = []
    settled: set[int] = set()
    for explanations, concerned in found:
        if settled.isdisjoint(concerned):
            settled.update(concerned)
            accepted += explanations
    return signs_together(recorded, test, accepted)


def _of_one(recorded: Recorded, test: Tracking, servo: int) -> list[Explanation]:
    """The repairs of one servo's command or its joint's position; none where nothing decides."""
    before = test.misfit((servo,))
    if before.share**2 < _VISIBLE:
        return []
    hypotheses, small = _screened(recorded, test, servo)
    plain = _scored(recorded, test, servo, hypotheses[0])
    # A zero that a sag may explain is no finding; nor is what explains no more than it does.
    rivals = [plain, *(_scored(recorded, test, servo, one) for one in small)]
    accepted: list[_Scored] = []
    most = _PROMISING * hypotheses[0].power
    for hypothesis in [one for one in hypotheses[1:] if one.power <= most][:_MOST_TRIED]:
        one = _scored(recorded, test, servo, hypothesis)
        simpler = [*rivals, *(other for other in accepted if other.kinds < one.kinds)]
        if all(decisive(one.misfit, other.misfit) for other in simpler):
            accepted.append(one)
    limited = test.limited(servo) if accepted else None
    if limited is not None:
        accepted = [one for one in accepted if decisive(one.misfit, limited)]
    if accepted and _is_pushed(recorded, test.asked(servo), servo, accepted):
        accepted = [one for one in accepted if one.kinds <= _PLAIN]
    accepted = [
        one
        for one in accepted
        if one.kinds <= _PLAIN or not test.pushed_off(servo, [change for change, _ in one.repairs])
    ]
    if not accepted:
        return []
    return _explained(recorded, test, servo, plain.misfit, _simplest(accepted))


def _simplest(accepted: Sequence[_Scored]) -> _Scored:
    """The first of those as good as the best; one with numbers only if that decides."""
    named = [one for one in accepted if one.kinds <= _PLAIN]
    sized = [x for x in accepted if all(decisive(x.misfit, one.misfit) for one in named)]
    least = min(one.misfit.share for one in sized or named)
    return next(one for one in sized or named if one.misfit.share**2 <= _SAME * least**2 + 1e-8)


def _is_pushed(recorded: Recorded, asked: float, servo: int, repairs: Sequence[_Scored]) -> bool:
    """Return whether the joint cannot follow, nor could if its position was told wrong instead."""
    joint = recorded.joint_of(servo)
    label, found = recorded.positions[joint], [one.hypothesis for one in repairs]
    instead = [
        Change(FindingKind.SCALE, {label: one.slope}, {label: one.offset / asked}) for one in found
    ]  # where the servo asks it to be: what keeps it from there is met there all the more
    after = (recorded, *(repaired(recorded, change) for change in instead))
    return all(is_pushed(one, joint) for one in after)


def _scored(recorded: Recorded, test: Tracking, servo: int, hypothesis: _Hypothesis) -> _Scored:
    repairs = hypothesis.repairs(recorded, servo)
    late = hypothesis.late(recorded, servo)
    misfit = test.misfit((servo,), *(change for change, _ in repairs), *late)
    return _Scored(hypothesis, repairs, misfit)


def _screened(
    recorded: Recorded, test: Tracking, servo: int
) -> tuple[list[_Hypothesis], list[_Hypothesis]]:
    """Every pattern of mistakes with its best sizes: none first, then the simpler first.

    The second list has the best zero that is too small, if there is one.
    """
    joint = recorded.joint_of(servo)
    hinge, moving = recorded.is_hinge(joint), moves(recorded, joint)
    slopes = [1.0, -1.0]
    if hinge:
        slopes += [1.0 / DEGREE, DEGREE, -1.0 / DEGREE, -DEGREE]
    if moving:
        own = [1.0 / one for one in _of_joints(recorded, test, servo)]
        slopes += [sign * slope for slope in (*_SLOPES, *own) for sign in (1.0, -1.0)]
    equation, commands = test.equation(servo), test.commands(servo, SERVO_LAGS)
    if moving and _is_other_unit(ratio := equation.ratio(commands)):
        slopes.append(ratio)
    each = np.repeat(slopes, len(SERVO_LAGS))
    which = np.tile(np.arange(len(SERVO_LAGS)), len(slopes))
    best: dict[tuple[FindingKind, ...], _Hypothesis] = {}
    small: list[_Hypothesis] = []
    unit = offset_unit(recorded, joint) * abs(test.asked(servo))
    smallest = _smallest_offset(recorded, servo) * unit
    for offset in (False, True) if unit and moving else (False,):
        fits = equation.fits(commands, which, each, offset=offset)
        table = fits.powers.reshape(len(slopes), -1)
        places = np.argmin(table, axis=1) + len(SERVO_LAGS) * np.arange(len(slopes))
        for i in places[np.argsort(fits.powers[places])]:
            one = _Hypothesis(
                float(each[i]), float(fits.offsets[i]), SERVO_LAGS[which[i]], float(fits.powers[i])
            )
            if offset and abs(one.offset / one.slope) < smallest:
                small += [one] if one.slope == 1.0 and not small else []
                continue
            pattern = tuple(change.kind for change, _ in one.repairs(recorded, servo))
            if len(pattern) <= 2:
                best.setdefault(pattern, one)
    parts = {one: len(pattern) for pattern, one in best.items()}
    return sorted(parts, key=lambda one: (parts[one], one.power)), small


def _smallest_offset(recorded: Recorded, servo: int) -> float:
    """The share of a joint's unit of offsets from which no sag of its servo explains one."""
    joint = recorded.joint_of(servo)
    stiffness = -float(recorded.model.actuator_biasprm[servo, 1]) * float(
        recorded.model.actuator_gear[servo, 0] ** 2
    )
    if servo in recorded.guessed or not recorded.is_hinge(joint) or stiffness <= 0.0:
        return _SMALLEST_OFFSET
    hinges = [one for one in recorded.positions if recorded.is_hinge(one)]
    most = float(loads(recorded)[recorded.model.jnt_dofadr[hinges]].max())
    return min(_SMALLEST_OFFSET, max(_LEAST_OFFSET, _SAGS * most / stiffness))


def _is_other_unit(ratio: float) -> bool:
    size = abs(ratio)
    return max(size, 1.0 / size) > _OTHER_UNIT and not named_degrees(size)


def _explained(
    recorded: Recorded, test: Tracking, servo: int, before: Misfit, best: _Scored
) -> list[Explanation]:
    """The parts of a hypothesis one by one, their sizes refined."""
    late = best.hypothesis.late(recorded, servo)
    changes = [change for change, _ in best.repairs]
    found: list[Explanation] = []
    for i, (change, size) in enumerate(best.repairs):
        beside = _Fixed(test, servo, tuple(one.change for one in found), (*changes[i + 1 :], *late))
        one = _attributed(recorded, beside, servo, _refined(beside, change, size))
        found.append(replace(one, before=before.share))
    return found


@dataclass(frozen=True)
class _Fixed:
    """Scores one change beside others that stay."""

    test: Tracking
    servo: int
    before: Sequence[Change]
    after: Sequence[Change]

    @property
    def middle(self) -> float:
        """The mean of the command as recorded."""
        return float(np.mean(self.test.commands(self.servo, (0.0,))))

    def misfit(self, *changes: Change) -> Misfit:
        """The remainder."""
        return self.test.misfit((self.servo,), *self.before, *changes, *self.after)


def _refined(test: _Fixed, change: Change, size: float) -> Explanation:
    if not size:
        return Explanation(change, 0.0, 0.0, test.misfit(change).share)
    factors = (0.8, 1.0, 1.25)
    family = Family(change.kind, change.signals, tuple(sorted(size * one for one in factors)))
    if change.kind is FindingKind.UNIT:
        after = size * test.middle + next(iter(change.offset.values()))
        family = replace(family, kept=(test.middle, after))
    found, misfit = best_of(family, test.misfit, test.misfit())
    better = family.change(found)
    if change.kind is FindingKind.UNIT:
        return Explanation(better, 0.0, 0.0, misfit.share)
    interval = size_interval(better, found, test.misfit)
    return Explanation(better, found, 0.0, misfit.share, interval)


def _attributed(recorded: Recorded, test: _Fixed, servo: int, found: Explanation) -> Explanation:
    """A repair of a command, or the opposite one of the position, whichever fits.

    They differ only by how the load depends on the position. Where that decides nothing both are
    named, an offset as the position's, since encoders have zeros.
    """
    kind, joint = found.change.kind, recorded.joint_of(servo)
    if kind is FindingKind.UNIT:
        return found
    if kind is FindingKind.DEGREES:
        return _in_degrees(recorded, test, servo, found)
    if kind is FindingKind.SIGN:
        return _signed(recorded, test, joint, found)
    for factor in _of_joints(recorded, test.test, servo) if kind is FindingKind.SCALE else ():
        if abs(found.size / factor - 1.0) < _SURELY:
            exact = Change(FindingKind.UNIT, scale=dict.fromkeys(found.change.signals, factor))
            return Explanation(exact, 0.0, found.before, test.misfit(exact).share)
    offset = kind is FindingKind.OFFSET
    labels = (recorded.positions[joint],) if offset else joint_labels(recorded, joint)
    opposite = -found.size / test.test.asked(servo) if offset else 1.0 / found.size
    family = Family(kind, labels, tuple(sorted(opposite * factor for factor in (0.8, 1.0, 1.25))))
    size, misfit = best_of(family, test.misfit, test.misfit())
    ratio = misfit.ratio(test.misfit(found.change))
    if ratio > 1.0 / _DECISIVE or not (offset or _believable(recorded, joint, size)):
        return found
    other = family.change(size)
    if ratio > 1.0 and not offset:
        return replace(found, alternatives=(other,))
    return Explanation(
        other,
        size,
        found.before,
        misfit.share,
        size_interval(other, size, test.misfit),
        (found.change,) if ratio >= _DECISIVE else (),
    )


def _in_degrees(recorded: Recorded, test: _Fixed, servo: int, found: Explanation) -> Explanation:
    """The unit of a command, or the opposite one of its position where that surely fits better."""
    (factor,), joint = {*found.change.scale.values()}, recorded.joint_of(servo)
    other: tuple[str, ...] = (recorded.commands[servo],)
    if found.change.signals == other:
        other = joint_labels(recorded, joint)
        if not _believable(recorded, joint, 1.0 / factor):
            return found
    change = Change(FindingKind.DEGREES, scale=dict.fromkeys(other, 1.0 / factor))
    misfit = test.misfit(change)
    surely = misfit.ratio(test.misfit(found.change)) < _DECISIVE
    return Explanation(change, 0.0, found.before, misfit.share) if surely else found


def _of_joints(recorded: Recorded, test: Tracking, servo: int) -> tuple[float, ...]:
    """Factors of commands that are the joint's own, of a servo that is asked for its motor's.

    A screw is asked for turns, and told millimetres by who knows its lead.
    """
    gear = abs(test.asked(servo))
    unit = DEGREE if recorded.is_hinge(recorded.joint_of(servo)) else _MILLI
    return () if gear in (0.0, 1.0) else (gear, gear * unit)


def _signed(recorded: Recorded, test: _Fixed, joint: int, found: Explanation) -> Explanation:
    """The sign of a command, or of its joint's measurements where loads tell them apart."""
    labels = joint_labels(recorded, joint)
    other = Change(FindingKind.SIGN, scale=dict.fromkeys(labels, -1.0))
    share = test.misfit(other).share
    if found.after**2 > _SAME * share**2 + 1e-8:
        return replace(found, change=other, after=share)
    equal = share**2 <= _SAME * found.after**2 + 1e-8
    return replace(found, alternatives=(other,)) if equal else found


def _believable(recorded: Recorded, joint: int, scale: float) -> bool:
    """Return whether a joint's motion would be that of a joint if its position were scaled."""
    reach = scale * motion_range(recorded, joint)[0]
    return not recorded.is_hinge(joint) or _TURNS[0] < reach < _TURNS[1]


def counterparts(recorded: Recorded, labels: tuple[str, ...]) -> tuple[str, ...]:
    """List rival mistakes: positions for servos' commands, commands for positions."""
    command_of = {
        recorded.positions.get(recorded.joint_of(servo)): command
        for servo, command in recorded.commands.items()
    }
    position_of = {command: position for position, command in command_of.items()}
    found = (position_of.get(label, command_of.get(label)) for label in labels)
    return tuple(label for label in found if label is not None)

# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Mistakes in what servos are asked for, servo by servo and pair by pair."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import replace

from sysid_ros.diagnosis.explanation import (
    LIMITS,
    Explanation,
    best_explanation,
    best_of,
    named_degrees,
    size_interval,
)
from sysid_ros.diagnosis.finding import Change, FindingKind
from sysid_ros.diagnosis.hypotheses import (
    DEGREE,
    LAGS,
    SCALES,
    Family,
    both_ways,
    joint_labels,
    joint_pairs,
)
from sysid_ros.diagnosis.recorded import Recorded
from sysid_ros.diagnosis.sampling_mistakes import motion_range, moves
from sysid_ros.diagnosis.tracking import Tracking, tracked

_LEFT = 0.95  # share of the commands that a repair may leave; a servo at its limits follows badly
_LIMITS = {  # of the power that a repair may leave; slow servos leave much of it anyway
    **LIMITS,
    FindingKind.DEGREES: 0.75,
    FindingKind.OFFSET: 0.85,
    FindingKind.SCALE: 0.7,
}
_SMALLEST_OFFSET = 0.1  # rad, that a servo's sag does not explain
_TURNS = (0.05, 20.0)  # rad, between which a joint's motion is believable
_SUSPECT = 0.3  # share left of a command that may be another servo's
_DECISIVE = 0.6  # ratio of unexplained powers that decides which of two signals is wrong


def servo_explanations(recorded: Recorded) -> list[Explanation]:
    """The repairs that explain best what servos did, at most one for each servo.

    Args:
      recorded: What was recorded.
    """
    servos = tracked(recorded)
    found: list[tuple[Explanation, tuple[int, ...]]] = [
        (explanation, (servo,))
        for servo in servos
        if (explanation := _of_one(recorded, servo)) is not None
    ]
    suspects = [servo for servo in servos if _left(recorded, servo) > _SUSPECT]
    for pair in itertools.combinations(suspects, 2):
        explanation = _exchanged(recorded, pair)
        if explanation is not None:
            found.append((explanation, pair))
    found.sort(key=lambda entry: entry[0].after / max(entry[0].before, 1e-12))
    accepted: list[Explanation] = []
    settled: set[int] = set()
    for explanation, concerned in found:
        if settled.isdisjoint(concerned):
            settled.update(concerned)
            accepted.append(explanation)
    return accepted


def _left(recorded: Recorded, servo: int) -> float:
    """Share of a command that is unexplained as recorded."""
    test = Tracking(recorded, (servo,))
    return test.misfit().share if test.usable else 0.0


def _of_one(recorded: Recorded, servo: int) -> Explanation | None:
    test = Tracking(recorded, (servo,))
    if not test.usable:
        return None
    best = best_explanation(
        test,
        _changes(recorded, servo),
        _families(recorded, servo),
        recorded,
        unexplained=_LEFT,
        limits=_LIMITS,
    )
    if best is None or (0.0 < abs(best.size) < _SMALLEST_OFFSET and best.change.offset):
        return None
    return _attributed(recorded, test, servo, best)


def _exchanged(recorded: Recorded, servos: tuple[int, int]) -> Explanation | None:
    test = Tracking(recorded, servos)
    if not test.usable:
        return None
    one, other = (recorded.joint_of(servo) for servo in servos)
    changes = [
        Change(
            FindingKind.SWAP, exchange=((recorded.servos[servos[0]], recorded.servos[servos[1]]),)
        )
    ]
    if recorded.is_hinge(one) == recorded.is_hinge(other):
        changes.append(Change(FindingKind.SWAP, exchange=joint_pairs(recorded, one, other)))
    return best_explanation(test, changes, (), recorded, unexplained=_LEFT)


def _changes(recorded: Recorded, servo: int) -> Iterator[Change]:
    """Wrong signs and degrees of a servo's command, or of its joint's measurements."""
    joint = recorded.joint_of(servo)
    for labels in ((recorded.servos[servo],), joint_labels(recorded, joint)):
        yield Change(FindingKind.SIGN, scale=dict.fromkeys(labels, -1.0))
        if recorded.is_hinge(joint):
            yield Change(FindingKind.DEGREES, scale=dict.fromkeys(labels, DEGREE))


def _families(recorded: Recorded, servo: int) -> Iterator[Family]:
    """Offsets, scales and lags of a servo's command."""
    labels, joint = (recorded.servos[servo],), recorded.joint_of(servo)
    if moves(recorded, joint):
        if recorded.is_hinge(joint):
            yield Family(FindingKind.OFFSET, labels, both_ways())
        yield Family(FindingKind.SCALE, labels, SCALES)
    yield Family(FindingKind.LAG, labels, LAGS)


def _attributed(recorded: Recorded, test: Tracking, servo: int, found: Explanation) -> Explanation:
    """An offset or scale of a command, or the opposite one of the position, whichever fits.

    They differ only by how the load depends on the position. Where that decides nothing both are
    named, an offset as the position's, since encoders have zeros.
    """
    kind = found.change.kind
    if kind not in (FindingKind.OFFSET, FindingKind.SCALE):
        return found
    offset = kind is FindingKind.OFFSET
    joint = recorded.joint_of(servo)
    labels = (recorded.positions[joint],) if offset else joint_labels(recorded, joint)
    opposite = -found.size if offset else 1.0 / found.size
    family = Family(kind, labels, tuple(sorted(opposite * factor for factor in (0.8, 1.0, 1.25))))
    size, misfit = best_of(family, test.misfit, test.misfit())
    ratio = misfit.ratio(test.misfit(found.change))
    if ratio > 1.0 / _DECISIVE or not (offset or _believable(recorded, joint, size)):
        return found
    other = family.change(size)
    degrees = Family(FindingKind.DEGREES, labels, ()).change(DEGREE if size < 1.0 else 1.0 / DEGREE)
    if not offset and recorded.is_hinge(joint) and named_degrees(size):
        return Explanation(degrees, 0.0, found.before, test.misfit(degrees).share)
    if ratio > 1.0 and not offset:
        return replace(found, alternatives=(other,))
    return Explanation(
        other,
        size,
        found.before,
        misfit.share,
        size_interval(other, size, test.misfit, 0.0),
        (found.change,) if ratio >= _DECISIVE else (),
    )


def _believable(recorded: Recorded, joint: int, scale: float) -> bool:
    """Return whether a joint's motion would be that of a joint if its position were scaled."""
    reach = scale * motion_range(recorded, joint)[0]
    return not recorded.is_hinge(joint) or _TURNS[0] < reach < _TURNS[1]


def counterparts(recorded: Recorded, labels: tuple[str, ...]) -> tuple[str, ...]:
    """List rival mistakes: positions for servos' commands, commands for positions."""
    command_of = {
        recorded.positions.get(recorded.joint_of(servo)): command
        for servo, command in recorded.servos.items()
    }
    position_of = {command: position for position, command in command_of.items()}
    found = (position_of.get(label, command_of.get(label)) for label in labels)
    return tuple(label for label in found if label is not None)

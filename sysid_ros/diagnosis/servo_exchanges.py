# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Servos' commands, or their joints' positions, that stand in each other's place or are turned."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np

from sysid_ros.arrays import FloatArray
from sysid_ros.assignment import assigned
from sysid_ros.diagnosis.evidence import (
    Change,
    Explanation,
    FindingKind,
    Recorded,
    joint_labels,
    joint_pairs,
    leaves_range,
    repaired,
    under_gravity,
)
from sysid_ros.diagnosis.fits import decisive, mean_misfit
from sysid_ros.diagnosis.tracking import Tracking
from sysid_ros.engine.elements import FREE, bodies_above

_SUSPECT = 0.3  # share left of a command that may be another servo's
_LAGS = (0.0, 0.01, 0.02, 0.035, 0.055, 0.1, 0.2)  # s
_BETTER = 0.25  # of the power left of a servo's own command, that another's may leave
_LEFT = 0.1  # of a command's power, that another joint's position may leave
_FEW, _AT_A_GLANCE = 150, 0.2  # instants by which most are dismissed, and what it may leave there
_GLANCED = 0.5  # of the power left without it, that a reversed joint may leave at these
_SAME = 1.1  # ratio of powers up to which two repairs are as good as each other
_FEW_SIGNS = 4  # of which all combinations of commands and positions are tried
_NOTHING = 1e-6  # of the commands' power, of which nothing is asked


def exchanged(
    recorded: Recorded, test: Tracking, servos: Sequence[int]
) -> list[tuple[list[Explanation], tuple[int, ...]]]:
    """Find the assignment of commands to servos, and where it is decisively another.

    Returns:
      The explanations of each cycle of exchanged servos, and those servos.
    """
    suspects = [servo for servo in servos if test.misfit((servo,)).share > _SUSPECT]
    undriven = _with_undriven(recorded, test, suspects)
    if len(suspects) < 2:
        return undriven
    power, sign, lag = _table(test, suspects)
    source = {
        row: column
        for row, column in enumerate(assigned(np.minimum(power, 1.0)).tolist())
        if row != column and power[row, column] < _BETTER * power[row, row]
    }
    found = []
    for cycle in _cycles(source):
        reversed_ = [suspects[i] for i in cycle if sign[i, source[i]] < 0.0]
        late = float(np.median([lag[i, source[i]] for i in cycle]))
        explanations = _explained(recorded, test, [suspects[i] for i in cycle], reversed_, late)
        if explanations:
            found.append((explanations, tuple(suspects[i] for i in cycle)))
    return [*found, *undriven]


def _with_undriven(
    recorded: Recorded, test: Tracking, suspects: list[int]
) -> list[tuple[list[Explanation], tuple[int, ...]]]:
    """Servos whose position carries the name of a joint that nothing drives, with a sign or not."""
    driven = {j for a in (*recorded.commands, *recorded.efforts) for j in recorded.arms(a)}
    few = Tracking(recorded, test.servos, test.data.thinned(_FEW))
    found: list[tuple[list[Explanation], tuple[int, ...]]] = []
    for servo, other in itertools.product(suspects, {*recorded.positions} - driven):
        pairs = joint_pairs(recorded, recorded.joint_of(servo), other)
        swap = Change(FindingKind.SWAP, exchange=pairs)
        if float(_table(few, [servo], swap)[0][0, 0]) > _AT_A_GLANCE:
            continue
        power, sign, lag = (float(table[0, 0]) for table in _table(test, [servo], swap))
        if power > _LEFT:
            continue
        delay = Change(FindingKind.LAG, delay={recorded.commands[servo]: lag})
        changes = [swap]
        if sign < 0.0:
            labels = joint_labels(recorded, recorded.joint_of(servo))
            changes.append(Change(FindingKind.SIGN, scale=dict.fromkeys(labels, -1.0)))
        left, before = (test.misfit((servo,), *own, delay) for own in (changes, ()))
        if decisive(left, before):
            explained = [Explanation(one, 0.0, before.share, left.share) for one in changes]
            found.append((explained, (servo,)))
    return found


def _table(
    test: Tracking, suspects: list[int], *changes: Change
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """The remainder of each command (column) by each servo (row), with the best sign and lag.

    After some repairs of measurements, which are filtered once for all.
    """
    count = len(suspects)
    commands = np.column_stack([test.commands(servo, _LAGS) for servo in suspects])
    number = commands.shape[1]
    which = np.tile(np.arange(number), 2)
    slopes = np.repeat([1.0, -1.0], number)
    tables = [np.empty((count, count)) for _ in range(3)]
    for row, servo in enumerate(suspects):
        powers = test.equation(servo, *changes).fits(commands, which, slopes).powers
        each = powers.reshape(2, count, len(_LAGS)).transpose(1, 0, 2).reshape(count, -1)
        best = np.argmin(each, axis=1)
        tables[0][row] = each[np.arange(count), best]
        tables[1][row] = np.where(best < len(_LAGS), 1.0, -1.0)
        tables[2][row] = np.asarray(_LAGS)[best % len(_LAGS)]
    return tables[0], tables[1], tables[2]


def _cycles(source: dict[int, int]) -> list[list[int]]:
    """The closed chains of a partial permutation, each beginning with its least member."""
    found, left = [], dict(sorted(source.items()))
    while left:
        start = next(iter(left))
        chain, at = [start], left.pop(start)
        while at in left:
            chain.append(at)
            at = left.pop(at)
        if at == start:
            found.append(chain)
    return found


def _explained(
    recorded: Recorded, test: Tracking, cycle: list[int], reversed_: list[int], late: float
) -> list[Explanation]:
    """The exchange along a cycle, each servo taking the next one's command, and wrong signs."""
    labels = [recorded.commands[servo] for servo in cycle]
    delay = Change(FindingKind.LAG, delay=dict.fromkeys(labels, late))
    before = test.misfit(cycle, delay)
    variants = list(_variants(recorded, cycle, reversed_))
    scored = [(one, test.misfit(cycle, *one, delay)) for one in variants]
    least = min(score.share for _, score in scored)
    equal = [one for one in scored if one[1].share ** 2 <= _SAME * least**2 + 1e-8]
    if len(equal) > 1:  # loads decide nothing
        equal = [one for one in equal if _keeps_to_ranges(recorded, cycle, one[0])] or equal
    best, after = equal[0]
    if not decisive(after, before):
        return []
    found = []
    for place, change in enumerate(best):
        others = [other[place] for other, _ in equal[1:] if other[place] != change]
        unique = tuple(one for k, one in enumerate(others) if one not in others[:k])
        found.append(Explanation(change, 0.0, before.share, after.share, alternatives=unique))
    return found


def _keeps_to_ranges(recorded: Recorded, cycle: list[int], changes: Sequence[Change]) -> bool:
    """Return whether joints stay within their ranges after some repairs."""
    for change in changes:
        recorded = repaired(recorded, change)
    return not any(leaves_range(recorded, recorded.joint_of(servo)) for servo in cycle)


def _variants(
    recorded: Recorded, cycle: list[int], reversed_: list[int]
) -> Iterator[tuple[Change, ...]]:
    """Exchanged commands, of two servos also exchanged measurements, each with reversed signs.

    A servo whose own position reads minus what another one's command asks for has that command
    reversed, wherever it goes, or that position.
    """
    labels = [recorded.commands[servo] for servo in cycle]
    # Neighbours exchanged one after the other turn the whole cycle.
    commands = Change(FindingKind.SWAP, exchange=tuple(itertools.pairwise(labels)))
    exchanges = [(commands, {servo: servo for servo in cycle})]
    if len(cycle) == 2:
        one, other = (recorded.joint_of(servo) for servo in cycle)
        measured = Change(FindingKind.SWAP, exchange=joint_pairs(recorded, one, other))
        exchanges.append((measured, dict(zip(cycle, reversed(cycle), strict=True))))
    for swap, owner in exchanges:
        owners = [owner[servo] for servo in reversed_]
        signs = [
            ((recorded.commands[one],), joint_labels(recorded, recorded.joint_of(one)))
            for one in owners
        ]
        for side in range(2) if signs else (0,):
            yield (
                swap,
                *(Change(FindingKind.SIGN, scale=dict.fromkeys(one[side], -1.0)) for one in signs),
            )


def signs_together(
    recorded: Recorded, test: Tracking, found: Sequence[Explanation]
) -> list[Explanation]:
    """Wrong signs of several servos, each of a command or of what was measured in its place.

    Loads tell which, but depend on all positions: where another one is reversed, they mislead.
    """
    sides = {
        servo: ((recorded.commands[servo],), joint_labels(recorded, recorded.joint_of(servo)))
        for servo in test.servos if len(recorded.arms(servo)) == 1
    }  # fmt: skip
    servo_of = {label: servo for servo, own in sides.items() for side in own for label in side}
    # The zero of one side is no longer right once the other one is reversed.
    shifted = {servo_of.get(label) for one in found for label in one.change.offset}
    signs = {
        servo_of[label]: place
        for place, one in enumerate(found)
        if one.change.kind is FindingKind.SIGN and (label := one.change.signals[0]) in servo_of
        if servo_of[label] not in shifted
    }
    if not 1 < len(signs) <= _FEW_SIGNS:
        return [*found]
    rest = [one.change for place, one in enumerate(found) if place not in signs.values()]
    scored = []
    for labels in itertools.product(*(sides[servo] for servo in signs)):
        each = [Change(FindingKind.SIGN, scale=dict.fromkeys(one, -1.0)) for one in labels]
        scored.append((each, test.misfit([*signs], *rest, *each).share))
    least = min(share for _, share in scored)
    equal = [one for one in scored if one[1] ** 2 <= _SAME * least**2 + 1e-8]
    before = [found[place].change for place in signs.values()]
    equal.sort(key=lambda one: one[0] != before)  # ranges may have told where loads do not
    (best, after), *alike = equal
    told = [*found]
    for k, place in enumerate(signs.values()):
        other = tuple(each[k] for each, _ in alike if each[k] != best[k])[:1]
        told[place] = replace(found[place], change=best[k], after=after, alternatives=other)
    return told


def reversed_joints(recorded: Recorded, test: Tracking | None) -> list[Explanation]:
    """Joints that the model turns the other way, so that position and command have its sign.

    A servo follows all the same. But where it sags under a weight, it sags to the other side, and
    bodies that it carries are elsewhere: no masses make up for that.

    Args:
      recorded: What was recorded.
      test: Its test; ``None`` where there is none.
    """
    found: list[Explanation] = []
    while test is not None and (one := _reversed_joint(recorded, test)) is not None:
        found.append(one)
        if len(found) == len(test.servos):
            break
        recorded = repaired(recorded, one.change)
        test = Tracking.of(recorded)
    return found


def _reversed_joint(recorded: Recorded, test: Tracking) -> Explanation | None:
    """The joint that explains most where it is reversed, with those that do as much."""
    model = recorded.model
    servos = [servo for servo in test.servos if len(recorded.arms(servo)) == 1]
    if np.any(model.jnt_type == FREE) or not np.any(model.opt.gravity):
        return None  # what stands on a floor is pushed by that
    few = Tracking(recorded, test.servos, test.data.thinned(_FEW))
    bodies = {servo: int(model.jnt_bodyid[recorded.joint_of(servo)]) for servo in servos}
    found = []
    alone, glanced = ({servo: one.misfit((servo,)) for servo in servos} for one in (test, few))
    for servo in servos:
        carried = [other for other in servos if bodies[servo] in bodies_above(model, bodies[other])]
        borne = [other for other in servos if bodies[other] in bodies_above(model, bodies[servo])]
        chain = sorted({*carried, *borne})
        before = mean_misfit([alone[other] for other in chain])
        if before.share**2 < _NOTHING:
            continue
        measured = joint_labels(recorded, recorded.joint_of(servo))
        change = Change(
            FindingKind.SIGN, scale=dict.fromkeys((*measured, recorded.commands[servo]), -1.0)
        )
        at_a_glance = mean_misfit([glanced[other] for other in chain])
        if few.misfit(chain, change).ratio(at_a_glance) > _GLANCED:
            continue
        after = test.misfit(chain, change)
        if not decisive(after, before):
            continue
        hanging = Tracking.of(under_gravity(recorded, -model.opt.gravity))
        mounted = (
            hanging is not None and _BETTER * hanging.misfit(chain).share ** 2 < after.share**2
        )
        mirrored = any(  # a simulation tells of these, and less is reversed so
            test.misfit(chain, one).share ** 2 <= _SAME * after.share**2
            for one in _reversed_undriven(recorded, bodies[servo])
        )
        if not (mounted or mirrored) and _beside_zeros(test, chain, servo, measured):
            gained = len(chain) * (before.share**2 - after.share**2)
            found.append((gained, Explanation(change, 0.0, before.share, after.share)))
    if not found:
        return None
    found.sort(key=lambda one: -one[0])
    best = found[0][1]
    alike = [one for _, one in found[1:] if one.after**2 <= _SAME * best.after**2]
    alike = [one for one in alike if one.before == best.before]  # of the same servos
    return replace(best, alternatives=tuple(one.change for one in alike))


def _reversed_undriven(recorded: Recorded, body: int) -> Iterator[Change]:
    """Yield the reversal of each measured joint that nothing drives and that moves with a body."""
    model = recorded.model
    driven = {recorded.joint_of(servo) for servo in recorded.commands}
    for joint in recorded.positions:
        own = int(model.jnt_bodyid[joint])
        carries = own in bodies_above(model, body) or body in bodies_above(model, own)
        if joint not in driven and carries:
            labels = joint_labels(recorded, joint)
            yield Change(FindingKind.SIGN, scale=dict.fromkeys(labels, -1.0))


def _beside_zeros(
    test: Tracking, chain: Sequence[int], turned: int, measured: tuple[str, ...]
) -> bool:
    """Return whether a joint is reversed whatever the zeros of some servos' commands are."""
    change = Change(FindingKind.SIGN, scale=dict.fromkeys(measured, -1.0))
    left = []
    for changes in ((), (change,)):
        powers = []
        for servo in chain:
            slope = -1.0 if changes and servo == turned else 1.0
            commands, which = test.commands(servo, _LAGS), np.arange(len(_LAGS))
            equation = test.equation(servo, *changes)
            slopes = np.full(len(_LAGS), slope)
            powers.append(equation.fits(commands, which, slopes, offset=True).powers.min())
        left.append(sum(powers))
    return bool(left[1] < _BETTER * left[0])

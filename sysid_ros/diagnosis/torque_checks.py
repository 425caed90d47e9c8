# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Mistakes that torques tell: of single signals, of the mounting, and of the unit.

A factor common to all torques looks like other masses, so that no such comparison can show it. The
model's own masses can, if they are trusted within a factor of six: a thousand times as much are
millinewton metres, not a heavier robot, and a tenth on every joint are motor currents.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np

from sysid_ros.arrays import FloatArray
from sysid_ros.diagnosis.checked_state import CheckedState
from sysid_ros.diagnosis.evidence import (
    DECISIVE,
    Change,
    Explanation,
    Finding,
    FindingKind,
    Recorded,
    Turned,
    modelled_grounds,
    moves,
    percent,
    torque_grounds,
)
from sysid_ros.diagnosis.fits import Misfit, body_torques, other_gravity, own_torques
from sysid_ros.diagnosis.torque import (
    Dynamics,
    modelled_explanation,
    position_factor,
    rival_of_mounting,
    torque_explanations,
    torque_offset,
)

MOST = 8  # mistakes of one kind of test; beyond that, something else is wrong
_VISIBLE = 0.1  # share of the torques that is unexplained where another gravity is looked for
TRUSTED = 6.0  # factor by which the model's masses may be off
_UNIT = 1.5  # how far from a power of ten the factor of a unit may be, for other masses
_ALIKE = 3.0  # how far from all torques' factor a motor's own may be
_LEFT = 0.7  # share of the torques that the model's bodies and some friction may leave
_MUCH_BETTER = 0.5  # ratio of unexplained powers, of any factor over a trusted one
_BETTER_BLOCKS = 0.75  # of the stretches, in which it must be better
_SETTLED = 0.05  # of the power, that another gravity leaves if it is all


def torque_findings(state: CheckedState) -> list[Finding]:
    """Find motion that no robot with the model's kinematics could have done."""
    found: list[Finding] = []
    while len(found) < MOST:
        test = Dynamics.of(state.recorded)
        if test is None:
            break
        mounted = state.recorded.is_open_chain  # what is free shows how it is turned
        turned = _other_gravity(state, test) if mounted and not found else None
        rival = 1.0 if turned is None else rival_of_mounting(state.recorded, test)
        # What another gravity leaves no room for is not looked for, as that takes long.
        settled = turned is not None and turned.after**2 <= _SETTLED and turned.beats(rival)
        explanations = [] if settled else torque_explanations(state.recorded, test)
        grounds: Callable[[Explanation], str] = torque_grounds
        if turned is None and not explanations:
            one = modelled_explanation(state.recorded, test)
            explanations, grounds = [] if one is None else [one], modelled_grounds
        if turned is not None and turned.beats(
            min(rival, *(one.after for one in explanations), 1.0)
        ):
            found.append(state.mounting(turned, torque_grounds(turned)))
            continue
        if not explanations:
            break
        recorded = state.recorded
        for best in explanations:
            state.repair(best.change)
            if not state.declared.explains(best.change, best.size):
                rivals = _beside(best, turned, torque_offset(recorded, test, best))
                found.append(_with_rivals(state.finding(best, grounds(best)), rivals))
    return found + unit_of_torques(state)


def factor_for_masses(state: CheckedState, masses: Sequence[Finding]) -> list[Finding]:
    """Masses that torque contradicts, or the factor of a position in their place.

    Args:
      state: The recordings, mistakes that were found repaired.
      masses: Findings of masses and of torques' factors.
    """
    test = Dynamics.of(state.recorded) if masses else None
    best = None if test is None else position_factor(state.recorded, test)
    if best is None or state.declared.explains(best.change, best.size):
        return [*masses]
    why = f"{torque_grounds(best)} As recorded, torque contradicts the model's masses as well."
    return [state.finding(best, why)]


def _other_gravity(state: CheckedState, test: Dynamics) -> Turned | None:
    """Gravity with which some robot explains the torques, where none does with the model's."""
    before = test.misfit()
    if before.share < _VISIBLE:
        return None
    own = np.array(state.recorded.model.opt.gravity)
    seen = other_gravity(
        lambda one: test.under(one).glance(), lambda one: test.under(one).misfit(), own
    )
    return None if seen is None else Turned(seen[0], before.share, seen[1].share)


def _beside(best: Explanation, turned: Turned | None, torque: Explanation | None) -> list[str]:
    """The rivals of a zero of a joint's sensor, in words: they explain as much.

    That turns what hangs on it: another mounting can look alike, and so can a constant torque.
    """
    most = best.after**2 / DECISIVE if best.change.kind is FindingKind.OFFSET else 0.0
    told = []
    if turned is not None and turned.after**2 <= most:
        told.append(f"the robot is not mounted as the model is: {turned.words}")
    if torque is not None and torque.after**2 <= most:
        (label,) = torque.change.signals
        told.append(f"{label!r} is off by {-torque.size:.3g}, as a current may be")
    return told


def _with_rivals(finding: Finding, rivals: Sequence[str]) -> Finding:
    claim, _, grounds = finding.sentence.partition(". ")
    told = f"{', or '.join([claim, *rivals])}. {grounds}"
    return replace(finding, sentence=told) if rivals else finding


def unit_of_torques(state: CheckedState) -> list[Finding]:
    """Torques that are all much too large or too small for the model."""
    moving = state.recorded.is_open_chain and all(
        moves(state.recorded, joint) for joint in state.recorded.positions
    )
    test = Dynamics.of(state.recorded) if moving else None
    unit = None if test is None else torque_unit(state.recorded, test)
    if unit is None or state.declared.explains(unit.change, unit.size):
        return []
    currents = (
        " Motor currents look like that. The factors are then estimates, by the model's masses, of "
        "newton metres per ampere; the maker's are better, as masses are found in proportion."
        if len({*unit.change.scale.values()}) > 1
        else ""
    )
    return [
        state.finding(
            unit,
            "Masses six times the model's, or a sixth of them, with whatever friction, leave "
            f"{percent(unit.before**2)} of the torques' power unexplained; in another unit it is "
            f"{percent(unit.after**2)}.{currents}",
        )
    ]


def torque_unit(recorded: Recorded, test: Dynamics) -> Explanation | None:
    """The factor by which all torques are too large or too small for the model's bodies.

    Returns:
      A factor for all that is a power of ten, or that of each joint's motor, as for currents;
      ``None`` for a factor that other masses, friction or rotors can explain.
    """
    if not test.told:
        return None
    bodies, own, columns = _as_modelled(recorded, test)
    free, solution = test.fitted(columns)
    factor = float(solution[0])
    if free.share > _LEFT or 1.0 / TRUSTED <= factor <= TRUSTED or factor <= 0.0:
        return None
    left_out = test.told if len(test.told) > 1 else ()
    if any(_is_right(*test.fitted(columns, without=row)) for row in left_out):
        return None  # one torque is in another unit, or in none, and outweighs the others
    trusted = TRUSTED if factor > 1.0 else 1.0 / TRUSTED
    bound, _ = test.fitted(own, known=trusted * bodies)
    if free.ratio(bound) > _MUCH_BETTER or free.better_share(bound) < _BETTER_BLOCKS:
        return None
    power = round(math.log10(factor))
    if abs(power) > 1 and 1.0 / _UNIT < factor / 10.0**power < _UNIT:
        scale = dict.fromkeys(recorded.efforts.values(), 10.0**-power)
    else:
        scale = _motor_gains(recorded, test, bodies, own, factor)
    size = next(iter(scale.values()))
    return Explanation(Change(FindingKind.SCALE, scale=scale), size, bound.share, free.share)


def size_of_torques(recorded: Recorded) -> float | None:
    """All torques over what the model's bodies take; ``None`` where these explain little of them.

    Nor is it known of what floats.

    Args:
      recorded: What was recorded.
    """
    test = Dynamics.of(recorded) if recorded.is_open_chain else None
    if test is None or not test.told:
        return None
    free, solution = test.fitted(_as_modelled(recorded, test)[2])
    return float(solution[0]) if free.share <= _LEFT and solution[0] > 0.0 else None


def _as_modelled(recorded: Recorded, test: Dynamics) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Torques of the model's bodies (n, nv), of each joint (n, nv, k), and both, bodies first."""
    motion = test.data.motion(recorded.all_positions)
    bodies = body_torques(recorded.model, *motion).sum(axis=2)
    own = own_torques(recorded.model, *motion)
    return bodies, own, np.concatenate([bodies[:, :, None], own], axis=2)


def _motor_gains(
    recorded: Recorded, test: Dynamics, bodies: FloatArray, own: FloatArray, factor: float
) -> dict[str, float]:
    """The factor of each torque that makes it what the model's bodies take, by label.

    Args:
      recorded: What was recorded.
      test: Its test.
      bodies: Torque of the model's bodies, (n, nv).
      own: Of each joint by itself, (n, nv, k).
      factor: Of all torques, over that of the bodies: that of joints which do not show their own.
    """
    apart = bodies[:, :, None] * np.eye(bodies.shape[1])
    _, solution = test.fitted(np.concatenate([apart, own], axis=2))
    scale = {}
    for actuator, label in recorded.efforts.items():
        found = float(solution[recorded.model.jnt_dofadr[recorded.joint_of(actuator)]])
        alike = factor / _ALIKE < found < factor * _ALIKE
        scale[label] = float(f"{1.0 / (found if alike else factor):.2g}")
    return scale


def _is_right(left: Misfit, solution: FloatArray) -> bool:
    """Return whether torques have about the size that the model's masses give them."""
    return left.share <= _LEFT and 1.0 / TRUSTED <= float(solution[0]) <= TRUSTED

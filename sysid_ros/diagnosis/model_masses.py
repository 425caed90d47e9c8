# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""The model's own masses against what was measured.

A factor common to all torques looks like other masses, so that no comparison among them can show
it. The model's own masses can, if they are trusted within a factor of six: a thousand times as
much are millinewton metres, not a heavier robot, and a tenth on every joint are motor currents.

A factor of the gravity on one joint shows where the posture changes, beside whatever friction,
armature and offset the joint has. A mass that is little of it shows in all that it does.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import mujoco
import numpy as np

from sysid_ros.arrays import BoolArray, FloatArray
from sysid_ros.diagnosis.dynamics import Dynamics
from sysid_ros.diagnosis.explanation import Explanation
from sysid_ros.diagnosis.filtered import Filtered, filtered
from sysid_ros.diagnosis.finding import Change, Finding, FindingKind
from sysid_ros.diagnosis.fits import (
    JointForces,
    JointTorque,
    Misfit,
    OneMass,
    body_torques,
    moving_masses,
    one_mass,
    own_torques,
)
from sysid_ros.diagnosis.recorded import Recorded
from sysid_ros.diagnosis.repair import body_label, freed_mass
from sysid_ros.diagnosis.tracking import time_constants
from sysid_ros.engine.elements import (
    ON_JOINT,
    actuators_on,
    affine_force,
    bodies_above,
    has_affine_law,
    joints_of_tendon,
    linear,
)
from sysid_ros.errors import listed

_TRUSTED = 6.0  # factor by which the model's masses may be off
_UNIT = 1.5  # how far from a power of ten the factor of a unit may be, for other masses
_ALIKE = 3.0  # how far from all torques' factor a motor's own may be
_LEFT = 0.7  # share of the torques that the model's bodies and some friction may leave
_MUCH_BETTER = 0.5  # ratio of unexplained powers, of any factor over a trusted one
_FELT = 0.01  # of a joint's force, that another gravity changes; servos' laws are no better known
_BETTER_BLOCKS = 0.75  # of the stretches, in which it must be better
_OFF = 1.1  # factor of a joint's gravity from which a mass is not the model's
_ROWS = 200  # instants, at the least
_LIMIT = 0.95  # of a servo's largest force, from which it says nothing
_STOP = 0.02  # of a joint's range, from whose ends on a stop may bear what gravity does not
_SLOW = 0.02  # of the usual speed, below which dry friction changes its sign smoothly


def torque_unit(recorded: Recorded, test: Dynamics) -> Explanation | None:
    """The factor by which all torques are too large or too small for the model's bodies.

    Args:
      recorded: What was recorded.
      test: Its test.

    Returns:
      A factor for all that is a power of ten, or that of each joint's motor, as for currents;
      ``None`` for a factor that other masses, friction or rotors can explain.
    """
    motion = test.data.motion(recorded.all_positions)
    bodies = body_torques(recorded.model, *motion).sum(axis=2)
    own = own_torques(recorded.model, *motion)
    columns = np.concatenate([bodies[:, :, None], own], axis=2)
    free, solution = test.fitted(columns)
    factor = float(solution[0])
    if free.share > _LEFT or 1.0 / _TRUSTED <= factor <= _TRUSTED or factor <= 0.0:
        return None
    left_out = range(test.tested) if test.tested > 1 else ()
    if any(_is_right(*test.fitted(columns, without=row)) for row in left_out):
        return None  # one torque is in another unit, or in none, and outweighs the others
    trusted = _TRUSTED if factor > 1.0 else 1.0 / _TRUSTED
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
    return left.share <= _LEFT and 1.0 / _TRUSTED <= float(solution[0]) <= _TRUSTED


@dataclass(frozen=True)
class OffMass:
    """Gravity on some joints that is not the model's, and the body that explains it best.

    Attributes:
      factors: By joint number, with the ends of a 95 % interval: low, factor, high.
      actuators: By joint number the servo that it is measured with; none of a measured torque.
      body: Its name; empty where no single one explains all joints.
      mass: By which factor its mass would have to be another.
      interval: Of 95 %, of that; ``None`` where the joints' gravity was judged one by one.
    """

    factors: dict[int, tuple[float, float, float]]
    actuators: dict[int, int]
    body: str
    mass: float
    interval: tuple[float, float] | None = None


@dataclass(frozen=True)
class MassTest:
    """The joints whose forces are known, for the model's masses to be compared with."""

    recorded: Recorded  # what was recorded
    joints: Sequence[JointForces]  # those, with what the model's bodies take
    sources: Mapping[int, int]  # the one actuator of each, by joint number
    left_out: bool  # whether any joint is, as a fit finds what acts on it

    @classmethod
    def of(cls, recorded: Recorded, is_free: Callable[[str, str], bool]) -> MassTest:
        """The test of recordings; without joints where no force is known or others act.

        Args:
          recorded: What was recorded, mistakes repaired; nothing touches anything.
          is_free: Tells of an element (body, actuator or signal) and its name whether a fit finds
            it; joints that it acts on are left out.
        """
        known = _known_forces(recorded)
        sources = {j: a for j, a in known.items() if not _is_found(recorded, j, a, is_free)}
        joints = _joints(recorded, sources) if sources else []
        return cls(recorded, joints, sources, len(sources) < len(known))

    def note(self, hidden: Sequence[str]) -> str:
        """In words that masses cannot be tested, or those of some bodies; empty without any."""
        if not hidden:
            return ""
        if not self.joints:
            return "masses are not tested: " + (
                "on joints whose forces are known acts what a fit finds, such as delays or gains"
                if self.left_out
                else "that takes the positions of all joints, and for some of them a measured "
                "effort or the command of a servo of known gains"
            )
        names = listed(map(repr, hidden), 4)
        return (
            f"this motion does not show whether the masses of {names} are right: half as much "
            "again is no more than friction, armatures and offsets make up for"
        )

    def hidden(self) -> list[str]:
        """Names of bodies of which no joint would show half as much mass again."""
        torques, model = [one.torque() for one in self.joints], self.recorded.model
        return [
            body_label(model, body) for column, body in enumerate(moving_masses(model))
            if not any(one.tells(column, _FELT) for one in torques)
        ]  # fmt: skip


def off_masses(test: MassTest) -> OffMass | None:
    """Joints on which gravity is clearly not the model's.

    Returns:
      ``None`` where it is, where motion does not show it, or other forces act.
    """
    recorded, joints, sources = test.recorded, test.joints, test.sources
    factors = {one.joint: one.factor() for one in joints}
    off = {
        joint: factor
        for joint, factor in factors.items()
        if factor is not None and factor[0] > 0.0 and (factor[0] > _OFF or factor[2] < 1.0 / _OFF)
    }
    torques = {one.joint: one.torque() for one in joints}
    found = one_mass(list(torques.values()))
    alone = None if found is None else _off_body(recorded, found, torques, sources)
    if alone is not None or not off:
        return alone
    body, mass = _suspect(recorded.model, [one for one in joints if one.joint in off])
    servos = {joint: sources[joint] for joint in off if sources[joint] in recorded.commands}
    return OffMass(off, servos, body, mass)


def _known_forces(recorded: Recorded) -> dict[int, int]:
    """The one actuator of each joint whose force is known; none where others may act."""
    model = recorded.model
    tied = _tied(model)
    if not recorded.all_positions or tied is None or np.any(model.body_gravcomp):
        return {}
    inputs = {**recorded.efforts, **recorded.commands}
    return {
        joint: actuators[0]
        for joint in {*range(model.njnt)} - tied
        if len(actuators := actuators_on(model, joint)) == 1 and actuators[0] in inputs
        and has_affine_law(model, actuators[0], lagging=True)
        and actuators[0] not in recorded.guessed
    }  # fmt: skip


def _is_found(
    recorded: Recorded, joint: int, actuator: int, is_free: Callable[[str, str], bool]
) -> bool:
    """Tell whether a fit finds what acts on a joint, of its actuator or the bodies it moves."""
    own = str(recorded.model.actuator(actuator).name)
    label = {**recorded.efforts, **recorded.commands}[actuator]
    carried = any(is_free("body", name) for name in _carried(recorded.model, joint))
    return carried or is_free("actuator", own) or is_free("signal", label)


def _tied(model: mujoco.MjModel) -> set[int] | None:
    """Joints that equations and tendons of joints alone act on; ``None`` where others may."""
    tendons = {tendon: joints_of_tendon(model, tendon) for tendon in range(model.ntendon)}
    by_joints = np.all(model.eq_type == mujoco.mjtEq.mjEQ_JOINT)
    kinds = (*ON_JOINT, int(mujoco.mjtTrn.mjTRN_TENDON), int(mujoco.mjtTrn.mjTRN_BODY))
    on_joints = np.all(np.isin(model.actuator_trntype, kinds))  # or on what touches: tested before
    if not (by_joints and on_joints and all(tendons.values())):
        return None
    ends = (model.eq_obj1id, model.eq_obj2id)
    return {int(one) for own in ends for one in own if one >= 0}.union(*tendons.values())


def _carried(model: mujoco.MjModel, joint: int) -> Iterator[str]:
    """Names of the bodies that a joint moves."""
    own = int(model.jnt_bodyid[joint])
    for body in range(own, model.nbody):
        if own in bodies_above(model, body):
            yield str(model.body(body).name)


def _joints(recorded: Recorded, known: dict[int, int]) -> list[JointForces]:
    """Forces on joints, each of which has one actuator whose force is known."""
    model, inputs = recorded.model, {**recorded.efforts, **recorded.commands}
    labels = [*recorded.positions.values(), *(inputs[actuator] for actuator in known.values())]
    data = filtered(recorded, list(dict.fromkeys(labels)), _ROWS)
    if data is None:
        return []
    data = data.low_passed(time_constants(recorded))
    value, rate, second = data.motion(recorded.all_positions)
    still: FloatArray = np.zeros_like(value)
    gravity = body_torques(model, value, still, still)
    moving = body_torques(model, value, rate, second) - gravity
    found = []
    for joint, actuator in known.items():
        dof = int(model.jnt_dofadr[joint])
        force, strong = _force(recorded, data, joint, actuator)
        usual = _SLOW * float(np.sqrt(np.mean(rate[:, dof] ** 2))) + 1e-9
        friction = data.direction(recorded.positions[joint], usual)
        late = data.rate[inputs[actuator]]  # of a delay that is too short to be found
        columns = [second[:, dof], rate[:, dof], friction, np.ones(len(value)), late]
        if linear(model.jnt_stiffness[joint]) > 0.0:
            columns.append(value[:, dof])
        use = ~(strong | _at_stop(model, joint, value[:, dof]))
        if np.count_nonzero(use) < _ROWS:
            continue
        bodies = (gravity[:, dof], moving[:, dof])
        one = JointForces(joint, force, *bodies, np.column_stack(columns), data.block)
        one = one.at(use).ordinary()
        if len(one.force) >= _ROWS and len(np.unique(one.block)) > 2:
            found.append(one)
    return found


def _at_stop(model: mujoco.MjModel, joint: int, value: FloatArray) -> BoolArray:
    """Tell where a joint may lean against an end of its range."""
    low, high = model.jnt_range[joint]
    reach = _STOP * (high - low) + float(model.jnt_margin[joint])
    beyond: BoolArray = (value < low + reach) | (value > high - reach)
    return beyond & bool(model.jnt_limited[joint])


def _force(
    recorded: Recorded, data: Filtered, joint: int, actuator: int
) -> tuple[FloatArray, BoolArray]:
    """Force of a joint's actuator (n,), and where it may be at its limit."""
    model, position = recorded.model, recorded.positions[joint]
    command = data.value[{**recorded.efforts, **recorded.commands}[actuator]]
    force = affine_force(model, actuator, command, data.value[position], data.rate[position])
    strong = np.zeros(len(force), dtype=np.bool_)
    if model.actuator_forcelimited[actuator]:
        low, high = _LIMIT * model.actuator_forcerange[actuator]
        strong = (force < low) | (force > high)
    return float(model.actuator_gear[actuator, 0]) * force, strong


def _off_body(
    recorded: Recorded,
    found: OneMass,
    torques: Mapping[int, JointTorque],
    sources: Mapping[int, int],
) -> OffMass | None:
    """The body whose mass, with gravity and inertia at all joints, is clearly not the model's.

    A mass that is little of the gravity on any one joint shows in all of them together. ``None``
    where no joint feels it.
    """
    mass = 1.0 + found.step
    interval = (mass - found.reach, mass + found.reach)
    felt = [j for j, one in torques.items() if one.shows(found.body, found.step, _FELT)]
    servos = {joint: sources[joint] for joint in felt if sources[joint] in recorded.commands}
    body = body_label(recorded.model, moving_masses(recorded.model)[found.body])
    factors = dict.fromkeys(felt, (interval[0], mass, interval[1]))
    return OffMass(factors, servos, body, mass, interval) if felt else None


def _suspect(model: mujoco.MjModel, joints: Sequence[JointForces]) -> tuple[str, float]:
    """The body whose mass alone explains the gravity on all joints best, and its factor."""
    best, name, mass = np.inf, "", 1.0
    for column, body in enumerate(moving_masses(model)):
        if any(not np.any(one.gravity[:, column]) for one in joints):
            continue
        own, target, power = 0.0, 0.0, 0.0
        for one in joints:
            left, gravity = one.gravity_alone()
            own += float(gravity[:, column] @ gravity[:, column])
            target += float(left @ gravity[:, column])
            power += float(left @ left)
        rest, factor = power - target**2 / max(own, 1e-300), 1.0 + target / max(own, 1e-300)
        if rest < best and factor > 0.0:
            best, name, mass = rest, body_label(model, body), factor
    return name, mass


def mass_finding(recorded: Recorded, off: OffMass) -> Finding:
    """Gravity that is not the model's, with the line that frees the mass that explains it."""
    factors = [
        f"on {recorded.joint_name(joint)!r} {factor:.3g} times (95 % interval {low:.3g} to "
        f"{high:.3g})"
        for joint, (low, factor, high) in off.factors.items()
    ]
    reach = (
        "" if off.interval is None else " (95 % interval {:.3g} to {:.3g})".format(*off.interval)
    )
    gain = "" if not off.actuators else ", and so would other gains of the servos"
    cause = (
        f"A mass of {off.body!r} of {off.mass:.3g} times the model's{reach} would explain it{gain}."
        if off.body
        else "No mass of a single body would explain it."
    )
    found = f"Gravity is not the model's: {', '.join(factors)}"
    if off.interval is not None:
        names = [repr(recorded.joint_name(joint)) for joint in off.factors]
        found = f"The masses on {listed(names, 3)} are not the model's"
    return Finding(
        FindingKind.GRAVITY,
        tuple(recorded.joint_name(joint) for joint in off.factors),
        {
            "mass": off.mass,
            **(
                {"mass_low": off.interval[0], "mass_high": off.interval[1]}
                if off.interval
                else {f"gravity_{recorded.joint_name(j)}": f[1] for j, f in off.factors.items()}
            ),
        },
        f"{found}, whatever friction, armature and offset there are. {cause}",
        freed_mass(recorded.model, off.body) if off.body else "",
        (),
        off.body,
    )

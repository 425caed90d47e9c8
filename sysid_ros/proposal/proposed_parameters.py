# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""The parameters that suit a kind of robot, and the bounds to look for them in."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

import mujoco
import numpy as np

from sysid_ros.engine.attributes import lookup
from sysid_ros.engine.elements import (
    JointScale,
    is_effort,
    is_servo,
    is_velocity_servo,
    joint_of,
    joint_scales,
    n_actuators,
)
from sysid_ros.engine.estimation import sliding_inertia
from sysid_ros.errors import listed
from sysid_ros.proposal.belts import borne_by_belts, of_belts
from sysid_ros.proposal.candidate import Candidate, model_value, pattern, rounded
from sysid_ros.proposal.mapped_inputs import Inputs
from sysid_ros.proposal.masses import compensations, loads, masses, payload
from sysid_ros.proposal.signal_parameters import biases, delays, gains, offsets, thrust_factors
from sysid_ros.proposal.signals import driven_joints, tied_joints

_JOINT_ATTRIBUTES = ("frictionloss", "damping", "armature")
_GUESSED = ("kp", "kv")  # of a servo of positions, of velocities
_SERVO_ATTRIBUTES = ("kp", "time_constant")  # kv of a servo of positions acts as damping does
_START = 0.2  # of the typical size, where a search starts that the model starts at zero
_USUAL_REST = 0.1  # rad or m, by which a spring may rest elsewhere than in the model
_USUAL_OFFSET = 0.1  # of what friction may be at most: a constant torque
_SERVO_DAMPING = 0.1  # s, typical damping over a guessed gain
_MOST_DAMPING = 3.0  # s, of the same: a slow servo of ten times the guess
# Bounds of a gain over its guess, which is by the largest force that a drawing gives: that of a
# wrist, or one written for all joints alike, is far more than its servo uses.
_GUESSED_GAIN = (1e-3, 100.0)
_FEW = 3  # servos, each with a gain of its own


def candidates(
    spec: mujoco.MjSpec,
    joints: Sequence[str],
    inputs: Inputs,
    sensors: Mapping[str, str],
    *,
    free: bool = False,
) -> list[Candidate]:
    """Everything worth identifying, what matters most first.

    Args:
      spec: The model.
      joints: The joints whose positions are measured.
      inputs: What drives the model.
      sensors: The label of each servo's measured position by the actuator's name.
      free: Whether the poses of free bodies are measured.
    """
    model = spec.copy().compile()
    tied = tied_joints(model, joints)
    own = [joint for joint in joints if joint not in tied]
    servos = [name for name in inputs.held if _is(is_servo, model, name)]
    forces = inputs_of_forces(model, inputs)
    found = [
        *_guessed_gains(spec, inputs.guessed),
        *_of_joints(spec, model, own, inputs.guessed),
        *of_belts(spec, model, joints),
        *thrust_factors(inputs, set(sensors.values())),
        *delays(inputs, set(sensors.values()), forces),
        *offsets(inputs.unzeroed),
        *_of_springs(spec, own),
        *_of_other_actuators(spec, model, inputs, servos),
    ]
    simulated = bool(servos or inputs.guessed)
    found += compensations(model, joints, with_masses=simulated)
    if simulated:
        known = [name for name in servos if name not in inputs.guessed]
        found += _settings_of_servos(spec, n_actuators(model), known, _SERVO_ATTRIBUTES)
        if not inputs.guessed:  # which explain gravity in any posture
            found += [*biases(spec, servos, sensors), *payload(model, joints)]
            found += loads(model) if free else ()
    else:
        found += masses(model, joints, free)
        forces = [name for name in inputs.held if not _is(is_velocity_servo, model, name)]
        found += [
            *_torque_offsets(spec, model, own, forces),
            *gains([name for name in forces[1:] if name not in inputs.squares]),
        ]
    return [_with_tied(candidate, tied) for candidate in found if candidate is not None]


def inputs_of_forces(model: mujoco.MjModel, inputs: Inputs) -> list[str]:
    """Names of the inputs that are forces or torques, not what a servo is to reach."""
    return [name for name in inputs.held if _is(is_effort, model, name)]


def _of_joints(
    spec: mujoco.MjSpec, model: mujoco.MjModel, joints: Sequence[str], guessed: Mapping[str, str]
) -> Iterator[Candidate | None]:
    """Candidates of each joint itself, attribute by attribute."""
    scales = joint_scales(model)
    gains = dict.fromkeys(driven_joints(model), 0.0) | {
        joint: model_value(spec, "actuator", name, "kp") or 0.0 for name, joint in guessed.items()
    }
    for attribute in _JOINT_ATTRIBUTES:
        borne = borne_by_belts(spec, model, attribute)
        for joint in joints:
            if joint in scales and joint not in borne:
                yield _of_joint(spec, joint, attribute, scales[joint], gains.get(joint))


def _of_springs(spec: mujoco.MjSpec, joints: Sequence[str]) -> Iterator[Candidate | None]:
    """Stiffness of joints and tendons, and where springs of joints rest."""
    yield from (_setting(spec, "joint", joint, "stiffness") for joint in joints)
    yield from (_rest_of_spring(spec, joint) for joint in joints)
    names = [one.name for one in spec.tendons if one.name]
    yield from (_setting(spec, "tendon", name, "stiffness") for name in names)


def _of_other_actuators(
    spec: mujoco.MjSpec, model: mujoco.MjModel, inputs: Inputs, servos: Sequence[str]
) -> Iterator[Candidate | None]:
    """Gains of velocity servos that the model has, and time constants of all but ``servos``."""
    others = [name for name in inputs.held if name not in servos]
    speeds = [name for name in others if _is(is_velocity_servo, model, name)]
    known = [name for name in speeds if name not in inputs.guessed]
    yield from _settings_of_servos(spec, n_actuators(model), known, ("kv",))
    yield from _settings_of_servos(spec, n_actuators(model), others, ("time_constant",))


def _with_tied(one: Candidate, tied: Mapping[str, str]) -> Candidate:
    """A joint's candidate that says for which others, of those tied to one, it stands as well."""
    others = [joint for joint, stands in tied.items() if stands == one.name]
    if one.element != "joint" or not others:
        return one
    said = (
        f"{one.name} moves with {listed(others)}, so that only what they have together shows: "
        "these values are what is left beside the model's of the others"
    )
    return replace(one, doubt="\n".join(filter(None, (one.doubt, said))))


def _of_joint(
    spec: mujoco.MjSpec, joint: str, attribute: str, scale: JointScale, gain: float | None
) -> Candidate | None:
    """A candidate with what such a joint can have; none where the model has no such thing.

    ``gain`` is of an added servo, whose damping is the joint's; else zero. ``None`` of a joint that
    nothing drives: it has no rotor and no gear, so that what its model lacks is on demand.
    """
    nominal = model_value(spec, "joint", joint, attribute)
    if nominal is None:
        return None
    typical, most = max(nominal, scale.typical(attribute)), scale.most(attribute, nominal)
    if gain and attribute == "damping":
        typical = max(typical, _SERVO_DAMPING * gain)
        most = max(most, _MOST_DAMPING * gain)
    lacking = gain is None and nominal == 0.0 and attribute != "damping"
    start = _START * typical
    if attribute == "armature":
        # Where friction holds a joint, slopes tell of neither; see stuck_friction.
        start = max(start, sliding_inertia(scale.typical("frictionloss")))
    return Candidate(
        element="joint",
        name=joint,
        attribute=attribute,
        low=0.0,
        high=rounded(most),
        typical=typical,
        initial=None if nominal > 0.0 or lacking else rounded(start),
        on_demand=lacking,
        guessed=bool(gain) and (nominal == 0.0 or attribute == "damping"),  # the servo's is in it
        doubt=f"nothing drives {joint}, and the model has no {attribute} there" if lacking else "",
    )


def _is(kind: Callable[[mujoco.MjModel, int], bool], model: mujoco.MjModel, name: str) -> bool:
    """Return whether an input is that of an actuator of a kind."""
    actuator = mujoco.mj_name2id(model, mujoco.mjtObj.mjOBJ_ACTUATOR, name)
    return actuator >= 0 and kind(model, actuator)


def _settings_of_servos(
    spec: mujoco.MjSpec, actuators: int, servos: Sequence[str], attributes: Sequence[str]
) -> Iterator[Candidate | None]:
    """Gains one by one where servos are few; what many alike are set to is one setting."""
    for attribute in attributes:
        found = [_setting(spec, "actuator", name, attribute) for name in servos]
        alike = len({(one.low, one.high) for one in found if one is not None}) == 1
        if _FEW < len(servos) == actuators and alike and found[0] is not None:
            yield replace(
                found[0],
                name="*",
                shared=True,
                doubt=f"the recordings contradict the model's {attribute} of all actuators",
            )
        else:
            yield from _with_those_alike(spec, [one for one in found if one is not None])


def _with_those_alike(spec: mujoco.MjSpec, found: Sequence[Candidate]) -> Iterator[Candidate]:
    """The settings of actuators, filters each with a pattern of those that the model has alike.

    Filters are of a kind of drive, gains are set one by one.
    """
    every = {actuator.name for actuator in spec.actuators}
    for one in found:
        names = [other.name for other in found if (other.low, other.high) == (one.low, one.high)]
        whole = "*" if every == {*names} else pattern(names, every.difference(names))
        shared = one.attribute == "time_constant" and len(names) > 1
        yield replace(one, alike=whole if shared else "")


def _setting(spec: mujoco.MjSpec, element: str, name: str, attribute: str) -> Candidate | None:
    """A setting of a servo or a spring, which is proposed where the recordings contradict it."""
    nominal = model_value(spec, element, name, attribute)
    if nominal is None or nominal <= 0.0:
        return None
    low, high = lookup(element, attribute).bounds(np.array([nominal]))
    return Candidate(
        element=element,
        name=name,
        attribute=attribute,
        low=rounded(float(low[0])),
        high=rounded(float(high[0])),
        typical=0.1 * nominal,
        on_demand=True,
        doubt=f"the recordings contradict the model's {attribute} of {name}",
    )


def _rest_of_spring(spec: mujoco.MjSpec, joint: str) -> Candidate | None:
    """The rest of a spring that the model has: a preload pushes as a wrong zero seems to."""
    if not model_value(spec, "joint", joint, "stiffness"):
        return None
    low, high = lookup("joint", "springref").bounds(lookup("joint", "springref").read(spec, joint))
    return Candidate(
        element="joint",
        name=joint,
        attribute="springref",
        low=rounded(float(low[0])),
        high=rounded(float(high[0])),
        typical=_USUAL_REST,
        on_demand=True,
        doubt=f"the recordings contradict the model's springref of {joint}",
        displaces=joint,
    )


def _guessed_gains(spec: mujoco.MjSpec, guessed: Iterable[str]) -> Iterator[Candidate]:
    """Gains of servos that nobody wrote down, over five orders of magnitude."""
    for name in guessed:
        gains = {
            attribute: model_value(spec, "actuator", name, attribute) for attribute in _GUESSED
        }
        attribute, gain = next((key, gain) for key, gain in gains.items() if gain)
        yield Candidate(
            element="actuator",
            name=name,
            attribute=attribute,
            low=rounded(gain * _GUESSED_GAIN[0]),
            high=rounded(gain * _GUESSED_GAIN[1]),
            typical=gain,
            initial=rounded(gain),
            guessed=True,
        )


def _torque_offsets(
    spec: mujoco.MjSpec, model: mujoco.MjModel, joints: Collection[str], forces: Iterable[str]
) -> Iterator[Candidate]:
    """Constant torques: currents have offsets, and gears are not symmetric."""
    scales = joint_scales(model)
    actuators = [mujoco.mj_name2id(model, mujoco.mjtObj.mjOBJ_ACTUATOR, name) for name in forces]
    driven = {joint_of(model, actuator) for actuator in actuators if actuator >= 0}
    for joint in [name for name in joints if model.joint(name).id in driven]:
        if model_value(spec, "joint", joint, "torque_offset") == 0.0:  # none beside a spring
            most = rounded(scales[joint].most("frictionloss", 0.0))
            yield Candidate(
                element="joint",
                name=joint,
                attribute="torque_offset",
                low=-most,
                high=most,
                typical=_USUAL_OFFSET * most,
                on_demand=True,
                doubt=f"the torque on {joint} may have an offset, as of a current or a gear",
            )

# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""The torque that a model asks for along the measured motion, against the torque measured.

Positions predicted over short windows say little about heavy joints, which coast. Torque does not
forgive that: with the accelerations of the smoothed motion, inverse dynamics gives the torque that
a model needs for what the robot did.
"""

from __future__ import annotations

import copy
from collections.abc import Iterable, Sequence

import mujoco
import numpy as np

from sysid_ros.arrays import BoolArray, FloatArray
from sysid_ros.diagnosis import (
    Change,
    Filtered,
    FindingKind,
    Recorded,
    filtered,
    recorded,
    repaired,
)
from sysid_ros.engine.elements import actuators_on, affine_force, joint_of, n_actuators
from sysid_ros.engine.friction import has_friction
from sysid_ros.engine.measured_torque import TorqueSignal, bear_weight, torque_signals
from sysid_ros.engine.parameters import ParameterDict
from sysid_ros.engine.signals import ModelSequences, force_unit
from sysid_ros.engine.simulation import Candidate, CandidateBuilder
from sysid_ros.judgement.outcome import JointTorque

_FEWEST = 100  # instants, below which nothing is said
_FRICTION = {
    int(mujoco.mjtConstraint.mjCNSTR_FRICTION_DOF),
    int(mujoco.mjtConstraint.mjCNSTR_FRICTION_TENDON),
}


def torque_errors(
    groups: Sequence[ModelSequences], params: ParameterDict, values: FloatArray
) -> tuple[JointTorque, ...]:
    """Compare the initial and the fitted model by the torque that they ask for.

    Args:
      groups: Sequences by model; those of the model with most of them count.
      params: The parameters at their initial values.
      values: Fitted values of the free scalars, (p,).

    Returns:
      One entry per joint whose torque is known; none where the motion is not measured as a whole,
      where other forces act on the robot (contacts, limits, closed chains), or where no torque is
      measured.
    """
    if not groups:
        return ()
    seen = recorded(groups)
    if not seen.is_open_chain or has_friction(seen.model):
        return ()
    group = max(groups, key=len)
    builder = CandidateBuilder(group.spec, params.for_robot(group.robot))
    before, after = builder.build(params.as_vector()), builder.build(values)
    if before.model.njnt != seen.model.njnt:  # joints that are not measured were welded
        return ()
    sources = _sources(before.model, seen, _signals(before.model, group))
    if not any(sources.values()):
        return ()
    errors = [
        _errors(seen, sources, _signals(candidate.model, group), candidate)
        for candidate in (before, after)
    ]
    if any(error is None for error in errors):
        return ()
    (_, initial, _), (measured, fitted, moving) = [one for one in errors if one is not None]
    return tuple(
        JointTorque(
            joint=seen.joint_name(joint),
            unit=force_unit(seen.model, int(seen.model.jnt_dofadr[joint])),
            measured=float(measured[k]),
            rmse=float(fitted[k]),
            rmse_initial=float(initial[k]),
            moving=0.0 if sources[joint] else float(moving[k]),
        )
        for k, joint in enumerate(sources)
    )


def _signals(model: mujoco.MjModel, group: ModelSequences) -> list[TorqueSignal]:
    """The signals that tell torque, those of motors with a constant bias too."""
    plain = copy.copy(model)
    plain.actuator_biasprm[:, 0] = 0.0
    return torque_signals(plain, group)


def _sources(
    model: mujoco.MjModel, seen: Recorded, signals: Sequence[TorqueSignal]
) -> dict[int, tuple[str, ...]]:
    """By joint the signals whose sum is the torque on it; none for a joint that nothing drives.

    Joints whose torque is not known are left out.
    """
    on_joints = all(joint_of(model, actuator) is not None for actuator in range(n_actuators(model)))
    shared = set.intersection(*(set(recording) for recording in seen.recordings))
    known: dict[int, tuple[str, ...]] = {}
    for joint in range(model.njnt):
        telling = [s for s in signals if s.name in shared and s.moment[joint] != 0.0]
        told = {signal.actuator for signal in telling}
        if None in told or (on_joints and told.issuperset(actuators_on(model, joint))):
            known[joint] = tuple(signal.name for signal in telling)
    return known


def _errors(
    seen: Recorded,
    sources: dict[int, tuple[str, ...]],
    signals: Sequence[TorqueSignal],
    candidate: Candidate,
) -> tuple[FloatArray, FloatArray, FloatArray] | None:
    """Root mean squares of measured torque, its error and what accelerates, (joints,) each."""
    telling = {s.name: s for s in signals if any(s.name in told for told in sources.values())}
    data = _corrected(seen, telling.values(), candidate)
    if data is None:
        return None
    from sysid_ros.engine.regressor import Motion, mujoco_torque  # loads numba, which takes long

    model = copy.copy(candidate.model)
    model.jnt_actgravcomp[:] = bear_weight(model, telling.values())
    motion = Motion(*data.motion(seen.all_positions))
    used = _unconstrained(model, motion.qpos)
    if np.count_nonzero(used) < _FEWEST:
        return None
    moved = Motion(*(part[used] for part in motion))
    wanted = mujoco_torque(model, moved)[:, list(sources)]
    held = mujoco_torque(model, moved._replace(qacc=np.zeros_like(moved.qacc)))[:, list(sources)]
    measured = np.zeros_like(wanted)
    for k, (joint, names) in enumerate(sources.items()):
        for name in names:
            signal = telling[name]
            value = data.value[name][used] + _constant(model, signal)
            measured[:, k] += signal.moment[joint] * value
    return _rms(measured), _rms(measured - wanted), _rms(wanted - held)


def _constant(model: mujoco.MjModel, signal: TorqueSignal) -> float:
    """The part of a motor's force that its bias adds, in the unit of its input."""
    if signal.actuator is None or not signal.control:
        return 0.0
    gain = float(model.actuator_gainprm[signal.actuator, 0])
    return float(affine_force(model, signal.actuator, np.zeros(1))[0]) / gain


def _corrected(
    seen: Recorded, telling: Iterable[TorqueSignal], candidate: Candidate
) -> Filtered | None:
    """The motion and torque, without what the candidate says its signals add to them."""
    inputs = {signal.name: signal.control for signal in telling}
    delays: dict[str, float] = {}
    scale: dict[str, float] = {}
    offset: dict[str, float] = {}
    labels = list(dict.fromkeys([*seen.positions.values(), *inputs]))
    for label in labels:
        given = candidate.settings(label)
        if not inputs.get(label):  # a measurement shows it of the truth; a command becomes it
            given = given.inverse
        delays[label], scale[label], offset[label] = given.delay, given.gain, given.bias
    change = Change(FindingKind.SCALE, scale=scale, offset=offset, delay=delays)
    return filtered(repaired(seen, change), labels)


def _unconstrained(model: mujoco.MjModel, qpos: FloatArray) -> BoolArray:
    """Mark the poses in which neither a contact nor a limit pushes, (n,)."""
    data = mujoco.MjData(model)
    free = np.ones(len(qpos), dtype=np.bool_)
    for row, pose in enumerate(qpos):
        data.qpos[:] = pose
        mujoco.mj_fwdPosition(model, data)
        free[row] = _FRICTION.issuperset(data.efc_type.tolist())
    return free


def _rms(values: FloatArray) -> FloatArray:
    return np.asarray(np.sqrt(np.mean(values**2, axis=0)))

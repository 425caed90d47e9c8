# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""The signals of a recording that tell joint torque, and those that tell joint positions."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import mujoco
import numpy as np

from sysid_ros.arrays import BoolArray, FloatArray
from sysid_ros.engine.elements import (
    BALL,
    FREE,
    SCALAR,
    control_range,
    joint_of,
    joints_of_tendon,
    n_actuators,
)
from sysid_ros.engine.signals import ModelSequences, actuator_names, control_column

_S, _T = mujoco.mjtSensor, mujoco.mjtTrn


@dataclass(frozen=True)
class TorqueSignal:
    """A measured force or torque."""

    name: str  # of its sensor or actuator
    moment: FloatArray  # generalised force per unit of the signal, (nv,)
    control: bool  # whether it is an input of the model rather than a sensor
    actuator: int | None = None  # whose force it is; ``None`` for all force on a joint

    @property
    def dof(self) -> int | None:
        """The degree of freedom that it acts on alone."""
        acts = np.flatnonzero(self.moment)
        return int(acts[0]) if len(acts) == 1 else None


def torque_signals(model: mujoco.MjModel, group: ModelSequences) -> list[TorqueSignal]:
    """Measured torque among the sensors and inputs of a model's recordings.

    Sensors are those of a joint's force, and of an actuator's where the joint's is not measured.
    Inputs are actuators whose force is a fixed gain times the input, as that of motors and of
    mapped efforts; where a sensor shows the same degree of freedom, it counts instead. Wrenches are
    another matter, see :func:`wrench_inputs_of`.
    """
    names = dict.fromkeys(name for one in group.sensordata for name in one.signal_mapping or {})
    sensors = [signal for name in names if (signal := _of_sensor(model, name)) is not None]
    joints = [signal for signal in sensors if signal.actuator is None]
    sensors = joints + _elsewhere(joints, [one for one in sensors if one.actuator is not None])
    inputs = [
        TorqueSignal(name, moment, control=True, actuator=model.actuator(name).id)
        for name in _driven(group)
        if (moment := _of_motor(model, model.actuator(name).id)) is not None
    ]
    return sensors + _elsewhere(sensors, inputs)


def _elsewhere(shown: Sequence[TorqueSignal], others: Sequence[TorqueSignal]) -> list[TorqueSignal]:
    """Those of other signals that act on no degree of freedom that is shown already."""
    taken = np.any([one.moment != 0.0 for one in shown], axis=0) if shown else False
    return [one for one in others if not np.any((one.moment != 0.0) & taken)]


def wrench_inputs_of(model: mujoco.MjModel, group: ModelSequences) -> list[str]:
    """Inputs that are known external forces at a site."""
    site = int(_T.mjTRN_SITE)
    return [n for n in _driven(group) if int(model.actuator(n).trntype[0]) == site]


def known_dofs(
    model: mujoco.MjModel, signals: Iterable[TorqueSignal], measured: Iterable[int]
) -> dict[int, str]:
    """The degrees of freedom whose torque is known, with what tells it.

    Those of signals; those of free joints, on which nothing but known wrenches acts; and those of
    measured joints that no actuator drives: of balls, which motors hardly ever turn, and of others
    in a model that has actuators of its own.

    Args:
      model: The robot's.
      signals: Its torque signals.
      measured: Joints whose position is measured.
    """
    found: dict[int, str] = {}
    signals = list(signals)
    for joint in measured:
        dof, kind = int(model.jnt_dofadr[joint]), int(model.jnt_type[joint])
        if kind == FREE:
            found |= {dof + i: f"{model.joint(joint).name}[{i}]" for i in range(6)}
        elif kind == BALL and _is_free(model, range(dof, dof + 3)):
            found |= {dof + i: f"{model.joint(joint).name}[{i}]" for i in range(3)}
        elif kind in SCALAR and _is_passive(model, dof):
            found[dof] = model.joint(joint).name
    for signal in signals:
        for dof in np.flatnonzero(signal.moment).tolist():
            joint = model.joint(int(model.dof_jntid[dof])).name
            found[dof] = signal.name if signal.dof == dof else joint
    return found


def bear_weight(model: mujoco.MjModel, signals: Iterable[TorqueSignal]) -> BoolArray:
    """Joints of whose torque compensated gravity is a part (``actuatorgravcomp``), (njnt,).

    MuJoCo counts it among all force on the joint, and neither as an actuator's own nor as input:
    beside these it acts as a counterweight does.

    Args:
      model: The robot's.
      signals: Its torque signals.
    """
    whole = [int(model.dof_jntid[one.dof]) for one in signals if one.actuator is None]
    return np.isin(np.arange(model.njnt), whole) & np.asarray(model.jnt_actgravcomp, np.bool_)


def within_ranges(model: mujoco.MjModel, signal: TorqueSignal, commands: FloatArray) -> FloatArray:
    """The part of a motor's commands, (n,), that reaches its joint within all ranges."""
    motor, dof = signal.actuator, signal.dof
    if motor is None:
        return commands
    commands = np.clip(commands, *control_range(model, motor))
    if model.actuator_forcelimited[motor]:
        gain = float(model.actuator_gainprm[motor, 0])
        commands = np.clip(commands, *np.sort(model.actuator_forcerange[motor] / gain))
    joint = 0 if dof is None else int(model.dof_jntid[dof])
    if dof is not None and model.jnt_actfrclimited[joint]:
        force = float(signal.moment[dof])
        commands = np.clip(commands, *np.sort(model.jnt_actfrcrange[joint] / force))
    return commands


def _is_passive(model: mujoco.MjModel, dof: int) -> bool:
    """True if actuators are the model's own and none acts on this degree of freedom."""
    own = [a for a in range(n_actuators(model)) if not _is_effort(model, a)]
    return bool(own) and _is_free(model, [dof])


def _is_free(model: mujoco.MjModel, dofs: Iterable[int]) -> bool:
    """True if no actuator acts on some degrees of freedom."""
    arms = [force_arm(model, a) for a in range(n_actuators(model))]
    return all(arm[dof] == 0.0 for arm in arms for dof in dofs)


def _is_effort(model: mujoco.MjModel, actuator: int) -> bool:
    """True for a motor that stands for a mapped effort, or for a wrench."""
    if int(model.actuator_trntype[actuator]) == int(_T.mjTRN_SITE):
        return True
    joint = model.joint(int(model.actuator_trnid[actuator, 0])).name
    return bool(model.actuator(actuator).name == f"{joint}_effort")


def _driven(group: ModelSequences) -> list[str]:
    return [
        name
        for name in actuator_names(group.gt_model)
        if any(
            one.signal_mapping is None or control_column(one, name) is not None
            for one in group.control
        )
    ]


def _of_sensor(model: mujoco.MjModel, name: str) -> TorqueSignal | None:
    if mujoco.mj_name2id(model, mujoco.mjtObj.mjOBJ_SENSOR, name) < 0:
        return None
    sensor = model.sensor(name)
    kind, owner = int(sensor.type[0]), int(sensor.objid[0])
    if kind == int(_S.mjSENS_JOINTACTFRC):
        moment: FloatArray = np.zeros(model.nv)
        moment[int(model.jnt_dofadr[owner])] = 1.0
        return TorqueSignal(name, moment, control=False)
    if kind == int(_S.mjSENS_ACTUATORFRC):
        return TorqueSignal(name, force_arm(model, owner), control=False, actuator=owner)
    return None


def _of_motor(model: mujoco.MjModel, actuator: int) -> FloatArray | None:
    """Generalised force per unit of an input; ``None`` where it is not proportional."""
    plain = (
        int(model.actuator_gaintype[actuator]) == int(mujoco.mjtGain.mjGAIN_FIXED)
        and not np.any(model.actuator_biasprm[actuator, :3])
        and int(model.actuator_dyntype[actuator]) == int(mujoco.mjtDyn.mjDYN_NONE)
    )
    arm = force_arm(model, actuator)
    arm *= float(model.actuator_gainprm[actuator, 0])
    return arm if plain and np.any(arm) else None


def force_arm(model: mujoco.MjModel, actuator: int) -> FloatArray:
    """Generalised force (nv,) per unit of an actuator's force; zero where the pose decides it."""
    arm: FloatArray = np.zeros(model.nv)
    kind, target = int(model.actuator_trntype[actuator]), int(model.actuator_trnid[actuator, 0])
    if joint_of(model, actuator) is not None and int(model.jnt_type[target]) in SCALAR:
        arm[int(model.jnt_dofadr[target])] = float(model.actuator_gear[actuator, 0])
    elif kind == int(_T.mjTRN_TENDON):
        for joint, coefficient in joints_of_tendon(model, target).items():
            arm[int(model.jnt_dofadr[joint])] = coefficient * float(
                model.actuator_gear[actuator, 0]
            )
    return arm

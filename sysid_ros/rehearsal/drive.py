# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Controls of a simulated robot: servos that are told where to go, and loops around motors.

A servo gets the motion itself, as positions or velocities. Motors on joints get a loop as robots
have it: stiffness and damping from the joint's own inertia, and the weight. What has no length,
such as suction, is switched. What flies on thrusts at sites, or would fall from its wheels, is
balanced by a linear quadratic regulator about its start, which moves along.
"""

from __future__ import annotations

import copy
from dataclasses import dataclass
from typing import Protocol

import mujoco
import numpy as np
import scipy

from sysid_ros.arrays import BoolArray, FloatArray
from sysid_ros.engine.elements import (
    FREE,
    ON_JOINT,
    actuator_moments,
    control_range,
    first_inputs,
    is_low_passed,
    is_servo,
    joint_of,
    moved_inertia,
    n_actuators,
    servo_gain,
    takes_velocity,
)
from sysid_ros.excitation import CommandLimits, ExcitationPath, design_multisine
from sysid_ros.rehearsal.plan import Motion, RehearsalError

_TENDON = int(mujoco.mjtTrn.mjTRN_TENDON)
_ADHERES = int(mujoco.mjtTrn.mjTRN_BODY)
_WITH_LENGTH = (*ON_JOINT, _TENDON, int(mujoco.mjtTrn.mjTRN_SLIDERCRANK))
_RAMP = 1.0  # s of soft start and end, at most
_DAMPING_RATIO = 0.8
_FASTEST = 0.3  # natural frequency of a loop, rad, over the rate of commands, at most
_SWITCHED = 2.0  # s from one switching on to the next
_FILL = 0.8  # of ranges and limits
_BALANCE_STEP = 0.01  # s, of the regulator
_DISCOUNT = 0.999  # per step
_SINK = 0.01  # m, that a base is put down by at most
_HALVINGS = 30
_ROUNDED = 1e-9  # of an interval


class Drive(Protocol):
    """A rule that turns time and state into controls."""

    def controls(self, time: float, data: mujoco.MjData) -> FloatArray:
        """First inputs of u actuators, (u,), sent ``time`` seconds after the motion's beginning."""


def drive_for(
    model: mujoco.MjModel,
    start: mujoco.MjData,
    motion: Motion,
    *,
    duration: float,
    rate: float,
    seed: int,
) -> Drive:
    """Choose what moves a robot.

    Args:
      model: The robot.
      start: Its start, from which the motion leaves and to which it returns.
      motion: What to play.
      duration: Of the motion, s.
      rate: Commands per second.
      seed: Of its phases.

    Raises:
      RehearsalError: The model has no actuators.
    """
    if n_actuators(model) == 0:
        raise RehearsalError("nothing moves: the model has no actuators")
    known = {int(kind) for kind in model.actuator_trntype} <= {*_WITH_LENGTH, _ADHERES}
    if known and not motion.balanced:
        return _joint_drive(model, start, motion, duration, rate, seed)
    return _balance(model, start, motion, duration, seed)


def _servos(model: mujoco.MjModel) -> BoolArray:
    """Tell which actuators pull towards a position, (u,)."""
    return np.array(
        [is_servo(model, actuator) for actuator in range(n_actuators(model))], dtype=np.bool_
    )


@dataclass(frozen=True)
class Joined:
    """A drive of which set points are joined by lines; it is to need no state."""

    drive: Drive
    interval: float  # s from one set point to the next

    def controls(self, time: float, data: mujoco.MjData) -> FloatArray:
        """See :class:`Drive`."""
        place, share = divmod(time / self.interval + _ROUNDED, 1.0)
        ends = [self.drive.controls((place + k) * self.interval, data) for k in (0, 1)]
        return np.asarray((1.0 - share) * ends[0] + share * ends[1])


@dataclass(frozen=True)
class JointDrive:
    """Commands for servos and loops around motors, along a path of actuator lengths."""

    path: ExcitationPath
    servo: np.ndarray  # (u,)
    velocity: np.ndarray  # (u,) which are asked for a velocity
    per_length: FloatArray  # (u,) control of a servo per unit of length
    offset: FloatArray  # (u,) control of a servo at length zero
    stiffness: FloatArray  # (u,) of the loops, per unit of length
    damping: FloatArray  # (u,)
    gain: FloatArray  # (u,) force per control
    dither: FloatArray  # (k, u) controls added in turn
    switched: BoolArray  # (u,) which have no length
    low: FloatArray  # (u,) of the controls
    high: FloatArray  # (u,)

    def controls(self, time: float, data: mujoco.MjData) -> FloatArray:
        """See :class:`Drive`."""
        moment = 1e-3
        now, later = self.path.commands(np.array([time, time + moment]))
        servo = self.per_length * now + self.offset
        pull = self.stiffness * (now - data.actuator_length)
        rate = (later - now) / moment - data.actuator_velocity
        motor = (pull + self.damping * rate + self._weight(data)) / self.gain
        motor = motor + self.dither[round(time * 1e3) % len(self.dither)]
        motor = np.where(self.velocity, (later - now) / moment, motor)
        on = self.high if time % _SWITCHED < 0.5 * _SWITCHED else self.low
        motor = np.where(self.switched, on, motor)
        return np.asarray(np.clip(np.where(self.servo, servo, motor), self.low, self.high))

    def _weight(self, data: mujoco.MjData) -> FloatArray:
        """Force of each actuator that holds its joint against the bias, (u,)."""
        dense = actuator_moments(data)
        own = np.sum(dense**2, axis=1)
        return np.asarray(dense @ data.qfrc_bias / np.maximum(own, 1e-12))


def _joint_drive(
    model: mujoco.MjModel,
    start: mujoco.MjData,
    motion: Motion,
    duration: float,
    rate: float,
    seed: int,
) -> JointDrive:
    rest = np.array(start.actuator_length)
    low, high = _length_range(model, rest, motion.reach)
    movable = high - low > 1e-9
    centre = 0.5 * (low + high)
    limits = CommandLimits(
        np.where(movable, low, centre - 1e-6),
        np.where(movable, high, centre + 1e-6),
        np.full(n_actuators(model), motion.speed),
        np.full(n_actuators(model), motion.acceleration),
    )
    names = tuple(str(model.actuator(a).name) or str(a) for a in range(n_actuators(model)))
    reference = design_multisine(
        names,
        limits,
        duration=duration,
        lowest=min(motion.lowest, motion.highest / (n_actuators(model) + 1)),
        highest=motion.highest,
        fill=_FILL,
        seed=seed,
    )
    servo = _servos(model)
    gain = _gains(model)
    control = _control_range(model)
    stiffness, damping = _loops(model, start, motion, np.abs(gain * control[:, 1]), rate)
    return JointDrive(
        ExcitationPath(reference, rest, ramp=min(_RAMP, duration / 4.0)),
        servo,
        np.array([takes_velocity(model, actuator) for actuator in range(n_actuators(model))]),
        np.where(servo, -model.actuator_biasprm[:, 1] / gain, 0.0),
        np.where(servo, -model.actuator_biasprm[:, 0] / gain, 0.0),
        stiffness,
        damping,
        gain,
        _dither(model, motion.dither, np.where(servo, 0.0, np.abs(control).max(axis=1)), seed),
        model.actuator_trntype == _ADHERES,
        control[:, 0],
        control[:, 1],
    )


def _loops(
    model: mujoco.MjModel, start: mujoco.MjData, motion: Motion, strength: FloatArray, rate: float
) -> tuple[FloatArray, FloatArray]:
    """Stiffness and damping of the loops around motors, per unit of actuator length, (u,) each.

    As stiff as the motor's strength (u,) suggests, within what the rate of commands allows.
    """
    mass = moved_inertia(model, start) + model.dof_armature
    dense = actuator_moments(start)
    inertia = dense**2 @ mass / np.maximum(np.sum(dense**2, axis=1) ** 2, 1e-12)
    least = inertia * (2.0 * np.pi * motion.bandwidth) ** 2
    most = np.maximum(least, inertia * (_FASTEST * rate) ** 2)
    wanted = np.where(np.isfinite(strength), strength / (2.0 * motion.reach), least)
    stiffness = np.clip(wanted, least, most)
    return stiffness, 2.0 * _DAMPING_RATIO * np.sqrt(stiffness * inertia)


def _gains(model: mujoco.MjModel) -> FloatArray:
    """Force per control of each actuator, (u,); one where it has none."""
    gain = np.array([servo_gain(model, actuator) for actuator in range(n_actuators(model))])
    return np.where(gain != 0.0, gain, 1.0)


def _control_range(model: mujoco.MjModel) -> FloatArray:
    """Least and largest control of each actuator, (u, 2)."""
    return np.array([control_range(model, actuator) for actuator in range(n_actuators(model))])


def _put_down(model: mujoco.MjModel, data: mujoco.MjData) -> None:
    """Lower a free base that is just above what it stands on until that carries it."""
    if data.ncon == 0:
        data.qpos[2] -= _SINK
        mujoco.mj_forward(model, data)
        if data.ncon == 0:  # it flies
            data.qpos[2] += _SINK
            mujoco.mj_forward(model, data)
            return
        data.qpos[2] += _SINK
    low, high = float(data.qpos[2]) - _SINK, float(data.qpos[2])
    for _ in range(_HALVINGS):
        data.qpos[2] = 0.5 * (low + high)
        mujoco.mj_forward(model, data)
        low, high = (low, data.qpos[2]) if data.qacc[2] < 0.0 else (data.qpos[2], high)


def _turns_on(model: mujoco.MjModel) -> BoolArray:
    """Degrees of freedom without limits behind the base, such as wheels, which go where it goes."""
    joints = model.dof_jntid
    return np.asarray((joints > 0) & ~np.asarray(model.jnt_limited, dtype=bool)[joints])


def _usual_controls(hold: FloatArray, control: FloatArray) -> FloatArray:
    """Deviations from what holds a posture (u,) that do not cost much: of it, or of the range."""
    widths = np.ptp(control, axis=1)
    of_range = np.where(np.isfinite(widths), 0.1 * widths, 0.0)
    return np.maximum(np.maximum(np.abs(hold), of_range), 0.1)


def _dither(model: mujoco.MjModel, share: float, size: FloatArray, seed: int) -> FloatArray:
    """Random controls that change every 50 ms, one row per millisecond, (k, u)."""
    known = np.where(np.isfinite(size), size, 0.0)
    steps = np.random.default_rng(seed).uniform(-1.0, 1.0, (1000, n_actuators(model)))
    return np.asarray(share * known * np.repeat(steps, 50, axis=0))


def _length_range(
    model: mujoco.MjModel, rest: FloatArray, reach: float
) -> tuple[FloatArray, FloatArray]:
    """Lengths that an actuator may be asked for: about rest, within ranges, (u,) each."""
    low, high = rest - reach, rest + reach
    servo = _servos(model)
    for actuator in range(n_actuators(model)):
        target = int(model.actuator_trnid[actuator, 0])
        gear = float(model.actuator_gear[actuator, 0])
        limited, ends = False, np.zeros(2)
        if joint_of(model, actuator) is not None:
            limited, ends = model.jnt_limited[target], gear * model.jnt_range[target]
        elif int(model.actuator_trntype[actuator]) == _TENDON:
            limited, ends = model.tendon_limited[target], gear * model.tendon_range[target]
        if limited:
            low[actuator] = max(low[actuator], ends.min())
            high[actuator] = min(high[actuator], ends.max())
        told = control_range(model, actuator)
        if servo[actuator] and np.isfinite(told).all():
            gain, bias = servo_gain(model, actuator), model.actuator_biasprm[actuator]
            ends = (gain * told + bias[0]) / -bias[1]
            low[actuator] = max(low[actuator], ends.min())
            high[actuator] = min(high[actuator], ends.max())
        low[actuator] = min(low[actuator], rest[actuator])
        high[actuator] = max(high[actuator], rest[actuator])
    return low, high


@dataclass(frozen=True)
class Balance:
    """A linear quadratic regulator about a posture whose place moves along a path."""

    model: mujoco.MjModel
    path: ExcitationPath  # of the first three degrees of freedom, m
    posture: FloatArray  # (nq,)
    hold: FloatArray  # (u,) controls that keep it
    activation: FloatArray  # (na,) that goes with these
    gain: FloatArray  # (u, 2 nv + na)
    dither: FloatArray  # (k, u)
    low: FloatArray  # (u,)
    high: FloatArray  # (u,)

    def controls(self, time: float, data: mujoco.MjData) -> FloatArray:
        """See :class:`Drive`."""
        goal = np.array(self.posture)
        goal[:3] += self.path.commands(np.array([time]))[0]
        error = np.zeros(self.model.nv)
        mujoco.mj_differentiatePos(self.model, error, 1.0, goal, data.qpos)
        state = np.concatenate([error, data.qvel, data.act - self.activation])
        added = self.dither[round(time * 1e3) % len(self.dither)]
        return np.asarray(np.clip(self.hold - self.gain @ state + added, self.low, self.high))


def _balance(
    model: mujoco.MjModel, start: mujoco.MjData, motion: Motion, duration: float, seed: int
) -> Balance:
    """A regulator about the start, which is put down first, along a motion of the body."""
    if not model.njnt or int(model.jnt_type[0]) != FREE:
        raise RehearsalError(
            "motions are made for actuators on joints and tendons, and for a free body that "
            "actuators at sites balance; this model is neither"
        )
    hold, a, b = _linearized(model, start)
    free = np.zeros(model.na)
    cost = np.diag(np.concatenate([10.0 * ~_turns_on(model), np.ones(model.nv), free]))
    control = _control_range(model)
    usual = _usual_controls(hold, control)
    gain = _regulator(a, b, cost, np.diag(1.0 / usual**2))
    limits = CommandLimits(
        np.full(3, -motion.reach),
        np.full(3, motion.reach),
        np.full(3, motion.speed),
        np.full(3, motion.acceleration),
    )
    reference = design_multisine(
        ("x", "y", "z"), limits, duration=duration, lowest=motion.lowest,
        highest=min(motion.highest, 0.5), fill=_FILL, seed=seed,
    )  # fmt: skip
    return Balance(
        model,
        ExcitationPath(reference, np.zeros(3), ramp=min(_RAMP, duration / 4.0)),
        np.array(start.qpos),
        hold,
        np.array(start.act),
        gain,
        _dither(model, motion.dither, usual, seed),
        control[:, 0],
        control[:, 1],
    )


def _linearized(
    model: mujoco.MjModel, start: mujoco.MjData
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Inputs that hold the start, (u,), and MuJoCo's linearization about it, (n, n or u).

    The start is put down, with the activations that hold it; n is 2 nv + na.
    """
    coarse = copy.copy(model)
    coarse.opt.timestep = _BALANCE_STEP
    coarse.opt.integrator = mujoco.mjtIntegrator.mjINT_EULER  # RK4 has no linearization
    coarse.dof_frictionloss[:] = 0.0  # which would hold the linearized robot where it is
    slow, exact = mujoco.mjtDyn.mjDYN_FILTER, mujoco.mjtDyn.mjDYN_FILTEREXACT
    coarse.actuator_dyntype[coarse.actuator_dyntype == slow] = exact  # stable in coarse steps
    data = mujoco.MjData(coarse)
    data.qpos[:] = start.qpos
    mujoco.mj_forward(coarse, data)
    _put_down(coarse, data)
    forces = (actuator_moments(data) * _gains(model)[:, None]).T
    carried = data.qfrc_bias - data.qfrc_passive  # weight less buoyancy
    wanted = np.linalg.lstsq(forces, carried, rcond=None)[0]
    hold, inputs = np.array(wanted), first_inputs(model)
    for actuator in np.flatnonzero(model.actuator_actnum).tolist():
        data.act[model.actuator_actadr[actuator]] = wanted[actuator]
        if not is_low_passed(model, actuator):  # it is summed up
            hold[actuator] = 0.0
    data.ctrl[inputs] = hold
    start.qpos[:], start.act[:] = data.qpos, data.act
    mujoco.mj_forward(model, start)
    states = 2 * model.nv + model.na
    a, b = np.zeros((states, states)), np.zeros((states, model.nu))
    mujoco.mjd_transitionFD(coarse, data, 1e-6, True, a, b, None, None)
    return hold, a, b[:, inputs]


def _regulator(a: FloatArray, b: FloatArray, cost: FloatArray, effort: FloatArray) -> FloatArray:
    """The gains, (u, n), of a linear regulator (Anderson and Moore, Optimal Control, 1990)."""
    # The discount leaves alone what the actuators cannot move, such as the heading.
    a, b = _DISCOUNT * a, _DISCOUNT * b
    try:
        value = scipy.linalg.solve_discrete_are(a, b, cost, effort)
    except (np.linalg.LinAlgError, ValueError):
        raise RehearsalError("the actuators cannot balance the robot about its start") from None
    gains: FloatArray = np.linalg.solve(effort + b.T @ value @ b, b.T @ value @ a)
    return gains

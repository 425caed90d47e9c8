# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Check that position servos do what they are asked for.

A servo with gain kp pulls its joint with kp (u - q) - kv v, so that

    u = q + (kv + d)/kp v + f/kp sign(v) + M(q)/kp q'' + gravity(q)/kp

with the command u at the instant it takes effect; through a gear, all in units of the command, with
the command for zero added where it is another than zero. All terms but q are non-negative multiples
of known columns, and limited: a servo sags under a load, but not by many times what the model says.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import mujoco
import numpy as np

from sysid_ros.arrays import FloatArray
from sysid_ros.diagnosis.evidence import (
    Change,
    Filtered,
    Recorded,
    filtered,
    total_delays,
    whole_motion,
)
from sysid_ros.diagnosis.fits import (
    Misfit,
    ServoEquation,
    body_torques,
    bounded_fit,
    misfit_of,
    most_pushed,
    spring_torques,
)
from sysid_ros.engine.elements import (
    FREE,
    drive_strength,
    force_range,
    is_low_passed,
    is_velocity_servo,
    linear,
    servo_gain,
)

_TRUST = 8.0  # how many times the model's sag, and inertia over stiffness, may be in truth
_LAG = 4.0  # the same for the time constant kv/kp
_TRUST_IN_GUESS = 100.0  # the first where nobody knows the stiffness
_LONGEST_TIME = 0.3  # s, kv/kp of a servo of which nobody knows either
_LEAST_TIME = 0.02  # s, added to the model's time constant, which may be zero
_LEAST_FRICTION = 0.05  # rad, added to the model's friction over stiffness
_LEAST_ROWS = 50
_GAINS = (0.35, 0.5, 0.7, 1.0, 1.4, 2.0, 2.8)  # times a guessed one
_OFTEN = 0.05  # of the time at the force's limit, from which it matters
_TRUST_AT_LIMIT = 2.0  # how many times the model's loads and inertia may be, beside a limit
_MOST_FRICTION = 0.5  # of a servo's largest force
_LOST = 0.05  # of a drive's strength, likewise
# Shares of a usual speed from which on friction is whole: at once, and as MuJoCo's may be.
_WHOLE_FROM = (0.02, 0.5)
_FORGIVEN = 0.4  # of the command's spread, from which a residual counts less
_REWEIGHTED = 4
_LOADS = 4  # of positions that were changed in some way, that are kept


@dataclass(frozen=True)
class Resistance:
    """Forces that a servo's joint takes besides the bodies' weights and inertias, SI units.

    Dry friction that never lets go acts as damping, and counts as that.
    """

    lag: float  # of the command that this is with [s]
    damping: float  # N m s/rad or N s/m
    frictionloss: float  # N m or N


class Tracking:
    """Scores repairs by how well servos then follow their commands.

    Everything is filtered once, for all servos and all repairs.

    Args:
      recorded: What was recorded.
      servos: Those that are tested.
      data: The recordings as they are tested.
    """

    def __init__(self, recorded: Recorded, servos: Sequence[int], data: Filtered) -> None:
        self.servos = servos
        self.data = data
        self._recorded = recorded
        self._known_loads: dict[str, FloatArray] = {}

    @classmethod
    def of(cls, recorded: Recorded, *, constant: bool = False) -> Tracking | None:
        """The test of servos whose joints are measured and whose commands move; ``None`` without.

        Also where there is too little of the recordings.

        Args:
          recorded: What was recorded.
          constant: Whether the test is of those whose commands never change instead.
        """
        servos = _tracked(recorded, constant=constant)
        labels = [*recorded.positions.values(), *(recorded.commands[a] for a in servos)]
        data = filtered(recorded, list(dict.fromkeys(labels)), _LEAST_ROWS) if servos else None
        if data is None:
            return None
        return cls(recorded, servos, data.low_passed(time_constants(recorded)))

    def misfit(self, servos: Sequence[int], *changes: Change) -> Misfit:
        """Return the remainder of some servos' commands after some repairs, applied in order."""
        data = self.data.delayed(total_delays(changes)).changed(changes)
        residuals = []
        for servo in servos:
            matrix, limits = self._columns(data, servo, changes)
            wanted, position = self._command(data, servo), self._position(data, servo)
            spread = max(float(np.std(wanted)), 1e-9)
            residuals.append(
                _robust_residual(matrix / spread, (wanted - position) / spread, limits)
            )
        return misfit_of(np.column_stack(residuals), data.block)

    def equation(self, servo: int, *changes: Change) -> ServoEquation:
        """A servo's equation after some repairs of measurements, but for delays."""
        data = self.data.changed(changes)
        matrix, limits = self._columns(data, servo, changes)
        return ServoEquation(matrix * limits, self._position(data, servo))

    def resistance(self, servo: int, lag: float) -> Resistance:
        """Damping and friction of a servo's joint if its command takes effect after a lag [s]."""
        _, limits = self._columns(self.data, servo, ())
        alone = np.zeros(1, dtype=np.intp), np.ones(1)
        fits = self.equation(servo).fits(self.commands(servo, [lag]), *alone)
        felt = _Felt.of(self._recorded.model, servo, self._recorded.arms(servo))
        damping, _, *friction = felt.gain * fits.coefficients[:4, 0] * limits[:4]
        own = _felt(self._recorded.model, servo, 2)
        return Resistance(lag, max(damping - own, 0.0), sum(friction))

    def asked(self, servo: int) -> float:
        """The units of a servo's command that ask for one of what it moves: its joint, if one."""
        arms = list(self._recorded.arms(servo).values())
        arm = arms[0] if len(arms) == 1 else 1.0  # several share what their tendon is asked for
        return command_per_unit(self._recorded.model, servo) * arm

    @cached_property
    def _pushes(self) -> FloatArray:
        """The most that a floor can exert on each degree of freedom of what stands on it, (nv,)."""
        recorded, model = self._recorded, self._recorded.model
        if not np.any(model.jnt_type == FREE):
            return np.zeros(model.nv)
        return most_pushed(model, recorded.postures())

    def pushed_off(self, servo: int, changes: Sequence[Change]) -> bool:
        """Return whether a floor under the robot could push as much as some repairs change.

        A position servo sags under such a push, however that depends on the posture; a wheel's is
        constant at most, and grows with no speed.

        Args:
          servo: Whose joint it is.
          changes: Scales and offsets.
        """
        recorded, model = self._recorded, self._recorded.model
        arms = recorded.arms(servo)
        by_rate, gain = is_velocity_servo(model, servo), _Felt.of(model, servo, arms).gain
        if by_rate and any(change.scale for change in changes):
            return False
        push = max(
            float(self._pushes[model.jnt_dofadr[joint]] / abs(arms[joint])) for joint in arms
        )
        before, after = (
            self._command(data, servo) - self._position(data, servo)
            for data in (self.data, self.data.changed(changes))
        )
        moved = float(np.sqrt(np.mean((after - before) ** 2)))
        return gain * moved / abs(command_per_unit(model, servo)) < push

    def commands(self, servo: int, lags: Sequence[float]) -> FloatArray:
        """A servo's command as it takes effect after each of c lags [s], (n, c)."""
        label = self._recorded.commands[servo]
        return np.column_stack([self.data.late(label, lag) for lag in lags])

    def limited(self, servo: int) -> Misfit | None:
        """The remainder of a servo's force if nothing is wrong but that its force is limited.

        At its limit a servo pushes as hard as it can, so that its force is known there too, and has
        to be what the joint's motion takes. Where the gain is a guess, so is when it gets there.

        Returns:
          ``None`` where it hardly gets to its limit, or has none.
        """
        recorded, model = self._recorded, self._recorded.model
        if servo not in recorded.servos:
            return None
        joint = recorded.joint_of(servo)
        low, high = force_range(model, joint)
        stiffness, velocity = _felt(model, servo, 1), self.data.rate[recorded.positions[joint]]
        lag = self._command(self.data, servo) - self._position(self.data, servo)
        usual = stiffness * lag / command_per_unit(model, servo) - _felt(model, servo, 2) * velocity
        found = []
        for factor in _GAINS if servo in recorded.guessed else (1.0,):
            free = factor * usual
            force = np.clip(free, low, high)
            spread = float(np.std(force))
            if spread and np.mean(force != free) >= _OFTEN:
                columns = self._forces(servo, factor * stiffness, high) / spread
                wanted = force / spread
                parts = bounded_fit(columns.T @ columns, columns.T @ wanted, 1.0)
                found.append(misfit_of((wanted - columns @ parts)[:, None], self.data.block))
        return min(found, key=lambda one: one.share, default=None)

    def _forces(self, servo: int, stiffness: float, strongest: float) -> FloatArray:
        """The most that a joint's motion takes: damping, friction, inertia and loads, (n, k)."""
        recorded, model = self._recorded, self._recorded.model
        joint = recorded.joint_of(servo)
        dof, position = int(model.jnt_dofadr[joint]), recorded.positions[joint]
        velocity = self.data.rate[position]
        columns = [
            _LONGEST_TIME * stiffness * velocity,
            _MOST_FRICTION * strongest * _direction(velocity, _WHOLE_FROM[0]),
            _TRUST_AT_LIMIT * float(model.dof_M0[dof]) * self.data.second[position],
        ]
        loads = self._loads(self.data, ())
        if loads is not None:
            columns += list(_TRUST_AT_LIMIT * loads[:, dof].T)
        return np.column_stack(columns)

    def _command(self, data: Filtered, servo: int) -> FloatArray:
        return data.value[self._recorded.commands[servo]]

    def _position(self, data: Filtered, servo: int) -> FloatArray:
        """The command that asks for what the servo's joint does, (n,)."""
        model = self._recorded.model
        by_rate = is_velocity_servo(model, servo)
        moved = self._moved(data.rate if by_rate else data.value, servo)
        rest = -float(model.actuator_biasprm[servo, 0] / servo_gain(model, servo))
        return rest + command_per_unit(model, servo) * moved

    def _moved(self, part: Mapping[str, FloatArray], servo: int) -> FloatArray:
        """Values, or derivatives, of what a servo moves: a joint, or a tendon of some, (n,)."""
        positions = self._recorded.positions
        arms = self._recorded.arms(servo).items()
        return np.asarray(sum(arm * part[positions[joint]] for joint, arm in arms))

    def _columns(
        self, data: Filtered, servo: int, changes: tuple[Change, ...]
    ) -> tuple[FloatArray, FloatArray]:
        """Terms that lag, friction, inertia and load add to a command, and their limits.

        Returns:
          (n, k) and (k,).
        """
        recorded, model = self._recorded, self._recorded.model
        velocity, felt = self._moved(data.rate, servo), _Felt.of(model, servo, recorded.arms(servo))
        guessed = servo in recorded.guessed
        trust = _TRUST_IN_GUESS if guessed else _TRUST
        directions = [_direction(velocity, share) for share in _WHOLE_FROM]
        if is_velocity_servo(model, servo):
            rolls = not recorded.all_positions  # a wheel has more to move than itself
            least = _LONGEST_TIME if rolls else _LEAST_TIME
            damping = _LAG * felt.damping / felt.gain
            inertia = trust * felt.inertia / felt.gain + least
        else:
            damping = _LAG * felt.damping / felt.gain + _LEAST_TIME
            if guessed:  # the joint may have more damping in the drawing than such servos have
                damping = max(damping, _LONGEST_TIME)
            inertia = trust * felt.inertia / felt.gain + _LEAST_TIME**2
        columns = [velocity, self._moved(data.second, servo), *directions]
        friction = (_LAG * felt.friction + _LOST * felt.strength) / felt.gain + _LEAST_FRICTION
        limits = [damping, inertia, *[friction] * len(directions)]
        loads = self._loads(data, changes)
        if loads is not None:
            for joint, arm in recorded.arms(servo).items():
                own = loads[:, int(model.jnt_dofadr[joint])] / arm
                acting = np.flatnonzero(np.any(own != 0.0, axis=0))  # the bodies that it carries
                columns += list(own[:, acting].T)
                limits += [trust / felt.gain] * len(acting)
        return command_per_unit(model, servo) * np.column_stack(columns), np.maximum(limits, 1e-12)

    def _loads(self, data: Filtered, changes: tuple[Change, ...]) -> FloatArray | None:
        """Torques that weights, inertias and springs take; ``None`` without a measured joint."""
        labels = set(self._recorded.positions.values())
        if not labels:
            return None
        key, known = repr([c for c in changes if labels & {*c.signals}]), self._known_loads
        if key not in known:
            if len(known) >= _LOADS:  # they take tens of MB where joints are many
                del known[next(iter(known))]
            model, motion = self._recorded.model, whole_motion(self._recorded, data)
            taken = [body_torques(model, *motion), spring_torques(model, motion[0])]
            known[key] = np.concatenate(taken, axis=2)
        known[key] = loads = known.pop(key)  # the latest is the last to go
        return loads


def _direction(velocity: FloatArray, share: float) -> FloatArray:
    """The sign of a velocity, which changes within a share of what is usual."""
    usual = float(np.sqrt(np.mean(velocity**2))) + 1e-9
    return np.tanh(velocity / (share * usual))


@dataclass(frozen=True)
class _Felt:
    """A servo and what resists it, in units of what it moves."""

    gain: float  # what it makes of a unit that is missing, N m/rad, N/m, or that over s
    damping: float  # its own and the joints', but for its gain
    friction: float  # the joints'
    inertia: float  # the joints', as the model has them where it starts
    strength: float  # the most that it is believed to exert; zero where nobody knows

    @staticmethod
    def of(model: mujoco.MjModel, servo: int, arms: Mapping[int, float]) -> _Felt:
        dofs = [(int(model.jnt_dofadr[joint]), arm) for joint, arm in arms.items()]
        stiffness, own = _felt(model, servo, 1), _felt(model, servo, 2)
        damping = sum(linear(model.dof_damping[dof]) / arm**2 for dof, arm in dofs)
        return _Felt(
            own if is_velocity_servo(model, servo) else stiffness,
            damping + (0.0 if is_velocity_servo(model, servo) else own),
            sum(float(model.dof_frictionloss[dof]) / abs(arm) for dof, arm in dofs),
            sum(float(model.dof_M0[dof]) / arm**2 for dof, arm in dofs),
            max((drive_strength(model, joint) or 0.0) / abs(arm) for joint, arm in arms.items()),
        )


def _felt(model: mujoco.MjModel, servo: int, place: int) -> float:
    """A servo's stiffness (1) or damping (2) as its joint feels it."""
    gear = float(model.actuator_gear[servo, 0])
    return -float(model.actuator_biasprm[servo, place]) * gear**2


def command_per_unit(model: mujoco.MjModel, servo: int) -> float:
    """A servo's command for each unit of what it moves or how fast; one without a gear."""
    place = 2 if is_velocity_servo(model, servo) else 1
    gain, own = servo_gain(model, servo), -model.actuator_biasprm[servo, place]
    return float(model.actuator_gear[servo, 0] * own / gain)


def _robust_residual(matrix: FloatArray, target: FloatArray, limits: FloatArray) -> FloatArray:
    """Residuals of a bounded fit that forgives stretches, compressed by the logarithm.

    A servo at its limits of speed or force does not follow, and says nothing about its command.

    Args:
      matrix: (n, k) in units of the command's spread.
      target: (n,) likewise.
      limits: (k,) upper bounds of the coefficients.

    Returns:
      (n,) whose squares are Cauchy's loss, ``s^2 log(1 + (r/s)^2)``.
    """
    weight = np.ones(len(target))
    for _ in range(_REWEIGHTED):
        weighted = (matrix * limits) * weight[:, None]  # so that every limit is one
        found = bounded_fit(weighted.T @ weighted, weighted.T @ (target * weight), 1.0)
        residual = target - matrix @ (found * limits)
        weight = 1.0 / np.sqrt(1.0 + (residual / _FORGIVEN) ** 2)
    compressed: FloatArray = _FORGIVEN * np.sqrt(np.log1p((residual / _FORGIVEN) ** 2))
    return compressed


def _tracked(recorded: Recorded, *, constant: bool) -> list[int]:
    """Servos whose joints are measured and whose commands move, or never do."""
    return [
        actuator
        for actuator, label in recorded.commands.items()
        if all(joint in recorded.positions for joint in recorded.arms(actuator))
        and constant != any(float(np.ptp(part.values)) > 0.0 for part in recorded.pooled(label))
        and int(recorded.model.actuator_dyntype[actuator]) != int(mujoco.mjtDyn.mjDYN_USER)
    ]


def time_constants(recorded: Recorded) -> dict[str, float]:
    """Of the low-passes that inputs take effect through, as the model has them, by label [s]."""
    model = recorded.model
    return {
        label: float(model.actuator_dynprm[actuator, 0])
        for actuator, label in {**recorded.commands, **recorded.efforts}.items()
        if is_low_passed(model, actuator) and model.actuator_dynprm[actuator, 0] > 0.0
    }

# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""A linear model of what parameters do to positions under servos, learned from exact derivatives.

Second derivatives of a simulation would cost one pass of derivatives for each control point. Under
a servo a joint stays behind its command by its own lag, and by what acts on it over the servo's
stiffness. The effect of a parameter on its position is so nearly a linear function of the rows of
inverse dynamics along the motion that results, some of it after the lag: inertia and friction by
themselves, a gain as the torque, a delay as the velocity. Which function is learned; its slope
costs what that of inverse dynamics does. It says where to go. What a motion is worth is computed
exactly, by :class:`~sysid_ros.excitation.design.forward_information.ForwardInformation`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import mujoco
import numpy as np
import scipy

from sysid_ros.arrays import FloatArray, IndexArray
from sysid_ros.excitation.design.planned_recording import Response
from sysid_ros.excitation.design.rest_spline import RestSpline
from sysid_ros.excitation.design.torque_information import JointMotion, TorqueInformation

_PERIOD = 0.05  # s between instants, about
_FINER = 8  # instants at which commands are filtered, for one of those
_RIDGE = 1e-5  # of the mean square of a column's entries
_ROUNDING = 1e-9  # of the largest column: what is smaller is none


@dataclass(frozen=True)
class ServoLag:
    """The lag of a joint behind its command, ``k / (I s^2 + d s + k)``, as if the others stood."""

    inertia: float  # kg m^2 or kg
    damping: float  # of joint and servo
    stiffness: float  # of the servo

    def after(self, values: FloatArray, period: float) -> FloatArray:
        """Return what is linear between instants (m, ...) and zero before, after the lag."""
        numerator, denominator = self._discrete(period)
        return np.asarray(scipy.signal.lfilter(numerator, denominator, values, axis=0))

    def backward(self, values: FloatArray, period: float) -> FloatArray:
        """The transpose of :meth:`after`."""
        return self.after(values[::-1], period)[::-1]

    def _discrete(self, period: float) -> tuple[FloatArray, FloatArray]:
        law = ([self.stiffness], [self.inertia, self.damping, self.stiffness])
        numerator, denominator, _ = scipy.signal.cont2discrete(law, period, "foh")
        return np.ravel(numerator), denominator


def servo_lags(
    model: mujoco.MjModel, home: FloatArray, joints: tuple[str, ...], servos: IndexArray
) -> tuple[ServoLag, ...]:
    """The lag of each joint behind its servo's command, in a posture (nq,)."""
    data = mujoco.MjData(model)
    data.qpos[:] = home
    mujoco.mj_forward(model, data)
    mass: FloatArray = np.zeros((model.nv, model.nv))
    mujoco.mj_fullM(model, data, mass)
    found = []
    for name, servo in zip(joints, servos, strict=True):
        dof = int(model.joint(name).dofadr[0])
        law = -(float(model.actuator_gear[servo, 0]) ** 2) * model.actuator_biasprm[servo]
        own = float(np.ravel(model.dof_damping[dof])[0])
        found.append(ServoLag(float(mass[dof, dof]), float(law[2]) + own, float(law[1])))
    return tuple(found)


class LearnedRows:
    """Rows of a fit by simulation of motions with control points c (k, n)."""

    def __init__(
        self,
        torque: TorqueInformation,
        lags: tuple[ServoLag, ...],
        spline: RestSpline,
        start: FloatArray,
        *,
        acceleration: float,
    ) -> None:
        """Prepare what does not change from motion to motion.

        Args:
          torque: Rows of inverse dynamics of n joints.
          lags: Of the joints.
          spline: The family of motions.
          start: Posture (n,) at both ends.
          acceleration: rad/s^2 or m/s^2, that of reversals.
        """
        self._lags, self._start = lags, start
        instants = round(spline.duration / _PERIOD)
        self._period = spline.duration / instants
        # Friction as it is on average between instants: else its slope is a matter of luck.
        self._torque = torque.smoothed(0.5 * acceleration * self._period)
        fine = np.arange(instants * _FINER) * self._period / _FINER
        self._times = fine[::_FINER]
        self._basis = [
            np.stack(
                [
                    lag.after(spline.basis(fine, order), self._period / _FINER)[::_FINER]
                    for lag in lags
                ]
            )
            for order in range(3)
        ]
        self._seen: list[tuple[FloatArray, Response]] = []
        self._columns: FloatArray = np.zeros(0)  # (n, 2 s, p)
        self._weight: FloatArray = np.zeros(0)  # (n,) samples that each instant stands for

    def learn(self, c: FloatArray, response: Response, signals: Sequence[str]) -> None:
        """Take one more motion into account, by its control points; each joint has a signal."""
        self._seen.append((self._features(self._torque.every_row(self._motion(c))), response))
        self._columns = np.array(
            [
                _regressed(
                    np.concatenate([rows[:, joint] for rows, _ in self._seen]),
                    np.concatenate([self._wanted(one, signal) for _, one in self._seen]),
                )
                for joint, signal in enumerate(signals)
            ]
        )
        periods = [np.median(np.diff(response.times[signal])) for signal in signals]
        self._weight = self._period / np.array(periods)

    def information(self, c: FloatArray) -> FloatArray:
        """Nearly the information (p, p) of a recording."""
        rows = self._rows(c) * np.sqrt(self._weight)[:, None]
        flat = rows.reshape(-1, rows.shape[2])
        return np.asarray(flat.T @ flat)

    def slope(self, c: FloatArray, weight: FloatArray) -> FloatArray:
        """The derivative (k, n) of tr(W information)."""
        pull = (self._rows(c) * (2.0 * self._weight)[:, None]) @ weight
        back = _per_joint(pull, self._columns.transpose(0, 2, 1))
        at_once, late = np.split(back, 2, axis=2)
        for joint, lag in enumerate(self._lags):
            at_once[:, joint] += lag.backward(late[:, joint], self._period)
        slope = np.zeros_like(c)
        for order, joint, change in self._torque.changes(self._motion(c)):
            trace = np.einsum("mis,mis->m", at_once, change)
            slope[:, joint] += self._basis[order][joint].T @ trace
        return slope

    def _motion(self, c: FloatArray) -> JointMotion:
        """The motion that results, each (m, n)."""
        q, v, a = (np.einsum("nmk,kn->mn", basis, c) for basis in self._basis)
        return JointMotion(self._start + q, v, a)

    def _rows(self, c: FloatArray) -> FloatArray:
        rows = self._features(self._torque.every_row(self._motion(c)))
        return _per_joint(rows, self._columns)

    def _features(self, rows: FloatArray) -> FloatArray:
        """Rows (m, n, s) at once and after the lag, (m, n, 2 s); before the motion all is still."""
        moved = rows - rows[:1]
        late = [lag.after(moved[:, j], self._period) for j, lag in enumerate(self._lags)]
        return np.concatenate((rows, rows[:1] + np.stack(late, axis=1)), axis=2)

    def _wanted(self, response: Response, signal: str) -> FloatArray:
        """Slopes of a signal (m, p)."""
        known, slopes = response.times[signal], response.slopes[signal]
        return np.column_stack([np.interp(self._times, known, one) for one in slopes.T])


def _per_joint(rows: FloatArray, columns: FloatArray) -> FloatArray:
    """Products of rows (m, n, s) with a matrix (n, s, p) of each joint, (m, n, p)."""
    return np.asarray((rows.transpose(1, 0, 2) @ columns).transpose(1, 0, 2))


def _regressed(rows: FloatArray, wanted: FloatArray) -> FloatArray:
    """X (s, p) such that rows (m, s) times X are about what is wanted (m, p)."""
    sizes = np.sqrt(np.mean(rows**2, axis=0))
    used = sizes > _ROUNDING * sizes.max()
    scaled = rows[:, used] / sizes[used]
    gram = scaled.T @ scaled + _RIDGE * len(rows) * np.eye(int(used.sum()))
    found = np.zeros((rows.shape[1], wanted.shape[1]))
    found[used] = np.linalg.solve(gram, scaled.T @ wanted) / sizes[used, None]
    return found
